package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/phase"
)

// System is a tree of actors with its timers and its event stream. Several
// systems may live in one process; a Ref belongs to one of them.
type System struct {
	name        string
	log         *slog.Logger
	drain       atomic.Int64 // time.Duration, see WithDrainTimeout
	rootPolicy  atomic.Uint32
	holdFailed  atomic.Pointer[func(actor.Path, error) bool] // see HoldFailed
	dispatchers dispatchers

	registry registry
	arrivals arrivals
	timers   timers
	watchdog watchdog
	stream   stream
	topics   topics
	temps    temps
	letters  DeadLetters
	user     *node
	system   *node
	live     sync.WaitGroup // one per actor that has not ended
	closing  atomic.Bool
	plan     shutdownPlan
	ended    chan struct{}                // closed when Shutdown is through
	last     atomic.Pointer[[]actor.Path] // see EndLast
	failed   chan error                   // capacity 1: what an escalation past the top was about
	anon     atomic.Uint64

	sharedMu sync.Mutex // guards shared
	shared   map[any]any

	extensions extensions
}

// Option changes a System as it is made.
type Option func(*System)

// WithLogger sets where the engine and its actors log; slog.Default otherwise.
func WithLogger(l *slog.Logger) Option { return func(s *System) { s.log = l } }

// WithDrainTimeout sets how long Shutdown waits for /user to become quiet; 0
// means not at all. The default is 2s.
func WithDrainTimeout(d time.Duration) Option { return func(s *System) { s.drain.Store(int64(d)) } }

// RootFailure says what a failure means that was escalated past the top.
type RootFailure uint32

// The policies for a failure past the top.
const (
	RootShutdown    RootFailure = iota // Failed tells; the owner should shut the system down
	RootStopSubtree                    // only the subtree it came from is stopped
)

// WithRootFailure sets the policy; RootShutdown otherwise.
func WithRootFailure(p RootFailure) Option {
	return func(s *System) { s.rootPolicy.Store(uint32(p)) }
}

// New starts an empty system. Whoever makes it must call Shutdown.
func New(name string, options ...Option) *System {
	s := &System{
		name: name, log: slog.Default(),
		ended: make(chan struct{}), failed: make(chan error, 1), shared: map[any]any{},
	}
	s.drain.Store(int64(2 * time.Second))
	s.plan.settings = phase.Default()
	_ = s.SetDispatchers(nil) // the defaults are right
	for _, o := range options {
		o(s)
	}
	s.registry.nodes = map[actor.Path]*node{}
	s.letters.init(s)
	s.timers.init()
	s.watchdog.init(s)
	s.user = s.guardian(actor.User)
	s.system = s.guardian(actor.System)
	s.guardian(actor.System.Child("bridges"))
	return s
}

// Name returns the system's name.
func (s *System) Name() string { return s.name }

// SetDrainTimeout changes what WithDrainTimeout set.
func (s *System) SetDrainTimeout(d time.Duration) { s.drain.Store(int64(d)) }

// SetRootFailure changes what WithRootFailure set.
func (s *System) SetRootFailure(p RootFailure) { s.rootPolicy.Store(uint32(p)) }

// Failed receives the cause when a failure was escalated past the top under
// RootShutdown.
func (s *System) Failed() <-chan error { return s.failed }

// SpawnActor starts a declared actor below parent, e.g. actor.User. It returns at
// once; Actor.Started waits for the behaviour's Start. Errors: actor.ErrNameTaken,
// actor.ErrTerminating, actor.ErrNotFound for the parent, a bad name. Without a name
// it gets one that nobody can guess.
func (s *System) SpawnActor(parent actor.Path, spec Spec) (*Actor, error) {
	name, err := s.nameFor(spec.Name, spec.Behaviour)
	if err != nil {
		return nil, fmt.Errorf("spawn below %s: %w", parent, err)
	}
	p, ok := s.registry.get(parent)
	switch {
	case !ok && s.closing.Load():
		return nil, fmt.Errorf("spawn %s below %s: %w", name, parent, actor.ErrTerminating)
	case !ok:
		return nil, fmt.Errorf("spawn %s below %s: %w", name, parent, actor.ErrNotFound)
	}
	n, err := spawn(s, p, name, true, messageProps(spec))
	if err != nil {
		return nil, err
	}
	return &Actor{node: n}, nil
}

// Find returns the declared or spawned actor at p.
func (s *System) Find(p actor.Path) (*Actor, bool) {
	n, ok := s.registry.get(p)
	if !ok {
		return nil, false
	}
	return &Actor{node: n}, true
}

// Lookup returns the address p. It never fails: a Ref to nothing makes dead
// letters. Whatever is told to actor.DeadLetters is one, and an address below
// actor.Temp answers the question that waits there.
func (s *System) Lookup(p actor.Path) actor.Ref {
	switch {
	case p == actor.DeadLetters:
		return deadLettersRef{s}
	case p != actor.Temp && p.Under(actor.Temp):
		return tempRef{s, p}
	}
	return &ref[actor.Message]{sys: s, path: p}
}

