package hocon

import (
	"strings"
)

// key reads the key path of a field, up to a separator, a brace or the end of the line.
func (p *parser) key() []string {
	switch p.peek() {
	case '=', ':':
		p.fail(p.off, "write key = value", "no key before %q", p.peek())
		return nil
	case '[':
		p.fail(p.off, "", "an array is no key")
		return nil
	case '{':
		p.fail(p.off, "objects join only on one line, as in } {", "an object is no key")
		return nil
	case '$':
		if strings.HasPrefix(p.text[p.off:], "${") {
			p.fail(p.off, "write the key out", "substitutions do not work in keys")
			return nil
		}
	}
	return p.keyPath(false)
}

// keyPath reads dotted elements. Blanks at both ends are no part of it, blanks
// inside are. In a substitution it ends before the closing brace.
func (p *parser) keyPath(inRef bool) []string {
	start := p.off
	if text := p.run(); text != "" && p.simpleKeyEnds() && strings.IndexByte(text, '.') < 0 {
		p.spaces()
		return []string{text}
	}
	p.off = start
	var k keyParts
	for gap := ""; p.err == nil; gap = p.spaces() {
		at := p.off
		if p.peek() == '"' {
			k.add(gap + p.quoted())
			continue
		}
		text := p.run()
		if text == "" {
			p.endOfKey(inRef)
			break
		}
		if !k.addDotted(gap + text) {
			p.fail(at, emptyHint, "an empty element in a key path")
		}
	}
	if !k.filled {
		p.fail(p.off, emptyHint, "an empty element in a key path")
	}
	if p.depth+len(k.path) > p.load.limits.Depth {
		p.fail(start, "", "nested more than %d levels deep", p.load.limits.Depth)
	}
	return append(k.path, k.elem.String())
}

const emptyHint = `an empty key is written ""`

// keyParts collects the elements of a key path.
type keyParts struct {
	path   []string
	elem   strings.Builder // the one that is being read
	filled bool            // elem has content, be it empty quotes
}

func (k *keyParts) add(text string) {
	k.elem.WriteString(text)
	k.filled = true
}

// addDotted adds unquoted text; it is false when a dot stands where an element should.
func (k *keyParts) addDotted(text string) bool {
	for i, part := range strings.Split(text, ".") {
		if i > 0 {
			if !k.filled {
				return false
			}
			k.path = append(k.path, k.elem.String())
			k.elem.Reset()
			k.filled = false
		}
		if part != "" {
			k.add(part)
		}
	}
	return true
}

// simpleKeyEnds reports whether a key of one word is complete.
func (p *parser) simpleKeyEnds() bool {
	off := p.off
	p.spaces()
	c := p.peek()
	p.off = off
	switch c {
	case '=', ':', '{', '}':
		return true
	}
	return false
}

// endOfKey checks that what follows a key may do so.
func (p *parser) endOfKey(inRef bool) {
	switch c := p.peek(); {
	case c == 0 || c == '\n' || p.comment():
	case inRef && c == '}':
	case inRef && c == '?':
		p.fail(p.off, "write ${?path}", "the question mark must follow ${ at once")
	case inRef:
		p.unexpected("a substitution is ${path} or ${?path}; quote elements with special characters")
	case c == '=' || c == ':' || c == '{' || strings.HasPrefix(p.text[p.off:], "+="):
	default:
		p.unexpected("after a key =, : or { is wanted; quote keys with special characters")
	}
}
