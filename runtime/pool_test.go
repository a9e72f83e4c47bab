package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// worker is a routee that counts what it gets and can be held up or made to fail.
type worker struct {
	count int64
	gate  chan struct{} // where "hold" waits; nil for the test's own
	seen  func(ctx actor.Context, m actor.Message, count int64)
}

func (w *worker) Receive(ctx actor.Context, m actor.Message) error {
	w.count++
	if w.seen != nil {
		w.seen(ctx, m, w.count)
	}
	switch m.Kind {
	case "hold":
		<-w.gate
	case "fail":
		return errors.New("boom")
	case "stop":
		ctx.Stop(ctx.Self())
	case "count":
		return ctx.Reply(actor.Message{Kind: string(ctx.Self().Path()), Body: w.count})
	}
	return nil
}

func (w *worker) Snapshot() (actor.State, error) {
	return actor.State{Data: fmt.Append(nil, w.count)}, nil
}

func (w *worker) Restore(s actor.State) error {
	_, err := fmt.Sscan(string(s.Data), &w.count)
	return err
}

func bodyOf(v any) actor.Message { return actor.Message{Kind: "n", Body: v} }

func byBody(m actor.Message, _ actor.Ref) string { return fmt.Sprint(m.Body) }

// poolOf4 spawns /user/p with four routees that note who got what.
func poolOf4(t testing.TB, s *System, strategy Strategy, gate chan struct{}, r *record) *Actor {
	t.Helper()
	p := &Pool[actor.Message]{Size: 4, Strategy: strategy}
	if strategy == ConsistentHash {
		p.Key = byBody
	}
	return spawnSpec(t, s, Spec{Name: "p", Pool: p, Settings: DefaultSettings(), New: func() (actor.Behaviour, error) {
		return &worker{gate: gate, seen: func(ctx actor.Context, m actor.Message, _ int64) {
			if r != nil {
				r.add(fmt.Sprintf("%s %v", ctx.Self().Path().Name(), m.Body))
			}
		}}, nil
	}})
}

// shares counts the notes "NAME what" by name.
func shares(r *record) map[string]int {
	out := map[string]int{}
	for _, v := range r.all() {
		name, _, _ := strings.Cut(v.(string), " ")
		out[name]++
	}
	return out
}

func TestAStrategySaysWhichRouteesGetAMessage(t *testing.T) {
	tests := []struct {
		strategy Strategy
		bodies   int // how many different ones
		ok       func(map[string]int) bool
		want     string
	}{
		{RoundRobin, 1, func(n map[string]int) bool { return equalShares(n, 4, 100) }, "100 each"},
		{SmallestMailbox, 1, func(n map[string]int) bool { return len(n) == 4 }, "all of them work"},
		{Random, 1, func(n map[string]int) bool { return len(n) == 4 && atLeast(n, 50) }, "at least 50 each"},
		{Broadcast, 1, func(n map[string]int) bool { return equalShares(n, 4, 400) }, "400 each"},
		{ConsistentHash, 1, func(n map[string]int) bool { return equalShares(n, 1, 400) }, "all to one"},
		{ConsistentHash, 400, func(n map[string]int) bool { return len(n) == 4 && atLeast(n, 50) }, "at least 50 each"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s of %d different messages", tt.strategy, tt.bodies), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				a := poolOf4(t, s, tt.strategy, nil, r)
				for i := range 400 {
					if err := a.Ref().Tell(t.Context(), bodyOf(i%tt.bodies)); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if got := shares(r); !tt.ok(got) {
					t.Errorf("got %v, want %s", got, tt.want)
				}
			})
		})
	}
}

func equalShares(n map[string]int, routees, each int) bool {
	for _, v := range n {
		if v != each {
			return false
		}
	}
	return len(n) == routees
}

func atLeast(n map[string]int, each int) bool {
	for _, v := range n {
		if v < each {
			return false
		}
	}
	return true
}

