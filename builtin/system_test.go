package builtin_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

// system runs behaviours by name, as a configuration would declare them.
type system struct {
	*runtime.System
	t *testing.T
}

func newSystem(t *testing.T) system {
	sys := runtime.New("test", runtime.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))), runtime.WithDrainTimeout(0))
	t.Cleanup(func() {
		if err := sys.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return system{sys, t}
}

func (s system) declare(name, behaviour string, a args) {
	s.t.Helper()
	f, _ := registry(s.t).Behaviour(behaviour)
	decoded, errs := f.Schema().Decode(a)
	if len(errs) > 0 {
		s.t.Fatalf("%s: %v", name, errs)
	}
	p, err := f.Prepare(decoded)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.spawn(name, p.New)
}

func (s system) spawn(name string, p actor.Producer) {
	s.t.Helper()
	spec := runtime.Spec{Name: name, New: p, Settings: runtime.DefaultSettings()}
	if _, err := s.SpawnActor(actor.User, spec); err != nil {
		s.t.Fatal(err)
	}
}

func TestBehavioursMakeASystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, invoices := newSystem(t), actortest.NewProbe(t, "/user/invoices")
		s.declare("intake", "router", args{"rules": []any{
			args{"when": "msg.amount > 1000", "to": []any{"/user/fraud", "../count"}, "kind": "suspicious"},
			args{"when": "kind == 'order'", "to": "/user/invoice"},
		}, "else": "/user/count"})
		s.declare("invoice", "transform", args{"set": args{"gross": "msg.amount * 2"}, "kind": "invoice", "to": "/user/small"})
		s.declare("small", "filter", args{"when": "msg.gross < 100", "to": "/user/invoices", "else": "/user/count"})
		s.declare("fraud", "chaos", args{"fail": "true"})
		s.declare("count", "counter", nil)
		s.spawn("invoices", invoices.Producer())

		for _, m := range []actor.Message{
			{Kind: "order", Body: args{"amount": int64(10)}},
			{Kind: "order", Body: args{"amount": int64(70)}},
			{Kind: "order", Body: args{"amount": int64(2000)}},
			{Kind: "ping"},
		} {
			if err := s.Lookup("/user/intake").Tell(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		got := invoices.Expect("invoice", 0)
		if want := "map[amount:10 gross:20] from /user/small"; fmt.Sprint(got.Message.Body, " from ", got.Sender) != want {
			t.Errorf("got %v from %s, want %s", got.Message.Body, got.Sender, want)
		}
		invoices.ExpectNone(time.Second)
		answer, err := s.Lookup("/user/count").(actor.Asker).Ask(t.Context(), actor.Message{Kind: "get"})
		if want := "map[counts:map[invoice:1 ping:1 suspicious:1] total:3]"; err != nil || fmt.Sprint(answer.Body) != want {
			t.Errorf("counts: got %v and error %v, want %s", answer.Body, err, want)
		}
	})
}

func TestATimerKeepsTimeInASystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, probe := newSystem(t), actortest.NewProbe(t, "/user/probe")
		s.spawn("probe", probe.Producer())
		begin := time.Now()
		s.declare("timer", "timer", args{"every": "10s", "after": "1s", "count": "3", "to": "/user/probe"})
		for _, want := range []time.Duration{time.Second, 11 * time.Second, 21 * time.Second} {
			if got := probe.Expect("tick", time.Minute); time.Since(begin) != want || got.Sender != "/user/timer" {
				t.Errorf("a tick from %s after %v, want one from /user/timer after %v", got.Sender, time.Since(begin), want)
			}
		}
		probe.ExpectNone(time.Hour)
	})
}
