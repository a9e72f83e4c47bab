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
	props    *Props[T]
	ranker   atomic.Pointer[ranker[T]]
	queue    mailbox.Queue[envelope[T]]  // guarded by node.mu
	batch    *mailbox.Chunk[envelope[T]] // owned by the turn
	instance Receiver[T]                 // owned by the turn
	ctx      Context[T]                  // lent to each call of the turn
	runf     func()                      // bound once, so that a wake-up allocates nothing
}

type ranker[T any] struct {
	rank func(m T, sender actor.Ref) float64
}

func newCell[T any](s *System, parent *node, path actor.Path, props *Props[T]) *cell[T] {
	c := &cell[T]{node: node{sys: s, path: path, parent: parent}, props: props}
	c.body, c.ctx.cell, c.runf = c, c, c.run
	c.settings.Store(&props.Settings)
	ms := props.Settings.Mailbox
	if ms.Ranked = props.Priority != nil; ms.Ranked {
		c.ranker.Store(&ranker[T]{props.Priority})
	}
	c.queue = mailbox.New(ms, keepNotice[T], poolOf[T](s))
	return c
}

func (c *cell[T]) launch()      { go c.runf() }
func (c *cell[T]) waiting() int { return c.queue.Len() }

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

// turn obeys signals and handles messages, at most the throughput.
func (c *cell[T]) turn() {
	clean := false
	defer func() {
		if !clean {
			c.broken(recover())
		}
	}()
	for range c.sys.throughput {
		if c.pending.Load() > 0 {
			c.obey()
		}
		if !c.mayHandle() {
			break
		}
		env, ok := c.next()
		if !ok {
			break
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
func (c *cell[T]) broken(value any) {
	if value == nil {
		c.failed(ErrGoexit, false)
		c.launch() // this goroutine is ending; the actor goes on on another
		return
	}
	err := &PanicError{Value: value, Stack: debug.Stack()}
	c.log().Error("actor panicked", "panic", fmt.Sprint(value), "stack", string(err.Stack))
	c.failed(err, true)
}

func (c *cell[T]) failed(err error, panicked bool) {
	c.counters.failed.Add(1)
	if env := c.ctx.env; env.meta == nil || env.meta.kind == traced {
		c.sys.deadLetter(c.path, env.sender, asMessage(env.msg), actor.ReasonFailed+": "+err.Error(), c.ctx.meta)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batch = c.queue.TakeChunk(c.batch); c.batch != nil {
		return c.batch.Next()
	}
	env, ok = c.queue.Take()
	if ok && len(c.room) > 0 && c.queue.HasRoom() {
		close(c.room[0])
		c.room = c.room[1:]
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
	if c.mayHandle() {
		if c.queue.Len() > 0 || (c.batch != nil && c.batch.Len() > 0) {
			return false
		}
		if c.draining {
			c.signals = append(c.signals, signal{kind: sigCall, f: func() { c.beginStop(true) }})
			c.pending.Add(1)
			return false
		}
	}
	c.parked = !c.mayHandle()
	c.active = false
	return true
}

func (c *cell[T]) handle(env envelope[T]) {
	c.ctx.enter(env)
	var err error
	if env.meta != nil && env.meta.kind != traced {
		err = c.special(env)
	} else {
		err = c.instance.Receive(&c.ctx, env.msg)
	}
	if err != nil {
		c.failed(err, false)
		return
	}
	c.counters.handled.Add(1)
	if env.meta != nil {
		env.meta.delivery.Done(nil)
	}
	c.ctx.leave()
}

// special handles ticks and notices, unless they have become void.
func (c *cell[T]) special(env envelope[T]) error {
	m := env.meta
	if m.kind == tick {
		if m.incarnation != c.counters.incarnation.Load() || c.sys.timers.void(m.timer) {
			return nil
		}
		return c.instance.Receive(&c.ctx, env.msg)
	}
	if _, ok := c.watching[m.ended]; !ok {
		return nil
	}
	delete(c.watching, m.ended)
	if h, ok := c.instance.(TerminatedHandler[T]); ok {
		return h.Terminated(&c.ctx, m.ended.path)
	}
	return nil
}

// terminated puts a notice into the mailbox; see watcher.
func (c *cell[T]) terminated(n *node) {
	_, _ = c.push(envelope[T]{sender: n, meta: &meta{kind: notice, ended: n}}, pushPlain)
}

// guard runs a hook and turns its panic into an error.
func (c *cell[T]) guard(hook func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			p := &PanicError{Value: r, Stack: debug.Stack()}
			c.log().Error("actor panicked", "panic", fmt.Sprint(r), "stack", string(p.Stack))
			err = p
		}
	}()
	return hook()
}

func (c *cell[T]) create() error {
	return c.guard(func() error {
		instance, err := c.props.New()
		if err != nil {
			return err
		}
		c.instance = instance
		return c.startInstance()
	})
}

func (c *cell[T]) startInstance() error {
	s, ok := c.instance.(Starter[T])
	if !ok {
		return nil
	}
	c.ctx.enter(envelope[T]{})
	defer c.ctx.leave()
	return s.Start(&c.ctx)
}

func (c *cell[T]) destroy() {
	c.mu.Lock()
	c.endIncarnation()
	c.mu.Unlock()
	defer c.refuseHolds()
	if c.instance == nil {
		return
	}
	c.stopInstance()
	c.instance = nil
}

func (c *cell[T]) stopInstance() {
	s, ok := c.instance.(Stopper[T])
	if !ok {
		return
	}
	c.ctx.enter(envelope[T]{})
	defer c.ctx.leave()
	if err := c.guard(func() error { return s.Stop(&c.ctx) }); err != nil {
		c.log().Error("stop hook failed", "err", err)
	}
}

// discard closes the mailbox; what is left becomes dead letters, in order.
func (c *cell[T]) discard(reason string) {
	c.mu.Lock()
	c.closed = true
	c.releaseRoom()
	c.mu.Unlock()
	for env, ok := c.next(); ok; env, ok = c.next() {
		c.letter(env, reason)
	}
}

// letter makes a dead letter of an accepted message.
func (c *cell[T]) letter(env envelope[T], reason string) {
	if env.meta != nil && env.meta.kind != traced {
		return // ticks and notices are not mail
	}
	c.counters.lettered.Add(1)
	releaseAsker(env.sender, actor.ErrStopped)
	c.sys.deadLetter(c.path, env.sender, asMessage(env.msg), reason, env.meta)
}

func (c *cell[T]) giveBack(back []actor.Letter) {
	if len(back) == 0 {
		return
	}
	envs := make([]envelope[T], 0, len(back))
	for _, l := range back {
		if own, ok := l.(letter[T]); ok {
			envs = append(envs, own.env)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var rest []envelope[T]
	for c.batch != nil && c.batch.Len() > 0 {
		env, _ := c.batch.Next()
		rest = append(rest, env)
	}
	rank := func(e envelope[T]) float64 { return c.rank(e) }
	c.queue.PushFront(append(envs, rest...), rank)
	c.counters.handled.Add(^uint64(len(envs) - 1)) // they were counted when they were handed over
}

func (c *cell[T]) current() string {
	if !c.ctx.inside || (c.ctx.env.sender == nil && c.ctx.env.meta == nil && any(c.ctx.env.msg) == nil) {
		return ""
	}
	return asMessage(c.ctx.env.msg).Kind
}

func (c *cell[T]) abandon(error) { releaseAsker(c.ctx.env.sender, actor.ErrActorFailed) }

func (c *cell[T]) rank(e envelope[T]) float64 {
	r := c.ranker.Load()
	if r == nil {
		return 0
	}
	return r.rank(e.msg, e.sender)
}
