package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// tasks are the goroutines that an actor runs beside its turn.
type tasks struct {
	mu      sync.Mutex // guards what follows
	running int
	ended   func() // waits for the last one
}

// Go runs f on a goroutine of its own and tells the actor the result. failed makes
// a message of an error, a panic (*PanicError) or ErrGoexit; when it is nil, these
// are failures of the actor. See actor.Context for the rest.
func (c *Context[T]) Go(f func(ctx context.Context) (T, error), failed func(error) T) {
	cell, cause := c.cell, c.meta
	x := cell.extras()
	if x.tasks == nil {
		x.tasks = &tasks{}
	}
	cause.track().Join()
	t := &task[T]{
		cell: cell, meta: cause, sender: c.env.sender, done: c.Done(),
		incarnation: cell.counters.incarnation.Load(), failed: failed, all: x.tasks,
	}
	t.all.mu.Lock()
	t.all.running++
	t.all.mu.Unlock()
	go t.run(f) // owned by the actor, which waits for it before it ends
}

// task is one call of Go.
type task[T any] struct {
	cell        *cell[T]
	meta        *meta // of the message that it is about
	sender      actor.Ref
	done        <-chan struct{} // closed when the incarnation ends
	incarnation uint64
	failed      func(error) T
	all         *tasks
}

func (t *task[T]) run(f func(context.Context) (T, error)) {
	result, err := *new(T), error(ErrGoexit)
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{Value: r, Stack: debug.Stack()}
		}
		t.deliver(result, err)
		t.all.end(&t.cell.node)
	}()
	result, err = f(taskContext{done: t.done, sender: &t.cell.node, meta: t.meta})
}

// deliver tells the actor how the task ended.
func (t *task[T]) deliver(result T, err error) {
	c := t.cell
	if err != nil && t.failed == nil {
		c.signal(signal{kind: sigFail, incarnation: t.incarnation, err: err})
		releaseAsker(t.sender, actor.ErrActorFailed)
		t.meta.track().Done(err)
		return
	}
	if err != nil {
		result = t.failed(err)
	}
	m := &meta{kind: outcome, incarnation: t.incarnation, delivery: t.meta.track(), trace: t.meta.traceID(), event: t.meta.aboutEvent()}
	env := envelope[T]{msg: result, sender: t.sender, meta: m}
	if res, _ := c.push(env, pushOnce); res == gone {
		c.late(env)
	}
}

// late makes a dead letter of a result whose incarnation is gone.
func (c *cell[T]) late(env envelope[T]) {
	releaseAsker(env.sender, actor.ErrStopped)
	c.sys.deadLetter(c.path, env.sender, env.msg, actor.ReasonStopped+": it asked for this before it restarted or ended", env.meta)
}

// settled handles a result.
func (c *cell[T]) settled(env envelope[T]) error {
	m := env.meta
	if m.incarnation != c.counters.incarnation.Load() {
		c.late(env)
		return nil
	}
	c.ctx.meta = &meta{trace: m.trace, delivery: m.delivery, event: m.event}
	return c.acting().Receive(&c.ctx, env.msg)
}

func (t *tasks) end(n *node) {
	t.mu.Lock()
	t.running--
	f := t.ended
	if t.running > 0 {
		f = nil
	}
	if f != nil {
		t.ended = nil
	}
	t.mu.Unlock()
	if f != nil {
		n.signal(signal{kind: sigCall, f: f})
	}
}

// whenTasksEnded goes on with f, at once or on a later turn.
func (n *node) whenTasksEnded(f func()) {
	if n.x == nil || n.x.tasks == nil {
		f()
		return
	}
	t := n.x.tasks
	t.mu.Lock()
	busy := t.running > 0
	if busy {
		t.ended = f
	}
	t.mu.Unlock()
	if !busy {
		f()
	}
}

// taskContext is the context of a task: it ends with the incarnation and sends as
// the actor, about the message that the task is about.
type taskContext struct {
	done   <-chan struct{}
	sender *node
	meta   *meta
}

// Deadline tells that there is none.
func (taskContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done is closed when the incarnation ends.
func (c taskContext) Done() <-chan struct{} { return c.done }

// Err returns context.Canceled once Done is closed.
func (c taskContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// Value knows who is sending.
func (c taskContext) Value(key any) any {
	if _, ok := key.(originKey); ok {
		return c
	}
	return nil
}

func (c taskContext) origin() (actor.Ref, *meta) { return c.sender, c.meta }

// beside tells that ctx is that of a task, which may wait for its own actor.
func beside(ctx context.Context) bool {
	_, ok := ctx.Value(originKey{}).(taskContext)
	return ok
}

// AskAsync asks to and tells the actor what answer makes of the outcome; the actor
// goes on meanwhile.
func AskAsync[T, U, R any](c *Context[T], to *PID[U], timeout time.Duration, build func(ReplyTo[R]) U, answer func(R, error) T) {
	c.Go(func(ctx context.Context) (T, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return answer(Ask(ctx, to, build)), nil
	}, func(err error) T { return answer(*new(R), err) })
}

func (c *messageContext) Go(f func(context.Context) (actor.Message, error)) {
	c.Context.Go(f, func(err error) actor.Message { return failedMessage(err) })
}

func failedMessage(err error) actor.Message {
	p, panicked := errors.AsType[*PanicError](err)
	if panicked {
		err = p
	}
	return actor.FailedMessage(err, panicked)
}

func (c *messageContext) AskAsync(to actor.Ref, m actor.Message, timeout time.Duration) {
	c.Context.Go(func(ctx context.Context) (actor.Message, error) {
		a, ok := to.(actor.Asker)
		if !ok {
			return actor.Message{}, fmt.Errorf("ask %s: %w", to.Path(), actor.ErrUnsupported)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return a.Ask(ctx, m)
	}, func(err error) actor.Message {
		f := failedMessage(err)
		body := f.Body.(map[string]any)
		body["path"], body["kind"] = string(to.Path()), m.Kind
		return f
	})
}

// Kill makes actor.ErrKilled the failure of this actor, or of the child at path.
func (c *Context[T]) Kill(path actor.Path) {
	n, ok := c.cell.sys.registry.get(path)
	if ok && (n == &c.cell.node || n.parent == &c.cell.node) {
		n.kill()
	}
}

func (c *messageContext) Kill(r actor.Ref) { c.Context.Kill(r.Path()) }

// Kill makes actor.ErrKilled the failure of the actor, after the message that it
// handles and before those that wait: its supervisor decides what comes of it.
func (a *Actor) Kill() { a.node.kill() }

func (n *node) kill() { n.signal(signal{kind: sigFail, err: actor.ErrKilled}) }
