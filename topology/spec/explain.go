package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// Explanation is what is known of one key.
type Explanation struct {
	Key    string      // from actord { } on; NAME stands for a name of the author's choice
	Field  actor.Field // its declaration
	Class  actor.Class // what a reload does with a change; never ""
	Value  string      // in force, secrets masked; "" when the key was asked for in general
	Origin string      // what gave the value: "the actor itself", "template t", "built-in default"; "" without a value
	Pos    hocon.Pos   // where it is written; zero for a built-in default
	Before []hocon.Pos // earlier values of the same file that it replaced
}

// Explain says what is known of a key: in general for "mailbox.capacity",
// "router.rules" or "reload.poll"; with its value and where that comes from for
// "actors.intake.mailbox.capacity". A path such as "/user/intake" or
// "/system/bridges/web" stands for all that its block can hold. The tree may be
// nil, or wrong in other places.
func Explain(t *hocon.Tree, reg *actor.Registry, query string) ([]Explanation, error) {
	x := newExplainer(t, reg)
	switch {
	case strings.HasPrefix(query, "/"):
		return x.path(actor.Path(query))
	case strings.Contains(query, "/") && !strings.Contains(query, "."):
		return x.general(query)
	}
	if out, ok := x.placed(splitKey(strings.TrimPrefix(query, root+"."))); ok {
		return out, nil
	}
	return x.general(query)
}

// splitKey takes a key path apart; elements of lists are keys, too.
func splitKey(key string) []string {
	key = strings.NewReplacer("[", ".", "]", "").Replace(key)
	var out []string
	for part := range strings.SplitSeq(key, ".") {
		out = append(out, strings.Trim(part, `"`))
	}
	return out
}

// explainer knows a checked file, as far as it can be read.
type explainer struct {
	*checker
	file   *value
	system *System
}

func newExplainer(t *hocon.Tree, reg *actor.Registry) *explainer {
	x := &explainer{checker: newChecker(t, reg, Options{Secrets: &Secrets{NoExec: true}})}
	if t != nil && t.Lookup(root).Len() > 0 {
		x.file = valueOf(t.Lookup(root))
		x.system = x.checker.file()
	}
	return x
}

// block is a part of the file with its schema.
type block struct {
	key      string // of the block
	fields   []actor.Field
	class    actor.Class
	value    *value    // with everything that lies under it; nil when nothing is written
	settings []Setting // in force
	own      string    // what an origin in the block itself is called
}

// placed explains a key of the file.
func (x *explainer) placed(keys []string) ([]Explanation, bool) {
	b, rest, ok := x.find(keys)
	if !ok {
		return nil, false
	}
	if len(rest) == 0 {
		return x.all(b), true
	}
	e, ok := b.explain(rest)
	if !ok {
		return nil, false
	}
	return []Explanation{e}, true
}

// find returns the block that a key is in and what of the key is inside it.
func (x *explainer) find(keys []string) (block, []string, bool) {
	named := map[string]string{
		"actors": "the actor itself", "templates": "the template itself", "bridges": "the bridge itself",
		"plugins": "the plugin itself", "topics": "the topic itself",
	}
	section := keys[0]
	switch {
	case named[section] != "" && len(keys) < 2:
		return block{}, nil, false
	case section == "actors":
		return x.actorBlock(keys)
	case section == "templates":
		return block{key: "templates." + keys[1], fields: actorSchema.Fields, class: actor.Live, value: x.file.get("templates").get(keys[1]), own: named[section]}, keys[2:], true
	case section == "bridges":
		return x.bridgeBlock(keys[1]), keys[2:], true
	case section == "plugins":
		return x.pluginBlock(keys[1]), keys[2:], true
	case section == "topics":
		return x.topicBlock(keys[1]), keys[2:], true
	case section == "actor-defaults":
		return block{key: section, fields: actorSchema.Fields, class: actor.Live, value: x.file.get(section), own: section}, keys[1:], true
	case section == "plugin-defaults":
		return block{key: section, fields: pluginSchema.Fields, class: actor.Replace, value: x.file.get(section), own: section}, keys[1:], true
	}
	if _, ok := fileSchema.Field(section); !ok || section == "bridge-defaults" || section == "profiles" {
		return block{}, nil, false
	}
	b := block{fields: fileSchema.Fields, class: actor.Live, value: x.file, own: "the file"}
	if x.system != nil {
		b.settings = x.system.Settings
	}
	return b, keys, true
}

func (x *explainer) actorBlock(keys []string) (block, []string, bool) {
	path := actor.User.Child(keys[1])
	keys = keys[2:]
	for len(keys) > 1 && keys[0] == "children" {
		path, keys = path.Child(keys[1]), keys[2:]
	}
	e := x.entryAt(path)
	if e == nil {
		return block{}, nil, false
	}
	return x.ofEntry(e), keys, true
}

