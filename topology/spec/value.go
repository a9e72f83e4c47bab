package spec

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// value is a piece of configuration that may be merged from several places. Each
// part of it knows the node that it came from, so a mistake is shown where it
// was written. The nil value is one that is not there.
type value struct {
	node   *hocon.Node // of an object that was merged, the one on top
	made   bool        // put together here: the fields say what is in it, the node only where it belongs
	opened bool        // fields is complete; else they are made of the node when asked for
	fields []field     // of an object, in the order in which they were written
	index  map[string]int
}

type field struct {
	key   string
	value *value
}

// manyFields is where an index beats a walk.
const manyFields = 12

func valueOf(n *hocon.Node) *value {
	if n == nil {
		return nil
	}
	return &value{node: n}
}

func (v *value) isObject() bool { return v != nil && v.node.Kind == hocon.Object }

func (v *value) isNull() bool { return v == nil || v.node.Kind == hocon.Null }

// open makes the fields that the node has.
func (v *value) open() {
	if v.opened {
		return
	}
	v.opened = true
	n := v.node.Len()
	v.fields = make([]field, 0, n)
	if n > manyFields {
		v.index = make(map[string]int, n)
	}
	nodes := make([]value, n)
	i := 0
	for kid := range v.node.Kids() {
		nodes[i].node = kid
		v.push(kid.Key(), &nodes[i])
		i++
	}
}

// push appends a field that is not there yet.
func (v *value) push(key string, f *value) {
	v.fields = append(v.fields, field{key, f})
	switch n := len(v.fields); {
	case v.index != nil:
		v.index[key] = n - 1
	case n > manyFields:
		v.index = make(map[string]int, 2*n)
		for i, f := range v.fields {
			v.index[f.key] = i
		}
	}
}

// position returns where a field is, -1 when it is not there.
func (v *value) position(key string) int {
	v.open()
	if v.index != nil {
		if i, ok := v.index[key]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(v.fields, func(f field) bool { return f.key == key })
}

func (v *value) get(key string) *value {
	if !v.isObject() {
		return nil
	}
	if i := v.position(key); i >= 0 {
		return v.fields[i].value
	}
	return nil
}

// text returns the text of a scalar.
func (v *value) text() (string, bool) {
	if v.isNull() || v.isObject() || v.node.Kind == hocon.Array {
		return "", false
	}
	return v.node.Text, true
}

// keys returns the names of the fields of an object.
func (v *value) keys() []string {
	if !v.isObject() {
		return nil
	}
	v.open()
	out := make([]string, len(v.fields))
	for i, f := range v.fields {
		out[i] = f.key
	}
	return out
}

// set gives an object a field; nil takes it away.
func (v *value) set(key string, f *value) {
	i := v.position(key)
	switch {
	case f == nil && i >= 0:
		v.fields = slices.Delete(v.fields, i, i+1)
		v.index = nil
		if len(v.fields) > manyFields {
			v.index = make(map[string]int, len(v.fields))
			for i, f := range v.fields {
				v.index[f.key] = i
			}
		}
	case f == nil:
	case i >= 0:
		v.fields[i].value = f
	default:
		v.push(key, f)
	}
}

// object makes an object without fields in the place of a node.
func object(n *hocon.Node) *value { return &value{node: n, made: true, opened: true} }

// clone returns an object whose fields can be set without changing v.
func (v *value) clone() *value { return v.only(func(string) bool { return true }) }

// without returns an object that lacks some fields.
func (v *value) without(keys ...string) *value {
	return v.only(func(k string) bool { return !slices.Contains(keys, k) })
}

// only returns an object with the fields whose keys are accepted.
func (v *value) only(accept func(key string) bool) *value {
	if !v.isObject() {
		return v
	}
	v.open()
	out := object(v.node)
	out.fields = make([]field, 0, len(v.fields))
	for _, f := range v.fields {
		if accept(f.key) {
			out.push(f.key, f.value)
		}
	}
	return out
}

// whole returns a node with all that is in the value.
func (v *value) whole() *hocon.Node {
	if !v.isObject() || !v.made {
		return v.node
	}
	nodes := make([]*hocon.Node, len(v.fields))
	for i, f := range v.fields {
		nodes[i] = f.value.whole()
	}
	return v.node.WithFields(v.keys(), nodes)
}

// entries yields the fields of an object that are not null.
func entries(v *value) iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		if !v.isObject() {
			return
		}
		v.open()
		for _, f := range v.fields {
			if !f.value.isNull() && !yield(f.key, f.value) {
				return
			}
		}
	}
}

