package hocon

import "testing"

func TestOverlays(t *testing.T) {
	const text = `
base { port = 1 }
top { port = ${base.port}, host = a, url = ${top.host}":"${top.port}, profiles { dev { host = b }, prod = ${base} { port = 3, list += x } } }
`
	for _, tc := range []struct {
		name, from, override, want string
	}{
		{name: "an overlay is seen by substitutions", from: "top.profiles.dev", want: `{"port":1,"host":"b","url":"b:1","profiles":{"prod":{"port":3,"list":["x"]}}}`},
		{name: "an overlay may be a substitution itself", from: "top.profiles.prod", want: `{"port":3,"host":"a","url":"a:3","profiles":{"dev":{"host":"b"}},"list":["x"]}`},
		{name: "an override lies over it", from: "top.profiles.dev", override: "c", want: `{"port":1,"host":"c","url":"c:1","profiles":{"prod":{"port":3,"list":["x"]}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := Options{Overlays: []Overlay{{From: tc.from, Onto: "top"}}}
			if tc.override != "" {
				o.Overrides = []Override{{Key: "top.host", Value: tc.override}}
			}
			tree, err := Parse("a.conf", []byte(text), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(tree.Lookup("top").JSON()); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestAnOverlayThatIsNotThere(t *testing.T) {
	for from, want := range map[string]string{
		"top.profiles.stag":  "a.conf:1:18: top.profiles.stag: top.profiles.stag is not there (did you mean staging?)",
		"top.profiles.other": "a.conf:1:18: top.profiles.other: top.profiles.other is not there (there are staging, dev)",
		"none.x":             "a.conf:1:1: none.x: none.x is not there (there is none)",
	} {
		_, err := Parse("a.conf", []byte("top { profiles = { staging { }, dev { } } }"), Options{Overlays: []Overlay{{From: from, Onto: "top"}}})
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestRewriteChangesTextsAndKeysAndNothingElse(t *testing.T) {
	tree, err := Parse("a.conf", []byte(`a { b = [ x, { "k x" = x } ], c = 1 }, d { e = y }`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(n *Node) *Node {
		if n.Text == "x" {
			return n.WithText("z")
		}
		return n
	}
	key := func(_ *Node, k string) string {
		if k == "k x" {
			return "new"
		}
		return k
	}
	got := tree.Root.Rewrite(leaf, key)
	if want := `{"a":{"b":["z",{"new":"z"}],"c":1},"d":{"e":"y"}}`; string(got.JSON()) != want {
		t.Errorf("got %s, want %s", got.JSON(), want)
	}
	other := tree.Root.Rewrite(func(n *Node) *Node {
		if n.Text == "y" {
			return tree.Lookup("a", "c")
		}
		return n
	}, key)
	if n := other.Lookup("d", "e"); n == nil || n.Text != "1" || n.Path() != "a.c" {
		t.Errorf("a value from elsewhere: got %s with the path %s, want 1 with that of its place", n.JSON(), n.Path())
	}
	if got.Get("d") != tree.Lookup("d") {
		t.Error("a part that does not change was made again")
	}
	if n := got.Lookup("a", "b", "0"); n.Pos != tree.Lookup("a", "b", "0").Pos || n.Path() != "a.b[0]" {
		t.Errorf("got %s at %s, want the path and place of what was written", n.Path(), n.Pos)
	}
	if want := `{"a":{"b":["x",{"k x":"x"}],"c":1},"d":{"e":"y"}}`; string(tree.Root.JSON()) != want {
		t.Errorf("the tree changed to %s", tree.Root.JSON())
	}
}
