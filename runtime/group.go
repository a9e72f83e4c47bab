package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// Group is one address for several actors that are there already, or will be. It
// is no actor and owns nothing: messages go from their sender to the member that
// the strategy picks. It is safe for concurrent use. A Group of actor.Message is
// an actor.Ref, an Offerer and an Asker.
type Group[T any] struct {
	sys  *System
	fan  atomic.Pointer[fan[T]]
	turn atomic.Uint64
}

// NewGroup makes a group that is called /system/groups/NAME in errors and dead
// letters. key is for ConsistentHash only; see Pool.
func NewGroup[T any](s *System, name string, strategy Strategy, key func(m T, sender actor.Ref) string, members ...actor.Path) (*Group[T], error) {
	err := actor.CheckName(name)
	if err = errors.Join(err, strategy.check(key != nil)); err != nil {
		return nil, fmt.Errorf("group %q: %w", name, err)
	}
	g := &Group[T]{sys: s}
	base := fan[T]{sys: s, path: actor.System.Child("groups").Child(name), strategy: strategy, key: key, turn: &g.turn}
	g.fan.Store(base.withTo(g.addresses(members)))
	return g, nil
}

func (g *Group[T]) addresses(members []actor.Path) []*PID[T] {
	var out []*PID[T]
	for _, p := range members {
		out = append(out, &PID[T]{sys: g.sys, path: p})
	}
	return out
}

// Set makes members the group. Messages that are on their way are not touched.
func (g *Group[T]) Set(members ...actor.Path) {
	g.fan.Store(g.fan.Load().withTo(g.addresses(members)))
}

// Members returns the addresses of the group.
func (g *Group[T]) Members() []actor.Path {
	var out []actor.Path
	for _, p := range g.fan.Load().to {
		out = append(out, p.path)
	}
	return slices.Clip(out)
}

// Path returns what the group is called; no actor lives there.
func (g *Group[T]) Path() actor.Path { return g.fan.Load().path }

// Tell gives m to the members that the strategy picks. Members that are not there
// are passed over; where all members are meant, a missing one's copy is a dead
// letter. Without anybody there m is a dead letter and the error is
// actor.ErrStopped; see actor.Ref for the others.
func (g *Group[T]) Tell(ctx context.Context, m T) error {
	sender, mt := originOf(ctx)
	return g.tell(ctx, envelope[T]{msg: m, sender: sender, meta: mt})
}

func (g *Group[T]) tell(ctx context.Context, env envelope[T]) error {
	d := env.meta.track()
	d.Join()
	f := g.fan.Load()
	_, err := f.tell(ctx, env)
	if err == nil {
		return nil
	}
	defer d.Done(nil)
	if errors.Is(err, actor.ErrStopped) {
		return (&PID[T]{sys: g.sys, path: f.path}).missing(env, err)
	}
	return fmt.Errorf("tell %s: %w", f.path, err)
}

// Offer is Tell, but only when that discards nothing; see actor.Offerer.
func (g *Group[T]) Offer(ctx context.Context, m T) actor.OfferResult {
	sender, mt := originOf(ctx)
	d := mt.track()
	d.Join()
	_, res := g.fan.Load().offer(ctx, envelope[T]{msg: m, sender: sender, meta: mt})
	if res != actor.Accepted {
		d.Done(nil)
	}
	return res
}

// Ask tells m and waits for the first answer; see actor.Asker.
func (g *Group[T]) Ask(ctx context.Context, m T) (zero T, err error) {
	f := newFuture[T](g.sys)
	defer f.over()
	_, mt := originOf(ctx)
	if err := g.tell(ctx, envelope[T]{msg: m, sender: f, meta: mt}); err != nil {
		return zero, fmt.Errorf("ask %s: %w", g.Path(), cause(err))
	}
	return f.wait(ctx, g.Path())
}
