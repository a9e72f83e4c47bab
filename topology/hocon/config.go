package hocon

import (
	"strconv"

	library "github.com/gurkankaymak/hocon"
)

// Config returns the object at a dotted path, "" for the root, in the types of the
// hocon library, for code that is written against them; nil if no object is there.
// Texts are String, whole numbers Int, other numbers Float64; a duration stays a
// text. Walk it with GetRoot and type switches: the getters of the library panic
// on other types, and its String methods add quotes to a text.
func (t *Tree) Config(path string) *library.Config {
	n := t.Root
	if path != "" {
		p := &parser{lexer: newLexer(&source{text: path}), load: newLoader(Options{})}
		keys := p.keyPath(false)
		if p.err != nil || p.peek() != 0 {
			return nil
		}
		n = n.Lookup(keys...)
	}
	if o, ok := n.value().(library.Object); ok {
		return o.ToConfig()
	}
	return nil
}

// value returns the node in the library's types; nil for the nil Node.
func (n *Node) value() library.Value {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Null:
		return library.Null("null")
	case Bool:
		return library.Boolean(n.Text == "true")
	case Number:
		if v, err := strconv.Atoi(n.Text); err == nil {
			return library.Int(v)
		}
		f, _ := strconv.ParseFloat(n.Text, 64)
		return library.Float64(f)
	case Array:
		var all library.Array // nil when empty, as the library's own
		for _, kid := range n.kids {
			all = append(all, kid.value())
		}
		return all
	case Object:
		all := make(library.Object, len(n.kids))
		for _, kid := range n.kids {
			all[kid.key] = kid.value()
		}
		return all
	}
	return library.String(n.Text)
}
