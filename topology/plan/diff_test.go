package plan

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestPlans runs the files in testdata: what they say before the first section is
// for people, then come before.conf, after.conf and plan.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			comment, part := readCase(t, name)
			before, after := system(t, part["before.conf"]), system(t, part["after.conf"])
			got := Diff(before, after).String()
			if *update {
				text := comment + "-- before.conf --\n" + part["before.conf"] + "-- after.conf --\n" + part["after.conf"] + "-- plan --\n" + got
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := part["plan"]; got != want && !*update {
				t.Errorf("%sgot:\n%swant:\n%s", comment, got, want)
			}
			if back := Diff(after, after); !back.Empty() {
				t.Errorf("from itself to itself: got %s, want nothing", back)
			}
		})
	}
}

// readCase reads a file of sections, each after a line "-- NAME --".
func readCase(t *testing.T, name string) (comment string, part map[string]string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	part = map[string]string{}
	section := ""
	for line := range strings.Lines(string(text)) {
		head, ok := strings.CutPrefix(line, "-- ")
		if title, is := strings.CutSuffix(head, " --\n"); ok && is {
			section = title
			continue
		}
		part[section] += line
	}
	return part[""], part
}

func TestAPlanForNothingIsEmpty(t *testing.T) {
	s := system(t, `actord { actors.a { behaviour = router, children.b.behaviour = sink }, bridges.w { type = web, listen = "h:1" } }`)
	p := Diff(s, s)
	if !p.Empty() || p.String() != "" || p.Unchanged != 3 {
		t.Errorf("got %q with %d unchanged, want nothing with 3", p, p.Unchanged)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	p := Diff(
		system(t, `actord.actors.a { behaviour = router, args.token = hunter2 }`),
		system(t, `actord.actors.a { behaviour = router, args.token = swordfish }`),
	)
	if got, want := p.String(), "~ /user/a  reconfigure args.token changed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStepsHoldBothSides(t *testing.T) {
	p := Diff(
		system(t, `actord.actors { a.behaviour = sink, b.behaviour = sink }`),
		system(t, `actord.actors { a { behaviour = sink, on-full = drop }, c.behaviour = sink }`),
	)
	for _, s := range p.Steps {
		was, is := s.Actor.Old != nil, s.Actor.New != nil
		if wantWas, wantIs := s.Kind != Start, s.Kind != Stop; was != wantWas || is != wantIs {
			t.Errorf("%s: old %t, new %t; want %t, %t", s, was, is, wantWas, wantIs)
		}
	}
	if len(p.Steps) != 3 {
		t.Errorf("got %d steps, want 3:\n%s", len(p.Steps), p)
	}
}

// TestAnyPlanLeadsFromOneSystemToTheOther does the steps of many plans to sets
// of paths with hashes and checks where they lead.
func TestAnyPlanLeadsFromOneSystemToTheOther(t *testing.T) {
	for seed := range uint64(100) {
		dice := rand.New(rand.NewPCG(seed, 1))
		a, b := random(dice), random(dice)
		old, new := system(t, a), system(t, b)
		p := Diff(old, new)
		world := worldOf(old)
		for _, s := range p.Steps {
			if err := world.do(s); err != nil {
				t.Fatalf("seed %d: %s: %v\nbefore: %s\nafter: %s\n%s", seed, s, err, a, b, p)
			}
		}
		if got, want := world.String(), worldOf(new).String(); got != want {
			t.Fatalf("seed %d: got\n%swant\n%s\nplan:\n%s", seed, got, want, p)
		}
		if p.Empty() != (old.Hash == new.Hash) {
			t.Errorf("seed %d: empty is %t, but hashes are equal is %t", seed, p.Empty(), old.Hash == new.Hash)
		}
		if q := Diff(system(t, b), new); !q.Empty() {
			t.Errorf("seed %d: read twice, the system differs from itself:\n%s", seed, q)
		}
	}
}

// random writes a configuration: a tree of actors and some bridges.
func random(dice *rand.Rand) string {
	var actors func(depth int) string
	actors = func(depth int) string {
		out := ""
		for _, name := range []string{"a", "b", "c"} {
			if dice.IntN(3) == 0 {
				continue
			}
			out += fmt.Sprintf("%s { behaviour = %s, mailbox.capacity = %d, start-order = %d", name,
				[]string{"sink", "router"}[dice.IntN(5)/4], 1+dice.IntN(2), dice.IntN(3))
			if depth < 2 {
				out += ", children { " + actors(depth+1) + " }"
			}
			out += " }\n"
		}
		return out
	}
	bridges := ""
	for i, name := range []string{"w", "x"} {
		if dice.IntN(3) > 0 {
			bridges += fmt.Sprintf("%s { type = %s, listen = \"h:%d\", idle-timeout = %ds }\n", name,
				[]string{"web", "sse"}[dice.IntN(2)], 1+i+2*dice.IntN(2), 1+dice.IntN(2))
		}
	}
	return "actord { actors { " + actors(0) + " }, bridges { " + bridges + " } }"
}

// world is what runs: the settings of each path.
type world map[actor.Path]string

func worldOf(s *spec.System) world {
	w := world{}
	for _, a := range s.Actors {
		w.add(a)
	}
	for _, b := range s.Bridges {
		w[b.Path] = relevantText(b.Settings)
	}
	return w
}

func (w world) add(a *spec.Actor) {
	for each := range a.All() {
		w[each.Path] = relevantText(slices.Concat(each.Settings, each.ArgSettings))
	}
}

func (w world) remove(p actor.Path) {
	for each := range w {
		if each.Under(p) {
			delete(w, each)
		}
	}
}

func (w world) do(s Step) error {
	_, there := w[s.Path]
	if there == (s.Kind == Start) {
		return fmt.Errorf("there is %t", there)
	}
	if a := s.Actor.New; a != nil && s.Path.Parent() != actor.User && w[s.Path.Parent()] == "" {
		return fmt.Errorf("the parent is not there")
	}
	switch s.Kind {
	case Stop:
		w.remove(s.Path)
	case Start, Replace:
		w.remove(s.Path)
		if a := s.Actor.New; a != nil {
			w.add(a)
			return nil
		}
		w[s.Path] = relevantText(s.Bridge.New.Settings)
	default:
		if a := s.Actor.New; a != nil {
			w[s.Path] = relevantText(slices.Concat(a.Settings, a.ArgSettings))
			return nil
		}
		w[s.Path] = relevantText(s.Bridge.New.Settings)
	}
	return nil
}

func (w world) String() string {
	var lines []string
	for p, text := range w {
		lines = append(lines, fmt.Sprintf("%s %s\n", p, text))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func relevantText(list []spec.Setting) string {
	var b strings.Builder
	for _, s := range list {
		if s.Class != actor.Cosmetic {
			b.WriteString(s.Key + "=" + s.Text + " ")
		}
	}
	return b.String()
}

func BenchmarkDiff(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "a%d { behaviour = router, args.to = /user/a%d, mailbox.capacity = 100 }\n", i, (i+1)%1000)
	}
	old := system(b, "actord.actors {"+text.String()+"}")
	next := system(b, "actord.actors {"+text.String()+"}\nactord.actors.a7.mailbox.capacity = 200")
	for b.Loop() {
		if p := Diff(old, next); len(p.Steps) != 1 {
			b.Fatalf("got %s, want one step", p)
		}
	}
}
