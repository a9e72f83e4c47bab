package runtime

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// verdict is how a delivery ended: "open", "ok" or the error.
type verdict struct {
	mu   sync.Mutex // guards what follows
	ends int
	text string
}

func (v *verdict) settle(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ends++
	v.text = "ok"
	if err != nil {
		v.text = err.Error()
	}
}

// want waits until all is quiet and checks how the delivery ended; an open one
// has not been settled, others once.
func (v *verdict) want(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	if once := v.ends == 1; v.text != want || once != (want != "open") {
		t.Errorf("got %s, settled %d times; want %s", v.text, v.ends, want)
	}
}

// deliver offers one message of a kind to /user/a as a bridge would.
func deliver(t *testing.T, s *System, kind string, timeout time.Duration) *verdict {
	t.Helper()
	v := &verdict{text: "open"}
	d := actor.NewDelivery(timeout, v.settle)
	if res := actor.Offer(actor.Track(context.Background(), d), s.Lookup("/user/a"), actor.Message{Kind: kind}); res != actor.Accepted {
		t.Fatalf("offer: got %v, want accepted", res)
	}
	d.Done(nil)
	return v
}

// tracked is the behaviour of /user/a: it does what a message's kind says.
type tracked struct{ release *func(error) }

func (b tracked) Receive(ctx actor.Context, m actor.Message) error {
	tell := func(to actor.Path, kind string) error { return ctx.Tell(ctx.Lookup(to), actor.Message{Kind: kind}) }
	switch m.Kind {
	case "fail":
		return errors.New("boom")
	case "panic":
		panic("boom")
	case "tell":
		return tell("/user/b", "x")
	case "tell-fail":
		return tell("/user/b", "fail")
	case "fan-out":
		_ = tell("/user/b", "x")
		return tell("/user/b", "x")
	case "nobody":
		return tell("/user/nobody", "x")
	case "to-full":
		for range 3 {
			_ = tell("/user/full", "x")
		}
	case "ask":
		_, _ = ctx.Ask(ctx.Lookup("/user/b"), actor.Message{}, 10*time.Second)
	case "hold":
		*b.release = ctx.Hold()
	case "letter":
		letter, h := ctx.Letter(), ctx.Handle()
		*b.release = func(err error) {
			if err != nil {
				h.DeadLetter(letter, err.Error())
			} else {
				h.Done(letter)
			}
		}
	case "later":
		ctx.After(time.Second, actor.Message{Kind: "fail"})
	}
	return nil
}

// trackedSystem has /user/a, /user/b, which takes a second for a message and
// fails on "fail", and /user/full, which has room for one.
func trackedSystem(t *testing.T) (s *System, release *func(error)) {
	t.Helper()
	s, release = newSystem(t, WithDrainTimeout(0)), new(func(error))
	spawnFunc(t, s, "b", func(_ actor.Context, m actor.Message) error {
		time.Sleep(time.Second)
		if m.Kind == "fail" {
			return errors.New("boom")
		}
		return nil
	})
	full := Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.Reject}}
	spawnSpec(t, s, Spec{Name: "full", Settings: full, New: func() (actor.Behaviour, error) {
		return actor.Func(func(actor.Context, actor.Message) error { time.Sleep(time.Hour); return nil }), nil
	}})
	spawnSpec(t, s, Spec{Name: "a", Settings: DefaultSettings(), New: func() (actor.Behaviour, error) { return tracked{release}, nil }})
	synctest.Wait()
	return s, release
}

func TestADeliveryEndsWithAllTheWorkItCauses(t *testing.T) {
	tests := []struct {
		kind  string
		at    time.Duration // later than the offer; open until then
		after string
	}{
		{"ok", 0, "ok"},
		{"fail", 0, "dead letter of /user/a: failed: boom"},
		{"panic", 0, "dead letter of /user/a: failed: panic: boom"},
		{"tell", time.Second, "ok"},
		{"tell-fail", time.Second, "dead letter of /user/b: failed: boom"},
		{"fan-out", 2 * time.Second, "ok"},
		{"nobody", 0, "dead letter of /user/nobody: stopped"},
		{"to-full", 0, "dead letter of /user/full: full"},
		{"ask", 10 * time.Second, "ok"}, // nobody answers it,
		{"later", 0, "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := trackedSystem(t)
				v := deliver(t, s, tt.kind, 0)
				if tt.at > 0 {
					time.Sleep(tt.at - time.Millisecond)
					v.want(t, "open")
					time.Sleep(2 * time.Millisecond)
				}
				v.want(t, tt.after)
				time.Sleep(2 * time.Hour) // let everybody finish
			})
		})
	}
}

func TestAHeldDeliveryWaitsForItsRelease(t *testing.T) {
	tests := []struct {
		kind string
		err  error
		want string
	}{
		{"hold", nil, "ok"},
		{"hold", errors.New("later"), "later"},
		{"letter", nil, "ok"},
		{"letter", errors.New("later"), "dead letter of /user/a: later"},
	}
	for _, tt := range tests {
		t.Run(tt.kind+" "+tt.want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, release := trackedSystem(t)
				v := deliver(t, s, tt.kind, 0)
				v.want(t, "open")
				(*release)(tt.err)
				v.want(t, tt.want)
			})
		})
	}
}

func TestWhatIsHeldIsRefusedWhenTheIncarnationEnds(t *testing.T) {
	for _, how := range []string{"restart", "stop"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := trackedSystem(t)
				v := deliver(t, s, "hold", 0)
				synctest.Wait()
				a, _ := s.Find("/user/a")
				if how == "stop" {
					_ = a.Stop(t.Context())
				} else {
					_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "fail"})
				}
				v.want(t, "/user/a ended while it held the message: "+actor.ErrStopped.Error())
			})
		})
	}
}

func TestADeliveryIsRefusedAfterItsTimeoutAndOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := trackedSystem(t)
		v := deliver(t, s, "tell", 500*time.Millisecond)
		time.Sleep(time.Minute)
		v.want(t, actor.ErrAckTimeout.Error())
	})
}

func TestQueuedMessagesOfAStoppedActorAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := trackedSystem(t)
		first, second := deliver(t, s, "tell", 0), deliver(t, s, "tell", 0)
		synctest.Wait() // /user/b handles the first; the second waits
		b, _ := s.Find("/user/b")
		_ = b.StopNow(t.Context())
		first.want(t, "ok")
		second.want(t, "dead letter of /user/b: stopped")
	})
}
