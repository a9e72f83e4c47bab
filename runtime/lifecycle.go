package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// obey carries out the control signals that have come. It runs on the turn.
func (n *node) obey() {
	for s := n.takeSignal(); s != nil; s = n.takeSignal() {
		n.obeyOne(s)
		n.runLater()
	}
}

func (n *node) obeyOne(s *signal) {
	switch s.kind {
	case sigCreate:
		n.create()
	case sigStop:
		if !n.mayTake() {
			n.beginStop(true) // it cannot drain now: stop wins over a pending restart
		}
	case sigStopNow:
		n.beginStop(false)
	case sigChildFail:
		n.decide(*s)
	case sigChildGone:
		n.checkChildren()
	case sigResume:
		n.resume()
	case sigRestart:
		if s.incarnation == 0 || s.incarnation == n.counters.incarnation.Load() {
			n.because(s.err)
			n.restart(s.delay)
		}
	case sigRestartDue:
		if n.is(restarting) && s.incarnation == n.counters.incarnation.Load() {
			n.revive()
		}
	case sigFreeze:
		n.frozen = true
		n.toChildren(sigFreeze)
	case sigThaw:
		n.frozen = false
		n.thawChildren()
	case sigFail:
		n.failOutside(*s)
	case sigCall:
		s.f()
	}
}

// runLater runs the calls that waited until it is known how the actor goes on.
func (n *node) runLater() {
	if n.x == nil || len(n.x.later) == 0 || n.is(suspended) || n.swapping {
		return
	}
	calls := n.x.later
	n.x.later = nil
	for _, f := range calls {
		f()
	}
}

// begin has the first instance made.
func (n *node) begin() {
	n.mu.Lock()
	if n.ended {
		n.mu.Unlock()
		return // its parent has ended it already
	}
	n.fresh = true
	n.pending.Add(1)
	wake := n.wake()
	n.mu.Unlock()
	if wake {
		n.body.launch()
	}
}

// create makes the first instance.
func (n *node) create() {
	n.start(func() {
		if !n.guardian {
			n.sys.Publish(actor.Started{Path: n.path, Incarnation: 1})
		}
	})
}

// start makes an instance and goes on with then when it has started.
func (n *node) start(then func()) {
	if n.ending() {
		return
	}
	n.become(starting)
	n.counters.incarnation.Add(1)
	n.body.create(func(err error) {
		if err != nil {
			n.notStarted(fmt.Errorf("start: %w", err))
			return
		}
		n.born = true
		n.become(running)
		n.tellStart(nil)
		then()
	})
}

// notStarted is a failure like others, but for an actor that is to end anyway.
func (n *node) notStarted(err error) {
	n.tellStart(err)
	if n.isDraining() {
		n.log().Error("failed while stopping", "err", err)
		n.beginStop(true)
		return
	}
	n.fail(err, false)
}

func (n *node) isDraining() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.draining
}

// pauseUnborn is how long an actor without an instance waits before it tries
// again, when its supervisors answered with going on.
const pauseUnborn = time.Second

// resume goes on with the same instance.
func (n *node) resume() {
	switch {
	case !n.is(suspended):
	case !n.born:
		n.restart(pauseUnborn)
	default:
		n.become(running)
		n.thawChildren()
	}
}

// restart ends the instance and its children's, and makes a new one after delay.
// The mailbox stays.
func (n *node) restart(delay time.Duration) {
	switch {
	case n.ending() || n.is(restarting):
		return
	case delay > 0 && n.isDraining():
		n.beginStop(true) // stop wins over a pending restart
		return
	}
	n.become(restarting)
	n.reviving, n.keep = true, n.keepsChildren()
	n.stopTimers()
	n.toChildren(sigFreeze)
	if !n.keep {
		n.endDynamic()
	}
	n.whenChildrenEnded(func() {
		n.body.destroy(func() { n.reviveAfter(delay) })
	})
}

