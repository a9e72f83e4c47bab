package hocon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// files is a file system of texts below /etc.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	text, ok := f[strings.TrimPrefix(name, "/etc/")]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case text == "DENIED":
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return []byte(text), nil
}

func loadFrom(f files, o Options) (*Tree, error) {
	o.ReadFile, o.Env = f.read, noEnv
	return Load("/etc/main.conf", o)
}

func TestInclude(t *testing.T) {
	tests := []struct {
		name  string
		files files
		want  string
	}{
		{"is relative to the including file", files{"main.conf": `include "d/a.conf"`, "d/a.conf": `include "b.conf"`, "d/b.conf": "b = 1"}, `{"b":1}`},
		{"may be absolute", files{"main.conf": `include file("/etc/x.conf")`, "x.conf": "x = 1"}, `{"x":1}`},
		{"without an ending loads all that exist", files{"main.conf": `include "x"`, "x.properties": "a=1\nb=1\nc=1", "x.json": `{"b":2,"c":2}`, "x.conf": "c = 3"}, `{"a":"1","b":2,"c":3}`},
		{"without a known ending takes the name itself last", files{"main.conf": `include "secrets.txt"`, "secrets.txt": "x = 1"}, `{"x":1}`},
		{"in an object looks there first, then at the root", files{"main.conf": "x = 1\ny = 2\na { x = 3, include \"r.conf\" }", "r.conf": "p = ${x}\nq = ${y}"}, `{"x":1,"y":2,"a":{"x":3,"p":3,"q":2}}`},
		{"in an object appends there", files{"main.conf": "a { l = [1], include \"r.conf\" }", "r.conf": "l += 2"}, `{"a":{"l":[1,2]}}`},
		{"nested twice finds its outer neighbours at the root", files{"main.conf": "z = 9\na { include \"m.conf\" }", "m.conf": "b { include \"l.conf\" }", "l.conf": "v = ${z}"}, `{"z":9,"a":{"b":{"v":9}}}`},
		{"inside an array without substitutions", files{"main.conf": `l = [ { include "x.conf" } ]`, "x.conf": "x = 1"}, `{"l":[{"x":1}]}`},
		{"spaces within the parentheses", files{"main.conf": `include required( file( "/etc/x.conf" ) )`, "x.conf": "x = 1"}, `{"x":1}`},
		{"properties escapes", files{"main.conf": `include "x.properties"`, "x.properties": "# note\n! note\na.b = one \\\n   two\nc\\:d : \\u00e9\\t!\nempty\na = hidden\r\nlast=1\n"}, `{"a":{"b":"one two"},"c:d":"é\t!","empty":"","last":"1"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := loadFrom(test.files, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(tree.Root.JSON()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestMistakesOfInclude(t *testing.T) {
	tests := []struct {
		name  string
		files files
		want  string
	}{
		{"a loop is named", files{"main.conf": `include "a.conf"`, "a.conf": `include "b.conf"`, "b.conf": `include "a.conf"`},
			"/etc/b.conf:1:9: the files include one another without end: /etc/a.conf includes /etc/b.conf includes /etc/a.conf"},
		{"a file that includes itself", files{"main.conf": `include "main.conf"`},
			"/etc/main.conf:1:9: the files include one another without end: /etc/main.conf includes /etc/main.conf"},
		{"file wants an absolute name", files{"main.conf": `include file("x.conf")`},
			`/etc/main.conf:1:14: file(…) wants an absolute name, not "x.conf" (write include "name", which is relative to the including file)`},
		{"url", files{"main.conf": `include url("http://x/y.conf")`},
			`/etc/main.conf:1:13: include of "http://x/y.conf" by url is not supported (only files can be included)`},
		{"classpath", files{"main.conf": `a { include classpath("y.conf") }`},
			`/etc/main.conf:1:23: a: include of "y.conf" by classpath is not supported (only files can be included)`},
		{"a url without a form", files{"main.conf": `include "https://x/y.conf"`},
			`/etc/main.conf:1:9: include of "https://x/y.conf" by url is not supported (only files can be included)`},
		{"a required file that is not there", files{"main.conf": `include required("x")`},
			"/etc/main.conf:1:18: the required file /etc/x does not exist (leave out required(…) if it may be missing)"},
		{"a file that may not be read", files{"main.conf": `include "x.conf"`, "x.conf": "DENIED"},
			"/etc/main.conf:1:9: the included file /etc/x.conf cannot be read: permission denied"},
		{"an array", files{"main.conf": `include "x.conf"`, "x.conf": "[1]"},
			"/etc/main.conf:1:9: the included file /etc/x.conf holds an array, not fields"},
		{"a substitution inside an array", files{"main.conf": `l = [ { include "x.conf" } ]`, "x.conf": "x = ${y}"},
			"/etc/x.conf:1:5: l.x: a substitution in a file that is included inside an array (move the include out of the array)"},
		{"mistakes of every file", files{"main.conf": "include \"x.conf\"\ninclude \"y.conf\"\na = ]", "x.conf": "x", "y.conf": "y = @"},
			"/etc/main.conf:3:5: a: unexpected ']' (a value is wanted)\n" +
				"/etc/x.conf:1:2: the text ends too early (after a key =, : or { is wanted)\n" +
				"/etc/y.conf:1:5: y: the character @ is reserved outside quotes (put the text in quotes)"},
		{"an empty name", files{"main.conf": `include ""`}, "/etc/main.conf:1:9: the include names no file"},
		{"a main file that is not there", files{}, "/etc/main.conf: cannot be read: file does not exist"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadFrom(test.files, Options{})
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestLoadNamesWhatItReadAndMissed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.conf": "include \"a\"\ninclude \"sub/b.conf\"\ninclude \"a.conf\"", "a.conf": "a = 1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Load(filepath.Join(dir, "main.conf"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return names
	}
	if want := in("main.conf", "a.conf"); !reflect.DeepEqual(tree.Files, want) {
		t.Errorf("files: got %q, want %q", tree.Files, want)
	}
	if want := in("a.properties", "a.json", "sub/b.conf"); !reflect.DeepEqual(tree.Missing, want) {
		t.Errorf("missing: got %q, want %q", tree.Missing, want)
	}
	_, err = Load(filepath.Join(dir, "gone.conf"), Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v, want fs.ErrNotExist", err)
	}
	if _, err = Load(dir, Options{}); err == nil {
		t.Error("a folder: got no error")
	}
}

func TestOverridesAndFallback(t *testing.T) {
	reference := &Source{Name: "reference.conf", Text: "port = 1\nbase { x = 1, l = [a] }\nurl = \"host:\"${port}"}
	tests := []struct {
		name, text string
		overrides  []Override
		fallback   *Source
		want, err  string
	}{
		{name: "the fallback lies below", text: "base.y = 2", fallback: reference, want: `{"port":1,"base":{"x":1,"l":["a"],"y":2},"url":"host:1"}`},
		{name: "substitutions of the fallback see the file", text: "port = 2\nbase.l += b", fallback: reference, want: `{"port":2,"base":{"x":1,"l":["a","b"]},"url":"host:2"}`},
		{name: "overrides lie on top and are seen", text: "port = 2\nurl = x${port}", overrides: []Override{{"port", "3"}}, want: `{"port":3,"url":"x3"}`},
		{name: "a later override wins", text: "", overrides: []Override{{"a.b", "1"}, {"a.b", "2"}, {"a", "{ c = [x, y z] }"}}, want: `{"a":{"b":2,"c":["x","y z"]}}`},
		{name: "an override may refer to the file", text: "p = 1", overrides: []Override{{"p", "${p}2"}, {"q", "${p}"}}, want: `{"p":"12","q":"12"}`},
		{name: "an override without a value is empty text", text: "", overrides: []Override{{"a", ""}}, want: `{"a":""}`},
		{name: "a quoted key", text: "", overrides: []Override{{`a."b.c"`, "1"}}, want: `{"a":{"b.c":1}}`},
		{name: "a bad value", text: "", overrides: []Override{{"a", "x@y"}}, err: "-D a=x@y: a: the character @ is reserved outside quotes (put the text in quotes)"},
		{name: "a bad key", text: "", overrides: []Override{{"a..b", "1"}}, err: `-D a..b=1: an empty element in a key path (an empty key is written "")`},
		{name: "two values", text: "", overrides: []Override{{"a", "1, b = 2"}}, err: "-D a=1, b = 2: a: unexpected ',' (an override holds one value; put texts with special characters in quotes)"},
		{name: "a mistake of substitution", text: "", overrides: []Override{{"a", "${x}"}}, err: "-D a=${x}: a: ${x} has no value, neither here nor in the environment (if it may be missing write ${?x})"},
		{name: "an array has no keys", text: "[1]", overrides: []Override{{"a", "1"}}, err: "-D a=1: the file is an array, so nothing in it has a key"},
		{name: "a mistake in the fallback", text: "a = 1", fallback: &Source{"ref", "b = ["}, err: "ref:1:5: b: this [ is never closed (a ] is missing)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := Parse("app.conf", []byte(test.text), Options{Env: noEnv, Overrides: test.overrides, Fallback: test.fallback})
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got  %v\nwant %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(tree.Root.JSON()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPlaceOfAnOverriddenValueIsTheOption(t *testing.T) {
	tree, err := Parse("app.conf", []byte("port = 1"), Options{Overrides: []Override{{"port", "many"}}})
	if err != nil {
		t.Fatal(err)
	}
	n := tree.Lookup("port")
	_, err = n.Int()
	if got, want := n.Wrap(err).Error(), `-D port=many: port: "many" is not a number (want a count, e.g. 1000)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n.Overrides != nil {
		t.Errorf("overrides: got %v, want none, because the earlier value is of another source", n.Overrides)
	}
}
