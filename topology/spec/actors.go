package spec

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// declaration is an actor that is written down, before it is looked at.
type declaration struct {
	parent bool // children are declared as well
}

// declare notes which actors and bridges there are, so that targets can be
// checked in whatever order they are written.
func (c *checker) declare(file *value) {
	c.declared, c.bridge = map[actor.Path]*declaration{}, map[string]*value{}
	c.declareActors(actor.User, file.get("actors"))
	maps.Insert(c.bridge, entries(file.get("bridges")))
}

func (c *checker) declareActors(parent actor.Path, block *value) {
	for name, v := range entries(block) {
		path := parent.Child(name)
		kids := v.get("children")
		c.declared[path] = &declaration{parent: len(kids.keys()) > 0}
		c.declareActors(path, kids)
	}
}

// actors reads the actors section.
func (c *checker) actors(file *value) []*Actor {
	defaults := file.get("actor-defaults")
	if kids := defaults.get("children"); kids != nil {
		c.atKey(defaults, []string{"children"}, fmt.Errorf("children cannot be a default; write them where they belong"))
		defaults = defaults.without("children")
	}
	if defaults.isObject() {
		_, errs := actor.Schema{Fields: optional(actorSchema.Fields)}.Decode(defaults.raw(actorSchema.Fields))
		c.fields(defaults, nil, errs)
	}
	return c.children(actor.User, file.get("actors"), defaults, nil)
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

// children reads a block of actors. Under is the child-supervision of the actor
// above them.
func (c *checker) children(parent actor.Path, block, defaults, under *value) []*Actor {
	var out []*Actor
	for name, own := range entries(block) {
		if err := actor.CheckName(name); err != nil {
			c.atKey(block, []string{name}, err)
			continue
		}
		if !own.isObject() {
			c.at(own, nil, fmt.Errorf("an actor is an object (want %s { behaviour = … })", name))
			continue
		}
		out = append(out, c.actor(parent.Child(name), own, defaults, under))
	}
	slices.SortStableFunc(out, func(a, b *Actor) int { return cmp.Compare(a.StartOrder, b.StartOrder) })
	return out
}

// actor reads one actor and those below it.
func (c *checker) actor(path actor.Path, own, defaults, under *value) *Actor {
	v := merge(defaults, own).clone()
	supervision := defaults.get("supervision")
	v.set("supervision", merge(merge(supervision, under), own.get("supervision")))
	childSupervision := v.get("child-supervision")
	v.set("child-supervision", merge(supervision, childSupervision))

	a := &Actor{Path: path, Pos: own.node.KeyPos}
	values, errs := actorSchema.Decode(v.raw(actorSchema.Fields))
	a.Behaviour, _ = values["behaviour"].(string)
	c.fields(v, nil, c.misplaced(a.Behaviour, errs))
	c.behaviour(a, v)
	c.fillActor(a, v, own, values, broken(errs))
	a.Children = c.children(path, own.get("children"), defaults, childSupervision)
	a.Hash = digest(slices.Concat(a.Settings, a.ArgSettings), hashes(a.Children)...)
	return a
}

// misplaced says of unknown keys that belong into a block of the actor where they
// belong.
func (c *checker) misplaced(behaviour string, errs []actor.FieldError) []actor.FieldError {
	blocks := slices.Clone(actorSchema.Fields)
	if f, ok := c.reg.Behaviour(behaviour); ok {
		blocks = append(blocks, actor.Field{Name: "args", Kind: actor.ObjectField, Fields: f.Schema().Fields})
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

func hashes(actors []*Actor) []string {
	var out []string
	for _, a := range actors {
		out = append(out, a.Path.Name()+" "+a.Hash)
	}
	slices.Sort(out)
	return out
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

// fillActor reads what every actor has.
func (c *checker) fillActor(a *Actor, v, own *value, values map[string]any, bad map[string]bool) {
	maps.DeleteFunc(values, func(key string, _ any) bool { return bad[key] || key == "args" || key == "children" })
	conf := actor.Fill[actorConf](values)
	a.Description, a.StopTimeout, a.HandlerWarn = conf.Description, conf.StopTimeout, conf.HandlerWarn
	a.OnFull, a.StartOrder = conf.OnFull, conf.StartOrder
	a.Was = c.was(v, conf.Was)
	a.Supervision = c.strategy(v, "supervision", conf.Supervision)
	a.ChildSupervision = c.strategy(v, "child-supervision", conf.ChildSupervision)
	if box, ok := values["mailbox"].(map[string]any); ok {
		c.mailbox(a, v, own, conf.Mailbox)
		delete(box, "overflow")
		if a.Mailbox.Capacity > 0 {
			box["overflow"] = a.Mailbox.Overflow.String()
		}
	}
	a.Settings = settings("", actor.Live, actorSchema.Fields, values)
}

// mailbox reads the queue's bounds and its priority.
func (c *checker) mailbox(a *Actor, v, own *value, conf mailboxConf) {
	at := []string{"mailbox", "overflow"}
	a.Mailbox = mailbox.Settings{
		Capacity: conf.Capacity, BlockTimeout: conf.BlockTimeout, WarnAt: conf.WarnAt, Ranked: conf.Priority != "",
	}
	if given := own.get("mailbox").get("overflow"); !given.isNull() && conf.Capacity == 0 {
		c.at(v, at, fmt.Errorf("overflow needs a capacity; without one the mailbox never overflows (add capacity = 1000)"))
		return
	}
	switch {
	case conf.Capacity == 0:
	case conf.Overflow != "":
		// The schema has checked the word.
		a.Mailbox.Overflow, _ = mailbox.ParseOverflow(conf.Overflow)
	case a.Mailbox.Ranked:
		a.Mailbox.Overflow = mailbox.Reject
	}
	if err := a.Mailbox.Check(); err != nil {
		c.at(v, at, err)
	}
	a.Priority, a.PriorityDefault = string(conf.Priority), conf.PriorityElse
	if a.PriorityDefault == math.MaxInt64 {
		a.PriorityDefault = math.Inf(1)
	}
	if p := c.compile(v, []string{"mailbox", "priority"}, actor.NumberSite, a.Priority); p != nil {
		a.Rank = p.Rank(a.PriorityDefault, nil)
	}
}

// behaviour finds the factory and reads the arguments.
func (c *checker) behaviour(a *Actor, v *value) {
	if a.Behaviour == "" {
		return
	}
	f, ok := c.reg.Behaviour(a.Behaviour)
	if !ok {
		c.at(v, []string{"behaviour"}, c.unknownBehaviour(a.Behaviour))
		return
	}
	args := v.get("args")
	if args != nil && !args.isObject() && !args.isNull() {
		return // the schema of actors reports it
	}
	at := usage{path: a.Path, value: v, at: []string{"args"}, network: "tcp"}
	fields := f.Schema().Fields
	a.Args, a.Prepared, ok = c.arguments(at, f, fields, args.raw(fields))
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
