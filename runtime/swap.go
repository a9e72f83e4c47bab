package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// swap is one replacement of a declared actor's behaviour; see Actor.Swap. Its
// methods run on the actor's turn.
type swap struct {
	cell    *cell[actor.Message]
	produce actor.Producer                                     // the new behaviour
	inPlace func(actor.Context, actor.Behaviour) (bool, error) // may be nil
	begun   atomic.Bool                                        // or given up
	name    string                                             // of the new behaviour; "": as the old one
	fresh   bool                                               // the new instance gets no state but what is given
	given   *actor.State                                       // goes to the new instance; nil: what the old one has
	reserve *actor.State                                       // goes to the new instance when it refuses the other
	state   *actor.State                                       // of the old instance; nil: it has none to give
	lost    error                                              // why the new instance got the reserve
	done    func(error)                                        // called once
}

// run decides between changing the instance in place and replacing it.
func (s *swap) run() {
	c := s.cell
	if !c.ending() && (c.is(suspended) || c.swapping) {
		x := c.extras()
		x.later = append(x.later, s.run)
		return
	}
	if !s.begun.CompareAndSwap(false, true) {
		return
	}
	old, ok := c.instance.(*behaviour)
	switch {
	case c.ending():
		s.done(fmt.Errorf("swap %s: %w", c.path, actor.ErrStopped))
	case !c.is(running):
		s.adoptWithState() // the restart that is under way makes the new one
		s.done(nil)
	case !ok:
		s.done(fmt.Errorf("swap %s: it is not run by an actor.Behaviour: %w", c.path, actor.ErrUnsupported))
	case s.inPlace == nil:
		s.handOver(old)
	default:
		s.reconfigure(old)
	}
}

// adopt makes the new behaviour the one that restarts build.
func (s *swap) adopt() {
	props := *s.cell.props.Load()
	props.Behaviour = cmp.Or(s.name, props.Behaviour)
	produce := s.produce
	props.New = func() (Receiver[actor.Message], error) { return newBehaviour(produce) }
	s.cell.props.Store(&props)
}

// adoptWithState is adopt for an actor without an instance: the first one that is
// made gets the state that was given for it.
func (s *swap) adoptWithState() {
	state, produce := s.given, s.produce
	if state == nil {
		state = s.reserve
	}
	if state != nil {
		s.produce = func() (actor.Behaviour, error) {
			b, err := produce()
			if to, takes := b.(actor.Snapshotter); err == nil && takes && state != nil {
				err, state = restore(to, *state), nil
			}
			return b, err
		}
	}
	s.adopt()
}

// reconfigure offers the change to the running instance, and replaces it when it
// cannot take changes in place.
func (s *swap) reconfigure(old *behaviour) {
	c, taken := s.cell, false
	c.hook(func() (err error) {
		taken, err = s.inPlace(old.lend(&c.ctx), old.b)
		return err
	}, func(err error) {
		switch {
		case err != nil:
			s.done(err)
		case taken:
			s.adopt()
			s.done(nil)
		default:
			s.handOver(old)
		}
	})
}

// handOver builds the new instance beside the old one and gives it the state.
// Until it succeeds the old one is untouched.
func (s *swap) handOver(old *behaviour) {
	var next *behaviour
	s.cell.hook(func() (err error) {
		next, err = s.build(old)
		return err
	}, func(err error) {
		if err != nil {
			s.done(err)
			return
		}
		s.replace(next)
	})
}

func (s *swap) build(old *behaviour) (*behaviour, error) {
	r, err := newBehaviour(s.produce)
	if err != nil {
		return nil, err
	}
	next := r.(*behaviour)
	from, can := old.b.(actor.Snapshotter)
	to, takes := next.b.(actor.Snapshotter)
	if can {
		err = s.snapshot(from)
	}
	if !takes {
		return next, nil
	}
	state := s.given
	if state == nil && !s.fresh {
		state = s.state
	}
	if err == nil && state != nil {
		err = restore(to, *state)
	}
	if err == nil || s.reserve == nil {
		return next, err
	}
	s.lost = err
	if r, err = newBehaviour(s.produce); err != nil { // the first one may be half filled
		return nil, err
	}
	next = r.(*behaviour)
	return next, restore(next.b.(actor.Snapshotter), *s.reserve)
}

// snapshot asks the old instance for its state.
func (s *swap) snapshot(from actor.Snapshotter) error {
	state, err := from.Snapshot()
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	s.state = &state
	return nil
}

func restore(to actor.Snapshotter, state actor.State) error {
	if err := to.Restore(state); err != nil {
		return fmt.Errorf("restore state version %d: %w", state.Version, err)
	}
	return nil
}

// replace ends the old instance when the children that it spawned are gone, and
// starts the new one.
func (s *swap) replace(next *behaviour) {
	c := s.cell
	c.become(restarting)
	c.swapping, c.keep = true, false
	c.stopTimers()
	c.endDynamic()
	c.whenChildrenEnded(func() {
		c.destroy(func() { s.start(next, s.started) })
	})
}

// start gives the actor an instance that was built already.
func (s *swap) start(b *behaviour, then func(error)) {
	c := s.cell
	c.counters.incarnation.Add(1)
	c.instance = b
	c.hook(c.startInstance, then)
}

func (s *swap) started(err error) {
	if err != nil {
		s.goBack(fmt.Errorf("start the new behaviour: %w", err))
		return
	}
	s.adopt()
	s.goOn(nil)
}

// goOn lets the actor work again.
func (s *swap) goOn(err error) {
	c := s.cell
	c.swapping, c.born = false, true
	c.become(running)
	c.thawChildren()
	s.done(err)
}

// goBack starts the old behaviour again with the state it had.
func (s *swap) goBack(cause error) {
	c := s.cell
	var old *behaviour
	giveUp := func(err error) {
		err = fmt.Errorf("going back to the old behaviour: %w", err)
		c.swapping = false
		c.become(starting)
		c.fail(err, false)
		s.done(errors.Join(cause, err))
	}
	rebuild := func() (err error) {
		r, err := c.props.Load().New()
		if err != nil {
			return err
		}
		old = r.(*behaviour)
		if to, ok := old.b.(actor.Snapshotter); ok && s.state != nil {
			return restore(to, *s.state)
		}
		return nil
	}
	start := func(err error) {
		if err != nil {
			giveUp(err)
			return
		}
		s.start(old, func(err error) {
			if err != nil {
				giveUp(err)
				return
			}
			s.goOn(cause)
		})
	}
	c.destroy(func() { c.hook(rebuild, start) })
}
