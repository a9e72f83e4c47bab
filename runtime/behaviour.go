package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// messageProps makes an actor of a declared Spec.
func messageProps(spec Spec) *Props[actor.Message] {
	return &Props[actor.Message]{
		New:       func() (Receiver[actor.Message], error) { return newBehaviour(spec.New) },
		Behaviour: spec.Behaviour, Settings: spec.Settings, Priority: spec.Priority, Pool: spec.Pool,
		Dispatcher: spec.Dispatcher, frozen: spec.Frozen,
	}
}

func newBehaviour(produce actor.Producer) (Receiver[actor.Message], error) {
	b, err := produce()
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return nil, errNothing
	}
	return &behaviour{b: b}, nil
}

// behaviour runs an actor.Behaviour as a Receiver.
type behaviour struct {
	b   actor.Behaviour
	ctx messageContext
}

func (r *behaviour) lend(ctx *Context[actor.Message]) *messageContext {
	r.ctx.Context = ctx
	return &r.ctx
}

func (r *behaviour) Receive(ctx *Context[actor.Message], m actor.Message) error {
	return r.b.Receive(r.lend(ctx), m)
}

func (r *behaviour) Start(ctx *Context[actor.Message]) error {
	if s, ok := r.b.(actor.Starter); ok {
		return s.Start(r.lend(ctx))
	}
	return nil
}

func (r *behaviour) Stop(ctx *Context[actor.Message]) error {
	if s, ok := r.b.(actor.Stopper); ok {
		return s.Stop(r.lend(ctx))
	}
	return nil
}

func (r *behaviour) Terminated(ctx *Context[actor.Message], path actor.Path) error {
	m := actor.Message{Kind: actor.KindTerminated, Body: map[string]any{"path": string(path)}}
	ctx.env.msg = m
	return r.b.Receive(r.lend(ctx), m)
}

// messageContext is the actor.Context of a declared actor.
type messageContext struct{ *Context[actor.Message] }

func (c *messageContext) Self() actor.Ref { return &c.cell.node }

func (c *messageContext) Tell(to actor.Ref, m actor.Message) error {
	err := to.Tell(c.Context, m)
	switch {
	case err == nil, errors.Is(err, actor.ErrStopped):
		return nil // a missing receiver made a dead letter
	case errors.Is(err, actor.ErrFull), errors.Is(err, actor.ErrBlockTimeout):
		return c.onFull(to, m, err)
	default:
		return err
	}
}

// onFull does what the actor's settings say about a full receiver.
func (c *messageContext) onFull(to actor.Ref, m actor.Message, err error) error {
	self := actor.Ref(&c.cell.node)
	c.Trace()
	switch c.cell.settings.Load().OnFull {
	case DeadLetter:
		c.cell.sys.deadLetter(to.Path(), self, m, actor.ReasonFull, c.meta)
	case Drop:
		c.meta.track().Refuse(fmt.Errorf("dropped for %s: %w", to.Path(), err))
		c.cell.sys.dropped(to.Path(), self, m, "on-full", c.meta)
	case Retry:
		c.meta.track().Join() // until it is accepted or given up
		c.cell.sys.retry(from{context.Background(), self, c.meta}, to, m)
	case BlockOnFull:
		return c.blockUntilRoom(to, m)
	default:
		return err
	}
	return nil
}

// Delays and number of the retries of on-full = retry.
const (
	retryFirst = 10 * time.Millisecond
	retryLast  = time.Second
	retryTimes = 10
)

// retry tells m again later; after the last attempt, when nobody is there any
// more, and when the system ends first, it becomes a dead letter.
func (s *System) retry(ctx from, to actor.Ref, m actor.Message) {
	attempt := 0
	giveUp := func(reason string) { s.deadLetter(to.Path(), ctx.sender, m, reason, ctx.meta) }
	t := &timer{lost: func() { giveUp(actor.ReasonTerminating) }}
	next := func() {
		s.timers.start(t, min(retryFirst<<attempt, retryLast))
		attempt++
	}
	t.fire = func() {
		switch res := actor.Offer(ctx, to, m); {
		case res == actor.Accepted:
			ctx.meta.track().Done(nil)
		case res == actor.Closed:
			giveUp(actor.ReasonStopped)
		case attempt == retryTimes:
			giveUp(actor.ReasonFull)
		default:
			next()
		}
	}
	next()
}

func (c *messageContext) blockUntilRoom(to actor.Ref, m actor.Message) error {
	if to.Path() == c.cell.path {
		return fmt.Errorf("tell %s: %w", to.Path(), actor.ErrWouldDeadlock)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		switch actor.Offer(c.Context, to, m) {
		case actor.Accepted:
			return nil
		case actor.Closed:
			c.cell.sys.deadLetter(to.Path(), &c.cell.node, m, actor.ReasonStopped, c.meta)
			return nil
		}
		select {
		case <-time.After(pause):
		case <-c.Done():
			c.cell.sys.deadLetter(to.Path(), &c.cell.node, m, actor.ReasonFull, c.meta)
			return nil
		}
	}
}

func (c *messageContext) Reply(m actor.Message) error {
	if c.env.sender == nil {
		c.cell.sys.deadLetter(actor.DeadLetters, &c.cell.node, m, actor.ReasonNoSender, c.meta)
		return nil
	}
	return c.Tell(c.env.sender, m)
}

func (c *messageContext) Ask(to actor.Ref, m actor.Message, timeout time.Duration) (actor.Message, error) {
	if to.Path() == c.cell.path {
		return actor.Message{}, fmt.Errorf("ask %s: %w", to.Path(), actor.ErrWouldDeadlock)
	}
	a, ok := to.(actor.Asker)
	if !ok {
		return actor.Message{}, fmt.Errorf("ask %s: %w", to.Path(), actor.ErrUnsupported)
	}
	ctx, cancel := context.WithTimeout(c.Context, timeout)
	defer cancel()
	return a.Ask(ctx, m)
}

