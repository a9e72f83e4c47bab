package runtime

import (
	"context"
	"fmt"
	gort "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// together spawns actors on a dispatcher of one thread, gives each n messages while
// the thread is held, and returns in which order they are handled.
func together(t *testing.T, set DispatcherSettings, n int, takes time.Duration, names ...string) string {
	t.Helper()
	var order strings.Builder
	synctest.Test(t, func(t *testing.T) {
		set.Threads = 1
		s := newSystem(t, WithDispatchers(map[string]DispatcherSettings{"one": set}))
		gate := make(chan struct{})
		spawn := func(name string, f actor.Func) *Actor {
			return spawnSpec(t, s, Spec{Name: name, Dispatcher: "one", New: func() (actor.Behaviour, error) { return f, nil }})
		}
		var all []*Actor
		for _, name := range names {
			all = append(all, spawn(name, func(actor.Context, actor.Message) error {
				time.Sleep(takes)
				order.WriteString(name)
				return nil
			}))
		}
		hold := spawn("hold", func(actor.Context, actor.Message) error { <-gate; return nil })
		tellKind(t, hold, "x")
		synctest.Wait()
		for _, a := range all {
			for i := range n {
				_ = a.Ref().Tell(t.Context(), num(i))
			}
		}
		close(gate)
		time.Sleep(time.Minute)
		synctest.Wait()
	})
	return order.String()
}

func TestActorsOfAThreadTakeTurns(t *testing.T) {
	for _, tc := range []struct {
		name  string
		set   DispatcherSettings
		n     int
		takes time.Duration
		want  string
	}{
		{"a turn handles no more than the throughput", DispatcherSettings{Throughput: 2}, 5, 0, "aabbccaabbccabc"},
		{"a turn takes no longer than its time", DispatcherSettings{TimeSlice: 10 * time.Millisecond}, 4, 4 * time.Millisecond, "aaabbbcccabc"},
		{"a turn may take any time when that is wanted", DispatcherSettings{TimeSlice: -1}, 4, time.Second, "aaaabbbbcccc"},
		{"one message is handled at least", DispatcherSettings{TimeSlice: time.Millisecond}, 2, time.Second, "abcabc"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := together(t, tc.set, tc.n, tc.takes, "a", "b", "c"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestADispatcherHasSoManyThreadsAsItIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sets := func(n int) map[string]DispatcherSettings {
			return map[string]DispatcherSettings{"few": {Threads: n}}
		}
		s := newSystem(t, WithDispatchers(sets(3)))
		var running, most atomic.Int64
		var all []*Actor
		for i := range 12 {
			all = append(all, spawnSpec(t, s, Spec{Name: fmt.Sprint(i), Dispatcher: "few", New: make1(&hooked{receive: func(actor.Context, actor.Message) error {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Second)
				running.Add(-1)
				return nil
			}})}))
		}
		round := func() int64 {
			most.Store(0)
			for _, a := range all {
				tellKind(t, a, "x")
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			return most.Load()
		}
		for _, n := range []int{3, 5, 1, 2, 0} {
			if err := s.SetDispatchers(sets(n)); err != nil {
				t.Fatal(err)
			}
			want := int64(n)
			if n == 0 {
				want = 12 // a goroutine each
			}
			if got := round(); got != want {
				t.Errorf("%d threads: got %d at once, want %d", n, got, want)
			}
		}
	})
}

func TestADispatcherThatIsGoneServesTheActorsItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t, WithDispatchers(map[string]DispatcherSettings{"own": {Threads: 2}})), &record{}
		a := spawnSpec(t, s, Spec{Name: "a", Dispatcher: "own", New: func() (actor.Behaviour, error) {
			return actor.Func(func(_ actor.Context, m actor.Message) error { r.add(m.Kind); return nil }), nil
		}})
		synctest.Wait()
		own := s.dispatchers.byName["own"]
		threads := func() int { own.mu.Lock(); defer own.mu.Unlock(); return own.live }
		if err := s.SetDispatchers(nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := threads(); got != 0 {
			t.Errorf("an idle dispatcher that is gone has %d threads", got)
		}
		tellKind(t, a, "1", "2")
		synctest.Wait()
		r.want(t, "1", "2")
		if _, err := s.SpawnActor(actor.User, Spec{Name: "b", Dispatcher: "own", New: make1(&hooked{})}); err != nil {
			t.Errorf("the way back from a change: %v", err)
		}
		if err := s.SetDispatchers(map[string]DispatcherSettings{"own": {Threads: 1}}); err != nil {
			t.Fatal(err)
		}
		if got := s.dispatchers.byName["own"]; got != own {
			t.Error("a dispatcher that comes back is another one")
		}
	})
}

func TestDispatchersThatAreWrongAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		for _, tc := range []struct {
			name string
			set  DispatcherSettings
			want string
		}{
			{"a", DispatcherSettings{Throughput: -1}, "throughput"},
			{"a", DispatcherSettings{Threads: -1}, "threads"},
			{"a", DispatcherSettings{Threads: 100_000}, "threads"},
			{DefaultDispatcher, DispatcherSettings{Threads: 1}, "another dispatcher"},
		} {
			err := s.SetDispatchers(map[string]DispatcherSettings{tc.name: tc.set})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%+v: got %v, want %q", tc.set, err, tc.want)
			}
		}
		_, err := s.SpawnActor(actor.User, Spec{Name: "a", Dispatcher: "pined", New: make1(&hooked{})})
		if err == nil || !strings.Contains(err.Error(), `did you mean "pinned"?`) {
			t.Errorf("got %v, want a suggestion", err)
		}
		if _, ok := s.Find("/user/a"); ok {
			t.Error("an actor that was refused is there")
		}
	})
}

func TestTheDefaultDispatcherChangesLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		a := spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{})})
		if got := a.node.dispatcher().pace(); got.limit != 256 || got.slice != 10*time.Millisecond {
			t.Errorf("got %+v, want 256 messages and 10ms", got)
		}
		_ = s.SetDispatchers(map[string]DispatcherSettings{DefaultDispatcher: {Throughput: 7, TimeSlice: time.Second}})
		if got := a.node.dispatcher().pace(); got.limit != 7 || got.slice != time.Second {
			t.Errorf("got %+v, want 7 messages and 1s", got)
		}
	})
}

func TestAThreadThatAHandlerEndsIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		a := spawnSpec(t, s, Spec{Name: "a", Dispatcher: PinnedDispatcher, New: func() (actor.Behaviour, error) {
			return actor.Func(func(_ actor.Context, m actor.Message) error {
				switch r.add(m.Kind); m.Kind {
				case "goexit":
					gort.Goexit()
				case "panic":
					panic("boom")
				}
				return nil
			}), nil
		}})
		tellKind(t, a, "1", "goexit", "2", "panic", "3")
		time.Sleep(time.Minute)
		r.want(t, "1", "goexit", "2", "panic", "3")
	})
}

func TestAPoolRunsOnItsDispatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		a := spawnSpec(t, s, Spec{Name: "p", Dispatcher: PinnedDispatcher, Settings: DefaultSettings(), Pool: &Pool[actor.Message]{Size: 2}, New: make1(&hooked{})})
		synctest.Wait()
		if err := a.Update(DefaultSettings(), nil); err != nil {
			t.Fatal(err)
		}
		for _, p := range []actor.Path{"/user/p", "/user/p/routee-1", "/user/p/routee-2"} {
			got, _ := s.Find(p)
			if got.node.dispatcher() != s.dispatchers.byName[PinnedDispatcher] {
				t.Errorf("%s runs on another dispatcher", p)
			}
		}
	})
}

func TestThreadsOfDispatchersEndWithTheSystem(t *testing.T) {
	before := gort.NumGoroutine()
	for range 200 {
		s := New("test", WithLogger(quiet), WithDispatchers(map[string]DispatcherSettings{"a": {Threads: 4}, "b": {Threads: 1}}))
		for i := range 8 {
			a := spawnSpec(t, s, Spec{Name: fmt.Sprint(i), Dispatcher: string("ab"[i%2]), New: make1(&hooked{})})
			tellKind(t, a, "x", "y")
		}
		if err := s.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	wantGoroutines(t, before)
}

func TestEveryMessageOfManyActorsOnFewThreadsIsHandled(t *testing.T) {
	s := newSystem(t, WithDispatchers(map[string]DispatcherSettings{"few": {Threads: 3, Throughput: 3}}))
	var got atomic.Int64
	counted := make([]int64, 50)
	for i := range counted {
		a := spawnSpec(t, s, Spec{Name: fmt.Sprint(i), Dispatcher: "few", New: make1(&hooked{receive: func(actor.Context, actor.Message) error {
			counted[i]++
			got.Add(1)
			return nil
		}})})
		for j := range 200 {
			_ = a.Ref().Tell(t.Context(), num(j))
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.Load() != 50*200 || slices.Min(counted) != 200 {
		t.Errorf("got %d, the least of one actor %d; want 10000 and 200", got.Load(), slices.Min(counted))
	}
}

func BenchmarkPinnedTell(b *testing.B) {
	s := newSystem(b)
	a := spawnSpec(b, s, Spec{Name: "a", Dispatcher: PinnedDispatcher, New: make1(&hooked{receive: func(actor.Context, actor.Message) error { return nil }})})
	ref := s.Lookup(a.Path())
	for b.Loop() {
		_ = ref.Tell(b.Context(), actor.Message{})
	}
}
