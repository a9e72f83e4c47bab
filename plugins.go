package actord

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"

	"github.com/actord/actord/plugins/host"
	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/spec"
)

// plugins opens plugins for a system that may not be there yet: the load that
// opens them comes before the engine.
type plugins struct {
	log      *slog.Logger
	remember func(s *spec.Plugin, version string, offers []actor.Factory) error // keeps what a plugin offers

	mu    sync.Mutex // guards what follows
	sys   *runtime.System
	early []actor.Event // published before the system was there
}

// attach connects the plugins with the system.
func (p *plugins) attach(sys *runtime.System) {
	p.mu.Lock()
	early := p.early
	p.sys, p.early = sys, nil
	p.mu.Unlock()
	for _, e := range early {
		sys.Publish(e)
	}
}

func (p *plugins) publish(e actor.Event) {
	p.mu.Lock()
	sys := p.sys
	if sys == nil {
		p.early = append(p.early, e)
	}
	p.mu.Unlock()
	if sys != nil {
		sys.Publish(e)
	}
}

// lookup is called by instances, which only a system starts.
func (p *plugins) lookup(path actor.Path) actor.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sys.Lookup(path)
}

// topic is called by instances as well.
func (p *plugins) topic(name string) actor.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sys.Topic(name)
}

// open starts a plugin and checks that it is the one that is declared.
func (p *plugins) open(ctx context.Context, s *spec.Plugin) (topology.PluginHost, error) {
	restarts := s.Restart.MaxRestarts
	if restarts == supervise.Unlimited {
		restarts = math.MaxInt
	}
	h, err := host.Open(ctx, host.Config{
		Name: s.Name, Command: s.Command, SHA256: s.SHA256, Env: revealed(s.Env), EnvAllow: s.EnvAllow,
		AtLeastOnce: s.Delivery == "at-least-once", MaxMessage: int(s.MaxMessage),
		HandlerTimeout: s.HandlerTimeout, StopTimeout: s.StopTimeout,
		Window: host.Window{Messages: s.Window.Messages, Bytes: int(s.Window.Bytes)},
		Restart: host.Restart{
			Min: s.Restart.Backoff.Min, Max: s.Restart.Backoff.Max, Factor: s.Restart.Backoff.Factor, Jitter: s.Restart.Backoff.Jitter,
			MaxRestarts: restarts, Within: s.Restart.Within,
		},
		Log: p.log, Publish: p.publish, Lookup: p.lookup, Topic: p.topic,
	})
	if err != nil {
		return nil, err
	}
	if has := h.Manifest().Version; s.Version != "" && has != s.Version {
		_ = h.Close(ctx)
		return nil, fmt.Errorf("%s is version %s, want %s; install that version or change plugins.%s.version", s.Command[0], has, s.Version, s.Name)
	}
	if err := p.remember(s, h.Manifest().Version, h.Factories()); err != nil {
		p.log.Debug("what a plugin offers is not remembered", "plugin", s.Name, "err", err)
	}
	return h, nil
}

// revealed returns what a process gets to see.
func revealed(env map[string]actor.Secret) map[string]string {
	out := make(map[string]string, len(env))
	for name, value := range env {
		out[name] = value.Reveal()
	}
	return out
}
