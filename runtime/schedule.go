package runtime

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Timer tells the actor m when the schedule says; a timer of the same key is
// replaced. See actor.Context.
func (c *Context[T]) Timer(key string, when actor.Schedule, m T) error {
	if err := when.Check(); err != nil {
		return fmt.Errorf("timer %q of %s: %w", key, c.cell.path, err)
	}
	c.CancelTimer(key)
	cell := c.cell
	t := cell.newTimer(when, m, cell.counters.incarnation.Load())
	t.key = key
	cell.keepTimer(t)
	if cell.x.keyed == nil {
		cell.x.keyed = map[string]*timer{}
	}
	cell.x.keyed[key] = t
	cell.sys.timers.begin(t, when)
	return nil
}

// CancelTimer ends the timer of that key and reports whether that prevented a
// delivery.
func (c *Context[T]) CancelTimer(key string) bool {
	x := c.cell.x
	if x == nil || x.keyed[key] == nil {
		return false
	}
	t := x.keyed[key]
	delete(x.keyed, key)
	delete(x.timers, t)
	return c.cell.sys.timers.stop(t)
}

// newTimer makes a timer that tells the actor m. Its ticks are void for another
// incarnation; 0 means that they are for any.
func (c *cell[T]) newTimer(when actor.Schedule, m T, incarnation uint64) *timer {
	t := &timer{every: when.Every, rate: !when.Delay, again: when.Next != nil}
	tag := &meta{kind: tick, incarnation: incarnation, timer: t}
	tell := func() { _, _ = c.push(envelope[T]{msg: m, meta: tag}, pushOnce) }
	t.fire = tell
	if when.Next != nil {
		w := &almanac{next: when.Next, log: c.node.log}
		t.fire = func() {
			if w.due(time.Now()) {
				tell()
			}
			c.sys.timers.rearm(t, w.wait(time.Now()))
		}
		t.plan = w
	}
	return t
}

// single tells that the timer ends with its first delivery.
func (e *timer) single() bool { return e.every == 0 && !e.again }

// following is when a timer fires again that fires now.
func (e *timer) following(now time.Time) time.Time {
	if e.rate {
		return e.at.Add(e.every)
	}
	return now.Add(e.every)
}

// begin arms a new timer for the first time.
func (t *timers) begin(e *timer, when actor.Schedule) {
	if e.plan != nil {
		t.start(e, e.plan.wait(time.Now()))
		return
	}
	t.start(e, when.First())
}

// rearm arms a timer that has fired, unless it was stopped meanwhile.
func (t *timers) rearm(e *timer, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.over || t.closed {
		return
	}
	e.at = time.Now().Add(d)
	t.arm(e)
}

// almanac follows the clock on the wall, which may be set or stand still while the
// machine sleeps: it looks at it at least once a minute.
type almanac struct {
	next func(time.Time) time.Time
	log  func() *slog.Logger
	at   time.Time // of the next firing; zero before the first look
}

// lookAgain is the time between two looks.
const lookAgain = time.Minute

// wait is the time until the next firing or look.
func (w *almanac) wait(now time.Time) time.Duration {
	if w.at.IsZero() {
		w.at = w.ask(now)
	}
	if w.at.IsZero() {
		return lookAgain
	}
	return min(w.at.Round(0).Sub(now.Round(0)), lookAgain)
}

// due tells whether it is time, and forgets that time when it is.
func (w *almanac) due(now time.Time) bool {
	if w.at.IsZero() || now.Round(0).Before(w.at) {
		return false
	}
	w.at = time.Time{}
	return true
}

// ask is next without its panics.
func (w *almanac) ask(now time.Time) (at time.Time) {
	defer func() {
		if r := recover(); r != nil {
			w.log().Error("the schedule of a timer panicked", "panic", fmt.Sprint(r))
		}
	}()
	return w.next(now.Round(0))
}
