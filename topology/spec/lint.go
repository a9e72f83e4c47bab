package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/topology/hocon"
)

// The rules of warnings.
const (
	ruleOutsideCapacity  = "bridge-target-without-capacity"
	ruleImplicitOverflow = "implicit-overflow"
	ruleOverridden       = "key-overridden"
	ruleUnreachable      = "unreachable-actor"
	ruleReject           = "reject-without-on-full"
	rulePlainSecret      = "plain-text-secret"
	ruleUnusedTemplate   = "unused-template"
	ruleOutside          = "outside-actord"
)

// Rules lists the rules of warnings with what each is about.
func Rules() map[string]string {
	return map[string]string{
		ruleOutsideCapacity:  "A bridge sends to an actor whose mailbox has no capacity, so what comes from outside can fill the memory.",
		ruleImplicitOverflow: "A mailbox has a capacity and does not say what happens when it is full.",
		ruleOverridden:       "A key is given twice in the same file; the later one counts.",
		ruleUnreachable:      "Nothing that is declared sends to an actor.",
		ruleReject:           "An actor sends to a mailbox that rejects when it is full, and does not say what becomes of the message.",
		rulePlainSecret:      "A secret stands in the file as it is.",
		ruleUnusedTemplate:   "No actor uses a template.",
		ruleOutside:          "A section stands outside actord { }, where nothing reads it.",
	}
}

// wire is a target that a bridge, a subscription or a topic names.
type wire struct {
	from actor.Path // of a bridge; "" for others
	to   actor.Path
	node *hocon.Node
	rest []string
}

// lintOutside finds sections that were meant to be inside actord { }.
func (c *checker) lintOutside() {
	for _, f := range c.tree.Root.Fields() {
		if _, section := fileSchema.Field(f.Key); section && f.Key != root && f.Value.Kind == hocon.Object {
			c.warn(f.KeyPos, f.Key, ruleOutside, "nothing reads this; sections stand inside actord { }, as actord.%s", f.Key)
		}
	}
}

// lint looks for what is likely wrong but works.
func (c *checker) lint(s *System) {
	c.lintOverridden(c.tree.Lookup(root))
	c.lintOutside()
	for name, t := range c.templates {
		if !t.used {
			c.warn(t.value.node.KeyPos, "templates."+name, ruleUnusedTemplate, "nothing uses this template")
		}
	}
	byPath := map[actor.Path]*entry{}
	reached := map[actor.Path]bool{}
	for _, w := range c.wires {
		reached[w.to] = true
	}
	for _, t := range s.Topics {
		for _, p := range t.Subscribers {
			reached[p] = true
		}
	}
	eachEntry(c.groups, func(e *entry) {
		byPath[e.path] = e
		for _, u := range e.uses {
			if to := u.leadsTo(); to != e.path {
				reached[to] = true
			}
		}
	})
	c.lintWires(byPath)
	seen := map[*group]bool{}
	eachEntry(c.groups, func(e *entry) {
		c.lintReject(e, byPath)
		if !seen[e.group] && e.isUnreachable(c, reached) {
			seen[e.group] = true
			c.warn(e.pos(), shown(e.group.block.node, nil), ruleUnreachable, "nothing that is declared sends to %s", e.path)
		}
	})
}

func eachEntry(groups []*group, visit func(*entry)) {
	for _, g := range groups {
		for _, e := range g.entries {
			visit(e)
			eachEntry(e.kids, visit)
		}
	}
}

// leadsTo returns the path of what is used.
func (u use) leadsTo() actor.Path {
	switch {
	case u.watched:
		return ""
	case u.target == "":
		return u.path
	}
	_, path, err := u.target.Parse(u.base)
	if err != nil {
		return ""
	}
	return path
}

func (c *checker) lintOverridden(n *hocon.Node) {
	if over := n.Overrides; len(over) > 0 {
		c.warn(n.Pos, shown(n, nil), ruleOverridden, "this replaces the value at %s in the same file", over[len(over)-1])
	}
	for _, e := range n.Elems() {
		c.lintOverridden(e)
	}
	for kid := range n.Kids() {
		c.lintOverridden(kid)
	}
}

func (c *checker) lintWires(byPath map[actor.Path]*entry) {
	for _, w := range c.wires {
		e := byPath[w.to]
		if e == nil || e.actor == nil || w.from == "" || e.actor.Mailbox.Capacity > 0 {
			continue
		}
		c.warn(w.node.Pos, shown(w.node, w.rest), ruleOutsideCapacity, "%s has no mailbox.capacity, so what comes in here can fill the memory", w.to)
	}
}

// lintReject finds senders that do not say what becomes of rejected messages.
func (c *checker) lintReject(e *entry, byPath map[actor.Path]*entry) {
	if e.common == nil || e.common.saysOnFull {
		return
	}
	for _, u := range e.uses {
		to := byPath[u.leadsTo()]
		if to == nil || to.actor == nil || to == e || to.actor.Mailbox.Capacity == 0 || to.actor.Mailbox.Overflow != mailbox.Reject {
			continue
		}
		c.warn(e.pos(), shown(e.group.block.node, nil), ruleReject,
			"%s sends to %s, which rejects when it is full, and has no on-full (such messages become dead letters)", e.path, to.path)
		return
	}
}

// isUnreachable reports whether nothing sends to an actor, as far as a file can
// tell: a behaviour of a plugin, one that works by the clock and one whose parent
// may know it are left alone.
func (e *entry) isUnreachable(c *checker, reached map[actor.Path]bool) bool {
	a := e.actor
	if a == nil || reached[e.path] || e.path.Parent() != actor.User || strings.Contains(a.Behaviour, "/") || len(e.kids) > 0 {
		return false
	}
	f, ok := c.reg.Behaviour(a.Behaviour)
	if !ok || hasKey(e, "timers") {
		return false
	}
	clock := []string{"every", "after", "cron", "interval"}
	return !slices.ContainsFunc(f.Schema().Fields, func(f actor.Field) bool { return slices.Contains(clock, f.Name) })
}

// hasKey reports whether the settings of an actor hold a key or something below it.
func hasKey(e *entry, key string) bool {
	return slices.ContainsFunc(e.actor.Settings, func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
}

// implicitOverflow warns of a capacity without a word on what happens at it.
func (c *checker) implicitOverflow(v *value, box mailbox.Settings) {
	if box.Capacity == 0 || !v.get("mailbox").get("overflow").isNull() {
		return
	}
	n, rest := v.find([]string{"mailbox", "capacity"})
	does := map[mailbox.Overflow]string{mailbox.DropHead: "drops the oldest message", mailbox.Reject: "rejects what comes"}[box.Overflow]
	c.warn(n.Pos, shown(n, rest), ruleImplicitOverflow, "a full mailbox %s (write overflow = %s if that is meant)", does, box.Overflow)
}

// warn notes what is likely wrong but works; rule is its name.
func (p *problems) warn(pos hocon.Pos, path, rule, format string, args ...any) {
	if len(p.warnings) >= maxMistakes {
		return
	}
	e := &hocon.Error{Pos: pos, Path: path, Rule: rule, Msg: fmt.Sprintf(format, args...)}
	text := rule + e.Error()
	if p.warned == nil {
		p.warned = map[string]bool{}
	}
	if !p.warned[text] {
		p.warned[text] = true
		e.Excerpt = p.tree.Excerpt(pos)
		p.warnings = append(p.warnings, e)
	}
}