func TestSmallestMailboxLeavesBusyRouteesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		a := poolOf4(t, s, SmallestMailbox, gate, r)
		synctest.Wait()
		for range 3 {
			_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		}
		synctest.Wait()
		busy := shares(r)
		for i := range 50 {
			_ = a.Ref().Tell(t.Context(), num(i))
			synctest.Wait() // each is handled before the next one
		}
		for name, n := range shares(r) {
			if busy[name] == 1 && n != 1 {
				t.Errorf("busy %s: got %d messages, want 1", name, n)
			}
		}
		if len(busy) != 3 || len(shares(r)) != 4 {
			t.Errorf("busy: got %v, of %v; want 3 of 4", busy, shares(r))
		}
		close(gate)
	})
}

func TestASmallMailboxIsCountedExactlyWhileItIsWorkedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSystem(t), make(chan struct{})
		a := poolOf4(t, s, SmallestMailbox, gate, nil)
		synctest.Wait()
		for i := range 4 * 10 {
			_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
			if i < 4 {
				synctest.Wait() // each is at work before the rest comes
			}
		}
		synctest.Wait()
		var got []int
		for _, c := range a.Children() {
			got = append(got, c.Info().Queued)
		}
		if want := []int{9, 9, 9, 9}; !slices.Equal(got, want) {
			t.Errorf("queued beside the one being handled: got %v, want %v", got, want)
		}
		close(gate)
	})
}

func TestAPoolKeepsSenderAndTrace(t *testing.T) {
	for _, strategy := range []Strategy{RoundRobin, Random, SmallestMailbox, Broadcast, ConsistentHash} {
		t.Run(strategy.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, got := newSystem(t), make(chan string, 8)
				p := &Pool[actor.Message]{Size: 2, Strategy: strategy}
				if strategy == ConsistentHash {
					p.Key = byBody
				}
				a := spawnSpec(t, s, Spec{Name: "p", Pool: p, New: func() (actor.Behaviour, error) {
					return actor.Func(func(ctx actor.Context, _ actor.Message) error {
						got <- string(ctx.Sender().Path()) + " " + ctx.Trace().String()
						return nil
					}), nil
				}})
				trace := make(chan string, 1)
				b := spawnFunc(t, s, "b", func(ctx actor.Context, m actor.Message) error {
					trace <- ctx.Trace().String()
					return ctx.Tell(a.Ref(), m)
				})
				_ = b.Ref().Tell(t.Context(), num(1))
				if g, want := <-got, "/user/b "+<-trace; g != want {
					t.Errorf("got %q, want %q", g, want)
				}
			})
		})
	}
}

func TestResizingTouchesNoRouteeThatStays(t *testing.T) {
	for _, to := range []int{2, 3, 8, 1} {
		t.Run(fmt.Sprintf("4 to %d", to), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, ticks := newSystem(t), &atomic.Int64{}
				a := spawnSpec(t, s, Spec{Name: "p", Pool: &Pool[actor.Message]{Size: 4}, New: func() (actor.Behaviour, error) {
					return &worker{seen: func(ctx actor.Context, m actor.Message, n int64) {
						switch {
						case m.Kind == "tick":
							ticks.Add(1)
						case n == 1:
							ctx.Every(time.Second, actor.Message{Kind: "tick"})
						}
					}}, nil
				}})
				for i := range 4 * 5 {
					_ = a.Ref().Tell(t.Context(), num(i))
				}
				synctest.Wait()
				before := map[actor.Path]Info{}
				for _, c := range a.Children() {
					before[c.Path()] = c.Info()
				}
				if err := a.Resize(t.Context(), &Pool[actor.Message]{Size: to}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(500 * time.Millisecond)
				synctest.Wait()
				ticks.Store(0)
				time.Sleep(time.Second)
				synctest.Wait()
				if got, want := ticks.Load(), int64(min(to, 4)); got != want {
					t.Errorf("timers that go on: got %d, want %d", got, want)
				}
				var names []string
				for _, c := range a.Children() {
					names = append(names, c.Path().Name())
					was, ok := before[c.Path()]
					if ok && (c.Info().Incarnation != was.Incarnation || c.Info().Handled < was.Handled) {
						t.Errorf("%s: got %+v, want it as before: %+v", c.Path(), c.Info(), was)
					}
				}
				var want []string
				for i := range to {
					want = append(want, routeeName(i))
				}
				slices.Sort(names)
				if !slices.Equal(names, want) {
					t.Errorf("routees: got %v, want %v", names, want)
				}
			})
		})
	}
}

