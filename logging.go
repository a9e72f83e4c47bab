package actord

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// logging is the daemon's log. Its settings change while it runs.
type logging struct {
	settings atomic.Pointer[spec.Log]
	text     slog.Handler
	json     slog.Handler
	terminal bool

	mu    sync.Mutex // guards early
	early []func()   // records from before the settings were known; nil once they are
}

func newLogging(w io.Writer) *logging {
	l := &logging{text: &lineHandler{out: &lineWriter{w: w}}, json: slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withUnits})}
	if f, ok := w.(*os.File); ok {
		if st, err := f.Stat(); err == nil {
			l.terminal = st.Mode()&os.ModeCharDevice != 0
		}
	}
	l.settings.Store(&spec.Log{Level: slog.LevelInfo, Format: "auto"})
	l.early = []func(){}
	return l
}

// withUnits writes durations as people do; a number of nanoseconds says no unit.
func withUnits(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// set changes the settings, and lets out what was held until there were some.
func (l *logging) set(s spec.Log) {
	l.settings.Store(&s)
	l.release()
}

// release lets out what is held.
func (l *logging) release() {
	l.mu.Lock()
	early := l.early
	l.early = nil
	l.mu.Unlock()
	for _, write := range early {
		write()
	}
}

// hold keeps a record for later while the settings are not known.
func (l *logging) hold(write func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early == nil {
		return false
	}
	l.early = append(l.early, write)
	return true
}

func (l *logging) logger() *slog.Logger {
	return slog.New(&logHandler{log: l, text: l.text, json: l.json})
}

// logHandler picks the form and the level at each record, since both may have
// changed since the logger was made.
type logHandler struct {
	log        *logging
	text, json slog.Handler
	path       actor.Path // of the actor that logs
}

func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= levelFor(h.log.settings.Load(), h.path)
}

// levelFor is the level of the longest path that p lies under.
func levelFor(s *spec.Log, p actor.Path) slog.Level {
	level, longest := s.Level, -1
	for at, l := range s.Levels {
		if p != "" && p.Under(at) && len(at) > longest {
			level, longest = l, len(at)
		}
	}
	return level
}

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.log.hold(func() { _ = h.Handle(ctx, r) }) {
		return nil
	}
	s := h.log.settings.Load()
	if s.Format == "text" || (s.Format == "auto" && h.log.terminal) {
		return h.text.Handle(ctx, r)
	}
	return h.json.Handle(ctx, r)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := &logHandler{log: h.log, text: h.text.WithAttrs(attrs), json: h.json.WithAttrs(attrs), path: h.path}
	for _, a := range attrs {
		if a.Key == "actor" {
			next.path = actor.Path(a.Value.String())
		}
	}
	return next
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{log: h.log, text: h.text.WithGroup(name), json: h.json.WithGroup(name), path: h.path}
}

// lineHandler writes a record as one line for people: time, level, actor,
// message, facts.
type lineHandler struct {
	out    *lineWriter
	actor  string
	prefix string // of keys inside a group
	attrs  string // written already
}

// lineWriter keeps lines whole.
type lineWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (h *lineHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	var b, facts strings.Builder
	about := h.actor
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "actor" && about == "" && h.prefix == "" {
			about = a.Value.String()
		} else {
			writeAttr(&facts, h.prefix, a)
		}
		return true
	})
	fmt.Fprintf(&b, "%s %-5s ", r.Time.Format("15:04:05.000"), r.Level)
	if about != "" {
		b.WriteString(about + "  ")
	}
	b.WriteString(r.Message + h.attrs + facts.String())
	b.WriteByte('\n')
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err := io.WriteString(h.out.w, b.String())
	return err
}

func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	var b strings.Builder
	for _, a := range attrs {
		if a.Key == "actor" && h.prefix == "" {
			next.actor = a.Value.String()
			continue
		}
		writeAttr(&b, h.prefix, a)
	}
	next.attrs += b.String()
	return &next
}

func (h *lineHandler) WithGroup(name string) slog.Handler {
	next := *h
	next.prefix += name + "."
	return &next
}

func writeAttr(b *strings.Builder, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, e := range v.Group() {
			writeAttr(b, prefix+a.Key+".", e)
		}
		return
	}
	b.WriteString(" " + prefix + a.Key + "=" + attrText(v))
}

func attrText(v slog.Value) string {
	s := v.String()
	switch x := v.Any().(type) {
	case time.Time:
		s = x.Format(time.RFC3339Nano)
	case error:
		s = x.Error()
	}
	if s == "" || strings.ContainsAny(s, " \t\n\"=") {
		if strings.Contains(strings.TrimSpace(s), "\n") { // a stack trace or an excerpt is for reading
			return "\n    " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
		}
		return strconv.Quote(s)
	}
	return s
}
