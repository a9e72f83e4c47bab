package hocon

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "bool"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "kind " + strconv.Itoa(int(k))
}

// Node is one resolved value and where it came from. It never changes, so any
// number of goroutines may read it. The nil Node is a value that is not there:
// its methods that look inside find nothing, its typed reads say that it is missing.
type Node struct {
	Kind      Kind
	Quoted    bool   // written in quotes, or joined with text that was, or from the environment
	Text      string // of null, bool, number, string: as written; escapes are decoded
	Pos       Pos    // where the value stands; for one from the environment, its substitution
	KeyPos    Pos    // where its key stands; zero for elements and the root
	Via       []Pos  // the substitutions it came through, outermost first
	Overrides []Pos  // earlier numbers and texts of the same file that it replaced

	up    *Node
	from  *Node // what was put in the place of n by Rewrite; it says the path
	tree  *Tree
	key   string
	index int // as an element; -1 as a field
	kids  []*Node
	names map[string]*Node // of kids, when there are many
}

// Field is one field of an object.
type Field struct {
	Key    string
	KeyPos Pos
	Value  *Node
}

// Key returns the key of a field, "" for elements and the root.
func (n *Node) Key() string {
	if n == nil {
		return ""
	}
	return n.key
}

// Path returns the key path from the root, as in actors.intake.rules[2].when.
// Keys with special characters are quoted. The root's path is "".
func (n *Node) Path() string {
	if n != nil && n.from != nil {
		n = n.from
	}
	if n == nil || n.up == nil {
		return ""
	}
	before := n.up.Path()
	if n.index >= 0 {
		return before + "[" + strconv.Itoa(n.index) + "]"
	}
	if before == "" {
		return joinPath([]string{n.key})
	}
	return before + "." + joinPath([]string{n.key})
}

// keys returns the path as single elements.
func (n *Node) keys() []string {
	var keys []string
	for ; n != nil && n.up != nil; n = n.up {
		if n.index >= 0 {
			keys = append(keys, strconv.Itoa(n.index))
		} else {
			keys = append(keys, n.key)
		}
	}
	slices.Reverse(keys)
	return keys
}

// Keys returns the key path from the root, elements by their number. Lookup of
// the root finds the same node by it.
func (n *Node) Keys() []string { return n.keys() }

// Parent returns the object or array around n, nil for the root.
func (n *Node) Parent() *Node {
	if n == nil {
		return nil
	}
	return n.up
}

// Fields returns the fields of an object in the order in which their keys were
// written first; nil for other kinds.
func (n *Node) Fields() []Field {
	if n == nil || n.Kind != Object {
		return nil
	}
	fields := make([]Field, len(n.kids))
	for i, kid := range n.kids {
		fields[i] = Field{Key: kid.key, KeyPos: kid.KeyPos, Value: kid}
	}
	return fields
}

// Kids yields the values of the fields of an object, in the order of Fields;
// nothing for other kinds.
func (n *Node) Kids() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if n == nil || n.Kind != Object {
			return
		}
		for _, kid := range n.kids {
			if !yield(kid) {
				return
			}
		}
	}
}

// Elems returns the elements of an array; nil for other kinds.
func (n *Node) Elems() []*Node {
	if n == nil || n.Kind != Array {
		return nil
	}
	return slices.Clip(n.kids)
}

// Len returns the number of fields or elements.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	return len(n.kids)
}

// Get returns the field of an object, nil if it is not there.
func (n *Node) Get(key string) *Node {
	switch {
	case n == nil || n.Kind != Object:
		return nil
	case n.names != nil:
		return n.names[key]
	}
	for _, kid := range n.kids {
		if kid.key == key {
			return kid
		}
	}
	return nil
}

// Lookup follows a path of keys, element numbers in arrays; nil if it leads nowhere.
func (n *Node) Lookup(path ...string) *Node {
	for _, key := range path {
		if n == nil {
			return nil
		}
		if n.Kind != Array {
			n = n.Get(key)
			continue
		}
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(n.kids) {
			return nil
		}
		n = n.kids[i]
	}
	return n
}

// reindex makes the index of an object with many fields.
func (n *Node) reindex() {
	if len(n.kids) <= manyFields {
		return
	}
	n.names = make(map[string]*Node, len(n.kids))
	for _, kid := range n.kids {
		n.names[kid.key] = kid
	}
}

// Errorf makes an error about the value: its place, path and excerpt are filled in.
// The hint says what would be right and may be empty.
func (n *Node) Errorf(hint, format string, args ...any) *Error {
	return n.Wrap(&Error{Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// Wrap gives an error place, path and excerpt of the value. An *Error without a
// place, as typed reads return it, keeps its message and hint; any other error
// becomes the cause. An *Error that has a place is returned as it is.
func (n *Node) Wrap(err error) *Error {
	if n == nil {
		return n.wrapAt(Pos{}, err)
	}
	return n.wrapAt(n.Pos, err)
}

// WrapKey is Wrap with the place of the key: for a field that should not be there.
func (n *Node) WrapKey(err error) *Error {
	if n == nil || n.KeyPos.IsZero() {
		return n.Wrap(err)
	}
	return n.wrapAt(n.KeyPos, err)
}

func (n *Node) wrapAt(p Pos, err error) *Error {
	e, ok := err.(*Error)
	switch {
	case !ok:
		e = &Error{Err: err}
	case !e.Pos.IsZero():
		return e
	default:
		e = new(*e)
	}
	e.Pos = p
	if e.Path == "" {
		e.Path = n.Path()
	}
	if n != nil && e.Excerpt == "" {
		e.Excerpt = n.tree.Excerpt(p)
	}
	return e
}
