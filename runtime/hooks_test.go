package runtime

import (
	"context"
	"errors"
	"fmt"
	gort "runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// hooked is a behaviour of functions; those that are nil do nothing.
type hooked struct {
	start, stop func(actor.Context) error
	receive     actor.Func
	snapshot    func() (actor.State, error)
	restore     func(actor.State) error
}

func (h *hooked) Start(ctx actor.Context) error { return call(h.start, ctx) }
func (h *hooked) Stop(ctx actor.Context) error  { return call(h.stop, ctx) }
func (h *hooked) Receive(ctx actor.Context, m actor.Message) error {
	if h.receive == nil {
		return nil
	}
	return h.receive(ctx, m)
}

func (h *hooked) Snapshot() (actor.State, error) {
	if h.snapshot == nil {
		return actor.State{}, nil
	}
	return h.snapshot()
}

func (h *hooked) Restore(s actor.State) error {
	if h.restore == nil {
		return nil
	}
	return h.restore(s)
}

func call(f func(actor.Context) error, ctx actor.Context) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}

func make1(h *hooked) actor.Producer { return func() (actor.Behaviour, error) { return h, nil } }

// wrongs are the ways in which code of a behaviour goes wrong.
var wrongs = map[string]func() error{
	"error":  func() error { return errors.New("boom") },
	"panic":  func() error { panic("boom") },
	"goexit": func() error { gort.Goexit(); return nil },
}

func TestAStartThatGoesWrongIsAFailureAndIsTriedAgain(t *testing.T) {
	for how, wrong := range wrongs {
		for _, where := range []string{"producer", "start"} {
			t.Run(where+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, tries := newSystem(t), 0
					a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
						tries++
						bad := tries == 1
						if bad && where == "producer" {
							if err := wrong(); err != nil {
								return nil, err
							}
						}
						return &hooked{start: func(actor.Context) error {
							if bad {
								return wrong()
							}
							return nil
						}}, nil
					}})
					synctest.Wait()
					if err := a.Started(t.Context()); err == nil || !strings.Contains(err.Error(), "start: ") {
						t.Errorf("the outcome of the first start, asked for later: got %v, want its error", err)
					}
					_ = a.Ref().Tell(t.Context(), num(1))
					synctest.Wait()
					if i := a.Info(); i.State != "running" || i.Handled != 1 || i.Failed != 0 || tries != 2 {
						t.Errorf("got %+v after %d tries, want it running with 1 message handled and none failed", i, tries)
					}
				})
			})
		}
	}
}

func TestAStopHookThatGoesWrongStopsNothing(t *testing.T) {
	for how, wrong := range wrongs {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				bad := &hooked{stop: func(actor.Context) error { return wrong() }, receive: func(actor.Context, actor.Message) error { return errors.New("boom") }}
				a := spawnSpec(t, s, Spec{Name: "a", New: make1(bad)})
				_ = a.Ref().Tell(t.Context(), num(0)) // the hook runs for the restart as well
				synctest.Wait()
				if got := a.Info().Restarts; got != 1 {
					t.Errorf("restarts: got %d, want 1", got)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := a.Stop(ctx); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestOrdersBehindAHookThatEndsItsGoroutineAreObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSystem(t), make(chan struct{})
		a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
			<-gate
			gort.Goexit()
			return nil, nil
		}})
		stopped := make(chan error, 1)
		go func() { stopped <- a.StopNow(t.Context()) }()
		synctest.Wait()
		close(gate)
		synctest.Wait()
		select {
		case err := <-stopped:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the order to stop was lost")
		}
	})
}

func TestAProducerThatMakesNothingIsAFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		stop := supervise.Strategy{OnFailure: supervise.Stop}
		nothing := func() (actor.Behaviour, error) { return nil, nil }
		a := spawnSpec(t, s, Spec{Name: "a", New: nothing, Settings: Settings{Supervision: &stop}})
		if err := a.Started(t.Context()); !errors.Is(err, errNothing) {
			t.Errorf("got %v, want %v", err, errNothing)
		}
		b := spawnSpec(t, s, Spec{Name: "b", Settings: Settings{Supervision: &stop}})
		if err := b.Started(t.Context()); err == nil {
			t.Error("no producer: got no error")
		}
	})
}

func TestAnActorThatCannotStartHasNothingToResume(t *testing.T) {
	tests := []struct {
		name  string
		bad   int // starts that fail
		state string
	}{
		{"the budget of restarts gives it another try", 2, "running"},
		{"the budget ends", 5, "terminated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, tries := newSystem(t), 0
				strategy := supervise.Strategy{OnFailure: supervise.Resume, MaxRestarts: 2}
				a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Supervision: &strategy}, New: func() (actor.Behaviour, error) {
					if tries++; tries <= tt.bad {
						return nil, errors.New("boom")
					}
					return &hooked{}, nil
				}})
				_ = a.Ref().Tell(t.Context(), num(0))
				synctest.Wait()
				if i := a.Info(); i.State != tt.state || i.Failed != 0 || tries != 3 {
					t.Errorf("got %s with %d failed after %d tries, want %s, 0 and 3", i.State, i.Failed, tries, tt.state)
				}
			})
		})
	}
}

func TestWhatAStopHookArmsEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		var ended <-chan struct{}
		a := spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{stop: func(ctx actor.Context) error {
			ctx.Every(time.Millisecond, num(0))
			ended = ctx.Done()
			return nil
		}})})
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.timers.mu.Lock()
		armed := len(s.timers.queue)
		s.timers.mu.Unlock()
		if armed != 0 {
			t.Errorf("timers still armed: got %d, want 0", armed)
		}
		select {
		case <-ended:
		default:
			t.Error("the context of the stop hook is still open after the actor has ended")
		}
	})
}

// TestAnActorThatCannotStartCanBeStopped holds also where restarts are unlimited:
// a stop that waits for the queue must not wait for ever.
func TestAnActorThatCannotStartCanBeStopped(t *testing.T) {
	for _, backoff := range []time.Duration{0, time.Millisecond} {
		t.Run(fmt.Sprint("back-off ", backoff), func(t *testing.T) { stopWhatCannotStart(t, backoff) })
	}
}

func stopWhatCannotStart(t *testing.T, backoff time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s, bad := newSystem(t), false
		always := supervise.Strategy{MaxRestarts: supervise.Unlimited, Backoff: supervise.Backoff{Min: backoff}}
		var child actor.Ref
		spawnSpec(t, s, Spec{Name: "p", Settings: Settings{ChildSupervision: &always}, New: make1(&hooked{
			start: func(ctx actor.Context) (err error) {
				child, err = ctx.Spawn("c", func() (actor.Behaviour, error) {
					if bad {
						return nil, errors.New("cannot start")
					}
					return actor.Func(func(ctx actor.Context, m actor.Message) error {
						ctx.Stop(ctx.Self())
						bad = true
						return errors.New("boom")
					}), nil
				})
				return err
			},
		})})
		synctest.Wait()
		_ = child.Tell(t.Context(), num(0))
		time.Sleep(time.Second)
		if _, there := s.Find(child.Path()); there {
			t.Error("the child still tries to start after it was told to stop")
		}
	})
}
