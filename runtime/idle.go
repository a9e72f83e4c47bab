package runtime

import (
	"fmt"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// TimeoutHandler is told that nobody told the actor anything for the receive
// timeout.
type TimeoutHandler[T any] interface {
	TimedOut(ctx *Context[T]) error
}

// idleness watches for silence. It costs a clock reading for each wake-up and one
// timer, which is not set anew by messages: when it fires too early, it is set for
// the rest.
type idleness struct {
	period  time.Duration
	stop    bool // the actor ends instead of being told
	since   time.Time
	touched bool // a message was handled since then
	timer   *timer
}

// SetReceiveTimeout makes silence of d known to TimeoutHandler; see actor.Context.
func (c *Context[T]) SetReceiveTimeout(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("receive timeout of %s: %s is not possible", c.cell.path, d)
	}
	c.cell.setIdle(d, false)
	return nil
}

// setIdle replaces the receive timeout; 0 ends it.
func (n *node) setIdle(d time.Duration, stop bool) {
	if n.x != nil && n.x.idle != nil {
		n.sys.timers.stop(n.x.idle.timer)
		n.x.idle = nil
	}
	if d <= 0 {
		return
	}
	i := &idleness{period: d, stop: stop, since: time.Now()}
	n.extras().idle = i
	n.armIdle(i, d)
}

func (n *node) armIdle(i *idleness, d time.Duration) {
	i.timer = n.sys.timers.after(d, 0, func() {
		n.signal(signal{kind: sigCall, f: func() {
			if !n.ending() && n.x != nil && n.x.idle == i {
				n.body.lookIdle()
			}
		}})
	})
}

// rests notes when the actor has nothing to do any more.
func (x *extras) rests() {
	if x.idle != nil && x.idle.touched {
		x.idle.since, x.idle.touched = time.Now(), false
	}
}

// lookIdle decides whether the actor has been told nothing for the period.
func (c *cell[T]) lookIdle() {
	i, now := c.x.idle, time.Now()
	c.mu.Lock()
	waits := c.queued() > 0 || (c.batch != nil && c.batch.Len() > 0)
	c.mu.Unlock()
	if waits || i.touched || !c.is(running) {
		i.since = now
	}
	if left := i.since.Add(i.period).Sub(now); left > 0 {
		c.armIdle(i, left)
		return
	}
	if i.stop {
		c.stopBehindQueue()
		return
	}
	i.since = now
	c.armIdle(i, i.period)
	c.handle(envelope[T]{meta: silent})
}

var silent = &meta{kind: silence}

// timedOut tells whoever acts, or the instance.
func (c *cell[T]) timedOut() error {
	if h, ok := c.acting().(TimeoutHandler[T]); ok {
		return h.TimedOut(&c.ctx)
	}
	if h, ok := c.instance.(TimeoutHandler[T]); ok {
		return h.TimedOut(&c.ctx)
	}
	return nil
}

func (r *behaviour) TimedOut(ctx *Context[actor.Message]) error {
	m := actor.Message{Kind: actor.KindReceiveTimeout}
	ctx.env.msg = m
	return r.b.Receive(r.lend(ctx), m)
}
