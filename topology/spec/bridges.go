package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
)

// bridges reads the bridges section.
func (c *checker) bridges(file *value) []*Bridge {
	defaults := file.get("bridge-defaults")
	c.bridgeDefaults(defaults)
	var out []*Bridge
	block := file.get("bridges")
	for name, own := range entries(block) {
		if err := actor.CheckName(name); err != nil {
			c.atKey(block, []string{name}, err)
			continue
		}
		if !own.isObject() {
			c.at(own, nil, fmt.Errorf("a bridge is an object (want %s { type = … })", name))
			continue
		}
		out = append(out, c.oneBridge(name, own, defaults))
	}
	return out
}

func (c *checker) oneBridge(name string, own, defaults *value) *Bridge {
	b := &Bridge{Path: actor.System.Child("bridges").Child(name), Pos: own.node.KeyPos}
	if kind := own.get("type"); !kind.isNull() {
		b.Type, _ = kind.rawField(&bridgeSchema.Fields[0]).(string)
	}
	f, ok := c.reg.Bridge(b.Type)
	if !ok {
		c.unknownType(b.Type, own)
		return b
	}
	fields := bridgeFields(f)
	under := merge(spread(fields, defaults, own), spread(fields, defaults.get(b.Type), own))
	v := merge(under, own)

	at := usage{path: b.Path, value: v, network: network(b.Type)}
	var args map[string]any
	listeners := len(c.listeners)
	args, b.Prepared, ok = c.arguments(at, bridgeFactory{f}, fields, c.reveal(v, fields).raw(fields))
	if !ok {
		return b
	}
	b.Listens = len(c.listeners) > listeners
	b.Description, _ = args["description"].(string)
	b.Settings = settings("", actor.Reconnect, fields, args)
	b.Hash = digest(b.Settings)
	b.Args = withoutCommon(args)
	return b
}

func (c *checker) unknownType(name string, own *value) {
	types := c.reg.Bridges()
	if name == "" {
		c.at(own, []string{"type"}, fmt.Errorf("is required%s", list("one of ", types)))
		return
	}
	c.at(own, []string{"type"}, fmt.Errorf("unknown bridge type %q%s", name, didYouMeanOr(name, types)))
}

// bridgeFactory hands a type its own keys only.
type bridgeFactory struct{ actor.Factory }

// Prepare is that of the type, without the keys that every bridge has.
func (f bridgeFactory) Prepare(args map[string]any) (actor.Prepared, error) {
	return f.Factory.Prepare(withoutCommon(args))
}

func withoutCommon(args map[string]any) map[string]any {
	out := maps.Clone(args)
	maps.DeleteFunc(out, func(key string, _ any) bool {
		_, common := bridgeSchema.Field(key)
		return common
	})
	return out
}

// bridgeFields are the keys that a bridge of a type may have.
func bridgeFields(f actor.Factory) []actor.Field {
	fields := slices.Clone(bridgeSchema.Fields)
	for _, field := range f.Schema().Fields {
		if _, common := bridgeSchema.Field(field.Name); !common {
			fields = append(fields, field)
		}
	}
	return fields
}

// network is what the addresses of a bridge type belong to.
func network(kind string) string {
	if strings.HasPrefix(kind, "udp") {
		return "udp"
	}
	return "tcp"
}

// spread shapes defaults like the bridge that they are for: only keys that its
// type knows, and those of named entries once under each entry.
func spread(fields []actor.Field, defaults, own *value) *value {
	if !defaults.isObject() {
		return nil
	}
	out := object(defaults.node)
	for _, f := range fields {
		d := defaults.get(f.Name)
		switch {
		case d == nil:
		case f.Kind == actor.ObjectField && d.isObject():
			out.set(f.Name, spread(f.Fields, d, own.get(f.Name)))
		case isNamed(f) && d.isObject():
			named := object(d.node)
			for name, entry := range entries(own.get(f.Name)) {
				named.set(name, spread(f.Elem.Fields, d, entry))
			}
			if len(named.keys()) > 0 {
				out.set(f.Name, named)
			}
		default:
			out.set(f.Name, d)
		}
	}
	return out
}

// isNamed reports whether a field holds objects by names of the author's choice.
func isNamed(f actor.Field) bool {
	return f.Kind == actor.MapField && f.Elem.Kind == actor.ObjectField
}

// bridgeDefaults checks the defaults by themselves: a key counts when some type
// knows it and takes its value.
func (c *checker) bridgeDefaults(v *value) {
	types := c.reg.Bridges()
	known := slices.Clone(types)
	for _, t := range types {
		f, _ := c.reg.Bridge(t)
		for _, field := range defaultFields(f) {
			known = append(known, field.Name)
		}
	}
	for key, d := range entries(v) {
		f, isType := c.reg.Bridge(key)
		if isType && d.isObject() {
			c.fields(d, nil, decodeOne(defaultFields(f), d))
			continue
		}
		if !slices.Contains(known, key) {
			c.atKey(v, []string{key}, fmt.Errorf("no type of bridge has this key%s", actor.DidYouMean(key, known)))
			continue
		}
		c.fields(v, nil, c.fewest(types, key, v))
	}
}

// fewest decodes a default for each type that has its key and returns the
// mistakes of the one that understands it best.
func (c *checker) fewest(types []string, key string, v *value) []actor.FieldError {
	var best []actor.FieldError
	found := false
	for _, t := range types {
		f, _ := c.reg.Bridge(t)
		fields := slices.DeleteFunc(defaultFields(f), func(f actor.Field) bool { return f.Name != key })
		if len(fields) == 0 {
			continue
		}
		errs := decodeOne(fields, v.only(func(k string) bool { return k == key }))
		if !found || len(errs) < len(best) {
			best, found = errs, true
		}
	}
	return best
}

func decodeOne(fields []actor.Field, v *value) []actor.FieldError {
	_, errs := actor.Schema{Fields: fields}.Decode(v.raw(fields))
	return errs
}

// defaultFields are the keys that defaults for a type may have: all but its
// type, none required, and those of named entries without the names.
func defaultFields(f actor.Factory) []actor.Field {
	var out []actor.Field
	for _, field := range optional(bridgeFields(f)) {
		switch {
		case field.Name == "type":
			continue
		case isNamed(field):
			field.Kind, field.Fields, field.Elem = actor.ObjectField, optional(field.Elem.Fields), nil
		}
		out = append(out, field)
	}
	return out
}