func (c *messageContext) Lookup(p actor.Path) actor.Ref { return c.cell.sys.Lookup(p) }

func (c *messageContext) Resolve(t actor.Target) (actor.Ref, error) {
	kind, path, err := t.Parse(cmp.Or(c.cell.props.Load().base, c.cell.path))
	if err != nil {
		return nil, err
	}
	switch kind {
	case actor.ReplyTarget:
		return replyRef{}, nil
	case actor.DeadLettersTarget:
		return deadLettersRef{c.cell.sys}, nil
	case actor.PathTarget:
		return c.cell.sys.Lookup(path), nil
	case actor.TopicTarget:
		return c.cell.sys.Topic(strings.TrimPrefix(string(t), "topic:")), nil
	default:
		return nil, fmt.Errorf("target %q: %w", t, actor.ErrUnsupported)
	}
}

func (c *messageContext) Spawn(name string, p actor.Producer) (actor.Ref, error) {
	name, err := c.cell.sys.nameFor(name, "")
	if err != nil {
		return nil, fmt.Errorf("spawn below %s: %w", c.cell.path, err)
	}
	spec := Spec{Name: name, New: p, Settings: DefaultSettings()}
	return spawn(c.cell.sys, &c.cell.node, name, false, messageProps(spec))
}

func (c *messageContext) Stop(r actor.Ref)        { c.Context.Stop(r.Path()) }
func (c *messageContext) Watch(r actor.Ref) error { return c.Context.Watch(r.Path()) }
func (c *messageContext) Unwatch(r actor.Ref)     { c.Context.Unwatch(r.Path()) }
func (c *messageContext) Publish(e actor.Event)   { c.cell.sys.Publish(e) }
func (c *messageContext) Letter() actor.Letter {
	c.Trace() // a letter keeps its trace
	c.meta.track().Join()
	env := c.env
	env.meta = c.meta // what comes back is a message like others, also if it was a tick or a notice
	return letter[actor.Message]{env, c.meta}
}
func (c *messageContext) Handle() actor.Handle {
	return &handle{cell: c.cell, incarnation: c.cell.counters.incarnation.Load(), done: c.cell.goneChan()}
}

// letter is a message that is kept for later.
type letter[T any] struct {
	env  envelope[T]
	meta *meta
}

func (l letter[T]) Message() actor.Message { return asMessage(l.env.msg) }
func (l letter[T]) Sender() actor.Ref      { return l.env.sender }
func (l letter[T]) Trace() actor.TraceID   { return l.meta.trace }

// metaOf is what a letter carries, also one that another engine made.
func metaOf(l actor.Letter) *meta {
	if own, ok := l.(letter[actor.Message]); ok {
		return own.meta
	}
	return &meta{trace: l.Trace()}
}

// handle acts for one incarnation from outside its turn.
type handle struct {
	cell        *cell[actor.Message]
	incarnation uint64
	done        <-chan struct{}
}

func (h *handle) live() bool {
	return h.incarnation == h.cell.counters.incarnation.Load() && !h.cell.ending()
}

// sends tells whether the incarnation may still tell: until its stop hook has run,
// so that what it handles elsewhere comes to an end.
func (h *handle) sends() bool {
	return h.incarnation == h.cell.counters.incarnation.Load() && !h.cell.is(terminated)
}

func (h *handle) Fail(err error, back ...actor.Letter) bool {
	live := h.live()
	h.cell.signal(signal{kind: sigFail, incarnation: h.incarnation, err: err, back: back})
	return live
}

func (h *handle) Tell(to actor.Ref, m actor.Message, cause actor.Letter) error {
	if !h.sends() {
		return fmt.Errorf("tell %s: the sender's incarnation has ended: %w", to.Path(), actor.ErrStopped)
	}
	ctx := messageContext{&Context[actor.Message]{cell: h.cell}}
	switch l := cause.(type) {
	case nil:
	case letter[actor.Message]:
		ctx.env, ctx.meta = l.env, l.meta
	default: // not a message of this actor's mailbox, such as a timer's in a plugin
		ctx.meta = metaOf(l)
	}
	return ctx.Tell(to, m)
}

func (h *handle) DeadLetter(l actor.Letter, reason string) {
	releaseAsker(l.Sender(), actor.ErrActorFailed)
	h.cell.sys.deadLetter(h.cell.path, l.Sender(), l.Message(), reason, metaOf(l))
}

func (h *handle) Ended() <-chan struct{} { return h.done }

func (h *handle) Done(l actor.Letter) { metaOf(l).track().Done(nil) }

// replyRef stands for the sender of whatever message is current.
type replyRef struct{}

func (replyRef) Path() actor.Path { return actor.Path(actor.ToReply) }

func (replyRef) Tell(ctx context.Context, m actor.Message) error {
	o, ok := ctx.Value(originKey{}).(*Context[actor.Message])
	if !ok {
		return fmt.Errorf("tell reply outside a handler: %w", actor.ErrUnsupported)
	}
	return (&messageContext{o}).Reply(m)
}

// deadLettersRef makes a dead letter of everything.
type deadLettersRef struct{ sys *System }

func (deadLettersRef) Path() actor.Path { return actor.DeadLetters }

func (d deadLettersRef) Tell(ctx context.Context, m actor.Message) error {
	sender, meta := originOf(ctx)
	d.sys.deadLetter(actor.DeadLetters, sender, m, actor.ReasonExplicit, meta)
	return nil
}
