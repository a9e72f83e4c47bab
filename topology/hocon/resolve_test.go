package hocon

import (
	"reflect"
	"strings"
	"testing"
)

// parse reads a text with an empty environment.
func parse(t testing.TB, text string) (*Tree, error) {
	t.Helper()
	return Parse("app.conf", []byte(text), Options{Env: noEnv})
}

func mustParse(t testing.TB, text string) *Tree {
	t.Helper()
	tree, err := parse(t, text)
	if err != nil {
		t.Fatalf("got %v, want no error\n%s", err, text)
	}
	return tree
}

func noEnv(string) (string, bool) { return "", false }

func TestSubstitution(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a reference inside an object sees what is merged later",
			"bar { foo = 42, baz = ${bar.foo} }\nbar { foo = 43 }", `{"bar":{"foo":43,"baz":43}}`},
		{"two objects may refer to each other's fields",
			"bar { a = ${foo.d}, b = 1 }\nbar.b = 3\nfoo { c = ${bar.b}, d = 2 }\nfoo.d = 4", `{"bar":{"a":4,"b":3},"foo":{"c":3,"d":4}}`},
		{"a field looks back along its path",
			"foo { a { c = 1 } }\nfoo = ${foo.a}\nfoo { a = 2 }", `{"foo":{"a":2,"c":1}}`},
		{"a list grows by look back", "l = [1]\nl = ${l} [2]\nl = [0] ${l}", `{"l":[0,1,2]}`},
		{"a text grows by look back", "p = a\np = ${p}\":b\"\np = ${p}\":c\"", `{"p":"a:b:c"}`},
		{"an object grows by look back", "o { a = 1 }\no = ${o} { b = 2 }\no = ${o} { c = 3 }", `{"o":{"a":1,"b":2,"c":3}}`},
		{"what a look back copies keeps its own view",
			"o { a = 1, b = ${o.a} }\no = ${o} { a = 2 }", `{"o":{"a":2,"b":1}}`},
		{"a hidden reference is not looked at", "a = ${nope}\na = 5", `{"a":5}`},
		{"a hidden circle is not looked at", "a = ${b}\nb = ${a}\na = 1", `{"a":1,"b":1}`},
		{"optional references in a circle vanish", "a = ${?b}\nb = ${?c}\nc = ${?a}\nd = 1", `{"d":1}`},
		{"a copy is extended over several objects",
			"base { s { t = 1 }, u = x }\nc = ${base}\nc.s.v = 2\nd = ${c} { u = y }",
			`{"base":{"s":{"t":1},"u":"x"},"c":{"s":{"t":1,"v":2},"u":"x"},"d":{"s":{"t":1,"v":2},"u":"y"}}`},
		{"a copied field looks back to the copy", "base { p = 1 }\nc = ${base}\nc.p = ${c.p}2", `{"base":{"p":1},"c":{"p":"12"}}`},
		{"a piece of a join looks back to the other", "base { p = 1 }\nc = ${base} { p = ${c.p}2 }", `{"base":{"p":1},"c":{"p":"12"}}`},
		{"+= in an object that extends a copy", "def { l = [1] }\no = ${def}\no.l += 2", `{"def":{"l":[1]},"o":{"l":[1,2]}}`},
		{"+= before and after a substitution", "x = [9]\nl += 1\nl = ${l} ${x}\nl += 2\nl += ${x}", `{"x":[9],"l":[1,9,2,[9]]}`},
		{"+= of its own earlier value", "l = [1]\nl += ${l}", `{"l":[1,[1]]}`},
		{"+= continues an object with numbers as keys", "l.0 = a\nl.1 = b\nl += c", `{"l":["a","b","c"]}`},
		{"numbers as keys join an array", `l = [a] { "10" : c, "2" : b, x : y }`, `{"l":["a","b","c"]}`},
		{"two missing optionals with a blank between leave the blank", "a = ${?x} ${?y}", `{"a":" "}`},
		{"one remaining piece keeps its type", "a = ${?x}5", `{"a":5}`},
		{"a null is a value", "a = null\nb = ${a}\nc = ${?a}", `{"a":null,"b":null,"c":null}`},
		{"an object over a text hides it", "a = 1\na { b = 2 }", `{"a":{"b":2}}`},
		{"an object over a reference to a text hides it", "x = 1\na = ${x}\na { b = 2 }", `{"x":1,"a":{"b":2}}`},
		{"objects join through references at every level",
			"a { x { p = 1 } }\nb { x { q = 2 } }\nc = ${a} ${b} { x { r = 3 } }", `{"a":{"x":{"p":1}},"b":{"x":{"q":2}},"c":{"x":{"p":1,"q":2,"r":3}}}`},
		{"order is that of first appearance", "b = 1\na = 2\nb = 3\nc { z = 1, y = 2 }\nc { y = 3, x = 4 }", `{"b":3,"a":2,"c":{"z":1,"y":3,"x":4}}`},
		{"a root array has no keys to refer to", "[1, ${?a}, 2]", `[1,2]`},
		{"a reference into an element's object through its own key", "a { l = [ { n = ${a.m} } ], m = 1 }", `{"a":{"l":[{"n":1}],"m":1}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(mustParse(t, test.text).Root.JSON()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestMistakesOfSubstitution(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"all are reported in reading order", "b { x = ${nope.a} }\na = ${b.y}\n", []string{
			"app.conf:1:9: b.x: ${nope.a} has no value, neither here nor in the environment (if it may be missing write ${?nope.a})",
			"app.conf:2:5: a: ${b.y} has no value, neither here nor in the environment (if it may be missing write ${?b.y})",
		}},
		{"one mistake is reported once though it is used twice", "a = ${nope}\nb = ${a}\nc = ${a}", []string{
			"app.conf:1:5: a: ${nope} has no value, neither here nor in the environment (if it may be missing write ${?nope})",
		}},
		{"a name that is nearly right is suggested", "mailbox { capacity = 1 }\na = ${mailbox.capcity}", []string{
			"app.conf:2:5: a: ${mailbox.capcity} has no value, neither here nor in the environment (did you mean ${mailbox.capacity}?)",
		}},
		{"a circle has no first value", "a = ${b}\nb = ${a}", []string{
			"app.conf:2:5: b: ${a} leads back to itself, and there is no earlier value",
		}},
		{"a value cannot hold itself", "a { b = 1, c = ${a} }", []string{
			"app.conf:1:16: a.c: the substitution leads back to the value that it is in",
		}},
		{"a reference may not have two values", "b = ${a}x\na = 1\na = ${b}2", []string{
			"app.conf:1:5: b: ${a} stands for two values, because it is part of its own definition (break the circle, for example with a third key)",
		}},
		{"optional references may not depend on the order", "a = ${?b}1\nb = ${?a}2", []string{
			"app.conf:2:5: b: ${?a} leads back to itself (break the circle, for example with a third key)",
		}},
		{"an array and text do not join", "l = [1]\ns = x ${l}", []string{
			"app.conf:2:5: s: an array cannot be joined with text (objects join objects, arrays join arrays, text joins text)",
		}},
		{"+= wants an array", "a { l = x }\na.l += ${?y} z", []string{
			"app.conf:2:8: a.l: += wants an array, but the earlier value is text",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(t, test.text)
			if err == nil {
				t.Fatalf("got no error, want %q", test.want)
			}
			got := strings.Split(err.Error(), "\n")
			if !reflect.DeepEqual(got, test.want) && !(len(got) == 1 && strings.HasPrefix(got[0], test.want[0])) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PORT": "7100", "PEERS.0": "a", "PEERS.1": "b", "l": "x", "a.b": "dotted"}[name]
		return v, ok
	}
	tests := []struct{ name, text, want string }{
		{"a variable is text", "p = ${PORT}", `{"p":"7100"}`},
		{"the tree comes before the environment", "PORT = 1\np = ${PORT}", `{"PORT":1,"p":1}`},
		{"numbered variables are a list", "p = ${PEERS}", `{"p":["a","b"]}`},
		{"+= does not look at the environment", "l += 1", `{"l":[1]}`},
		{"a path of several keys is no variable", "p = ${?a.b}", `{}`},
		{"a quoted name with a dot is a variable", `p = ${"a.b"}`, `{"p":"dotted"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := Parse("app.conf", []byte(test.text), Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(tree.Root.JSON()); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
