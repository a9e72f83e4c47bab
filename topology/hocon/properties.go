package hocon

import (
	"strings"
	"unicode/utf8"
)

// parseProperties reads a Java properties file: every value is a string, dots in
// keys make objects, and an object hides a string of the same key.
func (l *loader) parseProperties(src *source) *object {
	l.sources = append(l.sources, src)
	root := &object{at: place{src, 1, 1}}
	if !utf8.ValidString(src.text) {
		l.errs = append(l.errs, errorAt(root.at, "", "save the file as UTF-8", "the text is not valid UTF-8"))
		return root
	}
	lines := strings.Split(src.text, "\n")
	for number := 0; number < len(lines); {
		at := place{src, int32(number + 1), 1}
		line, used := logicalLine(lines[number:])
		number += used
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, value := splitProperty(line)
		v := &scalar{at: at, kind: String, quoted: true, text: unescapeProperty(value)}
		if !l.setProperty(root, strings.Split(unescapeProperty(key), "."), v) {
			break
		}
	}
	return root
}

// logicalLine returns the first line with those that continue it, and how many they are.
func logicalLine(lines []string) (line string, used int) {
	var b strings.Builder
	for used < len(lines) {
		part := strings.TrimLeft(strings.TrimSuffix(lines[used], "\r"), " \t\f")
		used++
		comment := b.Len() == 0 && part != "" && (part[0] == '#' || part[0] == '!')
		if comment || !continues(part) {
			b.WriteString(part)
			break
		}
		b.WriteString(part[:len(part)-1])
	}
	return b.String(), used
}

// continues reports whether a line ends in an odd number of backslashes.
func continues(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// splitProperty cuts a line at the first unescaped =, : or blank.
func splitProperty(line string) (key, value string) {
	end := 0
	for end < len(line) && !strings.ContainsRune("=: \t\f", rune(line[end])) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	value = strings.TrimLeft(line[end:], " \t\f")
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], " \t\f")
	}
	return line[:end], value
}

func unescapeProperty(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if r, ok := hexRune(s[i+1:]); s[i] == 'u' && ok {
			b.WriteRune(r)
			i += 4
			continue
		}
		if k := strings.IndexByte("tnrf", s[i]); k >= 0 {
			b.WriteByte("\t\n\r\f"[k])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// setProperty puts a string at its key unless an object is there or comes to be there.
func (l *loader) setProperty(o *object, path []string, v *scalar) bool {
	if l.values++; len(path) > l.limits.Depth || l.values > l.limits.Nodes {
		l.errs = append(l.errs, errorAt(v.at, "", "", "too many values or levels"))
		return false
	}
	end := len(path) - 1
	for _, k := range path[:end] {
		o = o.slot(k, v.at).object(v.at)
	}
	s := o.slot(path[end], v.at)
	if last(s.layers) == nil || isText(last(s.layers)) {
		s.push(v, v.at)
	}
	return true
}
