package rule

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm/runtime"
)

// hidden starts the names that only the patcher may use.
const hidden = "__"

// environment gives the type of every name, variables and own functions.
var environment = func() types.Map {
	env := types.Map{
		"kind": types.String, "msg": types.Any, "headers": types.Any, "sender": types.String, "path": types.String,
		"attempt": types.Int, "age": types.Float64, "size": types.Int, "error": types.String,
	}
	for name, f := range functions(new(budget)) {
		env[name] = types.TypeOf(f)
	}
	return env
}()

var functionTypes = func() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for name, f := range functions(new(budget)) {
		all[name] = reflect.TypeOf(f)
	}
	return all
}()

// functions are the hidden functions of the patcher and those that replace the
// library's, which fail on nil, give a random order or make texts without limit.
// Their Go types are among those that the machine calls without reflection.
func functions(b *budget) map[string]any {
	return map[string]any{
		"__get":      get,
		"__less":     func(l, r any) bool { return l != nil && r != nil && runtime.Less(l, r) },
		"__lessEq":   func(l, r any) bool { return l != nil && r != nil && runtime.LessOrEqual(l, r) },
		"__more":     func(l, r any) bool { return l != nil && r != nil && runtime.More(l, r) },
		"__moreEq":   func(l, r any) bool { return l != nil && r != nil && runtime.MoreOrEqual(l, r) },
		"__equal":    b.equal,
		"__in":       b.in,
		"__add":      b.add,
		"__true":     truth,
		"__text":     textOrNil,
		"__list":     orEmpty,
		"__cost":     func(v any) any { b.inspect(v); return v },
		"__step":     func(v any) any { b.spend(stepCost); return v },
		"__stepBool": func(v any) bool { b.spend(stepCost); return truth(v) },

		"len":         length,
		"int":         toInt,
		"float":       toFloat,
		"string":      func(v any) any { s := text(v); b.make(len(s)); return s },
		"lower":       b.mapText(strings.ToLower),
		"upper":       b.mapText(strings.ToUpper),
		"trim":        b.mapText(strings.TrimSpace),
		"trimPrefix":  b.mapText2(strings.TrimPrefix),
		"trimSuffix":  b.mapText2(strings.TrimSuffix),
		"hasPrefix":   onText(strings.HasPrefix, false),
		"hasSuffix":   onText(strings.HasSuffix, false),
		"indexOf":     onText(strings.Index, -1),
		"lastIndexOf": onText(strings.LastIndex, -1),
		"split":       b.split,
		"replace":     b.replace,
		"join":        b.join,
		"concat":      b.concat,
		"keys":        b.keys,
		"values":      b.values,
	}
}

// get reads a field or an element; what is not there is nil.
func get(from, key any) any {
	switch from := from.(type) {
	case map[string]any:
		if k, ok := key.(string); ok {
			return from[k]
		}
	case map[string]string:
		if k, ok := key.(string); ok {
			if v, ok := from[k]; ok {
				return v
			}
		}
	case map[any][]any:
		if v, ok := from[key]; ok {
			return v
		}
	case []any:
		if i, ok := index(key, len(from)); ok {
			return from[i]
		}
	case []int:
		if i, ok := index(key, len(from)); ok {
			return from[i]
		}
	}
	return nil
}

// index turns key into a position in a list of n elements; negative ones count
// from the end.
func index(key any, n int) (int, bool) {
	var i int
	switch k := key.(type) {
	case int:
		i = k
	case int64:
		i = int(k)
	default:
		return 0, false
	}
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i < n
}

func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	}
	panic(fmt.Errorf("%s is not a condition (want true or false)", show(v)))
}

func orEmpty(v any) any {
	if v == nil {
		return []any{}
	}
	return v
}

func (b *budget) equal(l, r any) bool {
	b.inspect(l)
	b.inspect(r)
	return runtime.Equal(l, r)
}

func (b *budget) in(needle, hay any) bool {
	b.inspect(needle)
	if _, ok := needle.(string); !ok {
		switch hay.(type) {
		case map[string]any, map[string]string:
			return false
		}
	}
	b.inspect(hay)
	return runtime.In(needle, hay)
}

func (b *budget) add(l, r any) any {
	if x, ok := l.(string); ok {
		if y, ok := r.(string); ok {
			b.make(len(x) + len(y))
		}
	}
	return runtime.Add(l, r)
}

