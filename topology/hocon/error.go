package hocon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a configuration: where, at which key path, what is
// wrong and what would be right. A typed read (Node.Int and the others) returns
// one without place and path, which Node.Wrap adds.
type Error struct {
	Pos      Pos
	Path     string // dotted key path; may be empty
	Msg      string // what is wrong
	Hint     string // what would be right; may be empty
	Excerpt  string // the source line and a caret below it; may be empty
	Err      error  // the cause, used as the message when Msg is empty; may be nil
	Rule     string // short name of what was violated, for tools; may be empty
	Related  []Related
	Included []Pos // the includes through which the file was read, the innermost first
}

// Related is another place that takes part in a mistake: who uses the template
// that it is in, or what includes its file.
type Related struct {
	Pos     Pos
	Msg     string // "used by actors.a", "included"
	Excerpt string // as in Error; may be empty
}

// String returns "message at file:line:col".
func (r Related) String() string { return r.Msg + " at " + r.Pos.String() }

// Error returns "file:line:col: path: message (hint); used by … at file:line:col",
// without the parts that are empty.
func (e *Error) Error() string {
	var b strings.Builder
	if !e.Pos.IsZero() {
		b.WriteString(e.Pos.String() + ": ")
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	switch {
	case e.Msg != "":
		b.WriteString(e.Msg)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	for _, r := range e.Related {
		b.WriteString("; " + r.String())
	}
	return b.String()
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Errors is every mistake that was found, in reading order.
type Errors []*Error

// Error returns one line per mistake.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the mistakes to errors.Is and errors.As.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// Report returns every mistake followed by its source line with a caret.
func (es Errors) Report() string {
	var b strings.Builder
	for _, e := range es {
		b.WriteString(e.Error() + "\n")
		writeExcerpt(&b, e.Excerpt)
		for _, r := range e.Related {
			writeExcerpt(&b, r.Excerpt)
		}
		if n := len(e.Included); n > 0 {
			writeExcerpt(&b, "included at "+joinPos(e.Included[:min(n, maxIncluded)])+strings.Repeat(", …", min(1, max(0, n-maxIncluded))))
		}
	}
	return b.String()
}

// maxIncluded is how many includes a report shows; the innermost tell most.
const maxIncluded = 4

func joinPos(all []Pos) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}

func writeExcerpt(b *strings.Builder, excerpt string) {
	for line := range strings.Lines(excerpt) {
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// orNil returns the mistakes as an error that is nil when there are none. They
// are ordered by file, files in the order in which they were read.
func (es Errors) orNil(files []*source) error {
	if len(es) == 0 {
		return nil
	}
	for _, e := range es {
		e.Included = includedBy(files, e.Pos.File)
	}
	rank := make(map[string]int, len(files))
	for i, f := range files {
		rank[f.name] = i
	}
	slices.SortStableFunc(es, func(a, b *Error) int {
		if d := rank[a.Pos.File] - rank[b.Pos.File]; d != 0 {
			return d
		}
		if d := a.Pos.Line - b.Pos.Line; d != 0 {
			return d
		}
		return a.Pos.Col - b.Pos.Col
	})
	return es
}

// Format writes an error for a terminal: each mistake with its source line and a
// caret. Errors of other kinds are written as they are; joined and wrapped ones
// are looked through when they end in what they wrap.
func Format(err error) string {
	if err == nil {
		return ""
	}
	switch e := err.(type) {
	case Errors:
		return e.Report()
	case *Error:
		return Errors{e}.Report()
	case interface{ Unwrap() []error }:
		var b strings.Builder
		for _, one := range e.Unwrap() {
			b.WriteString(Format(one))
		}
		return b.String()
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasSuffix(err.Error(), inner.Error()) && placed(err) {
		return Format(inner)
	}
	return err.Error() + "\n"
}

// placed reports whether there is a place somewhere in err.
func placed(err error) bool {
	_, one := errors.AsType[*Error](err)
	_, many := errors.AsType[Errors](err)
	return one || many
}

// errorAt makes an error with place, dotted path and excerpt.
func errorAt(p place, path string, hint, format string, args ...any) *Error {
	e := &Error{Pos: p.pos(), Path: path, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if p.src != nil {
		e.Excerpt = p.src.excerpt(int(p.line), int(p.col))
	}
	return e
}

// joinPath writes a key path with dots; keys that need it are quoted.
func joinPath(path []string) string {
	if len(path) == 1 && isPlainKey(path[0]) {
		return path[0]
	}
	var b strings.Builder
	for i, key := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		if isPlainKey(key) {
			b.WriteString(key)
		} else {
			b.Write(appendQuoted(nil, key))
		}
	}
	return b.String()
}

// isPlainKey reports whether a key can be written without quotes and reads the same.
func isPlainKey(key string) bool {
	if key == "" || key != strings.TrimFunc(key, isSpace) {
		return false
	}
	for i := range len(key) {
		c := key[i]
		if c == '.' || c == '+' || c == '\n' || c < 0x20 || c < 0x80 && charClass[c] != plain && c != ' ' {
			return false
		}
	}
	return !strings.Contains(key, "//")
}