// merge returns over on top of under: objects field by field, anything else
// replaces. Neither is changed.
func merge(under, over *value) *value {
	switch {
	case over == nil:
		return under
	case !under.isObject() || !over.isObject():
		return over
	case under.node.Len() == 0 && !under.made:
		return over
	}
	under.open()
	over.open()
	out := object(over.node)
	out.fields = make([]field, 0, len(under.fields)+len(over.fields))
	for _, f := range under.fields {
		out.push(f.key, f.value)
	}
	for _, f := range over.fields {
		out.set(f.key, merge(under.get(f.key), f.value))
	}
	return out
}

// raw returns the fields of an object as Schema.Decode takes them. A number that
// is meant as text keeps the form in which it was written.
func (v *value) raw(fields []actor.Field) map[string]any {
	if !v.isObject() {
		return nil
	}
	v.open()
	out := make(map[string]any, len(v.fields))
	for _, f := range v.fields {
		i := slices.IndexFunc(fields, func(known actor.Field) bool { return known.Name == f.key })
		if i < 0 {
			out[f.key] = f.value.any()
			continue
		}
		out[f.key] = f.value.rawField(&fields[i])
	}
	return out
}

func (v *value) rawField(f *actor.Field) any {
	switch {
	case v.isObject() && f.Kind == actor.ObjectField:
		return v.raw(f.Fields)
	case v.isObject() && f.Kind == actor.MapField:
		out := make(map[string]any, v.node.Len())
		for k, elem := range entries(v) {
			out[k] = elem.rawField(f.Elem)
		}
		return out
	case v.node.Kind == hocon.Array && f.Kind == actor.ListField:
		return rawList(v.node.Elems(), f.Elem)
	case f.Kind == actor.ListField && f.Lone && !v.isObject() && !v.isNull():
		return rawList([]*hocon.Node{v.node}, f.Elem)
	case v.node.Kind == hocon.Number && isText(f.Kind):
		return v.node.Text
	}
	return v.any()
}

func rawList(elems []*hocon.Node, f *actor.Field) []any {
	out := make([]any, len(elems))
	for i, e := range elems {
		out[i] = valueOf(e).rawField(f)
	}
	return out
}

// any returns the value as a message body holds it.
func (v *value) any() any {
	if !v.isObject() {
		return v.node.Any()
	}
	v.open()
	out := make(map[string]any, len(v.fields))
	for _, f := range v.fields {
		out[f.key] = f.value.any()
	}
	return out
}

// equal reports whether two values say the same.
func (v *value) equal(other *value) bool {
	switch {
	case v == nil || other == nil:
		return v == other
	case v == other:
		return true
	case !v.made && !other.made:
		return v.node.Equal(other.node)
	case v.node.Kind != other.node.Kind:
		return false
	}
	v.open()
	other.open()
	for _, f := range v.fields {
		if !f.value.equal(other.get(f.key)) {
			return false
		}
	}
	return len(v.fields) == len(other.fields)
}

func isText(k actor.FieldKind) bool {
	switch k {
	case actor.StringField, actor.EnumField, actor.TargetField, actor.ExprField, actor.AddressField, actor.FileField, actor.SecretField:
		return true
	}
	return false
}

// find follows a path as FieldError has it and returns the last node on the way
// and what of the path is not there.
func (v *value) find(path []string) (*hocon.Node, []string) {
	for len(path) > 0 {
		next := v.get(path[0])
		if next == nil {
			break
		}
		v, path = next, path[1:]
	}
	n := v.node
	for len(path) > 0 {
		next := n.Lookup(path[0])
		switch {
		case next != nil && (n != v.node || n.Kind == hocon.Array):
			n = next
		case next != nil || path[0] != "0" || n.Kind == hocon.Null || n.Kind == hocon.Array:
			return n, path
		}
		// Otherwise a lone value stands for a list of one.
		path = path[1:]
	}
	return n, nil
}

// shown writes a path as mistakes show it: without the leading actord, elements
// of lists in brackets.
func shown(n *hocon.Node, rest []string) string {
	path := strings.TrimPrefix(strings.TrimPrefix(n.Path(), root), ".")
	for _, key := range rest {
		_, err := strconv.Atoi(key)
		switch {
		case err == nil:
			path += "[" + key + "]"
		case path == "":
			path = key
		default:
			path += "." + key
		}
	}
	return path
}

// root is the key under which all configuration is.
const root = "actord"
