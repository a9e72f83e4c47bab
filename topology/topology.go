package topology

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime"
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
	Resume    bool                        // start with the last good revision when the file is wrong
}

// Topology is a running system that follows its file. Its methods are safe for
// concurrent use; reloads happen one after the other.
type Topology struct {
	src     Source
	options Options
	log     *slog.Logger
	sys     *runtime.System
	state   *State
	trigger chan Request // capacity 1: a reload that is due
	events  subscriptions
	links   links
	watched atomic.Pointer[trial] // that hears of what happens; nil outside probations
	wg      sync.WaitGroup        // of probations

	mu         sync.Mutex     // serialises reloads; guards what follows
	watcher    *watch.Watcher // nil while reload.watch is off
	files      []string       // that are watched
	number     uint64         // given last
	revision   uint64         // in force
	current    *Revision
	goodNumber uint64
	good       *Revision // the last one that passed its probation
	trial      *trial    // the probation that is under way, or nil
	history    history
	rejected   string // text of the last rejection, so that polling repeats none
	failed     string // hash of what failed its probation, so that touching the file does not try it again
	stopped    bool

	ending sync.Mutex // serialises Stop; guards closed
	closed bool
}

// Start loads the configuration and runs it. The error holds every mistake of
// the file (hocon.Errors), or says which part did not start; then nothing runs.
// With Resume a wrong file is logged, and the last good revision runs until the
// file is right.
func Start(ctx context.Context, src Source, o Options) (*Topology, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	t := &Topology{src: src, options: o, log: o.Log, trigger: make(chan Request, 1)}
	first, err := t.first(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.open(first); err != nil {
		return nil, errors.Join(err, first.Close(context.WithoutCancel(ctx)))
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
		t.log.Warn("runs without a state directory: plan cannot see what is applied, and rollback only what this run has seen", "err", err)
	}
	t.remember(dir)
	s := first.Spec
	t.sys = runtime.New(s.Name, runtime.WithLogger(t.log))
	t.events.attach(t.sys)
	t.sys.Subscribe(t.observe)
	t.sys.HoldFailed(t.hold)
	if t.options.Attach != nil {
		t.options.Attach(t.sys)
	}
	t.files = watched(first)
	if !slices.Contains(t.files, absolute(t.src.File)) {
		t.files = append(t.files, t.src.File) // it runs from its history
	}
	return errors.Join(t.configure(s), t.onShutdown())
}

// configure takes over the settings of the system as a whole.
func (t *Topology) configure(s *spec.System) error {
	if err := settle(t.sys, s); err != nil {
		return err
	}
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
		t.Trigger(Request{By: byFile}) // what changed since the load is the watcher's first state
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
	begun := time.Now()
	tx := t.transaction(nil, first, plan.Diff(nil, first.Spec))
	if err := tx.apply(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	t.commit(first)
	t.pass()
	r := Result{Outcome: Applied, Revision: t.revision, Hash: first.Spec.Hash, By: "start", At: begun, Took: time.Since(begun), Actions: tx.actions}
	t.note(Request{By: r.By}, r)
	return nil
}

// abandon undoes a start that failed.
func (t *Topology) abandon(first *Revision) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	t.sys.SetDrainTimeout(0)
	err := errors.Join(t.sys.Shutdown(ctx), first.Close(ctx), t.state.Close())
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

// Trigger asks for a reload and does not wait for it. Requests that come before
// it begins are one; a forced one wins.
func (t *Topology) Trigger(q Request) {
	for {
		select {
		case t.trigger <- q:
			return
		default:
		}
		select {
		case waiting := <-t.trigger:
			if waiting.Force {
				q = waiting
			}
		default:
		}
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
			t.Do(ctx, Request{By: byFile})
		case q := <-t.trigger:
			t.Do(ctx, q)
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
