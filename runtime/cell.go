package runtime

import (
	"errors"
	"fmt"
	gort "runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// cell is the typed half of an actor: its mailbox and the turn that handles it.
type cell[T any] struct {
	node
	props    atomic.Pointer[Props[T]] // changed by the turn
	ranker   atomic.Pointer[ranker[T]]
	queue    mailbox.Queue[envelope[T]]  // guarded by node.mu
	batch    *mailbox.Chunk[envelope[T]] // owned by the turn
	instance Receiver[T]                 // owned by the turn
	ctx      Context[T]                  // lent to each call of the turn
	runf     func()                      // bound once, so that a wake-up allocates nothing
}

func newCell[T any](s *System, parent *node, path actor.Path, props *Props[T]) (*cell[T], error) {
	c := &cell[T]{node: node{sys: s, path: path, parent: parent}}
	c.body, c.ctx.cell, c.runf = c, c, c.run
	c.props.Store(props)
	c.frozen = props.frozen
	settings := &props.Settings
	if ranked := props.Priority != nil; ranked != settings.Mailbox.Ranked {
		settings = new(*settings)
		settings.Mailbox.Ranked = ranked
	}
	d, err := s.dispatchers.find(props.Dispatcher)
	if err := errors.Join(err, settings.Mailbox.Check(), settings.Routine.Check()); err != nil {
		return nil, err
	}
	if d != nil {
		settings = new(*settings)
		settings.dispatcher = d
	}
	own, err := newOwnBox(path, props)
	if err != nil {
		return nil, err
	}
	if props.Priority != nil || own != nil {
		c.ranker.Store(&ranker[T]{rank: props.Priority, log: c.log, own: own})
	}
	c.settings.Store(settings)
	c.queue = mailbox.New(&settings.Mailbox, sharedOf[T](s))
	return c, nil
}

func (c *cell[T]) launch() {
	c.sys.watchdog.awake()
	if d := c.settings.Load().dispatcher; d != nil && d.threads.Load() > 0 {
		d.enqueue(c)
		return
	}
	go c.runf()
}

func (c *cell[T]) queued() int {
	if o := c.own(); o != nil {
		return c.queue.Len() + o.n
	}
	return c.queue.Len()
}

// run takes turns until there is nothing to do. One goroutine at a time is in
// here for an actor; node.active is the baton.
func (c *cell[T]) run() {
	for {
		c.turn()
		if c.rest() {
			return
		}
		gort.Gosched()
	}
}

// turn obeys signals and handles messages, at most the throughput and for about the
// time slice.
func (c *cell[T]) turn() {
	clean := false
	defer func() {
		if !clean {
			c.broken(recover())
		}
	}()
	pace := c.dispatcher().pace()
	for i := range pace.limit {
		if i&pace.mask == pace.mask && pace.over() {
			break
		}
		if c.pending.Load() > 0 {
			c.obey()
		}
		if !c.mayTake() {
			break
		}
		env, ok := c.next()
		if !ok {
			break
		}
		if c.x != nil && c.x.throttle != nil && !c.admit(env) {
			continue
		}
		c.handle(env)
	}
	clean = true
}

// ErrGoexit is the failure of a handler that called runtime.Goexit.
var ErrGoexit = errors.New("the handler ended its goroutine (runtime.Goexit)")

// PanicError is the failure of a handler that panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns what was panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value when it is an error.
func (e *PanicError) Unwrap() error { err, _ := e.Value.(error); return err }

// broken turns a panic of the handler, or its Goexit (value nil), into a failure.
// After a Goexit this goroutine is ending, so the actor goes on on another.
func (c *cell[T]) broken(value any) {
	err, panicked := ErrGoexit, value != nil
	if panicked {
		err = c.panicked(value)
	}
	switch {
	case c.at != outside:
		c.failed(err, panicked)
	case panicked:
		c.fail(err, true)
	}
	if !panicked {
		c.launch()
	}
}

func (c *cell[T]) panicked(value any) error {
	err := &PanicError{Value: value, Stack: debug.Stack()}
	c.log().Error("actor panicked", "panic", fmt.Sprint(value), "stack", string(err.Stack))
	return err
}

func (c *cell[T]) failed(err error, panicked bool) {
	c.counters.troubles().failed.Add(1)
	if env := c.ctx.env; env.owed() {
		c.sys.deadLetter(c.path, env.sender, env.msg, actor.ReasonFailed+": "+err.Error(), c.ctx.meta)
	}
	c.fail(err, panicked)
	c.ctx.leave()
}

// next takes the next message out of the mailbox.
func (c *cell[T]) next() (env envelope[T], ok bool) {
	if c.batch != nil {
		if env, ok = c.batch.Next(); ok {
			return env, true
		}
	}
	if env, ok = c.nextQueued(); ok {
		return env, ok
	}
	if o := c.own(); o != nil {
		return c.nextOwn(o)
	}
	return env, false
}

func (c *cell[T]) nextQueued() (env envelope[T], ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.counted {
		if c.batch = c.queue.TakeChunk(c.batch); c.batch != nil {
			return c.batch.Next()
		}
	}
	if env, ok = c.queue.Take(); ok && c.queue.HasRoom() {
		c.handRoom()
	}
	return env, ok
}

// rest ends the run when there is nothing to do, and tells whether it did.
func (c *cell[T]) rest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending.Load() > 0 {
		return false
	}
	if c.x != nil {
		c.x.rests()
	}
	if c.mayTake() {
		if c.queue.Len() > 0 || (c.batch != nil && c.batch.Len() > 0) || c.own().waits() > 0 {
			return false
		}
		if c.draining {
			c.signals.push(&signal{kind: sigCall, f: func() { c.beginStop(true) }})
			c.pending.Add(1)
			return false
		}
	}
	c.parked = !c.mayTake()
	c.active = false
	return true
}

