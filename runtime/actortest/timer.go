package actortest

import (
	"slices"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// timer is one After or Every of the behaviour on a Rig.
type timer struct {
	at      time.Duration // on the clock of Advance
	every   time.Duration // 0 for After
	message actor.Message
}

func (r *Rig) addTimer(d, every time.Duration, m actor.Message) (cancel func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &timer{at: r.elapsed + d, every: every, message: m}
	r.timers = append(r.timers, t)
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.Index(r.timers, t)
		if i < 0 {
			return false
		}
		r.timers = slices.Delete(r.timers, i, i+1)
		return true
	}
}

// Timers returns how many timers are set.
func (r *Rig) Timers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.timers)
}

// Advance lets d pass for the behaviour's timers: what becomes due is handled in
// the order of time, timers included that are set meanwhile. The clocks of
// package time do not move. It ends at the first error of the behaviour.
func (r *Rig) Advance(d time.Duration) error {
	r.tb.Helper()
	until := r.elapsed + d
	for {
		m, ok := r.nextDue(until)
		if !ok {
			r.elapsed = until
			return nil
		}
		if err := r.handle(&letter{message: m, trace: actor.NewTraceID()}); err != nil {
			return err
		}
	}
}

// nextDue moves the clock to the earliest timer that is due by until, and takes
// it or sets it anew.
func (r *Rig) nextDue(until time.Duration) (actor.Message, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := -1
	for i, t := range r.timers {
		if t.at <= until && (first < 0 || t.at < r.timers[first].at) {
			first = i
		}
	}
	if first < 0 {
		return actor.Message{}, false
	}
	t := r.timers[first]
	r.elapsed = t.at
	r.timers = slices.Delete(r.timers, first, first+1)
	if t.every > 0 {
		t.at += t.every
		r.timers = append(r.timers, t)
	}
	return t.message, true
}
