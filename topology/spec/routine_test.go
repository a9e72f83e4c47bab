package spec

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

func routineOf(t *testing.T, text string) *Routine {
	t.Helper()
	s, err := Check(load(t, "actord.actors { db.behaviour = sink, a { behaviour = sink, "+text+" } }"), registry(t))
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	for a := range s.All() {
		if a.Path == "/user/a" {
			return a.Routine
		}
	}
	return nil
}

func TestThrottleIsRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       actor.Throttle
	}{
		{"off is none", "throttle.rate = off", actor.Throttle{}},
		{"by the second", `throttle.rate = "500/s"`, actor.Throttle{Rate: 500}},
		{"by the minute, without quotes", `throttle.rate = 30/m`, actor.Throttle{Rate: 0.5}},
		{"with spaces and a fraction", `throttle { rate = "1.5 / s", burst = 20, on-excess = drop }`, actor.Throttle{Rate: 1.5, Burst: 20, Drop: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got actor.Throttle
			if r := routineOf(t, tt.text); r != nil {
				got = r.Throttle
			}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestTimersAreRead(t *testing.T) {
	r := routineOf(t, `timers {
  tick { every = 5s, message { kind = tick, body { n = 1 } } }
  once { after = 0s, message.kind = warm-up }
  soon { every = 1m, after = 0s, message.kind = soon }
  night { cron = "0 3 * * *", zone = Europe/Berlin, message.kind = sweep }
}`)
	if got, want := r.Timers["tick"], (actor.Schedule{Every: 5 * time.Second}); got.When.Every != want.Every || got.When.Delay || got.Message.Kind != "tick" {
		t.Errorf("tick: got %+v, want %+v", got, want)
	}
	if got, _ := r.Timers["tick"].Message.Body.(map[string]any); got["n"] != int64(1) {
		t.Errorf("tick: got the body %v, want n = 1", got)
	}
	if got := r.Timers["once"].When; got.First() != 0 || got.Every != 0 {
		t.Errorf("once: got %+v, want at once and never again", got)
	}
	if got := r.Timers["soon"].When; got.First() > time.Microsecond || got.Every != time.Minute {
		t.Errorf("soon: got %+v, want at once and then every minute", got)
	}
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	if got, want := r.Timers["night"].When.Next(now), now.Add(time.Hour); !got.Equal(want) {
		t.Errorf("night: got %v, want %v", got, want)
	}
}

func TestTimersThatAreWrittenAlikeAreTheSame(t *testing.T) {
	mark := func(text string) string { return routineOf(t, "timers.t { "+text+" }").Timers["t"].Mark }
	one := mark("every = 60s, message { kind = tick, body { a = 1, b = 2 } }")
	if got := mark(`every = "1m", message { body { b = 2, a = 1 }, kind = "tick" }`); got != one {
		t.Error("the same timer in other words: got another mark, want the same")
	}
	for _, other := range []string{
		"every = 61s, message { kind = tick, body { a = 1, b = 2 } }",
		"after = 60s, message { kind = tick, body { a = 1, b = 2 } }",
		"every = 60s, message { kind = tick, body { a = 1 } }",
		"every = 60s, message { kind = tock, body { a = 1, b = 2 } }",
	} {
		if mark(other) == one {
			t.Errorf("%s: got the same mark, want another", other)
		}
	}
}

func TestWatchIsRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []actor.Path
	}{
		{"a list", `watch = [/user/db, "../db"]`, []actor.Path{"/user/db", "/user/db"}},
		{"a lone one", `watch = "/user/db"`, []actor.Path{"/user/db"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := routineOf(t, tt.text).Watch; !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if r := routineOf(t, "mailbox.stash-capacity = 5"); r != nil {
		t.Errorf("an actor that does nothing by itself: got %+v, want none", r)
	}
}

func TestMistakesInARoutine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a rate without a unit", "throttle.rate = 500", `throttle.rate: "500" is not a rate (want a number above 0 and a unit, e.g. 500/s, 30/m, 2/h; or off)`},
		{"a rate of nothing", `throttle.rate = "0/s"`, `throttle.rate: "0/s" is not a rate (want a number above 0 and a unit, e.g. 500/s, 30/m, 2/h; or off)`},
		{"a policy that does not exist", "throttle.on-excess = dropp", `throttle.on-excess: "dropp" is not one of pause, drop; did you mean "drop"?`},
		{"a timer without a time", "timers.t.message.kind = x", "timers.t: a timer needs every, after or cron (e.g. every = 5s)"},
		{"a timer without a message", "timers.t.every = 5s", "timers.t.message.kind: is required (kind of the message)"},
		{"a plan and an interval", `timers.t { cron = "* * * * *", every = 5s, message.kind = x }`, "timers.t.cron: a plan says when the timer fires, so every and after cannot"},
		{"a plan that is none", `timers.t { cron = "0 3 * *", message.kind = x }`, `timers.t.cron: plan "0 3 * *": expected exactly 5 fields, found 4: [0 3 * *] (want five fields: minute hour day month weekday, e.g. "0 3 * * *")`},
		{"a zone that does not exist", `timers.t { cron = "0 3 * * *", zone = Berlin, message.kind = x }`, `timers.t.zone: zone "Berlin" is not known (want e.g. UTC or Europe/Berlin)`},
		{"a zone without a plan", `timers.t { every = 5s, zone = UTC, message.kind = x }`, "timers.t.zone: a zone is for a plan; every and after need none"},
		{"a watch of nobody", "watch = [/user/bd]", `watch[0]: no actor is declared at /user/bd; did you mean "/user/db"?`},
		{"a watch of itself", "watch = /user/a", "watch: an actor cannot watch itself"},
		{"a watch of what is no actor", "watch = [dead-letters]", `watch[0]: target "dead-letters" is no actor, so nothing of it can be watched`},
		{"a silence without a unit", "receive-timeout = 5", "receive-timeout: 5 has no unit (want a duration, e.g. 5ms or 5s)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mistakes(t, "actord.actors { db.behaviour = sink, a { behaviour = sink, "+tt.text+" } }")
			if len(got) != 1 || !strings.HasSuffix(got[0], "actors.a."+tt.want) {
				t.Errorf("got:\n%s\nwant one that ends with:\n%s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

func TestAWatchIsLookedAtAgainWhenTheOtherIsGone(t *testing.T) {
	text, reg := "actord.actors { a { behaviour = sink, watch = /user/db }, ", registry(t)
	before, err := Check(load(t, text+"db.behaviour = sink }"), reg)
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	_, err = Options{Before: before}.Check(load(t, text+"}"), reg)
	if want := "no actor is declared at /user/db"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}
