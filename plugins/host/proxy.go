package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// proxy is an actor's behaviour: what it is given, it hands to an instance in the
// plugin's process. Its methods run on the actor's turn.
type proxy struct {
	plugin    *Plugin
	behaviour string // as the plugin calls it
	prepared  *prepared
	in        *instance // nil until Restore or Start
	scratch   []byte    // the last body, packed
}

// keeper is a proxy whose instance hands its state over.
type keeper struct{ *proxy }

// Snapshot asks for the state behind everything that was delivered.
func (k keeper) Snapshot() (actor.State, error) {
	if k.in == nil {
		return actor.State{}, fmt.Errorf("plugin %s: the instance does not run: %w", k.plugin.cfg.Name, actor.ErrStopped)
	}
	res, err := k.in.session.ask(k.in, k.plugin.cfg.StopTimeout, nil, func(call uint64) *wire.HostFrame {
		return &wire.HostFrame{Frame: &wire.HostFrame_Snapshot{Snapshot: &wire.Snapshot{Inst: k.in.id, Call: call}}}
	})
	switch {
	case err != nil:
		return actor.State{}, err
	case res.Unsupported || res.State == nil:
		return actor.State{}, fmt.Errorf("plugin %s: behaviour %s has no state to hand over: %w", k.plugin.cfg.Name, k.behaviour, actor.ErrUnsupported)
	}
	return actor.State{Version: int(res.State.Version), Data: res.State.Data}, nil
}

// Restore builds the instance from a state; Start then starts it.
func (k keeper) Restore(s actor.State) error {
	if len(s.Data) > wire.MaxBody {
		return fmt.Errorf("plugin %s: the state has %d bytes; at most %d are handed over", k.plugin.cfg.Name, len(s.Data), wire.MaxBody)
	}
	return k.spawn(context.Background(), &wire.State{Version: int64(s.Version), Data: s.Data})
}

