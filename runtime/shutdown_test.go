package runtime

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

func TestShutdownFromAHandlerIsRefused(t *testing.T) {
	for _, how := range []string{"with its context", "with another context"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, got := newSystem(t), error(nil)
				a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
					if how == "with its context" {
						got = s.Shutdown(ctx)
					} else {
						got = s.Shutdown(context.Background())
					}
					return nil
				})
				tellKind(t, a, "x")
				synctest.Wait()
				if !errors.Is(got, actor.ErrWouldDeadlock) {
					t.Errorf("got %v, want ErrWouldDeadlock", got)
				}
				if state := a.Info().State; state != "running" {
					t.Errorf("afterwards: got %s, want the system to go on", state)
				}
			})
		})
	}
}

func TestAHandlerMayShutAnotherSystemDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other, got := newSystem(t), New("other", WithLogger(quiet)), errors.New("not called")
		synctest.Wait()
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			got = other.Shutdown(ctx)
			return nil
		})
		tellKind(t, a, "x")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got != nil {
			t.Errorf("got %v, want nil", got)
		}
	})
}

func TestAShutdownThatDoesNotEndNamesWhoItWaitsForAndCanBeWaitedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := New("test", WithLogger(quiet), WithDrainTimeout(0)), make(chan struct{})
		set := Settings{HandlerWarn: time.Second}
		a := spawnSpec(t, s, Spec{Name: "stuck", Settings: set, New: onKind(&record{}, map[string]actor.Func{
			"hold": func(actor.Context, actor.Message) error { <-gate; return nil },
		})})
		tellKind(t, a, "hold")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.Shutdown(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "in a handler: /user/stuck (for 1m") {
			t.Errorf("got %v, want the deadline and the name of the handler with its time", err)
		}
		close(gate)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("again: got %v, want nil", err)
		}
	})
}

// slowRecord collects the reports of slow handlers.
func slowRecord(s *System) *record {
	r := &record{}
	s.Subscribe(func(e actor.Event) {
		if slow, ok := e.(actor.SlowHandler); ok {
			r.add(slow.Running.Round(time.Second))
		}
	})
	return r
}

func TestASlowHandlerIsReportedAtEveryDoubling(t *testing.T) {
	for _, where := range []string{"handler", "start hook"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				r := slowRecord(s)
				slow := func() { time.Sleep(100 * time.Second) }
				h := &hooked{receive: func(actor.Context, actor.Message) error { slow(); return nil }}
				if where == "start hook" {
					h = &hooked{start: func(actor.Context) error { slow(); return nil }}
				}
				a := spawnSpec(t, s, Spec{Name: "a", Settings: DefaultSettings(), New: make1(h)})
				if where == "handler" {
					tellKind(t, a, "x")
				}
				time.Sleep(200 * time.Second)
				r.want(t, 10*time.Second, 20*time.Second, 40*time.Second, 80*time.Second)
			})
		})
	}
}

func TestAHandlerThatGetsOnIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		r := slowRecord(s)
		a := spawnSpec(t, s, Spec{Name: "a", Settings: DefaultSettings(), New: make1(&hooked{receive: func(actor.Context, actor.Message) error {
			time.Sleep(9 * time.Second)
			return nil
		}})})
		for range 20 {
			tellKind(t, a, "x") // one turn takes three minutes
		}
		time.Sleep(4 * time.Minute)
		r.want(t)
	})
}

func TestHandlerWarnCanBeTurnedOnAndOffLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		r := slowRecord(s)
		a := spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{receive: func(actor.Context, actor.Message) error {
			time.Sleep(time.Hour)
			return nil
		}})})
		tellKind(t, a, "x")
		time.Sleep(10 * time.Minute)
		r.want(t)
		if err := a.Update(Settings{HandlerWarn: time.Minute}, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(80 * time.Second)
		r.want(t, time.Minute)
		if err := a.Update(Settings{}, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		r.want(t, time.Minute)
	})
}

func TestAnIdleSystemIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		a := spawnSpec(t, s, Spec{Name: "a", Settings: DefaultSettings(), New: make1(&hooked{})})
		tellKind(t, a, "x")
		time.Sleep(time.Minute)
		synctest.Wait()
		s.timers.mu.Lock()
		armed, running := len(s.timers.queue), s.timers.running
		s.timers.mu.Unlock()
		if armed != 0 || running {
			t.Errorf("an idle system has %d timers armed (goroutine: %v), want none", armed, running)
		}
	})
}

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		var bad Settings
		bad.Mailbox.Capacity = -1
		if _, err := s.SpawnActor(actor.User, Spec{Name: "a", New: make1(&hooked{}), Settings: bad}); err == nil {
			t.Error("spawn: got no error")
		}
		a := spawnSpec(t, s, Spec{Name: "a", New: make1(&hooked{})})
		if err := a.Update(bad, nil); err == nil {
			t.Error("update: got no error")
		}
	})
}
