// Package router is the behaviour that sends each message where the first
// matching rule says, or where all matching rules say.
package router

import (
	"errors"
	"fmt"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	Rules   []Rule        `conf:"rules,required" min:"1" class:"live" doc:"rules in the order they are tried"`
	Mode    string        `conf:"mode" default:"first" enum:"first|all" class:"live" doc:"first: only the first matching rule counts; all: every matching rule does"`
	Else    actor.Targets `conf:"else" class:"live" doc:"where messages go that no rule matches; without it they become dead letters"`
	OnError route.OnError `conf:"on-error" default:"dead-letter" enum:"dead-letter|skip|fail" class:"live" doc:"what becomes of a message on which a rule's expression fails; skip tries the next rule"`
}

// Rule is one rule of a router.
type Rule struct {
	When actor.Expr    `conf:"when" expr:"bool" doc:"condition on the message; without it the rule matches always"`
	To   actor.Targets `conf:"to,required" min:"1" doc:"where matching messages go; several targets are a fan-out"`
	Kind string        `conf:"kind" doc:"kind that the messages get on this way; empty keeps theirs"`
}

// Modes of a router.
const (
	First = "first"
	All   = "all"
)

// Factory makes routers.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("router", "Sends each message to the targets of the first matching rule, or of all matching ones.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a router. It reports every wrong rule.
func New(c Config) (*Router, error) {
	r := &Router{config: c}
	var wrong []error
	for i, rule := range c.Rules {
		when, err := route.Compile(fmt.Sprintf("rules[%d].when", i), actor.BoolSite, rule.When)
		if err == nil && rule.When == "" && c.Mode != All && i < len(c.Rules)-1 {
			err = fmt.Errorf("rules[%d] matches always, so the rules below it are never tried; give it a when or make it the last", i)
		}
		wrong = append(wrong, err)
		r.ways = append(r.ways, way{when: when, kind: rule.Kind})
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return r, nil
}

// Router sends messages on by rules.
type Router struct {
	config Config
	ways   []way // one per rule
	other  route.Targets
}

// way is a rule, ready to be tried.
type way struct {
	when *rule.Evaluator // nil matches always
	kind string
	to   route.Targets
}

// Receive tries the rules in their order.
func (r *Router) Receive(ctx actor.Context, m actor.Message) error {
	in := route.Input(ctx, m)
	matched := false
	for i := range r.ways {
		ok, err := r.ways[i].matches(in)
		if err != nil {
			err = fmt.Errorf("rules[%d].when: %w", i, err)
			if skip, failure := r.config.OnError.Failed(ctx, err); !skip {
				return failure
			}
		}
		if !ok {
			continue
		}
		matched = true
		r.ways[i].send(ctx, m)
		if r.config.Mode != All {
			break
		}
	}
	if !matched {
		r.unmatched(ctx, m)
	}
	return nil
}

func (w *way) matches(in *rule.Input) (bool, error) {
	if w.when == nil {
		return true, nil
	}
	return w.when.Bool(in)
}

func (w *way) send(ctx actor.Context, m actor.Message) {
	if w.kind != "" {
		m.Kind = w.kind
	}
	w.to.Tell(ctx, m)
}

func (r *Router) unmatched(ctx actor.Context, m actor.Message) {
	if len(r.other) == 0 {
		route.Unrouted(ctx, "")
		return
	}
	r.other.Tell(ctx, m)
}

// Start resolves the targets.
func (r *Router) Start(ctx actor.Context) (err error) {
	for i, rule := range r.config.Rules {
		if r.ways[i].to, err = route.Resolve(ctx, rule.To); err != nil {
			return fmt.Errorf("rules[%d].to: %w", i, err)
		}
	}
	r.other, err = route.Resolve(ctx, r.config.Else)
	return err
}

// Reconfigure takes new rules in place.
func (r *Router) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil {
		return err
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	*r = *next
	return nil
}
