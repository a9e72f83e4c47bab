package hocon

import (
	"os"
	"path/filepath"
	"testing"
)

// fuzzLimits keep one text of the fuzzer short.
var fuzzLimits = Limits{Depth: 40, Nodes: 5000, TextBytes: 1 << 14, Steps: 50_000, Chain: 500, FileBytes: 1 << 16}

func addCases(f *testing.F) {
	names, err := filepath.Glob("testdata/cases/*.conf")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(names, "testdata/application.conf") {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
}

// FuzzParse wants a tree or a mistake with a place for every text, and of a tree
// that its JSON is HOCON of the same value.
func FuzzParse(f *testing.F) {
	addCases(f)
	f.Add("a = 1\na = ${b}2\nb = ${?a}${?c}\nc { d = ${a} }\nc = ${?c} { e += ${b} }")
	o := Options{Env: noEnv, ReadFile: files{"x.conf": "x = ${?y}\nl += 1"}.read, Limits: fuzzLimits}
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := Parse("/etc/main.conf", []byte(text), o)
		if err != nil {
			for _, e := range err.(Errors) {
				if e.Pos.IsZero() || e.Msg == "" {
					t.Errorf("a mistake without place or message: %#v", e)
				}
			}
			return
		}
		again := Options{Env: noEnv, Limits: Limits{Depth: 100, Nodes: 100_000}}
		back, err := Parse("back.conf", tree.Root.JSON(), again)
		if err != nil {
			t.Fatalf("its JSON %s: %v", tree.Root.JSON(), err)
		}
		if !tree.Root.Equal(back.Root) || tree.Root.Hash() != back.Root.Hash() {
			t.Fatalf("got  %s\nwant %s", back.Root.JSON(), tree.Root.JSON())
		}
	})
}

// FuzzCrossCheck wants the library to agree on every text that is given to it.
func FuzzCrossCheck(f *testing.F) {
	addCases(f)
	f.Add("a = 1\nb : [x, \"y z\", { c = null }]\nd { e = true }")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 || !isNarrow(text) {
			return
		}
		tree, err := Parse("main.conf", []byte(text), Options{Env: noEnv})
		if err != nil {
			t.Fatalf("a narrow text is rejected: %v", err)
		}
		if _, err := CrossCheck(tree); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzProperties wants strings only, whatever the text.
func FuzzProperties(f *testing.F) {
	f.Add("a.b = 1\n# x\nc : d\\\n  e\n\\u0041=\\u00e9")
	f.Fuzz(func(t *testing.T, text string) {
		o := Options{Env: noEnv, ReadFile: files{"x.properties": text}.read, Limits: fuzzLimits}
		tree, err := Parse("/etc/main.conf", []byte(`include "x.properties"`), o)
		if err == nil {
			onlyStrings(t, tree.Root)
		}
	})
}

func onlyStrings(t *testing.T, n *Node) {
	for _, f := range n.Fields() {
		if f.Value.Kind != String && f.Value.Kind != Object {
			t.Errorf("%s: got %s, want a string", f.Value.Path(), f.Value.Kind)
		}
		onlyStrings(t, f.Value)
	}
}
