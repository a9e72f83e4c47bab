package runtime

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// obey carries out the control signals that have come. It runs on the turn.
func (n *node) obey() {
	for n.pending.Load() > 0 {
		for _, s := range n.takeSignals() {
			n.obeyOne(s)
		}
	}
}

func (n *node) obeyOne(s signal) {
	switch s.kind {
	case sigCreate:
		n.start()
	case sigStop:
		if !n.is(running) {
			n.beginStop(true) // it cannot drain now: stop wins over a pending restart
		}
	case sigStopNow:
		n.beginStop(false)
	case sigChildFail:
		n.decide(s)
	case sigChildGone:
		n.checkChildren()
	case sigResume:
		if n.is(suspended) {
			n.become(running)
			n.toChildren(sigThaw)
		}
	case sigRestart:
		n.restart(s.delay)
	case sigRestartDue:
		if n.is(restarting) && s.incarnation == n.counters.incarnation.Load() {
			n.revive()
		}
	case sigFreeze:
		n.frozen = true
		n.toChildren(sigFreeze)
	case sigThaw:
		n.frozen = false
		if n.is(suspended) { // it escalated, and that was answered with going on
			n.become(running)
		}
		n.toChildren(sigThaw)
	case sigFail:
		n.failOutside(s)
	case sigCall:
		s.f()
	}
}

func (n *node) toChildren(kind signalKind) {
	for _, c := range n.children() {
		c.signal(signal{kind: kind})
	}
}

// start makes an instance: the first one, or the one after a restart.
func (n *node) start() {
	if n.ending() {
		return
	}
	n.become(starting)
	incarnation := n.counters.incarnation.Add(1)
	if err := n.body.create(); err != nil {
		err = fmt.Errorf("start: %w", err)
		n.tellStart(err)
		n.fail(err, false)
		return
	}
	n.become(running)
	n.tellStart(nil)
	if incarnation == 1 && !n.guardian {
		n.sys.Publish(actor.Started{Path: n.path, Incarnation: incarnation})
	}
}

// fail suspends the actor with its subtree and hands the decision to its parent.
// The message it failed on is skipped whatever the parent decides.
func (n *node) fail(err error, panicked bool) {
	n.counters.lastError.Store(&lastError{err.Error(), time.Now()})
	n.body.abandon(err)
	if n.ending() || n.parent == nil {
		n.log().Error("failed while stopping", "err", err)
		return
	}
	n.become(suspended)
	n.toChildren(sigFreeze)
	n.parent.signal(signal{
		kind: sigChildFail, child: n, err: err, panicked: panicked,
		message: n.body.current(), incarnation: n.counters.incarnation.Load(),
	})
}

// failOutside is a failure that a behaviour reported from another goroutine, or,
// without an error, only what it gives back.
func (n *node) failOutside(s signal) {
	if n.is(terminated) { // it ended just now; its mailbox is closed
		n.tooLate(s)
		return
	}
	n.body.giveBack(s.back)
	if s.err != nil && s.incarnation == n.counters.incarnation.Load() && n.is(running) {
		n.fail(s.err, false)
	}
}

// decide answers a child's failure. It runs on the parent's turn.
func (n *node) decide(s signal) {
	child := s.child
	if n.ending() || (n.is(restarting) && !n.keepsChildren()) || child.ending() || s.incarnation != child.counters.incarnation.Load() {
		return // the parent's own outcome, or the child's next life, covers it
	}
	strategy := n.strategyFor(child)
	d := strategy.Decide(&child.history, s.err, time.Now(), rand.Float64())
	n.report(s, d)
	if d.Directive == supervise.Escalate {
		if n.guardian {
			n.sys.rootFailed(child, s.err)
		} else {
			n.fail(s.err, false)
		}
		return
	}
	targets := []*node{child}
	if d.AllForOne {
		targets = n.children()
	}
	for _, c := range targets {
		c.signal(directiveSignal(d))
	}
}

func directiveSignal(d supervise.Decision) signal {
	switch d.Directive {
	case supervise.Resume:
		return signal{kind: sigResume}
	case supervise.Restart:
		return signal{kind: sigRestart, delay: d.Delay}
	default:
		return signal{kind: sigStopNow}
	}
}

