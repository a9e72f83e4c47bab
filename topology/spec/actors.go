package spec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
)

// actors reads the actors section.
func (c *checker) actors(file *value) []*Actor {
	defaults := c.withoutReuse(file.get("actor-defaults"))
	if defaults.isObject() {
		_, errs := actor.Schema{Fields: optional(actorSchema.Fields)}.Decode(defaults.raw(actorSchema.Fields))
		c.fields(defaults, nil, errs)
	}
	return c.children(c.groups, defaults, nil)
}

// optional returns fields of which none must be given, for sections of defaults.
func optional(fields []actor.Field) []actor.Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Required = false
		out[i].Fields = optional(out[i].Fields)
	}
	return out
}

// children reads the actors that stand beside each other. Under is the
// child-supervision of the actor above them.
func (c *checker) children(groups []*group, defaults, under *value) []*Actor {
	var out []*Actor
	for _, g := range groups {
		out = slices.Grow(out, len(g.entries))
		for _, e := range g.entries {
			out = append(out, c.entry(e, defaults, under))
		}
	}
	byOrder := func(a, b *Actor) int { return cmp.Compare(a.StartOrder, b.StartOrder) }
	if !slices.IsSortedFunc(out, byOrder) {
		slices.SortStableFunc(out, byOrder)
	}
	return out
}

// entry reads one actor and those below it, or takes over what the check before
// made of them.
func (c *checker) entry(e *entry, defaults, under *value) *Actor {
	e.under = under
	if a := c.again(e, defaults); a != nil {
		return a
	}
	c.user = e
	listening := len(c.listeners)
	a := c.actor(e, defaults, under)
	e.fresh = e.fresh || len(c.listeners) > listening
	c.user = nil
	a.Children = c.children(e.kids, defaults, e.over)
	a.Hash = digest(a.ArgSettings, e.common.digest, sumOf(e.kids).String())
	e.actor, e.sum = a, sumText(a.Path.Name()+" "+a.Hash)
	e.block, e.was = nil, nil
	return a
}

// actor reads one actor without those below it.
func (c *checker) actor(e *entry, defaults, under *value) *Actor {
	own := e.own()
	v := c.overDefaults(defaults, own)
	supervision := defaults.get("supervision")
	v.set("supervision", c.over(c.over(supervision, under), own.get("supervision")))
	e.over = v.get("child-supervision")
	v.set("child-supervision", c.over(supervision, e.over))

	a := &Actor{Path: e.path, Pos: e.pos()}
	e.common = c.common(v, own)
	e.common.into(a)
	c.behaviour(a, e, v)
	c.watch(a, v, e.common.watch)
	return a
}

// overDefaults puts the block of an actor over the defaults.
func (c *checker) overDefaults(defaults, own *value) *value {
	own.open()
	v := object(own.node)
	v.fields = make([]field, 0, len(own.fields)+4)
	for _, f := range own.fields {
		switch under := defaults.get(f.key); f.key {
		case "children":
		case "args":
			v.push(f.key, merge(under, f.value))
		default:
			v.push(f.key, c.over(under, f.value))
		}
	}
	for _, k := range defaults.keys() {
		if v.get(k) == nil {
			v.push(k, defaults.get(k))
		}
	}
	return v
}

// again takes over what the check before made of an actor when nothing that it
// depends on differs; nil when it must be read.
func (c *checker) again(e *entry, defaults *value) *Actor {
	was := e.was
	if was == nil || !e.same || was.actor == nil || was.fresh || !was.under.equal(e.under) || !c.stillThere(was) {
		return nil
	}
	a := was.actor
	if len(e.kids) > 0 {
		e.over = merge(defaults.get("child-supervision"), e.own().get("child-supervision"))
		kids := c.children(e.kids, defaults, e.over)
		if !slices.Equal(kids, a.Children) {
			a = new(*a)
			a.Children = kids
			a.Hash = digest(a.ArgSettings, was.common.digest, sumOf(e.kids).String())
		}
	}
	if pos := e.pos(); a.Pos != pos {
		a = new(*a)
		a.Pos = pos
	}
	e.actor, e.common, e.factory, e.uses = a, was.common, was.factory, was.uses
	e.sum = was.sum
	if a.Hash != was.actor.Hash {
		e.sum = sumText(a.Path.Name() + " " + a.Hash)
	}
	e.block, e.was = nil, nil
	return a
}

