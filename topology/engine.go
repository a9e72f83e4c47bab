package topology

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/phase"
	"github.com/actord/actord/topology/spec"
)

// letterStorage are the engine's words for dead-letters.store.
var letterStorage = map[string]runtime.LetterStorage{
	"off": runtime.LettersOff, "metrics": runtime.LettersCounted, "memory": runtime.LettersKept,
}

// settle gives the engine the settings of the system as a whole.
func settle(sys *runtime.System, s *spec.System) error {
	sys.SetDrainTimeout(s.DrainTimeout)
	sys.SetRootFailure(rootFailure(s.RootFailure))
	sys.DeadLetters().Configure(runtime.DeadLetterSettings{
		Store: letterStorage[s.DeadLetters.Store], MaxEntries: s.DeadLetters.MaxEntries, Retention: s.DeadLetters.Retention,
		MaxReplays: s.DeadLetters.MaxReplays, IncludeDrops: s.DeadLetters.IncludeDrops,
	})
	all := make(map[string]runtime.DispatcherSettings, len(s.Dispatchers))
	for name, d := range s.Dispatchers {
		all[name] = runtime.DispatcherSettings{Throughput: d.Throughput, TimeSlice: d.TimeSlice, Threads: d.Threads}
	}
	return errors.Join(sys.SetShutdown(s.Shutdown), sys.SetDispatchers(all))
}

// onShutdown makes the topology's own parts end in their phases: no reloads any
// more, then what listens, then the other bridges. The actors are the engine's.
func (t *Topology) onShutdown() error {
	var errs []error
	on := func(in, name string, task runtime.Task) {
		_, err := t.sys.OnShutdown(in, name, task)
		errs = append(errs, err)
	}
	on(phase.BeforeServiceUnbind, "reloads", func(context.Context) error { return t.settled() })
	on(phase.ServiceUnbind, "listeners", func(ctx context.Context) error {
		return t.stopBridges(ctx, func(b *spec.Bridge) bool { return b.Listens })
	})
	on(phase.ServiceStop, "bridges", func(ctx context.Context) error {
		return t.stopBridges(ctx, func(*spec.Bridge) bool { return true })
	})
	return errors.Join(errs...)
}

// settled ends what changes the system. Calling it again does nothing.
func (t *Topology) settled() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return nil
	}
	if t.stopped = true; t.trial != nil {
		close(t.trial.stop)
		t.trial.release(t.sys)
		t.trial = nil
	}
	t.watched.Store(nil)
	if t.watcher != nil {
		return t.watcher.Close()
	}
	return nil
}

// stopBridges stops bridges beside each other.
func (t *Topology) stopBridges(ctx context.Context, which func(*spec.Bridge) bool) error {
	current, _ := t.Current()
	if current == nil {
		return nil // the start failed
	}
	var wg sync.WaitGroup
	errs := make([]error, len(current.Spec.Bridges))
	for i, b := range current.Spec.Bridges {
		if which(b) {
			wg.Go(func() { errs[i] = crew{t.sys}.stop(ctx, b.Path) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Stop ends the system in order: first what brings messages in, then the actors
// when they have worked off what they have, then the plugins. Calling it again waits
// for the same end.
func (t *Topology) Stop(ctx context.Context) error {
	err := t.settled()
	t.wg.Wait() // without the lock, which a probation that ends now takes
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.closed {
		return err
	}
	t.closed = true
	errs := []error{err, t.sys.Shutdown(ctx), t.current.Close(ctx), t.state.Close()}
	if t.good != t.current {
		errs = append(errs, t.good.Close(ctx, t.current))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
