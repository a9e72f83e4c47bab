package hocon

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	library "github.com/gurkankaymak/hocon"
)

func TestPathAndLookup(t *testing.T) {
	tree := mustParse(t, "a { \"b.c\" { l = [ { d = 1 } ] } }\n\"\" = 2")
	tests := []struct{ keys, path string }{
		{"a", "a"}, {"a|b.c", `a."b.c"`}, {"a|b.c|l|0|d", `a."b.c".l[0].d`}, {"", `""`},
	}
	for _, test := range tests {
		keys := strings.Split(test.keys, "|")
		n := tree.Lookup(keys...)
		if n == nil {
			t.Errorf("%q: got nothing", keys)
			continue
		}
		if got := n.Path(); got != test.path {
			t.Errorf("path: got %s, want %s", got, test.path)
		}
		if got := n.Keys(); !reflect.DeepEqual(got, keys) {
			t.Errorf("keys: got %q, want %q", got, keys)
		}
	}
	for _, gone := range []string{"x", "a|x", "a|b.c|l|1", "a|b.c|l|x", "a|b.c|l|0|d|e"} {
		if n := tree.Lookup(strings.Split(gone, "|")...); n != nil {
			t.Errorf("%s: got %s, want nothing", gone, n.JSON())
		}
	}
}

func TestFieldsOfAnObjectWithManyFields(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "k%d = %d\n", i, i)
	}
	root := mustParse(t, text.String()).Root
	for i, f := range root.Fields() {
		want := fmt.Sprintf("k%d", i)
		if f.Key != want || root.Get(want) != f.Value || f.KeyPos.Line != i+1 {
			t.Fatalf("field %d: got %s at %s, want %s in line %d", i, f.Key, f.KeyPos, want, i+1)
		}
	}
	if root.Get("k100") != nil || root.Len() != 100 {
		t.Errorf("got %v and %d fields, want nothing and 100", root.Get("k100"), root.Len())
	}
}

func TestHashAndEqual(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"the order of keys does not count", "x { a = 1, b = 2 }", "x { b = 2, a = 1 }", true},
		{"comments and places do not count", "a = 1 # one", "\n\n  a : 1", true},
		{"quotes do not count", "a = word", `a = "word"`, true},
		{"where a value came from does not count", "a = 1\nb = ${a}", "b = 1\na = 1", true},
		{"the order of elements counts", "a = [1, 2]", "a = [2, 1]", false},
		{"a number is not its text", "a = 1", `a = "1"`, false},
		{"an empty array is not an empty object", "a = []", "a {}", false},
		{"keys and values do not run together", `a { bc = d }`, `a { b = cd }`, false},
		{"nesting counts", "a = [[1], 2]", "a = [[1, 2]]", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := mustParse(t, test.a).Root, mustParse(t, test.b).Root
			if got := a.Hash() == b.Hash(); got != test.same {
				t.Errorf("same hash: got %v, want %v", got, test.same)
			}
			if got := a.Equal(b); got != test.same {
				t.Errorf("equal: got %v, want %v", got, test.same)
			}
		})
	}
}

func TestJSONEscapes(t *testing.T) {
	root := mustParse(t, `"k\"" = "\u0001 \n \\ é 😀 \u007f </script>"`).Root
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if want := "\x01 \n \\ é 😀 \x7f </script>"; back[`k"`] != want {
		t.Errorf("got %q, want %q", back[`k"`], want)
	}
}

func TestWrap(t *testing.T) {
	tree := mustParse(t, "actors { intake {\n  mailbox.capacity = many } }")
	n := tree.Lookup("actors", "intake", "mailbox", "capacity")
	_, err := n.Int()
	cause := errors.New("cause")
	placed := n.Wrap(err)
	tests := []struct {
		name string
		got  *Error
		want string
	}{
		{"a typed read gets place and path", placed, `app.conf:2:22: actors.intake.mailbox.capacity: "many" is not a number (want a count, e.g. 1000)`},
		{"another error becomes the cause", n.Wrap(cause), "app.conf:2:22: actors.intake.mailbox.capacity: cause"},
		{"a key may be the place", n.WrapKey(cause), "app.conf:2:3: actors.intake.mailbox.capacity: cause"},
		{"what has a place keeps it", tree.Root.Wrap(placed), placed.Error()},
		{"a message of one's own", n.Errorf("up to 9", "%d is too many", 10), "app.conf:2:22: actors.intake.mailbox.capacity: 10 is too many (up to 9)"},
	}
	for _, test := range tests {
		if got := test.got.Error(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	if !errors.Is(n.Wrap(cause), cause) {
		t.Error("the cause is lost")
	}
	if got, want := placed.Excerpt, "  mailbox.capacity = many } }\n                     ^"; got != want {
		t.Errorf("excerpt: got %q, want %q", got, want)
	}
}

func TestFormatShowsEveryMistake(t *testing.T) {
	_, err := parse(t, "a = ${x}\nb = ${y}")
	one := Errors(err.(Errors))[:1]
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"nothing", nil, ""},
		{"another error", errors.New("other"), "other\n"},
		{"all of them", err, "app.conf:1:5: a: ${x} has no value, neither here nor in the environment (if it may be missing write ${?x})\n" +
			"    a = ${x}\n        ^\n" +
			"app.conf:2:5: b: ${y} has no value, neither here nor in the environment (if it may be missing write ${?y})\n" +
			"    b = ${y}\n        ^\n"},
		{"joined ones", errors.Join(one, errors.New("other")), one.Report() + "other\n"},
		{"a wrapped one", fmt.Errorf("load: %w", one), one.Report()},
	}
	for _, test := range tests {
		if got := Format(test.err); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Path != "a" {
		t.Errorf("the first mistake: got %v, want that of a", e)
	}
}

func TestConfigHandsOverTheLibrarysTypes(t *testing.T) {
	tree := mustParse(t, "a { b = 1, c = 1.5, d = two words, e = 10s, f = [x, null], g = off, h = true }\n\"x.y\" { z = 1 }")
	want := library.Object{
		"b": library.Int(1), "c": library.Float64(1.5), "d": library.String("two words"), "e": library.String("10s"),
		"f": library.Array{library.String("x"), library.Null("null")}, "g": library.String("off"), "h": library.Boolean(true),
	}
	if got := tree.Config("a").GetRoot(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if got := tree.Config("").GetObject("a"); !reflect.DeepEqual(got, want) {
		t.Errorf("from the root: got %#v, want %#v", got, want)
	}
	if got := tree.Config(`"x.y"`); got == nil || got.GetInt("z") != 1 {
		t.Errorf("a quoted key: got %v, want z = 1", got)
	}
	for _, path := range []string{"nope", "a.b", "a..b", "a = b"} {
		if got := tree.Config(path); got != nil {
			t.Errorf("%s: got %v, want nil", path, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"capacity", "overflow", "priority", "on-full", "in", "to"}
	tests := []struct{ word, want string }{
		{"capcity", "capacity"}, {"Capacity", "capacity"}, {"overflw", "overflow"}, {"prio", "priority"},
		{"capacity-limit", "capacity"}, {"zebra", ""}, {"x", ""}, {"", ""}, {"onfull", "on-full"},
	}
	for _, test := range tests {
		if got := Suggest(test.word, known); got != test.want {
			t.Errorf("%s: got %q, want %q", test.word, got, test.want)
		}
	}
}
