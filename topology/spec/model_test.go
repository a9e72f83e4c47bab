package spec

import (
	"errors"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
	"github.com/actord/actord/topology/hocon"
)

func TestAnActorThatSaysNothingHasTheDefaults(t *testing.T) {
	a := checked(t, "actord.actors.a.behaviour = sink").Actors[0]
	if want := (mailbox.Settings{WarnAt: 10_000, BlockTimeout: time.Second}); a.Mailbox != want {
		t.Errorf("mailbox: got %+v, want %+v", a.Mailbox, want)
	}
	for _, s := range []supervise.Strategy{a.Supervision, a.ChildSupervision} {
		if want := supervise.Default(); !reflect.DeepEqual(s, want) {
			t.Errorf("strategy: got %+v, want %+v", s, want)
		}
	}
	if a.Rank != nil || a.OnFull != "dead-letter" || a.StopTimeout != 5*time.Second || a.HandlerWarn != 10*time.Second {
		t.Errorf("got %+v", a)
	}
	if a.Prepared.New == nil {
		t.Error("nothing builds the behaviour")
	}
}

func TestASystemThatSaysNothingHasTheDefaults(t *testing.T) {
	s := checked(t, "actord { }")
	if s.Name != "default" || s.DrainTimeout != 2*time.Second || s.RootFailure != "shutdown" {
		t.Errorf("system: got %q %s %q", s.Name, s.DrainTimeout, s.RootFailure)
	}
	want := Reload{
		Watch: true, Quiet: 100 * time.Millisecond, Poll: 5 * time.Second, Deadline: 30 * time.Second,
		Probation: 10 * time.Second, KeepRevisions: 10, MaxRemoved: 0.5, RemovedHold: 2 * time.Second,
	}
	if !reflect.DeepEqual(s.Reload, want) {
		t.Errorf("reload: got %+v, want %+v", s.Reload, want)
	}
	if s.Log.Level != slog.LevelInfo || s.Log.Format != "auto" || len(s.Log.Levels) != 0 {
		t.Errorf("log: got %+v", s.Log)
	}
}

func TestTheDefaultOverflowDependsOnThePriority(t *testing.T) {
	for text, want := range map[string]mailbox.Overflow{
		"capacity = 5":                  mailbox.DropHead,
		"capacity = 5, priority = size": mailbox.Reject,
		"capacity = 5, priority = size, overflow = drop-lowest":           mailbox.DropLowest,
		"capacity = 5, overflow = block":                                  mailbox.Block,
		"capacity = 5, overflow = drop-new, overflow = null":              mailbox.DropHead,
		"capacity = 5, priority = \"kind == 'x' ? 0 : 1\", warn-at = off": mailbox.Reject,
	} {
		a := checked(t, "actord.actors.a { behaviour = sink, mailbox { "+text+" } }").Actors[0]
		if a.Mailbox.Overflow != want {
			t.Errorf("%s: got %s, want %s", text, a.Mailbox.Overflow, want)
		}
	}
}

func TestPriorityRanksMessages(t *testing.T) {
	a := checked(t, `actord.actors.a { behaviour = sink, mailbox.priority = "msg.rank" }`).Actors[0]
	if got := a.Rank(actor.Message{Body: map[string]any{"rank": int64(7)}}, nil); got != 7 {
		t.Errorf("got %v, want 7", got)
	}
	if got := a.Rank(actor.Message{}, nil); !math.IsInf(got, 1) || !math.IsInf(a.PriorityDefault, 1) {
		t.Errorf("without a rank: got %v, want the lowest", got)
	}
	b := checked(t, `actord.actors.a { behaviour = sink, mailbox { priority = "msg.rank", priority-default = 3.5 } }`).Actors[0]
	if got := b.Rank(actor.Message{}, nil); got != 3.5 {
		t.Errorf("with a default: got %v, want 3.5", got)
	}
}