func (n *node) reviveAfter(delay time.Duration) {
	if delay <= 0 {
		n.revive()
		return
	}
	incarnation := n.counters.incarnation.Load()
	n.sys.timers.after(delay, 0, func() { n.signal(signal{kind: sigRestartDue, incarnation: incarnation}) })
}

// keepsChildren tells whether children survive a restart of n.
func (n *node) keepsChildren() bool {
	return n.parent != nil && n.parent.strategyFor(n).KeepChildren
}

// revive makes the instance after a restart.
func (n *node) revive() {
	restarts := n.counters.troubles().restarts.Add(1)
	n.start(func() {
		n.reviving = false
		var cause error
		if e := n.counters.troubles().lastError.Load(); e != nil {
			cause = errors.New(e.text)
		}
		n.sys.Publish(actor.Restarted{Path: n.path, Restarts: restarts, Cause: cause})
		for _, c := range n.children() {
			if c.declared && !n.keep {
				past := n.pastOf(c)
				past.escalated, past.answered = false, c.counters.incarnation.Load()
				c.signal(signal{kind: sigRestart, err: n.extras().cause})
			}
		}
		n.thawChildren()
	})
}

// beginStop ends the children, then the actor. graceful lets them drain.
func (n *node) beginStop(graceful bool) {
	if n.is(terminated) {
		return
	}
	again := n.is(stopping)
	n.become(stopping)
	n.stopTimers()
	n.mu.Lock()
	n.childless, n.draining = true, true
	n.releaseRoom()
	n.mu.Unlock()
	for _, c := range n.children() {
		if !graceful {
			c.signal(signal{kind: sigStopNow})
			continue
		}
		if !n.frozen {
			c.signal(signal{kind: sigThaw}) // n may have failed, but they can drain
		}
		c.stopBehindQueue()
	}
	if again {
		n.checkChildren()
		return
	}
	n.whenChildrenEnded(n.finish)
}

// stopBehindQueue lets the actor handle what it has and then ends it.
func (n *node) stopBehindQueue() {
	n.mu.Lock()
	n.draining = true
	n.releaseRoom()
	n.mu.Unlock()
	n.signal(signal{kind: sigStop})
}

// finish ends the actor: the hook, the rest of the queue, its name, its watchers,
// its parent, in this order.
//
// Tasks end before the hook, which may close what they use, and once more after it,
// which may have begun some.
func (n *node) finish() {
	n.mu.Lock()
	n.endIncarnation()
	n.mu.Unlock()
	n.whenTasksEnded(func() {
		n.body.destroy(func() { n.whenTasksEnded(n.finished) })
	})
}

func (n *node) finished() {
	n.body.discard(n.reasonOfEnd())
	if n.x != nil {
		for other := range n.x.watching {
			other.unwatch(n.body.(watcher))
		}
	}
	n.x = nil
	n.become(terminated)
	n.sys.registry.remove(n)
	if n.parent != nil {
		n.parent.disown(n)
	}
	watchers, rest := n.end()
	for s := rest.pop(); s != nil; s = rest.pop() {
		n.tooLate(*s)
	}
	if !n.guardian {
		n.sys.Publish(actor.Stopped{Path: n.path})
	}
	for w := range watchers {
		w.terminated(n)
	}
	if n.parent != nil {
		n.parent.signal(signal{kind: sigChildGone, child: n})
	}
	n.mu.Lock()
	if n.waiting != nil && n.waiting.done != nil {
		close(n.waiting.done)
	}
	n.over = true
	n.mu.Unlock()
	n.sys.live.Done()
}

// end closes the control lane and returns who is to be told.
func (n *node) end() (watchers map[watcher]struct{}, rest lane) {
	n.tellStart(actor.ErrStopped)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
	rest, n.signals = n.signals, lane{}
	n.pending.Store(0)
	if n.waiting != nil {
		watchers, n.waiting.watchers = n.waiting.watchers, nil
	}
	return watchers, rest
}
