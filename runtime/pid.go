package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// PID is the address of an actor that takes messages of type T. It names a path:
// what lives there may be restarted, replaced or missing. A nil PID is an address
// of nothing. PIDs are safe for concurrent use.
type PID[T any] struct {
	sys  *System
	path actor.Path
	cell atomic.Pointer[cell[T]] // the last cell seen at path
}

// ref is the internal name of a PID.
type ref[T any] = PID[T]

// Spawn starts an actor of message type T below /user. Without a name it gets one
// that nobody can guess. Errors as SpawnActor.
func Spawn[T any](s *System, name string, props *Props[T]) (*PID[T], error) {
	return spawnPID(s, s.user, name, props)
}

func spawnPID[T any](s *System, parent *node, name string, props *Props[T]) (*PID[T], error) {
	name, err := s.nameFor(name, props.Behaviour)
	if err != nil {
		return nil, fmt.Errorf("spawn below %s: %w", parent.path, err)
	}
	n, err := spawn(s, parent, name, false, props)
	if err != nil {
		return nil, err
	}
	p := &PID[T]{sys: s, path: n.path}
	p.cell.Store(n.body.(*cell[T]))
	return p, nil
}

// Lookup returns the typed address of the actor at path. Errors:
// actor.ErrNotFound, actor.ErrWrongType.
func Lookup[T any](s *System, path actor.Path) (*PID[T], error) {
	p := &PID[T]{sys: s, path: path}
	if _, err := p.resolve(nil); err != nil && path != actor.DeadLetters {
		return nil, fmt.Errorf("lookup %s: %w", path, err)
	}
	return p, nil
}

// Path returns where the actor lives, "" for a nil PID.
func (p *PID[T]) Path() actor.Path {
	if p == nil {
		return ""
	}
	return p.path
}

// String returns the path.
func (p *PID[T]) String() string { return string(p.Path()) }

// resolve finds the cell at the path, another one than old.
func (p *PID[T]) resolve(old *cell[T]) (*cell[T], error) {
	if c := p.cell.Load(); c != nil && c != old {
		return c, nil
	}
	n, ok := p.sys.registry.get(p.path)
	if !ok {
		p.cell.CompareAndSwap(old, nil) // an address does not keep what has ended
		return nil, actor.ErrNotFound
	}
	c, ok := n.body.(*cell[T])
	if !ok {
		return nil, actor.ErrWrongType
	}
	if c == old {
		return nil, actor.ErrStopped
	}
	p.cell.Store(c)
	return c, nil
}

// Tell sends m. See actor.Ref for what it does and returns.
func (p *PID[T]) Tell(ctx context.Context, m T) error {
	if p == nil {
		return fmt.Errorf("tell a nil PID: %w", actor.ErrNotFound)
	}
	env := envelope[T]{msg: m}
	env.sender, env.meta = originOf(ctx)
	d := env.meta.track()
	d.Join() // before the push: the message may be handled before it returns
	if c := p.cell.Load(); c != nil && c.quick(&env) {
		return nil
	}
	err := p.tell(ctx, env)
	d.Done(nil) // the other way has joined for itself
	return err
}

func (p *PID[T]) tell(ctx context.Context, env envelope[T]) error {
	_, err := p.deliver(ctx, env)
	return err
}

// deliver puts env into the mailbox of whoever lives at the path, and says who.
func (p *PID[T]) deliver(ctx context.Context, env envelope[T]) (to *cell[T], err error) {
	if d := env.meta.track(); d != nil {
		d.Join() // before the push: the message may be handled before it returns
		defer func() {
			if err != nil {
				d.Done(nil) // it is the sender's to say what that means
			}
		}()
	}
	to, err = p.attempt(ctx, env)
	switch {
	case err == nil:
		return to, nil
	case to == nil:
		if err = p.missing(env, err); err == nil {
			env.meta.track().Done(nil)
		}
		return nil, err
	default:
		return nil, fmt.Errorf("tell %s: %w", p.path, err)
	}
}

