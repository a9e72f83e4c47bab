package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// moved is an actor on its way from one path to another, or, without an old one,
// one that comes with those around it.
type moved struct {
	old, next *spec.Actor
	paused    *runtime.Paused
	actor     *runtime.Actor // the new one
}

// rename moves an actor with all below it to another path. The new ones are
// started beside the old ones, which are paused; only when all of them run are the
// mailboxes moved, which cannot fail. Senders to the old paths reach the new ones
// until the transaction is through.
func (tx *transaction) rename(ctx context.Context, s plan.Step) error {
	all, gone := pair(s.Actor.Old, s.Actor.New)
	if err := tx.pauseAll(ctx, all); err != nil {
		return err
	}
	if err := tx.startMoved(ctx, all); err != nil {
		return errors.Join(err, tx.resumeAll(ctx, all))
	}
	tx.undoWith(func(ctx context.Context) error {
		return tx.rename(ctx, plan.Step{Kind: plan.Rename, Path: s.Actor.Old.Path, Actor: plan.Change[spec.Actor]{Old: s.Actor.New, New: s.Actor.Old}})
	})
	for _, m := range all {
		if m.paused == nil {
			continue
		}
		if err := m.paused.MoveTo(m.actor); err != nil {
			return err
		}
		tx.after = append(tx.after, func() { tx.sys.Forget(m.old.Path) })
	}
	for _, a := range gone {
		if err := tx.remove(ctx, actorUnit(a)); err != nil {
			return err
		}
	}
	return tx.endOld(ctx, all)
}

// pair puts those together that are the same actor before and after, parents
// first. Gone are the old ones below that have no counterpart.
func pair(old, next *spec.Actor) (all []*moved, gone []*spec.Actor) {
	all = []*moved{{old: old, next: next}}
	rest := slices.Clone(old.Children)
	for _, n := range next.Children {
		i := slices.IndexFunc(rest, func(o *spec.Actor) bool {
			same := o.Path.Name() == n.Path.Name() || o.Path == n.Was || n.Path == o.Was
			return same && o.Behaviour == n.Behaviour
		})
		if i < 0 {
			for a := range n.All() {
				all = append(all, &moved{next: a})
			}
			continue
		}
		below, more := pair(rest[i], n)
		all, gone = append(all, below...), append(gone, more...)
		rest = slices.Delete(rest, i, i+1)
	}
	return all, append(gone, rest...)
}

func (tx *transaction) pauseAll(ctx context.Context, all []*moved) (err error) {
	for _, m := range all {
		if m.old == nil {
			continue
		}
		a, ok := tx.sys.Find(m.old.Path)
		if !ok {
			continue // it ended by itself, or supervision ended it
		}
		if m.paused, err = a.Pause(ctx); err != nil {
			return errors.Join(fmt.Errorf("%w (without `was` it is stopped and started instead)", err), tx.resumeAll(ctx, all))
		}
	}
	return nil
}

func (tx *transaction) resumeAll(ctx context.Context, all []*moved) error {
	ctx, cancel := tx.top.patient(ctx)
	defer cancel()
	var errs []error
	for _, m := range all {
		if m.paused != nil {
			errs = append(errs, m.paused.Resume(ctx))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", errGoingBack, err)
	}
	return nil
}

// startMoved starts the new ones with the states of the old ones.
func (tx *transaction) startMoved(ctx context.Context, all []*moved) (err error) {
	for i, m := range all {
		u := actorUnit(m.next)
		if m.paused != nil {
			u.spec.Frozen = true
			u.spec.New = restoring(u.spec.New, m.paused.State())
		}
		if m.actor, err = tx.sys.SpawnActor(u.path.Parent(), u.spec); err == nil {
			err = m.actor.Started(ctx)
		}
		if err != nil {
			var begun []*runtime.Actor
			for _, m := range all[:i+1] {
				if m.actor != nil {
					begun = append(begun, m.actor)
				}
			}
			return errors.Join(fmt.Errorf("%s: %w", u.path, err), tx.abandon(ctx, begun))
		}
	}
	return nil
}

// endOld ends the old actors, which are empty.
func (tx *transaction) endOld(ctx context.Context, all []*moved) error {
	var errs []error
	for _, m := range slices.Backward(all) {
		if m.paused != nil {
			errs = append(errs, m.paused.End(ctx))
		}
	}
	return errors.Join(errs...)
}
