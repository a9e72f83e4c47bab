package runtime

import (
	"context"
	"errors"
	"fmt"
	gort "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

func names(phases []Phase) (out []string) {
	for _, p := range phases {
		out = append(out, p.Name)
	}
	return out
}

func TestPhasesFollowEachOther(t *testing.T) {
	with := func(at int, name string) []string { return slices.Insert(PhaseNames(), at, name) }
	for _, tc := range []struct {
		name   string
		phases []Phase
		want   []string
	}{
		{"there are twelve", nil, PhaseNames()},
		{"one of the author comes right behind what it follows", []Phase{{Name: "flush", After: []string{PhaseServiceStop}}}, with(4, "flush")},
		{"one that follows the last comes last", []Phase{{Name: "flush", After: []string{PhaseTerminate}}}, with(12, "flush")},
		{"one that follows nothing comes first", []Phase{{Name: "flush"}}, with(0, "flush")},
		{"one of those that are always there may follow one of the author", []Phase{
			{Name: "flush", After: []string{PhaseServiceUnbind}}, {Name: PhaseServiceRequestsDone, After: []string{"flush"}},
		}, with(2, "flush")},
		{"they may follow each other", []Phase{
			{Name: "b", After: []string{"a"}}, {Name: "a", After: []string{PhaseTerminate}},
		}, append(PhaseNames(), "a", "b")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ShutdownSettings{Phases: tc.phases}.order()
			if err != nil || !slices.Equal(names(got), tc.want) {
				t.Errorf("got %q, %v; want %q", names(got), err, tc.want)
			}
		})
	}
}

func TestPhasesThatAreWrongAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		set  ShutdownSettings
		want string
	}{
		{"one that follows an unknown one", ShutdownSettings{Phases: []Phase{{Name: "flush", After: []string{"service-stopp"}}}},
			`phase flush: it is to follow "service-stopp", which does not exist; did you mean "service-stop"?`},
		{"two of one name", ShutdownSettings{Phases: []Phase{{Name: "a"}, {Name: "a"}}}, "phase a: there are two of that name"},
		{"two that follow each other", ShutdownSettings{Phases: []Phase{{Name: "a", After: []string{"b"}}, {Name: "b", After: []string{"a"}}}},
			"phase a: phases follow each other in a circle: a follows b follows a"},
		{"an early one that follows a late one", ShutdownSettings{Phases: []Phase{
			{Name: "a", After: []string{PhaseServiceRequestsDone}}, {Name: PhaseServiceUnbind, After: []string{"a"}},
		}}, "in a circle: a follows service-requests-done follows service-unbind follows a"},
		{"a drain that does not fit", ShutdownSettings{DefaultTimeout: 2 * time.Second},
			"phase actor-system-terminate: its timeout of 2s must be longer than the 2s for which a shutdown waits"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.set.Check(2 * time.Second)
			if _, ok := errors.AsType[*PhaseError](err); !ok || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a PhaseError with %q", err, tc.want)
			}
		})
	}
}

// on registers a task that must be taken.
func on(t *testing.T, s *System, phase, name string, f Task) (remove func()) {
	t.Helper()
	remove, err := s.OnShutdown(phase, name, f)
	if err != nil {
		t.Fatal(err)
	}
	return remove
}

func adds(r *record, v any) Task { return func(context.Context) error { r.add(v); return nil } }

func TestAShutdownRunsTheTasksOfItsPhasesAndThenEndsTheActors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &record{}
		s := New("test", WithLogger(quiet), WithShutdown(ShutdownSettings{Phases: []Phase{{Name: "flush", After: []string{PhaseTerminate}}}}))
		spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{stop: func(actor.Context) error { r.add("actor"); return nil }})})
		synctest.Wait()
		on(t, s, "flush", "x", adds(r, "flush"))
		on(t, s, PhaseBeforeTerminate, "x", adds(r, PhaseBeforeTerminate))
		on(t, s, PhaseServiceUnbind, "x", func(ctx context.Context) error {
			r.add(PhaseServiceUnbind)
			if _, err := s.SpawnActor(actor.User, Spec{Name: "late", New: make1(&hooked{})}); err != nil {
				t.Errorf("spawn while requests are answered: %v", err)
			}
			return nil
		})
		on(t, s, PhaseServiceStop, "gone", adds(r, "gone"))()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.want(t, PhaseServiceUnbind, PhaseBeforeTerminate, "actor", "flush")
		if _, err := s.SpawnActor(actor.User, Spec{Name: "b", New: make1(&hooked{})}); !errors.Is(err, actor.ErrTerminating) {
			t.Errorf("spawn afterwards: got %v, want ErrTerminating", err)
		}
	})
}

func TestTasksOfOnePhaseRunBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet), WithDrainTimeout(0))
		for i := range 10 {
			on(t, s, PhaseServiceStop, fmt.Sprint(i), func(context.Context) error { time.Sleep(3 * time.Second); return nil })
		}
		begun := time.Now()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(begun), 3*time.Second; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		rep := s.ShutdownReport()[3]
		if rep.Phase != PhaseServiceStop || len(rep.Tasks) != 10 || rep.Took != 3*time.Second {
			t.Errorf("report: got %+v, want ten tasks in 3s", rep)
		}
	})
}

func TestATaskThatDoesNotFinishIsNamedAndPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := New("test", WithLogger(quiet)), &record{}, make(chan struct{})
		on(t, s, PhaseServiceUnbind, "stuck", func(context.Context) error { <-gate; return nil })
		on(t, s, PhaseServiceUnbind, "quick", adds(r, "quick"))
		on(t, s, PhaseServiceUnbind, "obedient", func(ctx context.Context) error { <-ctx.Done(); return errors.New("gave up") })
		on(t, s, PhaseServiceStop, "next", adds(r, "next"))
		err := s.Shutdown(t.Context())
		close(gate)
		for _, want := range []string{
			"phase service-unbind: stuck: it did not finish: phase service-unbind took longer than 5s",
			"phase service-unbind: obedient: gave up",
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		r.want(t, "quick", "next")
		select {
		case <-s.Ended():
		default:
			t.Error("the system has not ended")
		}
		if got := s.ShutdownReport()[1].Tasks; !got[0].Unfinished || got[1].Unfinished || got[2].Unfinished {
			t.Errorf("report: got %+v, want the first one unfinished", got)
		}
	})
}

func TestAPhaseThatIsNotToBePassedOverEndsTheShutdown(t *testing.T) {
	for how, wrong := range map[string]Task{
		"error":  func(context.Context) error { return errors.New("boom") },
		"panic":  func(context.Context) error { panic("boom") },
		"goexit": func(context.Context) error { gort.Goexit(); return nil },
	} {
		for _, halt := range []bool{false, true} {
			t.Run(fmt.Sprint(how, halt), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					set := ShutdownSettings{Phases: []Phase{{Name: PhaseServiceStop, Halt: halt}}}
					s := New("test", WithLogger(quiet), WithShutdown(set))
					on(t, s, PhaseServiceStop, "wrong", wrong)
					for range 2 {
						if err := s.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "phase service-stop: wrong: ") {
							t.Errorf("got %v, want the task's error", err)
						}
					}
					ended := false
					select {
					case <-s.Ended():
						ended = true
					default:
					}
					if ended == halt {
						t.Errorf("ended: got %v, want %v", ended, !halt)
					}
					if last := s.ShutdownReport()[11]; (last.Skipped != "") != halt {
						t.Errorf("the last phase: got %+v", last)
					}
					if halt {
						s.close(t.Context()) // what the test leaves
					}
				})
			})
		}
	}
}

func TestThereIsOneShutdownWhoeverAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := New("test", WithLogger(quiet)), &record{}
		on(t, s, PhaseServiceStop, "x", func(context.Context) error { time.Sleep(time.Second); r.add("x"); return nil })
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if err := s.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() { <-s.BeginShutdown() })
		wg.Go(func() {
			time.Sleep(time.Millisecond)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := s.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "in phase service-stop, x") {
				t.Errorf("an impatient one: got %v, want what it waits for", err)
			}
		})
		wg.Wait()
		r.want(t, "x")
	})
}

