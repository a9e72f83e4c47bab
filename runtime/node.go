package runtime

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// state is where an actor is in its life.
type state uint32

const (
	starting   state = iota // its instance is being made
	running                 // it handles messages
	suspended               // it failed and waits for its supervisor
	restarting              // its old instance is going or gone, the new one is not there yet
	stopping                // it waits for its children to end
	terminated
)

var stateNames = [...]string{"starting", "running", "suspended", "restarting", "stopping", "terminated"}

func (s state) String() string { return stateNames[s] }

// node is the plain half of an actor: everything that does not depend on its
// message type. Fields are guarded by mu, or owned by the turn (the one goroutine
// that runs the actor at a time), or atomic.
type node struct {
	sys      *System
	path     actor.Path
	parent   *node
	body     body
	declared bool // configuration declares it, so a restart of its parent restarts it
	guardian bool

	settings atomic.Pointer[Settings]
	state    atomic.Uint32
	pending  atomic.Int32 // number of signals not yet obeyed
	counters counters

	mu         sync.Mutex // guards the cell's queue and what follows
	signals    []signal
	active     bool // a turn runs or is about to
	parked     bool // messages do not wake it: it may not handle any now
	draining   bool // takes no more messages and ends when it has handled those it has
	closed     bool // takes no more messages
	childless  bool // takes no more children
	wakes      uint64
	room       []chan struct{} // senders that wait for room
	first      *node           // children, newest first
	next, prev *node           // siblings; guarded by the parent's mu
	watchers   map[watcher]struct{}
	done       chan struct{} // closed when it has ended; made on demand
	ended      bool
	gone       chan struct{} // closed when the incarnation ends; made on demand
	goneEarly  bool          // the incarnation was told to stop at once
	starts     []chan error  // who waits for the first start

	// Owned by the turn.
	frozen        bool   // an ancestor failed and is being dealt with
	afterChildren func() // what goes on when the last child that was told to end has ended
	timers        map[*timer]struct{}
	watching      map[*node]struct{}
	holds         *holds // nil for most

	history supervise.History // owned by the parent's turn
}

// counters are read by anybody and written by the turn and by senders.
type counters struct {
	incarnation, restarts              atomic.Uint64
	handled, failed, dropped, lettered atomic.Uint64 // what became of accepted messages
	lastError                          atomic.Pointer[lastError]
}

type lastError struct {
	text string
	at   time.Time
}

// body is the typed half of an actor.
type body interface {
	// create makes an instance and starts it; destroy ends it.
	create() error
	destroy()
	// launch runs turns on a new goroutine.
	launch()
	// waiting tells how many messages are queued; the node's mu is held.
	waiting() int
	// discard closes the mailbox and makes dead letters of what is left.
	discard(reason string)
	// giveBack puts letters at the front of the mailbox.
	giveBack(back []actor.Letter)
	// current names the kind of the message being handled.
	current() string
	// abandon releases whoever waits for the current message to be answered.
	abandon(err error)
}

// watcher is told when an actor has ended.
type watcher interface{ terminated(n *node) }

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
	kind        signalKind
	child       *node
	incarnation uint64
	err         error
	panicked    bool
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
	n.signals = append(n.signals, s)
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
			n.sys.deadLetter(n.path, l.Sender(), l.Message(), actor.ReasonStopped, metaOf(l))
		}
	case sigCall:
		s.f()
	}
}

// wake claims the right to launch a turn; mu is held.
func (n *node) wake() bool {
	if n.active {
		return false
	}
	n.active = true
	n.wakes++
	return true
}

func (n *node) takeSignals() []signal {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.signals
	n.signals = nil
	n.pending.Add(int32(-len(s)))
	return s
}

func (n *node) is(s state) bool  { return state(n.state.Load()) == s }
func (n *node) become(s state)   { n.state.Store(uint32(s)) }
func (n *node) ending() bool     { return n.is(stopping) || n.is(terminated) }
func (n *node) mayHandle() bool  { return n.is(running) && !n.frozen }
func (n *node) Path() actor.Path { return n.path }
func (n *node) String() string   { return string(n.path) }
func (n *node) log() *slog.Logger {
	return n.sys.log.With("actor", string(n.path))
}

// activity tells how often the actor woke up, and whether it is at work or has
// something it could handle. A paused or failing actor counts as quiet.
func (n *node) activity() (wakes uint64, busy bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wakes, n.active || (!n.parked && n.body.waiting() > 0)
}

// adopt links child below n; false means that n takes no more children.
func (n *node) adopt(child *node) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.childless {
		return false
	}
	child.next = n.first
	if n.first != nil {
		n.first.prev = child
	}
	n.first = child
	n.sys.live.Add(1)
	return true
}

// disown unlinks a child that has ended.
func (n *node) disown(child *node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if child.prev != nil {
		child.prev.next = child.next
	} else {
		n.first = child.next
	}
	if child.next != nil {
		child.next.prev = child.prev
	}
	child.next, child.prev = nil, nil
}

// children returns a snapshot, newest first.
func (n *node) children() []*node {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []*node
	for c := n.first; c != nil; c = c.next {
		out = append(out, c)
	}
	return out
}

// watch registers w for the end of n; false means that n has ended already.
func (n *node) watch(w watcher) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		return false
	}
	if n.watchers == nil {
		n.watchers = map[watcher]struct{}{}
	}
	n.watchers[w] = struct{}{}
	return true
}

func (n *node) unwatch(w watcher) {
	n.mu.Lock()
	delete(n.watchers, w)
	n.mu.Unlock()
}

// doneChan is closed when n has ended completely.
func (n *node) doneChan() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.done == nil {
		n.done = make(chan struct{})
		if n.ended {
			close(n.done)
		}
	}
	return n.done
}

// goneChan is closed when the present incarnation ends or is told to at once.
func (n *node) goneChan() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gone == nil {
		n.gone = make(chan struct{})
		if n.goneEarly || n.ended {
			close(n.gone)
		}
	}
	return n.gone
}

// endIncarnation closes the channel of the present incarnation; mu is held.
func (n *node) endIncarnation() {
	if n.gone != nil && !n.goneEarly {
		close(n.gone)
	}
	if !n.goneEarly {
		n.gone = nil
	}
}

// onStart registers for the outcome of the first start.
func (n *node) onStart() <-chan error {
	ch := make(chan error, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.ended:
		ch <- actor.ErrStopped
	case n.counters.incarnation.Load() > 0 && n.is(running):
		ch <- nil
	default:
		n.starts = append(n.starts, ch)
	}
	return ch
}

func (n *node) tellStart(err error) {
	n.mu.Lock()
	waiting := n.starts
	n.starts = nil
	n.mu.Unlock()
	for _, ch := range waiting {
		ch <- err
	}
}
