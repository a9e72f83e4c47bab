package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	gort "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// DispatcherSettings say how the actors of a dispatcher get to run.
type DispatcherSettings struct {
	Throughput int           // messages that an actor handles in one turn at most; 0 means DefaultThroughput
	TimeSlice  time.Duration // how long a turn may take until others come first; 0 means DefaultTimeSlice, less than 0 any time

	// Threads > 0 makes turns run on so many operating-system threads that do nothing
	// else, for code that depends on its thread. Actors that are ready wait in a fair
	// queue, and one that blocks holds its thread up. 0 gives each actor that wakes up a
	// goroutine.
	Threads int
}

// The defaults of a dispatcher.
const (
	DefaultThroughput = 256
	DefaultTimeSlice  = 10 * time.Millisecond
)

// The names of the dispatchers that are always there.
const (
	DefaultDispatcher = "default" // of actors that name none
	PinnedDispatcher  = "pinned"  // with a thread, unless it is set otherwise
)

// maxThreads bounds a dispatcher, since a thread is no small thing.
const maxThreads = 1024

// Check reports a setting that is out of its range. name is the dispatcher's.
func (d DispatcherSettings) Check(name string) error {
	switch {
	case d.Throughput < 0:
		return fmt.Errorf("dispatcher %s: a throughput of %d is less than one message", name, d.Throughput)
	case d.Threads < 0 || d.Threads > maxThreads:
		return fmt.Errorf("dispatcher %s: %d threads are not between 0 and %d", name, d.Threads, maxThreads)
	case d.Threads > 0 && name == DefaultDispatcher:
		return fmt.Errorf("dispatcher %s: it cannot have threads of its own; give the actors that need them another dispatcher", name)
	}
	return nil
}

// WithDispatchers sets the dispatchers by their names; see System.SetDispatchers. New
// panics when one is wrong.
func WithDispatchers(all map[string]DispatcherSettings) Option {
	return func(s *System) {
		if err := s.SetDispatchers(all); err != nil {
			panic(err)
		}
	}
}

// SetDispatchers makes these the dispatchers, besides DefaultDispatcher and
// PinnedDispatcher, which get their defaults when all does not have them. Changes
// hold from the next turn of each actor on. A dispatcher that is gone still serves
// the actors that name it, without threads when there is nothing to do. The error is a wrong setting; nothing is changed
// then.
func (s *System) SetDispatchers(all map[string]DispatcherSettings) error {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]DispatcherSettings{}
	}
	if _, ok := all[PinnedDispatcher]; !ok {
		all[PinnedDispatcher] = DispatcherSettings{Threads: 1}
	}
	var errs []error
	for name, set := range all {
		errs = append(errs, set.Check(name))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.dispatchers.set(all)
	return nil
}

// dispatchers are those of a system.
type dispatchers struct {
	standard dispatcher // of actors that name none

	mu     sync.Mutex // guards what follows
	byName map[string]*dispatcher
	gone   map[string]*dispatcher // that may have actors
}

func (d *dispatchers) set(all map[string]DispatcherSettings) {
	d.standard.configure(all[DefaultDispatcher], false)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone == nil {
		d.gone = map[string]*dispatcher{}
	}
	for name, old := range d.byName {
		if _, stays := all[name]; !stays {
			d.gone[name] = old
			old.retire()
		}
	}
	next := make(map[string]*dispatcher, len(all))
	for name, set := range all {
		if name == DefaultDispatcher {
			continue
		}
		next[name] = cmp.Or(d.byName[name], d.gone[name], &dispatcher{})
		delete(d.gone, name)
		next[name].configure(set, true)
	}
	d.byName = next
}

// find returns the dispatcher, nil for the default one.
func (d *dispatchers) find(name string) (*dispatcher, error) {
	if name == "" || name == DefaultDispatcher {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := cmp.Or(d.byName[name], d.gone[name]); found != nil {
		return found, nil
	}
	known := append(slices.Sorted(maps.Keys(d.byName)), DefaultDispatcher)
	return nil, fmt.Errorf("there is no dispatcher %q%s", name, actor.DidYouMean(name, known))
}

// close ends all threads, when no actor is left.
func (d *dispatchers) close() {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.byName))
	all = slices.AppendSeq(all, maps.Values(d.gone))
	d.mu.Unlock()
	for _, x := range all {
		x.retire()
	}
	for _, x := range all {
		x.working.Wait()
	}
}

