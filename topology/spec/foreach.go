package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// item is what one actor of a foreach or a count is made for.
type item struct {
	node  *hocon.Node // the element; nil for a count
	key   string      // in a map its key, else the number
	index int         // from 1
}

// maxActors is the default of Options.MaxActors.
const maxActors = 500_000

// items returns what a block makes actors for, and false when it is one actor.
func (c *checker) items(v *value) ([]item, bool) {
	each, count := v.get("foreach"), v.get("count")
	switch {
	case each.isNull() && count.isNull():
		return nil, false
	case !each.isNull() && !count.isNull():
		c.atKey(v, []string{"count"}, fmt.Errorf("count and foreach exclude each other; the length of foreach is the count"))
		return nil, true
	case !count.isNull():
		return c.countItems(v, count.node), true
	}
	n := each.node // of several blocks the topmost foreach counts
	if n.Kind != hocon.Object && n.Kind != hocon.Array {
		c.at(v, []string{"foreach"}, fmt.Errorf("%s is neither a list nor a map (want [a, b] or { a { … }, b { … } })", strconv.Quote(n.Text)))
		return nil, true
	}
	out := make([]item, 0, n.Len())
	for _, f := range n.Fields() {
		if f.Value.Kind != hocon.Null {
			out = append(out, item{f.Value, f.Key, len(out) + 1})
		}
	}
	for i, e := range n.Elems() {
		out = append(out, item{e, strconv.Itoa(i + 1), i + 1})
	}
	return c.room(v, "foreach", out), true
}

func (c *checker) countItems(v *value, n *hocon.Node) []item {
	count, err := n.Int()
	if err == nil && (count < 0 || count > int64(c.maxActors)) {
		err = fmt.Errorf("%d is not a number of actors (want 0 to %d)", count, c.maxActors)
	}
	if err != nil {
		c.at(v, []string{"count"}, err)
		return nil
	}
	out := make([]item, count)
	for i := range out {
		out[i] = item{nil, strconv.Itoa(i + 1), i + 1}
	}
	return c.room(v, "count", out)
}

// room refuses more actors than a file may make.
func (c *checker) room(v *value, key string, items []item) []item {
	c.made += len(items)
	if c.made > c.maxActors {
		c.atKey(v, []string{key}, fmt.Errorf("foreach and count make more than %d actors", c.maxActors))
		return nil
	}
	return items
}

// stencil puts items into texts. It remembers what it has seen of the block that
// all of them share. Depth says how many foreach or count are around the text
// that is looked at, counted from the block of the items: there, {parent.item} is
// their item.
type stencil struct {
	texts  map[*hocon.Node][]piece
	static map[seen]bool // nothing below is for an item
	report func(n *hocon.Node, err error)
	multi  func(v *value) bool // says whether a block makes several actors
}

type seen struct {
	node  *hocon.Node
	depth int
}

// piece is a part of a text: as written, or a placeholder.
type piece struct {
	text string
	path []string // of a placeholder: item, key or index, then fields; nil for text
	up   int      // how often it says parent
}

// actor returns the block of one actor. Children that have a foreach or count of
// their own see the item as parent.
func (s *stencil) actor(v *value, it item, depth int) *value {
	return s.object(v, it, depth, func(key string, f *value) *value {
		if key != "children" || !f.isObject() {
			return s.value(f, it, depth)
		}
		return s.object(f, it, depth, func(_ string, kid *value) *value {
			if s.multi(kid) {
				return s.actor(kid, it, depth+1)
			}
			return s.actor(kid, it, depth)
		})
	})
}

// object makes an object of what each returns for the fields of v; v itself when
// nothing differs.
func (s *stencil) object(v *value, it item, depth int, each func(string, *value) *value) *value {
	if !v.isObject() {
		return s.value(v, it, depth)
	}
	v.open()
	var out *value
	for i, f := range v.fields {
		key, next := s.key(f.value.node, f.key, it, depth), each(f.key, f.value)
		if out == nil && next == f.value && key == f.key {
			continue
		}
		if out == nil {
			out = object(v.node)
			for _, before := range v.fields[:i] {
				out.push(before.key, before.value)
			}
		}
		out.set(key, next)
	}
	if out == nil {
		return v
	}
	for _, f := range v.fields[len(out.fields):] {
		out.push(f.key, f.value)
	}
	return out
}

func (s *stencil) value(v *value, it item, depth int) *value {
	if v.isObject() && v.made {
		return s.object(v, it, depth, func(_ string, f *value) *value { return s.value(f, it, depth) })
	}
	if n := s.node(v.node, it, depth); n != v.node {
		return valueOf(n)
	}
	return v
}

