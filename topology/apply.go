package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// errGoingBack says that a step could not be undone.
var errGoingBack = errors.New("going back was not complete")

// diff is the plan from one revision to the next. A plugin whose program file
// changed is swapped though its configuration is the same.
func diff(old, next *Revision) plan.Plan { return diffMoved(old, next, nil) }

// diffMoved is diff with a word on renames; see plan.Between.
func diffMoved(old, next *Revision, moved map[actor.Path]actor.Path) plan.Plan {
	p := plan.Between(old.Spec, next.Spec, moved)
	for _, n := range next.Spec.Plugins {
		o := old.plugins[n.Name]
		if o == nil || o.spec.Hash != n.Hash || o.program == next.plugins[n.Name].program {
			continue
		}
		p.Steps = slices.Insert(p.Steps, beforeActors(p), plan.Step{
			Kind: plan.Swap, Plugin: plan.Change[spec.Plugin]{Old: o.spec, New: n},
			Reasons: []plan.Reason{{Key: "program " + n.Command[0], From: "changed", To: "changed"}},
		})
	}
	return p
}

// beforeActors is where a plan begins to be about actors.
func beforeActors(p plan.Plan) int {
	at := slices.IndexFunc(p.Steps, func(s plan.Step) bool {
		return s.Kind != plan.Configure && (s.Kind != plan.Stop || s.Bridge.Old == nil)
	})
	if at < 0 {
		return len(p.Steps)
	}
	return at
}

// withEnded adds starts for actors that should run and have ended, since
// supervision gave them up. Only a reload that somebody asked for does so: whoever
// asks has seen to the cause.
func (t *Topology) withEnded(p plan.Plan, next *Revision) plan.Plan {
	var starts []plan.Step
	var look func([]*spec.Actor)
	look = func(actors []*spec.Actor) {
		for _, a := range actors {
			switch _, runs := t.sys.Find(a.Path); {
			case slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Actor.New != nil && a.Path.Under(s.Path) }):
			case runs:
				look(a.Children)
			default:
				starts = append(starts, plan.Step{Kind: plan.Start, Path: a.Path, Actor: plan.Change[spec.Actor]{New: a}})
			}
		}
	}
	look(next.Spec.Actors)
	p.Steps = slices.Insert(p.Steps, beforeActors(p), starts...)
	p.Unchanged -= len(starts)
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
	undos     []undo
	after     []func() // what is done when the steps are through, or were undone
	actions   []Action
	trial     *trial // remembers the states that are handed over; nil: nobody does
	back      *trial // that has failed: its states are handed back; nil: this is no way back
}

func (t *Topology) transaction(old, next *Revision, p plan.Plan) *transaction {
	return &transaction{crew: crew{t.sys}, top: t, old: old, next: next, plan: p}
}

// apply carries the plan out. When a step fails, those before it are undone; the
// error is errGoingBack as well when that fails too.
func (tx *transaction) apply(ctx context.Context) error {
	defer func() {
		for _, f := range tx.after {
			f()
		}
	}()
	steps := tx.plan.Steps
	for len(steps) > 0 {
		n := 1
		for isActorStart(steps[0]) && n < len(steps) && isActorStart(steps[n]) {
			n++ // actors that come are started together
		}
		begun, first := time.Now(), len(tx.actions)
		for _, s := range steps[:n] {
			tx.actions = append(tx.actions, Action{Step: s.String(), Path: s.Path})
		}
		err := tx.do(ctx, steps[:n])
		for i := range tx.actions[first:] {
			tx.actions[first+i].Took = time.Since(begun)
		}
		if err != nil {
			if _, placed := errors.AsType[hocon.Errors](err); !placed {
				err = fmt.Errorf("%s: %w", steps[0], err)
			}
			return errors.Join(err, tx.goBack(ctx))
		}
		steps = steps[n:]
	}
	return nil
}

// action is the step that is being done.
func (tx *transaction) action() *Action { return &tx.actions[len(tx.actions)-1] }

func isActorStart(s plan.Step) bool { return s.Kind == plan.Start && s.Actor.New != nil }

