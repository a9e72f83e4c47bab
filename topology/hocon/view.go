package hocon

import (
	"slices"
	"strconv"
)

// what a value turned out to be.
type what uint8

const (
	undefined what = iota
	broken         // a mistake is reported already
	isScalar
	isList
	isObject
)

// result is what a raw value turned out to be, and through which substitutions.
type result struct {
	what   what
	blank  bool // a scalar that is the whitespace between pieces
	cycle  bool // undefined because it is being looked at already
	scalar *scalar
	view   *view
	via    *chain
}

// sign is a short form of a result to tell two values of one substitution apart.
func (res result) sign() string {
	switch res.what {
	case isScalar:
		return "s" + res.scalar.text
	case isList:
		return "l"
	case isObject:
		return "o"
	}
	return "u"
}

// chain is the substitutions that a value came through, outermost first.
type chain struct {
	at     place
	up     *chain
	length int
}

// maxVia bounds the chain that is kept: the outermost ones tell most.
const maxVia = 8

// behind returns the chain with one more substitution in front.
func (c *chain) behind(at place) *chain {
	if c == nil {
		return &chain{at: at, length: 1}
	}
	return &chain{at: at, up: c, length: c.length + 1}
}

// then returns c followed by more.
func (c *chain) then(more *chain) *chain {
	switch {
	case c == nil:
		return more
	case more == nil || c.length >= maxVia:
		return c
	}
	return c.up.then(more).behind(c.at)
}

func (c *chain) positions() []Pos {
	if c == nil {
		return nil
	}
	all := make([]Pos, 0, min(c.length, maxVia))
	for ; c != nil && len(all) < maxVia; c = c.up {
		all = append(all, c.at.pos())
	}
	return all
}

// view is an array or object of which it is not known yet what is inside. What
// was written in place is seen in env.
type view struct {
	at   place
	env  *env
	list []raw // an array as written
	// elems is an array that was joined of several.
	elems []elem
	only  *object // an object as written
	// parts is an object that was joined of several, lowest first.
	parts    []part
	kids     map[string]*slot // fields of parts asked for so far
	names    []string         // what keys found
	building bool             // its node is being made
}

type elem struct {
	value raw
	env   *env
	via   *chain
}

// part is an object as written, or one that came from elsewhere.
type part struct {
	only *object
	view *view
	via  *chain
}

func partOf(v raw, res result) part {
	if o, ok := v.(*object); ok {
		return part{only: o}
	}
	return part{view: res.view, via: res.via}
}

// link is a value that stands in another place: a field seen in its own env.
type link struct {
	slot *slot
	env  *env
	via  *chain
}

// child returns a field, the env to look at it in, and what it came through.
func (v *view) child(key string) (*slot, *env, *chain) {
	if v.only != nil {
		return v.only.find(key), v.env, nil
	}
	if s, ok := v.kids[key]; ok {
		return s, v.env, nil
	}
	s := &slot{key: key}
	for _, p := range v.parts {
		if p.only != nil {
			if own := p.only.find(key); own != nil {
				s.layers = append(s.layers, own.layers...)
				s.keyAt = own.keyAt
				if s.first == nil {
					s.first = own.origin()
				}
				s.overrides = append(s.overrides, own.overrides...)
			}
			continue
		}
		if other, inner, via := p.view.child(key); other != nil {
			s.layers = append(s.layers, &link{slot: other, env: inner, via: p.via.then(via)})
			s.keyAt = other.keyAt
		}
	}
	if s.layers == nil {
		s = nil
	}
	if v.kids == nil {
		v.kids = map[string]*slot{}
	}
	v.kids[key] = s
	return s, v.env, nil
}

// keys returns the names of the fields, in the order in which they were written first.
func (v *view) keys() []string {
	if v.names != nil {
		return v.names
	}
	if v.only != nil {
		v.names = v.only.keys()
		return v.names
	}
	known := map[string]bool{}
	for _, p := range v.parts {
		var keys []string
		if p.only != nil {
			keys = p.only.keys()
		} else {
			keys = p.view.keys()
		}
		for _, k := range keys {
			if !known[k] {
				known[k] = true
				v.names = append(v.names, k)
			}
		}
	}
	return v.names
}

func (o *object) keys() []string {
	keys := make([]string, len(o.fields))
	for i, s := range o.fields {
		keys[i] = s.key
	}
	return keys
}

// holds reports whether an object was joined from another one.
func (v *view) holds(other *view) bool {
	return v == other || slices.ContainsFunc(v.parts, func(p part) bool { return p.view == other })
}

// elements returns the elements of an array.
func (v *view) elements() []elem {
	if v.elems != nil {
		return v.elems
	}
	all := make([]elem, len(v.list))
	for i, e := range v.list {
		all[i] = elem{value: e, env: v.env}
	}
	return all
}

// numbered returns an object with numbers as keys as elements in their order;
// ok is false when no key is a number.
func (v *view) numbered() (elems []elem, ok bool) {
	keys := slices.DeleteFunc(slices.Clone(v.keys()), func(k string) bool { return !isIndex(k) })
	slices.SortFunc(keys, compareIndex)
	for _, k := range keys {
		s, inner, via := v.child(k)
		elems = append(elems, elem{value: &link{slot: s, env: inner, via: via}})
	}
	return elems, len(elems) > 0
}

// isIndex reports whether a key is a whole number, as in list.0.
func isIndex(key string) bool {
	_, err := strconv.Atoi(key)
	return err == nil && digits(key) == len(key)
}

func compareIndex(a, b string) int {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return x - y
}