// attempt is deliver without what follows when it does not succeed. A nil cell
// with an error means that nobody is there.
func (p *PID[T]) attempt(ctx context.Context, env envelope[T]) (*cell[T], error) {
	var last *cell[T]
	for {
		c, err := p.resolve(last)
		if err != nil {
			return nil, err
		}
		to, err := c.tell(ctx, env)
		if !errors.Is(err, actor.ErrStopped) {
			return to, err
		}
		last = c // it has ended or is ending; is there another one by now?
	}
}

// missing makes a dead letter of a message to nobody.
func (p *PID[T]) missing(env envelope[T], err error) error {
	if p.path == actor.DeadLetters {
		releaseAsker(env.sender, actor.ErrStopped)
		p.sys.deadLetter(p.path, env.sender, env.msg, actor.ReasonExplicit, env.meta)
		return nil
	}
	if errors.Is(err, actor.ErrNotFound) {
		err = actor.ErrStopped
	}
	if errors.Is(err, actor.ErrStopped) {
		reason := actor.ReasonStopped
		if p.sys.closing.Load() {
			reason = actor.ReasonTerminating
		}
		releaseAsker(env.sender, actor.ErrStopped)
		p.sys.deadLetter(p.path, env.sender, env.msg, reason, env.meta)
	}
	return fmt.Errorf("tell %s: %w", p.path, err)
}

// Offer puts m into the mailbox only when that discards nothing; see
// actor.Offerer.
func (p *PID[T]) Offer(ctx context.Context, m T) actor.OfferResult {
	sender, meta := originOf(ctx)
	d := meta.track()
	d.Join()
	_, res := p.offer(ctx, envelope[T]{msg: m, sender: sender, meta: meta})
	if res != actor.Accepted {
		d.Done(nil)
	}
	return res
}

// offer also says who accepted it.
func (p *PID[T]) offer(ctx context.Context, env envelope[T]) (*cell[T], actor.OfferResult) {
	var last *cell[T]
	for {
		c, err := p.resolve(last)
		if err != nil {
			return nil, actor.Closed
		}
		res, _ := c.push(env, pushOffer)
		switch res {
		case in:
			return c, actor.Accepted
		case full:
			return nil, actor.Full
		case moved:
			if to, res := c.ranker.Load().pool.offer(ctx, env); res != actor.Closed {
				return to, res
			}
		}
		last = c
	}
}

// Ask tells m and waits for the first reply; see actor.Asker. Only actors of T =
// actor.Message reply this way; the others answer through a ReplyTo in their
// message (the function Ask).
func (p *PID[T]) Ask(ctx context.Context, m T) (T, error) {
	f, err := question[T](ctx, p)
	if err != nil {
		var zero T
		return zero, err
	}
	return ask(ctx, p, m, f)
}

// Tell makes a node a Ref: the address of whatever lives at its path.
func (n *node) Tell(ctx context.Context, m actor.Message) error {
	env := envelope[actor.Message]{msg: m}
	env.sender, env.meta = originOf(ctx)
	d := env.meta.track()
	d.Join() // before the push; see PID.Tell
	if c, ok := n.body.(*cell[actor.Message]); ok && c.quick(&env) {
		return nil
	}
	err := n.address().tell(ctx, env)
	d.Done(nil)
	return err
}

// Offer makes a node an Offerer.
func (n *node) Offer(ctx context.Context, m actor.Message) actor.OfferResult {
	return n.address().Offer(ctx, m)
}

// Ask makes a node an Asker.
func (n *node) Ask(ctx context.Context, m actor.Message) (actor.Message, error) {
	return n.address().Ask(ctx, m)
}

func (n *node) address() *PID[actor.Message] {
	p := &PID[actor.Message]{sys: n.sys, path: n.path}
	if c, ok := n.body.(*cell[actor.Message]); ok {
		p.cell.Store(c)
	}
	return p
}
