package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/builtin/filter"
	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func order(amount any) actor.Message {
	return actor.Message{Kind: "order", Body: map[string]any{"amount": amount}}
}

func TestOnlyWhatMeetsTheConditionPasses(t *testing.T) {
	pass, rest := actor.Targets{"/user/pass"}, actor.Targets{"/user/rest"}
	for _, c := range []struct {
		name   string
		config filter.Config
		m      actor.Message
		want   string
	}{
		{"what meets it goes on", filter.Config{When: "msg.amount > 10", To: pass, Else: rest}, order(int64(11)), "/user/pass"},
		{"the others go elsewhere", filter.Config{When: "msg.amount > 10", To: pass, Else: rest}, order(int64(10)), "/user/rest"},
		{"or are dropped, which is no dead letter", filter.Config{When: "msg.amount > 10", To: pass}, order(int64(10)), ""},
		{"a failing condition makes a dead letter", filter.Config{When: "msg.amount + 1 > 10", To: pass, Else: rest}, order("x"), "dead: unrouted: when"},
		{"or is taken for not met", filter.Config{When: "msg.amount + 1 > 10", To: pass, Else: rest, OnError: route.Skip}, order("x"), "/user/rest"},
		{"or fails the actor", filter.Config{When: "msg.amount + 1 > 10", To: pass, Else: rest, OnError: route.Fail}, order("x"), "failed: when"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := actortest.NewRig(t, must(filter.New(c.config))).MustStart()
			var out []string
			if err := rig.Tell(c.m); err != nil {
				out = append(out, "failed: "+head(err.Error()))
			}
			for _, s := range rig.Sent() {
				out = append(out, string(s.To))
			}
			for _, d := range rig.DeadLetters() {
				out = append(out, "dead: "+head(d.Reason))
			}
			if got := strings.Join(out, ", "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// head is what stands before the expression's own error.
func head(s string) string {
	before, _, _ := strings.Cut(s, ": expression")
	return before
}

func TestAWrongConditionIsFoundBeforeStart(t *testing.T) {
	for _, c := range []struct {
		name string
		when actor.Expr
		want string
	}{
		{"a name that does not exist", "amount > 1", "when: expression:1:1: unknown name amount"},
		{"no condition", "msg.amount", ""},
		{"a number", "1 + 1", "when: expression:1:1: gives a number; a condition"},
		{"nothing", "", "when is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := filter.New(filter.Config{When: c.when})
			if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.HasPrefix(got, c.want) {
				t.Errorf("got error %v, want %q…", err, c.want)
			}
		})
	}
}

func TestANewConfigurationIsTakenInPlaceOrNotAtAll(t *testing.T) {
	f := must(filter.New(filter.Config{When: "true", To: actor.Targets{"/user/old"}}))
	rig := actortest.NewRig(t, f).MustStart()
	for _, c := range []struct {
		config filter.Config
		err    bool
		want   actor.Path
	}{
		{filter.Config{When: "?", To: actor.Targets{"/user/new"}}, true, "/user/old"},
		{filter.Config{When: "true", To: actor.Targets{"new"}}, true, "/user/old"},
		{filter.Config{When: "true", To: actor.Targets{"/user/a"}, Else: actor.Targets{"new"}}, true, "/user/old"},
		{filter.Config{When: "true", To: actor.Targets{"/user/new"}}, false, "/user/new"},
	} {
		err := rig.Do(func(ctx actor.Context) error { return f.Reconfigure(ctx, c.config) })
		if (err != nil) != c.err {
			t.Errorf("%+v: got error %v, want one: %v", c.config, err, c.err)
		}
		rig.Tell(order(int64(1)))
		if sent := rig.Sent(); len(sent) != 1 || sent[0].To != c.want {
			t.Errorf("%+v: sent %+v, want one to %s", c.config, sent, c.want)
		}
	}
}

func Example() {
	_, errs := filter.Factory().Schema().Decode(map[string]any{"when": "msg.amount > 10", "to": "user/store"})
	fmt.Println(errs[0])
	// Output: to.0: "user/store" is not a target (want /user/NAME, ./CHILD, ../SIBLING, bridge:NAME/OUT, topic:NAME, reply or dead-letters)
}

// BenchmarkReceive drops, so that it measures the filter and not the rig.
func BenchmarkReceive(b *testing.B) {
	f := must(filter.New(filter.Config{When: "msg.amount > 10", To: actor.Targets{"/user/a"}}))
	rig, m := actortest.NewRig(b, f).MustStart(), order(int64(9))
	b.ReportAllocs()
	rig.Do(func(ctx actor.Context) error {
		for b.Loop() {
			f.Receive(ctx, m)
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