// stillThere reports whether the behaviour of an actor and all that its targets
// name are what they were.
func (c *checker) stillThere(was *entry) bool {
	f, ok := c.reg.Behaviour(was.actor.Behaviour)
	if !ok || !sameFactory(f, was.factory) {
		return false
	}
	if c.equalNames && c.equalBridges && c.equalTopics {
		return true
	}
	return !slices.ContainsFunc(was.uses, func(u use) bool { return u.check(c) != nil })
}

// sameFactory compares two factories; those that cannot be compared are different.
func sameFactory(a, b actor.Factory) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(a) == reflect.TypeOf(b) && a == b
}

// misplaced says of unknown keys that belong into a block of the actor where they
// belong.
func (c *checker) misplaced(behaviour string, errs []actor.FieldError) []actor.FieldError {
	blocks := slices.Clone(actorSchema.Fields)
	if f, ok := c.reg.Behaviour(behaviour); ok {
		blocks = slices.Insert(blocks, 0, actor.Field{Name: "args", Kind: actor.ObjectField, Fields: f.Schema().Fields})
	}
	for i, e := range errs {
		for _, block := range blocks {
			if _, ok := (actor.Schema{Fields: block.Fields}).Field(e.Path[0]); ok && e.Key && len(e.Path) == 1 {
				errs[i].Err = fmt.Errorf("unknown key; it belongs in %s { }", block.Name)
				break
			}
		}
	}
	return errs
}

// broken names the keys whose values could not be decoded. What depends on them
// is not checked further, since it would only give false alarms.
func broken(errs []actor.FieldError) map[string]bool {
	out := map[string]bool{}
	for _, e := range errs {
		if !e.Key && len(e.Path) > 0 {
			out[e.Path[0]] = true
		}
	}
	return out
}

// behaviour finds the factory and reads the arguments.
func (c *checker) behaviour(a *Actor, e *entry, v *value) {
	if a.Behaviour == "" {
		return
	}
	f, ok := c.reg.Behaviour(a.Behaviour)
	if !ok {
		c.at(v, []string{"behaviour"}, c.unknownBehaviour(a.Behaviour))
		return
	}
	e.factory = f
	args := v.get("args")
	if args != nil && !args.isObject() && !args.isNull() {
		return // the schema of actors reports it
	}
	at := usage{path: a.Path, value: v, at: []string{"args"}, network: "tcp"}
	fields := f.Schema().Fields
	a.Args, a.Prepared, ok = c.arguments(at, f, fields, c.reveal(args, fields).raw(fields))
	if ok {
		a.ArgSettings = settings("args", actor.Handover, fields, a.Args)
	}
}

func (c *checker) unknownBehaviour(name string) error {
	known := c.reg.Behaviours()
	if hint := actor.DidYouMean(name, known); hint != "" {
		return fmt.Errorf("unknown behaviour %q%s", name, hint)
	}
	plugin, behaviour, ok := strings.Cut(name, "/")
	if !ok {
		return fmt.Errorf("unknown behaviour %q%s", name, list("known are ", known))
	}
	var plugins []string
	for name := range entries(valueOf(c.tree.Lookup(root, "plugins"))) {
		plugins = append(plugins, name)
	}
	if !slices.Contains(plugins, plugin) {
		if hint := actor.DidYouMean(plugin, plugins); hint != "" {
			return fmt.Errorf("plugin %q is not declared%s", plugin, hint)
		}
		return fmt.Errorf("plugin %q is not declared (add plugins { %s { command = [ … ] } })", plugin, plugin)
	}
	var own []string
	for _, k := range known {
		if b, ok := strings.CutPrefix(k, plugin+"/"); ok {
			own = append(own, b)
		}
	}
	return fmt.Errorf("plugin %q has no behaviour %q%s", plugin, behaviour, list("it has ", own))
}

// list writes words in parentheses, "" when there are none.
func list(intro string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " (" + intro + strings.Join(words, ", ") + ")"
}