func TestAShrinkingPoolWorksOffWhatItAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		a := poolOf4(t, s, RoundRobin, gate, r)
		synctest.Wait()
		for range 4 {
			_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		}
		for i := range 400 {
			_ = a.Ref().Tell(t.Context(), num(i))
		}
		if err := a.Resize(t.Context(), &Pool[actor.Message]{Size: 1}); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			_ = a.Ref().Tell(t.Context(), num(i))
		}
		close(gate)
		synctest.Wait()
		want := map[string]int{"routee-1": 111, "routee-2": 101, "routee-3": 101, "routee-4": 101}
		if got := shares(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("handled: got %v, want %v", got, want)
		}
		if got := len(a.Children()); got != 1 {
			t.Errorf("routees: got %d, want 1", got)
		}
	})
}

func TestARouteeThatDoesNotEndIsEndedAfterItsStopTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lost, gate := newSystem(t), &atomic.Int64{}, make(chan struct{})
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok && d.Recipient == "/user/p/routee-4" {
				lost.Add(1)
			}
		})
		a := poolOf4(t, s, Broadcast, gate, nil)
		for range 3 {
			_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		}
		synctest.Wait()
		_ = a.Resize(t.Context(), &Pool[actor.Message]{Size: 3})
		time.Sleep(DefaultStopTimeout + time.Second)
		close(gate)
		synctest.Wait()
		if got := lost.Load(); got != 2 {
			t.Errorf("dead letters of what it had left: got %d, want 2", got)
		}
		if got := len(a.Children()); got != 3 {
			t.Errorf("routees: got %d, want 3", got)
		}
	})
}

func TestAPlaceIsFilledAgainWhenItsFormerOwnerHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSystem(t), make(chan struct{})
		a := poolOf4(t, s, RoundRobin, gate, nil)
		for range 4 {
			_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		}
		synctest.Wait()
		for _, size := range []int{2, 4} {
			if err := a.Resize(t.Context(), &Pool[actor.Message]{Size: size}); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(a.node.body.(*cell[actor.Message]).props.Load().running.cells()); got != 2 {
			t.Errorf("routees while two are ending: got %d, want 2", got)
		}
		close(gate)
		synctest.Wait()
		if got := len(a.node.body.(*cell[actor.Message]).props.Load().running.cells()); got != 4 {
			t.Errorf("routees afterwards: got %d, want 4", got)
		}
	})
}

func TestAPlainActorHandsItsStateAndItsMailboxToTheRoutees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		a := spawnSpec(t, s, Spec{Name: "p", Settings: DefaultSettings(), New: func() (actor.Behaviour, error) {
			return &worker{gate: gate, seen: func(ctx actor.Context, m actor.Message, n int64) {
				r.add(fmt.Sprintf("%s %v %d", ctx.Self().Path().Name(), m.Body, n))
			}}, nil
		}})
		for range 5 {
			_ = a.Ref().Tell(t.Context(), bodyOf("first"))
		}
		_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		for range 50 {
			_ = a.Ref().Tell(t.Context(), bodyOf("same")) // the same key, so it all goes to one
		}
		synctest.Wait()
		grown := make(chan error)
		go func() {
			grown <- a.Resize(t.Context(), &Pool[actor.Message]{Size: 3, Strategy: ConsistentHash, Key: byBody})
		}()
		synctest.Wait()
		close(gate)
		if err := <-grown; err != nil {
			t.Fatal(err)
		}
		_ = a.Ref().Tell(t.Context(), bodyOf("same"))
		synctest.Wait()
		got := shares(r)
		if got["p"] != 6 || len(got) != 2 {
			t.Errorf("handled: got %v, want 6 by p and the rest by one routee", got)
		}
		m, err := s.Lookup("/user/p/routee-1").(actor.Asker).Ask(t.Context(), actor.Message{Kind: "count"})
		if err != nil || m.Body.(int64) < 7 {
			t.Errorf("routee-1: got %v, %v; want the 6 of the plain actor and more", m.Body, err)
		}
	})
}

func TestARouteeThatEndsIsNotSentTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		a := poolOf4(t, s, RoundRobin, nil, r)
		synctest.Wait()
		for _, c := range a.Children()[:3] {
			_ = c.Ref().Tell(t.Context(), actor.Message{Kind: "stop"})
		}
		synctest.Wait()
		for i := range 40 {
			if err := a.Ref().Tell(t.Context(), num(i)); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got := shares(r)["routee-4"]; got != 40 {
			t.Errorf("the one that is left: got %d messages, want 40", got)
		}
		_ = s.Lookup("/user/p/routee-4").Tell(t.Context(), actor.Message{Kind: "stop"})
		synctest.Wait()
		var letters record
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok {
				letters.add(string(d.Recipient) + " " + d.Reason)
			}
		})
		if err := a.Ref().Tell(t.Context(), num(1)); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("without any routee: got %v, want ErrStopped", err)
		}
		letters.want(t, "/user/p stopped")
		if err := a.Resize(t.Context(), &Pool[actor.Message]{Size: 4}); err != nil {
			t.Fatal(err)
		}
		if got := len(a.Children()); got != 4 {
			t.Errorf("told its size anew: got %d routees, want 4", got)
		}
	})
}

func TestARouteeThatFailsIsRestartedAndKeepsItsMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		a := poolOf4(t, s, RoundRobin, nil, r)
		for i := range 400 {
			m := num(i)
			if i%40 == 0 {
				m.Kind = "fail"
			}
			_ = a.Ref().Tell(t.Context(), m)
		}
		synctest.Wait()
		if got := shares(r); !equalShares(got, 4, 100) {
			t.Errorf("got %v, want 100 each", got)
		}
	})
}

func TestASizeThatIsNoneIsRefused(t *testing.T) {
	s := newSystem(t)
	for _, size := range []int{0, -1, MaxRoutees + 1} {
		_, err := s.SpawnActor(actor.User, Spec{Name: "p", Pool: &Pool[actor.Message]{Size: size}})
		if err == nil || !strings.Contains(err.Error(), "size") {
			t.Errorf("size %d: got %v, want an error about the size", size, err)
		}
	}
	_, err := s.SpawnActor(actor.User, Spec{Name: "p", Pool: &Pool[actor.Message]{Size: 2, Strategy: ConsistentHash}})
	if err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("no key: got %v, want an error about the key", err)
	}
}

func TestAPoolPassesOverFullRoutees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSystem(t), make(chan struct{})
		settings := Settings{Mailbox: mailbox.Settings{Capacity: 2, Overflow: mailbox.Reject}}
		a := spawnSpec(t, s, Spec{Name: "p", Settings: settings, Pool: &Pool[actor.Message]{Size: 4}, New: func() (actor.Behaviour, error) {
			return &worker{gate: gate}, nil
		}})
		synctest.Wait()
		_ = s.Lookup("/user/p/routee-1").Tell(t.Context(), actor.Message{Kind: "hold"})
		synctest.Wait()
		for range 2 {
			_ = s.Lookup("/user/p/routee-1").Tell(t.Context(), num(0))
		}
		for i := range 6 {
			m := actor.Message{Kind: "hold"}
			if err := a.Ref().Tell(t.Context(), m); err != nil {
				t.Errorf("message %d: got %v, want it accepted by one with room", i, err)
			}
		}
		synctest.Wait()
		for range 3 {
			_ = a.Ref().Tell(t.Context(), num(0))
		}
		if err := a.Ref().Tell(t.Context(), num(0)); !errors.Is(err, actor.ErrFull) {
			t.Errorf("all full: got %v, want ErrFull", err)
		}
		if got := actor.Offer(t.Context(), a.Ref(), num(0)); got != actor.Full {
			t.Errorf("offer: got %v, want Full", got)
		}
		close(gate)
	})
}

