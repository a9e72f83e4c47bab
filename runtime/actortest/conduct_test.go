package actortest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

func TestARigRunsABehaviourAsItWantsToBeRun(t *testing.T) {
	var got []string
	opened := false
	do := map[string]func(ctx actor.Context) error{
		"x":    func(ctx actor.Context) error { return ctx.Stash() },
		"open": func(ctx actor.Context) error { opened = true; ctx.Unstash(); return nil },
		"go": func(ctx actor.Context) error {
			ctx.Go(func(context.Context) (actor.Message, error) { panic("boom") })
			return nil
		},
		"ask": func(ctx actor.Context) error {
			ctx.AskAsync(ctx.Sender(), actor.Message{Kind: "q"}, time.Second)
			return nil
		},
		"timer": func(ctx actor.Context) error {
			return ctx.Timer("k", actor.Schedule{After: time.Minute}, actor.Message{Kind: "t"})
		},
		"still": func(ctx actor.Context) error { return ctx.SetReceiveTimeout(40 * time.Second) },
		"slow":  func(ctx actor.Context) error { return ctx.Throttle(actor.Throttle{Rate: 5}) },
		"kill":  func(ctx actor.Context) error { ctx.Kill(ctx.Self()); return nil },
		"role": func(ctx actor.Context) error {
			ctx.Become(actor.Func(func(ctx actor.Context, m actor.Message) error {
				got = append(got, "role "+m.Kind)
				ctx.Unbecome()
				return nil
			}))
			return nil
		},
	}
	rig := on(t, func(ctx actor.Context, m actor.Message) error {
		got = append(got, m.Kind)
		if f := do[m.Kind]; f != nil && (m.Kind != "x" || !opened) {
			return f(ctx)
		}
		return nil
	})
	rig.Answer = func(actor.Path, actor.Message) (actor.Message, error) { return actor.Message{Kind: "answer"}, nil }
	for _, tt := range []struct {
		name, kind string
		advance    time.Duration
		want       []string
	}{
		{name: "what is set aside waits", kind: "x", want: []string{"x"}},
		{name: "and comes back", kind: "open", want: []string{"open", "x"}},
		{name: "a role handles the next message", kind: "role", want: []string{"role"}},
		{name: "and goes", kind: "y", want: []string{"role y"}},
		{name: "a panic beside the turn is told", kind: "go", want: []string{"go", "failed"}},
		{name: "an answer is told", kind: "ask", want: []string{"ask", "answer"}},
		{name: "a keyed timer fires once", kind: "timer", want: []string{"timer"}},
		{name: "although it was set twice", kind: "timer", advance: 2 * time.Minute, want: []string{"timer", "t"}},
		{name: "silence is told again and again", kind: "still", advance: 90 * time.Second, want: []string{"still", actor.KindReceiveTimeout, actor.KindReceiveTimeout}},
		{name: "a limit is only noted", kind: "slow", want: []string{"slow"}},
		{name: "a kill is noted as a failure", kind: "kill", want: []string{"kill"}},
	} {
		got = nil
		if err := errors.Join(rig.TellFrom("/user/s", actor.Message{Kind: tt.kind}), rig.Advance(tt.advance)); err != nil {
			t.Errorf("%s: got error %v", tt.name, err)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := rig.Failures(); len(got) != 1 || !errors.Is(got[0].Err, actor.ErrKilled) {
		t.Errorf("failures: got %v, want one kill", got)
	}
	if got := fmt.Sprint(rig.Throttled().Rate, rig.Stashed()); got != "5 0" {
		t.Errorf("limit and stash: got %s, want 5 0", got)
	}
}
