package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// reuseKeys are the keys of an actor's block that say how it is reused; the actors
// that it makes do not have them.
var reuseKeys = []string{"use", "foreach", "count", "name"}

// template is one of templates { }, with those that it uses below it.
type template struct {
	value *value
	used  bool
	busy  bool
}

// readTemplates finds the templates of the file and checks their keys.
func (c *checker) readTemplates(file *value) {
	c.templates = map[string]*template{}
	for name, v := range entries(file.get("templates")) {
		if !v.isObject() {
			c.at(v, nil, fmt.Errorf("a template is an object (want %s { … })", name))
			continue
		}
		c.templates[name] = &template{value: v}
		_, errs := actor.Schema{Fields: optional(actorSchema.Fields)}.Decode(v.raw(actorSchema.Fields))
		errs = slices.DeleteFunc(errs, func(e actor.FieldError) bool { return !e.Key && c.hasPlaceholder(v, e.Path) })
		c.fields(v, nil, errs)
	}
}

// hasPlaceholder reports whether the value at a path is known only when an item is
// put in.
func (c *checker) hasPlaceholder(v *value, path []string) bool {
	n, _ := v.find(path)
	return pieces(n.Text) != nil
}

// used puts the templates that a block names below it.
func (c *checker) used(v *value) *value {
	use := v.get("use")
	if use.isNull() {
		return v
	}
	names := []*hocon.Node{use.node}
	if use.node.Kind == hocon.Array {
		names = use.node.Elems()
	}
	var under *value
	for _, n := range names {
		if t := c.template(n); t != nil {
			under = merge(under, t)
		}
	}
	return merge(under, v)
}

// template returns the template that a use names; nil after it has reported why
// there is none.
func (c *checker) template(n *hocon.Node) *value {
	name, err := n.Str()
	if err != nil {
		c.add(n.Pos, shown(n, nil), err)
		return nil
	}
	t := c.templates[name]
	switch {
	case t == nil:
		c.add(n.Pos, shown(n, nil), fmt.Errorf("template %q is not declared%s", name, c.otherTemplate(name)))
		return nil
	case t.busy:
		c.add(n.Pos, shown(n, nil), fmt.Errorf("template %q uses itself in the end", name))
		return nil
	}
	t.busy, t.used = true, true
	defer func() { t.busy = false }()
	return c.used(t.value).without("use")
}

func (c *checker) otherTemplate(name string) string {
	var known []string
	for k := range c.templates {
		known = append(known, k)
	}
	slices.Sort(known)
	if len(known) == 0 {
		return fmt.Sprintf(" (add templates { %s { … } })", name)
	}
	if s := actor.DidYouMean(name, known); s != "" {
		return s
	}
	return " (there are " + strings.Join(known, ", ") + ")"
}

// withoutReuse takes what cannot be a default from actor-defaults and reports it.
func (c *checker) withoutReuse(defaults *value) *value {
	if !defaults.isObject() {
		return defaults
	}
	if defaults.get("children") != nil {
		c.atKey(defaults, []string{"children"}, fmt.Errorf("children cannot be a default; write them where they belong"))
	}
	for _, k := range reuseKeys {
		if defaults.get(k) != nil {
			c.atKey(defaults, []string{k}, fmt.Errorf("%s cannot be a default; write it in the actor or in a template", k))
		}
	}
	return defaults.without(append([]string{"children"}, reuseKeys...)...)
}
