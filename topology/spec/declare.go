package spec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// group is one block of actors { } or children { }: one actor, or the actors of a
// foreach or a count.
type group struct {
	key     string
	block   *value // as it stands there
	body    *value // with templates below it, without the keys for reuse
	many    bool
	plain   bool        // one actor that says nothing about reuse
	name    *hocon.Node // pattern for the names; nil when the key is the name
	stencil *stencil
	entries []*entry
}

// entry is an actor that is declared: known by its path before anything in it is
// looked at.
type entry struct {
	path  actor.Path
	group *group
	item  item
	block *value // body with the item put in; made when asked for, and let go after the check
	kids  []*group

	was  *entry // the same actor at the check before; nil again when this one is over
	same bool   // its block is equal to that

	// What the check made of it.
	actor   *Actor
	common  *common
	sum     sum
	under   *value // child-supervision of the actor above
	over    *value // child-supervision of its own, for its children
	factory actor.Factory
	uses    []use
	fresh   bool // it is read again by every check, since it depends on more than its block
}

// own returns the actor's block.
func (e *entry) own() *value {
	switch {
	case e.block != nil:
	case e.group.many:
		e.block = e.group.stencil.actor(e.group.body, e.item, 0)
	default:
		e.block = e.group.body
	}
	return e.block
}

// pos is the place of the actor's name.
func (e *entry) pos() hocon.Pos {
	if e.item.node != nil && e.item.node.KeyPos.Line > 0 {
		return e.item.node.KeyPos // in a map, each has a key of its own
	}
	return e.group.block.node.KeyPos
}

// declare notes which actors and bridges there are, so that targets can be
// checked in whatever order they are written.
func (c *checker) declare(file *value) {
	c.bridge = maps.Collect(entries(file.get("bridges")))
	c.declareTopics(file)
	c.readTemplates(file)
	var before []*group
	if m := c.before; m != nil {
		c.equalTopics = maps.Equal(m.topic, c.topic)
		c.equalBridges = m.bridges.equal(file.get("bridges")) && m.topics.equal(file.get("topics"))
		c.equalTop = m.defaults.equal(file.get("actor-defaults")) && m.templates.equal(file.get("templates"))
		before = m.groups
	}
	c.equalNames = c.before != nil
	c.groups = c.declareBlock(actor.User, file.get("actors"), before)
	if c.equalNames && c.number == len(c.before.declared) {
		c.declared = c.before.declared
	} else {
		c.equalNames = false
		c.declared = make(map[actor.Path]bool, c.number)
		c.index(c.groups)
	}
}

// index fills declared: every path, and whether children are declared below it.
func (c *checker) index(groups []*group) {
	for _, g := range groups {
		for _, e := range g.entries {
			if _, taken := c.declared[e.path]; taken {
				c.nameAt(g, fmt.Errorf("two actors would be %s (the name of each must hold what differs, e.g. name = \"%s-{key}\")", e.path, g.key))
			}
			c.declared[e.path] = len(e.kids) > 0
			c.index(e.kids)
		}
	}
}

// nameAt reports a name that a block gives to an actor.
func (c *checker) nameAt(g *group, err error) {
	if g.name == nil {
		c.atKey(g.block, nil, err)
		return
	}
	c.add(g.name.Pos, shown(g.name, nil), err)
}

// declareBlock notes the actors of actors { } or children { }. Before is what was
// there at the check before.
func (c *checker) declareBlock(parent actor.Path, block *value, before []*group) []*group {
	var out []*group
	was := finder{groups: before}
	for key, v := range entries(block) {
		if !v.isObject() {
			c.at(v, nil, fmt.Errorf("an actor is an object (want %s { behaviour = … })", key))
			continue
		}
		out = append(out, c.declareGroup(parent, key, v, was.find(key)))
	}
	return out
}

// finder finds groups by key, fast when they are asked for in their order.
type finder struct {
	groups []*group
	next   int
	byKey  map[string]int
}

func (f *finder) find(key string) *group {
	if f.next < len(f.groups) && f.groups[f.next].key == key {
		f.next++
		return f.groups[f.next-1]
	}
	if f.byKey == nil {
		f.byKey = make(map[string]int, len(f.groups))
		for i, g := range f.groups {
			f.byKey[g.key] = i
		}
	}
	i, ok := f.byKey[key]
	if !ok {
		return nil
	}
	f.next = i + 1
	return f.groups[i]
}

