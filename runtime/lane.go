package runtime

import (
	"time"

	"github.com/actord/actord/runtime/actor"
)

type signalKind uint8

const (
	sigCreate     signalKind = iota // make the first instance
	sigStop                         // end, behind the queue; draining is set already
	sigStopNow                      // end before the queue
	sigChildFail                    // child failed with err
	sigChildGone                    // child has ended
	sigResume                       // go on with the same instance
	sigRestart                      // get a fresh instance after delay
	sigRestartDue                   // the delay is over
	sigFreeze                       // an ancestor failed
	sigThaw                         // it was dealt with
	sigFail                         // this incarnation failed outside its handler
	sigCall                         // run f on the turn
)

// signal is a control message. Signals are obeyed in order, before any message.
type signal struct {
	next        *signal // in the lane
	kind        signalKind
	panicked    bool
	unborn      bool   // the child that failed had no instance that could go on
	incarnation uint64 // which one is meant; 0 means any, for orders
	child       *node
	err         error
	message     string
	delay       time.Duration
	back        []actor.Letter
	f           func()
}

// signal adds s to the control lane and wakes the actor.
func (n *node) signal(s signal) {
	n.mu.Lock()
	if n.ended {
		n.mu.Unlock()
		n.tooLate(s)
		return
	}
	if s.kind == sigStopNow {
		n.endIncarnation()
		n.goneEarly = true
	}
	n.signals.push(&s)
	n.pending.Add(1)
	wake := n.wake()
	n.mu.Unlock()
	if wake {
		n.body.launch()
	}
}

// tooLate answers a signal to an actor that has ended.
func (n *node) tooLate(s signal) {
	switch s.kind {
	case sigFail:
		for _, l := range s.back {
			n.giveUp(l)
		}
	case sigCall:
		s.f()
	}
}

// giveUp makes a dead letter of one that comes back to an actor that has ended.
// It was counted when it was handed over.
func (n *node) giveUp(l actor.Letter) {
	n.counters.handled.Add(^uint64(0))
	n.counters.troubles().lettered.Add(1)
	releaseAsker(l.Sender(), actor.ErrStopped)
	n.sys.deadLetter(n.path, l.Sender(), l.Message(), actor.ReasonStopped, metaOf(l))
}

// takeSignal takes the next signal off the lane, nil when there is none. One at a
// time: a hook that ends its goroutine must not take the others with it.
func (n *node) takeSignal() *signal {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := toCreate
	if !n.fresh {
		s = n.signals.pop()
	}
	if n.fresh = false; s != nil {
		n.pending.Add(-1)
	}
	return s
}

// toCreate is the first signal of every actor. It is shared, and not in a lane.
var toCreate = &signal{kind: sigCreate}

// lane is a queue of signals: a ring of which the last is known.
type lane struct{ last *signal }

func (l *lane) push(s *signal) {
	if s.next = s; l.last != nil {
		s.next, l.last.next = l.last.next, s
	}
	l.last = s
}

func (l *lane) pop() *signal {
	if l.last == nil {
		return nil
	}
	s := l.last.next
	if s == l.last {
		l.last = nil
	} else {
		l.last.next = s.next
	}
	s.next = nil
	return s
}
