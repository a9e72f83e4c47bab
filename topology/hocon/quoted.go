package hocon

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted moves over a quoted string of either form and returns what it says.
func (l *lexer) quoted() string {
	if strings.HasPrefix(l.text[l.off:], `"""`) {
		return l.tripleQuoted()
	}
	start := l.off
	for i := start + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '"':
			l.off = i + 1
			return l.text[start+1 : i]
		case c == '\\':
			return l.escaped(start, i)
		case c < 0x20:
			return l.badInQuotes(start, i)
		}
	}
	l.fail(start, `close it with "`, "this quoted string never ends")
	return ""
}

// tripleQuoted reads """…""", where nothing is escaped and surplus quotes at the
// end belong to the text.
func (l *lexer) tripleQuoted() string {
	start := l.off + 3
	i := strings.Index(l.text[start:], `"""`)
	if i < 0 {
		l.fail(l.off, `close it with """`, "this multi-line string never ends")
		return ""
	}
	end := start + i
	for end+3 < len(l.text) && l.text[end+3] == '"' {
		end++
	}
	l.off = end + 3
	return l.text[start:end]
}

// escaped reads on in a quoted string that holds a backslash at i.
func (l *lexer) escaped(start, i int) string {
	b := []byte(l.text[start+1 : i])
	for i < len(l.text) {
		c := l.text[i]
		switch {
		case c == '"':
			l.off = i + 1
			return string(b)
		case c < 0x20:
			return l.badInQuotes(start, i)
		case c != '\\':
			b = append(b, c)
			i++
		default:
			r, n := l.escape(i)
			if n == 0 {
				return ""
			}
			b = append(b, string(r)...)
			i += n
		}
	}
	l.fail(start, `close it with "`, "this quoted string never ends")
	return ""
}

// escape decodes the escape at i; n is its length, 0 after a mistake.
func (l *lexer) escape(i int) (r rune, n int) {
	rest := l.text[i+1:]
	if rest == "" {
		l.fail(i, `close it with "`, "this quoted string never ends")
		return 0, 0
	}
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if k := strings.IndexByte(names, rest[0]); k >= 0 {
		return rune(values[k]), 2
	}
	if rest[0] != 'u' {
		_, size := utf8.DecodeRuneInString(rest)
		l.fail(i, `escapes are \" \\ \/ \b \f \n \r \t \uXXXX; a backslash itself is \\`, `\%s is no escape`, rest[:size])
		return 0, 0
	}
	r, ok := hexRune(rest[1:])
	if !ok {
		l.fail(i, `as in \u00e9`, `\u wants four hexadecimal digits`)
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if strings.HasPrefix(rest[5:], `\u`) {
		if low, ok := hexRune(rest[7:]); ok {
			if both := utf16.DecodeRune(r, low); both != '\uFFFD' {
				return both, 12
			}
		}
	}
	l.fail(i, "write both halves or the character itself", "half of a surrogate pair")
	return 0, 0
}

func hexRune(s string) (rune, bool) {
	if len(s) < 4 || s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[:4], 16, 32)
	return rune(v), err == nil
}

func (l *lexer) badInQuotes(start, i int) string {
	if l.text[i] == '\n' {
		l.fail(start, `close it with ", or use """ for several lines`, "this quoted string does not end on its line")
	} else {
		l.fail(i, `write it as \u00XX, a tab as \t`, "a control character in a quoted string")
	}
	return ""
}
