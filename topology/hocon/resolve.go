package hocon

import (
	"math"
	"slices"
	"strconv"
)

// The resolver works by need. eval finds out what a field is (a scalar, an array,
// an object), not what is inside; build asks for what is inside while it makes
// the nodes. So a substitution may refer into an object that is being made.
//
// A field is a stack of values. While the value at height i is looked at, the
// field shows only what lies below i: that is how a self-reference finds the
// earlier value. An env records this; it stays with the values found under it,
// so that their insides see the same.

// env is a list of fields of which only the lowest values are visible.
type env struct {
	up    *env
	slot  *slot
	limit int
	memos map[*slot]*memo
	next  map[cut]*env // the envs made of this one: one per cut, so that they share what they find
	above result       // what the value right above the cut turned out to be
}

// cut hides the values of a field from a height on.
type cut struct {
	slot  *slot
	limit int
}

// below returns e with only the values of s below i visible.
func (r *resolver) below(e *env, s *slot, i int) *env {
	if e == nil {
		e = r.base
	}
	s = s.origin()
	if e.slot == s {
		e = e.up
	}
	s.know().limited = true
	c := cut{s, i}
	inner := e.next[c]
	if inner == nil {
		if e.next == nil {
			e.next = map[cut]*env{}
		}
		inner = &env{up: e, slot: s, limit: i}
		e.next[c] = inner
	}
	return inner
}

// visible returns how many values of s can be seen in e.
func (r *resolver) visible(s *slot, e *env) int {
	origin := s.origin()
	if e == nil || origin.memo == nil || !origin.memo.limited {
		return len(s.layers)
	}
	hops := 0
	for ; e != nil; e = e.up {
		if e.slot == origin {
			return min(e.limit, len(s.layers))
		}
		if hops++; hops%8 == 0 {
			r.steps++
		}
	}
	return len(s.layers)
}

// memo is what is known of a field in one env.
type memo struct {
	limited bool // some env hides values of the field; kept in slot.memo
	free    bool // the result is the same in every env
	stacked bool // the result depends on a field with several values
	done    bool
	busy    int // level at which the field is being looked at, 0 if it is not
	result  result
}

func (s *slot) know() *memo {
	if s.memo == nil {
		s.memo = &memo{}
	}
	return s.memo
}

func (e *env) memo(s *slot) *memo {
	if e == nil {
		return s.know()
	}
	if m := s.memo; m != nil && m.free && m.done {
		return m
	}
	m := e.memos[s]
	if m == nil {
		if e.memos == nil {
			e.memos = map[*slot]*memo{}
		}
		m = &memo{}
		e.memos[s] = m
	}
	return m
}

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

// fail reports a mistake.
func (r *resolver) fail(at place, path []string, hint, format string, args ...any) {
	if !r.stopped {
		r.load.errs = append(r.load.errs, errorAt(at, path, hint, format, args...))
	}
}

// stop reports that a limit is reached, once.
func (r *resolver) stop(at place, path []string, format string, args ...any) result {
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
		return r.stop(s.keyAt, nil, "more than %d substitutions wait for one another", r.load.limits.Chain)
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
		r.fail(x.at, x.within, circleHint, "%s leads back to itself", x)
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

// evalRaw finds out what a raw value is.
func (r *resolver) evalRaw(v raw, e *env) result {
	if r.steps++; r.steps > r.load.limits.Steps || r.stopped {
		return r.stop(placeOf(v), nil, "more than %d steps of substitution", r.load.limits.Steps)
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

// ref finds out what a substitution stands for.
func (r *resolver) ref(x *ref, e *env) result {
	if x.failed {
		return result{what: broken}
	}
	asking := r.asking
	r.asking = x
	res := r.find(x, e)
	r.asking = asking
	switch sign := res.sign(); {
	case x.failed || res.what == broken:
		return result{what: broken}
	case res.what == undefined && !x.optional:
		x.failed = true
		r.failUndefined(x, res.cycle)
		return result{what: broken}
	case x.seen != "" && x.seen != sign:
		x.failed = true
		r.fail(x.at, x.within, circleHint, "%s stands for two values, because it is part of its own definition", x)
		return result{what: broken}
	default:
		x.seen = sign
	}
	if res.what != undefined {
		res.via = res.via.behind(x.at)
	}
	return res
}

const circleHint = "break the circle, for example with a third key"

// find looks a substitution up in the tree, then in the environment.
func (r *resolver) find(x *ref, e *env) result {
	res := r.lookup(x.path, e)
	if res.what == undefined && x.prefix > 0 && !x.self {
		again := r.lookup(x.path[x.prefix:], e)
		again.cycle = again.cycle || res.cycle
		res = again
	}
	if res.what == undefined && !res.cycle && !x.self {
		res = r.environment(x)
	}
	return res
}

// String returns the substitution as it was written.
func (x *ref) String() string {
	if x.optional {
		return "${?" + x.name() + "}"
	}
	return "${" + x.name() + "}"
}

// name is its path as it was written.
func (x *ref) name() string { return joinPath(x.path[x.prefix:]) }

func (r *resolver) failUndefined(x *ref, cycle bool) {
	if cycle {
		r.fail(x.at, x.within, "", "${%s} leads back to itself, and there is no earlier value", x.name())
		return
	}
	hint := "if it may be missing write ${?" + x.name() + "}"
	if word := r.suggest(x); word != "" {
		hint = "did you mean ${" + word + "}?"
	}
	r.fail(x.at, x.within, hint, "${%s} has no value, neither here nor in the environment", x.name())
}

// lookup finds what stands at a path.
func (r *resolver) lookup(path []string, e *env) result {
	root, ok := r.root.(*object)
	if !ok {
		return result{what: undefined}
	}
	s := root.find(path[0])
	if s == nil {
		return result{what: undefined}
	}
	res := r.eval(s, e)
	for _, key := range path[1:] {
		if res.what == undefined || res.what == broken {
			return res
		}
		if res.what != isObject {
			return result{what: undefined}
		}
		child, inner, via := res.view.child(key)
		if child == nil {
			return result{what: undefined}
		}
		via = res.via.then(via)
		res = r.eval(child, inner)
		res.via = via.then(res.via)
	}
	return res
}

// environment looks a substitution of one element up among the environment variables.
func (r *resolver) environment(x *ref) result {
	path := x.path[x.prefix:]
	if len(path) != 1 || path[0] == "" {
		return result{what: undefined}
	}
	name, env := path[0], r.load.opts.Env
	if text, ok := env(name); ok {
		return result{what: isScalar, scalar: &scalar{at: x.at, kind: String, quoted: true, text: text}}
	}
	var elems []raw
	for i := range r.load.limits.Nodes {
		text, ok := env(name + "." + strconv.Itoa(i))
		if !ok {
			break
		}
		elems = append(elems, &scalar{at: x.at, kind: String, quoted: true, text: text})
	}
	if elems == nil {
		return result{what: undefined}
	}
	return result{what: isList, view: &view{list: elems, at: x.at}}
}
