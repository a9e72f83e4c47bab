package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Context is what a Receiver works with. It is valid during the call it was
// given to, on that goroutine. As a context.Context it ends when the actor is
// told to stop at once.
type Context[T any] struct {
	cell *cell[T]
	env  envelope[T]
	meta *meta // the trace of what is told from here
}

func (c *Context[T]) enter(env envelope[T]) {
	c.env, c.meta = env, nil
	if env.meta != nil && env.meta.kind == traced {
		c.meta = env.meta
	}
}

func (c *Context[T]) leave() { c.env, c.meta, c.cell.at = envelope[T]{}, nil, outside }

// Deadline tells that there is none.
func (c *Context[T]) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done is closed when the actor is told to stop at once or is replaced.
func (c *Context[T]) Done() <-chan struct{} { return c.cell.goneChan() }

// Err returns context.Canceled once Done is closed.
func (c *Context[T]) Err() error {
	select {
	case <-c.Done():
		return context.Canceled
	default:
		return nil
	}
}

// Value knows nothing but who is sending, for contexts derived from this one.
func (c *Context[T]) Value(key any) any {
	if _, ok := key.(originKey); ok {
		return c
	}
	return nil
}

func (c *Context[T]) origin() (actor.Ref, *meta) { return &c.cell.node, c.meta }

// Self is the actor's own address.
func (c *Context[T]) Self() *PID[T] {
	p := &PID[T]{sys: c.cell.sys, path: c.cell.path}
	p.cell.Store(c.cell)
	return p
}

// Path is where the actor lives.
func (c *Context[T]) Path() actor.Path { return c.cell.path }

// System is the system the actor lives in.
func (c *Context[T]) System() *System { return c.cell.sys }

// Sender is who sent the current message, nil when nobody did.
func (c *Context[T]) Sender() actor.Ref { return c.env.sender }

// Trace is the current message's trace, made on first use.
func (c *Context[T]) Trace() actor.TraceID {
	if c.meta == nil || c.meta.trace.IsZero() {
		c.meta = &meta{trace: actor.NewTraceID(), event: c.meta.aboutEvent(), delivery: c.meta.track()}
	}
	return c.meta.trace
}

// Log knows the actor and, when there is one, the trace.
func (c *Context[T]) Log() *slog.Logger {
	l := c.cell.log()
	if c.meta != nil {
		l = l.With("trace", c.meta.trace.String())
	}
	return l
}

// After tells the actor m once, after d.
func (c *Context[T]) After(d time.Duration, m T) (cancel func() bool) { return c.arm(d, 0, m) }

// Every tells the actor m again and again, every d. A d that is not above 0 is a
// mistake, which is logged: no timer is set.
func (c *Context[T]) Every(d time.Duration, m T) (cancel func() bool) {
	if d <= 0 {
		c.Log().Error("a timer cannot fire that often, so it is not set", "every", d)
		return func() bool { return false }
	}
	return c.arm(d, d, m)
}

func (c *Context[T]) arm(d, every time.Duration, m T) func() bool {
	cell := c.cell
	t := &timer{every: every}
	tag := &meta{kind: tick, incarnation: cell.counters.incarnation.Load(), timer: t}
	t.fire = func() { _, _ = cell.push(envelope[T]{msg: m, meta: tag}, pushOnce) }
	cell.keepTimer(t)
	cell.sys.timers.start(t, d)
	return func() bool { return cell.sys.timers.stop(t) }
}

// timersAtFirst is how many timers gather before those that are over are dropped.
const timersAtFirst = 64

// keepTimer remembers t, so that it ends with the incarnation. What is over is
// dropped at every doubling of what is not.
func (n *node) keepTimer(t *timer) {
	x := n.extras()
	if x.timers == nil {
		x.timers, x.timersKept = map[*timer]struct{}{}, timersAtFirst
	}
	if len(x.timers) >= x.timersKept {
		maps.DeleteFunc(x.timers, func(t *timer, _ struct{}) bool { return !n.sys.timers.waits(t) })
		x.timersKept = max(timersAtFirst, 2*len(x.timers))
	}
	x.timers[t] = struct{}{}
}

// Watch asks to be told when the actor at path ends: TerminatedHandler, or a
// message of kind actor.KindTerminated for Message actors. At once when there is
// none there.
func (c *Context[T]) Watch(path actor.Path) error {
	n, ok := c.cell.sys.registry.get(path)
	if !ok {
		n = &node{sys: c.cell.sys, path: path, ended: true}
	}
	if n == &c.cell.node {
		return fmt.Errorf("watch %s: %w", path, actor.ErrWouldDeadlock)
	}
	x := c.cell.extras()
	if x.watching == nil {
		x.watching = map[*node]struct{}{}
	}
	x.watching[n] = struct{}{}
	if !n.watch(c.cell) {
		c.cell.terminated(n)
	}
	return nil
}

// Unwatch takes Watch back; a notice that is on its way is not delivered.
func (c *Context[T]) Unwatch(path actor.Path) {
	for n := range c.cell.extras().watching {
		if n.path == path {
			n.unwatch(c.cell)
			delete(c.cell.x.watching, n)
		}
	}
}

// Stop ends this actor or one of its children, behind the messages it has.
func (c *Context[T]) Stop(path actor.Path) {
	n, ok := c.cell.sys.registry.get(path)
	if ok && (n == &c.cell.node || n.parent == &c.cell.node) {
		n.stopBehindQueue()
	}
}

// SpawnChild starts an actor of message type U below the one that parent belongs
// to. It ends with its parent, and with its parent's incarnation unless
// keep-children holds. Without a name it gets one that nobody can guess.
func SpawnChild[T, U any](parent *Context[T], name string, props *Props[U]) (*PID[U], error) {
	return spawnPID(parent.cell.sys, &parent.cell.node, name, props)
}
