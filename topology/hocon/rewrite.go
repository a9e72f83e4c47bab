package hocon

import "slices"

// WithText returns a text in the place of n: it has the place and path of n, so a
// mistake in it is shown where n was written.
func (n *Node) WithText(text string) *Node {
	c := *n
	c.Kind, c.Quoted, c.Text, c.kids, c.names = String, true, text, nil, nil
	return &c
}

// WithElems returns an array of other elements in the place of n.
func (n *Node) WithElems(elems []*Node) *Node {
	c := *n
	c.Kind, c.Text, c.kids, c.names = Array, "", elems, nil
	return &c
}

// WithFields returns an object of other fields in the place of n. The keys are
// those of keys, one for each value; what is put in keeps its place and path.
func (n *Node) WithFields(keys []string, values []*Node) *Node {
	c := *n
	c.Kind, c.Text, c.names = Object, "", nil
	c.kids = make([]*Node, len(keys))
	for i, key := range keys {
		c.kids[i] = values[i]
		if values[i].key != key {
			from := values[i]
			kid := new(*from)
			kid.key, kid.index, kid.from = key, -1, from
			c.kids[i] = kid
		}
	}
	c.reindex()
	return &c
}

// FromEnv reports whether a text was read from the environment by a substitution.
func (n *Node) FromEnv() bool {
	return n != nil && len(n.Via) > 0 && n.Via[len(n.Via)-1] == n.Pos
}

// Rewrite returns n with other scalars and keys inside. The function leaf is asked
// for every number, text, bool and null, key for the keys of objects; both return
// what they get where nothing is to change. What leaf returns may be a value from
// elsewhere, which keeps its place and path. Where nothing changes below a value,
// the value itself is part of the result. n never changes.
func (n *Node) Rewrite(leaf func(*Node) *Node, key func(of *Node, key string) string) *Node {
	if n == nil {
		return nil
	}
	if n.Kind != Array && n.Kind != Object {
		return leaf(n)
	}
	var c *Node // made when something differs
	for i, kid := range n.kids {
		name := kid.key
		if n.Kind == Object {
			name = key(kid, kid.key)
		}
		next := kid.Rewrite(leaf, key)
		if next == kid && name == kid.key {
			continue
		}
		if c == nil {
			c = new(*n)
			c.kids = slices.Clone(n.kids)
		}
		if n.Kind == Object && next.key != name {
			from := next
			next = new(*next)
			next.key, next.index, next.KeyPos, next.from = name, -1, kid.KeyPos, from
		}
		c.kids[i] = next
	}
	if c == nil {
		return n
	}
	c.names = nil
	c.reindex()
	return c
}
