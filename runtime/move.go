package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/actord/actord/runtime/actor"
)

// Paused is an actor without an instance that keeps its place and its mailbox:
// messages gather until Resume or MoveTo. One of them must be called.
type Paused struct {
	w *swap
}

// Pause ends the actor's instance between two messages and keeps its state. An
// error leaves the actor as it was: actor.ErrUnsupported for a pool,
// ErrNotRunning for one that is failing or restarting, ErrUnderway when ctx
// ended in the middle.
func (a *Actor) Pause(ctx context.Context) (*Paused, error) {
	c, ok := a.node.body.(*cell[actor.Message])
	if !ok {
		return nil, fmt.Errorf("pause %s: %w", a.node.path, actor.ErrWrongType)
	}
	result := make(chan error, 1)
	p := &Paused{w: &swap{cell: c, done: func(err error) { result <- err }}}
	c.signal(signal{kind: sigCall, f: p.w.pause})
	var err error
	select {
	case err = <-result:
	case <-c.doneChan():
		err = actor.ErrStopped
	case <-ctx.Done():
		err = fmt.Errorf("it is busy: %w", context.Cause(ctx))
		if !p.w.begun.CompareAndSwap(false, true) {
			err = fmt.Errorf("%w: %w", ErrUnderway, context.Cause(ctx))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pause %s: %w", c.path, err)
	}
	return p, nil
}

// ErrNotRunning says that an actor cannot be paused while it fails or restarts.
var ErrNotRunning = errors.New("it is not running")

// pause runs on the actor's turn.
func (s *swap) pause() {
	c := s.cell
	if !s.begun.CompareAndSwap(false, true) {
		return
	}
	if c.props.Load().running != nil {
		s.done(fmt.Errorf("a pool has more than one mailbox: %w", actor.ErrUnsupported))
		return
	}
	old, ok := c.instance.(*behaviour)
	if !ok || !c.is(running) || c.swapping {
		s.done(ErrNotRunning)
		return
	}
	c.hook(func() error {
		if from, can := old.b.(actor.Snapshotter); can {
			return s.snapshot(from)
		}
		return nil
	}, func(err error) {
		if err != nil {
			s.done(err)
			return
		}
		c.become(restarting)
		c.swapping, c.keep = true, false
		c.stopTimers()
		c.endDynamic()
		c.whenChildrenEnded(func() { c.destroy(func() { s.done(nil) }) })
	})
}

// State is what the ended instance had; nil when it has none to give.
func (p *Paused) State() *actor.State { return p.w.state }

// Resume starts the old behaviour again with its state. An error means that this
// failed; the actor's supervisor decides then.
func (p *Paused) Resume(ctx context.Context) error {
	s, result := p.w, make(chan error, 1)
	s.done = func(err error) { result <- err }
	s.cell.signal(signal{kind: sigCall, f: func() {
		if s.cell.ending() {
			s.done(fmt.Errorf("resume %s: %w", s.cell.path, actor.ErrStopped))
			return
		}
		s.goBack(nil)
	}})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("resume %s: %w", s.cell.path, context.Cause(ctx))
	}
}

// MoveTo gives the mailbox, its counters and its address to next, which was
// spawned frozen: what waits comes before everything that next has got so far.
// Senders to the old address reach next until System.Forget. The old actor is
// empty then; End ends it.
func (p *Paused) MoveTo(next *Actor) error {
	from, to := p.w.cell, next.node.body.(*cell[actor.Message])
	done := make(chan struct{})
	from.signal(signal{kind: sigCall, f: func() {
		from.emptyInto(to)
		close(done)
	}})
	select {
	case <-done:
		to.signal(signal{kind: sigThaw})
		return nil
	case <-from.doneChan():
		return fmt.Errorf("move %s: %w", from.path, actor.ErrStopped)
	}
}

// End ends the old actor with all that is still below it.
func (p *Paused) End(ctx context.Context) error {
	return (&Actor{&p.w.cell.node}).StopNow(ctx)
}

// emptyInto runs on the turn of c, which nobody else takes messages from. Most of
// the queue goes before anybody has to wait for a lock.
func (c *cell[T]) emptyInto(to *cell[T]) {
	var envs []envelope[T]
	for env, ok := c.next(); ok; env, ok = c.next() {
		envs = append(envs, env)
	}
	r := &c.sys.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for env, ok := c.queue.Take(); ok; env, ok = c.queue.Take() {
		envs = append(envs, env)
	}
	for !to.pushFront(envs) {
	}
	c.closed = true
	c.releaseRoom() // whoever waits finds the new place
	to.counters.handled.Add(c.counters.handled.Load())
	if t := c.counters.trouble.Load(); t != nil {
		all := to.counters.troubles()
		all.restarts.Add(t.restarts.Load())
		all.failed.Add(t.failed.Load())
		all.dropped.Add(t.dropped.Load())
		all.lettered.Add(t.lettered.Load())
	}
	r.forward(&c.node, &to.node)
}

// forward makes to what is found at the paths of n; mu is held.
func (r *registry) forward(n, to *node) {
	delete(r.nodes, n.path)
	if r.moved == nil {
		r.moved = map[actor.Path]*node{}
	}
	for p, at := range r.moved {
		if at == n {
			r.moved[p] = to
		}
	}
	r.moved[n.path] = to
}

// Forget ends the forwarding from a path that was moved.
func (s *System) Forget(p actor.Path) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	delete(s.registry.moved, p)
}
