package hocon

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pos is a place in a source text. Lines and columns count from 1, columns in
// runes. A Pos without a line names the source as a whole.
type Pos struct {
	File      string
	Line, Col int
}

// IsZero reports whether p names no place at all.
func (p Pos) IsZero() bool { return p == Pos{} }

// String returns file:line:col, or the file alone when there is no line.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// source is one text that was read.
type source struct {
	name     string
	text     string
	from     place // the include that asked for it; zero for the first
	override bool  // from the command line: places are shown without line and column
}

// place is the compact form of a Pos.
type place struct {
	src       *source
	line, col int32
}

func (p place) pos() Pos {
	switch {
	case p.src == nil:
		return Pos{}
	case p.src.override:
		return Pos{File: p.src.name}
	}
	return Pos{File: p.src.name, Line: int(p.line), Col: int(p.col)}
}

// locate finds the place of a byte offset by counting from the start.
func (s *source) locate(off int) place {
	before := s.text[:off]
	line := strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	return place{s, int32(line + 1), int32(utf8.RuneCountInString(before[start:]) + 1)}
}

// maxExcerpt bounds an excerpt in runes: a file of one long line stays readable.
const maxExcerpt = 160

// excerpt returns the line and below it a caret under the column. What looks like
// a secret is masked.
func (s *source) excerpt(line, col int) string {
	if line < 1 || s.override {
		return ""
	}
	text := s.text
	for range line - 1 {
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			return ""
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	text, at := maskLine(strings.TrimRight(text, "\r"), max(col-1, 0))
	runes := []rune(text)
	at = min(at, len(runes))
	from := max(0, at-maxExcerpt/2)
	runes, at = runes[from:min(len(runes), from+maxExcerpt)], at-from
	return string(runes) + "\n" + underline(runes, at)
}
