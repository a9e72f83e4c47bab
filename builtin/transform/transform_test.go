package transform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/builtin/transform"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

type exprs = map[string]actor.Expr

func order() actor.Message {
	return actor.Message{
		Kind:    "order",
		Body:    map[string]any{"net": int64(100), "name": "Ada", "card": map[string]any{"number": "4711", "owner": "Ada"}},
		Headers: actor.Headers{"topic": "shop"},
	}
}

func TestANewMessageIsMade(t *testing.T) {
	for _, c := range []struct {
		name   string
		config transform.Config
		m      actor.Message
		want   string
	}{
		{
			name:   "fields are set, and expressions see the message as it came",
			config: transform.Config{Set: exprs{"net": "msg.net * 2", "gross": "msg.net * 1.19"}},
			m:      order(),
			want:   "order map[card:map[number:4711 owner:Ada] gross:119 name:Ada net:200] map[topic:shop]",
		},
		{
			name:   "dotted names reach into objects and make them",
			config: transform.Config{Set: exprs{"card.number": "'****'", "a.b.c": "1"}},
			m:      order(),
			want:   "order map[a:map[b:map[c:1]] card:map[number:**** owner:Ada] name:Ada net:100] map[topic:shop]",
		},
		{
			name:   "fields are left out, and missing ones are no mistake",
			config: transform.Config{Remove: []string{"net", "card.number", "no.such"}},
			m:      order(),
			want:   "order map[card:map[owner:Ada] name:Ada] map[topic:shop]",
		},
		{
			name:   "a field can be renamed",
			config: transform.Config{Set: exprs{"customer": "msg.name"}, Remove: []string{"name", "card"}},
			m:      order(),
			want:   "order map[customer:Ada net:100] map[topic:shop]",
		},
		{
			name:   "value replaces the body",
			config: transform.Config{Value: "[msg.name, msg.net]"},
			m:      order(),
			want:   "order [Ada 100] map[topic:shop]",
		},
		{
			name:   "the kind and headers are set",
			config: transform.Config{Kind: "invoice", Headers: map[string]string{"a": "b"}, HeadersExpr: exprs{"who": "msg.name"}, Value: "nil"},
			m:      order(),
			want:   "invoice <nil> map[a:b topic:shop who:Ada]",
		},
		{
			name:   "the kind can be computed",
			config: transform.Config{KindExpr: "kind + '-' + lower(msg.name)", Value: "1"},
			m:      order(),
			want:   "order-ada 1 map[topic:shop]",
		},
		{
			name:   "a message without a body gets one",
			config: transform.Config{Set: exprs{"a": "kind"}},
			m:      actor.Message{Kind: "ping"},
			want:   "ping map[a:ping] map[]",
		},
		{
			name:   "a body without fields is a failed expression",
			config: transform.Config{Set: exprs{"a": "1"}},
			m:      actor.Message{Kind: "ping", Body: "text"},
			want:   "dead: unrouted: set.a: the body is a string and has no fields",
		},
		{
			name:   "so is a field without fields",
			config: transform.Config{Set: exprs{"name.first": "1"}},
			m:      order(),
			want:   "dead: unrouted: set.name.first: field name is a string and has no fields",
		},
		{
			name:   "a failed expression makes a dead letter",
			config: transform.Config{Set: exprs{"net": "msg.name * 2"}},
			m:      order(),
			want:   "dead: unrouted: set.net: expression…",
		},
		{
			name:   "or leaves the old value",
			config: transform.Config{Set: exprs{"net": "msg.name * 2", "name": "'Bob'"}, Remove: []string{"card"}, OnError: route.Skip},
			m:      order(),
			want:   "order map[name:Bob net:100] map[topic:shop]",
		},
		{
			name:   "or fails the actor",
			config: transform.Config{Set: exprs{"net": "msg.name * 2"}, OnError: route.Fail},
			m:      order(),
			want:   "failed: set.net: expression…",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.To = actor.Targets{"/user/next"}
			rig := actortest.NewRig(t, must(transform.New(c.config))).MustStart()
			if got := outcome(rig, rig.Tell(c.m)); got != c.want {
				t.Errorf("outcome\n got: %s\nwant: %s", got, c.want)
			}
		})
	}
}

