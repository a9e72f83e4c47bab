package hocon

import (
	"strings"
	"testing"
)

func TestMistakesOfSyntaxNamePlaceAndRemedy(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a brace that is never closed", "a {\n  b = 1\n", "app.conf:1:3: a: this { is never closed (a } is missing)"},
		{"the wrong bracket", "a = [ 1, 2 }", "app.conf:1:12: a: '}' where ']' is wanted (close what was opened last)"},
		{"a text over two lines", "a = one\n  two\nb = 3", "app.conf:2:3: neither a field nor part of the value before it (after a key =, : or { is wanted; a text of several lines needs quotes)"},
		{"a word where a value ends the file", "a =", "app.conf:1:4: a: the text ends too early (a value is wanted)"},
		{"columns count runes", "größe = \"日本\" @", "app.conf:1:14: the character @ is reserved outside quotes (put the text in quotes)"},
		{"an equals sign in a value", "url = k=v", "app.conf:1:8: '=' after a value (quote the value if it belongs to it, or put the next field on a new line)"},
		{"a closing brace too many", "a = 1\n}", "app.conf:2:1: } without { (remove it)"},
		{"text after the root", "{ a = 1 }\nb = 2", "app.conf:2:1: text after the end of the root value (remove it, or put it inside)"},
		{"a NUL byte", "a = 1\x00\x00", "app.conf:1:6: a NUL byte is not allowed (the file holds binary data or was written only in part)"},
		{"bytes that are no text", "a = \"\xff\"", "app.conf:1:6: the text is not valid UTF-8 (save the file as UTF-8)"},
		{"half a surrogate pair", `a = "\ud800"`, "app.conf:1:6: a: half of a surrogate pair (write both halves or the character itself)"},
		{"a short unicode escape", `a = "\u12"`, `app.conf:1:6: a: \u wants four hexadecimal digits (as in \u00e9)`},
		{"a backslash at the end", `a = "x\`, `app.conf:1:7: a: this quoted string never ends (close it with ")`},
		{"an empty substitution", "a = ${}", `app.conf:1:7: a: an empty element in a key path (an empty key is written "")`},
		{"a reserved character in a substitution", "a = ${b*}", "app.conf:1:8: a: the character * is reserved outside quotes (put the text in quotes)"},
		{"+= in an array element", "l = [ { m += 1 } ]", "app.conf:1:11: l: += does not work inside an array element (write the whole list with =)"},
		{"include of a variable form", `include env("X")`, `app.conf:1:9: there is no include form env(…) (include "name", include required("name"), include file("/name"); as a key write "include")`},
		{"a dot at the end of a key", "a. = 1", `app.conf:1:4: an empty element in a key path (an empty key is written "")`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := parse(t, test.text)
			if err == nil {
				t.Fatalf("got %s, want %s", tree.Root.JSON(), test.want)
			}
			if got := err.Error(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPlacesOfValues(t *testing.T) {
	tree := mustParse(t, strings.Join([]string{
		`base { port = 1 }`,                //  1
		"\tname = x  # first",              //  2
		`größe = [ 10, { k = "v" } ]`,      //  3
		`name = y`,                         //  4
		`copy = ${base}`,                   //  5
		`join = a ${name} b`,               //  6
		`alias = ${copy.port}`,             //  7
		`a.b { c = 1 }`,                    //  8
		`a { b { d = ${?HOST} } }`,         //  9
		`obj { n = 1 }`,                    // 10
		`obj = ${base} { m = 2 }, n = 1.5`, // 11
	}, "\n"))
	tests := []struct{ path, pos, key, via, overrides string }{
		{path: "base.port", pos: "1:15", key: "1:8"},
		{path: "name", pos: "4:8", key: "4:1", overrides: "2:9"},
		{path: "größe", pos: "3:9", key: "3:1"},
		{path: "größe.1", pos: "3:15"},
		{path: "größe.1.k", pos: "3:21", key: "3:17"},
		{path: "copy", pos: "1:6", key: "5:1", via: "5:8"},
		{path: "copy.port", pos: "1:15", key: "1:8", via: "5:8"},
		{path: "join", pos: "6:8", key: "6:1", via: "6:10"},
		{path: "alias", pos: "1:15", key: "7:1", via: "7:9 5:8"},
		{path: "a.b", pos: "8:5", key: "8:1"},
		{path: "a.b.c", pos: "8:11", key: "8:7"},
		{path: "obj", pos: "11:7", key: "11:1"},
		{path: "obj.port", pos: "1:15", key: "1:8", via: "11:7"},
		{path: "obj.m", pos: "11:21", key: "11:17"},
		{path: "n", pos: "11:30", key: "11:26"},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			n := tree.Lookup(strings.Split(test.path, ".")...)
			if n == nil {
				t.Fatal("got nothing")
			}
			for _, c := range []struct{ what, got, want string }{
				{"value", short(n.Pos), test.pos}, {"key", short(n.KeyPos), test.key},
				{"via", short(n.Via...), test.via}, {"overrides", short(n.Overrides...), test.overrides},
			} {
				if c.got != c.want {
					t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
				}
			}
		})
	}
}

func short(ps ...Pos) string {
	var all []string
	for _, p := range ps {
		all = append(all, strings.TrimPrefix(p.String(), "app.conf:"))
	}
	return strings.Join(all, " ")
}

func TestExcerptPutsTheCaretUnderTheColumn(t *testing.T) {
	tree := mustParse(t, "a = 1\r\n\tgröße = \"x\" y\n"+"b = "+strings.Repeat("long ", 100)+"end\n")
	tests := []struct {
		name      string
		line, col int
		want      string
	}{
		{"line ends are not shown", 1, 5, "a = 1\n    ^"},
		{"tabs are kept", 2, 10, "\tgröße = \"x\" y\n\t        ^"},
		{"beyond the end it stands behind the last rune", 1, 99, "a = 1\n     ^"},
		{"a line that is not there", 9, 1, ""},
		{"a long line is cut", 3, 205, strings.Repeat("long ", 32) + "\n" + strings.Repeat(" ", 80) + "^"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := tree.Excerpt(Pos{"app.conf", test.line, test.col}); got != test.want {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
	if got := tree.Excerpt(Pos{"other.conf", 1, 1}); got != "" {
		t.Errorf("excerpt of an unknown file: got %q, want none", got)
	}
}
