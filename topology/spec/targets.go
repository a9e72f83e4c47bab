package spec

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
)

// usage is a place where a factory's arguments stand.
type usage struct {
	path    actor.Path // of the actor that gets them
	value   *value
	at      []string // where they begin in value
	network string   // that its addresses are listened on
}

// arguments decodes and checks arguments for f. The result is false when there
// was a mistake in them.
func (c *checker) arguments(u usage, f actor.Factory, fields []actor.Field, raw map[string]any) (map[string]any, actor.Prepared, bool) {
	schema := actor.Schema{Fields: fields}
	args, errs := schema.Decode(raw)
	c.fields(u.value, u.at, errs)
	exprs := true
	schema.Walk(args, func(path []string, f actor.Field, v any) {
		path = slices.Concat(u.at, path)
		text, _ := v.(string)
		switch {
		case f.Kind == actor.TargetField && text != "":
			if c.user == nil {
				c.wire(u.path, u.path, actor.Target(text), u.value, path)
			}
			if err := c.target(u.path, actor.Target(text)); err != nil {
				c.at(u.value, path, err)
			}
		case f.Kind == actor.ExprField && text != "" && f.Site != "":
			exprs = c.compile(u.value, path, f.Site, text) != nil && exprs
		case f.Kind == actor.AddressField && text != "":
			c.listeners = append(c.listeners, listener{u, path, text})
		}
	})
	if len(errs) > 0 || !exprs {
		return nil, actor.Prepared{}, false
	}
	p, err := f.Prepare(args)
	if err != nil {
		c.prepare(u.value, u.at, err)
		return nil, actor.Prepared{}, false
	}
	return args, p, true
}

// wire notes a target that stands outside of actors.
func (c *checker) wire(from, base actor.Path, t actor.Target, v *value, at []string) {
	if _, to, err := t.Parse(base); err == nil && to != "" {
		n, rest := v.find(at)
		c.wires = append(c.wires, wire{from, to, n, rest})
	}
}

// use is something that an actor names and that must be there.
type use struct {
	base   actor.Path   // of the actor
	target actor.Target // "" when a path is meant
	path   actor.Path

	watched bool // nothing is sent there
}

// check reports why it is not there.
func (u use) check(c *checker) error {
	if u.target == "" {
		return c.isKnown(u.path, false)
	}
	return c.leads(u.base, u.target)
}

// target reports why t, used by the actor at base, leads nowhere.
func (c *checker) target(base actor.Path, t actor.Target) error {
	if c.user != nil {
		c.user.uses = append(c.user.uses, use{base: base, target: t})
	}
	return c.leads(base, t)
}

func (c *checker) leads(base actor.Path, t actor.Target) error {
	kind, path, err := t.Parse(base)
	switch {
	case err != nil:
		return err
	case kind == actor.TopicTarget:
		return c.topicTarget(t)
	case kind == actor.BridgeTarget:
		return c.bridgeTarget(t)
	case kind != actor.PathTarget:
		return nil
	}
	err = c.isKnown(path, false)
	if err != nil && !strings.HasPrefix(string(t), "/") {
		return fmt.Errorf("target %q of %s: %w", t, base, err)
	}
	return err
}

func (c *checker) isDeclared(path actor.Path) bool {
	_, ok := c.declared[path]
	return ok
}

func (c *checker) bridgeTarget(t actor.Target) error {
	name, out, _ := strings.Cut(strings.TrimPrefix(string(t), "bridge:"), "/")
	b, ok := c.bridge[name]
	if !ok {
		return fmt.Errorf("bridge %q is not declared%s", name, didYouMeanOr(name, slices.Sorted(maps.Keys(c.bridge))))
	}
	outs := b.get("out")
	if v := outs.get(out); outs.isObject() && v.isNull() {
		return fmt.Errorf("bridge %q has no out %q%s", name, out, didYouMeanOr(out, outs.keys()))
	}
	return nil
}

// known reports why no actor can be at a path. Group allows the roots, below
// which actors are.
func (c *checker) known(path actor.Path, group bool) error {
	if c.user != nil && !group {
		c.user.uses = append(c.user.uses, use{path: path})
	}
	return c.isKnown(path, group)
}

func (c *checker) isKnown(path actor.Path, group bool) error {
	bridges := actor.System.Child("bridges")
	switch {
	case path == actor.DeadLetters, c.isDeclared(path):
		return nil
	case group && (path == actor.Root || path == actor.User || path == actor.System || path == bridges):
		return nil
	case path.Under(bridges) && path != bridges:
		return c.knownBridge(path)
	case path.Under(actor.System) && path != actor.System:
		return nil
	case !path.Under(actor.User) || path == actor.User:
		return fmt.Errorf("%s is no actor's path (want /user/NAME)%s", path, c.nearest(path))
	}
	for at, up := path, path.Parent(); up != actor.User; at, up = up, up.Parent() {
		if parent, ok := c.declared[up]; ok && (!parent || routeeName.MatchString(at.Name())) {
			return nil // its behaviour may spawn it, or its pool has it
		} else if ok {
			break
		}
	}
	return fmt.Errorf("no actor is declared at %s%s", path, c.nearest(path))
}

func (c *checker) knownBridge(path actor.Path) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(string(path), "/system/bridges/"), "/")
	if c.bridge[name] != nil {
		return nil
	}
	return fmt.Errorf("bridge %q is not declared%s", name, didYouMeanOr(name, slices.Sorted(maps.Keys(c.bridge))))
}

// nearest suggests the declared path that was meant: one that is written nearly
// alike, or one of the same name elsewhere.
func (c *checker) nearest(path actor.Path) string {
	var paths []string
	for p := range c.declared {
		paths = append(paths, string(p))
	}
	slices.Sort(paths)
	if s := actor.DidYouMean(string(path), paths); s != "" {
		return s
	}
	for _, p := range paths {
		if actor.Path(p).Name() == path.Name() {
			return fmt.Sprintf("; did you mean %q?", p)
		}
	}
	return ""
}

// listener is an address that something listens on.
type listener struct {
	usage
	place   []string
	address string
}

// checkListeners finds addresses that are listened on twice.
func (c *checker) checkListeners() {
	for i, b := range c.listeners {
		for _, a := range c.listeners[:i] {
			if a.network != b.network || !collide(a.address, b.address) {
				continue
			}
			n, rest := a.value.find(a.place)
			err := fmt.Errorf("%s is listened on already, by %s (%s)", b.address, shown(n, rest), n.Pos)
			c.at(b.value, b.place, err)
			break
		}
	}
}

// collide reports whether two addresses cannot be listened on at once.
func collide(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	hostA, hostB = canonicalHost(hostA), canonicalHost(hostB)
	return hostA == hostB || hostA == "" || hostB == ""
}

// canonicalHost returns "" for all interfaces.
func canonicalHost(host string) string {
	if host == "localhost" {
		return "127.0.0.1"
	}
	ip := net.ParseIP(host)
	switch {
	case ip == nil:
		return strings.ToLower(host)
	case ip.IsUnspecified():
		return ""
	}
	return ip.String()
}
