package topology

import (
	"context"
	"slices"

	"github.com/actord/actord/topology/spec"
)

// sameAddress reports whether an actor can be replaced behind its address, so that
// its mailbox outlives its behaviour. A pool has more than one mailbox; what has
// ended has none; and a dispatcher is for life.
func (tx *transaction) sameAddress(old, next *spec.Actor) bool {
	o, n := actorUnit(old), actorUnit(next)
	return tx.runs(o) && o.spec.Pool == nil && n.spec.Pool == nil && dispatcherOf(old) == dispatcherOf(next)
}

func dispatcherOf(a *spec.Actor) string {
	for _, s := range a.Settings {
		if s.Key == "dispatcher" {
			return s.Text
		}
	}
	return ""
}

// remake replaces an actor: it gets a new behaviour without the state of the old
// one, behind the same address and with what waits in its mailbox. Below it, what
// is the same stays, what has changed is changed, and the rest comes and goes.
func (tx *transaction) remake(ctx context.Context, old, next *spec.Actor) error {
	o, n := actorUnit(old), actorUnit(next)
	o.prepared.Reconfigure, n.prepared.Reconfigure = nil, nil // another behaviour would not know it
	o.children, n.children = nil, nil
	if err := tx.handOver(ctx, o, n, true); err != nil {
		return err
	}
	if err := tx.update(ctx, n); err != nil {
		return err
	}
	tx.undoWith(func(ctx context.Context) error { return tx.update(ctx, o) })
	return tx.remakeBelow(ctx, old, next)
}

func (tx *transaction) remakeBelow(ctx context.Context, old, next *spec.Actor) error {
	rest := slices.Clone(old.Children)
	for _, n := range next.Children {
		i := slices.IndexFunc(rest, func(o *spec.Actor) bool { return o.Path == n.Path })
		if i < 0 {
			if err := tx.beginUnits(ctx, []unit{actorUnit(n)}); err != nil {
				return err
			}
			continue
		}
		o := rest[i]
		rest = slices.Delete(rest, i, i+1)
		if err := tx.remakeChild(ctx, o, n); err != nil {
			return err
		}
	}
	for _, o := range slices.Backward(rest) {
		u := actorUnit(o)
		tx.undoWith(func(ctx context.Context) error { return tx.ensure(ctx, u) })
		if err := tx.remove(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

func (tx *transaction) remakeChild(ctx context.Context, old, next *spec.Actor) error {
	o, n := actorUnit(old), actorUnit(next)
	switch {
	case old.Hash == next.Hash && tx.runs(o):
		return nil
	case !tx.sameAddress(old, next):
		tx.undoWith(func(ctx context.Context) error { return tx.ensure(ctx, o) })
		return tx.replace(ctx, o, n)
	}
	return tx.remake(ctx, old, next)
}

func (tx *transaction) runs(u unit) bool {
	_, there := tx.sys.Find(u.path)
	return there
}
