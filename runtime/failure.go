package runtime

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// fail suspends the actor with its subtree and hands the decision to its parent.
// The message it failed on is skipped whatever the parent decides.
func (n *node) fail(err error, panicked bool) {
	n.counters.troubles().lastError.Store(&lastError{err.Error(), time.Now()})
	n.because(err)
	n.body.abandon(err)
	switch {
	case n.ending() || n.parent == nil:
		n.log().Error("failed while stopping", "err", err)
		return
	case n.is(suspended) || n.is(restarting):
		return // what its parent decides, or has decided, covers this one too
	}
	n.become(suspended)
	n.toChildren(sigFreeze)
	n.parent.signal(signal{
		kind: sigChildFail, child: n, err: err, panicked: panicked, unborn: !n.born,
		message: n.body.current(), incarnation: n.counters.incarnation.Load(),
	})
}

// failOutside is a failure that a behaviour reported from another goroutine, or,
// without an error, only what it gives back.
func (n *node) failOutside(s signal) {
	n.body.giveBack(s.back)
	if s.err != nil && (s.incarnation == 0 || s.incarnation == n.counters.incarnation.Load()) && n.is(running) {
		n.fail(s.err, false)
	}
}

// decide answers a child's failure. It runs on the parent's turn.
func (n *node) decide(s signal) {
	child, past := s.child, n.pastOf(s.child)
	ending := n.ending() // its children work off what they have, also when one of them fails
	covered := (n.reviving && !n.keep && !ending) || s.incarnation <= past.answered
	if covered || !child.is(suspended) || s.incarnation != child.counters.incarnation.Load() {
		return // the parent's own outcome, or the child's next life, covers it
	}
	d := n.verdict(s)
	n.report(s, d)
	if ending && d.Directive != supervise.Resume && d.Directive != supervise.Restart {
		child.signal(signal{kind: sigStopNow})
		return
	}
	if d.Directive != supervise.Resume && d.Directive != supervise.Restart && n.sys.holdsBack(child.path, s.err) {
		return // it stays suspended until its owner decides
	}
	past.escalated = d.Directive == supervise.Escalate
	switch {
	case past.escalated && n.guardian:
		n.sys.rootFailed(child, s.err)
	case past.escalated:
		n.fail(s.err, false)
	case d.AllForOne:
		for _, c := range n.children() {
			n.order(c, d, c.counters.incarnation.Load(), s.err)
		}
	default:
		n.order(child, d, s.incarnation, s.err)
	}
}

// order carries out a decision about one incarnation of a child.
func (n *node) order(child *node, d supervise.Decision, incarnation uint64, cause error) {
	switch d.Directive {
	case supervise.Resume:
		child.signal(signal{kind: sigResume})
	case supervise.Restart:
		n.pastOf(child).answered = incarnation
		child.signal(signal{kind: sigRestart, delay: d.Delay, incarnation: incarnation, err: cause})
	default:
		child.signal(signal{kind: sigStopNow})
	}
}

// verdict asks the strategy. A strategy that panics leaves it to the next level.
func (n *node) verdict(s signal) (d supervise.Decision) {
	defer func() {
		if r := recover(); r != nil {
			n.log().Error("a supervision rule panicked", "panic", fmt.Sprint(r))
			d = supervise.Decision{Directive: supervise.Escalate}
		}
	}()
	strategy := n.strategyFor(s.child)
	history := n.historyOf(s.child, strategy)
	now, dice := time.Now(), rand.Float64()
	d = strategy.Decide(history, s.err, now, dice)
	if d.Directive == supervise.Resume && s.unborn {
		// There is no instance to go on with, so the budget of restarts decides.
		strategy.OnFailure, strategy.Rules = supervise.Restart, nil
		d = strategy.Decide(history, s.err, now, dice)
	}
	return d
}

// historyOf is where the restarts of child are counted: its own tally, or that of
// all children when they restart together.
func (n *node) historyOf(child *node, s supervise.Strategy) *supervise.History {
	if s.AllForOne {
		return &n.extras().group
	}
	return &n.pastOf(child).history
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
		attrs = append(attrs, "hint", "see to the cause; a reload on request, such as by SIGHUP, starts it again")
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

func (n *node) stopTimers() {
	if n.x == nil {
		return
	}
	for t := range n.x.timers {
		n.sys.timers.stop(t)
	}
	n.x.timers, n.x.keyed = nil, nil
}
