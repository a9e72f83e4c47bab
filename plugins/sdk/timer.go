package sdk

import (
	"time"

	"github.com/actord/actord/runtime/actor"
)

// timer is one After or Every of an instance. Its message enters the instance's
// queue when it is due; the next round of Every begins when it was handled.
type timer struct {
	in    *instance
	msg   actor.Message
	every time.Duration
	clock *time.Timer // guarded by in.mu
	over  bool        // guarded by in.mu: cancelled, or a single shot that was handled

	sender string        // of a result: who sent the message that it is about
	trace  actor.TraceID // and on which trace
}

func (in *instance) arm(d, every time.Duration, m actor.Message) *timer {
	return in.armed(&timer{in: in, msg: m, every: every}, d)
}

// armed arms a new timer.
func (in *instance) armed(t *timer, d time.Duration) *timer {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		t.over = true
		return t
	}
	in.timers[t] = struct{}{}
	t.clock = time.AfterFunc(max(d, 0), func() { in.push(item{kind: itemTick, order: &order{timer: t}}) })
	return t
}

// stop ends the timer and reports whether that prevented a delivery.
func (t *timer) stop() bool {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	if t.over {
		return false
	}
	t.over = true
	t.clock.Stop()
	delete(t.in.timers, t)
	return true
}

// cancelled tells whether a tick came too late; a single shot is over with it.
func (t *timer) cancelled() bool {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	if t.over {
		return true
	}
	if t.every <= 0 {
		t.over = true
		delete(t.in.timers, t)
	}
	return false
}

// again arms the next round of Every.
func (t *timer) again() {
	t.in.mu.Lock()
	defer t.in.mu.Unlock()
	if !t.over && t.every > 0 {
		t.clock.Reset(t.every)
	}
}

func (in *instance) stopTimers() {
	in.mu.Lock()
	timers := in.timers
	in.timers = map[*timer]struct{}{}
	for t := range timers {
		t.over = true
		t.clock.Stop()
	}
	in.mu.Unlock()
}
