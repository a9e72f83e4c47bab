package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// factory makes proxies for one behaviour of a plugin.
type factory struct {
	plugin    *Plugin
	behaviour string
	schema    actor.Schema
}

// prepared are checked arguments.
type prepared struct {
	json    []byte
	targets []actor.Target
}

// schemas reads the behaviours of a manifest; they are called PLUGIN/BEHAVIOUR.
func schemas(plugin string, m *wire.Manifest) ([]actor.Schema, error) {
	var out []actor.Schema
	for _, b := range m.Behaviours {
		if err := actor.CheckName(b.Name); err != nil {
			return nil, fmt.Errorf("plugin %s: its manifest: a behaviour: %w", plugin, err)
		}
		s, err := actor.SchemaFromJSON(plugin+"/"+b.Name, b.Doc, b.ArgsSchema)
		if err != nil {
			return nil, fmt.Errorf("plugin %s: its manifest: %w", plugin, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// Schema describes the arguments.
func (f *factory) Schema() actor.Schema { return f.schema }

// Prepare has the plugin check the arguments, too: it knows more than the schema
// says. While the process is down the schema has to do.
func (f *factory) Prepare(args map[string]any) (actor.Prepared, error) {
	next := &prepared{}
	var err error
	if next.json, err = json.Marshal(f.schema.Plain(args)); err != nil {
		return actor.Prepared{}, fmt.Errorf("behaviour %s: args: %w", f.schema.Name, err)
	}
	f.schema.Walk(args, func(_ []string, field actor.Field, v any) {
		if text, ok := v.(string); ok && field.Kind == actor.TargetField {
			next.note(actor.Target(text))
		}
	})
	keeps, err := f.plugin.check(f.behaviour, next.json)
	if err != nil {
		return actor.Prepared{}, err
	}
	return actor.Prepared{
		New: func() (actor.Behaviour, error) {
			p := &proxy{plugin: f.plugin, behaviour: f.behaviour, prepared: next}
			if keeps {
				return keeper{p}, nil
			}
			return p, nil
		},
		Reconfigure: func(ctx actor.Context, running actor.Behaviour) (bool, error) {
			if k, ok := running.(keeper); ok {
				running = k.proxy
			}
			p, ok := running.(*proxy)
			if !ok || p.plugin != f.plugin || p.behaviour != f.behaviour {
				return false, nil
			}
			return p.reconfigure(ctx, next)
		},
	}, nil
}

// note keeps a target for the actor's start, when its context can resolve it.
func (p *prepared) note(t actor.Target) {
	if t != actor.ToReply {
		p.targets = append(p.targets, t)
	}
}

// check asks the process whether the arguments are fine, and whether the
// behaviour hands its state over.
func (p *Plugin) check(behaviour string, args []byte) (keeps bool, err error) {
	p.mu.Lock()
	proc, known := p.proc, p.keeps[behaviour]
	p.mu.Unlock()
	if proc == nil {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.StartTimeout)
	defer cancel()
	res, err := proc.rpc.Check(ctx, &wire.CheckRequest{Behaviour: behaviour, Args: args})
	switch {
	case err != nil:
		return known, nil // it is going down just now
	case res.Error != "":
		return false, errors.New(res.Error)
	}
	p.mu.Lock()
	p.keeps[behaviour] = res.Snapshot
	p.mu.Unlock()
	return res.Snapshot, nil
}