func (n *node) report(s signal, d supervise.Decision) {
	attrs := []any{"err", s.err, "directive", d.Directive.String()}
	if s.message != "" {
		attrs = append(attrs, "message", s.message)
	}
	if d.Delay > 0 {
		attrs = append(attrs, "delay", d.Delay.Round(time.Millisecond))
	}
	switch {
	case d.Exhausted:
		s.child.log().Error("actor failed too often", attrs...)
	default:
		s.child.log().Warn("actor failed", attrs...)
	}
	n.sys.Publish(actor.Failed{
		Path: s.child.path, Cause: s.err, Panic: s.panicked, Directive: d.Directive.String(),
		Delay: d.Delay, Message: s.message,
	})
}

// strategyFor is how child is supervised: its own word, else its parent's word
// for children, else the default.
func (n *node) strategyFor(child *node) supervise.Strategy {
	if s := child.settings.Load().Supervision; s != nil {
		return *s
	}
	if s := n.settings.Load().ChildSupervision; s != nil {
		return *s
	}
	return supervise.Default()
}

// keepsChildren tells whether children survive a restart of n.
func (n *node) keepsChildren() bool {
	return n.parent != nil && n.parent.strategyFor(n).KeepChildren
}

// restart ends the instance and its children's, and makes a new one after delay.
// The mailbox stays.
func (n *node) restart(delay time.Duration) {
	if n.ending() || n.is(restarting) {
		return
	}
	n.become(restarting)
	n.stopTimers()
	if !n.keepsChildren() {
		n.stopSpawned()
	}
	n.afterChildren = func() {
		n.body.destroy()
		if delay <= 0 {
			n.revive()
			return
		}
		incarnation := n.counters.incarnation.Load()
		n.sys.timers.after(delay, 0, func() { n.signal(signal{kind: sigRestartDue, incarnation: incarnation}) })
	}
	n.checkChildren()
}

// stopSpawned ends the children that the behaviour made. Declared ones stay in
// place and get a fresh instance when their parent has one (revive).
func (n *node) stopSpawned() {
	for _, c := range n.children() {
		if !c.declared {
			c.signal(signal{kind: sigStopNow})
		}
	}
}

// revive makes the instance after a restart.
func (n *node) revive() {
	restarts := n.counters.restarts.Add(1)
	n.start()
	if !n.is(running) {
		return
	}
	var cause error
	if e := n.counters.lastError.Load(); e != nil {
		cause = fmt.Errorf("%s", e.text)
	}
	n.sys.Publish(actor.Restarted{Path: n.path, Restarts: restarts, Cause: cause})
	keep := n.keepsChildren()
	for _, c := range n.children() {
		if c.declared && !keep {
			c.signal(signal{kind: sigRestart})
		}
		c.signal(signal{kind: sigThaw})
	}
}

// checkChildren goes on with what waits for children, when none is left that
// was told to end.
func (n *node) checkChildren() {
	if n.afterChildren == nil {
		return
	}
	for _, c := range n.children() {
		if n.is(stopping) || !c.declared && !n.keepsChildren() {
			return
		}
	}
	f := n.afterChildren
	n.afterChildren = nil
	f()
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
	n.childless = true
	n.mu.Unlock()
	for _, c := range n.children() {
		if graceful {
			c.stopBehindQueue()
		} else {
			c.signal(signal{kind: sigStopNow})
		}
	}
	if !again {
		n.afterChildren = n.finish
	}
	n.checkChildren()
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
func (n *node) finish() {
	n.body.destroy()
	n.body.discard(actor.ReasonStopped)
	for other := range n.watching {
		other.unwatch(n.body.(watcher))
	}
	n.watching = nil
	n.become(terminated)
	n.sys.registry.remove(n)
	if n.parent != nil {
		n.parent.disown(n)
	}
	n.mu.Lock()
	n.ended = true
	watchers, done, rest := n.watchers, n.done, n.signals
	n.watchers, n.signals = nil, nil
	n.pending.Store(0)
	n.mu.Unlock()
	for _, s := range rest {
		n.tooLate(s)
	}
	n.tellStart(fmt.Errorf("%s: %w", n.path, actor.ErrStopped))
	if !n.guardian {
		n.sys.Publish(actor.Stopped{Path: n.path})
	}
	for w := range watchers {
		w.terminated(n)
	}
	if n.parent != nil {
		n.parent.signal(signal{kind: sigChildGone, child: n})
	}
	if done != nil {
		close(done)
	}
	n.sys.live.Done()
}

func (n *node) stopTimers() {
	for t := range n.timers {
		n.sys.timers.stop(t)
	}
	n.timers = nil
}

// releaseRoom wakes every sender that waits for room; mu is held.
func (n *node) releaseRoom() {
	for _, ch := range n.room {
		close(ch)
	}
	n.room = nil
}
