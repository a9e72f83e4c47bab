package rule

import "math"

// val is a value without the cost of an interface.
type val struct {
	tag tag
	n   uint64 // of a boolean 0 or 1, of a whole number its bits, of a float its bits
	s   string
}

type tag uint8

const (
	giveUp  tag = iota // the machine must decide
	nothing            // nil
	boolean
	whole
	float
	texts
	other // a list, a map or bytes
)

func ofBool(b bool) val {
	if b {
		return val{tag: boolean, n: 1}
	}
	return val{tag: boolean}
}

func ofInt(n int64) val     { return val{tag: whole, n: uint64(n)} }
func ofFloat(f float64) val { return val{tag: float, n: math.Float64bits(f)} }
func ofText(s string) val   { return val{tag: texts, s: s} }

func ofAny(v any) val {
	switch v := v.(type) {
	case nil:
		return val{tag: nothing}
	case string:
		return ofText(v)
	case int64:
		return ofInt(v)
	case float64:
		return ofFloat(v)
	case bool:
		return ofBool(v)
	case map[string]any:
		return composite(v == nil)
	case []any:
		return composite(v == nil)
	case []byte:
		return composite(v == nil)
	}
	return val{}
}

// composite gives a list or a map that is nil to the machine, which takes it
// for nil in some operations and for an empty one in others.
func composite(null bool) val {
	if null {
		return val{}
	}
	return val{tag: other}
}

func (v val) isNumber() bool { return v.tag == whole || v.tag == float }

func (v val) number() float64 {
	if v.tag == whole {
		return float64(int64(v.n))
	}
	return math.Float64frombits(v.n)
}

// truth returns v as a condition; ok is false when it is none.
func (v val) truth() (yes, ok bool) {
	return v.n != 0 && v.tag == boolean, v.tag == boolean || v.tag == nothing
}

func equal(l, r val) val {
	switch {
	case l.tag == giveUp || r.tag == giveUp:
		return val{}
	case l.tag == nothing || r.tag == nothing:
		return ofBool(l.tag == r.tag)
	case l.tag == other || r.tag == other:
		return val{}
	case l.tag == whole && r.tag == whole:
		return ofBool(l.n == r.n)
	case l.isNumber() && r.isNumber():
		return ofBool(l.number() == r.number())
	}
	return ofBool(l == r)
}

func less(l, r val) val {
	switch {
	case l.tag == whole && r.tag == whole:
		return ofBool(int64(l.n) < int64(r.n))
	case l.isNumber() && r.isNumber():
		return ofBool(l.number() < r.number())
	case l.tag == texts && r.tag == texts:
		return ofBool(l.s < r.s)
	}
	return unordered(l, r)
}

func lessOrEqual(l, r val) val {
	switch {
	case l.tag == whole && r.tag == whole:
		return ofBool(int64(l.n) <= int64(r.n))
	case l.isNumber() && r.isNumber():
		return ofBool(l.number() <= r.number())
	case l.tag == texts && r.tag == texts:
		return ofBool(l.s <= r.s)
	}
	return unordered(l, r)
}

// unordered is the comparison of two values that have no order: false with nil,
// else the machine's error.
func unordered(l, r val) val {
	if l.tag != giveUp && r.tag != giveUp && (l.tag == nothing || r.tag == nothing) {
		return ofBool(false)
	}
	return val{}
}

// onTexts is false when an operand is absent.
func onTexts(l, r val, f func(s, part string) bool) val {
	switch {
	case l.tag == texts && r.tag == texts:
		return ofBool(f(l.s, r.s))
	case (l.tag == texts || l.tag == nothing) && (r.tag == texts || r.tag == nothing):
		return ofBool(false)
	}
	return val{}
}

func arithmetic(l, r val, ints func(x, y int64) int64, floats func(x, y float64) float64) val {
	switch {
	case l.tag == whole && r.tag == whole:
		return ofInt(ints(int64(l.n), int64(r.n)))
	case l.isNumber() && r.isNumber():
		return ofFloat(floats(l.number(), r.number()))
	}
	return val{}
}
