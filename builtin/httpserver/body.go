package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects of a body may be nested.
const maxDepth = 100

// bodyError is a mistake in a JSON text at a byte offset from 0.
type bodyError struct {
	offset int64
	msg    string
}

// Error returns the mistake without its place.
func (e *bodyError) Error() string { return e.msg }

// place returns line and column, from 1, of the mistake in text; columns count
// characters.
func (e *bodyError) place(text []byte) (line, column int) {
	before := text[:min(int(e.offset), len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// decodeJSON reads one JSON value as a message body. Errors are *bodyError.
func decodeJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, &bodyError{invalidAt(text), "it is not UTF-8"}
	}
	d := decoder{json.NewDecoder(bytes.NewReader(text))}
	d.UseNumber()
	v, err := d.next(0)
	if err != nil {
		return nil, err
	}
	end := d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &bodyError{end, "there is more behind the value"}
	}
	return v, nil
}

func invalidAt(text []byte) int64 {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return int64(i)
		}
		i += n
	}
	return int64(len(text))
}

// decoder builds values from tokens, since encoding/json's own way takes double
// keys and any depth.
type decoder struct{ *json.Decoder }

func (d decoder) fail(format string, args ...any) error {
	return &bodyError{d.InputOffset(), fmt.Sprintf(format, args...)}
}

func (d decoder) token() (json.Token, error) {
	t, err := d.Token()
	if err == nil {
		return t, nil
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, d.fail("%s", s.Error()) // its own offset does not count what Token consumed
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, d.fail("it ends too early")
	}
	return nil, d.fail("%v", err)
}

func (d decoder) next(depth int) (any, error) {
	t, err := d.token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if depth == maxDepth {
			return nil, d.fail("it is nested deeper than %d", maxDepth)
		}
		if t == '[' {
			return d.list(depth + 1)
		}
		return d.object(depth + 1)
	case json.Number:
		return d.number(string(t))
	default:
		return t, nil // nil, bool or string
	}
}

func (d decoder) list(depth int) (any, error) {
	out := []any{}
	for d.More() {
		v, err := d.next(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := d.token()
	return out, err
}

func (d decoder) object(depth int) (any, error) {
	out := map[string]any{}
	for d.More() {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder gives nothing else here
		if _, twice := out[key]; twice {
			return nil, d.fail("key %q is there twice", key)
		}
		if out[key], err = d.next(depth); err != nil {
			return nil, err
		}
	}
	_, err := d.token()
	return out, err
}

func (d decoder) number(s string) (any, error) {
	if !strings.ContainsAny(s, ".eE") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, d.fail("%.40s does not fit into 64 bits; write it as a text", s)
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, d.fail("%.40s is too large for a number", s)
	}
	return f, nil
}
