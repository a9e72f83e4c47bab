package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// lettersOf records the dead letters of s as "recipient reason".
func lettersOf(s *System) *record {
	r := &record{}
	s.Subscribe(func(e actor.Event) {
		if d, ok := e.(actor.DeadLetter); ok {
			r.add(fmt.Sprintf("%s %s", d.Recipient, d.Reason))
		}
	})
	return r
}

func TestAPriorityThatPanicsIsTheLastInLineAndNotTheSendersProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		rank := func(m actor.Message, _ actor.Ref) float64 {
			switch m.Kind {
			case "panic":
				panic("rank")
			case "nan":
				return math.NaN()
			}
			return 1
		}
		a := spawnSpec(t, s, Spec{Name: "a", Priority: rank, New: onKind(r, map[string]actor.Func{
			"hold": func(actor.Context, actor.Message) error { <-gate; return nil },
		})})
		tellKind(t, a, "hold")
		synctest.Wait()
		for _, k := range []string{"panic", "nan", "x", "nan", "y"} {
			if err := a.Ref().Tell(t.Context(), actor.Message{Kind: k}); err != nil {
				t.Errorf("tell %s: %v", k, err)
			}
		}
		if err := a.Update(Settings{}, rank); err != nil { // ranks what is queued again
			t.Error(err)
		}
		close(gate)
		synctest.Wait()
		r.want(t, "x", "y", "panic", "nan", "nan")
	})
}

func TestABoundedMailboxCannotLoseADeathNotice(t *testing.T) {
	for _, box := range []mailbox.Settings{
		{Capacity: 1, Overflow: mailbox.DropHead}, {Capacity: 1, Overflow: mailbox.DropNew}, {Capacity: 1, Overflow: mailbox.Reject},
		{Capacity: 1, Overflow: mailbox.Block}, {Capacity: 1, Overflow: mailbox.DropLowest},
	} {
		t.Run(box.Overflow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r, gate := newSystem(t), &record{}, make(chan struct{})
				target := spawnFunc(t, s, "target", func(actor.Context, actor.Message) error { return nil })
				spec := Spec{Name: "w", Settings: Settings{Mailbox: box}, New: onKind(r, map[string]actor.Func{
					"watch": func(ctx actor.Context, _ actor.Message) error {
						defer func() { <-gate }()
						return ctx.Watch(ctx.Lookup("/user/target"))
					},
				})}
				if box.Overflow == mailbox.DropLowest {
					spec.Priority = func(actor.Message, actor.Ref) float64 { return -1 }
				}
				w := spawnSpec(t, s, spec)
				tellKind(t, w, "watch")
				synctest.Wait()
				tellKind(t, w, "x")
				_ = target.Stop(t.Context())
				tellKind(t, w, "x", "x", "x")
				close(gate)
				synctest.Wait()
				if got := r.all(); !slices.Contains(got, any(actor.KindTerminated)) {
					t.Errorf("got %v, want a death notice among them", got)
				}
			})
		})
	}
}

func TestTicksAndEventsDoNotTakeThePlaceOfASenderThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		box := mailbox.Settings{Capacity: 1, Overflow: mailbox.Block, BlockTimeout: time.Minute}
		a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Mailbox: box}, New: onKind(r, map[string]actor.Func{
			"hold": func(ctx actor.Context, m actor.Message) error {
				ctx.Every(time.Millisecond, actor.Message{Kind: "tick"})
				<-gate
				return nil
			},
		})})
		tellKind(t, a, "hold")
		synctest.Wait()
		tellKind(t, a, "first")
		for range 5 {
			s.TellEvent("/user/a", actor.Stopped{Path: "/user/x"})
		}
		time.Sleep(5 * time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- a.Ref().Tell(context.Background(), actor.Message{Kind: "second"}) }()
		synctest.Wait()
		began := time.Now()
		close(gate)
		if err := <-done; err != nil || time.Since(began) > time.Millisecond {
			t.Errorf("got %v after %v, want nil as soon as there was room", err, time.Since(began))
		}
		if a.Info().Dropped < 5 {
			t.Errorf("dropped: got %d, want the ticks and events that were refused", a.Info().Dropped)
		}
	})
}

func TestSendersThatWaitForRoomAreReleased(t *testing.T) {
	tests := []struct {
		name string
		do   func(*Actor)
		want error
	}{
		{"when the actor stops", func(a *Actor) { go a.Stop(context.Background()) }, actor.ErrStopped},
		{"when it stops at once", func(a *Actor) { go a.StopNow(context.Background()) }, actor.ErrStopped},
		{"when the bound goes", func(a *Actor) { _ = a.Update(Settings{}, nil) }, nil},
		{"when the policy changes", func(a *Actor) {
			_ = a.Update(Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.Reject}}, nil)
		}, actor.ErrFull},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r, gate := newSystem(t), &record{}, make(chan struct{})
				box := mailbox.Settings{Capacity: 1, Overflow: mailbox.Block, BlockTimeout: time.Hour}
				a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Mailbox: box}, New: onKind(r, map[string]actor.Func{
					"hold": func(actor.Context, actor.Message) error { <-gate; return nil },
				})})
				tellKind(t, a, "hold")
				synctest.Wait()
				tellKind(t, a, "x")
				done := make(chan error, 3)
				for range 3 {
					go func() { done <- a.Ref().Tell(context.Background(), actor.Message{Kind: "y"}) }()
				}
				synctest.Wait()
				tt.do(a)
				synctest.Wait()
				if tt.want == actor.ErrStopped && len(done) == 0 { // a stop at once takes effect behind the handler
					close(gate)
					gate = nil
				}
				began := time.Now()
				for range 3 {
					if err := <-done; !errors.Is(err, tt.want) {
						t.Errorf("got %v, want %v", err, tt.want)
					}
				}
				if time.Since(began) > 0 {
					t.Errorf("released after %v, want at once", time.Since(began))
				}
				if gate != nil {
					close(gate)
				}
			})
		})
	}
}

