package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

// reload writes text, reloads and checks the plan.
func (b *bench) reload(text, plan string) Result {
	b.t.Helper()
	b.write(text)
	r := b.top.Reload(b.t.Context(), "test")
	if r.Err != nil {
		b.t.Fatal(r.Err)
	}
	if got := r.Plan.String(); got != plan {
		b.t.Errorf("plan: got\n%s\nwant\n%s", got, plan)
	}
	return r
}

// counts asks each of the paths.
func (b *bench) counts(paths ...actor.Path) []any {
	var out []any
	for _, p := range paths {
		out = append(out, b.count(p))
	}
	return out
}

func TestAReloadResizesAPoolWithoutTouchingItsSurvivors(t *testing.T) {
	pool := func(size int) string {
		return fmt.Sprintf("actord.actors.p { behaviour = noter, pool.size = %d }", size)
	}
	b := newBench(t, pool(3))
	for range 3 {
		b.count("/user/p")
	}
	three := []actor.Path{"/user/p/routee-1", "/user/p/routee-2", "/user/p/routee-3"}
	if got, want := b.counts(three...), []any{int64(2), int64(2), int64(2)}; !slices.Equal(got, want) {
		t.Errorf("before: got %v, want %v", got, want)
	}
	b.took()
	b.reload(pool(5), "~ /user/p  update pool.size 3 → 5\n")
	if got, want := b.took(), []string{"start /user/p/routee-4 ", "start /user/p/routee-5 "}; !slices.Equal(got, want) {
		t.Errorf("growing: got %q, want %q", got, want)
	}
	b.reload(pool(1), "~ /user/p  update pool.size 5 → 1\n")
	if got, want := b.count("/user/p"), any(int64(3)); got != want {
		t.Errorf("the one that is left: got %v, want %v", got, want)
	}
}

func TestAReloadMakesAPlainActorAPoolThatKnowsItsState(t *testing.T) {
	b := newBench(t, "actord.actors.p { behaviour = noter }")
	for range 5 {
		b.count("/user/p")
	}
	b.reload("actord.actors.p { behaviour = noter, pool { size = 2, strategy = consistent-hash, key = kind } }",
		"~ /user/p  update pool.size 1 → 2, pool.strategy round-robin → consistent-hash, pool.key \"\" → kind\n")
	if got, want := b.counts("/user/p/routee-1", "/user/p/routee-2"), []any{int64(6), int64(1)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAReloadGivesAllOfAPoolOtherArguments(t *testing.T) {
	b := newBench(t, "actord.actors.p { behaviour = noter, pool.size = 2, args.word = one }")
	b.took()
	b.reload("actord.actors.p { behaviour = noter, pool.size = 2, args.word = two }", "~ /user/p  reconfigure args.word one → two\n")
	want := []string{"start /user/p/routee-1 two", "start /user/p/routee-2 two", "stop /user/p/routee-1 one", "stop /user/p/routee-2 one"}
	if got := b.took(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPoolThatDoesNotStartIsTakenBack(t *testing.T) {
	b := newBench(t, "actord.actors.a { behaviour = noter }")
	b.write("actord.actors { a { behaviour = noter }, p { behaviour = noter, pool.size = 3, args.fail = start, supervision.on-failure = stop } }")
	r := b.top.Reload(t.Context(), "test")
	if r.Outcome != RolledBack || r.Err == nil || !strings.Contains(r.Err.Error(), "/user/p/routee-") {
		t.Errorf("got %s, %v; want it rolled back because of a routee", r.Outcome, r.Err)
	}
	if _, ok := b.top.System().Find("/user/p"); ok {
		t.Error("/user/p is there, want it gone")
	}
}

func TestNothingIsLostWhileReloadsResizeAPoolUnderTraffic(t *testing.T) {
	pool := func(size int, strategy string) string {
		return fmt.Sprintf("actord.actors.p { behaviour = noter, pool { size = %d, strategy = %s } }", size, strategy)
	}
	b := newBench(t, pool(1, "round-robin"))
	var lost, sent atomic.Int64
	b.top.System().Subscribe(func(e actor.Event) {
		if d, ok := e.(actor.DeadLetter); ok && d.Message.Kind == "hit" {
			lost.Add(1)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	ref := b.top.System().Lookup("/user/p").(actor.Asker)
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := ref.Ask(context.Background(), actor.Message{Kind: "hit"}); err != nil {
					t.Errorf("ask: %v", err)
					return
				}
				sent.Add(1)
			}
		})
	}
	for i, size := range []int{4, 2, 8, 3, 1, 5, 2} {
		b.write(pool(size, []string{"random", "smallest-mailbox"}[i%2]))
		if r := b.top.Reload(t.Context(), "test"); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	cancel()
	wg.Wait()
	if lost.Load() != 0 || sent.Load() == 0 {
		t.Errorf("got %d answers and %d dead letters, want some and none", sent.Load(), lost.Load())
	}
}

func TestAReloadRewiresTopics(t *testing.T) {
	const actors = "actord.actors { a.behaviour = noter, b.behaviour = noter, c.behaviour = noter }\n"
	b := newBench(t, actors+"actord.topics { news.subscribers = [/user/a, /user/b], old { } }")
	publish := func() {
		t.Helper()
		if err := b.top.System().Topic("news").Tell(t.Context(), actor.Message{Kind: "hit"}); err != nil {
			t.Fatal(err)
		}
	}
	publish()
	b.reload(actors+"actord.topics { news { subscribers = [/user/a, /user/c], delivery = one }, new { } }",
		"+ topic new  open\n~ topic news  rewire subscribers[1] /user/b → /user/c, delivery all → one\n- topic old  close\n")
	publish() // to a or c
	publish() // to the other one
	if got, want := b.counts("/user/a", "/user/b", "/user/c"), []any{int64(3), int64(2), int64(2)}; !slices.Equal(got, want) {
		t.Errorf("messages: got %v, want %v", got, want)
	}
	if got, want := b.top.System().Topics(), []string{"new", "news"}; !slices.Equal(got, want) {
		t.Errorf("topics: got %v, want %v", got, want)
	}
	b.write(actors + "actord.topics { }\nactord.actors.d { behaviour = noter, args.fail = start, supervision.on-failure = stop }")
	if r := b.top.Reload(t.Context(), "test"); r.Outcome != RolledBack {
		t.Errorf("got %s, want it rolled back", r.Outcome)
	}
	if got, want := b.top.System().Topics(), []string{"new", "news"}; !slices.Equal(got, want) {
		t.Errorf("topics after going back: got %v, want %v", got, want)
	}
}

func TestEventsGoToATopic(t *testing.T) {
	b := newBench(t, `actord {
  actors.a.behaviour = noter
  topics.alarms.subscribers = /user/a
  events.subscriptions = [ { to = "topic:alarms", events = [actor-stopped] } ]
}`)
	b.top.System().Publish(actor.Stopped{Path: "/user/x"})
	if got, want := b.count("/user/a"), any(int64(2)); got != want {
		t.Errorf("messages: got %v, want %v", got, want)
	}
}
