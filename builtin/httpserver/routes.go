package httpserver

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// table is one configuration as requests see it. It does not change after
// resolve.
type table struct {
	self      actor.Path
	bodyLimit int64
	read      time.Duration
	write     time.Duration
	paths     map[string]resource
	known     string // all paths, for errors
}

// resource holds the routes of one path by method, in the order of their names.
type resource map[string][]*route

func (r resource) allow() string { return strings.Join(slices.Sorted(maps.Keys(r)), ", ") }

// route is a Route that can be used.
type route struct {
	Route
	name  string
	ref   actor.Ref
	rules sync.Pool // of *rules; evaluators are not for concurrent use
}

type rules struct {
	in       rule.Input
	when, to *rule.Evaluator // nil when there is none
}

// newTable checks c and compiles its expressions. Every mistake is reported.
func newTable(c Config) (*table, error) {
	t := &table{
		bodyLimit: int64(c.BodyLimit), read: c.ReadTimeout, write: c.WriteTimeout, paths: map[string]resource{},
	}
	var errs []error
	if len(c.In) == 0 {
		errs = append(errs, errors.New("in: there is no route (want in { NAME { path = /orders, to = /user/orders } })"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.In)) {
		r, err := newRoute(name, c.In[name])
		if err == nil {
			err = t.add(r)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("in.%s.%w", name, err))
		}
	}
	t.known = strings.Join(firstN(slices.Sorted(maps.Keys(t.paths)), 20), ", ")
	return t, errors.Join(errs...)
}

func firstN(s []string, n int) []string {
	if len(s) > n {
		return append(s[:n:n], "…")
	}
	return s
}

func newRoute(name string, c Route) (*route, error) {
	switch {
	case !strings.HasPrefix(c.Path, "/") || strings.ContainsAny(c.Path, "?#* "):
		return nil, fmt.Errorf("path: %q is not a path (want one that starts with '/', e.g. /orders)", c.Path)
	case path.Clean(c.Path) != strings.TrimSuffix(c.Path, "/") && c.Path != "/":
		return nil, fmt.Errorf("path: %q can never be asked for; did you mean %q?", c.Path, path.Clean(c.Path))
	case c.To == actor.ToReply:
		return nil, errors.New("to: nobody sent the message, so there is no reply target; reply = ask answers the request")
	}
	when, err := compile("when", actor.BoolSite, c.When)
	if err != nil {
		return nil, err
	}
	to, err := compile("map", actor.ValueSite, c.Map)
	if err != nil {
		return nil, err
	}
	r := &route{Route: c, name: name}
	r.rules.New = func() any { return &rules{when: evaluator(when), to: evaluator(to)} }
	return r, nil
}

func compile(key, site string, src actor.Expr) (*rule.Program, error) {
	if src == "" {
		return nil, nil
	}
	p, err := rule.Compile(site, string(src))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return p, nil
}

func evaluator(p *rule.Program) *rule.Evaluator {
	if p == nil {
		return nil
	}
	return p.Evaluator()
}

// add puts r behind the routes of its path and method.
func (t *table) add(r *route) error {
	at := t.paths[r.Path]
	if at == nil {
		at = resource{}
		t.paths[r.Path] = at
	}
	for _, earlier := range at[r.Method] {
		if earlier.When == "" {
			return fmt.Errorf("path: %s %s always goes to route %s; give that one a when, or a name that sorts later", r.Method, r.Path, earlier.name)
		}
	}
	at[r.Method] = append(at[r.Method], r)
	return nil
}

// resolve looks up the targets.
func (t *table) resolve(ctx actor.Context) error {
	t.self = ctx.Self().Path()
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(t.paths)) {
		at := t.paths[path]
		for _, method := range slices.Sorted(maps.Keys(at)) {
			for _, r := range at[method] {
				errs = append(errs, r.resolve(ctx))
			}
		}
	}
	return errors.Join(errs...)
}

func (r *route) resolve(ctx actor.Context) (err error) {
	if r.ref, err = ctx.Resolve(r.To); err != nil {
		return fmt.Errorf("in.%s.to: %w", r.name, err)
	}
	if _, ok := r.ref.(actor.Asker); !ok && r.Reply == "ask" {
		return fmt.Errorf("in.%s.reply: %s cannot be asked; use reply = accepted or an actor as target", r.name, r.To)
	}
	return nil
}

// message makes the route's message of a request's body. taken is false when
// the route's when is not true.
func (r *route) message(self actor.Path, body any, headers actor.Headers) (m actor.Message, taken bool, err error) {
	m = actor.Message{Kind: r.kind(body), Body: body, Headers: headers}
	if r.When == "" && r.Map == "" {
		return m, true, nil
	}
	e := r.rules.Get().(*rules)
	defer r.rules.Put(e)
	e.in = rule.Input{Message: m, Path: self, Attempt: 1}
	defer func() { e.in = rule.Input{} }()
	if e.when != nil {
		if taken, err = e.when.Bool(&e.in); err != nil {
			return m, false, fmt.Errorf("in.%s.when: %w", r.name, err)
		}
		if !taken {
			return m, false, nil
		}
	}
	if e.to != nil {
		if m.Body, err = e.to.Value(&e.in); err != nil {
			return m, false, fmt.Errorf("in.%s.map: %w", r.name, err)
		}
		m.Kind = r.kind(m.Body)
	}
	return m, true, nil
}

func (r *route) kind(body any) string {
	if r.Kind != "" {
		return r.Kind
	}
	if m, ok := body.(map[string]any); ok {
		if k, ok := m["kind"].(string); ok && k != "" {
			return k
		}
	}
	return r.name
}