func TestWhatAFullReceiverRefusesIsNotLostWhenTheReceiverOrTheSystemEnds(t *testing.T) {
	tests := []struct {
		name   string
		onFull OnFull
		end    func(s *System, target *Actor)
		want   string
	}{
		{"retry, and the receiver stops", Retry, func(_ *System, a *Actor) { _ = a.StopNow(context.Background()) }, "/user/b stopped"},
		{"retry, and the system ends", Retry, func(s *System, _ *Actor) { _ = s.Shutdown(context.Background()) }, "/user/b terminating"},
		{"block, and the receiver stops", BlockOnFull, func(_ *System, a *Actor) { _ = a.StopNow(context.Background()) }, "/user/b stopped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, gate := newSystem(t, WithDrainTimeout(0)), make(chan struct{})
				letters := lettersOf(s)
				box := mailbox.Settings{Capacity: 1, Overflow: mailbox.Reject}
				b := spawnSpec(t, s, Spec{Name: "b", Settings: Settings{Mailbox: box}, New: onKind(&record{}, map[string]actor.Func{
					"hold": func(actor.Context, actor.Message) error { <-gate; return nil },
				})})
				tellKind(t, b, "hold")
				synctest.Wait()
				a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{OnFull: tt.onFull}, New: func() (actor.Behaviour, error) {
					return actor.Func(func(ctx actor.Context, m actor.Message) error { return ctx.Tell(ctx.Lookup("/user/b"), m) }), nil
				}})
				tellKind(t, a, "one", "two")
				synctest.Wait()
				go tt.end(s, b)
				synctest.Wait()
				close(gate)
				time.Sleep(time.Minute)
				synctest.Wait()
				got := letters.all()
				slices.SortFunc(got, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
				if want := []any{"/user/b stopped", tt.want}; !slices.Equal(got, want) {
					t.Errorf("dead letters: got %v, want %v", got, want)
				}
			})
		})
	}
}

func TestCancelReportsWhetherItPreventedADelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		var cancel func() bool
		a := spawnSpec(t, s, Spec{Name: "a", New: onKind(r, map[string]actor.Func{
			"queued": func(ctx actor.Context, _ actor.Message) error {
				cancel := ctx.After(time.Millisecond, actor.Message{Kind: "never"})
				time.Sleep(time.Second) // the tick is in the mailbox by now
				if !cancel() || cancel() {
					t.Error("a tick that is queued: cancel must report true, once")
				}
				return nil
			},
			"fire": func(ctx actor.Context, _ actor.Message) error {
				cancel = ctx.After(time.Millisecond, actor.Message{Kind: "tick"})
				return nil
			},
		})})
		tellKind(t, a, "queued", "fire")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if cancel() {
			t.Error("a tick that was handled: cancel reports true, want false")
		}
		r.want(t, "tick")
	})
}

func TestTimersThatAreOverAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, most := newSystem(t), 0
		var c *cell[actor.Message]
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			for range 10 {
				if cancel := ctx.After(time.Millisecond, actor.Message{}); m.Kind == "cancel" {
					cancel()
				}
			}
			most = max(most, len(c.x.timers))
			return nil
		})
		c = a.node.body.(*cell[actor.Message])
		for range 1000 {
			tellKind(t, a, "cancel")
			synctest.Wait()
		}
		if most > 2*timersAtFirst {
			t.Errorf("timers kept: got %d at most, want at most %d", most, 2*timersAtFirst)
		}
	})
}

func TestLettersComeBackInFrontAndInOrder(t *testing.T) {
	ranks := map[string]Ranker{"fifo": nil, "ranked": func(actor.Message, actor.Ref) float64 { return 1 }}
	for name, rank := range ranks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				var kept []actor.Letter
				keep := true
				resume := supervise.Strategy{OnFailure: supervise.Resume}
				a := spawnSpec(t, s, Spec{Name: "a", Priority: rank, Settings: Settings{Supervision: &resume}, New: func() (actor.Behaviour, error) {
					return actor.Func(func(ctx actor.Context, m actor.Message) error {
						if keep {
							kept = append(kept, ctx.Letter())
							if len(kept) == 3 {
								keep = false
								ctx.Handle().Fail(errors.New("boom"), kept...)
							}
							return nil
						}
						r.add(m.Kind)
						return nil
					}), nil
				}})
				tellKind(t, a, "1", "2", "3", "4", "5", "6")
				synctest.Wait()
				r.want(t, "1", "2", "3", "4", "5", "6")
				if got := a.Info().Handled; got != 6 {
					t.Errorf("handled: got %d, want 6", got)
				}
			})
		})
	}
}

func TestLettersForAnActorThatHasEndedAreDeadAndCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		letters := lettersOf(s)
		var l actor.Letter
		var h actor.Handle
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error { l, h = ctx.Letter(), ctx.Handle(); return nil })
		tellKind(t, a, "x")
		_ = a.Stop(t.Context())
		if h.Fail(errors.New("boom"), l) {
			t.Error("fail after the end: got true, want false")
		}
		letters.want(t, "/user/a stopped")
		if i := a.Info(); i.Handled != 0 || i.DeadLettered != 1 {
			t.Errorf("got %d handled and %d dead letters, want 0 and 1", i.Handled, i.DeadLettered)
		}
	})
}
