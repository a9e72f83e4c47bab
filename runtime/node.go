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
// that runs the actor at a time), or atomic. What few actors need is behind a
// pointer that is made on demand: a system may hold a million idle actors.
type node struct {
	sys    *System
	path   actor.Path
	parent *node
	body   body

	settings atomic.Pointer[Settings]
	state    atomic.Uint32
	pending  atomic.Int32 // number of signals not yet obeyed
	counters counters

	mu            sync.Mutex // guards the cell's queue and what follows
	signals       lane
	first         *node // children, newest first
	next, prev    *node // siblings; guarded by the parent's mu
	waiting       *waiting
	x             *extras // owned by the turn
	kids, dynamic int32   // number of children; of those that the behaviour made
	wakes         uint32
	fresh         bool // the first instance is to be made
	active        bool // a turn runs or is about to
	parked        bool // messages do not wake it: it may not handle any now
	draining      bool // takes no more messages and ends when it has handled those it has
	closed        bool // takes no more messages
	childless     bool // takes no more children
	ended         bool // takes no more signals
	over          bool // and everybody has been told
	goneEarly     bool // the incarnation was told to stop at once
	tried         bool // the first start has had its outcome
	counted       bool // the length of the queue is exact at any time

	// Owned by the turn.
	frozen   bool // an ancestor failed and is being dealt with
	born     bool // the instance has started
	reviving bool // a restart is under way; it covers what its children fail with
	held     bool // a throttle lets no message through now
	keep     bool // of that restart: children survive it
	swapping bool // a replacement of the behaviour is under way
	at       phaseOfCall

	// Never changed.
	declared bool // configuration declares it, so a restart of its parent restarts it
	guardian bool
}

// phaseOfCall is where a turn is with a message.
type phaseOfCall uint8

const (
	outside  phaseOfCall = iota // there is none
	inside                      // it is being handled
	setAside                    // and is to be stashed
)

// counters are read by anybody. What was accepted is handled + failed + dropped +
// lettered + what is queued.
type counters struct {
	incarnation atomic.Uint64
	handled     atomic.Uint64
	trouble     atomic.Pointer[trouble]
}

// trouble counts what does not happen to most actors.
type trouble struct {
	restarts                  atomic.Uint64
	failed, dropped, lettered atomic.Uint64 // what became of accepted messages
	stashed                   atomic.Int64  // how many of them are set aside
	lastError                 atomic.Pointer[lastError]
	past                      past // owned by the parent's turn
}

type lastError struct {
	text string
	at   time.Time
}

// troubles returns the counters of trouble, made on first use.
func (c *counters) troubles() *trouble {
	if t := c.trouble.Load(); t != nil {
		return t
	}
	c.trouble.CompareAndSwap(nil, &trouble{})
	return c.trouble.Load()
}

// past is what a parent remembers of a child that failed, and of one that it
// restarted with itself. It is owned by the parent's turn.
type past struct {
	history   supervise.History
	escalated bool   // its failure became its parent's
	answered  uint64 // the last incarnation that was told to make way for another
}

func (n *node) pastOf(child *node) *past { return &child.counters.troubles().past }

// body is the typed half of an actor.
type body interface {
	// create makes an instance and starts it; destroy ends it. Both go on with
	// then, whatever the behaviour's code does.
	create(then func(error))
	destroy(then func())
	// launch runs turns on a new goroutine.
	launch()
	// queued tells how many messages wait; the node's mu is held.
	queued() int
	// discard closes the mailbox and makes dead letters of what is left.
	discard(reason string)
	// giveBack puts letters at the front of the mailbox.
	giveBack(back []actor.Letter)
	// current names the kind of the message being handled.
	current() string
	// lookIdle checks the receive timeout.
	lookIdle()
	// abandon releases whoever waits for the current message to be answered.
	abandon(err error)
}

// watcher is told when an actor has ended.
type watcher interface{ terminated(n *node) }

// wake claims the right to launch a turn; mu is held.
func (n *node) wake() bool {
	if n.active {
		return false
	}
	n.active = true
	n.wakes++
	return true
}

func (n *node) is(s state) bool  { return state(n.state.Load()) == s }
func (n *node) become(s state)   { n.state.Store(uint32(s)) }
func (n *node) ending() bool     { return n.is(stopping) || n.is(terminated) }
func (n *node) mayHandle() bool  { return n.is(running) && !n.frozen }
func (n *node) mayTake() bool    { return n.mayHandle() && !n.held }
func (n *node) Path() actor.Path { return n.path }
func (n *node) String() string   { return string(n.path) }
func (n *node) log() *slog.Logger {
	return n.sys.log.With("actor", string(n.path))
}

// activity tells how often the actor woke up, and whether it is at work or has
// something it could handle. A paused or failing actor counts as quiet.
func (n *node) activity() (wakes uint32, busy bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wakes, n.active || (!n.parked && n.body.queued() > 0)
}

// progress is a number that changes whenever the actor gets on with something.
func (n *node) progress() (p uint64, active bool) {
	n.mu.Lock()
	p, active = uint64(n.wakes), n.active
	n.mu.Unlock()
	p += n.counters.handled.Load() + n.counters.incarnation.Load()
	if t := n.counters.trouble.Load(); t != nil {
		p += t.failed.Load() + t.lettered.Load()
	}
	return p, active
}
