package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// Handover says which behaviour an actor gets and with what state.
type Handover struct {
	New         actor.Producer
	Behaviour   string                                             // what configuration calls New, for inspection; "": as the old one
	Fresh       bool                                               // New gets no state, unless State is set
	Reconfigure func(actor.Context, actor.Behaviour) (bool, error) // tried first; nil: never in place
	State       *actor.State                                       // for the new instance; nil: what the running one has
	Reserve     *actor.State                                       // for the new instance when it refuses the other; nil: that is an error
	Release     bool                                               // it may be held by HoldFailed, and goes on with New
}

// Handed is what happened to the state.
type Handed struct {
	State *actor.State // what the old instance had; nil: nothing, or it took the change in place
	Lost  error        // why the new instance got the reserve; nil: it did not
}

// ErrUnderway says that a change of an actor had begun when the time for it was
// over. It goes on, and its outcome is not known.
var ErrUnderway = errors.New("it is under way and goes on")

// HandOver is Swap with a word on the state. The routees of a pool keep theirs. The error is ErrUnderway when ctx
// ended in the middle; with any other the old behaviour is what runs.
func (a *Actor) HandOver(ctx context.Context, h Handover) (Handed, error) {
	c, ok := a.node.body.(*cell[actor.Message])
	if !ok {
		return Handed{}, fmt.Errorf("swap %s: %w", a.node.path, actor.ErrWrongType)
	}
	if p := c.props.Load().running; p != nil {
		return Handed{}, swapAll(ctx, p, h.New, h.Reconfigure)
	}
	result := make(chan error, 1)
	w := &swap{
		cell: c, produce: h.New, inPlace: h.Reconfigure, given: h.State, reserve: h.Reserve, fresh: h.Fresh, name: h.Behaviour,
		done: func(err error) { result <- err },
	}
	if h.State != nil {
		w.inPlace = nil // the running instance keeps its own
	}
	c.signal(signal{kind: sigCall, f: w.run})
	if h.Release {
		a.Release()
	}
	select {
	case err := <-result:
		return Handed{State: w.state, Lost: w.lost}, err
	case <-c.doneChan():
		return Handed{}, fmt.Errorf("swap %s: %w", c.path, actor.ErrStopped)
	case <-ctx.Done():
	}
	if w.begun.CompareAndSwap(false, true) { // so that it does not happen later
		return Handed{}, fmt.Errorf("swap %s: it is busy: %w", c.path, context.Cause(ctx))
	}
	select {
	case err := <-result:
		return Handed{State: w.state, Lost: w.lost}, err
	default:
		return Handed{}, fmt.Errorf("swap %s: %w: %w", c.path, ErrUnderway, context.Cause(ctx))
	}
}

// HoldFailed sets who is asked before supervision ends an actor or hands its
// failure on, because its restarts are used up or its strategy says so. True means
// that the actor stays suspended with its mailbox until Release or StopNow. hold
// runs on the turn of the actor's parent, so it must be quick. Nil asks nobody.
func (s *System) HoldFailed(hold func(p actor.Path, cause error) bool) {
	if hold == nil {
		s.holdFailed.Store(nil)
		return
	}
	s.holdFailed.Store(&hold)
}

func (s *System) holdsBack(p actor.Path, cause error) bool {
	hold := s.holdFailed.Load()
	return hold != nil && (*hold)(p, cause)
}

// Release lets an actor go on that HoldFailed keeps, or that waits for its restart,
// with all its restarts granted anew.
func (a *Actor) Release() {
	n := a.node
	goOn := func() {
		switch {
		case n.is(restarting) && n.reviving && (n.x == nil || n.x.afterChildren == nil):
			n.revive() // without the rest of the delay
		case !n.is(suspended):
		case n.born:
			n.resume()
		default:
			n.restart(0)
		}
	}
	n.parent.signal(signal{kind: sigCall, f: func() {
		if t := n.counters.trouble.Load(); t != nil {
			t.past.history = supervise.History{}
		}
		n.signal(signal{kind: sigCall, f: goOn})
	}})
}

// Remove is Stop for an actor that the system is to lose: what it and those below
// it leave in their mailboxes becomes dead letters with reason. It returns how
// many those are.
func (a *Actor) Remove(ctx context.Context, reason string) (left int, err error) {
	all := a.node.withAllBelow(nil)
	before := 0
	for _, n := range all {
		before += n.lettered()
		n.mu.Lock()
		n.waiters().reason = reason
		n.mu.Unlock()
	}
	err = a.Stop(ctx)
	for _, n := range all {
		left += n.lettered()
	}
	return left - before, err
}

func (n *node) withAllBelow(list []*node) []*node {
	list = append(list, n)
	for _, c := range n.children() {
		list = c.withAllBelow(list)
	}
	return list
}

func (n *node) lettered() int {
	if t := n.counters.trouble.Load(); t != nil {
		return int(t.lettered.Load())
	}
	return 0
}

// reasonOfEnd is what is said of messages that the actor leaves behind.
func (n *node) reasonOfEnd() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil || n.waiting.reason == "" {
		return actor.ReasonStopped
	}
	return n.waiting.reason
}
