package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// fan spreads messages over several addresses. It is immutable; a change makes
// another one. Messages are spread on the sender's goroutine: nothing stands
// between the sender and the mailbox of the receiver.
type fan[T any] struct {
	sys      *System
	path     actor.Path // of the whole
	strategy Strategy
	key      func(m T, sender actor.Ref) string // of ConsistentHash; "" is no key
	turn     *atomic.Uint64                     // outlives the fan
	to       []*PID[T]
	seeds    []uint64 // of ConsistentHash, one for each address
	lenient  bool     // to tell everybody means those who are there
}

// withTo returns a fan like f over other addresses.
func (f fan[T]) withTo(to []*PID[T]) *fan[T] {
	f.to, f.seeds = to, nil
	if f.strategy == ConsistentHash {
		for _, p := range to {
			f.seeds = append(f.seeds, hashText(string(p.path)))
		}
	}
	return &f
}

func (f *fan[T]) depth(i int) int {
	c, err := f.to[i].resolve(nil)
	if err != nil {
		return -1
	}
	return c.load()
}

func (f *fan[T]) weight(i int, hash uint64) uint64 { return mix(hash ^ f.seeds[i]) }

// load is how much the actor has to do, below 0 when it takes no more messages.
// A pool has as much to do as the least busy of its routees.
func (c *cell[T]) load() int {
	if r := c.ranker.Load(); r != nil && r.pool != nil {
		f := r.pool.fan.Load()
		if len(f.to) == 0 {
			return -1
		}
		return f.depth(smallest(f, len(f.to), 0))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.draining || c.ending() {
		return -1
	}
	n := c.queued()
	if c.active {
		n++
	}
	return n
}

// tell spreads env. An accepted copy ends its part of a delivery itself; the part
// that the caller joined ends here unless an error is returned. The result is who
// got it, nil when that is not one. Errors: actor.ErrStopped when nobody is there,
// actor.ErrFull, actor.ErrBlockTimeout.
func (f *fan[T]) tell(ctx context.Context, env envelope[T]) (*cell[T], error) {
	if len(f.to) == 0 {
		return nil, actor.ErrStopped
	}
	switch {
	case f.strategy == ScatterGather, f.strategy == Broadcast && awaited(env.sender):
		return nil, f.scatter(ctx, env)
	case f.strategy == Broadcast:
		return nil, f.all(ctx, env)
	}
	if hash, ok := f.hash(env); ok {
		return f.keyed(hash, func(p *PID[T]) (*cell[T], error) { return p.attempt(ctx, env) })
	}
	for {
		to, full, res := f.offerOne(ctx, env)
		switch res {
		case actor.Accepted:
			return to, nil
		case actor.Closed:
			return nil, actor.ErrStopped
		}
		// All are full: the first one's policy decides, unless it has just ended.
		if to, err := full.attempt(ctx, env); to != nil || !isMissing(err) {
			return to, err
		}
	}
}

// offer is tell, but only when that discards nothing.
func (f *fan[T]) offer(ctx context.Context, env envelope[T]) (*cell[T], actor.OfferResult) {
	if len(f.to) == 0 {
		return nil, actor.Closed
	}
	if f.strategy == Broadcast || f.strategy == ScatterGather {
		return nil, f.offerAll(ctx, env)
	}
	if hash, ok := f.hash(env); ok {
		to, err := f.keyed(hash, func(p *PID[T]) (*cell[T], error) {
			to, res := p.offer(ctx, env)
			return to, offerError(res)
		})
		return to, offered(err)
	}
	to, _, res := f.offerOne(ctx, env)
	return to, res
}

// offerOne offers env to the one that the strategy picks, then to those behind
// it. When all who are there are full it returns the first of them.
func (f *fan[T]) offerOne(ctx context.Context, env envelope[T]) (to *cell[T], full *PID[T], res actor.OfferResult) {
	n := len(f.to)
	start := pick(f.strategy.unkeyed(), f, n, f.turn.Add(1)-1, 0)
	for k := range n {
		p := f.to[(start+k)%n]
		to, res = p.offer(ctx, env)
		switch {
		case res == actor.Accepted:
			return to, nil, res
		case res == actor.Full && full == nil:
			full = p
		}
	}
	if full == nil {
		return nil, nil, actor.Closed
	}
	return nil, full, actor.Full
}

// awaited tells whether the sender waits for an answer, so that it must learn of a
// failure only when there is no answer at all.
func awaited(sender actor.Ref) bool {
	_, ok := sender.(interface{ release(error) })
	return ok
}

// unkeyed is the strategy for messages without a key: they take turns.
func (s Strategy) unkeyed() Strategy {
	if s == ConsistentHash {
		return RoundRobin
	}
	return s
}

// hash is that of the message's key; false when it has none.
func (f *fan[T]) hash(env envelope[T]) (uint64, bool) {
	if f.strategy != ConsistentHash || f.key == nil {
		return 0, false
	}
	k := f.key(env.msg, env.sender)
	return hashText(k), k != ""
}

// keyed tries the receiver of a key, and the next best only where there is
// nobody: a full one keeps its keys.
func (f *fan[T]) keyed(hash uint64, try func(*PID[T]) (*cell[T], error)) (*cell[T], error) {
	n, i := len(f.to), -1
	var weight uint64
	for range n {
		if i, weight = heaviest(f, n, hash, i, weight); i < 0 {
			break
		}
		if to, err := try(f.to[i]); to != nil || !isMissing(err) {
			return to, err
		}
	}
	return nil, actor.ErrStopped
}

func isMissing(err error) bool {
	return errors.Is(err, actor.ErrStopped) || errors.Is(err, actor.ErrNotFound)
}

// all tells everybody. Those who have room get it first, so that nobody waits for
// one that is full; then each full one's policy decides, and what it refuses is
// dealt with as the sender wants it for full receivers.
func (f *fan[T]) all(ctx context.Context, env envelope[T]) error {
	d := env.meta.track()
	var fulls []*PID[T]
	here := 0
	for _, p := range f.to {
		d.Join()
		switch _, res := p.offer(ctx, env); res {
		case actor.Accepted:
			here++
			continue
		case actor.Full:
			fulls = append(fulls, p)
			here++
		default:
			if !f.lenient {
				_ = p.missing(env, actor.ErrStopped) // a dead letter is all there is to it
			}
		}
		d.Done(nil)
	}
	if here == 0 && f.lenient {
		return actor.ErrStopped
	}
	var errs []error
	for _, p := range fulls {
		errs = append(errs, f.insist(ctx, p, env))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	d.Done(nil)
	return nil
}

// insist tells one that was full.
func (f *fan[T]) insist(ctx context.Context, p *PID[T], env envelope[T]) error {
	d := env.meta.track()
	d.Join()
	to, err := p.attempt(ctx, env)
	switch {
	case err == nil:
		return nil
	case to == nil && f.lenient:
	case to == nil:
		_ = p.missing(env, err)
	default:
		err = f.refused(ctx, p, env, err)
		d.Done(nil)
		return err
	}
	d.Done(nil)
	return nil
}

// refused does what the sender's on-full says, for one of several receivers.
// Nobody's message becomes a dead letter.
func (f *fan[T]) refused(ctx context.Context, p *PID[T], env envelope[T], err error) error {
	ref, isRef := any(p).(actor.Ref)
	m, isMessage := any(env.msg).(actor.Message)
	o, inside := ctx.Value(originKey{}).(*Context[actor.Message])
	if isRef && isMessage && inside {
		return (&messageContext{o}).onFull(ref, m, err)
	}
	f.sys.deadLetter(p.path, env.sender, env.msg, actor.ReasonFull, env.meta)
	return nil
}

// offerAll gives everybody a copy when all who are there have room.
func (f *fan[T]) offerAll(ctx context.Context, env envelope[T]) actor.OfferResult {
	here := 0
	for _, p := range f.to {
		c, err := p.resolve(nil)
		if err != nil {
			continue
		}
		if !c.hasRoom() {
			return actor.Full
		}
		here++
	}
	if here == 0 {
		return actor.Closed
	}
	switch _, err := f.tell(ctx, env); {
	case err == nil:
		return actor.Accepted
	case errors.Is(err, actor.ErrStopped):
		return actor.Closed
	default:
		return actor.Full
	}
}

func (c *cell[T]) hasRoom() bool {
	if r := c.ranker.Load(); r != nil && r.pool != nil {
		return c.load() >= 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queue.HasRoom()
}

func offered(err error) actor.OfferResult {
	switch {
	case err == nil:
		return actor.Accepted
	case errors.Is(err, actor.ErrFull):
		return actor.Full
	default:
		return actor.Closed
	}
}

func offerError(r actor.OfferResult) error {
	switch r {
	case actor.Accepted:
		return nil
	case actor.Full:
		return actor.ErrFull
	default:
		return actor.ErrStopped
	}
}

// check reports what is wrong with a strategy and its key.
func (s Strategy) check(keyed bool) error {
	switch {
	case int(s) >= len(strategyNames):
		return fmt.Errorf("unknown strategy %d", s)
	case s == ConsistentHash && !keyed:
		return fmt.Errorf("strategy %s needs a key", s)
	case s != ConsistentHash && keyed:
		return fmt.Errorf("a key is only for strategy %s, not for %s", ConsistentHash, s)
	}
	return nil
}
