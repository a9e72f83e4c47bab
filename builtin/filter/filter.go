// Package filter is the behaviour that lets messages pass that meet a
// condition. The others are dropped without a trace, or go elsewhere.
package filter

import (
	"fmt"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	When    actor.Expr    `conf:"when,required" expr:"bool" class:"live" doc:"condition that messages must meet to pass"`
	To      actor.Targets `conf:"to,required" min:"1" class:"live" doc:"where messages go that pass"`
	Else    actor.Targets `conf:"else" class:"live" doc:"where the others go; without it they are dropped, which is no dead letter"`
	OnError route.OnError `conf:"on-error" default:"dead-letter" enum:"dead-letter|skip|fail" class:"live" doc:"what becomes of a message on which the condition fails; skip takes it for not met"`
}

// Factory makes filters.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("filter", "Passes messages on that meet a condition and drops the others, or sends them elsewhere.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a filter.
func New(c Config) (*Filter, error) {
	when, err := route.Compile("when", actor.BoolSite, c.When)
	if err != nil {
		return nil, err
	}
	if when == nil {
		return nil, fmt.Errorf("when is empty (want a condition, e.g. msg.amount > 1000)")
	}
	return &Filter{config: c, when: when}, nil
}

// Filter passes messages on that meet a condition.
type Filter struct {
	config    Config
	when      *rule.Evaluator
	to, other route.Targets
}

// Receive passes m on when it meets the condition.
func (f *Filter) Receive(ctx actor.Context, m actor.Message) error {
	pass, err := f.when.Bool(route.Input(ctx, m))
	if err != nil {
		if skip, failure := f.config.OnError.Failed(ctx, fmt.Errorf("when: %w", err)); !skip {
			return failure
		}
	}
	if pass {
		f.to.Tell(ctx, m)
	} else {
		f.other.Tell(ctx, m)
	}
	return nil
}

// Start resolves the targets.
func (f *Filter) Start(ctx actor.Context) (err error) {
	if f.to, err = route.Resolve(ctx, f.config.To); err != nil {
		return err
	}
	f.other, err = route.Resolve(ctx, f.config.Else)
	return err
}

// Reconfigure takes a new configuration in place.
func (f *Filter) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil {
		return err
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	*f = *next
	return nil
}
