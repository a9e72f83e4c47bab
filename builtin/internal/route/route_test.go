package route_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

// relay passes everything on to its targets.
type relay struct {
	to      actor.Targets
	targets route.Targets
}

func (r *relay) Start(ctx actor.Context) (err error) {
	r.targets, err = route.Resolve(ctx, r.to)
	return err
}

func (r *relay) Receive(ctx actor.Context, m actor.Message) error {
	r.targets.Tell(ctx, m)
	return nil
}

func TestEveryTargetGetsTheMessage(t *testing.T) {
	rig := actortest.NewRig(t, &relay{to: actor.Targets{"/user/a", "./b", "../c", "reply", "topic:news"}}).MustStart()
	if err := rig.TellFrom("/user/asker", actor.Message{Kind: "order"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range rig.Sent() {
		got = append(got, string(s.To)+" "+s.Message.Kind)
	}
	want := "/user/a order, /user/subject/b order, /user/c order, /user/asker order, /system/topics/news order"
	if g := strings.Join(got, ", "); g != want {
		t.Errorf("sent\n got: %s\nwant: %s", g, want)
	}
}

func TestARefusedMessageIsADeadLetterAndTheOthersStillGetIt(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a full mailbox", actor.ErrFull, "full: tell /user/a: mailbox is full"},
		{"a mailbox that stayed full", actor.ErrBlockTimeout, "full: tell /user/a: mailbox stayed full until the block-timeout"},
		{"a shutdown", actor.ErrTerminating, "terminating: tell /user/a: system is shutting down"},
		{"an actor that is gone", actor.ErrStopped, "stopped: tell /user/a: actor is stopped or was never started"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := actortest.NewRig(t, &relay{to: actor.Targets{"/user/a", "/user/b"}}).MustStart()
			rig.Refuse("/user/a", c.err)
			if err := rig.Tell(actor.Message{Kind: "order"}); err != nil {
				t.Errorf("got error %v, want none: a full receiver is no failure of the sender", err)
			}
			if dead := rig.DeadLetters(); len(dead) != 1 || dead[0].Reason != c.want || dead[0].Message.Kind != "order" {
				t.Errorf("dead letters: got %+v, want one order with reason %q", dead, c.want)
			}
			if sent := rig.Sent(); len(sent) != 1 || sent[0].To != "/user/b" {
				t.Errorf("sent: got %+v, want one to /user/b", sent)
			}
		})
	}
}

func TestAWrongTargetFailsTheStart(t *testing.T) {
	err := actortest.NewRig(t, &relay{to: actor.Targets{"nowhere"}}).Start()
	if err == nil || !strings.Contains(err.Error(), `"nowhere" is not a target`) {
		t.Errorf("got error %v, want one that names the target", err)
	}
}

func TestOnErrorDecidesWhatBecomesOfTheMessage(t *testing.T) {
	cause := errors.New("no such field")
	for _, c := range []struct {
		on      route.OnError
		skip    bool
		failure error
		dead    string
	}{
		{route.Skip, true, nil, ""},
		{route.Fail, false, cause, ""},
		{route.DeadLetter, false, nil, "unrouted: no such field"},
	} {
		t.Run(string(c.on), func(t *testing.T) {
			rig := actortest.NewRig(t, actor.Func(func(ctx actor.Context, m actor.Message) error {
				skip, failure := c.on.Failed(ctx, cause)
				if skip != c.skip || failure != c.failure {
					t.Errorf("got skip %v and failure %v, want %v and %v", skip, failure, c.skip, c.failure)
				}
				return nil
			}))
			rig.Tell(actor.Message{})
			dead := ""
			for _, d := range rig.DeadLetters() {
				dead += d.Reason
			}
			if dead != c.dead {
				t.Errorf("dead letter: got %q, want %q", dead, c.dead)
			}
		})
	}
}

func TestExpressionsSeeTheMessageAndWhoHandlesIt(t *testing.T) {
	eval, err := route.Compile("when", actor.StringSite, "kind + ' ' + msg.id + ' ' + sender + ' ' + path")
	if err != nil {
		t.Fatal(err)
	}
	rig := actortest.NewRig(t, actor.Func(func(ctx actor.Context, m actor.Message) error {
		got, err := eval.String(route.Input(ctx, m))
		if want := "order 7 /user/shop /user/subject"; got != want || err != nil {
			t.Errorf("got %q and error %v, want %q", got, err, want)
		}
		return nil
	}))
	rig.TellFrom("/user/shop", actor.Message{Kind: "order", Body: map[string]any{"id": "7"}})
}

func ExampleCompile() {
	_, err := route.Compile("rules[0].when", actor.BoolSite, "msg.amount > amont")
	fmt.Println(strings.HasPrefix(err.Error(), "rules[0].when: expression:1:14: unknown name amont"))
	// Output: true
}

func BenchmarkTell(b *testing.B) {
	rig := actortest.NewRig(b, &relay{to: actor.Targets{"/user/a", "/user/b"}}).MustStart()
	for b.Loop() {
		rig.Tell(actor.Message{Kind: "order"})
		rig.Sent()
	}
}
