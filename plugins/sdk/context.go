package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// callContext is an instance's actor.Context, lent to each call.
type callContext struct {
	context.Context
	in     *instance
	letter *letter // the current message; nil in a hook
	seq    uint64  // its number at the host; 0 for a tick
	trace  actor.TraceID
	conduct
}

func (c *callContext) enter(l *letter) {
	c.letter, c.seq, c.trace = l, 0, actor.TraceID{}
	if l != nil {
		c.trace = l.trace
	}
}

func (c *callContext) leave() { c.letter, c.seq = nil, 0 }

type callKey struct{}

// Value lets a context derived from this one still send as this actor.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (c *callContext) Self() actor.Ref {
	return &ref{in: c.in, target: string(c.in.path), path: c.in.path}
}

func (c *callContext) Sender() actor.Ref {
	if c.letter == nil {
		return nil
	}
	return c.letter.Sender()
}

func (c *callContext) Trace() actor.TraceID {
	if c.trace.IsZero() {
		c.trace = actor.NewTraceID()
	}
	return c.trace
}

func (c *callContext) Log() *slog.Logger {
	return slog.New(&logHandler{session: c.in.session, inst: c.in.id, trace: c.Trace().String()})
}

func (c *callContext) Tell(to actor.Ref, m actor.Message) error { return to.Tell(c, m) }

func (c *callContext) Reply(m actor.Message) error {
	return c.send(&wire.Command{Op: wire.OpReply}, m)
}

// send hands a command to the host, as this actor and caused by its message.
func (c *callContext) send(cmd *wire.Command, m actor.Message) error {
	cmd.Cause, cmd.Trace = c.seq, c.trace
	return c.in.send(cmd, m)
}

func (c *callContext) Ask(to actor.Ref, m actor.Message, timeout time.Duration) (actor.Message, error) {
	r, ok := to.(*ref)
	if !ok {
		return actor.Message{}, fmt.Errorf("ask %s: the address is not of this plugin: %w", to.Path(), actor.ErrUnsupported)
	}
	if r.path == c.in.path {
		return actor.Message{}, fmt.Errorf("ask %s: %w", r.path, actor.ErrWouldDeadlock)
	}
	ctx, cancel := context.WithTimeout(c, timeout)
	defer cancel()
	return r.ask(ctx, m, timeout)
}

func (c *callContext) Lookup(p actor.Path) actor.Ref {
	return &ref{in: c.in, target: string(p), path: p}
}

func (c *callContext) Resolve(t actor.Target) (actor.Ref, error) {
	kind, path, err := t.Parse(c.in.path)
	switch {
	case err != nil:
		return nil, err
	case kind == actor.PathTarget:
		return c.Lookup(path), nil
	case kind == actor.ReplyTarget:
		return replyRef{}, nil
	default:
		return &ref{in: c.in, target: string(t), path: path}, nil
	}
}

func (c *callContext) After(d time.Duration, m actor.Message) (cancel func() bool) {
	return c.in.arm(d, 0, m).stop
}

func (c *callContext) Every(d time.Duration, m actor.Message) (cancel func() bool) {
	if d <= 0 {
		c.Log().Error("a timer cannot fire that often, so it is not set", "every", d)
		return func() bool { return false }
	}
	return c.in.arm(d, max(d, time.Millisecond), m).stop
}

func (c *callContext) Spawn(string, actor.Producer) (actor.Ref, error) {
	return nil, c.in.session.unsupported("Spawn", "declare the child in the configuration")
}

func (c *callContext) Watch(actor.Ref) error {
	return c.in.session.unsupported("Watch", "name the actor in the watch list of the configuration")
}

// Unwatch has nothing to take back, since Watch refuses.
func (c *callContext) Unwatch(actor.Ref) {}

func (c *callContext) Stop(r actor.Ref) {
	if r.Path() != c.in.path {
		c.Log().Warn("a plugin can stop only its own actor", "actor", string(r.Path()))
		return
	}
	_ = c.send(&wire.Command{Op: wire.OpStop}, actor.Message{}) // an empty message can be sent
}

func (c *callContext) Publish(e actor.Event) {
	if err := c.send(&wire.Command{Op: wire.OpPublish}, actor.EventMessage(e)); err != nil {
		c.Log().Warn("event not published", "event", e.Kind(), "err", err)
	}
}

// PublishTo sends to the topic's address in the host. A topic that is not declared
// makes a dead letter there.
func (c *callContext) PublishTo(topic string, m actor.Message) error {
	to, err := c.Resolve(actor.Target("topic:" + topic))
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return c.Tell(to, m)
}

func (c *callContext) Subscribe(string) error {
	return c.in.session.unsupported("Subscribe", "name the actor in the subscribers of the topic in the configuration")
}

// Unsubscribe has nothing to take back, since Subscribe refuses.
func (c *callContext) Unsubscribe(string) {}

func (c *callContext) Letter() actor.Letter {
	if c.letter == nil {
		return &letter{in: c.in}
	}
	kept := *c.letter
	kept.seq, kept.trace = c.seq, c.Trace()
	return &kept
}

// Hold cannot keep a delivery open from here: it ends with the acknowledgement of
// the message. It says so in the log.
func (c *callContext) Hold() func(error) {
	c.Log().Warn("a plugin cannot hold a delivery: it ends with the message")
	return func(error) {}
}

func (c *callContext) Handle() actor.Handle { return handle{c.in} }

// letter is a message with who sent it.
type letter struct {
	in     *instance
	msg    actor.Message
	sender string
	trace  actor.TraceID
	seq    uint64
}

func (l *letter) Message() actor.Message { return l.msg }
func (l *letter) Trace() actor.TraceID   { return l.trace }

func (l *letter) Sender() actor.Ref {
	if l.sender == "" {
		return nil
	}
	return &ref{in: l.in, target: l.sender, path: actor.Path(l.sender)}
}

// handle acts for an instance from any goroutine.
type handle struct{ in *instance }

func (h handle) Fail(err error, back ...actor.Letter) bool {
	if h.in.ctx.Err() != nil {
		return false
	}
	h.in.push(item{kind: itemFail, order: &order{err: err, back: back}})
	return true
}

func (h handle) Tell(to actor.Ref, m actor.Message, cause actor.Letter) error {
	if h.in.ctx.Err() != nil {
		return fmt.Errorf("tell %s: the sender's incarnation has ended: %w", to.Path(), actor.ErrStopped)
	}
	c := &callContext{Context: h.in.ctx, in: h.in}
	if cause != nil {
		c.trace = cause.Trace()
	}
	return to.Tell(c, m)
}

func (h handle) DeadLetter(l actor.Letter, reason string) {
	cmd := &wire.Command{Op: wire.OpDeadLetter, Reason: reason, Trace: l.Trace()}
	if s := l.Sender(); s != nil {
		cmd.Target = string(s.Path())
	}
	_ = h.in.send(cmd, l.Message()) // it came from the host, so it can go there
}

// Done has nothing to do: a delivery ends with the message's acknowledgement.
func (h handle) Done(actor.Letter) {}

func (h handle) Ended() <-chan struct{} { return h.in.ctx.Done() }
