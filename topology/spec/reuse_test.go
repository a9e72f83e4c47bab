package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lines writes what is declared: path, behaviour and what the settings of interest are.
func lines(s *System, keys ...string) []string {
	var out []string
	for a := range s.All() {
		line := string(a.Path)
		for _, set := range slices.Concat(a.Settings, a.ArgSettings) {
			if slices.Contains(keys, set.Key) {
				line += " " + set.Key + "=" + set.Text
			}
		}
		out = append(out, line)
	}
	return out
}

func TestReuse(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		keys, want []string
	}{
		{
			name: "templates lie over the defaults in their order, the actor's own block over them",
			text: `actor-defaults.mailbox { capacity = 1, warn-at = 1 }, actor-defaults.stop-timeout = 1s
				templates { a { behaviour = sink, mailbox.capacity = 2, on-full = drop }, b { mailbox.capacity = 3, handler-warn = 3s } }
				actors { x { use = [a, b], handler-warn = 4s }, y { use = a } }`,
			keys: []string{"mailbox.capacity", "mailbox.warn-at", "stop-timeout", "on-full", "handler-warn"},
			want: []string{
				"/user/x mailbox.capacity=3 mailbox.warn-at=1 stop-timeout=1s on-full=drop handler-warn=4s",
				"/user/y mailbox.capacity=2 mailbox.warn-at=1 stop-timeout=1s on-full=drop handler-warn=10s",
			},
		},
		{
			name: "a template may use others and bring children",
			text: `templates { base { behaviour = sink }, wide { use = base, children { kid { use = base, mailbox.capacity = 7 } } } }
				actors { x { use = wide, children.kid.mailbox.capacity = 8, children.own.behaviour = sink } }`,
			keys: []string{"mailbox.capacity"},
			want: []string{"/user/x mailbox.capacity=unlimited", "/user/x/kid mailbox.capacity=8", "/user/x/own mailbox.capacity=unlimited"},
		},
		{
			name: "count makes numbered actors",
			text: `actors { w { count = 3, behaviour = router, args.default = "/user/w-{index}" } }`,
			keys: []string{"args.default[0]"},
			want: []string{"/user/w-1 args.default[0]=/user/w-1", "/user/w-2 args.default[0]=/user/w-2", "/user/w-3 args.default[0]=/user/w-3"},
		},
		{
			name: "foreach over a list of texts, with a pattern for the names",
			text: `actors { w { foreach = [eu, us], name = "worker-{item}", behaviour = limit, args.rate = 3, description = "for {item} ({index})" } }`,
			keys: []string{"description", "args.rate"},
			want: []string{`/user/worker-eu description="for eu (1)" args.rate=3`, `/user/worker-us description="for us (2)" args.rate=3`},
		},
		{
			name: "foreach over a map gives its keys, and whole values keep their type",
			text: `actors { w { foreach { eu { cap = 5, to = [/user/s, dead-letters] }, us { cap = unlimited, to = /user/s } }, behaviour = router
				mailbox.capacity = "{item.cap}", args { default = "{item.to}", rules = [ { when = "kind == '{key}'", to = /user/s } ] } }, s.behaviour = sink }`,
			keys: []string{"mailbox.capacity", "args.default[0]", "args.default[1]", "args.rules[0].when"},
			want: []string{
				`/user/w-eu mailbox.capacity=5 args.rules[0].when="kind == 'eu'" args.default[0]=/user/s args.default[1]=dead-letters`,
				`/user/w-us mailbox.capacity=unlimited args.rules[0].when="kind == 'us'" args.default[0]=/user/s`,
				"/user/s mailbox.capacity=unlimited",
			},
		},
		{
			name: "children see the item, and a foreach of their own calls it parent",
			text: `actors { w { foreach { eu { parts = [a, b] } }, behaviour = sink, children {
				"log-{key}" { behaviour = sink, description = "{key}" }
				part { foreach = "{parent.item.parts}", name = "{item}", behaviour = sink, description = "{parent.key}/{item}" } } } }`,
			keys: []string{"description"},
			want: []string{`/user/w-eu description=""`, "/user/w-eu/log-eu description=eu", "/user/w-eu/a description=eu/a", "/user/w-eu/b description=eu/b"},
		},
		{
			name: "a template may make several actors",
			text: `templates.many { count = 2, behaviour = sink }, actors { a.use = many, b { use = many, count = 1 } }`,
			want: []string{"/user/a-1", "/user/a-2", "/user/b-1"},
		},
		{
			name: "an empty foreach and a count of 0 make none, and null gives it up",
			text: `actors { a { foreach = [], behaviour = sink }, b { count = 0, behaviour = sink }, c { count = null, behaviour = sink } }`,
			want: []string{"/user/c"},
		},
		{
			name: "braces that are no placeholder stay",
			text: `actors { a { count = 1, behaviour = sink, description = "{x} {item.} { item } {key: 1} {{key}}" } }`,
			keys: []string{"description"},
			want: []string{`/user/a-1 description="{x} {item.} { item } {key: 1} {1}"`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := lines(checked(t, "actord { "+tc.text+" }"), tc.keys...)
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

func TestMistakesInReuse(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{
			name: "a mistake in a template names who uses it, once",
			text: "templates.t { behaviour = sink, mailbox.capacity = many }\nactors.a.use = t\nactors.b.use = [t]",
			want: []string{`application.conf:1:61: templates.t.mailbox.capacity: "many" is not a number (want a number of messages or unlimited, e.g. 1000); used by /user/a and 1 more at application.conf:2:1`},
		},
		{
			name: "a mistake that an item makes names the actor",
			text: "actors {\n w { foreach = [1, x], behaviour = sink, mailbox.capacity = \"{item}\" }\n}",
			want: []string{`application.conf:2:20: actors.w.foreach[1]: "x" is not a number (want a number of messages or unlimited, e.g. 1000); used by /user/w-2 at application.conf:2:2`},
		},
		{
			name: "a template that is not there",
			text: "templates.worker { }\nactors { a { behaviour = sink, use = worked }, b { behaviour = sink, use = [other] } }",
			want: []string{
				`application.conf:2:38: actors.a.use: template "worked" is not declared; did you mean "worker"?`,
				`application.conf:2:77: actors.b.use[0]: template "other" is not declared (there are worker)`,
			},
		},
		{
			name: "templates in a circle",
			text: "templates { a.use = b, b.use = a }\nactors.x { behaviour = sink, use = a }",
			want: []string{`application.conf:1:41: templates.b.use: template "a" uses itself in the end`},
		},
		{
			name: "an unused template is checked as well",
			text: "templates.t { mailbox { capcity = 1 }, on-full = \"{item}\", stop-timeout = 3 }",
			want: []string{
				`application.conf:1:34: templates.t.mailbox.capcity: unknown key; did you mean "capacity"?`,
				`application.conf:1:84: templates.t.stop-timeout: 3 has no unit (want a duration, e.g. 3ms or 3s)`,
			},
		},
		{
			name: "an item without the field",
			text: "actors.a { foreach = [{ host = x }], behaviour = sink, description = \"{item.hots}\" }",
			want: []string{`application.conf:1:79: actors.a.description: {item.hots}: actors.a.foreach[0] has no hots; did you mean "host"?`},
		},
		{
			name: "an object inside a text",
			text: "actors.a { foreach = [{ host = x }], behaviour = sink, description = \"to {item}\" }",
			want: []string{`application.conf:1:79: actors.a.description: {item} is no text but an object, which fits only where it stands alone`},
		},
		{
			name: "two actors of one name",
			text: "actors { a { foreach = [x, y], name = one, behaviour = sink }, b-1.behaviour = sink, b { count = 1, behaviour = sink } }",
			want: []string{
				`application.conf:1:48: actors.a.name: two actors would be /user/one (the name of each must hold what differs, e.g. name = "a-{key}")`,
				`application.conf:1:97: actors.b: two actors would be /user/b-1 (the name of each must hold what differs, e.g. name = "b-{key}")`,
			},
		},
		{
			name: "a name that is none",
			text: "actors { a { foreach = [\"x/y\"], name = \"{item}\", behaviour = sink } }",
			want: []string{`application.conf:1:49: actors.a.name: name "x/y" holds '/'; a name is one path segment without '/', '\' and control characters`},
		},
		{
			name: "count and foreach, or neither one right",
			text: "actors { a { foreach = [x], count = 2, behaviour = sink }, b { foreach = 3, behaviour = sink }, c { count = -1, behaviour = sink }, d { name = x, behaviour = sink } }",
			want: []string{
				`application.conf:1:38: actors.a.count: count and foreach exclude each other; the length of foreach is the count`,
				`application.conf:1:83: actors.b.foreach: "3" is neither a list nor a map (want [a, b] or { a { … }, b { … } })`,
				`application.conf:1:118: actors.c.count: -1 is not a number of actors (want 0 to 500000)`,
				`application.conf:1:146: actors.d.name: the key "d" is the name; name goes with foreach or count`,
			},
		},
		{
			name: "reuse is no default",
			text: "actor-defaults { use = t, count = 3 }",
			want: []string{
				`application.conf:1:27: actor-defaults.use: use cannot be a default; write it in the actor or in a template`,
				`application.conf:1:36: actor-defaults.count: count cannot be a default; write it in the actor or in a template`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := mistakes(t, "actord { "+tc.text+" }")
			if !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

func TestActorsThatDidNotChangeAreTakenOver(t *testing.T) {
	const base = `actord {
  templates.t { behaviour = sink }
  actors {
    a { behaviour = router, args.default = /user/b }
    b { use = t }
    w { foreach = [ {n = 1}, {n = 2}, {n = 3} ], behaviour = limit, args { rate = "{item.n}", burst = 9 } }
    up { behaviour = router, args.default = ./kid, children { kid { behaviour = sink }, other { behaviour = sink } } }
  }
}`
	for _, tc := range []struct {
		name, old, new string
		read           []string // actors that are made anew
	}{
		{name: "the same text", read: nil},
		{name: "another place of the same text", old: "actord {", new: "actord {\n\n", read: nil},
		{name: "an argument", old: "default = /user/b", new: "default = /user/w-1", read: []string{"/user/a"}},
		{name: "an item", old: "{n = 2}", new: "{n = 5}", read: []string{"/user/w-2"}},
		{name: "an item more", old: "{n = 3}", new: "{n = 3}, {n = 4}", read: []string{"/user/w-4"}},
		{name: "the body of a foreach", old: "burst = 9", new: "burst = 8", read: []string{"/user/w-1", "/user/w-2", "/user/w-3"}},
		{name: "a child", old: "kid { behaviour = sink }", new: "kid { behaviour = sink, stop-timeout = 1s }", read: []string{"/user/up", "/user/up/kid"}},
		{name: "a template", old: "t { behaviour = sink }", new: "t { behaviour = sink, stop-timeout = 1s }", read: []string{"/user/a", "/user/b", "/user/up", "/user/up/kid", "/user/up/other", "/user/w-1", "/user/w-2", "/user/w-3"}},
		{name: "an actor more", old: "b { use = t }", new: "b { use = t }\nc { use = t }", read: []string{"/user/c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reg := registry(t)
			before, err := Check(load(t, base), reg)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(base, tc.old, tc.new, 1)
			again, err := Options{Before: before}.Check(load(t, text), reg)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := Check(load(t, text), reg)
			if err != nil {
				t.Fatal(err)
			}
			if again.Hash != fresh.Hash || fmt.Sprint(lines(again, "args.rate")) != fmt.Sprint(lines(fresh, "args.rate")) {
				t.Errorf("got %v, want %v as a fresh check gives", lines(again), lines(fresh))
			}
			if got := anew(before, again); !slices.Equal(got, tc.read) {
				t.Errorf("made anew: got %v, want %v", got, tc.read)
			}
			for a := range again.All() {
				for b := range fresh.All() {
					if a.Path == b.Path && (a.Pos != b.Pos || a.Hash != b.Hash) {
						t.Errorf("%s: got %s %s, want %s %s", a.Path, a.Pos, a.Hash, b.Pos, b.Hash)
					}
				}
			}
		})
	}
}

// anew returns the actors whose behaviour was prepared again.
func anew(before, after *System) []string {
	old := map[string]*Actor{}
	for a := range before.All() {
		old[string(a.Path)] = a
	}
	var out []string
	for a := range after.All() {
		if was := old[string(a.Path)]; was == nil || fmt.Sprintf("%p", was.Prepared.New) != fmt.Sprintf("%p", a.Prepared.New) || !sameArgs(was, a) {
			out = append(out, string(a.Path))
		}
	}
	slices.Sort(out)
	return out
}

func sameArgs(a, b *Actor) bool { return fmt.Sprintf("%p", a.Args) == fmt.Sprintf("%p", b.Args) }

func TestMoreActorsThanAFileMayMake(t *testing.T) {
	tree := load(t, "actord.actors { a { count = 6, behaviour = sink }, b { count = 6, behaviour = sink }, c { count = 11, behaviour = sink } }")
	_, err := Options{MaxActors: 10}.Check(tree, registry(t))
	want := "application.conf:1:56: actors.b.count: foreach and count make more than 10 actors\n" +
		"application.conf:1:99: actors.c.count: 11 is not a number of actors (want 0 to 10)"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestNotAllOfManyMistakesAreTold(t *testing.T) {
	var text strings.Builder
	text.WriteString("actord.actors.w { behaviour = sink, mailbox.capacity = \"{item}\", foreach = [\n")
	for range 3_000 {
		text.WriteString("x\n")
	}
	_, err := Check(load(t, text.String()+"] }"), registry(t))
	if n := strings.Count(err.Error(), "\n") + 1; n != maxMistakes {
		t.Errorf("got %d mistakes, want the first %d", n, maxMistakes)
	}
}

func TestAnActorThatIsGoneIsMissedByThoseWhoNameIt(t *testing.T) {
	const text = "actord.actors { a { behaviour = router, args.default = /user/store }, store.behaviour = sink }"
	reg := registry(t)
	before, err := Check(load(t, text), reg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Options{Before: before}.Check(load(t, strings.Replace(text, ", store.b", ", storage.b", 1)), reg)
	want := `application.conf:1:56: actors.a.args.default: no actor is declared at /user/store`
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