func outcome(rig *actortest.Rig, err error) string {
	var out []string
	if err != nil {
		out = append(out, "failed: "+err.Error())
	}
	for _, s := range rig.Sent() {
		out = append(out, fmt.Sprintf("%s %v %v", s.Message.Kind, s.Message.Body, s.Message.Headers))
	}
	for _, d := range rig.DeadLetters() {
		out = append(out, "dead: "+d.Reason)
	}
	for i, s := range out {
		if before, _, long := strings.Cut(s, "expression"); long {
			out[i] = before + "expression…"
		}
	}
	return strings.Join(out, ", ")
}

func TestTheMessageThatCameStaysAsItIs(t *testing.T) {
	tr := must(transform.New(transform.Config{
		Set: exprs{"card.number": "'x'", "copy": "msg.card"}, Remove: []string{"name", "card.owner"},
		Headers: map[string]string{"topic": "y"}, To: actor.Targets{"/user/next"},
	}))
	rig := actortest.NewRig(t, tr).MustStart()
	m := order()
	rig.Tell(m)
	if got, want := fmt.Sprint(m), fmt.Sprint(order()); got != want {
		t.Errorf("the message\n got: %s\nwant: %s", got, want)
	}
	body := rig.Sent()[0].Message.Body.(map[string]any)
	body["copy"].(map[string]any)["owner"] = "changed"
	if got := m.Body.(map[string]any)["card"].(map[string]any)["owner"]; got != "Ada" {
		t.Errorf("a part of the new body is a part of the old one: owner is %v, want Ada", got)
	}
}

func TestEveryMistakeIsFoundBeforeStart(t *testing.T) {
	_, err := transform.New(transform.Config{
		Set: exprs{"b": "nam", "a": "1 +"}, Value: "msg", Kind: "k", KindExpr: "msg.", HeadersExpr: exprs{"h": "[1]"},
	})
	for _, want := range []string{
		"value replaces the whole body", "kind and kind-expr are given",
		"set.a: expression:", "set.b: expression:1:1: unknown name nam", "kind-expr: expression:", "headers-expr.h: expression:1:1: gives a list",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error\n%v\nwant one with: %s", err, want)
		}
	}
}

func TestANewConfigurationIsTakenInPlaceOrNotAtAll(t *testing.T) {
	tr := must(transform.New(transform.Config{Value: "'old'", To: actor.Targets{"/user/a"}}))
	rig := actortest.NewRig(t, tr).MustStart()
	for _, c := range []struct {
		config transform.Config
		err    bool
		want   string
	}{
		{transform.Config{Value: "?", To: actor.Targets{"/user/a"}}, true, "k old map[]"},
		{transform.Config{Value: "'new'", To: actor.Targets{"a"}}, true, "k old map[]"},
		{transform.Config{Value: "'new'", To: actor.Targets{"/user/a"}}, false, "k new map[]"},
	} {
		err := rig.Do(func(ctx actor.Context) error { return tr.Reconfigure(ctx, c.config) })
		if (err != nil) != c.err {
			t.Errorf("%+v: got error %v, want one: %v", c.config, err, c.err)
		}
		if got := outcome(rig, rig.Tell(actor.Message{Kind: "k"})); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.config, got, c.want)
		}
	}
}

func Example() {
	args, _ := transform.Factory().Schema().Decode(map[string]any{
		"set": map[string]any{"gross": "msg.net * 1.19"}, "value": "msg", "to": "/user/store",
	})
	_, err := transform.Factory().Prepare(args)
	fmt.Println(err)
	// Output: value replaces the whole body, so it goes with neither set nor remove; choose one
}

func BenchmarkReceive(b *testing.B) {
	tr := must(transform.New(transform.Config{Set: exprs{"gross": "msg.net * 1.19"}, To: actor.Targets{"/user/a"}}))
	rig := actortest.NewRig(b, tr).MustStart()
	m := order()
	for b.Loop() {
		rig.Tell(m)
		rig.Sent()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