// entryAt returns the actor at a path, or the first that the block of that key
// makes; nil when there is none.
func (x *explainer) entryAt(path actor.Path) *entry {
	var found *entry
	eachEntry(x.groups, func(e *entry) {
		if e.path == path || found == nil && e.path.Parent().Child(e.group.key) == path {
			found = e
		}
	})
	return found
}

func (x *explainer) ofEntry(e *entry) block {
	defaults := x.withoutReuse(x.file.get("actor-defaults"))
	own := e.own()
	v := x.overDefaults(defaults, own)
	v.set("supervision", merge(merge(defaults.get("supervision"), e.under), own.get("supervision")))
	v.set("child-supervision", merge(defaults.get("supervision"), v.get("child-supervision")))
	b := block{key: shown(e.group.block.node, nil), fields: slices.Clone(actorSchema.Fields), class: actor.Live, value: v, own: "the actor itself"}
	if e.actor != nil {
		b.settings = slices.Concat(e.actor.Settings, e.actor.ArgSettings)
		b.withArgs(x.reg, e.actor.Behaviour)
	}
	return b
}

// withArgs puts the schema of a behaviour in the place of args.
func (b *block) withArgs(reg *actor.Registry, behaviour string) {
	f, ok := reg.Behaviour(behaviour)
	i := slices.IndexFunc(b.fields, func(f actor.Field) bool { return f.Name == "args" })
	if ok && i >= 0 {
		b.fields[i] = actor.Field{Name: "args", Kind: actor.ObjectField, Doc: f.Schema().Doc, Class: actor.Handover, Fields: f.Schema().Fields}
	}
}

func (x *explainer) bridgeBlock(name string) block {
	own := x.file.get("bridges").get(name)
	b := block{key: "bridges." + name, fields: bridgeSchema.Fields, class: actor.Reconnect, value: own, own: "the bridge itself"}
	kind, _ := own.get("type").text()
	if f, ok := x.reg.Bridge(kind); ok {
		b.fields = bridgeFields(f)
		defaults := x.file.get("bridge-defaults")
		b.value = merge(merge(spread(b.fields, defaults, own), spread(b.fields, defaults.get(kind), own)), own)
	}
	if x.system != nil {
		for _, s := range x.system.Bridges {
			if s.Path.Name() == name {
				b.settings = s.Settings
			}
		}
	}
	return b
}

func (x *explainer) pluginBlock(name string) block {
	b := block{key: "plugins." + name, fields: pluginSchema.Fields, class: actor.Replace, own: "the plugin itself"}
	b.value = merge(x.file.get("plugin-defaults"), x.file.get("plugins").get(name))
	if x.system != nil {
		for _, s := range x.system.Plugins {
			if s.Name == name {
				b.settings = s.Settings
			}
		}
	}
	return b
}

func (x *explainer) topicBlock(name string) block {
	b := block{key: "topics." + name, fields: topicSchema.Fields, class: actor.Rewire, value: x.file.get("topics").get(name), own: "the topic itself"}
	if x.system != nil {
		for _, s := range x.system.Topics {
			if s.Name == name {
				b.settings = s.Settings
			}
		}
	}
	return b
}

// path explains all that is in force for an actor or a bridge.
func (x *explainer) path(p actor.Path) ([]Explanation, error) {
	bridges := actor.System.Child("bridges")
	if p.Parent() == bridges {
		if x.file.get("bridges").get(p.Name()) == nil {
			return nil, x.knownBridge(p)
		}
		return x.all(x.bridgeBlock(p.Name())), nil
	}
	e := x.entryAt(p)
	if e == nil {
		return nil, fmt.Errorf("no actor is declared at %s%s", p, x.nearest(p))
	}
	return x.all(x.ofEntry(e)), nil
}

// all explains every setting that is in force in a block.
func (x *explainer) all(b block) []Explanation {
	var out []Explanation
	for _, s := range b.settings {
		if e, ok := b.explain(splitKey(s.Key)); ok {
			e.Key = under(b.key, s.Key)
			out = append(out, e)
		}
	}
	return out
}

