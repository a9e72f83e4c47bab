package hocon

import (
	"fmt"
	"reflect"
	"slices"

	library "github.com/gurkankaymak/hocon"
)

// CrossCheck reads the text of a tree once more with the parser of the hocon
// library and returns an error if the values differ. It reports checked = false,
// and does not call the library, unless the tree is of a single text within the
// narrow part of HOCON that the library reads right: no comments, escapes, signs,
// units, words beside each other, dotted or repeated keys, includes, substitutions.
// Outside of it the library gives other values, panics or never returns.
func CrossCheck(t *Tree) (checked bool, err error) {
	if len(t.sources) != 1 || !isNarrow(t.sources[0].text) {
		return false, nil
	}
	c, err := library.ParseString(t.sources[0].text)
	if err != nil {
		return true, fmt.Errorf("%s: the hocon library rejects what this package reads as %s: %w", t.sources[0].name, t.Root.JSON(), err)
	}
	if got, want := c.GetRoot(), t.Root.value(); !reflect.DeepEqual(got, want) {
		return true, fmt.Errorf("%s: the hocon library reads %v, this package %v", t.sources[0].name, got, want)
	}
	return true, nil
}

// Bounds of the texts that are given to the library, whose parser recurses.
const (
	narrowBytes = 1 << 20
	narrowDepth = 64
)

// narrow recognises the part of HOCON that the library reads right.
type narrow struct {
	text  string
	depth int
}

// isNarrow reports whether a text with at least one field is in that part.
func isNarrow(text string) bool {
	if len(text) > narrowBytes {
		return false
	}
	n := &narrow{text: text}
	n.blanks(true)
	if n.peek() == '{' {
		return n.object() && n.blanks(true) && n.text == ""
	}
	return n.peek() != 0 && n.fields(0)
}

func (n *narrow) peek() byte {
	if n.text == "" {
		return 0
	}
	return n.text[0]
}

func (n *narrow) take(c byte) bool {
	if n.peek() != c {
		return false
	}
	n.text = n.text[1:]
	return true
}

func (n *narrow) blanks(newlines bool) bool {
	for n.peek() == ' ' || newlines && n.peek() == '\n' {
		n.text = n.text[1:]
	}
	return true
}

// while cuts off the longest start of the text whose bytes are all fit.
func (n *narrow) while(fit func(c byte) bool) string {
	i := 0
	for i < len(n.text) && fit(n.text[i]) {
		i++
	}
	head := n.text[:i]
	n.text = n.text[i:]
	return head
}

// word cuts off a word; it is "" for one that the library gives another meaning.
func (n *narrow) word() string {
	w := n.while(isLetter)
	if slices.Contains([]string{"include", "yes", "no", "on", "off"}, w) {
		return ""
	}
	return w
}

// quoted cuts off a quoted text without anything special in it.
func (n *narrow) quoted() string {
	if !n.take('"') {
		return ""
	}
	text := n.while(func(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == ' ' || c == '_' || c == '-' })
	if !n.take('"') {
		return ""
	}
	return text
}

func (n *narrow) object() bool {
	n.depth++
	defer func() { n.depth-- }()
	if n.depth > narrowDepth || !n.take('{') {
		return false
	}
	n.blanks(true)
	return n.peek() != '}' && n.fields('}')
}

func (n *narrow) fields(closer byte) bool {
	known := map[string]bool{}
	for {
		key := n.word()
		if key == "" {
			key = n.quoted()
		}
		if key == "" || known[key] || key == "true" || key == "false" || key == "null" {
			return false
		}
		known[key] = true
		n.blanks(false)
		if n.take('=') || n.take(':') {
			n.blanks(false)
		} else if n.peek() != '{' {
			return false
		}
		if !n.value() {
			return false
		}
		if done, ok := n.next(closer); done || !ok {
			return ok
		}
	}
}

// next moves over what stands between two fields or elements; done reports the end.
func (n *narrow) next(closer byte) (done, ok bool) {
	n.blanks(false)
	parted := n.peek() == '\n' || n.peek() == ','
	n.take(',')
	n.blanks(true)
	if n.peek() == closer {
		return true, closer == 0 && n.text == "" || closer != 0 && n.take(closer)
	}
	return false, parted
}

func (n *narrow) value() bool {
	switch c := n.peek(); {
	case c == '{':
		return n.object()
	case c == '[':
		return n.array()
	case c == '"':
		return n.quoted() != ""
	case isLetter(c):
		return n.word() != ""
	}
	number := n.while(func(c byte) bool { return c >= '0' && c <= '9' })
	return number == "0" || number != "" && number[0] != '0' && len(number) < 16
}

func (n *narrow) array() bool {
	n.depth++
	defer func() { n.depth-- }()
	if n.depth > narrowDepth || !n.take('[') {
		return false
	}
	n.blanks(true)
	for n.peek() != ']' {
		if !n.value() {
			return false
		}
		if done, ok := n.next(']'); done || !ok {
			return ok
		}
	}
	return n.take(']')
}