// spawn makes a node with its cell below parent and starts it.
func spawn[T any](s *System, parent *node, name string, declared bool, props *Props[T]) (*node, error) {
	path := parent.path.Child(name)
	if s.closing.Load() {
		return nil, fmt.Errorf("spawn %s: %w", path, actor.ErrTerminating)
	}
	c, err := newCell(s, parent, path, props)
	if err = errors.Join(err, props.Pool.Check()); err != nil {
		return nil, fmt.Errorf("spawn %s: %w", path, err)
	}
	c.declared = declared
	if err := s.registry.add(&c.node); err != nil {
		c.own().release()
		return nil, fmt.Errorf("spawn %s: %w", path, err)
	}
	s.arrivals.arrived(&c.node)
	s.watchdog.expect(props.Settings.HandlerWarn)
	if props.Pool.many() {
		err = startPool(c, props)
	}
	c.begin()
	if err != nil {
		c.signal(signal{kind: sigStopNow})
		return nil, err
	}
	return &c.node, nil
}

// guardian makes one of the actors that the others live under.
func (s *System) guardian(path actor.Path) *node {
	parent, _ := s.registry.get(path.Parent())
	props := messageProps(Spec{Behaviour: "guardian", New: func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, _ actor.Message) error {
			ctx.Handle().DeadLetter(ctx.Letter(), actor.ReasonUnrouted)
			return nil
		}), nil
	}})
	c, _ := newCell(s, parent, path, props) // the settings are the zero ones
	c.guardian = true
	_ = s.registry.add(&c.node) // the registry is empty here, so the name is free
	c.begin()
	return &c.node
}

// rootFailed applies the root policy to a failure that reached a guardian.
func (s *System) rootFailed(child *node, cause error) {
	if RootFailure(s.rootPolicy.Load()) == RootStopSubtree {
		s.log.Error("stopped a subtree: its failure was escalated past the top", "actor", child.path, "err", cause)
		child.signal(signal{kind: sigStopNow})
		return
	}
	s.log.Error("a failure was escalated past the top", "actor", child.path, "err", cause)
	select {
	case s.failed <- fmt.Errorf("%s failed: %w", child.path, cause):
	default:
	}
}

// sharedOf returns what all mailboxes of one message type share.
func sharedOf[T any](s *System) *mailbox.Shared[envelope[T]] {
	key := (*T)(nil) // a nil pointer is the type as a map key
	s.sharedMu.Lock()
	defer s.sharedMu.Unlock()
	p, ok := s.shared[key].(*mailbox.Shared[envelope[T]])
	if !ok {
		p = &mailbox.Shared[envelope[T]]{Keep: keepNotice[T]}
		s.shared[key] = p
	}
	return p
}

// close ends the actors, then what they used.
func (s *System) close(ctx context.Context) {
	s.awaitQuiet(ctx, time.Duration(s.drain.Load()))
	if s.endOthers() {
		s.awaitQuiet(ctx, time.Duration(s.drain.Load()))
	}
	for _, guardian := range []*node{s.user, s.system} {
		guardian.signal(signal{kind: sigStopNow})
		<-guardian.doneChan()
	}
	s.live.Wait()
	s.dispatchers.close()
	s.extensions.close(s)
	s.timers.close()
	close(s.ended)
}

// awaitQuiet waits until no actor below /user runs or has something to handle.
// Two looks that see the same number of wake-ups and nobody busy mean that
// nothing moved between them.
func (s *System) awaitQuiet(ctx context.Context, budget time.Duration) {
	if budget <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	last, pause := uint32(0), time.Millisecond
	for first := true; ; first = false {
		wakes, busy := s.activity()
		if !busy && !first && wakes == last {
			return
		}
		last = wakes
		select {
		case <-time.After(pause):
			pause = min(2*pause, 20*time.Millisecond)
		case <-ctx.Done():
			return
		}
	}
}

func (s *System) activity() (wakes uint32, busy bool) {
	s.registry.each(func(n *node) {
		if n.path.Under(actor.User) {
			w, b := n.activity()
			wakes, busy = wakes+w, busy || b
		}
	})
	return wakes, busy
}

// registry finds actors by path.
type registry struct {
	mu    sync.RWMutex // guards what follows
	nodes map[actor.Path]*node
	moved map[actor.Path]*node // who lived at a path that is free now; see Paused.MoveTo
}

func (r *registry) get(p actor.Path) (*node, bool) {
	r.mu.RLock()
	n, ok := r.nodes[p]
	if !ok {
		n, ok = r.moved[p]
	}
	r.mu.RUnlock()
	return n, ok
}

// add makes n known and its parent's child, both or neither: what can be found can
// be told, and must end properly.
func (r *registry) add(n *node) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.nodes[n.path]; taken {
		return actor.ErrNameTaken
	}
	if n.parent == nil {
		n.sys.live.Add(1)
	} else if !n.parent.adopt(n) {
		return fmt.Errorf("the parent is stopping: %w", actor.ErrStopped)
	}
	r.nodes[n.path] = n
	return nil
}

func (r *registry) remove(n *node) {
	r.mu.Lock()
	if r.nodes[n.path] == n {
		delete(r.nodes, n.path)
	}
	r.mu.Unlock()
}

// each calls f for every actor. f runs under the lock: it must be quick and must
// not look anybody up.
func (r *registry) each(f func(*node)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, n := range r.nodes {
		f(n)
	}
}