func TestSupervisionLiesOverThatOfTheParentOverTheDefaults(t *testing.T) {
	s := checked(t, `actord {
  actor-defaults.supervision { max-restarts = 1, within = 1s, on-failure = resume, rules = [ { when = "error contains 'gone'", then = stop } ] }
  actors.a {
    behaviour = sink
    child-supervision { max-restarts = 2, within = 2s, on-failure = null }
    children { b { behaviour = sink, supervision.within = 3s, children.c.behaviour = sink } }
  }
}`)
	a := s.Actors[0]
	b := a.Children[0]
	type facts struct {
		max    int
		within time.Duration
		on     supervise.Directive
	}
	for _, tc := range []struct {
		name string
		got  supervise.Strategy
		want facts
	}{
		{"a: the defaults", a.Supervision, facts{1, time.Second, supervise.Resume}},
		{"what a spawns", a.ChildSupervision, facts{2, 2 * time.Second, supervise.Restart}},
		{"b: its own over its parent's", b.Supervision, facts{2, 3 * time.Second, supervise.Restart}},
		{"what b spawns: the defaults", b.ChildSupervision, facts{1, time.Second, supervise.Resume}},
		{"c: not its grandparent's", b.Children[0].Supervision, facts{1, time.Second, supervise.Resume}},
	} {
		if got := (facts{tc.got.MaxRestarts, tc.got.Within, tc.got.OnFailure}); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
	d := a.Supervision.Decide(&supervise.History{}, errors.New("the disk is gone"), time.Now(), 0)
	if d.Directive != supervise.Stop {
		t.Errorf("rule: got %s, want stop", d.Directive)
	}
}

func TestDefaultsOfBridgesLieUnderTheirTypeAndEachRoute(t *testing.T) {
	s := checked(t, `actord {
  actors.a.behaviour = sink
  bridge-defaults { idle-timeout = 1s, in.codec = text, web { idle-timeout = 2s } }
  bridges {
    w { type = web, listen = "h:1", in { x.to = /user/a, y { to = /user/a, codec = json } } }
    b { type = broker, url = "nats://u:p@h", out.o { } }
  }
}`)
	w, b := s.Bridges[0], s.Bridges[1]
	if got := w.Args["idle-timeout"]; got != 2*time.Second {
		t.Errorf("idle-timeout: got %v, want that of the type, 2s", got)
	}
	in := w.Args["in"].(map[string]any)
	if x, y := in["x"].(map[string]any)["codec"], in["y"].(map[string]any)["codec"]; x != "text" || y != "json" {
		t.Errorf("codecs: got %v and %v, want text and json", x, y)
	}
	if w.Path != "/system/bridges/w" {
		t.Errorf("got %s, want /system/bridges/w", w.Path)
	}
	for _, key := range []string{"type", "description"} {
		if _, ok := w.Args[key]; ok {
			t.Errorf("the type gets %s, which is not its key", key)
		}
	}
	if o := b.Args["out"].(map[string]any)["o"].(map[string]any); o["codec"] != "json" {
		t.Errorf("out: got %v, want the default of out, not of in", o)
	}
}

func TestPlugins(t *testing.T) {
	const text = `actord {
  plugin-defaults { restart.max-restarts = unlimited, env { A = 1, B = two } }
  plugins { fraud { command = [./fraud, 8080], version = 1.10, env.B = null }, gone = null }
  actors.a.behaviour = nonsense
}`
	ps, err := Plugins(load(t, text))
	if err != nil || len(ps) != 1 {
		t.Fatalf("got %v, %v", ps, err)
	}
	p := ps[0]
	if p.Name != "fraud" || p.Version != "1.10" || !slices.Equal(p.Command, []string{"./fraud", "8080"}) {
		t.Errorf("got %+v", p)
	}
	if p.Restart.MaxRestarts != supervise.Unlimited || p.Restart.Backoff.Min != time.Second || p.Window != (Window{1024, 4 << 20}) {
		t.Errorf("got %+v", p)
	}
	if want := map[string]actor.Secret{"A": "1"}; !reflect.DeepEqual(p.Env, want) {
		t.Errorf("env: got %v, want %v", p.Env, want)
	}
	if want := []string{"PATH", "HOME", "LANG", "TZ"}; !slices.Equal(p.EnvAllow, want) {
		t.Errorf("env-allow: got %v, want %v", p.EnvAllow, want)
	}
	if _, err := Plugins(load(t, "actord.plugins.p.comand = x")); err == nil {
		t.Error("a mistake in the section: got no error")
	}
	if ps, err := Plugins(load(t, "x = 1")); len(ps) != 0 || err != nil {
		t.Errorf("without actord: got %v, %v", ps, err)
	}
}

func TestSubscriptionsChooseEvents(t *testing.T) {
	s := checked(t, `actord {
  actors.alarm.behaviour = sink
  events.subscriptions = [ { to = /user/alarm, events = [dead-letter], when = "msg.reason == 'full'" }, { to = ./alarm, events = [reload] } ]
}`)
	sub := s.Subscriptions[0]
	full := actor.EventMessage(actor.DeadLetter{Reason: actor.ReasonFull})
	other := actor.EventMessage(actor.DeadLetter{Reason: actor.ReasonStopped})
	if !sub.When(full) || sub.When(other) {
		t.Errorf("got %t for full and %t for stopped, want true and false", sub.When(full), sub.When(other))
	}
	if s.Subscriptions[1].When != nil || sub.Pos.Line != 3 {
		t.Errorf("got %+v", s.Subscriptions)
	}
}

func TestWhatIsOutsideOfActordIsTheAuthors(t *testing.T) {
	s := checked(t, "cap = 7, other { x = 1 }, actord.actors.a { behaviour = sink, mailbox.capacity = ${cap} }")
	if got := s.Actors[0].Mailbox.Capacity; got != 7 {
		t.Errorf("got %d, want 7", got)
	}
}

func TestNullTakesAnActorAway(t *testing.T) {
	s := checked(t, "actord { actors { a.behaviour = sink, b.behaviour = sink }, actors.a = null }")
	if len(s.Actors) != 1 || s.Actors[0].Path != "/user/b" {
		t.Errorf("got %v, want only /user/b", s.Actors)
	}
}

func TestTheHashDependsOnMeaningOnly(t *testing.T) {
	base := checked(t, "actord.actors { a { behaviour = limit, args.every = 60s }, b.behaviour = sink }").Hash
	same := map[string]string{
		"other units":       "actord.actors { a { behaviour = limit, args.every = 1m }, b.behaviour = sink }",
		"another order":     "actord.actors { b.behaviour = sink, a { args.every = 60000ms, behaviour = \"limit\" } }",
		"written defaults":  "actord { log.level = info, actors { a { behaviour = limit, args { every = 1m, rate = 10 } }, b { behaviour = sink, mailbox.capacity = unlimited } } }",
		"a description":     "actord.actors { a { behaviour = limit, args.every = 60s, description = x }, b.behaviour = sink }",
		"by actor-defaults": "actord { actor-defaults.behaviour = sink, actors { a { behaviour = limit, args.every = 60s }, b { } } }",
	}
	for name, text := range same {
		if got := checked(t, text).Hash; got != base {
			t.Errorf("%s: the hash differs", name)
		}
	}
	for name, text := range map[string]string{
		"an argument": "actord.actors { a { behaviour = limit, args.every = 61s }, b.behaviour = sink }",
		"a level":     "actord { log.level = warn, actors { a { behaviour = limit, args.every = 60s }, b.behaviour = sink } }",
		"a name":      "actord.actors { a { behaviour = limit, args.every = 60s }, c.behaviour = sink }",
	} {
		if got := checked(t, text).Hash; got == base {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

func TestShownSettingsHideSecrets(t *testing.T) {
	for _, tc := range []struct{ key, text, want string }{
		{"password", "hunter2", "***"},
		{"auth.api-key", "abc", "***"},
		{"env.HOME", "/root", "***"},
		{"token", `""`, `""`},
		{"url", `nats://u:p@h:1/x`, "nats://***@h:1/x"},
		{"url", "nats://h:1", "nats://h:1"},
		{"url", `"amqp://u:p@h/a b%zz"`, "***"},
		{"mailbox.capacity", "7", "7"},
	} {
		if got := (Setting{Key: tc.key, Text: tc.text}).Shown(); got != tc.want {
			t.Errorf("%s = %s: got %s, want %s", tc.key, tc.text, got, tc.want)
		}
	}
}

func TestMistakesHaveExcerpts(t *testing.T) {
	_, err := Check(load(t, "actord {\n  aktors { }\n}"), registry(t))
	want := "application.conf:2:3: aktors: unknown key; did you mean \"actors\"?\n      aktors { }\n      ^\n"
	if got := hocon.Format(err); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
