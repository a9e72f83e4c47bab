package hocon

import (
	"strconv"
)

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
		r.fail(x.at, joinPath(x.within), circleHint, "%s stands for two values, because it is part of its own definition", x)
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
		r.fail(x.at, joinPath(x.within), "", "${%s} leads back to itself, and there is no earlier value", x.name())
		return
	}
	hint := "if it may be missing write ${?" + x.name() + "}"
	if word := r.suggest(x); word != "" {
		hint = "did you mean ${" + word + "}?"
	}
	r.fail(x.at, joinPath(x.within), hint, "${%s} has no value, neither here nor in the environment", x.name())
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
		child, inner, via := r.child(res.view, key)
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

// maxSuggested is how many keys are compared with one that is missing.
const maxSuggested = 1000

// suggest finds a key like the one that a substitution names in vain.
func (r *resolver) suggest(x *ref) string {
	path := x.path[x.prefix:]
	v := &view{only: &object{}}
	if root, ok := r.root.(*object); ok {
		v.only = root
	}
	for i, key := range path {
		s, inner, _ := v.child(key)
		if s == nil {
			if word := Suggest(key, v.keys()[:min(maxSuggested, len(v.keys()))]); word != "" {
				return joinPath(append(append(path[:i:i], word), path[i+1:]...))
			}
			return ""
		}
		res := r.eval(s, inner)
		if res.what != isObject {
			return ""
		}
		v = res.view
	}
	return ""
}