func (c *cell[T]) handle(env envelope[T]) {
	c.ctx.enter(env)
	c.at = inside
	var err error
	if env.meta != nil && env.meta.kind != traced {
		err = c.special(env)
	} else if c.x == nil {
		err = c.instance.Receive(&c.ctx, env.msg)
	} else {
		err = c.receive(env.msg)
	}
	if err != nil {
		c.failed(err, false)
		return
	}
	if c.at == setAside {
		c.setAside()
		return
	}
	c.counters.handled.Add(1)
	if env.meta != nil {
		env.meta.delivery.Done(nil)
		env.meta.replay.handled()
	}
	c.ctx.leave()
}

// special handles what is no ordinary message, unless it has become void.
func (c *cell[T]) special(env envelope[T]) error {
	m := env.meta
	switch {
	case m.kind == tick:
		return c.tick(env)
	case m.kind == outcome:
		return c.settled(env)
	case c.x == nil:
		return nil
	case m.kind == silence:
		return c.timedOut()
	}
	if _, ok := c.x.watching[m.ended]; !ok {
		return nil
	}
	delete(c.x.watching, m.ended)
	c.watchOccupant(m.ended.path)
	if h, ok := c.acting().(TerminatedHandler[T]); ok {
		return h.Terminated(&c.ctx, m.ended.path)
	}
	if h, ok := c.instance.(TerminatedHandler[T]); ok {
		return h.Terminated(&c.ctx, m.ended.path)
	}
	return nil
}

// terminated puts a notice into the mailbox; see watcher.
func (c *cell[T]) terminated(n *node) {
	_, _ = c.push(envelope[T]{sender: n, meta: &meta{kind: notice, ended: n}}, pushPlain)
}

// discard closes the mailbox; what is left becomes dead letters, in order.
func (c *cell[T]) discard(reason string) {
	c.mu.Lock()
	c.closed = true
	c.releaseRoom()
	c.mu.Unlock()
	c.letterStash()
	for env, ok := c.next(); ok; env, ok = c.next() {
		c.letter(env, reason)
	}
	c.closeOwn()
}

// letter makes a dead letter of an accepted message.
func (c *cell[T]) letter(env envelope[T], reason string) {
	if !env.owed() {
		return // ticks and notices are not mail
	}
	c.counters.troubles().lettered.Add(1)
	releaseAsker(env.sender, actor.ErrStopped)
	c.sys.deadLetter(c.path, env.sender, env.msg, reason, env.meta)
}

// giveBack puts letters in front of everything that waits.
func (c *cell[T]) giveBack(back []actor.Letter) {
	if len(back) == 0 {
		return
	}
	envs := make([]envelope[T], 0, len(back))
	for _, l := range back {
		if own, ok := l.(letter[T]); ok {
			if own.env.meta == nil {
				own.env.meta = own.meta // the trace that it got when it was handled
			}
			envs = append(envs, own.env)
		} else if m, ok := any(l.Message()).(T); ok {
			envs = append(envs, envelope[T]{msg: m, sender: l.Sender(), meta: metaOf(l)})
		}
	}
	c.counters.handled.Add(-uint64(len(envs))) // they were counted when they were handed over
	c.putFront(envs)
}

// pushFront reports false when the priority changed meanwhile. It asks the
// priority before it takes the lock.
func (c *cell[T]) pushFront(envs []envelope[T]) bool {
	r := c.ranker.Load()
	ranks := make([]float64, len(envs))
	for i, e := range envs {
		ranks[i] = r.of(e)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ranker.Load() != r {
		return false
	}
	c.queue.PushFront(envs, ranks)
	return true
}

func (c *cell[T]) current() string {
	if c.at == outside {
		return ""
	}
	return asMessage(c.ctx.env.msg).Kind
}

func (c *cell[T]) abandon(error) { releaseAsker(c.ctx.env.sender, actor.ErrActorFailed) }
