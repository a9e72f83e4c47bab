package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// answerer spawns an actor that answers, fails or stays silent.
func answerer(t testing.TB, s *System, name, how string, after time.Duration) {
	t.Helper()
	spawnFunc(t, s, name, func(ctx actor.Context, m actor.Message) error {
		if after > 0 && m.Kind != "later" {
			h, l := ctx.Handle(), ctx.Letter()
			time.AfterFunc(after, func() {
				_ = h.Tell(l.Sender(), actor.Message{Kind: name}, l)
				h.Done(l)
			})
			return nil
		}
		switch how {
		case "answer":
			return ctx.Reply(actor.Message{Kind: name})
		case "fail":
			return errors.New("boom")
		case "stop":
			ctx.Stop(ctx.Self())
		}
		return nil
	})
}

func TestScatterGatherTakesTheFirstAnswer(t *testing.T) {
	tests := []struct {
		name    string
		members string // NAME:HOW:AFTER
		answer  string
		err     []string
		is      error
		took    time.Duration
	}{
		{"the quickest wins", "a:answer:3s b:answer:1s c:answer:2s", "b", nil, nil, time.Second},
		{"failures do not count while one answers", "a:fail:0s b:answer:1s c:stop:0s", "b", nil, nil, time.Second},
		{"all failures are one failure", "a:fail:0s b:fail:0s", "", []string{"none of the 2", "/user/a: actor failed", "/user/b: actor failed"}, actor.ErrActorFailed, 0},
		{"one that is missing and one that ends have failed", "a:stop:0s x:missing:0s", "", []string{"/user/a: ", "/user/x: "}, actor.ErrStopped, 0},
		{"the question ends before the asker gives up", "a:silent:0s b:fail:0s", "", []string{"/user/b: actor failed", "/user/a: no reply in time"}, actor.ErrAskTimeout, 9 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				var paths []actor.Path
				for member := range strings.FieldsSeq(tt.members) {
					part := strings.Split(member, ":")
					after, _ := time.ParseDuration(part[2])
					if part[1] != "missing" {
						answerer(t, s, part[0], part[1], after)
					}
					paths = append(paths, actor.User.Child(part[0]))
				}
				g, err := NewGroup[actor.Message](s, "g", ScatterGather, nil, paths...)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				began := time.Now()
				m, err := g.Ask(ctx, actor.Message{Kind: "q"})
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %s, want %s", took, tt.took)
				}
				if tt.is == nil && (err != nil || m.Kind != tt.answer) {
					t.Fatalf("got %q, %v; want %q", m.Kind, err, tt.answer)
				}
				if tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("got %v, want %v", err, tt.is)
				}
				for _, want := range tt.err {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want it to say %q", err, want)
					}
				}
				time.Sleep(time.Minute) // answers that come too late are nobody's
			})
		})
	}
}

func TestScatterGatherAnswersAnActorThatTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		dead := letters(s)
		answerer(t, s, "a", "answer", 2*time.Second)
		answerer(t, s, "b", "answer", time.Second)
		g, _ := NewGroup[actor.Message](s, "g", ScatterGather, nil, "/user/a", "/user/b")
		none, _ := NewGroup[actor.Message](s, "none", ScatterGather, nil, "/user/x")
		asker := spawnFunc(t, s, "asker", func(ctx actor.Context, m actor.Message) error {
			if m.Kind != "go" {
				r.add(m.Kind + " from " + string(ctx.Sender().Path()))
				return nil
			}
			_ = ctx.Tell(none, m)
			return ctx.Tell(g, m)
		})
		_ = asker.Ref().Tell(t.Context(), actor.Message{Kind: "go"})
		_ = g.Tell(t.Context(), actor.Message{Kind: "nobody asks"})
		time.Sleep(time.Minute)
		r.want(t, "b from /user/b")
		got := dead.sorted()
		if len(got) != 2 || !strings.HasPrefix(got[0], "/system/groups/g no-sender") || !strings.HasPrefix(got[1], "/system/groups/none failed: none of the 1 answered") {
			t.Errorf("dead letters: got %q, want one without a sender and one that nobody answered", got)
		}
	})
}

func TestScatterGatherOfAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		a := spawnSpec(t, s, Spec{Name: "p", Pool: &Pool[actor.Message]{Size: 3, Strategy: ScatterGather}, New: func() (actor.Behaviour, error) {
			return actor.Func(func(ctx actor.Context, m actor.Message) error {
				if ctx.Self().Path() != "/user/p/routee-2" || m.Kind == "all fail" {
					return errors.New("boom")
				}
				return ctx.Reply(actor.Message{Kind: "2"})
			}), nil
		}})
		asker := a.Ref().(actor.Asker)
		if m, err := asker.Ask(t.Context(), actor.Message{Kind: "q"}); err != nil || m.Kind != "2" {
			t.Errorf("got %q, %v; want the answer of routee-2", m.Kind, err)
		}
		_, err := asker.Ask(t.Context(), actor.Message{Kind: "all fail"})
		g, ok := errors.AsType[*GatherError](err)
		if !ok || len(g.Failures) != 3 || !errors.Is(err, actor.ErrActorFailed) {
			t.Errorf("got %v, want the failures of all three", err)
		}
	})
}

