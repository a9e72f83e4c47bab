package runtime

import (
	"errors"
	"fmt"

	"github.com/actord/actord/runtime/actor"
)

// swap is one replacement of a declared actor's behaviour; see Actor.Swap. Its
// methods run on the actor's turn.
type swap struct {
	cell    *cell[actor.Message]
	produce actor.Producer                                     // the new behaviour
	inPlace func(actor.Context, actor.Behaviour) (bool, error) // may be nil
	state   actor.State                                        // of the old instance
	moved   bool                                               // state holds something
	done    func(error)                                        // called once
}

// run decides between changing the instance in place and replacing it.
func (s *swap) run() {
	c := s.cell
	switch {
	case c.ending():
		s.done(fmt.Errorf("swap %s: %w", c.path, actor.ErrStopped))
		return
	case !c.is(running):
		s.adopt() // the restart that is under way makes the new one
		s.done(nil)
		return
	}
	old := c.instance.(*behaviour)
	if taken, err := s.reconfigure(old); taken || err != nil {
		if err == nil {
			s.adopt()
		}
		s.done(err)
		return
	}
	next, err := s.prepare(old)
	if err != nil {
		s.done(err)
		return
	}
	s.replace(next)
}

// adopt makes the new behaviour the one that restarts build.
func (s *swap) adopt() {
	props := *s.cell.props
	produce := s.produce
	props.New = func() (Receiver[actor.Message], error) { return newBehaviour(produce) }
	s.cell.props = &props
}

func (s *swap) reconfigure(old *behaviour) (taken bool, err error) {
	if s.inPlace == nil {
		return false, nil
	}
	c := s.cell
	c.ctx.enter(envelope[actor.Message]{})
	defer c.ctx.leave()
	err = c.guard(func() error {
		taken, err = s.inPlace(old.lend(&c.ctx), old.b)
		return err
	})
	return taken, err
}

// prepare builds the new instance beside the old one and hands the state over.
// Until it succeeds the old one is untouched.
func (s *swap) prepare(old *behaviour) (next *behaviour, err error) {
	err = s.cell.guard(func() error {
		r, err := newBehaviour(s.produce)
		if err != nil {
			return err
		}
		next = r.(*behaviour)
		from, can := old.b.(actor.Snapshotter)
		to, takes := next.b.(actor.Snapshotter)
		if !can || !takes {
			return nil
		}
		if s.state, err = from.Snapshot(); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		s.moved = true
		if err := to.Restore(s.state); err != nil {
			return fmt.Errorf("restore state version %d: %w", s.state.Version, err)
		}
		return nil
	})
	return next, err
}

// replace ends the old instance when the children that it spawned are gone, and
// starts the new one.
func (s *swap) replace(next *behaviour) {
	c := s.cell
	c.become(restarting)
	c.stopTimers()
	c.stopSpawned()
	c.afterChildren = func() {
		c.destroy()
		err := s.start(next)
		if err == nil {
			s.adopt()
			s.done(nil)
			return
		}
		s.done(errors.Join(fmt.Errorf("start the new behaviour: %w", err), s.goBack()))
	}
	c.checkChildren()
}

func (s *swap) start(b *behaviour) error {
	c := s.cell
	c.counters.incarnation.Add(1)
	c.instance = b
	if err := c.guard(c.startInstance); err != nil {
		return err
	}
	c.become(running)
	return nil
}

// goBack starts the old behaviour again with the state it had.
func (s *swap) goBack() error {
	c := s.cell
	c.destroy()
	old, err := c.props.New()
	if err == nil && s.moved {
		if to, ok := old.(*behaviour).b.(actor.Snapshotter); ok {
			err = to.Restore(s.state)
		}
	}
	if err == nil {
		err = s.start(old.(*behaviour))
	}
	if err != nil {
		err = fmt.Errorf("going back to the old behaviour: %w", err)
		c.become(running) // so that the failure is dealt with as one of a live actor
		c.fail(err, false)
	}
	return err
}
