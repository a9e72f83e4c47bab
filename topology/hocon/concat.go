package hocon

import (
	"slices"
	"strings"
)

// concat joins pieces: objects with objects, arrays with arrays, text with text.
func (r *resolver) concat(c *concat, e *env) result {
	var all []result
	var pieces []raw
	kind := isScalar
	for _, p := range c.pieces {
		res := r.evalRaw(p, e)
		switch res.what {
		case broken:
			return res
		case undefined:
			continue
		case isList, isObject:
			if kind != isList {
				kind = res.what
			}
		}
		all, pieces = append(all, res), append(pieces, p)
	}
	switch {
	case len(all) == 0:
		return result{what: undefined}
	case len(all) == 1:
		all[0].blank = false
		return all[0]
	case kind == isScalar:
		return r.joinTexts(c, all)
	}
	return r.joinContainers(c, all, pieces, kind, e)
}

// joinTexts makes one string of all pieces.
func (r *resolver) joinTexts(c *concat, all []result) result {
	var b strings.Builder
	var via *chain
	out := &scalar{at: c.at, kind: String}
	for _, res := range all {
		if b.Len()+len(res.scalar.text) > r.load.limits.TextBytes {
			return r.stop(c.at, joinPath(c.within), "substitutions make a text of more than %d bytes", r.load.limits.TextBytes)
		}
		b.WriteString(res.scalar.text)
		out.quoted = out.quoted || res.scalar.quoted
		via = via.then(res.via)
	}
	out.text = b.String()
	if r.text += len(out.text); r.text > 64*r.load.limits.TextBytes {
		return r.stop(c.at, joinPath(c.within), "substitutions make more than %d bytes of text", 64*r.load.limits.TextBytes)
	}
	return result{what: isScalar, scalar: out, via: via}
}

// joinContainers makes one array or object of all pieces.
func (r *resolver) joinContainers(c *concat, all []result, pieces []raw, kind what, e *env) result {
	out := &view{at: c.at, env: e}
	for i, res := range all {
		if res.blank {
			continue
		}
		elems := []elem(nil)
		fits := res.what == kind
		switch {
		case res.what == isList:
			elems = res.view.elements()
		case kind == isList && res.what == isObject:
			elems, fits = res.view.numbered()
		}
		if !fits {
			r.failMixed(c, all, pieces, i)
			return result{what: broken}
		}
		if kind == isObject {
			out.parts = append(out.parts, partOf(pieces[i], res))
			continue
		}
		if r.steps += len(elems); r.steps > r.load.limits.Steps {
			return r.stop(c.at, joinPath(c.within), "more than %d steps of substitution", r.load.limits.Steps)
		}
		for _, el := range elems {
			el.via = res.via.then(el.via)
			out.elems = append(out.elems, el)
		}
	}
	return result{what: kind, view: out}
}

// failMixed reports pieces that do not join.
func (r *resolver) failMixed(c *concat, all []result, pieces []raw, i int) {
	if c.append {
		r.fail(c.at, joinPath(c.within), "", "+= wants an array, but the earlier value is %s", all[0].name())
		return
	}
	other := slices.IndexFunc(all, func(res result) bool { return !res.blank && res.what != all[i].what })
	r.fail(placeOf(pieces[i]), joinPath(c.within), mixedHint, "%s cannot be joined with %s", all[other].name(), all[i].name())
}

// name says what a result is.
func (res result) name() string {
	switch res.what {
	case isList:
		return "an array"
	case isObject:
		return "an object"
	}
	return "text"
}