// turner is an actor for whoever runs it.
type turner interface {
	// once takes a turn and reports whether the actor needs another one.
	once() (again bool)
}

// dispatcher runs actors.
type dispatcher struct {
	throughput atomic.Int64
	slice      atomic.Int64 // time.Duration; 0 is no limit
	threads    atomic.Int64

	mu      sync.Mutex // guards what follows
	ready   []turner   // the first to run is at head
	head    int
	live    int            // threads
	idle    int            // of which so many wait for something to do
	keep    bool           // threads stay when there is nothing to do
	wakeUp  sync.Cond      // of idle threads; made on first use
	working sync.WaitGroup // of threads
}

func (d *dispatcher) configure(set DispatcherSettings, keep bool) {
	d.throughput.Store(int64(cmp.Or(set.Throughput, DefaultThroughput)))
	d.slice.Store(int64(max(cmp.Or(set.TimeSlice, DefaultTimeSlice), 0)))
	d.threads.Store(int64(set.Threads))
	d.mu.Lock()
	d.keep = keep
	d.staff()
	d.mu.Unlock()
}

// retire ends the threads when there is nothing to do for them.
func (d *dispatcher) retire() {
	d.mu.Lock()
	d.keep = false
	d.staff()
	d.mu.Unlock()
}

// staff starts the threads that are needed, and wakes all so that those that are not
// end. mu is held.
func (d *dispatcher) staff() {
	if d.wakeUp.L == nil {
		d.wakeUp.L = &d.mu
	}
	for waiting := len(d.ready) - d.head - d.idle; waiting > 0 && d.live < d.wanted(); waiting-- {
		d.live++
		d.working.Go(d.work)
	}
	d.wakeUp.Broadcast()
}

// wanted is how many threads there may be: one at least, since it may have to work
// off what waited for those that it had.
func (d *dispatcher) wanted() int { return max(int(d.threads.Load()), 1) }

// enqueue makes a turn of t come, behind those that are ready.
func (d *dispatcher) enqueue(t turner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head > 64 && d.head > len(d.ready)/2 {
		d.ready = slices.Delete(d.ready, 0, d.head)
		d.head = 0
	}
	d.ready = append(d.ready, t)
	if len(d.ready)-d.head > d.idle && d.live < d.wanted() {
		d.live++
		d.working.Go(d.work)
	}
	d.wakeUp.Signal()
}

// work is a thread. A handler that ends its goroutine ends it too; another one comes.
func (d *dispatcher) work() {
	gort.LockOSThread() // and never unlock: what was done to the thread ends with it
	defer func() {
		d.mu.Lock()
		d.live--
		d.staff()
		d.mu.Unlock()
	}()
	for t := d.next(); t != nil; t = d.next() {
		if t.once() {
			d.enqueue(t)
		}
	}
}

// next waits for an actor that is ready; nil ends the thread.
func (d *dispatcher) next() turner {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if d.live > d.wanted() {
			return nil
		}
		if d.head < len(d.ready) {
			t := d.ready[d.head]
			d.ready[d.head] = nil
			d.head++
			return t
		}
		if d.ready, d.head = d.ready[:0], 0; !d.keep || d.threads.Load() == 0 {
			return nil
		}
		d.idle++
		d.wakeUp.Wait()
		d.idle--
	}
}

// clockEvery is how many messages a turn handles between two looks at the clock. A
// thread that others wait for is looked after more closely.
const clockEvery = 32

// pace watches over the time of one turn.
type pace struct {
	limit int // messages
	mask  int // ask over after message i when i&mask == mask
	slice time.Duration
	since time.Time
}

// pace is what a turn that begins now may take.
func (d *dispatcher) pace() pace {
	p := pace{limit: int(d.throughput.Load()), slice: time.Duration(d.slice.Load()), mask: clockEvery - 1}
	if d.threads.Load() > 0 {
		p.mask = 0
	}
	return p
}

// over reports that the turn has taken its time. It is asked now and then, for the
// first time late, so that a short turn costs nothing.
func (p *pace) over() bool {
	switch {
	case p.slice == 0:
		return false
	case p.since.IsZero():
		p.since = time.Now()
		return false
	}
	return time.Since(p.since) >= p.slice
}

// dispatcher runs the node's turns.
func (n *node) dispatcher() *dispatcher {
	if d := n.settings.Load().dispatcher; d != nil {
		return d
	}
	return &n.sys.dispatchers.standard
}

// once takes a turn; see turner.
func (c *cell[T]) once() bool {
	c.turn()
	return !c.rest()
}
