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
	keys   []string    // of an object, in the order in which they were written
	fields map[string]*value
}

func valueOf(n *hocon.Node) *value {
	if n == nil {
		return nil
	}
	v := &value{node: n}
	for _, f := range n.Fields() {
		v.set(f.Key, valueOf(f.Value))
	}
	return v
}

func (v *value) isObject() bool { return v != nil && v.node.Kind == hocon.Object }

func (v *value) isNull() bool { return v == nil || v.node.Kind == hocon.Null }

func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	return v.fields[key]
}

// set gives an object a field; nil takes it away.
func (v *value) set(key string, field *value) {
	if v.fields == nil {
		v.fields = map[string]*value{}
	}
	_, known := v.fields[key]
	switch {
	case field == nil:
		delete(v.fields, key)
		v.keys = slices.DeleteFunc(v.keys, func(k string) bool { return k == key })
		return
	case !known:
		v.keys = append(v.keys, key)
	}
	v.fields[key] = field
}

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
	out := &value{node: v.node}
	for _, k := range v.keys {
		if accept(k) {
			out.set(k, v.fields[k])
		}
	}
	return out
}

// entries yields the fields of an object that are not null.
func entries(v *value) iter.Seq2[string, *value] {
	return func(yield func(string, *value) bool) {
		if v == nil {
			return
		}
		for _, k := range v.keys {
			if !v.fields[k].isNull() && !yield(k, v.fields[k]) {
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
	}
	out := &value{node: over.node}
	for _, k := range under.keys {
		out.set(k, under.fields[k])
	}
	for _, k := range over.keys {
		out.set(k, merge(under.fields[k], over.fields[k]))
	}
	return out
}

// raw returns the fields of an object as Schema.Decode takes them. A number that
// is meant as text keeps the form in which it was written.
func (v *value) raw(fields []actor.Field) map[string]any {
	if v.isNull() {
		return nil
	}
	out := make(map[string]any, len(v.keys))
	for _, k := range v.keys {
		i := slices.IndexFunc(fields, func(f actor.Field) bool { return f.Name == k })
		if i < 0 {
			out[k] = v.fields[k].any()
			continue
		}
		out[k] = v.fields[k].rawField(&fields[i])
	}
	return out
}

func (v *value) rawField(f *actor.Field) any {
	switch {
	case v.isObject() && f.Kind == actor.ObjectField:
		return v.raw(f.Fields)
	case v.isObject() && f.Kind == actor.MapField:
		out := make(map[string]any, len(v.keys))
		for _, k := range v.keys {
			if elem := v.fields[k]; !elem.isNull() {
				out[k] = elem.rawField(f.Elem)
			}
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
	out := make(map[string]any, len(v.keys))
	for _, k := range v.keys {
		out[k] = v.fields[k].any()
	}
	return out
}

func isText(k actor.FieldKind) bool {
	switch k {
	case actor.StringField, actor.EnumField, actor.TargetField, actor.ExprField, actor.AddressField, actor.FileField:
		return true
	}
	return false
}

// find follows a path as FieldError has it and returns the last node on the way
// and what of the path is not there.
func (v *value) find(path []string) (*hocon.Node, []string) {
	for v.isObject() && len(path) > 0 && v.fields[path[0]] != nil {
		v, path = v.fields[path[0]], path[1:]
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
