package spec

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// described pairs each section of the reference with the fields that it shows.
var described = map[string][]actor.Field{
	"":                fileSchema.Fields,
	"system":          section("system"),
	"log":             section("log"),
	"reload":          section("reload"),
	"shutdown":        section("shutdown"),
	"dead-letters":    section("dead-letters"),
	"events":          section("events"),
	"actor-defaults":  actorSchema.Fields,
	"bridge-defaults": bridgeSchema.Fields,
	"plugin-defaults": pluginSchema.Fields,
}

func section(name string) []actor.Field {
	f, _ := fileSchema.Field(name)
	return f.Fields
}

func TestTheReferenceShowsEveryKey(t *testing.T) {
	for name, fields := range described {
		shown := shownKeys(t, name)
		for _, f := range fields {
			if !slices.Contains(shown, f.Name) {
				t.Errorf("%q: the key %s is not shown", name, f.Name)
			}
		}
	}
}

func TestTheReferenceShowsNoOtherKey(t *testing.T) {
	for name, fields := range described {
		schema := actor.Schema{Fields: fields}
		for _, key := range shownKeys(t, name) {
			if _, ok := schema.Field(key); !ok {
				t.Errorf("%q: the key %s has no field", name, key)
			}
		}
	}
}

var shownComment = regexp.MustCompile(`(?m)^    # ([a-z0-9-]+) [={]`)

// shownKeys returns the keys of a section, those in comments included.
func shownKeys(t *testing.T, name string) []string {
	t.Helper()
	n := load(t, Reference()).Lookup(root)
	if name != "" {
		n = n.Get(name)
	}
	var keys []string
	for _, f := range n.Fields() {
		keys = append(keys, f.Key)
	}
	if name == "" {
		return keys
	}
	_, rest, _ := strings.Cut(Reference(), "\n  "+name+" {")
	body, _, _ := strings.Cut(rest, "\n  }")
	for _, m := range shownComment.FindAllStringSubmatch(body, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

func TestTheReferenceShowsTheDefaultsInFull(t *testing.T) {
	tree := load(t, Reference())
	for name, fields := range described {
		if name == "" || name == "bridge-defaults" {
			continue
		}
		checkDefaults(t, name, fields, tree.Lookup(root, name))
	}
}

// checkDefaults compares what is written at n with the defaults of fields.
func checkDefaults(t *testing.T, at string, fields []actor.Field, n *hocon.Node) {
	t.Helper()
	fields = optional(fields)
	written, errs := actor.Schema{Fields: fields}.Decode(valueOf(n).raw(fields))
	if len(errs) > 0 {
		t.Fatalf("%s: %v", at, errs)
	}
	plain, _ := actor.Schema{Fields: fields}.Decode(nil)
	plain["env-allow"] = defaultEnvAllow
	got, want := settings("", actor.Live, fields, written), settings("", actor.Live, fields, plain)
	for _, s := range want {
		if !slices.Contains(got, s) {
			t.Errorf("%s: got %v, want the default %v", at, got, s)
		}
	}
	for _, f := range fields {
		if f.Kind == actor.ObjectField && f.Name != "child-supervision" {
			everyKey(t, at+"."+f.Name, f.Fields, n.Get(f.Name))
		}
	}
}

// everyKey checks that all keys of a nested section are written; overflow is in
// a comment, since its default depends on the priority.
func everyKey(t *testing.T, at string, fields []actor.Field, n *hocon.Node) {
	t.Helper()
	for _, f := range fields {
		if n.Get(f.Name) == nil && f.Name != "overflow" {
			t.Errorf("%s: the key %s is not shown", at, f.Name)
		}
		if f.Kind == actor.ObjectField {
			everyKey(t, at+"."+f.Name, f.Fields, n.Get(f.Name))
		}
	}
}

func TestTheReferenceStatesTheClassOfEveryKey(t *testing.T) {
	for name, fields := range described {
		_, rest, _ := strings.Cut("\n"+Reference(), "\n  "+name+" {")
		head, rest, _ := strings.Cut(rest, "\n")
		body, _, _ := strings.Cut(rest, "\n  }\n")
		if name == "" {
			head, body = "", Reference()
		}
		for _, f := range fields {
			class := "[" + string(f.Class)
			line := regexp.MustCompile(`(?m)^ +(# )?` + f.Name + ` [={].*$`).FindString(body)
			if f.Class != "" && !strings.Contains(head, class) && !strings.Contains(line, class) {
				t.Errorf("%s: %q does not say %s]", name, line, class)
			}
		}
	}
}

func TestTheReferenceAsAFileChangesNothing(t *testing.T) {
	reg := registry(t)
	with, err := Check(load(t, Reference()+"\nactord.actors.a.behaviour = sink"), reg)
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	without, err := Check(load(t, "actord.actors.a.behaviour = sink"), reg)
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	if with.Hash != without.Hash {
		t.Errorf("got settings %v, want %v", with.Actors[0].Settings, without.Actors[0].Settings)
	}
}