func TestAPhaseRunsTheTasksThatItHasWhenItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := New("test", WithLogger(quiet)), &record{}
		var removes []func()
		on(t, s, PhaseServiceStop, "first", func(context.Context) error {
			for _, remove := range removes {
				remove()
			}
			if _, err := s.OnShutdown(PhaseServiceStop, "late", adds(r, "late")); !errors.Is(err, actor.ErrTerminating) {
				t.Errorf("to the same phase: got %v, want ErrTerminating", err)
			}
			on(t, s, PhaseBeforeTerminate, "later", adds(r, "later"))
			return nil
		})
		removes = append(removes, on(t, s, PhaseServiceStop, "sibling", adds(r, "sibling")))
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.want(t, "sibling", "later")
	})
}

func TestATaskNeedsAPhaseAndANameOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		none := func(context.Context) error { return nil }
		if _, err := s.OnShutdown("service-sto", "x", none); err == nil || !strings.Contains(err.Error(), `did you mean "service-stop"`) {
			t.Errorf("got %v, want a suggestion", err)
		}
		for range 3 { // what is taken back can come again
			remove := on(t, s, PhaseServiceStop, "listener :80", none)
			if _, err := s.OnShutdown(PhaseServiceStop, "listener :80", none); !errors.Is(err, actor.ErrNameTaken) {
				t.Errorf("got %v, want ErrNameTaken", err)
			}
			remove()
			remove()
		}
	})
}

func TestAPhaseWithTasksCannotBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := ShutdownSettings{Phases: []Phase{{Name: "flush"}}}
		s := newSystem(t, WithShutdown(set))
		remove := on(t, s, "flush", "x", func(context.Context) error { return nil })
		if err := s.SetShutdown(ShutdownSettings{}); err == nil {
			t.Error("got no error")
		}
		remove()
		if err := s.SetShutdown(ShutdownSettings{}); err != nil {
			t.Error(err)
		}
	})
}

func TestATaskCannotWaitForTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet))
		on(t, s, PhaseServiceStop, "x", s.Shutdown)
		if err := s.Shutdown(t.Context()); !errors.Is(err, actor.ErrWouldDeadlock) {
			t.Errorf("got %v, want ErrWouldDeadlock", err)
		}
	})
}

func TestAHandlerMayBeginAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet))
		a := spawnFunc(t, s, "a", func(actor.Context, actor.Message) error { s.BeginShutdown(); return nil })
		tellKind(t, a, "x")
		<-s.Ended()
	})
}

func TestActorsThatTakeLongerThanTheirPhaseAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet), WithShutdown(ShutdownSettings{}))
		gate := make(chan struct{})
		a := spawnFunc(t, s, "slow", func(actor.Context, actor.Message) error { <-gate; return nil })
		tellKind(t, a, "x")
		synctest.Wait()
		err := s.Shutdown(t.Context())
		if err == nil || !strings.Contains(err.Error(), "took longer than 5s") || !strings.Contains(err.Error(), "/user/slow") {
			t.Errorf("got %v, want the time and /user/slow", err)
		}
		close(gate)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("again: got %v", err)
		}
	})
}

func TestWhatWasToldBeforeTheShutdownIsHandled(t *testing.T) {
	for _, n := range []int{0, 1, 2, 62, 63, 64, 255, 256, 257, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, got := New("test", WithLogger(quiet)), 0
				a := spawnFunc(t, s, "a", func(actor.Context, actor.Message) error { got++; return nil })
				for i := range n {
					_ = a.Ref().Tell(t.Context(), num(i))
				}
				if err := s.Shutdown(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got != n {
					t.Errorf("got %d, want %d", got, n)
				}
			})
		})
	}
}

func ExampleSystem_OnShutdown() {
	s := New("orders", WithLogger(quiet))
	_, _ = s.OnShutdown(PhaseServiceUnbind, "listener", func(context.Context) error {
		fmt.Println("no new requests")
		return nil
	})
	_, _ = s.OnShutdown(PhaseServiceStop, "broker", func(context.Context) error {
		fmt.Println("disconnected")
		return nil
	})
	fmt.Println(s.Shutdown(context.Background()))
	// Output:
	// no new requests
	// disconnected
	// <nil>
}
