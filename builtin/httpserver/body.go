package httpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects of a body may be nested.
const maxDepth = 100

// bodyError is a mistake in a JSON text at a byte offset from 0.
type bodyError struct {
	offset int
	msg    string
}

// Error returns the mistake without its place.
func (e *bodyError) Error() string { return e.msg }

// place returns line and column, from 1, of the mistake in text; columns count
// characters.
func (e *bodyError) place(text []byte) (line, column int) {
	before := text[:min(e.offset, len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// decodeJSON reads one JSON value as a message body. It has its own reader
// because encoding/json turns whole numbers into floats, takes double keys, mends
// broken UTF-8, nests to any depth and does not say where a mistake is. Errors
// are *bodyError.
func decodeJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, &bodyError{invalidAt(text), "it is not UTF-8"}
	}
	d := decoder{text: text}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if d.peek(); d.at < len(text) {
		return nil, d.fail("there is more behind the value")
	}
	return v, nil
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// decoder reads text from at on.
type decoder struct {
	text []byte
	at   int
}

func (d *decoder) fail(format string, args ...any) error {
	return &bodyError{d.at, fmt.Sprintf(format, args...)}
}

// unexpected says that something else was wanted here.
func (d *decoder) unexpected(want string) error {
	if d.at >= len(d.text) {
		return d.fail("it ends where %s is wanted", want)
	}
	r, _ := utf8.DecodeRune(d.text[d.at:])
	return d.fail("%q stands where %s is wanted", r, want)
}

// peek skips white space and returns the next byte, 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (d *decoder) value(depth int) (any, error) {
	switch c := d.peek(); {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return nil, d.fail("it is nested deeper than %d", maxDepth)
		}
		d.at++
		if c == '[' {
			return d.list(depth + 1)
		}
		return d.object(depth + 1)
	case c == '"':
		return d.string()
	case c == '-' || isDigit(c):
		return d.number()
	case d.word("null"):
		return nil, nil
	case d.word("true"):
		return true, nil
	case d.word("false"):
		return false, nil
	}
	return nil, d.unexpected("a value")
}

func (d *decoder) word(w string) bool {
	if !bytes.HasPrefix(d.text[d.at:], []byte(w)) {
		return false
	}
	d.at += len(w)
	return true
}

func (d *decoder) list(depth int) (any, error) {
	out := []any{}
	if d.peek() == ']' {
		d.at++
		return out, nil
	}
	for {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if last, err := d.last(']'); last || err != nil {
			return out, err
		}
	}
}

func (d *decoder) object(depth int) (any, error) {
	out := map[string]any{}
	if d.peek() == '}' {
		d.at++
		return out, nil
	}
	for {
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			return nil, d.fail("key %.80q is there twice", key)
		}
		d.at++
		if out[key], err = d.value(depth); err != nil {
			return nil, err
		}
		if last, err := d.last('}'); last || err != nil {
			return out, err
		}
	}
}

// key reads a key and stops at the colon behind it.
func (d *decoder) key() (string, error) {
	if d.peek() != '"' {
		return "", d.unexpected("a key in double quotes")
	}
	key, err := d.string()
	if err == nil && d.peek() != ':' {
		err = d.unexpected("':'")
	}
	return key, err
}

// last reads what follows an element: a comma, or the end of the list or object.
func (d *decoder) last(end byte) (bool, error) {
	switch c := d.peek(); c {
	case ',', end:
		d.at++
		return c == end, nil
	}
	return false, d.unexpected(fmt.Sprintf("',' or '%c'", end))
}

func (d *decoder) string() (string, error) {
	start, escaped := d.at, false
	for d.at++; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; {
		case c == '"':
			d.at++
			if !escaped {
				return string(d.text[start+1 : d.at-1]), nil
			}
			var s string
			if err := json.Unmarshal(d.text[start:d.at], &s); err != nil {
				d.at = start
				return "", d.fail("a text has a wrong escape: %v", err)
			}
			return s, nil
		case c == '\\':
			escaped = true
			d.at++
		case c < ' ':
			return "", d.fail("a text holds the control character %q; write it as an escape", c)
		}
	}
	d.at = len(d.text)
	return "", d.fail("it ends inside a text")
}

func (d *decoder) number() (any, error) {
	start, whole := d.at, true
	if d.text[d.at] == '-' {
		d.at++
	}
	zero := d.at < len(d.text) && d.text[d.at] == '0'
	switch n := d.digits(); {
	case n == 0:
		return nil, d.unexpected("a digit")
	case zero && n > 1:
		d.at = start
		return nil, d.fail("a number starts with a needless 0")
	}
	if d.here('.') {
		whole = false
		d.at++
		if d.digits() == 0 {
			return nil, d.unexpected("a digit")
		}
	}
	if d.here('e') || d.here('E') {
		whole = false
		d.at++
		if d.here('+') || d.here('-') {
			d.at++
		}
		if d.digits() == 0 {
			return nil, d.unexpected("a digit")
		}
	}
	return d.parse(start, string(d.text[start:d.at]), whole)
}

func (d *decoder) parse(start int, s string, whole bool) (any, error) {
	if whole {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			d.at = start
			return nil, d.fail("%.40s does not fit into 64 bits; write it as a text", s)
		}
		return n, nil
	}
	f, _ := strconv.ParseFloat(s, 64)
	if math.IsInf(f, 0) {
		d.at = start
		return nil, d.fail("%.40s is too large for a number", s)
	}
	return f, nil
}

func (d *decoder) here(c byte) bool { return d.at < len(d.text) && d.text[d.at] == c }

// digits skips digits and returns how many there were.
func (d *decoder) digits() (n int) {
	for ; d.at < len(d.text) && isDigit(d.text[d.at]); d.at++ {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