// goBack undoes the steps that were done, the last one first. It has time of its
// own: half a way back would be worse.
func (tx *transaction) goBack(ctx context.Context) error {
	ctx, cancel := tx.top.patient(ctx)
	defer cancel()
	var errs []error
	for _, u := range slices.Backward(tx.undos) {
		errs = append(errs, u(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", errGoingBack, err)
	}
	return nil
}

func (tx *transaction) undoWith(u undo) { tx.undos = append(tx.undos, u) }

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
	case plan.Rename:
		return tx.rename(ctx, s)
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
	return tx.beginUnits(ctx, units)
}

func (tx *transaction) beginUnits(ctx context.Context, units []unit) error {
	if err := tx.start(ctx, units...); err != nil {
		return tx.next.placed(err)
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

// change does what concerns one actor or bridge that is there already. A step
// that ended halfway counts as done when the way back is computed: what it was to
// replace is gone.
func (tx *transaction) change(ctx context.Context, s plan.Step, old, next unit) (err error) {
	switch s.Kind {
	case plan.Stop:
		tx.undoWith(func(ctx context.Context) error { return tx.ensure(ctx, old) })
		return tx.remove(ctx, old)
	case plan.Replace:
		if s.Actor.New != nil && tx.sameAddress(s.Actor.Old, s.Actor.New) {
			return tx.remake(ctx, s.Actor.Old, s.Actor.New)
		}
		tx.undoWith(func(ctx context.Context) error { return tx.ensure(ctx, old) })
		return tx.replace(ctx, old, next)
	case plan.Update:
		if err = tx.update(ctx, next); err == nil {
			tx.undoWith(func(ctx context.Context) error { return tx.update(ctx, old) })
		}
		return err
	}
	return tx.handOver(ctx, old, next, false) // Reconfigure, Rewire, Reconnect
}

// remove ends what is deleted, and counts what it leaves behind.
func (tx *transaction) remove(ctx context.Context, u unit) error {
	tx.top.links.set(u.path, true)
	a, ok := tx.sys.Find(u.path)
	if !ok {
		return nil // it ended by itself, or supervision ended it
	}
	left, err := a.Remove(ctx, fmt.Sprintf("%s in revision %d", actor.ReasonRemoved, tx.top.number+1))
	tx.action().Left = left
	return err
}

// handOver gives an actor another behaviour and remembers the state that the old
// one had. On the way back from a failed probation the state is that of the
// running instance if the old behaviour takes it, else that of the commit; the
// latter alone when the actor failed meanwhile, since a restart has lost the rest.
func (tx *transaction) handOver(ctx context.Context, old, next unit, fresh bool) error {
	h := hand{fresh: fresh}
	if tx.back != nil {
		h = tx.back.hand(tx.sys, next.path)
	}
	handed, err := tx.swap(ctx, next, h)
	switch {
	case errors.Is(err, runtime.ErrUnderway):
		tx.undoWith(func(ctx context.Context) error { return tx.ensure(ctx, old) })
		return err
	case err != nil:
		return err
	}
	tx.noteHand(h, handed)
	if w := tx.remembered(next.path); w != nil && w.state == nil {
		w.state = handed.State
	}
	tx.undoWith(func(ctx context.Context) error {
		h := hand{reserve: handed.State, release: true}
		if fresh {
			h.state = handed.State // the running one is of another kind
		}
		_, err := tx.swap(ctx, old, h)
		return err
	})
	return nil
}

func (tx *transaction) noteHand(h hand, handed runtime.Handed) {
	switch {
	case handed.Lost != nil:
		tx.action().Note = fmt.Sprintf("it has the state of the reload: %v", handed.Lost)
	case h.state != nil:
		tx.action().Note = "it has the state of the reload, since it failed afterwards"
	}
}

// remembered is where the trial that is armed keeps the state of an actor.
func (tx *transaction) remembered(p actor.Path) *touched {
	if tx.trial == nil {
		return nil
	}
	return tx.trial.touched[p]
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
