package topology

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
	"github.com/actord/actord/topology/watch"
)

// Options are what a Topology needs besides its source. The zero value works.
type Options struct {
	Log       *slog.Logger                // slog.Default when nil
	Configure func(*spec.System)          // takes over the settings that concern the process; may be nil
	Env       func(string) (string, bool) // for the state directory; os.LookupEnv when nil
	Attach    func(*runtime.System)       // called once with the new system, before anything is spawned; may be nil
}

// Outcome is how a reload ended.
type Outcome string

// The outcomes.
const (
	Applied    Outcome = "applied"
	Unchanged  Outcome = "unchanged"
	Rejected   Outcome = "rejected"    // the file is wrong; nothing was touched
	RolledBack Outcome = "rolled-back" // a step failed; what had been done was undone
	Degraded   Outcome = "degraded"    // a step failed, and so did undoing another
)

// Result is what a reload did.
type Result struct {
	Outcome  Outcome
	Revision uint64 // in force now
	Plan     plan.Plan
	Err      error
	Took     time.Duration
}

// Topology is a running system that follows its file. Its methods are safe for
// concurrent use; reloads happen one after the other.
type Topology struct {
	src     Source
	options Options
	log     *slog.Logger
	sys     *runtime.System
	state   *State
	trigger chan string // capacity 1: a reload that is due, with who asked
	events  subscriptions

	mu       sync.Mutex     // serialises reloads; guards what follows
	watcher  *watch.Watcher // nil while reload.watch is off
	files    []string       // that are watched
	revision uint64
	current  *Revision
	rejected string // text of the last rejection, so that polling repeats none
}

// Start loads the configuration and runs it. The error holds every mistake of
// the file (hocon.Errors), or says which part did not start; then nothing runs.
func Start(ctx context.Context, src Source, o Options) (*Topology, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	first, err := src.Load(ctx, nil)
	if err != nil {
		return nil, err
	}
	t := &Topology{src: src, options: o, log: o.Log, trigger: make(chan string, 1)}
	if err := t.open(first); err != nil {
		return nil, errors.Join(err, first.Close(context.WithoutCancel(ctx), nil))
	}
	if err := t.begin(ctx, first); err != nil {
		return nil, errors.Join(err, t.abandon(first))
	}
	return t, nil
}

// open makes what the system lives on: its engine, its state, its watcher.
func (t *Topology) open(first *Revision) error {
	dir, err := StateDir(first.Spec.StateDir, t.src.File, t.options.Env)
	if err == nil {
		t.state, err = OpenState(dir)
	}
	switch {
	case errors.Is(err, ErrRunning):
		return err
	case err != nil:
		t.log.Warn("runs without a state directory: plan cannot see what is applied", "err", err)
	}
	s := first.Spec
	t.sys = runtime.New(s.Name, runtime.WithLogger(t.log), runtime.WithDrainTimeout(s.DrainTimeout), runtime.WithRootFailure(rootFailure(s.RootFailure)))
	t.events.attach(t.sys)
	if t.options.Attach != nil {
		t.options.Attach(t.sys)
	}
	t.files = watched(first)
	return t.configure(s)
}

// configure takes over the settings of the system as a whole.
func (t *Topology) configure(s *spec.System) error {
	t.sys.SetDrainTimeout(s.DrainTimeout)
	t.sys.SetRootFailure(rootFailure(s.RootFailure))
	if t.options.Configure != nil {
		t.options.Configure(s)
	}
	switch {
	case t.watcher == nil && s.Reload.Watch:
		w, err := watch.New(t.files, watch.Options{Quiet: s.Reload.Quiet, Poll: s.Reload.Poll, Log: t.log})
		if err != nil {
			return fmt.Errorf("watch %s: %w", t.src.File, err)
		}
		t.watcher = w
		t.Trigger("start of watching") // what changed since the load is the watcher's first state
	case t.watcher != nil && !s.Reload.Watch:
		err := t.watcher.Close()
		t.watcher = nil
		return err
	case t.watcher != nil:
		t.watcher.Update(s.Reload.Quiet, s.Reload.Poll)
	}
	return nil
}

func (t *Topology) begin(ctx context.Context, first *Revision) error {
	if err := t.apply(ctx, nil, first, plan.Diff(nil, first.Spec)); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	t.commit(first)
	return nil
}

// abandon undoes a start that failed.
func (t *Topology) abandon(first *Revision) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	t.sys.SetDrainTimeout(0)
	err := errors.Join(t.sys.Shutdown(ctx), first.Close(ctx, nil), t.state.Close())
	if t.watcher != nil {
		err = errors.Join(err, t.watcher.Close())
	}
	return err
}