// alone is a group of one actor, all that most blocks need in one piece.
type alone struct {
	group
	entry entry
	list  [1]*entry
}

// unchanged returns the group of a block that says what it said at the check
// before, without a look into it; nil when it does not, or says more than one
// actor.
func (c *checker) unchanged(parent actor.Path, key string, v *value, was *group) *group {
	if was == nil || !was.plain || !c.equalTop || len(was.entries) != 1 || v.made || !v.node.Equal(was.block.node) {
		return nil
	}
	a := &alone{group: group{key: key, block: v, body: v, plain: true}}
	a.entry = entry{group: &a.group, was: was.entries[0], same: true}
	a.list[0] = &a.entry
	a.entries = a.list[:]
	c.locate(parent, &a.entry)
	return &a.group
}

func (c *checker) declareGroup(parent actor.Path, key string, v *value, was *group) *group {
	if g := c.unchanged(parent, key, v, was); g != nil {
		return g
	}
	full := c.used(v)
	g := &group{key: key, block: v, body: full}
	items, many := c.items(full)
	g.many = many
	if many {
		g.stencil = c.stencil()
	} else {
		items = []item{{}}
	}
	g.name = c.pattern(full, key, many)
	if full != v || slices.ContainsFunc(reuseKeys, func(k string) bool { return v.get(k) != nil }) {
		g.body = full.without(reuseKeys...)
	}
	g.plain = g.body == v && !v.made
	equal := was != nil && c.equalTop && was.many == many && g.equal(was)
	g.entries = make([]*entry, 0, len(items))
	own := make([]entry, len(items))
	for i, it := range items {
		e := &own[i]
		e.group, e.item = g, it
		if was != nil && i < len(was.entries) {
			e.was = was.entries[i]
			e.same = equal && it.equal(e.was.item)
		}
		if c.locate(parent, e) {
			g.entries = append(g.entries, e)
		}
	}
	return g
}

func (it item) equal(was item) bool {
	return it.key == was.key && it.index == was.index && it.node.Equal(was.node)
}

// equal reports whether two groups say the same apart from the items.
func (g *group) equal(was *group) bool {
	if !g.many {
		return g.block.equal(was.block)
	}
	return g.body.equal(was.body) && g.name.Equal(was.name)
}

// hasChildren reports whether children are declared, without a look at anything
// else.
func (g *group) hasChildren() bool {
	if g.body.made {
		return g.body.get("children").isObject()
	}
	kids := g.body.node.Get("children")
	return kids != nil && kids.Kind == hocon.Object
}

// pattern is how the actors of a block are called.
func (c *checker) pattern(full *value, key string, many bool) *hocon.Node {
	name := full.get("name")
	switch {
	case name.isNull() && !many:
		return nil
	case name.isNull():
		return full.node.WithText(key + "-{key}")
	case !many:
		c.atKey(full, []string{"name"}, fmt.Errorf("the key %q is the name; name goes with foreach or count", key))
		return nil
	}
	if _, err := name.node.Str(); err != nil {
		c.at(full, []string{"name"}, err)
		return full.node.WithText(key + "-{key}")
	}
	return name.node
}

// locate gives an entry its path and declares what is below it; false when its
// name is wrong.
func (c *checker) locate(parent actor.Path, e *entry) bool {
	c.number++
	if e.same {
		e.path = e.was.path
	} else {
		name := e.group.key
		if e.group.name != nil {
			name = e.group.stencil.leaf(e.group.name, e.item, 0).Text
		}
		if err := actor.CheckName(name); err != nil {
			c.nameAt(e.group, err)
			return false
		}
		e.path = parent.Child(name)
	}
	if e.group.hasChildren() {
		var before []*group
		if e.was != nil {
			before = e.was.kids
		}
		e.kids = c.declareBlock(e.path, e.own().get("children"), before)
	}
	if e.was == nil || e.was.path != e.path || (len(e.was.kids) > 0) != (len(e.kids) > 0) {
		c.equalNames = false
	}
	return true
}

// stencil makes what puts the items of a block into its texts.
func (c *checker) stencil() *stencil {
	return &stencil{
		texts: map[*hocon.Node][]piece{}, static: map[seen]bool{},
		report: func(n *hocon.Node, err error) { c.add(n.Pos, shown(n, nil), err) },
		multi: func(v *value) bool {
			if !v.isObject() {
				return false
			}
			full := c.used(v)
			return !full.get("foreach").isNull() || !full.get("count").isNull()
		},
	}
}