func length(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		return utf8.RuneCountInString(v)
	case []byte:
		return len(v)
	}
	return runtime.Len(v)
}

func toInt(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		n, err := strconv.Atoi(strings.TrimSpace(v))
		if err != nil {
			panic(fmt.Errorf("%q is not a whole number", v))
		}
		return n
	case float64:
		if math.IsNaN(v) || v < math.MinInt64 || v >= math.MaxInt64 {
			panic(fmt.Errorf("%v is too large for a whole number", v))
		}
	}
	return runtime.ToInt(v)
}

func toFloat(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			panic(fmt.Errorf("%q is not a number", v))
		}
		return n
	}
	return runtime.ToFloat64(v)
}

// text writes a scalar as a person would; nil is the empty text.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case bool, int, int64:
		return fmt.Sprint(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	panic(fmt.Errorf("%s is neither a text nor a number", show(v)))
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		if len(v) > 40 {
			v = strings.ToValidUTF8(v[:40], "") + "…"
		}
		return "the text " + strconv.Quote(v)
	case bool, int, int64, float64:
		return fmt.Sprint(v)
	case []any, []int:
		return "a list"
	case map[string]any, map[string]string, map[any][]any:
		return "a map"
	}
	return fmt.Sprintf("a value of type %T", v)
}

func asText(v any) string {
	s, ok := v.(string)
	if !ok {
		panic(fmt.Errorf("%s is not a text", show(v)))
	}
	return s
}

// textOrNil lets texts, bytes and nil pass.
func textOrNil(v any) any {
	switch v.(type) {
	case nil, string, []byte:
		return v
	}
	return asText(v)
}

// onText makes a function of two texts; of nil it is absent.
func onText[R any](f func(s, part string) R, absent R) func(any, any) any {
	return func(v, part any) any {
		if v == nil {
			return absent
		}
		return f(asText(v), asText(part))
	}
}

func (b *budget) mapText(f func(string) string) func(any) any {
	return func(v any) any {
		if v == nil {
			return nil
		}
		s := asText(v)
		b.make(len(s))
		return f(s)
	}
}

func (b *budget) mapText2(f func(s, part string) string) func(any, any) any {
	return func(v, part any) any {
		if v == nil {
			return nil
		}
		return f(asText(v), asText(part))
	}
}

func (b *budget) split(v, sep any) any {
	if v == nil {
		return []any{}
	}
	s := asText(v)
	b.spend(len(s))
	return list(strings.Split(s, asText(sep)), func(e string) any { return e })
}

func (b *budget) replace(v, from, to any) any {
	if v == nil {
		return nil
	}
	s, f, t := asText(v), asText(from), asText(to)
	b.spend(len(s) / 16)
	b.make(len(s) + strings.Count(s, f)*max(0, len(t)-len(f)))
	return strings.ReplaceAll(s, f, t)
}

// join takes a list and, if given, what stands between its elements.
func (b *budget) join(args ...any) any {
	if len(args) == 0 || len(args) > 2 {
		panic(fmt.Errorf("join takes a list and a text; it got %d arguments", len(args)))
	}
	sep := ""
	if len(args) == 2 {
		sep = asText(args[1])
	}
	var out strings.Builder
	for i, e := range asAnys(args[0]) {
		if i > 0 {
			out.WriteString(sep)
		}
		s := text(e)
		b.spend(1)
		b.make(len(s) + len(sep))
		out.WriteString(s)
	}
	return out.String()
}

func (b *budget) concat(args ...any) any {
	var out []any
	for _, a := range args {
		more := asAnys(a)
		b.spend(1 + len(more))
		out = append(out, more...)
	}
	return out
}

func asAnys(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []int:
		return list(v, func(e int) any { return e })
	}
	panic(fmt.Errorf("%s is not a list", show(v)))
}

func (b *budget) keys(v any) any {
	m := asMap(v)
	b.spend(1 + len(m))
	return list(slices.Sorted(maps.Keys(m)), func(k string) any { return k })
}

func (b *budget) values(v any) any {
	m := asMap(v)
	b.spend(1 + len(m))
	return list(slices.Sorted(maps.Keys(m)), func(k string) any { return m[k] })
}

func asMap(v any) map[string]any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		return v
	case map[string]string:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = e
		}
		return m
	}
	panic(fmt.Errorf("%s is not a map", show(v)))
}