// System is the engine that runs.
func (t *Topology) System() *runtime.System { return t.sys }

// Current is the revision in force and its number.
func (t *Topology) Current() (*Revision, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current, t.revision
}

// Trigger asks for a reload on behalf of who. Requests that come before it
// begins are one.
func (t *Topology) Trigger(who string) {
	select {
	case t.trigger <- who:
	default:
	}
}

// Run reloads whenever the file changes or Trigger asks, until ctx ends.
func (t *Topology) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-t.changes():
			t.log.Debug("files changed", "files", c.Files)
			t.Reload(ctx, "file")
		case who := <-t.trigger:
			t.Reload(ctx, who)
		}
	}
}

// changes is where the watcher reports; nil while nothing is watched.
func (t *Topology) changes() <-chan watch.Change {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watcher == nil {
		return nil
	}
	return t.watcher.Changes()
}

// Reload loads the file again and applies what changed. It never ends what runs
// because of a mistake in the file.
func (t *Topology) Reload(ctx context.Context, who string) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.current.Spec.Reload.Deadline)
	defer cancel()
	r := t.reload(ctx)
	r.Revision, r.Took = t.revision, time.Since(begun)
	t.report(who, r)
	return r
}

func (t *Topology) reload(ctx context.Context) Result {
	next, err := t.src.Load(ctx, t.current)
	if next != nil {
		t.files = watched(next)
		if t.watcher != nil {
			t.watcher.Set(t.files)
		}
	}
	if err != nil {
		return Result{Outcome: Rejected, Err: err}
	}
	p := diff(t.current, next)
	if p.Empty() {
		return Result{Outcome: Unchanged, Err: next.Close(ctx, t.current)}
	}
	if err := t.apply(ctx, t.current, next, p); err != nil {
		outcome := RolledBack
		if errors.Is(err, errGoingBack) {
			outcome = Degraded
		}
		closing := next.Close(context.WithoutCancel(ctx), t.current)
		return Result{Outcome: outcome, Plan: p, Err: errors.Join(err, closing)}
	}
	old := t.current
	t.commit(next)
	return Result{Outcome: Applied, Plan: p, Err: old.Close(ctx, next)}
}

// commit makes a revision the one in force; its actors run already.
func (t *Topology) commit(r *Revision) {
	t.current, t.rejected = r, ""
	t.revision++
	if err := t.state.save(AppliedConfig{Revision: t.revision, Config: r.Tree.Root.JSON()}); err != nil {
		t.log.Warn("plan cannot see what is applied", "err", err)
	}
}

// Stop ends the system in order: first what brings messages in, then the actors
// when they have worked off what they have, then the plugins.
func (t *Topology) Stop(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	if t.watcher != nil {
		errs = append(errs, t.watcher.Close())
	}
	for _, b := range t.current.Spec.Bridges {
		errs = append(errs, crew{t.sys}.stop(ctx, b.Path))
	}
	errs = append(errs, t.sys.Shutdown(ctx), t.current.Close(ctx, nil), t.state.Close())
	return errors.Join(errs...)
}

func rootFailure(name string) runtime.RootFailure {
	if name == "stop-subtree" {
		return runtime.RootStopSubtree
	}
	return runtime.RootShutdown
}

// watched is every file whose change matters.
func watched(r *Revision) []string {
	files := append([]string(nil), r.Tree.Files...)
	files = append(files, r.Tree.Missing...)
	files = append(files, r.secrets...)
	return append(files, r.programs()...)
}

// report says in the log what a reload did, a line for each step.
func (t *Topology) report(who string, r Result) {
	log := t.log.With("by", who, "revision", r.Revision)
	switch r.Outcome {
	case Unchanged:
		log.Debug("reload: nothing changed")
	case Rejected:
		if text := hocon.Format(r.Err); text != t.rejected || who != "file" {
			t.rejected = text
			log.Error("reload rejected; nothing was touched", "err", "\n"+text)
		}
	case Applied:
		for _, s := range r.Plan.Steps {
			log.Info("reload: " + s.String())
		}
		log.Info("reload applied", "steps", len(r.Plan.Steps), "took", r.Took.Round(time.Microsecond))
	default:
		log.Error("reload failed; went back to the revision before", "outcome", string(r.Outcome), "err", r.Err)
	}
	t.sys.Publish(actor.Reloaded{Revision: r.Revision, Result: string(r.Outcome), Cause: r.Err})
}
