package hocon

import (
	"fmt"
	"strings"
)

// Layout writes a text in the usual layout: two spaces for each level, one space
// around = and before an opening brace, no space at the end of a line, at most one
// empty line together, none at the beginning or the end, two spaces or more before a
// comment. Comments, quotes, the
// order and what stands on one line stay. A text with a mistake is an error; the
// result means the same, or it is an error as well.
func Layout(name string, text []byte) ([]byte, error) {
	before, err := parseAlone(name, text)
	if err != nil {
		return nil, err
	}
	f := formatter{in: strings.TrimPrefix(string(text), "\ufeff")}
	out := []byte(f.run())
	after, err := parseAlone(name, out)
	if err != nil || string(after.JSON()) != string(before.JSON()) {
		return nil, fmt.Errorf("%s cannot be laid out without changing what it means; it stays as it is", name)
	}
	return out, nil
}

// parseAlone reads a text without what it includes and without substitutions that
// lead out of it.
func parseAlone(name string, text []byte) (*Node, error) {
	env := func(string) (string, bool) { return "x", true }
	nothing := func(string) ([]byte, error) { return []byte("{}"), nil }
	tree, err := Parse(name, text, Options{Env: env, ReadFile: nothing, Anywhere: true})
	if err != nil {
		return nil, err
	}
	return tree.Root, nil
}

// formatter goes through a text piece by piece.
type formatter struct {
	in    string
	out   strings.Builder
	depth int
	empty int // empty lines that were seen
}

func (f *formatter) run() string {
	for f.in != "" {
		f.line()
	}
	return f.out.String()
}

// line writes one line; what is in triple quotes belongs to it.
func (f *formatter) line() {
	pieces := f.pieces()
	if len(pieces) == 0 {
		f.empty++
		return
	}
	if f.empty > 0 && f.out.Len() > 0 {
		f.out.WriteByte('\n')
	}
	f.empty = 0
	opens, closes := balance(pieces)
	f.out.WriteString(strings.Repeat("  ", max(0, f.depth-closes)))
	f.write(pieces)
	f.out.WriteByte('\n')
	f.depth = max(0, f.depth+opens)
}

// balance counts the braces of a line: how much deeper the next line is, and how
// much less deep this one, which is by what it closes at its beginning.
func balance(pieces []string) (opens, closes int) {
	leading := true
	for _, p := range pieces {
		switch p {
		case "{", "[":
			opens++
			leading = false
		case "}", "]":
			opens--
			if leading {
				closes++
			}
		case ",":
		default:
			leading = leading && isGap(p)
		}
	}
	return opens, closes
}

// pieces cuts the next line into braces, separators, comments, spaces and text.
func (f *formatter) pieces() []string {
	var out []string
	for f.in != "" {
		n := f.piece()
		p := f.in[:n]
		f.in = f.in[n:]
		switch {
		case p == "\n":
			return trimSpaces(out)
		case isGap(p):
			if len(out) > 0 {
				out = append(out, p)
			}
		default:
			out = append(out, p)
		}
	}
	return trimSpaces(out)
}

func trimSpaces(p []string) []string {
	for len(p) > 0 && isGap(p[len(p)-1]) {
		p = p[:len(p)-1]
	}
	return p
}

// piece is the length of the next piece.
func (f *formatter) piece() int {
	in := f.in
	switch {
	case strings.HasPrefix(in, `"""`):
		return tripleLength(in)
	case in[0] == '"':
		return quotedLength(in)
	case in[0] == '#' || strings.HasPrefix(in, "//"):
		if i := strings.IndexByte(in, '\n'); i >= 0 {
			return i
		}
		return len(in)
	case strings.HasPrefix(in, "${"):
		if i := strings.IndexByte(in, '}'); i >= 0 {
			return i + 1
		}
		return len(in)
	case strings.HasPrefix(in, "+="):
		return 2
	case strings.IndexByte("{}[],=:\n", in[0]) >= 0:
		return 1
	}
	space := isBlank(in[0])
	n := 1
	for n < len(in) && isBlank(in[n]) == space && strings.IndexByte("{}[],=:\n\"#$", in[n]) < 0 &&
		!strings.HasPrefix(in[n:], "//") && !strings.HasPrefix(in[n:], "+=") {
		n++
	}
	return n
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func quotedLength(in string) int {
	for i := 1; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(in)
}

// tripleLength takes all quotes at the end: those before the last three belong to
// the text.
func tripleLength(in string) int {
	i := strings.Index(in[3:], `"""`)
	if i < 0 {
		return len(in)
	}
	n := i + 6
	for n < len(in) && in[n] == '"' {
		n++
	}
	return n
}

// write writes the pieces of a line with the spaces that belong between them.
func (f *formatter) write(pieces []string) {
	before, space := "", ""
	for _, p := range pieces {
		if isGap(p) {
			space = p
			continue
		}
		if before != "" {
			f.out.WriteString(between(before, space, p))
		}
		f.out.WriteString(strings.TrimRight(p, " \t\r"))
		before, space = p, ""
	}
}

// between is what stands between two pieces that had space between them. Inside of
// a value without quotes spaces are part of it.
func between(before, space, p string) string {
	switch {
	case isComment(p) && len(space) > 2 && strings.Trim(space, " ") == "":
		return space // in line with those above and below
	case isComment(p):
		return "  "
	case p == "," || p == ":":
		return ""
	case wantsSpace(before, p):
		return " "
	case space == "":
		return ""
	case isMark(before) || isMark(p):
		return " "
	}
	return space
}

func isGap(p string) bool { return p != "" && strings.Trim(p, " \t\r") == "" }

// isMark reports whether a piece is no part of a value.
func isMark(p string) bool { return p == "+=" || len(p) == 1 && strings.Contains("{}[],=:", p) }

func isComment(p string) bool { return p[0] == '#' || strings.HasPrefix(p, "//") }

// wantsSpace says which neighbours are kept apart that are written together.
func wantsSpace(before, p string) bool {
	switch {
	case p == "=" || p == "+=" || before == "=" || before == "+=" || before == ":":
		return true
	case p == "{":
		return before != "[" && before != "{"
	case before == ",":
		return true
	}
	return false
}
