package runtime

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// says is a behaviour that records name for every message but "fail" and "hold".
func says(r *record, name string, gate <-chan struct{}) actor.Producer {
	return onKind(r, map[string]actor.Func{
		"fail": boom,
		"who":  func(actor.Context, actor.Message) error { r.add(name); return nil },
		"hold": func(actor.Context, actor.Message) error { <-gate; return nil },
	})
}

func TestASwapThatWasGivenUpDoesNotHappenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		a := spawnSpec(t, s, Spec{Name: "a", New: says(r, "old", gate)})
		tellKind(t, a, "hold")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Swap(ctx, says(r, "new", gate), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		close(gate)
		tellKind(t, a, "who")
		synctest.Wait()
		r.want(t, "old")
	})
}

func TestASwapOfAFailedActorIsDoneWhenItIsKnownHowItGoesOn(t *testing.T) {
	for _, d := range []supervise.Directive{supervise.Resume, supervise.Restart, supervise.Stop} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r, gate := newSystem(t), &record{}, make(chan struct{})
				strategy := supervise.Strategy{OnFailure: d, MaxRestarts: 1, Backoff: supervise.Backoff{Min: time.Second}}
				p := spawnSpec(t, s, Spec{Name: "p", New: says(r, "p", gate)})
				a := spawnBelow(t, s, "/user/p", Spec{Name: "a", Settings: Settings{Supervision: &strategy}, New: says(r, "old", gate)})
				synctest.Wait()
				tellKind(t, p, "hold")
				synctest.Wait()
				tellKind(t, a, "fail", "who")
				synctest.Wait()
				swapped := make(chan error, 1)
				go func() { swapped <- a.Swap(t.Context(), says(r, "new", gate), nil) }()
				synctest.Wait()
				close(gate)
				err := <-swapped
				if d == supervise.Stop {
					if !errors.Is(err, actor.ErrStopped) {
						t.Errorf("got %v, want ErrStopped", err)
					}
					return
				}
				if err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second)
				tellKind(t, a, "who")
				synctest.Wait()
				if got := r.all(); len(got) != 2 || got[1] != "new" {
					t.Errorf("got %v, want two messages, the last one handled by the new behaviour", got)
				}
			})
		})
	}
}

func TestTheLastOfSeveralSwapsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate, slow := newSystem(t), &record{}, make(chan struct{}), make(chan struct{})
		child := make1(&hooked{stop: func(actor.Context) error { <-slow; return nil }})
		a := spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{start: func(ctx actor.Context) error {
			_, err := ctx.Spawn("c", child)
			return err
		}})})
		synctest.Wait()
		swapped := make(chan error, 2)
		for _, name := range []string{"first", "second"} {
			go func() { swapped <- a.Swap(t.Context(), says(r, name, gate), nil) }()
			synctest.Wait()
		}
		close(slow)
		for range 2 {
			if err := <-swapped; err != nil {
				t.Error(err)
			}
		}
		tellKind(t, a, "who", "fail", "who")
		synctest.Wait()
		r.want(t, "second", "second")
	})
}

func TestASwapThatGoesWrongLeavesTheOldBehaviourWithItsState(t *testing.T) {
	state := actor.State{Version: 1, Data: []byte("42")}
	for how, wrong := range wrongs {
		tests := map[string]*hooked{
			"restore": {restore: func(actor.State) error { return wrong() }},
			"start":   {start: func(actor.Context) error { return wrong() }},
		}
		for where, bad := range tests {
			t.Run(where+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, got := newSystem(t), ""
					a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
						mine := "42"
						if got != "" {
							mine = ""
						}
						return &hooked{
							snapshot: func() (actor.State, error) { return state, nil },
							restore:  func(s actor.State) error { mine = string(s.Data); return nil },
							receive:  func(actor.Context, actor.Message) error { got = "old with " + mine; return nil },
						}, nil
					}})
					synctest.Wait()
					if err := a.Swap(t.Context(), make1(bad), nil); err == nil {
						t.Error("got no error")
					}
					tellKind(t, a, "x")
					synctest.Wait()
					if got != "old with 42" {
						t.Errorf("got %q, want the old behaviour with its state", got)
					}
				})
			})
		}
	}
}

func TestAReconfigureThatGoesWrongChangesNothing(t *testing.T) {
	for how, wrong := range wrongs {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				a := spawnSpec(t, s, Spec{Name: "a", New: says(r, "old", nil)})
				synctest.Wait()
				err := a.Swap(t.Context(), says(r, "new", nil), func(actor.Context, actor.Behaviour) (bool, error) { return true, wrong() })
				if err == nil {
					t.Error("got no error")
				}
				tellKind(t, a, "who", "fail", "who")
				synctest.Wait()
				r.want(t, "old", "old")
			})
		})
	}
}

func TestWhenTheWayBackIsClosedTheActorHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, made := newSystem(t), 0
		stop := supervise.Strategy{OnFailure: supervise.Stop}
		a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Supervision: &stop}, New: func() (actor.Behaviour, error) {
			if made++; made > 1 {
				panic("not again")
			}
			return &hooked{}, nil
		}})
		synctest.Wait()
		err := a.Swap(t.Context(), make1(&hooked{start: func(actor.Context) error { return errors.New("boom") }}), nil)
		if err == nil {
			t.Error("got no error")
		}
		synctest.Wait()
		if got := a.Info().State; got != "terminated" {
			t.Errorf("got %s, want its supervision to end it", got)
		}
	})
}

func TestOnlyBehavioursCanBeSwapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		if _, err := Spawn(s, "typed", &Props[actor.Message]{New: func() (Receiver[actor.Message], error) { return idle[actor.Message]{}, nil }}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		a, _ := s.Find("/user/typed")
		if err := a.Swap(t.Context(), make1(&hooked{}), nil); !errors.Is(err, actor.ErrUnsupported) {
			t.Errorf("got %v, want ErrUnsupported", err)
		}
	})
}

// idle is a receiver that does nothing.
type idle[T any] struct{}

func (idle[T]) Receive(*Context[T], T) error { return nil }
