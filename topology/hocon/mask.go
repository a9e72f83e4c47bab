package hocon

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// masked is shown in the place of a secret.
const masked = "***"

// secretKey begins a value that is a secret by the look of its key.
const secretKey = `[\w."-]*(?:passw(?:or)?d|passphrase|secret|token|credential|api[-_]?key|private[-_]?key|authorization)[\w."-]*`

var (
	secretValue = regexp.MustCompile(`(?i)(?:^|[\s{,])` + secretKey + `\s*(?:\+?=|:)\s*("""(?:[^"]|"[^"])*(?:"""|$)|"(?:\\.|[^"\\])*(?:"|$)|[^\s{\[$,}\]#"][^,}\]#\n]*)`)
	userInfo    = regexp.MustCompile(`://([^/@\s"]+)@`)
	secretWords = regexp.MustCompile(`(?i)^` + secretKey + `$`)
)

// maskLine hides what looks like a secret in a line of source. It returns the
// column, counted in runes from 0, at which stands what stood at column at.
func maskLine(line string, at int) (string, int) {
	var hidden [][]int
	for _, re := range []*regexp.Regexp{secretValue, userInfo} {
		for _, m := range re.FindAllStringSubmatchIndex(line, -1) {
			hidden = append(hidden, m[2:4])
		}
	}
	return hide(line, at, hidden)
}

// hide puts the mask in the place of parts of a line, which must not overlap
// unless one begins where another did.
func hide(line string, at int, parts [][]int) (string, int) {
	for i := len(parts) - 1; i >= 0; i-- {
		from, to := parts[i][0], parts[i][1]
		if to > len(line) || strings.HasPrefix(line[from:], masked) {
			continue // it is inside another one
		}
		line, at = put(line, at, from, to)
	}
	return line, at
}

// put puts the mask in the place of one part.
func put(line string, at, from, to int) (string, int) {
	start, end := utf8.RuneCountInString(line[:from]), utf8.RuneCountInString(line[:to])
	switch {
	case at >= end:
		at += len(masked) - (end - start)
	case at > start:
		at = start
	}
	return line[:from] + masked + line[to:], at
}

// MaskExcerpt hides texts in an excerpt and moves its caret accordingly.
func MaskExcerpt(excerpt string, texts []string) string {
	line, caret, ok := strings.Cut(excerpt, "\n")
	if !ok {
		return excerpt
	}
	at := utf8.RuneCountInString(strings.TrimSuffix(caret, "^"))
	changed := false
	for _, text := range texts {
		for from := 0; text != ""; from += len(masked) {
			i := strings.Index(line[from:], text)
			if i < 0 {
				break
			}
			from += i
			line, at = put(line, at, from, from+len(text))
			changed = true
		}
	}
	if !changed {
		return excerpt
	}
	return line + "\n" + underline([]rune(line), at)
}

// underline writes a caret under a column; tabs before it are kept, so that it
// stands right at any tab width.
func underline(line []rune, at int) string {
	var b strings.Builder
	for _, c := range line[:min(at, len(line))] {
		if c != '\t' {
			c = ' '
		}
		b.WriteRune(c)
	}
	return b.String() + "^"
}
