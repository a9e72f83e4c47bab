package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// unit is a declared actor or bridge as the engine needs it.
type unit struct {
	path     actor.Path
	spec     runtime.Spec
	prepared actor.Prepared
	order    int
	children []unit
}

var onFull = map[string]runtime.OnFull{
	"dead-letter": runtime.DeadLetter, "drop": runtime.Drop, "retry": runtime.Retry, "block": runtime.BlockOnFull,
}

func actorUnit(a *spec.Actor) unit {
	u := unit{
		path: a.Path, prepared: a.Prepared, order: a.StartOrder,
		spec: runtime.Spec{
			Name: a.Path.Name(), Behaviour: a.Behaviour, New: a.Prepared.New,
			Priority: runtime.Ranker(a.Rank),
			Pool:     poolOf(a.Pool), Dispatcher: a.Dispatcher,
			Settings: runtime.Settings{
				Mailbox: a.Mailbox, Supervision: &a.Supervision, ChildSupervision: &a.ChildSupervision,
				StopTimeout: a.StopTimeout, HandlerWarn: a.HandlerWarn, OnFull: onFull[a.OnFull],
				StashCapacity: a.StashCapacity, Routine: routineOf(a.Routine),
			},
		},
	}
	for _, c := range a.Children {
		u.children = append(u.children, actorUnit(c))
	}
	return u
}

func bridgeUnit(b *spec.Bridge) unit {
	return unit{
		path: b.Path, prepared: b.Prepared,
		spec: runtime.Spec{Name: b.Path.Name(), Behaviour: b.Type, New: b.Prepared.New, Settings: runtime.DefaultSettings()},
	}
}

// crew does the single steps on the engine.
type crew struct{ sys *runtime.System }

// start spawns the units with all below them and waits until each has started.
// Everything gets its mailbox before anything is waited for, so that actors may
// talk to each other from their first moment; units with a higher start order
// follow when those before them run. When one does not start, all are stopped
// again.
func (c crew) start(ctx context.Context, units ...unit) error {
	var begun []*runtime.Actor
	for len(units) > 0 {
		n := 1
		for n < len(units) && units[n].order == units[0].order {
			n++
		}
		group, err := c.startGroup(ctx, units[:n])
		begun = append(begun, group...)
		if err != nil {
			return errors.Join(err, c.abandon(ctx, begun))
		}
		units = units[n:]
	}
	return nil
}

// graceOfAbandon is how long actors that did not start may take to end.
const graceOfAbandon = 5 * time.Second

// abandon ends what was begun in vain, though the time for that may be over.
func (c crew) abandon(ctx context.Context, begun []*runtime.Actor) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceOfAbandon)
	defer cancel()
	var errs []error
	for _, a := range slices.Backward(begun) {
		errs = append(errs, a.StopNow(ctx))
	}
	return errors.Join(errs...)
}

func (c crew) startGroup(ctx context.Context, units []unit) (tops []*runtime.Actor, err error) {
	var all []*runtime.Actor
	for _, u := range units {
		spawned, err := c.spawn(u)
		if len(spawned) > 0 {
			tops = append(tops, spawned[0])
		}
		all = append(all, spawned...)
		if err != nil {
			return tops, err
		}
	}
	var errs []error
	for _, a := range all {
		if err := a.Started(ctx); err != nil {
			errs = append(errs, &startError{a.Path(), err})
		}
	}
	return tops, errors.Join(errs...)
}

// spawn makes the actors of u, each before those below it.
func (c crew) spawn(u unit) ([]*runtime.Actor, error) {
	a, err := c.sys.SpawnActor(u.path.Parent(), u.spec)
	if err != nil {
		return nil, err
	}
	all := []*runtime.Actor{a}
	for _, child := range u.children {
		below, err := c.spawn(child)
		all = append(all, below...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// stop ends the actor at p with all below it, after it has worked off its queue
// or its stop-timeout is over.
func (c crew) stop(ctx context.Context, p actor.Path) error {
	a, ok := c.sys.Find(p)
	if !ok {
		return nil // it ended by itself, or supervision ended it
	}
	return a.Stop(ctx)
}

func (c crew) stopNow(ctx context.Context, p actor.Path) error {
	a, ok := c.sys.Find(p)
	if !ok {
		return nil
	}
	return a.StopNow(ctx)
}

// update gives the running actor the live settings of u. An actor that
// supervision has ended is started again.
func (c crew) update(ctx context.Context, u unit) error {
	a, ok := c.sys.Find(u.path)
	if !ok {
		return c.start(ctx, u)
	}
	if err := a.Update(u.spec.Settings, u.spec.Priority); err != nil {
		return err
	}
	return a.Resize(ctx, u.spec.Pool)
}

// hand says with what state an actor goes on.
type hand struct {
	state   *actor.State // nil: what the running instance has
	reserve *actor.State // when the new behaviour refuses the other
	release bool         // it may be held after a failure
	fresh   bool         // without a state, unless there is one above
}

// swap gives the running actor the behaviour of u. An actor that supervision has
// ended is started again.
func (c crew) swap(ctx context.Context, u unit, h hand) (runtime.Handed, error) {
	a, ok := c.sys.Find(u.path)
	if !ok {
		state := h.state
		if state == nil {
			state = h.reserve
		}
		u.spec.New = restoring(u.spec.New, state)
		return runtime.Handed{}, c.start(ctx, u)
	}
	return a.HandOver(ctx, runtime.Handover{
		New: u.prepared.New, Reconfigure: u.prepared.Reconfigure,
		State: h.state, Reserve: h.reserve, Release: h.release,
		Fresh: h.fresh, Behaviour: u.spec.Behaviour,
	})
}

// restoring gives a state to the first instance that is made; one that takes none
// starts without it.
func restoring(produce actor.Producer, state *actor.State) actor.Producer {
	if state == nil {
		return produce
	}
	var once atomic.Bool
	return func() (actor.Behaviour, error) {
		b, err := produce()
		if s, ok := b.(actor.Snapshotter); err == nil && ok && once.CompareAndSwap(false, true) {
			if err := s.Restore(*state); err != nil {
				return nil, fmt.Errorf("restore state version %d: %w", state.Version, err)
			}
		}
		return b, err
	}
}

// replace ends the actor and starts u in its place.
func (c crew) replace(ctx context.Context, old, u unit) error {
	if err := c.stop(ctx, old.path); err != nil {
		return err
	}
	return c.start(ctx, u)
}

// ensure makes u what runs at its path: what is there, or is still ending there,
// is ended before.
func (c crew) ensure(ctx context.Context, u unit) error {
	if err := c.stopNow(ctx, u.path); err != nil {
		return err
	}
	return c.start(ctx, u)
}
