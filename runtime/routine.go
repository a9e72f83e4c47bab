package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Routine is what the runtime does for an actor by itself. A nil Routine is
// nothing. It must not change once it is part of settings. In a pool each routee
// has the routine of the pool.
type Routine struct {
	ReceiveTimeout time.Duration  // silence that is made known to the actor; 0 means none
	StopWhenIdle   bool           // the actor ends after the ReceiveTimeout instead of being told
	Throttle       actor.Throttle // of what it handles
	Timers         map[string]Timer
	// Watch are actors whose end the actor is told (actor.KindTerminated), whenever
	// one lives at the path: also the successors of one that ended.
	Watch []actor.Path
}

// Timer is a timer that is part of an actor's settings. It fires while an
// incarnation lives; a restart begins it anew.
type Timer struct {
	When    actor.Schedule
	Message actor.Message
	Mark    string // timers of the same key and mark are the same one; "" makes each a new one
}

// Check reports what is wrong with r.
func (r *Routine) Check() error {
	if r == nil {
		return nil
	}
	var errs []error
	if r.ReceiveTimeout < 0 {
		errs = append(errs, fmt.Errorf("receive timeout: %s is not possible", r.ReceiveTimeout))
	}
	errs = append(errs, r.Throttle.Check())
	for key, t := range r.Timers {
		if err := t.When.Check(); err != nil {
			errs = append(errs, fmt.Errorf("timer %q: %w", key, err))
		}
	}
	return errors.Join(errs...)
}

// standing is what is in force of a routine.
type standing struct {
	timers   map[string]standingTimer
	watch    map[actor.Path]struct{}
	throttle actor.Throttle
	timeout  time.Duration
	stop     bool
}

type standingTimer struct {
	timer *timer
	mark  string
}

var noRoutine = &Routine{}

// settle puts the routine of the settings in force: what is in force already stays
// as it is. It runs on the turn, before each start and after changes.
func (c *cell[T]) settle() {
	r := c.settings.Load().Routine
	if c.props.Load().running != nil {
		r = nil // the routees have it
	}
	if r == nil {
		if c.x == nil || c.x.standing == nil {
			return
		}
		r = noRoutine
	}
	x := c.extras()
	if x.standing == nil {
		x.standing = &standing{timers: map[string]standingTimer{}, watch: map[actor.Path]struct{}{}}
	}
	s := x.standing
	if s.throttle != r.Throttle {
		c.setThrottle(r.Throttle)
		s.throttle = r.Throttle
	}
	if s.timeout != r.ReceiveTimeout || s.stop != r.StopWhenIdle {
		c.setIdle(r.ReceiveTimeout, r.StopWhenIdle)
		s.timeout, s.stop = r.ReceiveTimeout, r.StopWhenIdle
	}
	c.settleTimers(s, r.Timers)
	c.settleWatch(s, r.Watch)
}

func (c *cell[T]) settleTimers(s *standing, want map[string]Timer) {
	for key, t := range s.timers {
		if w, ok := want[key]; !ok || t.mark == "" || w.Mark != t.mark {
			c.sys.timers.stop(t.timer)
			delete(s.timers, key)
		}
	}
	for key, w := range want {
		m, ok := any(w.Message).(T)
		if _, there := s.timers[key]; there || !ok {
			continue
		}
		t := c.newTimer(w.When, m, 0)
		s.timers[key] = standingTimer{t, w.Mark}
		c.sys.timers.begin(t, w.When)
	}
}

// resettle is settle after the settings have changed. An actor that is between two
// incarnations settles when it starts.
func (c *cell[T]) resettle(old, next *Routine) {
	if old == nil && next == nil {
		return
	}
	c.signal(signal{kind: sigCall, f: func() {
		if !c.ending() && c.instance != nil {
			c.settle()
		}
	}})
}

// forget ends what belongs to an incarnation.
func (c *cell[T]) forget() {
	x := c.x
	if x == nil {
		return
	}
	x.roles = nil
	c.endStash()
	c.setIdle(0, false)
	if s := x.standing; s != nil {
		s.timeout, s.stop = 0, false // so that settle sets it again
		if !c.swapping {
			for _, t := range s.timers {
				c.sys.timers.stop(t.timer)
			}
			clear(s.timers)
		}
	}
	if b := x.throttle; b != nil && (x.standing == nil || x.standing.throttle != b.limit || c.ending()) {
		c.setThrottle(actor.Throttle{}) // it was the behaviour's
		if x.standing != nil {
			x.standing.throttle = actor.Throttle{}
		}
	}
	if c.ending() {
		c.unwatchAll()
	}
}

func (c *cell[T]) unwatchAll() {
	if c.x.standing == nil {
		return
	}
	for path := range c.x.standing.watch {
		c.sys.arrivals.forget(path, &c.node)
	}
}
