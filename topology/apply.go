package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// errGoingBack says that a step could not be undone.
var errGoingBack = errors.New("going back was not complete")

// diff is the plan from one revision to the next. A plugin whose program file
// changed is swapped though its configuration is the same.
func diff(old, next *Revision) plan.Plan {
	p := plan.Diff(old.Spec, next.Spec)
	for _, n := range next.Spec.Plugins {
		o := old.plugins[n.Name]
		if o == nil || o.spec.Hash != n.Hash || o.program == next.plugins[n.Name].program {
			continue
		}
		at := slices.IndexFunc(p.Steps, func(s plan.Step) bool {
			return s.Kind != plan.Configure && (s.Kind != plan.Stop || s.Bridge.Old == nil)
		})
		if at < 0 {
			at = len(p.Steps)
		}
		p.Steps = slices.Insert(p.Steps, at, plan.Step{
			Kind: plan.Swap, Plugin: plan.Change[spec.Plugin]{Old: o.spec, New: n},
			Reasons: []plan.Reason{{Key: "program " + n.Command[0], From: "changed", To: "changed"}},
		})
	}
	return p
}

// undo takes back what a step did.
type undo func(context.Context) error

// transaction carries a plan out and knows the way back.
type transaction struct {
	crew
	top       *Topology
	old, next *Revision // old is nil at the start
	plan      plan.Plan
	back      []undo
}

// apply carries p out. When a step fails, those before it are undone; the error
// is errGoingBack as well when that fails too.
func (t *Topology) apply(ctx context.Context, old, next *Revision, p plan.Plan) error {
	tx := &transaction{crew: crew{t.sys}, top: t, old: old, next: next, plan: p}
	steps := p.Steps
	for len(steps) > 0 {
		n := 1
		for isActorStart(steps[0]) && n < len(steps) && isActorStart(steps[n]) {
			n++ // actors that come are started together
		}
		if err := tx.do(ctx, steps[:n]); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", steps[0], err), tx.goBack(ctx))
		}
		steps = steps[n:]
	}
	return nil
}

func isActorStart(s plan.Step) bool { return s.Kind == plan.Start && s.Actor.New != nil }

// goBack undoes the steps that were done, the last one first. It may take as
// long as it needs: half a way back would be worse.
func (tx *transaction) goBack(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, u := range slices.Backward(tx.back) {
		errs = append(errs, u(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", errGoingBack, err)
	}
	return nil
}

func (tx *transaction) undoWith(u undo) { tx.back = append(tx.back, u) }

// do carries out one step, or several starts of actors.
func (tx *transaction) do(ctx context.Context, steps []plan.Step) error {
	s := steps[0]
	if s.Topic.Old != nil || s.Topic.New != nil {
		return tx.topic(s.Topic)
	}
	switch s.Kind {
	case plan.Configure:
		tx.undoWith(func(context.Context) error { return tx.top.configure(tx.old.Spec) })
		return tx.top.configure(tx.next.Spec)
	case plan.Subscribe:
		tx.subscribe()
		return nil
	case plan.Start:
		return tx.begin(ctx, steps)
	case plan.Swap:
		return tx.swapPlugin(ctx, s.Plugin.New.Name)
	case plan.Open, plan.Close, plan.Process:
		return nil // opened by Load, closed after the commit; or only reported
	}
	old, next := tx.units(s)
	return tx.change(ctx, s, old, next)
}

func (tx *transaction) subscribe() {
	if tx.old != nil {
		tx.undoWith(func(context.Context) error {
			tx.top.events.set(tx.old.Spec.Subscriptions)
			return nil
		})
	}
	tx.top.events.set(tx.next.Spec.Subscriptions)
}

// begin starts what comes.
func (tx *transaction) begin(ctx context.Context, steps []plan.Step) error {
	units := make([]unit, len(steps))
	for i, s := range steps {
		_, units[i] = tx.units(s)
	}
	if err := tx.start(ctx, units...); err != nil {
		return err
	}
	tx.undoWith(func(ctx context.Context) error {
		var errs []error
		for _, u := range slices.Backward(units) {
			errs = append(errs, tx.stopNow(ctx, u.path))
		}
		return errors.Join(errs...)
	})
	return nil
}

// change does what concerns one actor or bridge that is there already.
func (tx *transaction) change(ctx context.Context, s plan.Step, old, next unit) (err error) {
	var back undo
	switch s.Kind {
	case plan.Stop:
		back = func(ctx context.Context) error { return tx.start(ctx, old) }
		err = tx.stop(ctx, old.path)
	case plan.Replace:
		back = func(ctx context.Context) error { return tx.replace(ctx, next, old) }
		err = tx.replace(ctx, old, next)
	case plan.Update:
		back = func(ctx context.Context) error { return tx.update(ctx, old) }
		err = tx.update(ctx, next)
	default: // Reconfigure, Rewire, Reconnect
		back = func(ctx context.Context) error { return tx.swap(ctx, old) }
		err = tx.swap(ctx, next)
	}
	if err == nil {
		tx.undoWith(back)
	}
	return err
}

// units are the engine's forms of what a step is about.
func (tx *transaction) units(s plan.Step) (old, next unit) {
	if a := s.Actor.Old; a != nil {
		old = actorUnit(a)
	}
	if a := s.Actor.New; a != nil {
		next = actorUnit(a)
		if tx.swapped(a.Behaviour) {
			old.prepared.Reconfigure, next.prepared.Reconfigure = nil, nil // another process has it
		}
	}
	if b := s.Bridge.Old; b != nil {
		old = bridgeUnit(b)
	}
	if b := s.Bridge.New; b != nil {
		next = bridgeUnit(b)
	}
	return old, next
}

// swapped reports whether a behaviour comes from a plugin that is swapped.
func (tx *transaction) swapped(behaviour string) bool {
	name, _, ok := strings.Cut(behaviour, "/")
	return ok && slices.ContainsFunc(tx.plan.Steps, func(s plan.Step) bool {
		return s.Kind == plan.Swap && s.Plugin.New.Name == name
	})
}

// swapPlugin moves the actors of a plugin to its new process, one by one, with
// their state. Those that the plan changes anyway are moved by that.
func (tx *transaction) swapPlugin(ctx context.Context, name string) error {
	old := map[string]*spec.Actor{}
	for a := range tx.old.Spec.All() {
		old[string(a.Path)] = a
	}
	for a := range tx.next.Spec.All() {
		was := old[string(a.Path)]
		if was == nil || was.Behaviour != a.Behaviour || !strings.HasPrefix(a.Behaviour, name+"/") || tx.changes(a) {
			continue
		}
		s := plan.Step{Kind: plan.Reconfigure, Path: a.Path, Actor: plan.Change[spec.Actor]{Old: was, New: a}}
		o, n := tx.units(s)
		if err := tx.change(ctx, s, o, n); err != nil {
			return fmt.Errorf("%s: %w", a.Path, err)
		}
	}
	return nil
}

// changes reports whether the plan gives a a new instance by a step of its own.
func (tx *transaction) changes(a *spec.Actor) bool {
	return slices.ContainsFunc(tx.plan.Steps, func(s plan.Step) bool {
		return s.Actor.New != nil && (s.Kind == plan.Reconfigure && s.Path == a.Path || s.Kind == plan.Replace && a.Path.Under(s.Path))
	})
}
