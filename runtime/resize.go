package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// startPool makes home a pool before its first instance.
func startPool[T any](home *cell[T], props *Props[T]) error {
	p := newPool(home, *props.Pool, props)
	home.lead(p)
	_, err := p.reconcile()
	return err
}

// lead makes the actor's next instance the one that leads the pool.
func (c *cell[T]) lead(p *pool[T]) {
	props := *c.props.Load()
	props.running = p
	props.New = func() (Receiver[T], error) { return &distributor[T]{p}, nil }
	c.props.Store(&props)
}

// Resize makes the running actor a pool of another size, strategy or key. New
// routees have started when it returns; those that are too many, which are the
// highest-numbered, work off what they have. Those that stay are not touched:
// their state, their mailbox and their timers go on.
//
// A plain actor that becomes a pool hands its state to routee-1, when it can, and
// what is in its mailbox to all of them. A pool that shrinks to one routee, or is
// told nil, stays a pool of one until its next start.
func (a *Actor) Resize(ctx context.Context, conf *Pool[actor.Message]) error {
	c, ok := a.node.body.(*cell[actor.Message])
	if !ok {
		return fmt.Errorf("resize %s: %w", a.node.path, actor.ErrWrongType)
	}
	if err := conf.Check(); err != nil {
		return fmt.Errorf("resize %s: %w", a.node.path, err)
	}
	p := c.props.Load().running
	switch {
	case p == nil && !conf.many():
		return nil
	case c.own() != nil:
		return fmt.Errorf("resize %s: %w", a.node.path, errMailboxCombined)
	case p == nil:
		if err := c.enlarge(ctx, *conf); err != nil {
			return err
		}
		return a.Started(ctx)
	case conf == nil:
		conf = &Pool[actor.Message]{Size: 1}
	}
	hired, err := p.resize(*conf)
	return errors.Join(err, allStarted(ctx, hired))
}

// enlarge makes a plain actor a pool, between two messages.
func (c *cell[T]) enlarge(ctx context.Context, conf Pool[T]) error {
	result := make(chan error, 1)
	e := &enlargement[T]{cell: c, conf: conf, done: func(err error) { result <- err }}
	c.signal(signal{kind: sigCall, f: e.run})
	select {
	case err := <-result:
		return err
	case <-c.doneChan():
		return fmt.Errorf("resize %s: %w", c.path, actor.ErrStopped)
	case <-ctx.Done():
	}
	if e.begun.CompareAndSwap(false, true) { // so that it does not happen later
		return fmt.Errorf("resize %s: it is busy: %w", c.path, context.Cause(ctx))
	}
	select {
	case err := <-result:
		return err
	default:
		return fmt.Errorf("resize %s: it is under way and goes on: %w", c.path, context.Cause(ctx))
	}
}

// enlargement turns a plain actor into a pool. Its methods run on the actor's turn.
type enlargement[T any] struct {
	cell  *cell[T]
	conf  Pool[T]
	begun atomic.Bool // or given up
	done  func(error) // called once
}

func (e *enlargement[T]) run() {
	c := e.cell
	if !c.ending() && (c.is(suspended) || c.swapping) {
		x := c.extras()
		x.later = append(x.later, e.run)
		return
	}
	if !e.begun.CompareAndSwap(false, true) {
		return
	}
	switch {
	case c.ending():
		e.done(fmt.Errorf("resize %s: %w", c.path, actor.ErrStopped))
	case !c.is(running):
		p := newPool(c, e.conf, c.props.Load())
		c.lead(p) // the start that is under way makes it
		_, err := p.reconcile()
		e.done(err)
	default:
		e.handOver()
	}
}

// handOver makes the instance of routee-1 beside the running one, and ends that
// when the children that it spawned are gone.
func (e *enlargement[T]) handOver() {
	c := e.cell
	var first Receiver[T]
	build := func() (err error) {
		first, err = heir(c.instance, c.props.Load().New)
		return err
	}
	c.hook(build, func(err error) {
		if err != nil {
			e.done(fmt.Errorf("resize %s: %w", c.path, err))
			return
		}
		c.become(restarting)
		c.swapping, c.keep = true, false
		c.stopTimers()
		c.endDynamic()
		c.whenChildrenEnded(func() { c.destroy(func() { e.open(first) }) })
	})
}

