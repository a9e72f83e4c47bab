package router_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/builtin/router"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func order(amount any) actor.Message {
	return actor.Message{Kind: "order", Body: map[string]any{"amount": amount}}
}

// needsNumber fails on toWrong, since a text is no number.
const needsNumber = "msg.amount + 0 > 1000"

var toWrong = order("much")

func TestMessagesGoWhereTheRulesSay(t *testing.T) {
	fraud := router.Rule{When: "msg.amount > 1000", To: actor.Targets{"/user/fraud"}}
	store := router.Rule{To: actor.Targets{"/user/store"}}
	big := router.Rule{When: "msg.amount > 100", To: actor.Targets{"/user/big", "./audit"}, Kind: "big-order"}
	fails := router.Rule{When: needsNumber, To: actor.Targets{"/user/fraud"}}
	for _, c := range []struct {
		name   string
		config router.Config
		m      actor.Message
		want   string
		err    string
	}{
		{
			name:   "the first matching rule wins",
			config: router.Config{Rules: []router.Rule{fraud, store}}, m: order(int64(5000)),
			want: "order to /user/fraud",
		},
		{
			name:   "a rule without a condition matches the rest",
			config: router.Config{Rules: []router.Rule{fraud, store}}, m: order(int64(5)),
			want: "order to /user/store",
		},
		{
			name:   "in mode all every matching rule sends",
			config: router.Config{Rules: []router.Rule{fraud, store, big}, Mode: router.All}, m: order(int64(5000)),
			want: "order to /user/fraud, order to /user/store, big-order to /user/big, big-order to /user/subject/audit",
		},
		{
			name:   "several targets are a fan-out, and a rule may give another kind",
			config: router.Config{Rules: []router.Rule{big}}, m: order(int64(500)),
			want: "big-order to /user/big, big-order to /user/subject/audit",
		},
		{
			name:   "what no rule matches is a dead letter",
			config: router.Config{Rules: []router.Rule{fraud}}, m: order(int64(5)),
			want: "dead: unrouted",
		},
		{
			name:   "unless else names targets",
			config: router.Config{Rules: []router.Rule{fraud}, Else: actor.Targets{"/user/rest"}}, m: order(int64(5)),
			want: "order to /user/rest",
		},
		{
			name:   "a missing field matches nothing and is no error",
			config: router.Config{Rules: []router.Rule{fraud}, Else: actor.Targets{"/user/rest"}}, m: actor.Message{Kind: "order"},
			want: "order to /user/rest",
		},
		{
			name:   "a failing condition makes a dead letter",
			config: router.Config{Rules: []router.Rule{fails, store}, OnError: route.DeadLetter}, m: toWrong,
			want: "dead: unrouted: rules[0].when: expression…",
		},
		{
			name:   "or is skipped",
			config: router.Config{Rules: []router.Rule{fails, store}, OnError: route.Skip}, m: toWrong,
			want: "order to /user/store",
		},
		{
			name:   "or fails the actor",
			config: router.Config{Rules: []router.Rule{fails, store}, OnError: route.Fail}, m: toWrong,
			err: "rules[0].when: expression",
		},
		{
			name:   "reply answers the sender",
			config: router.Config{Rules: []router.Rule{{To: actor.Targets{"reply"}}}}, m: order(int64(1)),
			want: "order to /user/shop",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := actortest.NewRig(t, must(router.New(c.config))).MustStart()
			err := rig.TellFrom("/user/shop", c.m)
			if got := fmt.Sprint(err); (err != nil || c.err != "") && (c.err == "" || !strings.HasPrefix(got, c.err)) {
				t.Errorf("error\n got: %s\nwant: %s…", got, c.err)
			}
			if got := outcome(rig); got != c.want {
				t.Errorf("outcome\n got: %s\nwant: %s", got, c.want)
			}
		})
	}
}

// outcome writes what was sent and what became a dead letter, expressions'
// errors shortened.
func outcome(rig *actortest.Rig) string {
	var out []string
	for _, s := range rig.Sent() {
		out = append(out, fmt.Sprintf("%s to %s", s.Message.Kind, s.To))
	}
	for _, d := range rig.DeadLetters() {
		reason, _, long := strings.Cut(d.Reason, "expression")
		if long {
			reason += "expression…"
		}
		out = append(out, "dead: "+reason)
	}
	return strings.Join(out, ", ")
}

func TestEveryMistakeIsFoundBeforeStart(t *testing.T) {
	to := actor.Targets{"/user/a"}
	_, err := router.New(router.Config{Rules: []router.Rule{
		{When: "amont > 1", To: to},
		{To: to},
		{When: "msg.amount >", To: to},
	}})
	for _, want := range []string{
		"rules[0].when: expression:1:1: unknown name amont",
		"rules[1] matches always, so the rules below it are never tried",
		"rules[2].when: expression:1:",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error\n%v\nwant one with: %s", err, want)
		}
	}
}

func TestNewRulesAreTakenInPlaceOrNotAtAll(t *testing.T) {
	r := must(router.New(router.Config{Rules: []router.Rule{{To: actor.Targets{"/user/old"}}}}))
	rig := actortest.NewRig(t, r).MustStart()
	for _, c := range []struct {
		name string
		rule router.Rule
		err  bool
		want string
	}{
		{"a wrong condition changes nothing", router.Rule{When: "?", To: actor.Targets{"/user/new"}}, true, "order to /user/old"},
		{"a wrong target changes nothing", router.Rule{To: actor.Targets{"new"}}, true, "order to /user/old"},
		{"a right rule is used at once", router.Rule{To: actor.Targets{"/user/new"}}, false, "order to /user/new"},
	} {
		err := rig.Do(func(ctx actor.Context) error { return r.Reconfigure(ctx, router.Config{Rules: []router.Rule{c.rule}}) })
		if (err != nil) != c.err {
			t.Errorf("%s: got error %v, want one: %v", c.name, err, c.err)
		}
		rig.Tell(order(int64(1)))
		if got := outcome(rig); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAFullReceiverDoesNotFailTheRouter(t *testing.T) {
	rig := actortest.NewRig(t, must(router.New(router.Config{Rules: []router.Rule{{To: actor.Targets{"/user/a"}}}}))).MustStart()
	rig.Refuse("/user/a", actor.ErrFull)
	if err := rig.Tell(order(int64(1))); errors.Is(err, actor.ErrFull) {
		t.Errorf("got error %v, want none", err)
	}
	if got, want := outcome(rig), "dead: full: tell /user/a: mailbox is full"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func Example() {
	args, _ := router.Factory().Schema().Decode(map[string]any{
		"rules": []any{map[string]any{"when": "msg.amount > ", "to": "/user/fraud"}},
	})
	_, err := router.Factory().Prepare(args)
	fmt.Println(strings.HasPrefix(err.Error(), "rules[0].when: "))
	// Output: true
}

func BenchmarkReceive(b *testing.B) {
	r := must(router.New(router.Config{Rules: []router.Rule{
		{When: "msg.amount > 1000", To: actor.Targets{"/user/fraud"}},
		{To: actor.Targets{"/user/store"}},
	}}))
	rig, m := actortest.NewRig(b, r).MustStart(), order(int64(500))
	b.ReportAllocs()
	rig.Do(func(ctx actor.Context) error {
		for b.Loop() {
			r.Receive(ctx, m)
			rig.Sent()
		}
		return nil
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
