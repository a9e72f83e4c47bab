package actor

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FieldError is one mistake in a configuration value: the path to it, from the
// value's root, and what is wrong. Key says that the key itself is the mistake.
type FieldError struct {
	Path []string
	Key  bool
	Err  error
}

// Error returns the dotted path and the mistake.
func (e FieldError) Error() string {
	if len(e.Path) == 0 {
		return e.Err.Error()
	}
	return strings.Join(e.Path, ".") + ": " + e.Err.Error()
}

// Unwrap returns the mistake without its place.
func (e FieldError) Unwrap() error { return e.Err }

// Decode checks values (as a message body holds them) against the schema and
// returns them typed, with defaults filled in, and every mistake it found. It
// changes nothing in values.
func (s Schema) Decode(values map[string]any) (map[string]any, []FieldError) {
	return decodeFields(nil, s.Fields, values)
}

func decodeFields(at []string, fields []Field, in map[string]any) (map[string]any, []FieldError) {
	out := make(map[string]any, len(fields))
	var errs []FieldError
	for _, f := range fields {
		v, given := in[f.Name]
		place := append(slices.Clip(at), f.Name)
		switch {
		case given && v != nil:
			dec, es := f.decode(place, v)
			out[f.Name] = dec
			errs = append(errs, es...)
		case f.Required:
			errs = append(errs, FieldError{Path: place, Err: fmt.Errorf("is required (%s)", f.Doc)})
		case f.Default != nil:
			out[f.Name] = f.Default
		case f.Kind == ObjectField:
			dec, es := decodeFields(place, f.Fields, nil)
			out[f.Name] = dec
			errs = append(errs, es...)
		}
	}
	return out, append(errs, unknownKeys(at, fields, in)...)
}

func unknownKeys(at []string, fields []Field, in map[string]any) []FieldError {
	var errs []FieldError
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	for _, k := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(names, k) {
			err := fmt.Errorf("unknown key%s", DidYouMean(k, names))
			errs = append(errs, FieldError{Path: append(slices.Clip(at), k), Key: true, Err: err})
		}
	}
	return errs
}

func (f Field) decode(at []string, v any) (any, []FieldError) {
	fail := func(err error) []FieldError { return []FieldError{{Path: at, Err: err}} }
	switch f.Kind {
	case ListField:
		list, ok := v.([]any)
		if !ok && f.Lone {
			list, ok = []any{v}, true
		}
		if !ok {
			return nil, fail(fmt.Errorf("%s is not a list (want [ … ])", show(v)))
		}
		return f.decodeList(at, list)
	case MapField:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fail(fmt.Errorf("%s is not an object (want { name = … })", show(v)))
		}
		out, errs := make(map[string]any, len(m)), []FieldError(nil)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			dec, es := f.Elem.decode(append(slices.Clip(at), k), m[k])
			out[k] = dec
			errs = append(errs, es...)
		}
		return out, errs
	case ObjectField:
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fail(fmt.Errorf("%s is not an object (want { … })", show(v)))
		}
		return decodeFields(at, f.Fields, m)
	default:
		out, err := f.scalar(v)
		if err != nil {
			return nil, fail(err)
		}
		return out, nil
	}
}

func (f Field) decodeList(at []string, list []any) (any, []FieldError) {
	out, errs := make([]any, len(list)), []FieldError(nil)
	if err := f.inBounds(fmt.Sprintf("a list of %d", len(list)), float64(len(list))); err != nil {
		errs = append(errs, FieldError{Path: at, Err: err})
	}
	for i, e := range list {
		dec, es := f.Elem.decode(append(slices.Clip(at), strconv.Itoa(i)), e)
		out[i] = dec
		errs = append(errs, es...)
	}
	return out, errs
}

// Walk calls visit for every decoded scalar of values together with its field
// and the path to it, in the order of the schema. It is how targets, expressions
// and addresses are found without knowing a behaviour.
func (s Schema) Walk(values map[string]any, visit func(path []string, f Field, v any)) {
	walkFields(nil, s.Fields, values, visit)
}

func walkFields(at []string, fields []Field, in map[string]any, visit func([]string, Field, any)) {
	for _, f := range fields {
		if v, ok := in[f.Name]; ok && v != nil {
			f.walk(append(slices.Clip(at), f.Name), v, visit)
		}
	}
}

func (f Field) walk(at []string, v any, visit func([]string, Field, any)) {
	switch v := v.(type) {
	case []any:
		if f.Kind == ListField {
			for i, e := range v {
				f.Elem.walk(append(slices.Clip(at), strconv.Itoa(i)), e, visit)
			}
			return
		}
	case map[string]any:
		switch f.Kind {
		case ObjectField:
			walkFields(at, f.Fields, v, visit)
			return
		case MapField:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				f.Elem.walk(append(slices.Clip(at), k), v[k], visit)
			}
			return
		}
	}
	visit(at, f, v)
}

// Plain turns decoded values back into body values: durations and sizes as texts
// with units, and the words that stand for a number where the number itself would
// be out of bounds. They can leave the process as JSON and be decoded again by the
// same schema.
func (s Schema) Plain(values map[string]any) map[string]any { return plainFields(s.Fields, values) }

func plainFields(fields []Field, values map[string]any) map[string]any {
	out := make(map[string]any, len(values))
	for _, f := range fields {
		if v, ok := values[f.Name]; ok && v != nil {
			out[f.Name] = f.Plain(v)
		}
	}
	return out
}

// Plain turns one decoded value of the field back into a body value; see
// Schema.Plain.
func (f Field) Plain(v any) any {
	switch x := v.(type) {
	case []any:
		if f.Kind != ListField {
			return v
		}
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = f.Elem.Plain(e)
		}
		return out
	case map[string]any:
		return f.plainMap(x)
	}
	for _, word := range slices.Sorted(maps.Keys(f.Words)) {
		if f.fromNumber(f.Words[word]) == v {
			return word
		}
	}
	switch x := v.(type) {
	case time.Duration:
		return x.String()
	case Size:
		return FormatSize(x)
	case Secret:
		return x.Reveal()
	default:
		return v
	}
}

func (f Field) plainMap(m map[string]any) any {
	switch f.Kind {
	case ObjectField:
		return plainFields(f.Fields, m)
	case MapField:
		out := make(map[string]any, len(m))
		for k, e := range m {
			out[k] = f.Elem.Plain(e)
		}
		return out
	default:
		return m
	}
}

// fill stores decoded values in a struct by its conf tags.
func fill(dst reflect.Value, values map[string]any) {
	t := dst.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous {
			fill(dst.Field(i), values)
			continue
		}
		name, _, _ := strings.Cut(sf.Tag.Get("conf"), ",")
		if v, ok := values[name]; ok && name != "" && v != nil {
			fillValue(dst.Field(i), v)
		}
	}
}

func fillValue(dst reflect.Value, v any) {
	src := reflect.ValueOf(v)
	switch dst.Kind() {
	case reflect.Interface:
		dst.Set(src)
	case reflect.Struct:
		fill(dst, v.(map[string]any))
	case reflect.Slice:
		list := v.([]any)
		dst.Set(reflect.MakeSlice(dst.Type(), len(list), len(list)))
		for i, e := range list {
			fillValue(dst.Index(i), e)
		}
	case reflect.Map:
		dst.Set(reflect.MakeMap(dst.Type()))
		for k, e := range v.(map[string]any) {
			elem := reflect.New(dst.Type().Elem()).Elem()
			fillValue(elem, e)
			dst.SetMapIndex(reflect.ValueOf(k), elem)
		}
	default:
		dst.Set(src.Convert(dst.Type()))
	}
}
