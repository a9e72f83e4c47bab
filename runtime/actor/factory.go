package actor

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Factory makes behaviours of one type from configuration.
type Factory interface {
	// Schema describes the arguments.
	Schema() Schema
	// Prepare checks decoded arguments (Schema.Decode) and returns what builds
	// behaviours from them. It has no side effects outside the process's memory:
	// no file, no socket; those belong to Start.
	Prepare(args map[string]any) (Prepared, error)
}

// Prepared is a behaviour with its configuration, ready to be built.
type Prepared struct {
	// New builds an instance, for the first start and for every restart.
	New Producer
	// Reconfigure gives a running instance this configuration. It returns false
	// when the instance cannot take one in place.
	Reconfigure func(ctx Context, running Behaviour) (bool, error)
}

type factory[C any] struct {
	schema Schema
	build  func(C) (Behaviour, error)
}

// FactoryOf returns the factory of a behaviour that is configured by the struct
// C. The schema usually is SchemaOf[C]. build checks its configuration and
// returns a fresh instance; it is called once by Prepare, so that a mistake is
// found before anything starts, and again for every instance. Each call returns
// another factory; two factories are equal when they are the same one.
func FactoryOf[C any](schema Schema, build func(C) (Behaviour, error)) Factory {
	return &factory[C]{schema: schema, build: build}
}

func (f *factory[C]) Schema() Schema { return f.schema }

func (f *factory[C]) Prepare(args map[string]any) (Prepared, error) {
	config := Fill[C](args)
	if _, err := f.build(config); err != nil {
		return Prepared{}, err
	}
	return Prepared{
		New: func() (Behaviour, error) { return f.build(config) },
		Reconfigure: func(ctx Context, running Behaviour) (bool, error) {
			r, ok := running.(Reconfigurer[C])
			if !ok {
				return false, nil
			}
			return true, r.Reconfigure(ctx, config)
		},
	}, nil
}

// Fill stores decoded values (Schema.Decode) in the struct C by its conf tags.
// The schema must be that of C.
func Fill[C any](values map[string]any) C {
	var c C
	fill(reflect.ValueOf(&c).Elem(), values)
	return c
}

// Registry holds the factories that configuration may name. A revision of the
// configuration owns one: built-ins plus what its plugins offer. It is not safe
// for concurrent change.
type Registry struct {
	behaviours, bridges map[string]Factory
}

// AddBehaviour registers f under its schema's name. A plugin's behaviours are
// called PLUGIN/NAME.
func (r *Registry) AddBehaviour(f Factory) error { return add(&r.behaviours, "behaviour", f) }

// AddBridge registers f as the bridge type of its schema's name.
func (r *Registry) AddBridge(f Factory) error { return add(&r.bridges, "bridge type", f) }

func add(m *map[string]Factory, what string, f Factory) error {
	name := f.Schema().Name
	if _, taken := (*m)[name]; taken {
		return fmt.Errorf("%s %q is registered twice", what, name)
	}
	if *m == nil {
		*m = map[string]Factory{}
	}
	(*m)[name] = f
	return nil
}

// Behaviour returns the factory called name.
func (r *Registry) Behaviour(name string) (Factory, bool) { f, ok := r.behaviours[name]; return f, ok }

// Bridge returns the factory of the bridge type called name.
func (r *Registry) Bridge(name string) (Factory, bool) { f, ok := r.bridges[name]; return f, ok }

// Behaviours returns the names of all behaviours, sorted.
func (r *Registry) Behaviours() []string { return slices.Sorted(maps.Keys(r.behaviours)) }

// Bridges returns the names of all bridge types, sorted.
func (r *Registry) Bridges() []string { return slices.Sorted(maps.Keys(r.bridges)) }

// Clone returns a registry with the same factories that can grow on its own.
func (r *Registry) Clone() *Registry {
	return &Registry{behaviours: maps.Clone(r.behaviours), bridges: maps.Clone(r.bridges)}
}