func TestAPoolTakesSettingsAndBehavioursForAllItsRoutees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		a := poolOf4(t, s, Broadcast, nil, r)
		_ = a.Ref().Tell(t.Context(), num(1))
		synctest.Wait()
		settings := DefaultSettings()
		settings.Mailbox.Capacity = 7
		if err := a.Update(settings, nil); err != nil {
			t.Fatal(err)
		}
		err := a.Swap(t.Context(), func() (actor.Behaviour, error) {
			return &worker{seen: func(_ actor.Context, _ actor.Message, n int64) { r.add(fmt.Sprint("new ", n)) }}, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Resize(t.Context(), &Pool[actor.Message]{Size: 5, Strategy: Broadcast}); err != nil {
			t.Fatal(err)
		}
		_ = a.Ref().Tell(t.Context(), num(2))
		synctest.Wait()
		got := r.all()[4:]
		slices.SortFunc(got, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		if want := []any{"new 1", "new 2", "new 2", "new 2", "new 2"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v: those that stay keep their state", got, want)
		}
		for _, c := range a.Children() {
			if got := c.Info().Capacity; got != 7 {
				t.Errorf("%s: got capacity %d, want 7", c.Path(), got)
			}
		}
	})
}

func TestABehaviourThatOneRouteeCannotTakeIsTakenByNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, made := newSystem(t), &record{}, 0
		a := poolOf4(t, s, Broadcast, nil, r)
		_ = a.Ref().Tell(t.Context(), num(1))
		synctest.Wait()
		err := a.Swap(t.Context(), func() (actor.Behaviour, error) {
			if made++; made == 3 {
				return nil, errors.New("not me")
			}
			return actor.Func(func(actor.Context, actor.Message) error { r.add("new x"); return nil }), nil
		}, nil)
		if err == nil || !strings.Contains(err.Error(), "not me") {
			t.Errorf("got %v, want the routee's error", err)
		}
		_ = a.Ref().Tell(t.Context(), num(2))
		synctest.Wait()
		if got := shares(r); !equalShares(got, 4, 2) {
			t.Errorf("got %v, want 2 each by the old behaviour", got)
		}
	})
}

func TestAStoppedPoolWorksOffWhatItsRouteesAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		a := poolOf4(t, s, RoundRobin, gate, r)
		for range 4 {
			_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		}
		for i := range 100 {
			_ = a.Ref().Tell(t.Context(), num(i))
		}
		done := make(chan error, 1)
		go func() { done <- a.Stop(t.Context()) }()
		synctest.Wait()
		if err := a.Ref().Tell(t.Context(), num(1)); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("while it stops: got %v, want ErrStopped", err)
		}
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := shares(r); !equalShares(got, 4, 26) {
			t.Errorf("handled: got %v, want 26 each", got)
		}
	})
}

func TestRelativeTargetsOfARouteeStartAtThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, got := newSystem(t), make(chan actor.Path, 2)
		a := spawnSpec(t, s, Spec{Name: "p", Pool: &Pool[actor.Message]{Size: 2}, New: func() (actor.Behaviour, error) {
			return actor.Func(func(ctx actor.Context, _ actor.Message) error {
				ref, err := ctx.Resolve("../b")
				got <- ref.Path()
				return err
			}), nil
		}})
		_ = a.Ref().Tell(t.Context(), num(1))
		if g := <-got; g != "/user/b" {
			t.Errorf("got %s, want /user/b", g)
		}
	})
}

func TestAFailureThatIsEscalatedRestartsThePoolWithAllRoutees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		settings := DefaultSettings()
		rule := supervise.Default()
		rule.OnFailure = supervise.Escalate
		settings.Supervision = &rule
		parent := spawnFunc(t, s, "top", func(actor.Context, actor.Message) error { return nil })
		a, err := s.SpawnActor(parent.Path(), Spec{Name: "p", Settings: settings, Pool: &Pool[actor.Message]{Size: 3, Strategy: Broadcast}, New: func() (actor.Behaviour, error) {
			return &worker{seen: func(_ actor.Context, _ actor.Message, n int64) { r.add(fmt.Sprint("n ", n)) }}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = s.Lookup("/user/top/p/routee-1").Tell(t.Context(), actor.Message{Kind: "fail"})
		synctest.Wait()
		_ = a.Ref().Tell(t.Context(), num(1))
		synctest.Wait()
		r.want(t, "n 1", "n 1", "n 1", "n 1")
	})
}

