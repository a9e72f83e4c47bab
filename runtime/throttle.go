package runtime

import (
	"time"

	"github.com/actord/actord/runtime/actor"
)

// bucket is a throttle at work. It lives as long as the actor: a restart does not
// fill it.
type bucket struct {
	limit  actor.Throttle
	tokens float64
	at     time.Time
	timer  *timer // that ends the pause; nil when there is none
}

// leastPause keeps fast throttles from waking the actor for every message.
const leastPause = time.Millisecond

// Throttle limits how many messages are handled; see actor.Context.
func (c *Context[T]) Throttle(t actor.Throttle) error {
	if err := t.Check(); err != nil {
		return err
	}
	c.cell.setThrottle(t)
	return nil
}

// setThrottle replaces the limit. What the bucket holds stays, as far as it fits.
func (n *node) setThrottle(t actor.Throttle) {
	var old *bucket
	if n.x != nil {
		old = n.x.throttle
	}
	if old != nil && old.timer != nil {
		n.sys.timers.stop(old.timer)
	}
	n.held = false
	if !t.On() {
		if old != nil {
			n.x.throttle = nil
		}
		return
	}
	b := &bucket{limit: t, tokens: t.Capacity(), at: time.Now()}
	if old != nil {
		old.fill(b.at)
		b.tokens = min(old.tokens, b.tokens)
	}
	n.extras().throttle = b
}

// fill adds the tokens that came since it was last asked.
func (b *bucket) fill(now time.Time) {
	b.tokens = min(b.tokens+now.Sub(b.at).Seconds()*b.limit.Rate, b.limit.Capacity())
	b.at = now
}

// take takes a token; ok is false when there is none, and then wait says how long
// it takes until there is one.
func (b *bucket) take(now time.Time) (wait time.Duration, ok bool) {
	b.fill(now)
	const almost = 1e-9 // what arithmetic loses
	if b.tokens >= 1-almost {
		b.tokens = max(b.tokens-1, 0)
		return 0, true
	}
	wait = time.Duration((1 - b.tokens) / b.limit.Rate * float64(time.Second))
	full := time.Duration((b.limit.Capacity() - b.tokens) / b.limit.Rate * float64(time.Second))
	return max(wait, min(leastPause, full), 1), false
}

// admit tells whether a message may be handled now. Otherwise it has been dropped,
// or the actor pauses with the message at the front of its mailbox.
func (c *cell[T]) admit(env envelope[T]) bool {
	if env.meta != nil && env.meta.kind != traced && env.meta.kind != tick {
		return true
	}
	b := c.x.throttle
	wait, ok := b.take(time.Now())
	switch {
	case ok:
		return true
	case b.limit.Drop:
		c.shed(env, actor.PolicyThrottle)
		return false
	}
	c.putFront([]envelope[T]{env})
	if c.isDraining() {
		c.beginStop(true) // an end does not wait for the throttle
		return false
	}
	c.held = true
	b.timer = c.sys.timers.after(wait, 0, func() {
		c.signal(signal{kind: sigCall, f: func() {
			if !c.ending() && c.x.throttle == b {
				c.held, b.timer = false, nil
			}
		}})
	})
	return false
}
