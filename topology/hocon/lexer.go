package hocon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The classes of a character outside quotes.
const (
	plain    = iota // part of unquoted text
	ends            // ends unquoted text and means something: { } [ ] , : = " # $ newline
	space           // whitespace
	reserved        // never outside quotes
)

// charClass classifies ASCII; '+' and '/' are looked at once more in run.
var charClass = func() (t [128]uint8) {
	for _, c := range "{}[],:=\"#$\n" {
		t[c] = ends
	}
	for _, c := range " \t\v\f\r\x1c\x1d\x1e\x1f" {
		t[c] = space
	}
	for _, c := range "`^?!@*&\\" {
		t[c] = reserved
	}
	return t
}()

// isSpace reports whether HOCON counts a rune as whitespace within a line.
func isSpace(r rune) bool {
	if r < 0x80 {
		return charClass[r] == space
	}
	return r == '\uFEFF' || unicode.In(r, unicode.Z)
}

// lexer walks over a text without making tokens: the parser asks for what may
// stand next. The first mistake is kept in err and moves the lexer to the end,
// so that every loop above ends.
type lexer struct {
	src  *source
	text string
	off  int
	err  *Error
	path []string // keys from the root to where the lexer is

	seenOff   int // how far line and col are counted
	line, col int32
}

func newLexer(src *source) lexer {
	return lexer{src: src, text: src.text, line: 1, col: 1}
}

// check refuses a text that is no text.
func (l *lexer) check() {
	if i := strings.IndexByte(l.text, 0); i >= 0 {
		l.fail(i, "the file holds binary data or was written only in part", "a NUL byte is not allowed")
	}
	if utf8.ValidString(l.text) {
		return
	}
	for i, r := range l.text {
		if r == utf8.RuneError && !strings.HasPrefix(l.text[i:], "\uFFFD") {
			l.fail(i, "save the file as UTF-8", "the text is not valid UTF-8")
			return
		}
	}
}

// fail keeps the first mistake.
func (l *lexer) fail(off int, hint, format string, args ...any) {
	l.failAt(l.src.locate(min(off, len(l.src.text))), hint, format, args...)
}

func (l *lexer) failAt(at place, hint, format string, args ...any) {
	if l.err == nil {
		l.err = errorAt(at, joinPath(l.path), hint, format, args...)
	}
	l.off = len(l.text)
}

// at gives the place of an offset. It counts on from the place asked for last,
// so that asking in reading order costs one walk over the text.
func (l *lexer) at(off int) place {
	if off < l.seenOff {
		return l.src.locate(off)
	}
	for ; l.seenOff < off; l.seenOff++ {
		switch c := l.text[l.seenOff]; {
		case c == '\n':
			l.line, l.col = l.line+1, 1
		case c&0xC0 != 0x80:
			l.col++
		}
	}
	return place{l.src, l.line, l.col}
}

// peek returns the byte that is next, 0 at the end.
func (l *lexer) peek() byte {
	if l.off < len(l.text) {
		return l.text[l.off]
	}
	return 0
}

// take moves over c if it is next.
func (l *lexer) take(c byte) bool {
	if l.peek() != c || c == 0 {
		return false
	}
	l.off++
	return true
}

// spaces moves over whitespace within the line and returns it.
func (l *lexer) spaces() string {
	start := l.off
	for l.off < len(l.text) {
		c := l.text[l.off]
		if c < utf8.RuneSelf {
			if charClass[c] != space {
				break
			}
			l.off++
			continue
		}
		r, n := utf8.DecodeRuneInString(l.text[l.off:])
		if !isSpace(r) {
			break
		}
		l.off += n
	}
	return l.text[start:l.off]
}

// comment reports whether a comment is next.
func (l *lexer) comment() bool {
	c := l.peek()
	return c == '#' || c == '/' && strings.HasPrefix(l.text[l.off:], "//")
}

// lines moves over whitespace, newlines and comments; it reports whether there was a newline.
func (l *lexer) lines() (newline bool) {
	for {
		l.spaces()
		switch {
		case l.take('\n'):
			newline = true
		case l.comment():
			if i := strings.IndexByte(l.text[l.off:], '\n'); i >= 0 {
				l.off += i
			} else {
				l.off = len(l.text)
			}
		default:
			return newline
		}
	}
}

// run moves over unquoted text and returns it; it is empty when something else is next.
func (l *lexer) run() string {
	start := l.off
	for l.off < len(l.text) {
		c := l.text[l.off]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.text[l.off:])
			if isSpace(r) {
				return l.text[start:l.off]
			}
			l.off += n
		case charClass[c] != plain,
			c == '+' && !l.exponent(start),
			c == '/' && strings.HasPrefix(l.text[l.off:], "//"):
			return l.text[start:l.off]
		default:
			l.off++
		}
	}
	return l.text[start:l.off]
}

// exponent reports whether the plus that is next belongs to a number such as 1e+6.
func (l *lexer) exponent(start int) bool {
	before, after := l.text[start:l.off], l.text[l.off+1:]
	return after != "" && after[0] >= '0' && after[0] <= '9' && isNumber(before+"0") &&
		(strings.HasSuffix(before, "e") || strings.HasSuffix(before, "E"))
}

// isNumber reports whether s is a JSON number.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// digits counts the decimal digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
