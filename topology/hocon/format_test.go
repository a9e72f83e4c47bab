package hocon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLayout(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"blocks are indented", "a{\nb{\nc=1\n}\n}", "a {\n  b {\n    c = 1\n  }\n}\n"},
		{"spaces are one or none", "a   =  1 ,  b:2\nc =[ 1,2 ,3 ]\n", "a = 1, b: 2\nc = [ 1, 2, 3 ]\n"},
		{"comments stay", "# one\n\n\n\na=1# two\n  // three\nb { # four\n c = 2 }\n", "# one\n\na = 1  # two\n// three\nb {  # four\n  c = 2 }\n"},
		{"quotes are left alone", "a=\"x  =  { \\\"y\"\nb=\"\"\"  1\n   {2  \n\"\"\"\"\n", "a = \"x  =  { \\\"y\"\nb = \"\"\"  1\n   {2  \n\"\"\"\"\n"},
		{"substitutions and additions", "x=1,a=[${x}5]\na+=${?y}\n", "x = 1, a = [${x}5]\na += ${?y}\n"},
		{"objects in lists", "r=[{a=1},{b=2}]\ns=[\n{a=1}\n{\nb=2\n}\n]", "r = [{a = 1}, {b = 2}]\ns = [\n  {a = 1}\n  {\n    b = 2\n  }\n]\n"},
		{"empty lines at the ends go", "\n\na=1\n\n\n", "a = 1\n"},
		{"several closed on one line", "a { b {\nc = 1\n} }", "a { b {\n    c = 1\n} }\n"},
		{"carriage returns go", "a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"},
		{"an include", "include \"y.conf\"\na=1", "include \"y.conf\"\na = 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Layout("x.conf", []byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, tt.want)
			}
			again, err := Layout("x.conf", got)
			if err != nil || string(again) != string(got) {
				t.Errorf("again: got %v\n%s\nwant it unchanged", err, again)
			}
		})
	}
	if _, err := Layout("x.conf", []byte("a = [")); err == nil || !strings.Contains(err.Error(), "x.conf:1") {
		t.Errorf("a mistake: got %v, want its place", err)
	}
}

func TestLayoutKeepsTheMeaningOfEveryCase(t *testing.T) {
	files, _ := filepath.Glob("testdata/*/*.conf")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseAlone(f, text); err != nil {
			continue
		}
		out, err := Layout(f, text)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if again, err := Layout(f, out); err != nil || string(again) != string(out) {
			t.Errorf("%s: laid out twice: %v\n%s\nthen\n%s", f, err, out, again)
		}
	}
	if len(files) == 0 {
		t.Error("got no cases")
	}
}

func FuzzLayout(f *testing.F) {
	for _, seed := range []string{"a{b=1}", "a = \"\"\"x\"\"\"\"", "# c\na=${?x} [1,2]", "a : b // c"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := Layout("x.conf", text)
		if err != nil {
			return
		}
		before, _ := parseAlone("x.conf", text)
		after, err := parseAlone("x.conf", out)
		if err != nil || string(before.JSON()) != string(after.JSON()) {
			t.Errorf("got %q from %q (%v), want the same meaning", out, text, err)
		}
	})
}

func ExampleLayout() {
	out, err := Layout("application.conf", []byte("actord{actors{a{behaviour=log}}}"))
	fmt.Printf("%s%v\n", out, err)
	// Output:
	// actord {actors {a {behaviour = log}}}
	// <nil>
}