func TestNothingIsLostWhileAPoolIsResizedUnderTraffic(t *testing.T) {
	for _, strategy := range []Strategy{RoundRobin, Random, SmallestMailbox, ConsistentHash} {
		t.Run(strategy.String(), func(t *testing.T) {
			s := newSystem(t)
			var handled, letters atomic.Int64
			s.Subscribe(func(e actor.Event) {
				if _, ok := e.(actor.DeadLetter); ok {
					letters.Add(1)
				}
			})
			key := byBody
			if strategy != ConsistentHash {
				key = nil
			}
			a := spawnSpec(t, s, Spec{Name: "p", Settings: DefaultSettings(), New: func() (actor.Behaviour, error) {
				return actor.Func(func(actor.Context, actor.Message) error { handled.Add(1); return nil }), nil
			}})
			const senders, each = 4, 5000
			var wg sync.WaitGroup
			for i := range senders {
				wg.Go(func() {
					for j := range each {
						if err := a.Ref().Tell(context.Background(), num(i*each+j)); err != nil {
							t.Errorf("tell: %v", err)
						}
					}
				})
			}
			for i := range 200 {
				if err := a.Resize(t.Context(), &Pool[actor.Message]{Size: 2 + i*7%9, Strategy: strategy, Key: key}); err != nil {
					t.Errorf("resize: %v", err)
				}
			}
			wg.Wait()
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if handled.Load() != senders*each || letters.Load() != 0 {
				t.Errorf("got %d handled and %d dead letters, want %d and 0", handled.Load(), letters.Load(), senders*each)
			}
		})
	}
}

func TestARoutedTellAllocatesNothing(t *testing.T) {
	for _, strategy := range []Strategy{RoundRobin, Random, SmallestMailbox, ConsistentHash} {
		s, gate := newSystem(t), make(chan struct{})
		p := &Pool[actor.Message]{Size: 4, Strategy: strategy}
		if strategy == ConsistentHash {
			p.Key = func(m actor.Message, _ actor.Ref) string { return m.Kind }
		}
		// The routees are held up, so that only telling is measured.
		a := spawnSpec(t, s, Spec{Name: "p", Pool: p, New: func() (actor.Behaviour, error) { return &worker{gate: gate}, nil }})
		if err := a.Started(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range a.Children() {
			_ = c.Ref().Tell(t.Context(), actor.Message{Kind: "hold"})
		}
		ref, m, ctx := a.Ref(), actor.Message{Kind: "n"}, context.Background()
		for range 5000 {
			_ = ref.Tell(ctx, m)
		}
		if n := testing.AllocsPerRun(1000, func() { _ = ref.Tell(ctx, m) }); n >= 1 {
			t.Errorf("%s: got %v allocations for a tell, want none but the queue's own chunks", strategy, n)
		}
		close(gate)
	}
}

func BenchmarkPoolTell(b *testing.B) {
	for _, strategy := range []Strategy{RoundRobin, Random, SmallestMailbox, ConsistentHash} {
		b.Run(strategy.String(), func(b *testing.B) {
			s := newSystem(b)
			p := &Pool[actor.Message]{Size: 4, Strategy: strategy}
			if strategy == ConsistentHash {
				p.Key = func(m actor.Message, _ actor.Ref) string { return m.Kind }
			}
			a := spawnSpec(b, s, Spec{Name: "p", Pool: p, New: func() (actor.Behaviour, error) {
				return actor.Func(func(actor.Context, actor.Message) error { return nil }), nil
			}})
			ref, m, ctx := a.Ref(), actor.Message{Kind: "n"}, context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_ = ref.Tell(ctx, m)
			}
		})
	}
}