// heir makes a new instance and gives it the state of the old one, when both can.
func heir[T any](old Receiver[T], make func() (Receiver[T], error)) (Receiver[T], error) {
	next, err := make()
	if err != nil {
		return nil, err
	}
	was, isOld := any(old).(*behaviour)
	is, isNew := any(next).(*behaviour)
	if !isOld || !isNew {
		return next, nil
	}
	from, can := was.b.(actor.Snapshotter)
	to, takes := is.b.(actor.Snapshotter)
	if !can || !takes {
		return next, nil
	}
	s, err := from.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return next, restore(to, s)
}

// open starts the routees, the first one with the heir.
func (e *enlargement[T]) open(first Receiver[T]) {
	c := e.cell
	p := newPool(c, e.conf, c.props.Load())
	p.first = first
	c.lead(p)
	_, err := p.reconcile()
	c.counters.incarnation.Add(1)
	c.instance = &distributor[T]{p}
	c.hook(c.startInstance, func(startErr error) {
		c.swapping, c.born = false, true
		c.become(running)
		c.thawChildren()
		e.done(errors.Join(err, startErr))
	})
}

// update gives all routees, also those to come, other settings.
func (p *pool[T]) update(s Settings, priority func(T, actor.Ref) float64) error {
	p.change(func(props *Props[T]) { props.Settings, props.Priority = s, priority })
	var errs []error
	for _, c := range p.cells() {
		errs = append(errs, c.update(s, priority))
	}
	return errors.Join(errs...)
}

// swapAll gives all routees, also those to come, another behaviour, one after the
// other; see Actor.Swap. When one of them does not take it, those before it get
// the old behaviour again.
func swapAll(ctx context.Context, p *pool[actor.Message], next actor.Producer, reconfigure func(actor.Context, actor.Behaviour) (bool, error)) error {
	var old func() (Receiver[actor.Message], error)
	p.change(func(props *Props[actor.Message]) {
		old = props.New
		props.New = func() (Receiver[actor.Message], error) { return newBehaviour(next) }
	})
	cells := p.cells()
	for i, c := range cells {
		err := (&Actor{&c.node}).Swap(ctx, next, reconfigure)
		if err == nil || c.ending() {
			continue
		}
		p.change(func(props *Props[actor.Message]) { props.New = old })
		back := func() (actor.Behaviour, error) {
			r, err := old()
			if err != nil {
				return nil, err
			}
			return r.(*behaviour).b, nil
		}
		for _, done := range cells[:i] {
			if e := (&Actor{&done.node}).Swap(context.WithoutCancel(ctx), back, nil); e != nil && !done.ending() {
				err = errors.Join(err, fmt.Errorf("going back: %w", e))
			}
		}
		return err
	}
	return nil
}

// routeesStarted waits for the first start of all routees.
func (a *Actor) routeesStarted(ctx context.Context) error {
	c, ok := a.node.body.(*cell[actor.Message])
	if !ok || c.props.Load().running == nil {
		return nil
	}
	p := c.props.Load().running
	var routees []*node
	for _, r := range p.cells() {
		routees = append(routees, &r.node)
	}
	return errors.Join(allStarted(ctx, routees), p.missing())
}

// missing says which routees have ended by themselves, e.g. because they did not
// start and supervision gave them up.
func (p *pool[T]) missing() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for i := range p.conf.Size {
		if i >= len(p.routees) || p.routees[i] == nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.home.path.Child(routeeName(i)), actor.ErrStopped))
		}
	}
	return errors.Join(errs...)
}

func allStarted(ctx context.Context, routees []*node) error {
	var errs []error
	for _, n := range routees {
		if err := (&Actor{n}).Started(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", n.path, err))
		}
	}
	return errors.Join(errs...)
}
