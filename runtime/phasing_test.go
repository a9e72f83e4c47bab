package runtime

import (
	"context"
	"errors"
	"fmt"
	gort "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/phase"
)

// on registers a task that must be taken.
func on(t *testing.T, s *System, in, name string, f Task) (remove func()) {
	t.Helper()
	remove, err := s.OnShutdown(in, name, f)
	if err != nil {
		t.Fatal(err)
	}
	return remove
}

func adds(r *record, v any) Task { return func(context.Context) error { r.add(v); return nil } }

func TestAShutdownRunsTheTasksOfItsPhasesAndThenEndsTheActors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &record{}
		s := New("test", WithLogger(quiet), WithShutdown(phase.Settings{Phases: []phase.Phase{{Name: "flush", After: []string{phase.Terminate}}}}))
		spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{stop: func(actor.Context) error { r.add("actor"); return nil }})})
		synctest.Wait()
		on(t, s, "flush", "x", adds(r, "flush"))
		on(t, s, phase.BeforeTerminate, "x", adds(r, phase.BeforeTerminate))
		on(t, s, phase.ServiceUnbind, "x", func(ctx context.Context) error {
			r.add(phase.ServiceUnbind)
			if _, err := s.SpawnActor(actor.User, Spec{Name: "late", New: make1(&hooked{})}); err != nil {
				t.Errorf("spawn while requests are answered: %v", err)
			}
			return nil
		})
		on(t, s, phase.ServiceStop, "gone", adds(r, "gone"))()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.want(t, phase.ServiceUnbind, phase.BeforeTerminate, "actor", "flush")
		if _, err := s.SpawnActor(actor.User, Spec{Name: "b", New: make1(&hooked{})}); !errors.Is(err, actor.ErrTerminating) {
			t.Errorf("spawn afterwards: got %v, want ErrTerminating", err)
		}
	})
}

func TestTasksOfOnePhaseRunBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet), WithDrainTimeout(0))
		for i := range 10 {
			on(t, s, phase.ServiceStop, fmt.Sprint(i), func(context.Context) error { time.Sleep(3 * time.Second); return nil })
		}
		begun := time.Now()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(begun), 3*time.Second; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		rep := s.ShutdownReport()[3]
		if rep.Phase != phase.ServiceStop || len(rep.Tasks) != 10 || rep.Took != 3*time.Second {
			t.Errorf("report: got %+v, want ten tasks in 3s", rep)
		}
	})
}

func TestATaskThatDoesNotFinishIsNamedAndPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := New("test", WithLogger(quiet)), &record{}, make(chan struct{})
		on(t, s, phase.ServiceUnbind, "stuck", func(context.Context) error { <-gate; return nil })
		on(t, s, phase.ServiceUnbind, "quick", adds(r, "quick"))
		on(t, s, phase.ServiceUnbind, "obedient", func(ctx context.Context) error { <-ctx.Done(); return errors.New("gave up") })
		on(t, s, phase.ServiceStop, "next", adds(r, "next"))
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
					set := phase.Settings{Phases: []phase.Phase{{Name: phase.ServiceStop, Halt: halt}}}
					s := New("test", WithLogger(quiet), WithShutdown(set))
					on(t, s, phase.ServiceStop, "wrong", wrong)
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
		on(t, s, phase.ServiceStop, "x", func(context.Context) error { time.Sleep(time.Second); r.add("x"); return nil })
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
		on(t, s, phase.ServiceStop, "first", func(context.Context) error {
			for _, remove := range removes {
				remove()
			}
			if _, err := s.OnShutdown(phase.ServiceStop, "late", adds(r, "late")); !errors.Is(err, actor.ErrTerminating) {
				t.Errorf("to the same phase: got %v, want ErrTerminating", err)
			}
			on(t, s, phase.BeforeTerminate, "later", adds(r, "later"))
			return nil
		})
		removes = append(removes, on(t, s, phase.ServiceStop, "sibling", adds(r, "sibling")))
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
			remove := on(t, s, phase.ServiceStop, "listener :80", none)
			if _, err := s.OnShutdown(phase.ServiceStop, "listener :80", none); !errors.Is(err, actor.ErrNameTaken) {
				t.Errorf("got %v, want ErrNameTaken", err)
			}
			remove()
			remove()
		}
	})
}

func TestAPhaseWithTasksCannotBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := phase.Settings{Phases: []phase.Phase{{Name: "flush"}}}
		s := newSystem(t, WithShutdown(set))
		remove := on(t, s, "flush", "x", func(context.Context) error { return nil })
		if err := s.SetShutdown(phase.Settings{}); err == nil {
			t.Error("got no error")
		}
		remove()
		if err := s.SetShutdown(phase.Settings{}); err != nil {
			t.Error(err)
		}
	})
}

func TestATaskCannotWaitForTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet))
		on(t, s, phase.ServiceStop, "x", s.Shutdown)
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
		s := New("test", WithLogger(quiet), WithShutdown(phase.Settings{}))
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
	_, _ = s.OnShutdown(phase.ServiceUnbind, "listener", func(context.Context) error {
		fmt.Println("no new requests")
		return nil
	})
	_, _ = s.OnShutdown(phase.ServiceStop, "broker", func(context.Context) error {
		fmt.Println("disconnected")
		return nil
	})
	fmt.Println(s.Shutdown(context.Background()))
	// Output:
	// no new requests
	// disconnected
	// <nil>
}
