package hocon

import (
	"slices"
	"strings"
)

// overlay puts the overlays on top of the root.
func (l *loader) overlay(root raw) {
	for _, o := range l.opts.Overlays {
		path := strings.Split(o.From, ".")
		name := path[len(path)-1]
		top, _ := root.(*object)
		around := top.inside(path[:len(path)-1])
		from := around.take(name)
		if from == nil {
			l.errs = append(l.errs, noOverlay(o.From, name, around, placeOf(root)))
			continue
		}
		onto := top.slot(o.Onto, from.keyAt)
		for _, layer := range from.layers {
			onto.push(layer, from.keyAt)
		}
	}
}

func noOverlay(from, name string, around *object, top place) *Error {
	var known []string
	if around != nil {
		known, top = around.keys(), around.at
	}
	hint := "there is none"
	if s := Suggest(name, known); s != "" {
		hint = "did you mean " + s + "?"
	} else if len(known) > 0 {
		hint = "there are " + strings.Join(known, ", ")
	}
	return errorAt(top, from, hint, "%s is not there", from)
}

// inside follows a path of keys through objects as they are written; nil when it
// leads nowhere.
func (o *object) inside(path []string) *object {
	for _, key := range path {
		if o == nil {
			return nil
		}
		s := o.find(key)
		if s == nil {
			return nil
		}
		o, _ = s.layers[len(s.layers)-1].(*object)
	}
	return o
}

// take removes a field and returns it; nil when it is not there.
func (o *object) take(key string) *slot {
	if o == nil || o.find(key) == nil {
		return nil
	}
	s := o.find(key)
	o.fields = slices.DeleteFunc(o.fields, func(f *slot) bool { return f == s })
	if o.index != nil {
		delete(o.index, key)
	}
	return s
}