func (s *stencil) node(n *hocon.Node, it item, depth int) *hocon.Node {
	if s.static[seen{n, depth}] {
		return n
	}
	out := n.Rewrite(
		func(n *hocon.Node) *hocon.Node { return s.leaf(n, it, depth) },
		func(of *hocon.Node, key string) string { return s.key(of, key, it, depth) },
	)
	if out == n {
		s.static[seen{n, depth}] = true
	}
	return out
}

// leaf puts the item into a text. A text that is nothing but a placeholder
// becomes the value itself.
func (s *stencil) leaf(n *hocon.Node, it item, depth int) *hocon.Node {
	if n.Kind != hocon.String {
		return n
	}
	parts, known := s.texts[n]
	if !known {
		parts = pieces(n.Text)
		s.texts[n] = parts
	}
	if parts == nil {
		return n
	}
	if len(parts) == 1 && parts[0].up == depth {
		if found := s.find(n, parts[0], it); found != nil {
			return found
		}
		return n
	}
	if text := s.fillIn(n, n.Text, parts, it, depth); text != n.Text {
		return n.WithText(text)
	}
	return n
}

func (s *stencil) key(n *hocon.Node, key string, it item, depth int) string {
	if !strings.Contains(key, "{") {
		return key
	}
	return s.fillIn(n, key, pieces(key), it, depth)
}

// fillIn writes a text with the placeholders of this depth filled in.
func (s *stencil) fillIn(at *hocon.Node, text string, parts []piece, it item, depth int) string {
	if parts == nil {
		return text
	}
	var b strings.Builder
	for _, p := range parts {
		if p.path == nil || p.up != depth {
			b.WriteString(p.text)
			continue
		}
		found := s.find(at, p, it)
		if found == nil {
			return text
		}
		if found.Kind == hocon.Object || found.Kind == hocon.Array {
			s.report(at, fmt.Errorf("%s is no text but an %s, which fits only where it stands alone", p.text, found.Kind))
			return text
		}
		b.WriteString(found.Text)
	}
	return b.String()
}

// find returns what a placeholder stands for.
func (s *stencil) find(at *hocon.Node, p piece, it item) *hocon.Node {
	number := func() *hocon.Node {
		n := at.WithText(strconv.Itoa(it.index))
		n.Kind, n.Quoted = hocon.Number, false
		return n
	}
	switch {
	case p.path[0] == "key":
		return at.WithText(it.key)
	case p.path[0] == "index":
		return number()
	case it.node == nil && len(p.path) == 1:
		return number() // of a count
	}
	n := it.node
	for i, key := range p.path[1:] {
		next := n.Lookup(key)
		if next == nil {
			s.report(at, fmt.Errorf("%s: %s has no %s%s", p.text, shownItem(it, p.path[1:1+i]), key, actor.DidYouMean(key, valueOf(n).keys())))
			return nil
		}
		n = next
	}
	return n
}

// shownItem names an item, or what is in it.
func shownItem(it item, path []string) string {
	if it.node == nil {
		return "the number of a count"
	}
	return shown(it.node, path)
}

// pieces takes a text apart; nil when it has no placeholder.
func pieces(text string) []piece {
	var out []piece
	rest, found := text, false
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		p, length := placeholder(rest[i:])
		if length == 0 {
			out = append(out, piece{text: rest[:i+1]})
			rest = rest[i+1:]
			continue
		}
		if i > 0 {
			out = append(out, piece{text: rest[:i]})
		}
		out, found = append(out, p), true
		rest = rest[i+length:]
	}
	if !found {
		return nil
	}
	if rest != "" {
		out = append(out, piece{text: rest})
	}
	return out
}

// placeholder reads {item}, {item.field}, {key} or {index}, with parent. before
// it, from the beginning of a text. The length is 0 when there is none.
func placeholder(text string) (piece, int) {
	end := strings.IndexByte(text, '}')
	if end < 0 || strings.ContainsAny(text[1:end], "{ \t\n:") || slices.Contains(strings.Split(text[1:end], "."), "") {
		return piece{}, 0
	}
	p := piece{text: text[:end+1], path: strings.Split(text[1:end], ".")}
	for len(p.path) > 1 && p.path[0] == "parent" {
		p.path, p.up = p.path[1:], p.up+1
	}
	switch {
	case p.path[0] == "item":
	case len(p.path) == 1 && (p.path[0] == "key" || p.path[0] == "index"):
	default:
		return piece{}, 0
	}
	return p, end + 1
}
