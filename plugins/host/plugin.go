package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Manifest is what a plugin offers.
type Manifest struct {
	Name, Version, SDK string
	Behaviours         []actor.Schema // called PLUGIN/BEHAVIOUR by the plugin's name in configuration
}

// Describe starts the plugin, reads its manifest and ends it. Nothing else
// happens; Lookup and Publish are not used.
func Describe(ctx context.Context, cfg Config) (Manifest, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return Manifest{}, err
	}
	p, err := startProcess(ctx, cfg)
	if err != nil {
		return Manifest{}, err
	}
	defer p.end(time.Second)
	return manifestOf(cfg, p)
}

func manifestOf(cfg Config, p *process) (Manifest, error) {
	s, err := schemas(cfg.Name, p.manifest)
	return Manifest{Name: p.manifest.Name, Version: p.manifest.Version, SDK: p.manifest.Sdk, Behaviours: s}, err
}

// Plugin is a plugin that runs: a process, started again when it dies. Its
// methods are safe for concurrent use. Two plugins of one name may run beside
// each other, so that actors move from one to the other one by one.
type Plugin struct {
	cfg      Config
	manifest Manifest
	stop     context.CancelFunc
	done     chan struct{} // closed when run has ended
	workers  sync.WaitGroup
	poison   suspects

	mu      sync.Mutex // guards what follows
	proc    *process   // nil while there is none
	live    *session   // of proc
	changed chan struct{}
	failed  error // why there will be none any more
	keeps   map[string]bool
}

// Open starts the plugin and returns when it has answered. ctx bounds the start
// alone. Errors name the program and what would help.
func Open(ctx context.Context, cfg Config) (*Plugin, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if cfg.Lookup == nil {
		return nil, fmt.Errorf("plugin %s: Config.Lookup is missing; give System.Lookup", cfg.Name)
	}
	proc, err := startProcess(ctx, cfg)
	if err != nil {
		return nil, err
	}
	p := &Plugin{cfg: cfg, done: make(chan struct{}), changed: make(chan struct{}), keeps: map[string]bool{}}
	if p.manifest, err = manifestOf(cfg, proc); err != nil {
		proc.end(time.Second)
		return nil, err
	}
	var runCtx context.Context
	runCtx, p.stop = context.WithCancel(context.Background())
	s := p.up(proc)
	go p.run(runCtx, proc, s) // done tells when it has ended; Close waits for it
	return p, nil
}

// Manifest returns what the plugin said about itself when it was opened.
func (p *Plugin) Manifest() Manifest { return p.manifest }

// PID returns the number of the present process, 0 while there is none.
func (p *Plugin) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proc == nil {
		return 0
	}
	return p.proc.pid()
}

// Factories returns the plugin's behaviours for a registry.
func (p *Plugin) Factories() []actor.Factory {
	out := make([]actor.Factory, len(p.manifest.Behaviours))
	for i, s := range p.manifest.Behaviours {
		out[i] = &factory{plugin: p, behaviour: s.Name[len(p.cfg.Name)+1:], schema: s}
	}
	return out
}

// up makes proc the present process.
func (p *Plugin) up(proc *process) *session {
	s := newSession(p.cfg, &p.workers, &p.poison)
	p.mu.Lock()
	p.proc, p.live = proc, s
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	p.cfg.Publish(actor.PluginStarted{Plugin: p.cfg.Name, Version: proc.manifest.Version, PID: proc.pid()})
	proc.log().Info("plugin started", "version", proc.manifest.Version)
	return s
}

// down says that there is no process now, and never again when err is not nil.
func (p *Plugin) down(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proc, p.live = nil, nil
	if err != nil {
		p.failed = err
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// run keeps a process running until Close, or until it died too often.
func (p *Plugin) run(ctx context.Context, proc *process, s *session) {
	defer close(p.done)
	defer p.workers.Wait()
	var h history
	for {
		began := time.Now()
		err := s.run(context.Background(), proc)
		closing := ctx.Err() != nil
		if closing {
			err = fmt.Errorf("the plugin was closed")
		} else {
			err = proc.cause(err)
			p.down(nil)
		}
		unacked := s.finish(err)
		proc.end(0)
		if closing {
			p.exited(proc, nil, unacked)
			return
		}
		p.exited(proc, err, unacked)
		if proc = p.again(ctx, &h, time.Since(began), err); proc == nil {
			return
		}
		if s = p.up(proc); ctx.Err() != nil {
			proc.end(0) // Close came meanwhile and did not see it; the session ends at once
		}
	}
}

func (p *Plugin) exited(proc *process, cause error, unacked int) {
	p.cfg.Publish(actor.PluginExited{Plugin: p.cfg.Name, PID: proc.pid(), Cause: cause, Unacked: unacked})
	if cause == nil {
		proc.log().Info("plugin ended")
		return
	}
	proc.log().Error("plugin process died", "err", cause, "unacked", unacked)
}

// again starts the process anew, after a growing delay, until it runs. nil means
// that the plugin was closed or has failed for good.
func (p *Plugin) again(ctx context.Context, h *history, up time.Duration, cause error) *process {
	for {
		delay, ok := p.cfg.Restart.next(h, time.Now(), up, rand.Float64())
		if !ok {
			err := fmt.Errorf("plugin %s died more than %d times within %s and is not started again; the last time: %w",
				p.cfg.Name, p.cfg.Restart.MaxRestarts, p.cfg.Restart.Within, cause)
			p.down(err)
			p.cfg.Log.Error("plugin failed for good", "err", err)
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
		proc, err := startProcess(ctx, p.cfg)
		switch {
		case err == nil:
			return proc
		case ctx.Err() != nil:
			return nil
		}
		p.cfg.Log.Error("plugin did not start", "err", err)
		up, cause = 0, err
	}
}

// session waits for a process, at most for the start-timeout or until ctx ends.
func (p *Plugin) session(ctx context.Context) (*session, error) {
	limit := time.NewTimer(p.cfg.StartTimeout)
	defer limit.Stop()
	for {
		p.mu.Lock()
		s, failed, changed := p.live, p.failed, p.changed
		p.mu.Unlock()
		switch {
		case failed != nil:
			return nil, failed
		case s != nil:
			return s, nil
		}
		select {
		case <-changed:
		case <-limit.C:
			return nil, fmt.Errorf("plugin %s: its process is not back within %s: %w", p.cfg.Name, p.cfg.StartTimeout, ErrCrashed)
		case <-ctx.Done():
			return nil, fmt.Errorf("plugin %s: %w", p.cfg.Name, context.Cause(ctx))
		}
	}
}

// Close ends the plugin: instances may finish what they have for the stop-timeout,
// or until ctx ends, then the process is killed. Its actors should have been
// stopped or moved before. It returns when nothing is left of it.
func (p *Plugin) Close(ctx context.Context) error {
	p.stop()
	p.mu.Lock()
	proc := p.proc
	if p.failed == nil {
		p.failed = fmt.Errorf("plugin %s: it was closed: %w", p.cfg.Name, actor.ErrStopped)
	}
	p.mu.Unlock()
	if proc != nil {
		grace := p.cfg.StopTimeout
		if at, ok := ctx.Deadline(); ok {
			grace = max(min(grace, time.Until(at)), 0)
		}
		proc.end(grace)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("close plugin %s: its process has not ended", p.cfg.Name), context.Cause(ctx))
	}
}