// under writes a key behind the one that it is in.
func under(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

// explain explains a key inside the block.
func (b block) explain(keys []string) (Explanation, bool) {
	f, class, ok := fieldAt(b.fields, b.class, keys)
	if !ok {
		return Explanation{}, false
	}
	e := Explanation{Field: f, Class: class, Key: under(b.key, strings.Join(keys, "."))}
	plain := func(key string) bool { return strings.Join(splitKey(key), ".") == strings.Join(keys, ".") }
	i := slices.IndexFunc(b.settings, func(s Setting) bool { return plain(s.Key) })
	if i >= 0 {
		e.Value = b.settings[i].Shown()
	}
	if b.value == nil {
		return e, true
	}
	n, rest := b.value.find(keys)
	if len(rest) > 0 || n.Kind == hocon.Null {
		if e.Value != "" {
			e.Origin = "built-in default"
		}
		return e, true
	}
	e.Pos, e.Before = n.Pos, n.Overrides
	e.Origin = origin(n, b.own)
	return e, true
}

// origin says which layer of the configuration a value stands in.
func origin(n *hocon.Node, own string) string {
	keys := n.Keys()
	if len(keys) > 0 && keys[0] == root {
		keys = keys[1:]
	}
	layer := own
	switch {
	case strings.HasPrefix(n.Pos.File, "-D "):
		return "the command line"
	case len(keys) > 1 && keys[0] == "templates":
		layer = "template " + keys[1]
	case len(keys) > 0 && strings.HasSuffix(keys[0], "-defaults"):
		layer = keys[0]
	}
	if n.FromEnv() {
		layer += ", from the environment"
	} else if len(n.Via) > 0 {
		layer += ", by the substitution at " + n.Via[0].String()
	}
	return layer
}

// fieldAt follows a key through fields and returns the last one with the class
// that it has or inherits. Names in maps and numbers in lists are passed over.
func fieldAt(fields []actor.Field, class actor.Class, keys []string) (actor.Field, actor.Class, bool) {
	f, ok := actor.Schema{Fields: fields}.Field(keys[0])
	if !ok {
		return f, class, false
	}
	class, keys = cmp.Or(f.Class, class), keys[1:]
	for len(keys) > 0 {
		switch f.Kind {
		case actor.ObjectField:
			return fieldAt(f.Fields, class, keys)
		case actor.ListField:
			if _, err := strconv.Atoi(keys[0]); err == nil {
				keys = keys[1:]
			}
		case actor.MapField:
			keys = keys[1:]
		default:
			return f, class, false
		}
		name, doc := f.Name, f.Doc
		f = *f.Elem
		f.Name, f.Doc = cmp.Or(f.Name, name), cmp.Or(f.Doc, doc)
	}
	return f, class, true
}

// general explains a key wherever it may stand.
func (x *explainer) general(query string) ([]Explanation, error) {
	var out []Explanation
	var known []string
	for _, s := range x.sections() {
		visitFields(s.key, s.class, s.fields, func(key string, class actor.Class, f actor.Field) {
			known = append(known, key)
			if key == query || strings.HasSuffix(key, "."+query) || s.key == query {
				out = append(out, Explanation{Key: key, Field: f, Class: class})
			}
		})
	}
	if out == nil {
		last := query[strings.LastIndexByte(query, '.')+1:]
		for i, k := range known {
			known[i] = k[strings.LastIndexByte(k, '.')+1:]
		}
		return nil, fmt.Errorf("no key is called %q%s", query, actor.DidYouMean(last, known))
	}
	return out, nil
}

// sections are all places where keys may stand.
func (x *explainer) sections() []block {
	fields := slices.DeleteFunc(slices.Clone(fileSchema.Fields), func(f actor.Field) bool { return f.Kind == actor.MapField })
	out := []block{
		{fields: fields, class: actor.Live},
		{key: "actors.NAME", fields: actorSchema.Fields, class: actor.Live},
		{key: "bridges.NAME", fields: bridgeSchema.Fields, class: actor.Reconnect},
		{key: "plugins.NAME", fields: pluginSchema.Fields, class: actor.Replace},
		{key: "topics.NAME", fields: topicSchema.Fields, class: actor.Rewire},
	}
	for _, name := range x.reg.Behaviours() {
		f, _ := x.reg.Behaviour(name)
		out = append(out, block{key: name, fields: f.Schema().Fields, class: actor.Handover})
	}
	for _, name := range x.reg.Bridges() {
		f, _ := x.reg.Bridge(name)
		out = append(out, block{key: name, fields: f.Schema().Fields, class: actor.Reconnect})
	}
	return out
}

func visitFields(prefix string, class actor.Class, fields []actor.Field, visit func(string, actor.Class, actor.Field)) {
	for _, f := range fields {
		key, class := under(prefix, f.Name), cmp.Or(f.Class, class)
		visit(key, class, f)
		switch {
		case f.Kind == actor.ObjectField:
			visitFields(key, class, f.Fields, visit)
		case f.Kind == actor.ListField && f.Elem.Kind == actor.ObjectField:
			visitFields(key, class, f.Elem.Fields, visit)
		case f.Kind == actor.MapField && f.Elem.Kind == actor.ObjectField:
			visitFields(key+".NAME", class, f.Elem.Fields, visit)
		}
	}
}
