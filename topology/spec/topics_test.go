package spec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

func TestATopicIsReadWithItsDefaults(t *testing.T) {
	s := checked(t, `actord {
  actors { a.behaviour = sink, b.behaviour = sink }
  topics { prices { subscribers = [/user/a, /user/b], delivery = one, unrouted = drop }, news.subscribers = /user/a, empty { } }
}`)
	got := []string{}
	for _, topic := range s.Topics {
		got = append(got, fmt.Sprint(topic.Name, topic.Subscribers, topic.Delivery, topic.Unrouted))
	}
	want := []string{"prices[/user/a /user/b]onedrop", "news[/user/a]alldead-letters", "empty[]alldead-letters"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, set := range s.Topics[0].Settings {
		if set.Class != actor.Rewire {
			t.Errorf("%s: got class %s, want rewire", set.Key, set.Class)
		}
	}
}

func TestMistakesInTopicsAndPools(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"a subscriber that is not there", "actord { actors.a.behaviour = sink, topics.t.subscribers = [/user/aa] }",
			[]string{`application.conf:1:61: topics.t.subscribers[0]: no actor is declared at /user/aa; did you mean "/user/a"?`}},
		{"a subscriber twice", "actord { actors.a.behaviour = sink, topics.t.subscribers = [/user/a, /user/a] }",
			[]string{`application.conf:1:70: topics.t.subscribers[1]: /user/a is a subscriber already`}},
		{"an unknown delivery", "actord.topics.t.delivery = al",
			[]string{`application.conf:1:28: topics.t.delivery: "al" is not one of all, one; did you mean "all"?`}},
		{"a topic that is no object", "actord.topics.t = [/user/a]",
			[]string{`application.conf:1:19: topics.t: a topic is an object (want t { subscribers = [ … ] })`}},
		{"a target of no topic", `actord.actors.a { behaviour = router, args.default = "topic:news" }`,
			[]string{`application.conf:1:54: actors.a.args.default: topic "news" is not declared (add topics { news { subscribers = [ … ] } })`}},
		{"a size that is none", "actord.actors.a { behaviour = sink, pool.size = 0 }",
			[]string{`application.conf:1:49: actors.a.pool.size: 0 is too small (want at least 1)`}},
		{"a size in parts", "actord.actors.a { behaviour = sink, pool.size = 2.5 }",
			[]string{`application.conf:1:49: actors.a.pool.size: 2.5 is not a whole number`}},
		{"an unknown strategy", "actord.actors.a { behaviour = sink, pool.strategy = round-robbin }",
			[]string{`application.conf:1:53: actors.a.pool.strategy: "round-robbin" is not one of round-robin, random, smallest-mailbox, broadcast, consistent-hash, scatter-gather; did you mean "round-robin"?`}},
		{"a hash without a key", "actord.actors.a { behaviour = sink, pool { size = 3, strategy = consistent-hash } }",
			[]string{`application.conf:1:65: actors.a.pool.strategy: consistent-hash needs a key (e.g. key = "msg.id")`}},
		{"a key without a hash", "actord.actors.a { behaviour = sink, pool { size = 3, key = kind } }",
			[]string{`application.conf:1:60: actors.a.pool.key: a key is only for strategy = consistent-hash, not for round-robin`}},
		{"a wrong key, at its place in the text", `actord.actors.a { behaviour = sink, pool { size = 3, strategy = consistent-hash, key = "msg.id + idd" } }`,
			[]string{`application.conf:1:98: actors.a.pool.key: expression: unknown name idd (known are kind, msg, headers, sender, path, attempt, age, size, error; a text needs quotes, a field of the body is msg.idd)`}},
		{"a child with the name of a routee", "actord.actors.a { behaviour = sink, pool.size = 2, children.routee-1.behaviour = sink }",
			[]string{`application.conf:1:52: actors.a.children.routee-1: routee-1 is the name of an actor of the pool /user/a; give the child another one`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := mistakes(t, tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestAPoolIsReadWithItsKey(t *testing.T) {
	s := checked(t, `actord.actors.a { behaviour = sink, pool { size = 3, strategy = consistent-hash, key = msg.id } }`)
	p := s.Actors[0].Pool
	if p.Size != 3 || p.Strategy != consistentHash || p.Key != "msg.id" {
		t.Errorf("got %+v, want 3 by msg.id", p)
	}
	for _, tc := range []struct {
		body any
		want string
	}{{map[string]any{"id": "x"}, "x"}, {map[string]any{"id": int64(7)}, "7"}, {map[string]any{}, ""}, {"text", ""}} {
		if got := p.KeyOf(actor.Message{Body: tc.body}, nil); got != tc.want {
			t.Errorf("key of %v: got %q, want %q", tc.body, got, tc.want)
		}
	}
}

func BenchmarkPoolKey(b *testing.B) {
	s := checked(b, `actord.actors.a { behaviour = sink, pool { size = 3, strategy = consistent-hash, key = msg.id } }`)
	m := actor.Message{Body: map[string]any{"id": "x"}}
	b.ReportAllocs()
	for b.Loop() {
		s.Actors[0].Pool.KeyOf(m, nil)
	}
}