func TestADeliveryOfAScatterGatherDependsOnTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		answerer(t, s, "a", "fail", 0)
		answerer(t, s, "b", "answer", time.Second)
		for _, tt := range []struct {
			member actor.Path
			ok     bool
		}{{"/user/b", true}, {"/user/x", false}} {
			g, _ := NewGroup[actor.Message](s, "g", ScatterGather, nil, "/user/a", tt.member)
			settled := make(chan error, 1)
			d := actor.NewDelivery(0, func(err error) { settled <- err })
			_, _ = g.Ask(actor.Track(t.Context(), d), actor.Message{Kind: "q"})
			d.Done(nil)
			if err := <-settled; (err == nil) != tt.ok {
				t.Errorf("with %s: got %v, want done well: %v", tt.member, err, tt.ok)
			}
		}
	})
}

func TestAGroupSpreadsOverWhoIsThere(t *testing.T) {
	tests := []struct {
		strategy Strategy
		want     map[string]int
	}{
		{RoundRobin, map[string]int{"a": 30, "b": 30}},
		{SmallestMailbox, map[string]int{"a": 30, "b": 30}},
		{Broadcast, map[string]int{"a": 60, "b": 60}},
	}
	for _, tt := range tests {
		t.Run(tt.strategy.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				listeners(t, s, r, "a", "b")
				g, err := NewGroup[actor.Message](s, "g", tt.strategy, nil, "/user/a")
				if err != nil {
					t.Fatal(err)
				}
				g.Set("/user/a", "/user/b")
				for i := range 60 {
					if err := g.Tell(t.Context(), num(i)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if got := shares(r); fmt.Sprint(got) != fmt.Sprint(tt.want) {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestAGroupOfNobodyMakesDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		dead := letters(s)
		g, _ := NewGroup[actor.Message](s, "g", RoundRobin, nil, "/user/x", "/user/y")
		if err := g.Tell(t.Context(), num(1)); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
		dead.want(t, "/system/groups/g stopped")
		if _, err := NewGroup[actor.Message](s, "g", ConsistentHash, nil); err == nil {
			t.Error("consistent-hash without a key: got no error, want one")
		}
	})
}

// fixed are candidates with known depths.
type fixed struct {
	depths []int
	seeds  []uint64
}

func (f fixed) depth(i int) int                  { return f.depths[i] }
func (f fixed) weight(i int, hash uint64) uint64 { return mix(hash ^ f.seeds[i]) }

func TestSmallestSkipsWhoTakesNothingAndLetsEqualsTakeTurns(t *testing.T) {
	tests := []struct {
		name   string
		depths []int
		turn   uint64
		want   int
	}{
		{"the smallest", []int{3, 1, 2}, 0, 1},
		{"a stopping one looks empty and is not picked", []int{3, -1, 2}, 0, 2},
		{"equals, first turn", []int{1, 1, 1}, 0, 0},
		{"equals, second turn", []int{1, 1, 1}, 1, 1},
		{"equals, behind the end", []int{0, 5, 5}, 2, 0},
		{"nobody", []int{-1, -1}, 1, 1},
	}
	for _, tt := range tests {
		if got := pick(SmallestMailbox, fixed{depths: tt.depths}, len(tt.depths), tt.turn, 0); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestAConsistentHashMovesOnlyTheKeysOfWhoComesOrGoes(t *testing.T) {
	seeds := func(n int) fixed {
		var f fixed
		for i := range n {
			f.seeds = append(f.seeds, hashText(fmt.Sprintf("/user/p/%s", routeeName(i))))
		}
		return f
	}
	const keys = 10_000
	moved, counts := 0, make([]int, 11)
	for k := range keys {
		hash := hashText(fmt.Sprint("key-", k))
		before, after := pick(ConsistentHash, seeds(10), 10, 0, hash), pick(ConsistentHash, seeds(11), 11, 0, hash)
		counts[after]++
		if before != after {
			moved++
			if after != 10 {
				t.Fatalf("key %d moved from %d to %d, want only moves to the new one", k, before, after)
			}
		}
	}
	if moved < keys/11/2 || moved > keys/11*2 {
		t.Errorf("moved: got %d keys, want about %d", moved, keys/11)
	}
	for i, n := range counts {
		if n < keys/11/2 || n > keys/11*2 {
			t.Errorf("receiver %d: got %d keys, want about %d", i, n, keys/11)
		}
	}
}

func TestEveryStrategyIsParsedByItsName(t *testing.T) {
	for s := range Strategy(len(strategyNames)) {
		if got, err := ParseStrategy(s.String()); err != nil || got != s {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("round-robbin"); err == nil || !strings.Contains(err.Error(), `did you mean "round-robin"`) {
		t.Errorf("got %v, want a suggestion", err)
	}
}
