package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// pushMode says how much a push may do.
type pushMode uint8

const (
	pushPlain pushMode = iota // under the overflow policy; room to wait for comes with full
	pushOffer                 // only when nothing is lost
	pushOnce                  // as pushPlain, but nobody will wait or hear of it: what is refused counts as dropped
)

// pushed is the answer of the mailbox to one push.
type pushed uint8

const (
	in    pushed = iota // accepted (something else may have been discarded)
	full                // refused
	gone                // closed, or draining
	moved               // it is for the routees of a pool
)

// quick is push for the common case: no priority, no pool, room, and nothing to
// report. False means that nothing was done. It exists for its small frame: what
// runs on a fresh goroutine must fit its first stack, or each wake-up pays for a
// larger one.
func (c *cell[T]) quick(env *envelope[T]) bool {
	c.mu.Lock()
	if c.closed || c.draining || c.ranker.Load() != nil || !c.queue.Append(env) {
		c.mu.Unlock()
		return false
	}
	wake := !c.parked && c.wake()
	c.mu.Unlock()
	if wake {
		c.launch()
	}
	return true
}

// push puts env into the mailbox and wakes the actor. Whether the mailbox is
// closed and whether the message is in it are decided under one lock.
func (c *cell[T]) push(env envelope[T], mode pushMode) (pushed, chan struct{}) {
	r := c.ranker.Load()
	rank := 0.0
	if r != nil && !keepNotice(env) {
		if r.pool != nil && env.mail() {
			return moved, nil
		}
		rank = r.of(env)
	}
	c.mu.Lock()
	switch {
	case c.closed, c.draining && !keepNotice(env):
		c.mu.Unlock()
		return gone, nil
	case c.ranker.Load() != r: // the priority changed while this one was ranked
		c.mu.Unlock()
		return c.push(env, mode)
	case mode == pushOffer && !c.queue.HasRoom():
		c.mu.Unlock()
		return full, nil
	case r != nil && r.own != nil && env.mail():
		return c.pushOwn(r.own, env, mode)
	}
	out := c.queue.Push(env, rank)
	if out.Result == mailbox.Refused {
		return full, c.refused(env, mode)
	}
	high := 0
	if c.queue.HighWater() {
		high = c.queue.Len()
	}
	wake := !c.parked && c.wake()
	c.mu.Unlock()
	if wake {
		c.launch()
	}
	c.afterPush(out, high)
	return in, nil
}

// refused unlocks mu and, where the policy is to wait, returns what to wait for.
func (c *cell[T]) refused(env envelope[T], mode pushMode) (room chan struct{}) {
	if mode == pushPlain && c.queue.Settings().Overflow == mailbox.Block {
		room = make(chan struct{})
		all := c.waiters()
		all.room = append(all.room, room)
	}
	c.mu.Unlock()
	if mode == pushOnce {
		c.dropped(env)
	}
	return room
}

func (c *cell[T]) afterPush(out mailbox.Outcome[envelope[T]], high int) {
	if out.Result != mailbox.Queued {
		c.dropped(out.Dropped)
	}
	if high > 0 {
		c.log().Warn("mailbox is filling up", "depth", high)
		c.sys.Publish(actor.MailboxHigh{Path: c.path, Depth: high})
	}
}

// dropped counts and reports a message that an overflow policy discarded.
func (c *cell[T]) dropped(env envelope[T]) {
	c.shed(env, c.settings.Load().Mailbox.Overflow.String())
}

// shed counts and reports a message that a policy discarded.
func (c *cell[T]) shed(env envelope[T], policy string) {
	c.counters.troubles().dropped.Add(1)
	releaseAsker(env.sender, actor.ErrFull)
	env.meta.track().Refuse(fmt.Errorf("dropped at %s: %w", c.path, actor.ErrFull))
	c.sys.dropped(c.path, env.sender, env.msg, policy, env.meta)
}

// tell pushes env, waiting for room where the policy says so.
// It returns the actor that got it: this one, or a routee of this pool.
func (c *cell[T]) tell(ctx context.Context, env envelope[T]) (*cell[T], error) {
	res, room := c.push(env, pushPlain)
	switch {
	case res == in:
		return c, nil
	case res == moved:
		return c.ranker.Load().pool.tell(ctx, env)
	case res == full && room != nil:
		return c, c.tellWhenRoom(ctx, env, room)
	}
	return c, resultError(res)
}

func resultError(r pushed) error {
	switch r {
	case full:
		return actor.ErrFull
	case gone:
		return actor.ErrStopped
	default:
		return nil
	}
}

func (c *cell[T]) tellWhenRoom(ctx context.Context, env envelope[T], room chan struct{}) error {
	if env.sender != nil && env.sender.Path() == c.path {
		c.forgetRoom(room)
		return actor.ErrWouldDeadlock
	}
	limit := time.NewTimer(c.settings.Load().Mailbox.BlockTimeout)
	defer limit.Stop()
	for {
		select {
		case <-room:
		case <-limit.C:
			c.forgetRoom(room)
			return actor.ErrBlockTimeout
		case <-ctx.Done():
			c.forgetRoom(room)
			return context.Cause(ctx)
		}
		var res pushed
		if res, room = c.push(env, pushPlain); res == moved {
			_, err := c.ranker.Load().pool.tell(ctx, env)
			return err
		} else if res != full || room == nil {
			return resultError(res)
		}
	}
}

// forgetRoom takes a waiting sender off the list. When it was its turn already,
// the next one gets it.
func (c *cell[T]) forgetRoom(room chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiters()
	if i := slices.Index(all.room, room); i >= 0 {
		all.room = slices.Delete(all.room, i, i+1)
		return
	}
	c.handRoom()
}
