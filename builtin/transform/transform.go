// Package transform is the behaviour that makes another message out of each one
// and passes it on. It never touches the message it got, which others may hold.
package transform

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args. All expressions see the
// message as it came, so their order does not matter.
type Config struct {
	Set         map[string]actor.Expr `conf:"set" expr:"value" class:"live" doc:"fields of the body to set; a quoted dotted name sets a field of an inner object"`
	Remove      []string              `conf:"remove" class:"live" doc:"fields of the body to leave out, dotted for inner ones"`
	Value       actor.Expr            `conf:"value" expr:"value" class:"live" doc:"the whole new body, instead of set and remove"`
	Kind        string                `conf:"kind" class:"live" doc:"the new kind; empty keeps it"`
	KindExpr    actor.Expr            `conf:"kind-expr" expr:"string" class:"live" doc:"the new kind as an expression, instead of kind"`
	Headers     map[string]string     `conf:"headers" class:"live" doc:"headers to set"`
	HeadersExpr map[string]actor.Expr `conf:"headers-expr" expr:"string" class:"live" doc:"headers to set, as expressions"`
	To          actor.Targets         `conf:"to,required" min:"1" class:"live" doc:"where the new messages go"`
	OnError     route.OnError         `conf:"on-error" default:"dead-letter" enum:"dead-letter|skip|fail" class:"live" doc:"what becomes of a message on which an expression fails; skip leaves the old value in its place"`
}

// Factory makes transforms.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("transform", "Makes a new message out of each one: sets fields of the body or all of it, the kind and headers.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a transform. It reports every wrong expression.
func New(c Config) (*Transform, error) {
	t := &Transform{config: c}
	var wrong []error
	step := func(place, site string, src actor.Expr, apply func(*draft, any) error) {
		eval, err := route.Compile(place, site, src)
		wrong = append(wrong, err)
		if eval != nil {
			t.steps = append(t.steps, step{place, site, eval, apply})
		}
	}
	if c.Value != "" && (len(c.Set) > 0 || len(c.Remove) > 0) {
		wrong = append(wrong, errors.New("value replaces the whole body, so it goes with neither set nor remove; choose one"))
	}
	if c.Kind != "" && c.KindExpr != "" {
		wrong = append(wrong, errors.New("kind and kind-expr are given; choose one"))
	}
	step("value", actor.ValueSite, c.Value, (*draft).replace)
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		step("set."+name, actor.ValueSite, c.Set[name], setField(name))
	}
	step("kind-expr", actor.StringSite, c.KindExpr, (*draft).setKind)
	for _, name := range slices.Sorted(maps.Keys(c.HeadersExpr)) {
		step("headers-expr."+name, actor.StringSite, c.HeadersExpr[name], setHeader(name))
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return t, nil
}

// Transform makes new messages out of those it gets.
type Transform struct {
	config Config
	steps  []step
	to     route.Targets
}

// step is one expression and what its result is for.
type step struct {
	place, site string
	eval        *rule.Evaluator
	apply       func(*draft, any) error
}

// Receive makes the new message and passes it on.
func (t *Transform) Receive(ctx actor.Context, m actor.Message) error {
	in := route.Input(ctx, m)
	d := t.draft(m)
	for i := range t.steps {
		if err := t.steps[i].run(in, d); err != nil {
			if skip, failure := t.config.OnError.Failed(ctx, err); !skip {
				return failure
			}
		}
	}
	for _, name := range t.config.Remove {
		d.remove(name)
	}
	t.to.Tell(ctx, d.message)
	return nil
}

func (s *step) run(in *rule.Input, d *draft) error {
	v, err := s.value(in)
	if err == nil {
		err = s.apply(d, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.place, err)
	}
	return nil
}

func (s *step) value(in *rule.Input) (any, error) {
	if s.site == actor.StringSite {
		return s.eval.String(in)
	}
	return s.eval.Value(in)
}

// draft begins the new message: the old one with the constants of configuration.
func (t *Transform) draft(m actor.Message) *draft {
	d := &draft{message: m}
	if t.config.Kind != "" {
		d.message.Kind = t.config.Kind
	}
	if len(t.config.Headers)+len(t.config.HeadersExpr) > 0 {
		d.message.Headers = make(actor.Headers, len(m.Headers)+len(t.config.Headers))
		maps.Copy(d.message.Headers, m.Headers)
		maps.Copy(d.message.Headers, t.config.Headers)
	}
	return d
}

// Start resolves the targets.
func (t *Transform) Start(ctx actor.Context) (err error) {
	t.to, err = route.Resolve(ctx, t.config.To)
	return err
}

// Reconfigure takes a new configuration in place.
func (t *Transform) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil {
		return err
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	*t = *next
	return nil
}

// draft is a message in the making. Its headers are its own; its body is the
// old one until the first change, which copies it.
type draft struct {
	message actor.Message
	owned   bool // the body is a copy
}

func (d *draft) replace(v any) error { d.message.Body = v; return nil }
func (d *draft) setKind(v any) error { d.message.Kind = v.(string); return nil }

func setHeader(name string) func(*draft, any) error {
	return func(d *draft, v any) error { d.message.Headers[name] = v.(string); return nil }
}

func setField(name string) func(*draft, any) error {
	path := strings.Split(name, ".")
	return func(d *draft, v any) error {
		m, err := d.object(path[:len(path)-1])
		if err != nil {
			return err
		}
		m[path[len(path)-1]] = v
		return nil
	}
}

// object returns the object at path, made where nothing is yet.
func (d *draft) object(path []string) (map[string]any, error) {
	d.own()
	if d.message.Body == nil {
		d.message.Body = map[string]any{}
	}
	at, ok := d.message.Body.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the body is a %T and has no fields", d.message.Body)
	}
	for _, name := range path {
		if at[name] == nil {
			at[name] = map[string]any{}
		}
		inner, ok := at[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("field %s is a %T and has no fields", name, at[name])
		}
		at = inner
	}
	return at, nil
}

func (d *draft) remove(name string) {
	d.own()
	path := strings.Split(name, ".")
	at, _ := d.message.Body.(map[string]any)
	for _, name := range path[:len(path)-1] {
		at, _ = at[name].(map[string]any)
	}
	delete(at, path[len(path)-1])
}

func (d *draft) own() {
	if !d.owned {
		d.message.Body, d.owned = actor.CopyBody(d.message.Body), true
	}
}
