// Package log is the behaviour that writes a log record for every message, e.g.
// at the end of a route, or in the middle of one to see what passes.
package log

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	Level   string        `conf:"level" default:"info" enum:"debug|info|warn|error" class:"live" doc:"level of the records"`
	Message string        `conf:"message" default:"message" class:"live" doc:"text of the records; it is constant so that records can be grouped"`
	Fields  []string      `conf:"fields" class:"live" doc:"fields of the body to write, dotted for nested ones, plus headers and sender; empty writes kind and the whole body"`
	To      actor.Targets `conf:"to" class:"live" doc:"where the messages go on to, unchanged"`
}

// Factory makes log behaviours.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("log", "Writes one log record per message with its kind, its body and its trace, and passes the message on.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a log behaviour.
func New(c Config) (*Log, error) {
	l := &Log{config: c}
	if err := l.level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, fmt.Errorf("level: %w", err)
	}
	for i, f := range c.Fields {
		if f == "" {
			return nil, fmt.Errorf("fields[%d] is empty; name a field of the body, headers or sender", i)
		}
		l.paths = append(l.paths, strings.Split(f, "."))
	}
	return l, nil
}

// Log writes a record per message.
type Log struct {
	config Config
	level  slog.Level
	paths  [][]string // config.Fields, split at the dots
	to     route.Targets
}

// Receive writes the record; the logger adds the actor and the trace.
func (l *Log) Receive(ctx actor.Context, m actor.Message) error {
	_ = ctx.Trace() // a message that came without one gets it here, for the record and for the way on
	if log := ctx.Log(); log.Enabled(ctx, l.level) {
		log.LogAttrs(ctx, l.level, l.config.Message, l.attrs(ctx, m)...)
	}
	l.to.Tell(ctx, m)
	return nil
}

// Start resolves the targets.
func (l *Log) Start(ctx actor.Context) (err error) {
	l.to, err = route.Resolve(ctx, l.config.To)
	return err
}

// Reconfigure takes a new configuration in place.
func (l *Log) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil {
		return err
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	*l = *next
	return nil
}

func (l *Log) attrs(ctx actor.Context, m actor.Message) []slog.Attr {
	if len(l.paths) == 0 {
		return []slog.Attr{slog.String("kind", m.Kind), slog.Any("body", m.Body)}
	}
	attrs := []slog.Attr{slog.String("kind", m.Kind)}
	for i, path := range l.paths {
		if v, ok := field(ctx, m, path); ok {
			attrs = append(attrs, slog.Any(l.config.Fields[i], v))
		}
	}
	return attrs
}

// field finds what path names: a part of the body, else the headers or the
// sender. A message without it writes a record without it.
func field(ctx actor.Context, m actor.Message, path []string) (any, bool) {
	if v, ok := inside(m.Body, path); ok {
		return v, true
	}
	switch {
	case path[0] == "headers" && len(path) == 1:
		return m.Headers, m.Headers != nil
	case path[0] == "headers":
		v, ok := m.Headers[strings.Join(path[1:], ".")]
		return v, ok
	case path[0] == "sender" && len(path) == 1 && ctx.Sender() != nil:
		return string(ctx.Sender().Path()), true
	}
	return nil, false
}

func inside(body any, path []string) (any, bool) {
	for _, name := range path {
		m, _ := body.(map[string]any)
		v, ok := m[name]
		if !ok {
			return nil, false
		}
		body = v
	}
	return body, true
}
