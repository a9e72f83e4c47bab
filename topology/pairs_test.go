package topology

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// anySystem writes a configuration: a tree of actors with what can differ.
func anySystem(dice *rand.Rand) string {
	var actors func(depth int) string
	actors = func(depth int) string {
		out := ""
		for _, name := range []string{"a", "b", "c"} {
			if dice.IntN(3) == 0 {
				continue
			}
			out += fmt.Sprintf("%s { behaviour = %s, args.word = w%d, mailbox.capacity = %d, start-order = %d",
				name, []string{"noter", "other"}[dice.IntN(4)/3], dice.IntN(3), 1+dice.IntN(3), dice.IntN(2))
			if dice.IntN(6) == 0 {
				out += ", was = " + string(actor.User.Child([]string{"a", "b", "c"}[dice.IntN(3)]))
			}
			if depth < 2 {
				out += ", children { " + actors(depth+1) + " }"
			}
			out += " }\n"
		}
		return out
	}
	return "actord { reload { probation = off, max-removed = 100% }, actors { " + actors(0) + " } }"
}

// running describes every actor of a system as the engine has it.
func running(sys *runtime.System, s *spec.System, b *bench) map[actor.Path]string {
	out := map[actor.Path]string{}
	var walk func(*runtime.Actor)
	walk = func(a *runtime.Actor) {
		i := a.Info()
		ctx, cancel := context.WithCancel(b.t.Context())
		defer cancel()
		m, err := sys.Lookup(i.Path).(actor.Asker).Ask(ctx, actor.Message{Kind: "word"})
		out[i.Path] = fmt.Sprintf("%s %s capacity %d word %v %v", i.Behaviour, i.State, i.Capacity, m.Body, err)
		for _, c := range a.Children() {
			walk(c)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(topOf(s))) {
		if a, ok := sys.Find(p); ok {
			walk(a)
		}
	}
	return out
}

// topOf are the paths that actors of any configuration may have at the top.
func topOf(s *spec.System) map[actor.Path]bool {
	out := map[actor.Path]bool{"/user/a": true, "/user/b": true, "/user/c": true, "/user/failing": true}
	for _, a := range s.Actors {
		out[a.Path] = true
	}
	return out
}

func started(t *testing.T, text string) *bench {
	t.Helper()
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf")}
	b.write(text)
	var err error
	if b.top, err = Start(t.Context(), b.source(nil), b.options()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.top.Stop(context.Background()) })
	return b
}

func describe(m map[actor.Path]string) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s %s\n", p, m[p])
	}
	return b.String()
}

func TestAnyReloadIsLikeAFreshStart(t *testing.T) {
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 7))
		before, after := anySystem(dice), anySystem(dice)
		one, two := started(t, before), started(t, after)
		one.write(after)
		r := one.top.Reload(t.Context(), "test")
		if r.Outcome != Applied && r.Outcome != Unchanged {
			t.Fatalf("seed %d: got %s %v", seed, r.Outcome, r.Err)
		}
		got := describe(running(one.top.System(), one.top.current.Spec, one))
		want := describe(running(two.top.System(), two.top.current.Spec, two))
		if got != want {
			t.Fatalf("seed %d: got\n%swant\n%s\nbefore %s\nafter %s\nplan\n%s", seed, got, want, before, after, r.Plan)
		}
	}
}

func TestTheWayBackFromAnyStepLeadsToTheStart(t *testing.T) {
	for seed := range uint64(12) {
		dice := rand.New(rand.NewPCG(seed, 11))
		before, after := anySystem(dice), anySystem(dice)
		b := started(t, before)
		failing, err := b.source(nil).Parse(t.Context(), "failing.conf", []byte("actord.actors.failing { behaviour = noter, args.fail = start }"))
		if err != nil {
			t.Fatal(err)
		}
		b.write(after)
		next, err := b.top.src.Load(t.Context(), b.top.current)
		if err != nil {
			t.Fatal(err)
		}
		p := diff(b.top.current, next)
		want := describe(running(b.top.System(), b.top.current.Spec, b))
		last := plan.Step{Kind: plan.Replace, Path: "/user/failing", Actor: plan.Change[spec.Actor]{Old: failing.Spec.Actors[0], New: failing.Spec.Actors[0]}}
		for i := range len(p.Steps) + 1 {
			broken := plan.Plan{Steps: append(slices.Clone(p.Steps[:i]), last)}
			tx := b.top.transaction(b.top.current, next, broken)
			if err := tx.apply(t.Context()); err == nil || !strings.Contains(err.Error(), "it is told to fail") {
				t.Fatalf("seed %d: step %d: got %v, want the failure", seed, i, err)
			}
			if got := describe(running(b.top.System(), b.top.current.Spec, b)); got != want {
				t.Fatalf("seed %d: after %d steps: got\n%swant\n%s\nplan\n%s", seed, i, got, want, broken)
			}
		}
	}
}