// spawn builds an instance in the process, waiting for a process to be there.
func (p *proxy) spawn(ctx context.Context, state *wire.State) error {
	s, err := p.plugin.session(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.lastInst++
	in := &instance{session: s, id: s.lastInst}
	s.instances[in.id] = in
	s.mu.Unlock()
	_, err = s.ask(in, p.plugin.cfg.HandlerTimeout, ctx.Done(), func(call uint64) *wire.HostFrame {
		return &wire.HostFrame{Frame: &wire.HostFrame_Spawn{Spawn: &wire.Spawn{
			Inst: in.id, Call: call, Behaviour: p.behaviour, Args: p.prepared.json, State: state,
		}}}
	})
	if err != nil {
		p.abandon(in)
		return err
	}
	p.in = in
	return nil
}

// abandon ends an instance without waiting for it.
func (p *proxy) abandon(in *instance) {
	in.session.send(&wire.HostFrame{Frame: &wire.HostFrame_Stop{Stop: &wire.Stop{Inst: in.id}}})
	in.forget()
}

// Start builds the instance, unless Restore did, and runs its start hook.
func (p *proxy) Start(ctx actor.Context) error {
	if p.in == nil {
		if err := p.spawn(ctx, nil); err != nil {
			return err
		}
	}
	in := p.in
	targets := p.targets(ctx)
	in.session.mu.Lock()
	in.path, in.self, in.handle, in.targets = ctx.Self().Path(), ctx.Self(), ctx.Handle(), targets
	in.session.mu.Unlock()
	_, err := in.session.ask(in, p.plugin.cfg.HandlerTimeout, ctx.Done(), func(call uint64) *wire.HostFrame {
		return &wire.HostFrame{Frame: &wire.HostFrame_Start{Start: &wire.Start{Inst: in.id, Call: call, Path: string(in.path)}}}
	})
	if err != nil {
		p.abandon(in)
		p.in = nil
	}
	return err
}

// targets resolves the targets of the arguments, by the name that the plugin
// uses: the absolute path, or the target as it is written. One that is wrong is
// reported by the instance, which resolves it as well.
func (p *proxy) targets(ctx actor.Context) map[string]actor.Ref {
	out := map[string]actor.Ref{}
	for _, t := range p.prepared.targets {
		ref, err := ctx.Resolve(t)
		if err != nil {
			continue
		}
		if kind, path, err := t.Parse(ctx.Self().Path()); err == nil && kind == actor.PathTarget {
			out[string(path)] = ref
		} else {
			out[string(t)] = ref
		}
	}
	return out
}

// Receive hands the message on and does not wait for it to be handled; it waits
// only while the plugin has as much as the window allows.
func (p *proxy) Receive(ctx actor.Context, m actor.Message) error {
	if err := p.ready(ctx); err != nil {
		return err
	}
	if _, ok := m.Body.(wakeUpBody); ok {
		p.in.flush()
		return nil
	}
	body, err := wire.AppendBody(p.scratch[:0], m.Body)
	if cap(body) <= wire.MaxBatchBytes {
		p.scratch = body
	}
	switch {
	case err != nil:
		return fmt.Errorf("message %q for plugin %s: %w", m.Kind, p.plugin.cfg.Name, err)
	case len(body) > p.plugin.cfg.MaxMessage:
		return fmt.Errorf("message %q for plugin %s has %d bytes; max-message allows %d", m.Kind, p.plugin.cfg.Name, len(body), p.plugin.cfg.MaxMessage)
	}
	l := ctx.Letter()
	d := wire.Delivery{Trace: l.Trace(), Kind: m.Kind, Headers: m.Headers, Body: body}
	if s := ctx.Sender(); s != nil {
		d.Sender = string(s.Path())
	}
	if !p.in.deliver(ctx, &d, l) {
		p.in.flush()
	}
	return nil
}

// ready makes the instance fit for a message. After a failure that supervision
// answered with going on, the first message finds the instance failed and goes
// back with all that the instance could not handle (flush). The one after it
// finds the instance resumed here, or built anew when its process is gone.
func (p *proxy) ready(ctx actor.Context) error {
	if p.in == nil {
		return p.Start(ctx)
	}
	in, s := p.in, p.in.session
	s.mu.Lock()
	again, ending := in.failed && in.flushed, in.ending
	if again && !in.crashed {
		in.failed, in.reported, in.flushed = false, false, false
		s.queue(&wire.HostFrame{Frame: &wire.HostFrame_Resume{Resume: &wire.Resume{Inst: in.id}}})
	}
	crashed := in.crashed
	s.mu.Unlock()
	if ending {
		ctx.Stop(ctx.Self())
	}
	if again && crashed {
		p.in = nil
		return p.Start(ctx)
	}
	return nil
}

// Stop ends the instance behind what it has, at most for the stop-timeout. What
// it has not handled by then becomes dead letters.
func (p *proxy) Stop(actor.Context) error {
	if p.in == nil {
		return nil
	}
	in := p.in
	p.in = nil
	limit := time.NewTimer(p.plugin.cfg.StopTimeout)
	defer limit.Stop()
	_, err := in.session.ask(in, p.plugin.cfg.StopTimeout, nil, func(call uint64) *wire.HostFrame {
		return &wire.HostFrame{Frame: &wire.HostFrame_Stop{Stop: &wire.Stop{Inst: in.id, Call: call}}}
	})
	if errors.Is(err, ErrCrashed) {
		err = nil // the actor failed with that already
	}
	in.quiesce(limit.C)
	unfinished := in.forget()
	if in.handle == nil {
		return err
	}
	for _, u := range unfinished {
		u.dead(actor.ReasonStopped + ": not handled within the stop-timeout")
	}
	in.flush()
	return err
}

// reconfigure gives the running instance new arguments in place.
func (p *proxy) reconfigure(ctx actor.Context, next *prepared) (bool, error) {
	if p.in == nil {
		return false, nil
	}
	res, err := p.in.session.ask(p.in, p.plugin.cfg.HandlerTimeout, ctx.Done(), func(call uint64) *wire.HostFrame {
		return &wire.HostFrame{Frame: &wire.HostFrame_Reconfigure{Reconfigure: &wire.Reconfigure{Inst: p.in.id, Call: call, Args: next.json}}}
	})
	if err != nil || res.Unsupported {
		return false, err
	}
	p.prepared = next
	targets := p.targets(ctx)
	p.in.session.mu.Lock()
	p.in.targets = targets
	p.in.session.mu.Unlock()
	return true, nil
}
