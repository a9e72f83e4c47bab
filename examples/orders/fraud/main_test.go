package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/actord/actord/plugins/sdktest"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func newScore(t *testing.T, args map[string]any) (actor.Behaviour, *actortest.Rig) {
	t.Helper()
	args["to"] = "/user/worker"
	decoded, mistakes := Score.Schema().Decode(args)
	if len(mistakes) > 0 {
		t.Fatal(mistakes[0])
	}
	p, err := Score.Prepare(decoded)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.New()
	if err != nil {
		t.Fatal(err)
	}
	return b, actortest.NewRig(t, b).MustStart()
}

func order(customer, country string, amount any) actor.Message {
	return actor.Message{Kind: "normal", Body: map[string]any{"id": "1", "customer": customer, "country": country, "amount": amount}}
}

func TestScore(t *testing.T) {
	for _, tc := range []struct {
		name    string
		orders  []actor.Message
		score   float64
		verdict string
	}{
		{"a small order is accepted", []actor.Message{order("ann", "FI", int64(500))}, 0.06, "accept"},
		{"an amount may have a fraction", []actor.Message{order("ann", "FI", 2500.0)}, 0.3, "accept"},
		{"an amount beyond large counts as large", []actor.Message{order("ann", "FI", int64(1_000_000))}, 0.6, "accept"},
		{"large and from a risky country is reviewed", []actor.Message{order("ann", "XX", int64(5000))}, 0.9, "review"},
		{"the threshold itself is reviewed", []actor.Message{order("a", "", int64(5000)), order("b", "", int64(1)), order("a", "", int64(5000)), order("a", "", int64(5000))}, 0.8, "review"},
		{"a customer who left the window is new", []actor.Message{order("a", "", int64(5000)), order("b", "", int64(0)), order("c", "", int64(0)), order("d", "", int64(0)), order("a", "", int64(5000))}, 0.6, "accept"},
		{"an order without an amount", []actor.Message{{Kind: "normal", Body: map[string]any{}}}, 0, "accept"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, rig := newScore(t, map[string]any{"risky": []any{"XX"}, "window": int64(3)})
			for _, o := range tc.orders {
				if err := rig.Tell(o); err != nil {
					t.Fatal(err)
				}
			}
			sent := rig.Sent()
			last := sent[len(sent)-1]
			body := last.Message.Body.(map[string]any)
			if body["score"] != tc.score || body["verdict"] != tc.verdict || last.To != "/user/worker" {
				t.Errorf("got %v %v to %s; want %v %s to /user/worker", body["score"], body["verdict"], last.To, tc.score, tc.verdict)
			}
			if len(sent) != len(tc.orders) {
				t.Errorf("got %d messages; want %d", len(sent), len(tc.orders))
			}
		})
	}
}

func TestWhatIsNoOrder(t *testing.T) {
	_, rig := newScore(t, map[string]any{})
	if err := rig.Tell(actor.Message{Kind: "x", Body: "text"}); err == nil || !strings.Contains(err.Error(), "not string") {
		t.Errorf("got %v; want an error that names the type", err)
	}
}

func TestPoisonPanics(t *testing.T) {
	b, rig := newScore(t, map[string]any{})
	defer func() {
		if r := recover(); r == nil {
			t.Error("got no panic; want one")
		}
	}()
	_ = rig.Do(func(ctx actor.Context) error { return b.Receive(ctx, order("panic", "", int64(1))) })
}

func TestStateMovesOn(t *testing.T) {
	old, rig := newScore(t, map[string]any{})
	for range 2 {
		if err := rig.Tell(order("ann", "", int64(0))); err != nil {
			t.Fatal(err)
		}
	}
	state, err := old.(actor.Snapshotter).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	next, rig := newScore(t, map[string]any{})
	if err := next.(actor.Snapshotter).Restore(state); err != nil {
		t.Fatal(err)
	}
	if err := rig.Tell(order("ann", "", int64(0))); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"id": "1", "customer": "ann", "country": "", "amount": int64(0), "score": 0.2, "verdict": "accept"}
	if got := rig.Sent()[0].Message.Body; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
	if err := next.(actor.Snapshotter).Restore(actor.State{Version: 2}); err == nil {
		t.Error("got no error for a later state version; want one")
	}
}

func TestScoreKeepsTheContract(t *testing.T) {
	c := actortest.Case{
		Args:     map[string]any{"to": "/user/worker"},
		Messages: []actor.Message{order("ann", "FI", int64(10)), order("bob", "SE", 10.5)},
	}
	t.Run("built in", func(t *testing.T) { actortest.Suite(t, Score, c) })
	t.Run("as a plugin", func(t *testing.T) { sdktest.Suite(t, ".", map[string]actortest.Case{"score": c}) })
}
