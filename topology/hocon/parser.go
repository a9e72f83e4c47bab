package hocon

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parser builds raw values from one text. It works downwards, one function per
// construct of the grammar; after a mistake the lexer stands at the end and all
// of them return.
type parser struct {
	lexer
	load      *loader
	prefix    int // how many keys of the path come from the including files
	inArray   int // how many arrays the parser is in, including files counted
	depth     int
	refs      int  // substitutions so far
	placeless bool // the file is included inside an array, where nothing has a path
}

// document reads a whole text: an object with or without braces, or an array.
func (p *parser) document() raw {
	p.check()
	p.lines()
	start := p.at(p.off)
	var root raw
	switch p.peek() {
	case '[':
		root = p.array()
	case '{':
		root = p.object()
	default:
		o := &object{at: start}
		p.fields(o, 0, 0)
		return o
	}
	p.lines()
	if p.peek() != 0 {
		p.fail(p.off, "remove it, or put it inside", "text after the end of the root value")
	}
	return root
}

// deeper counts a level after its bracket; it is false when there are too many.
func (p *parser) deeper() bool {
	if p.depth++; p.depth > p.load.limits.Depth {
		p.fail(p.off-1, "", "nested more than %d levels deep", p.load.limits.Depth)
		return false
	}
	return true
}

// object reads { … }.
func (p *parser) object() *object {
	open := p.off
	o := &object{at: p.at(open)}
	p.off++
	if !p.deeper() {
		return o
	}
	p.fields(o, '}', open)
	p.depth--
	return o
}

// fields reads fields up to the closing brace, or to the end when closer is 0.
func (p *parser) fields(o *object, closer byte, open int) {
	for p.lines(); p.err == nil; {
		switch c := p.peek(); {
		case c == 0 && closer != 0:
			p.fail(open, "a } is missing", "this { is never closed")
			return
		case c == 0:
			return
		case c == '}':
			if closer == 0 {
				p.fail(p.off, "remove it", "} without {")
			}
			p.off++
			return
		case c == ',':
			p.fail(p.off, "one comma between two fields, none before the first", "a comma without a field before it")
			return
		}
		p.field(o)
		p.separated("fields", '}')
	}
}

// separated moves over what stands between two fields or elements and demands
// that something does.
func (p *parser) separated(what string, closer byte) {
	newline := p.lines()
	if p.err != nil {
		return
	}
	if p.take(',') {
		p.lines()
		return
	}
	c := p.peek()
	switch {
	case newline, c == closer, c == 0:
		return
	case c == '=' || c == ':':
		p.fail(p.off, "quote the value if it belongs to it, or put the next field on a new line", "%q after a value", c)
	case c == '}' || c == ']':
		p.fail(p.off, "close what was opened last", "%q where %q is wanted", c, closer)
	default:
		p.unexpected("between " + what + " a comma or a new line is wanted")
	}
}

// unexpected reports the character that is next.
func (p *parser) unexpected(want string) {
	c := p.peek()
	switch {
	case p.err != nil:
	case c == 0:
		p.fail(p.off, want, "the text ends too early")
	case c == '\n':
		p.fail(p.off, want, "the line ends too early")
	case c == '$':
		p.fail(p.off, `substitutions are ${path}; else put it in quotes`, "the character $ is reserved outside quotes")
	case c < 0x80 && charClass[c] == reserved || c == '+':
		p.fail(p.off, "put the text in quotes", "the character %c is reserved outside quotes", c)
	default:
		r, _ := utf8.DecodeRuneInString(p.text[p.off:])
		p.fail(p.off, want, "unexpected %q", r)
	}
}

// field reads an include or key, separator and value.
func (p *parser) field(o *object) {
	start := p.off
	if p.run() == "include" {
		p.include(o)
		return
	}
	p.off = start
	at := p.at(start)
	key := p.key()
	if p.err != nil {
		return
	}
	appends := p.separator(start)
	if p.err != nil {
		return
	}
	outer, depth := len(p.path), p.depth
	p.path = append(p.path, key...)
	p.depth += len(key) - 1
	if v := p.fieldValue(appends); v != nil {
		for _, k := range key[:len(key)-1] {
			o = o.slot(k, at).object(at)
		}
		o.slot(key[len(key)-1], at).push(v, at)
	}
	p.path, p.depth = p.path[:outer], depth
}

// separator moves over : = += or nothing before a brace; it reports +=. The key begins at offset key.
func (p *parser) separator(key int) (appends bool) {
	newline := p.lines()
	switch {
	case p.peek() == '{':
	case p.take(':'), p.take('='):
		p.lines()
	case strings.HasPrefix(p.text[p.off:], "+="):
		if p.inArray > 0 {
			p.fail(p.off, "write the whole list with =", "+= does not work inside an array element")
			return false
		}
		p.off += 2
		p.lines()
		return true
	case newline:
		p.fail(key, "after a key =, : or { is wanted; a text of several lines needs quotes", "neither a field nor part of the value before it")
	default:
		p.unexpected("after a key =, : or { is wanted")
	}
	return false
}

// fieldValue reads the value of a field and turns += into a look back.
func (p *parser) fieldValue(appends bool) raw {
	at, refs := p.at(p.off), p.refs
	v := p.value()
	if v == nil || !appends {
		return v
	}
	path := slices.Clone(p.path)
	earlier := &ref{at: at, path: path, within: path, optional: true, self: true}
	added := &list{at: at, elems: []raw{v}}
	return &concat{at: at, pieces: []raw{earlier, added}, within: path, append: true, plain: refs == p.refs}
}

// array reads [ … ].
func (p *parser) array() *list {
	open := p.off
	l := &list{at: p.at(open)}
	p.off++
	if !p.deeper() {
		return l
	}
	p.inArray++
	for p.lines(); p.err == nil; {
		switch p.peek() {
		case 0:
			p.fail(open, "a ] is missing", "this [ is never closed")
			return l
		case ']':
			p.off++
			p.inArray--
			p.depth--
			return l
		case ',':
			p.fail(p.off, "one comma between two elements, none before the first", "a comma without an element before it")
			return l
		}
		if v := p.value(); v != nil {
			l.elems = append(l.elems, v)
		}
		p.separated("elements", ']')
	}
	return l
}
