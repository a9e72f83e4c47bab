package hocon

import (
	"slices"
	"strings"
)

// value reads one value: pieces beside each other up to the end of the line, a
// comma, a closing bracket or a comment. It returns nil after a mistake.
func (p *parser) value() raw {
	first := p.piece()
	if first == nil {
		p.unexpected("a value is wanted")
		return nil
	}
	if p.valueEnds() {
		return first
	}
	pieces := []raw{first}
	for p.err == nil {
		at, gap := p.off, p.spaces()
		if p.valueEnds() {
			break
		}
		if gap != "" {
			pieces = append(pieces, &blank{scalar{at: p.at(at), kind: String, text: gap}})
		}
		next := p.piece()
		if next == nil {
			break
		}
		pieces = append(pieces, next)
	}
	return p.joined(pieces)
}

// valueEnds reports whether no further piece of the value can follow.
func (p *parser) valueEnds() bool {
	switch p.peek() {
	case 0, '\n', ',', '}', ']', '#':
		return true
	}
	return p.comment()
}

// piece reads one piece of a value, nil if none is next.
func (p *parser) piece() raw {
	if p.err != nil {
		return nil
	}
	p.load.count(p)
	start := p.off
	at := p.at(start)
	switch p.peek() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return &scalar{at: at, kind: String, quoted: true, text: p.quoted()}
	case '$':
		if strings.HasPrefix(p.text[start:], "${") {
			return p.substitution(at)
		}
	default:
		if text := p.run(); text != "" {
			return &scalar{at: at, kind: kindOf(text), text: text}
		}
	}
	return nil
}

// kindOf tells what unquoted text is.
func kindOf(text string) Kind {
	switch c := text[0]; {
	case c == '-' || c >= '0' && c <= '9':
		if isNumber(text) {
			return Number
		}
	case text == "true" || text == "false":
		return Bool
	case text == "null":
		return Null
	}
	return String
}

// substitution reads ${path} or ${?path}.
func (p *parser) substitution(at place) raw {
	open := p.off
	p.off += 2
	optional := p.take('?')
	p.spaces()
	path := p.keyPath(true)
	if p.err != nil {
		return nil
	}
	if !p.take('}') {
		p.fail(open, "a } is missing", "this ${ is never closed on its line")
		return nil
	}
	if p.placeless {
		p.fail(open, "move the include out of the array", "a substitution in a file that is included inside an array")
		return nil
	}
	p.refs++
	full := slices.Concat(p.path[:p.prefix], path)
	return &ref{at: at, path: full, prefix: p.prefix, optional: optional, within: slices.Clone(p.path)}
}

// joined makes one value of several pieces; what is known already is joined here.
func (p *parser) joined(pieces []raw) raw {
	for len(pieces) > 1 {
		if _, ok := pieces[len(pieces)-1].(*blank); !ok {
			break
		}
		pieces = pieces[:len(pieces)-1]
	}
	if p.err != nil {
		return nil
	}
	kept, texts, known := p.fold(pieces)
	switch {
	case p.err != nil:
		return nil
	case len(kept) == 1:
		return kept[0]
	case known && texts:
		return joinText(kept)
	case known && slices.ContainsFunc(kept, isText):
		p.failMixed(kept)
		return nil
	}
	return &concat{at: placeOf(kept[0]), pieces: kept, within: slices.Clone(p.path)}
}

// fold joins neighbouring objects and arrays. It reports whether all pieces are
// text and whether all are known, that is, none is a substitution.
func (p *parser) fold(pieces []raw) (kept []raw, texts, known bool) {
	texts, known = true, true
	for i, v := range pieces {
		switch v := v.(type) {
		case *blank:
			if i > 0 && i+1 < len(pieces) && isContainer(pieces[i-1]) && isContainer(pieces[i+1]) {
				continue
			}
		case *ref:
			known = false
		case *object:
			texts = false
			if o, ok := last(kept).(*object); ok {
				o.merge(v)
				continue
			}
		case *list:
			texts = false
			if l, ok := last(kept).(*list); ok {
				l.elems = append(l.elems, v.elems...)
				continue
			}
		}
		kept = append(kept, v)
	}
	return kept, texts, known
}

func last(vs []raw) raw {
	if len(vs) == 0 {
		return nil
	}
	return vs[len(vs)-1]
}

func isContainer(v raw) bool {
	switch v.(type) {
	case *object, *list:
		return true
	}
	return false
}

func isText(v raw) bool {
	_, ok := v.(*scalar)
	return ok
}

// joinText makes one string of pieces that are all text.
func joinText(pieces []raw) raw {
	var b strings.Builder
	out := &scalar{at: placeOf(pieces[0]), kind: String}
	for _, v := range pieces {
		switch v := v.(type) {
		case *blank:
			b.WriteString(v.text)
		case *scalar:
			b.WriteString(v.text)
			out.quoted = out.quoted || v.quoted
		}
	}
	out.text = b.String()
	return out
}

// failMixed reports pieces that do not join, at the first that differs.
func (p *parser) failMixed(pieces []raw) {
	for _, v := range pieces[1:] {
		if _, ok := v.(*blank); !ok {
			p.failAt(placeOf(v), mixedHint, "%s cannot be joined with %s", describe(pieces[0]), describe(v))
			return
		}
	}
}

const mixedHint = "objects join objects, arrays join arrays, text joins text"

// describe names the kind of a raw value.
func describe(v raw) string {
	switch v.(type) {
	case *object:
		return "an object"
	case *list:
		return "an array"
	case *ref, *concat:
		return "a substitution"
	}
	return "text"
}

func placeOf(v raw) place {
	switch v := v.(type) {
	case *scalar:
		return v.at
	case *blank:
		return v.at
	case *list:
		return v.at
	case *object:
		return v.at
	case *ref:
		return v.at
	case *concat:
		return v.at
	}
	return place{}
}
