package chaos_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/builtin/chaos"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func TestItGoesWrongWhereItIsTo(t *testing.T) {
	for _, c := range []struct {
		name   string
		config chaos.Config
		want   string // per message: o(k), f(ailed), p(anicked)
	}{
		{"never without a condition", chaos.Config{}, "oooooo"},
		{"fails on a condition", chaos.Config{Fail: "msg.n == 2"}, "ofoooo"},
		{"panics on a condition", chaos.Config{Panic: "msg.n == 3"}, "oopooo"},
		{"fails on every n-th", chaos.Config{FailEvery: 2}, "ofofof"},
		{"panics on every n-th, which goes before failing", chaos.Config{FailEvery: 2, PanicEvery: 3}, "ofpfop"},
		{"fails on a condition that cannot be evaluated", chaos.Config{Fail: "msg + 1 == 0"}, "ffffff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.To = actor.Targets{"/user/next"}
			rig := actortest.NewRig(t, must(chaos.New(c.config))).MustStart()
			got := ""
			for n := range 6 {
				got += tell(rig, actor.Message{Kind: "x", Body: map[string]any{"n": int64(n + 1)}})
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got, want := len(rig.Sent()), strings.Count(c.want, "o"); got != want {
				t.Errorf("passed on: got %d messages, want %d", got, want)
			}
		})
	}
}

func tell(rig *actortest.Rig, m actor.Message) (outcome string) {
	defer func() {
		if recover() != nil {
			outcome = "p"
		}
	}()
	if rig.Tell(m) != nil {
		return "f"
	}
	return "o"
}

func TestEveryMessageTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := actortest.NewRig(t, must(chaos.New(chaos.Config{Delay: time.Hour}))).MustStart()
		begin := time.Now()
		if err := rig.Tell(actor.Message{}); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(begin); got != time.Hour {
			t.Errorf("took %v, want 1h", got)
		}
	})
}

func TestADelayEndsWithTheActor(t *testing.T) {
	rig := actortest.NewRig(t, must(chaos.New(chaos.Config{Delay: time.Hour}))).MustStart()
	if err := rig.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := rig.Tell(actor.Message{}); err == nil {
		t.Error("got no error from a message that was interrupted, want one")
	}
}

func TestItCanFailAtTheStart(t *testing.T) {
	err := actortest.NewRig(t, must(chaos.New(chaos.Config{FailStart: true}))).Start()
	if !errors.Is(err, chaos.ErrOnPurpose) {
		t.Errorf("got error %v, want %v", err, chaos.ErrOnPurpose)
	}
}

func TestANewConfigurationGoesOnCounting(t *testing.T) {
	ch := must(chaos.New(chaos.Config{FailEvery: 3}))
	rig := actortest.NewRig(t, ch).MustStart()
	got := tell(rig, actor.Message{})
	if err := rig.Do(func(ctx actor.Context) error { return ch.Reconfigure(ctx, chaos.Config{FailEvery: 2}) }); err != nil {
		t.Fatal(err)
	}
	got += tell(rig, actor.Message{})
	if err := rig.Do(func(ctx actor.Context) error { return ch.Reconfigure(ctx, chaos.Config{Fail: "?"}) }); err == nil {
		t.Error("a wrong condition: got no error, want one")
	}
	if got += tell(rig, actor.Message{}); got != "ofo" {
		t.Errorf("got %s, want ofo", got)
	}
}

func Example() {
	_, err := chaos.New(chaos.Config{Fail: "mgs.amount > 3", Panic: "true"})
	fmt.Println(err)
	// Output: fail: expression:1:1: unknown name mgs; did you mean "msg"?
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
