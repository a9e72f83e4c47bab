package hocon

import (
	"math"
	"slices"
)

// The resolver works by need. eval finds out what a field is (a scalar, an array,
// an object), not what is inside; build asks for what is inside while it makes
// the nodes. So a substitution may refer into an object that is being made.
//
// A field is a stack of values. While the value at height i is looked at, the
// field shows only what lies below i: that is how a self-reference finds the
// earlier value. An env records this; it stays with the values found under it,
// so that their insides see the same.

// resolver turns raw values into nodes.
type resolver struct {
	root raw
	load *loader
	tree *Tree
	base *env // hides nothing; the same as a nil env

	level   int  // fields that are being looked at
	lowest  int  // lowest level that the result so far depends on while unfinished
	asking  *ref // the substitution that is being looked up
	closing *ref // the last one that closed a circle
	stacked bool // the result so far depends on a field with several values
	steps   int
	text    int // bytes of text made so far
	nodes   int
	depth   int
	arena   []Node
	stopped bool // a limit is reached; nothing more is reported
}

func (r *resolver) resolve() *Node {
	r.lowest, r.base = math.MaxInt, &env{}
	return r.build(r.evalRaw(r.root, nil), seat{})
}

// maxMistakes is where looking for further mistakes of substitution ends.
const maxMistakes = 100

// fail reports a mistake.
func (r *resolver) fail(at place, path, hint, format string, args ...any) {
	if r.stopped {
		return
	}
	r.load.errs = append(r.load.errs, errorAt(at, path, hint, format, args...))
	r.stopped = len(r.load.errs) >= maxMistakes
}

// stop reports that a limit is reached, once.
func (r *resolver) stop(at place, path, format string, args ...any) result {
	r.fail(at, path, "", format, args...)
	r.stopped = true
	return result{what: broken}
}

// eval finds out what a field is.
func (r *resolver) eval(s *slot, e *env) result {
	if len(s.layers) == 1 {
		if sc, ok := s.layers[0].(*scalar); ok {
			return result{what: isScalar, scalar: sc}
		}
	} else {
		r.stacked = true
	}
	m := e.memo(s)
	if m.done {
		r.stacked = r.stacked || m.stacked
		return m.result
	}
	if m.busy > 0 {
		if m.busy < r.level { // else it is a plain self-reference
			r.lowest = min(r.lowest, m.busy)
			r.closing = r.asking
		}
		return result{what: undefined, cycle: true}
	}
	if r.level >= r.load.limits.Chain {
		return r.stop(s.keyAt, "", "more than %d substitutions wait for one another", r.load.limits.Chain)
	}
	lowest, stacked := r.lowest, r.stacked
	r.lowest, r.stacked = math.MaxInt, len(s.layers) > 1
	r.level++
	m.busy = r.level
	res := r.stack(s, r.visible(s, e), e)
	m.busy = 0
	if r.lowest <= r.level {
		res = r.circle(res)
	}
	if r.lowest >= r.level { // nothing outside that is unfinished took part
		r.lowest = math.MaxInt
		r.remember(s, e, m, res)
	}
	r.level--
	r.lowest, r.stacked = min(lowest, r.lowest), stacked || r.stacked
	return res
}

// circle decides on a field that is part of a circle of substitutions. All its
// fields must come to nothing; else what they are would depend on where one begins.
func (r *resolver) circle(res result) result {
	if res.what == undefined || res.what == broken {
		return res
	}
	if x := r.closing; !x.failed {
		x.failed = true
		r.fail(x.at, joinPath(x.within), circleHint, "%s leads back to itself", x)
	}
	return result{what: broken}
}

func (r *resolver) remember(s *slot, e *env, m *memo, res result) {
	m.done, m.result, m.stacked = true, res, r.stacked
	m.free = !r.stacked && (res.what == isScalar || res.what == undefined)
	if own := s.know(); e != nil && m.free && own.busy == 0 {
		own.done, own.free, own.result = true, true, res
	}
}

// stack looks at the lowest n values of a field, from the top down to the first
// that hides the rest.
func (r *resolver) stack(s *slot, n int, e *env) result {
	if n == 1 && len(s.layers) == 1 {
		return r.evalRaw(s.layers[0], e)
	}
	var parts []part
	var only result // the part, if there is one
	cycle := false
	for i := n - 1; i >= 0; i-- {
		res, whole := r.layer(s, i, e)
		switch {
		case res.what == broken:
			return res
		case res.what == undefined:
			cycle = cycle || res.cycle
			continue
		case res.what != isObject && parts == nil:
			return res
		case res.what != isObject:
			whole = true // an array or text ends what the objects above it can join
		default:
			only = res
			parts = append(parts, partOf(s.layers[i], res))
		}
		if whole {
			break
		}
	}
	switch len(parts) {
	case 0:
		return result{what: undefined, cycle: cycle}
	case 1:
		return only
	}
	slices.Reverse(parts)
	return result{what: isObject, view: &view{parts: parts, env: e}}
}

// layer finds out what the value at height i of a field is. It reports whether
// that holds the lower values already, because it refers to them.
func (r *resolver) layer(s *slot, i int, e *env) (res result, whole bool) {
	if i == 0 || !looksBack(s.layers[i]) {
		return r.evalRaw(s.layers[i], e), false
	}
	inner := r.below(e, s, i)
	if inner.above.what == undefined {
		lowest := r.lowest
		r.lowest = math.MaxInt
		res = r.evalRaw(s.layers[i], inner)
		if r.lowest == math.MaxInt { // nothing unfinished took part
			inner.above = res
		}
		r.lowest = min(lowest, r.lowest)
	} else {
		res = inner.above
	}
	lower := inner.memos[s]
	whole = res.what == isObject && lower != nil && lower.done && lower.result.what == isObject && res.view.holds(lower.result.view)
	return res, whole
}

// looksBack reports whether a value can refer to those below it.
func looksBack(v raw) bool {
	switch v.(type) {
	case *ref, *concat:
		return true
	}
	return false
}

// child is view.child with its work counted.
func (r *resolver) child(v *view, key string) (*slot, *env, *chain) {
	if r.steps += len(v.parts); r.steps > r.load.limits.Steps {
		r.stop(v.place(), "", "more than %d steps of substitution", r.load.limits.Steps)
	}
	return v.child(key)
}

// evalRaw finds out what a raw value is.
func (r *resolver) evalRaw(v raw, e *env) result {
	if r.stopped {
		return result{what: broken}
	}
	if r.steps++; r.steps > r.load.limits.Steps {
		return r.stop(placeOf(v), "", "more than %d steps of substitution", r.load.limits.Steps)
	}
	switch v := v.(type) {
	case *scalar:
		return result{what: isScalar, scalar: v}
	case *blank:
		return result{what: isScalar, scalar: &v.scalar, blank: true}
	case *list:
		return result{what: isList, view: &view{list: v.elems, env: e, at: v.at}}
	case *object:
		return result{what: isObject, view: &view{only: v, env: e, at: v.at}}
	case *link:
		res := r.eval(v.slot, v.env)
		res.via = v.via.then(res.via)
		return res
	case *concat:
		return r.concat(v, e)
	case *ref:
		return r.ref(v, e)
	}
	panic("hocon: a raw value of no known kind")
}
