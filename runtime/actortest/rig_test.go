package actortest_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

// on puts a plain function on a rig.
func on(t testing.TB, f actor.Func) *actortest.Rig { return actortest.NewRig(t, f) }

func TestARigRecordsWhatABehaviourDoes(t *testing.T) {
	cause := errors.New("lost")
	rig := on(t, func(ctx actor.Context, m actor.Message) error {
		return errors.Join(
			ctx.Tell(ctx.Lookup("/user/a"), actor.Message{Kind: "told"}),
			ctx.Reply(actor.Message{Kind: "reply"}),
			ctx.Watch(ctx.Lookup("/user/b")),
			ctx.Lookup("/user/c").Tell(ctx, actor.Message{Kind: "through a ref"}),
			func() error {
				ctx.Publish(actor.Stopped{Path: "/user/d"})
				ctx.Log().Info("hello")
				ctx.Stop(ctx.Self())
				ctx.Handle().DeadLetter(ctx.Letter(), "why")
				ctx.Handle().Fail(cause, ctx.Letter())
				return nil
			}(),
		)
	})
	if err := rig.TellFrom("/user/sender", actor.Message{Kind: "go"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	sent := rig.Sent()
	for _, s := range sent {
		got = append(got, fmt.Sprintf("%s to %s", s.Message.Kind, s.To))
		if s.Trace.IsZero() || s.Trace != sent[0].Trace {
			t.Errorf("%s: got trace %v, want that of the others", s.Message.Kind, s.Trace)
		}
	}
	if want := []string{"told to /user/a", "reply to /user/sender", "through a ref to /user/c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("sent: got %q, want %q", got, want)
	}
	if got := rig.DeadLetters(); len(got) != 1 || got[0].Reason != "why" || got[0].Sender != "/user/sender" {
		t.Errorf("dead letters: got %+v, want the message from /user/sender", got)
	}
	if got := rig.Failures(); len(got) != 1 || got[0].Err != cause || len(got[0].Back) != 1 || got[0].Back[0].Kind != "go" {
		t.Errorf("failures: got %+v, want %v with the message", got, cause)
	}
	if got, want := fmt.Sprint(rig.Watched(), rig.Stopped(), rig.Events()), "[/user/b] [/user/subject] [{/user/d}]"; got != want {
		t.Errorf("watched, stopped, published: got %s, want %s", got, want)
	}
	if got := rig.Logs(); !strings.HasPrefix(got, "level=INFO msg=hello actor=/user/subject trace=") {
		t.Errorf("logs: got %q", got)
	}
	if got := len(rig.Sent()) + len(rig.DeadLetters()) + len(rig.Failures()) + len(rig.Events()) + len(rig.Logs()); got != 0 {
		t.Errorf("the second time: got %d records, want none", got)
	}
}

func TestARigRefusesAnswersAndSpawns(t *testing.T) {
	rig := on(t, func(ctx actor.Context, m actor.Message) error {
		if err := ctx.Tell(ctx.Lookup("/user/full"), m); !errors.Is(err, actor.ErrFull) {
			t.Errorf("tell: got error %v, want %v", err, actor.ErrFull)
		}
		if m, err := ctx.Ask(ctx.Lookup("/user/oracle"), m, time.Second); err != nil || m.Kind != "42" {
			t.Errorf("ask: got %q and error %v, want 42", m.Kind, err)
		}
		p := func() (actor.Behaviour, error) { return nil, nil }
		child, err := ctx.Spawn("child", p)
		if err != nil || child.Path() != "/user/subject/child" {
			t.Errorf("spawn: got %v and error %v, want /user/subject/child", child, err)
		}
		if _, err := ctx.Spawn("child", p); !errors.Is(err, actor.ErrNameTaken) {
			t.Errorf("spawn again: got error %v, want %v", err, actor.ErrNameTaken)
		}
		return ctx.Reply(m)
	})
	rig.Refuse("/user/full", actor.ErrFull)
	rig.Answer = func(actor.Path, actor.Message) (actor.Message, error) { return actor.Message{Kind: "42"}, nil }
	if err := rig.Tell(actor.Message{Kind: "go"}); err != nil {
		t.Fatal(err)
	}
	if rig.Child("child") == nil || rig.Child("other") != nil {
		t.Error("children: want child and no other")
	}
	if dead := rig.DeadLetters(); len(dead) != 1 || dead[0].Reason != actor.ReasonNoSender {
		t.Errorf("a reply to nobody: got dead letters %+v, want one", dead)
	}
}

func TestTimersFireInTheOrderOfTime(t *testing.T) {
	var got []string
	cancels := map[string]func() bool{}
	rig := on(t, func(ctx actor.Context, m actor.Message) error {
		got = append(got, m.Kind)
		switch m.Kind {
		case "go":
			cancels["never"] = ctx.After(time.Second, actor.Message{Kind: "never"})
			cancels["every"] = ctx.Every(2*time.Second, actor.Message{Kind: "every"})
			ctx.After(3*time.Second, actor.Message{Kind: "after"})
		case "after":
			ctx.After(500*time.Millisecond, actor.Message{Kind: "later"})
			return errors.New("enough")
		}
		return nil
	})
	rig.Tell(actor.Message{Kind: "go"})
	if !cancels["never"]() || cancels["never"]() {
		t.Error("cancel: want true the first time and false the second")
	}
	if err := rig.Advance(10 * time.Second); err == nil || err.Error() != "enough" {
		t.Errorf("got error %v, want that of the behaviour", err)
	}
	if err := rig.Advance(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	if want := []string{"go", "every", "after", "later", "every"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := rig.Timers(); got != 1 {
		t.Errorf("timers: got %d, want 1", got)
	}
}

// fake is a testing.TB that keeps errors for itself.
type fake struct {
	testing.TB
	errs []string
}

func (f *fake) Errorf(format string, args ...any) {
	f.errs = append(f.errs, fmt.Sprintf(format, args...))
}

func TestARigWatchesOverTheContract(t *testing.T) {
	var kept actor.Context
	for _, c := range []struct {
		name string
		f    actor.Func
		want string
	}{
		{"a body that is changed in place", func(_ actor.Context, m actor.Message) error {
			m.Body.([]any)[0] = int64(2)
			return nil
		}, `the body of a "x" was changed in place`},
		{"an illegal body", func(ctx actor.Context, m actor.Message) error {
			return ctx.Reply(actor.Message{Kind: "y", Body: 1})
		}, `told /user/sender a "y" with an illegal body: body: int is not a body type`},
		{"a context after its call", func(ctx actor.Context, m actor.Message) error {
			if kept != nil {
				kept.Log()
			}
			kept = ctx
			return nil
		}, "Context.Log was called after the call that the context belongs to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{TB: t}
			rig := on(f, c.f)
			for range 2 {
				rig.TellFrom("/user/sender", actor.Message{Kind: "x", Body: []any{int64(1)}})
			}
			if len(f.errs) == 0 || !strings.HasPrefix(f.errs[0], c.want) {
				t.Errorf("got %q, want %s…", f.errs, c.want)
			}
		})
	}
}

func TestAHandleDoesNothingAfterTheEnd(t *testing.T) {
	var h actor.Handle
	rig := on(t, func(ctx actor.Context, m actor.Message) error { h = ctx.Handle(); return nil })
	rig.Tell(actor.Message{})
	rig.Stop()
	select {
	case <-h.Ended():
	default:
		t.Error("Done is open, want it closed")
	}
	if h.Fail(errors.New("late")) {
		t.Error("Fail: got true, want false")
	}
	if err := h.Tell(actortest.NewProbe(t, "/user/a"), actor.Message{}, nil); !errors.Is(err, actor.ErrStopped) {
		t.Errorf("Tell: got error %v, want %v", err, actor.ErrStopped)
	}
}

func TestAProbeWaitsForWhatIsExpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := actortest.NewProbe(t, "/user/probe")
		trace := actor.NewTraceID()
		ctx := actor.WithTrace(context.Background(), trace)
		go func() {
			time.Sleep(time.Hour)
			p.Tell(ctx, actor.Message{Kind: "late"})
			p.Tell(ctx, actor.Message{Kind: "later"})
		}()
		p.ExpectNone(59 * time.Minute)
		if got := p.Expect("late", 2*time.Minute); got.Trace != trace || got.Sender != "" {
			t.Errorf("got %+v, want trace %v and no sender", got, trace)
		}
		if got := p.Wait(2, time.Minute); len(got) != 2 || got[1].Message.Kind != "later" {
			t.Errorf("all: got %+v, want late and later", got)
		}
		p.Expect("later", 0)
	})
}

func ExampleRig() {
	t := &testing.T{} // a test has its own
	rig := actortest.NewRig(t, actor.Func(func(ctx actor.Context, m actor.Message) error {
		return ctx.Reply(actor.Message{Kind: "pong", Body: m.Body})
	}))
	_ = rig.TellFrom("/user/asker", actor.Message{Kind: "ping", Body: "hello"})
	for _, s := range rig.Sent() {
		fmt.Println(s.To, s.Message.Kind, s.Message.Body)
	}
	// Output: /user/asker pong hello
}
