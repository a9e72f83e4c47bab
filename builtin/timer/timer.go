// Package timer is the behaviour that makes messages out of time: one every so
// often, for as long or as often as configuration says.
package timer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	Every   time.Duration     `conf:"every,required" min:"1ms" class:"live" doc:"time between two messages"`
	After   time.Duration     `conf:"after" default:"every" words:"every=-1" min:"0s" class:"live" doc:"time before the first message"`
	Count   int64             `conf:"count" default:"unlimited" words:"unlimited=0" min:"1" unit:"messages" class:"live" doc:"how many messages are made since the actor was started"`
	Kind    string            `conf:"kind" default:"tick" class:"live" doc:"kind of the messages"`
	Body    any               `conf:"body" class:"live" doc:"body of the messages"`
	Headers map[string]string `conf:"headers" class:"live" doc:"headers of the messages"`
	To      actor.Targets     `conf:"to,required" class:"live" doc:"where the messages go"`
}

// tick is the kind by which the timer wakes itself.
const tick = "$tick"

// Factory makes timers.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("timer", "Makes a message every so often and sends it to its targets. What others send to it becomes a dead letter.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a timer. It starts to count time in Start.
func New(c Config) (*Timer, error) {
	if c.Every <= 0 {
		return nil, fmt.Errorf("every: %v is not a time between messages (want at least 1ms)", c.Every)
	}
	if c.After < 0 {
		c.After = c.Every
	}
	return &Timer{config: c, message: actor.Message{Kind: c.Kind, Body: c.Body, Headers: c.Headers}}, nil
}

// Timer sends a message every so often.
type Timer struct {
	config    Config
	message   actor.Message
	to        route.Targets
	sent      int64
	repeating bool
	cancel    func() bool // the timer that is set
}

// Receive sends the message when it is time. An extra tick, which only another
// actor can have sent, is not told apart.
func (t *Timer) Receive(ctx actor.Context, m actor.Message) error {
	if m.Kind != tick {
		route.Unrouted(ctx, "a timer takes no messages")
		return nil
	}
	if t.done() {
		return nil
	}
	t.to.Tell(ctx, t.message)
	t.sent++
	switch {
	case t.done():
		t.cancel()
	case !t.repeating:
		t.repeat(ctx)
	}
	return nil
}

// Start begins the wait for the first message. The successor of a timer that has
// sent some already waits for every and not for after.
func (t *Timer) Start(ctx actor.Context) (err error) {
	if t.to, err = route.Resolve(ctx, t.config.To); err != nil {
		return err
	}
	t.cancel = func() bool { return false }
	switch {
	case t.done():
	case t.sent > 0 || t.config.After == t.config.Every:
		t.repeat(ctx)
	default:
		t.cancel = ctx.After(t.config.After, actor.Message{Kind: tick})
	}
	return nil
}

func (t *Timer) repeat(ctx actor.Context) {
	t.cancel = ctx.Every(t.config.Every, actor.Message{Kind: tick})
	t.repeating = true
}

func (t *Timer) done() bool { return t.config.Count > 0 && t.sent >= t.config.Count }

// Reconfigure takes a new configuration in place. The messages sent so far keep
// counting; the wait begins anew, unless nothing changed.
func (t *Timer) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil || reflect.DeepEqual(next.config, t.config) {
		return err
	}
	next.sent = t.sent
	if err := next.Start(ctx); err != nil {
		return err
	}
	t.cancel()
	*t = *next
	return nil
}

// state is what a successor needs to know.
type state struct {
	Sent int64 `json:"sent"`
}

// Snapshot returns how many messages were sent.
func (t *Timer) Snapshot() (actor.State, error) {
	data, err := json.Marshal(state{Sent: t.sent})
	return actor.State{Version: 1, Data: data}, err
}

// Restore goes on from a snapshot.
func (t *Timer) Restore(s actor.State) error {
	if s.Version != 1 {
		return fmt.Errorf("timer state has version %d (want 1)", s.Version)
	}
	var st state
	if err := json.Unmarshal(s.Data, &st); err != nil {
		return fmt.Errorf("timer state: %w", err)
	}
	t.sent = st.Sent
	return nil
}
