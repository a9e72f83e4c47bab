package counter_test

import (
	"fmt"
	"testing"

	"github.com/actord/actord/builtin/counter"
	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func order(country any) actor.Message {
	return actor.Message{Kind: "order", Body: map[string]any{"country": country}}
}

func TestMessagesAreCounted(t *testing.T) {
	messages := []actor.Message{order("de"), {Kind: "ping"}, order("fr"), order("de"), order([]any{})}
	for _, c := range []struct {
		name   string
		config counter.Config
		want   string
		dead   int
	}{
		{
			name:   "by kind",
			config: counter.Config{MaxKeys: 10},
			want:   "map[counts:map[order:4 ping:1] total:5]",
		},
		{
			name:   "by a key, and in the total only where the key fails",
			config: counter.Config{Key: "msg.country", MaxKeys: 10, OnError: route.Skip},
			want:   "map[counts:map[de:2 fr:1] total:5]",
		},
		{
			name:   "not at all where the key fails and that is a dead letter",
			config: counter.Config{Key: "msg.country", MaxKeys: 10, OnError: route.DeadLetter},
			want:   "map[counts:map[de:2 fr:1] total:3]",
			dead:   2,
		},
		{
			name:   "together beyond max-keys",
			config: counter.Config{Key: "kind + (msg.country == 'fr' ? 'F' : '')", MaxKeys: 1},
			want:   "map[counts:map[order:3 other:2] total:5]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := actortest.NewRig(t, must(counter.New(c.config))).MustStart()
			for _, m := range messages {
				if err := rig.Tell(m); err != nil {
					t.Fatal(err)
				}
			}
			rig.TellFrom("/user/asker", actor.Message{Kind: "get"})
			if got := numbers(t, rig); got != c.want {
				t.Errorf("numbers\n got: %s\nwant: %s", got, c.want)
			}
			if got := len(rig.DeadLetters()); got != c.dead {
				t.Errorf("dead letters: got %d, want %d", got, c.dead)
			}
		})
	}
}

// numbers returns the body of the one message that was sent, to the asker.
func numbers(t *testing.T, rig *actortest.Rig) string {
	t.Helper()
	sent := rig.Sent()
	if len(sent) != 1 || sent[0].To != "/user/asker" {
		t.Fatalf("sent: got %+v, want one to /user/asker", sent)
	}
	return fmt.Sprint(sent[0].Message.Body)
}

func TestQuestionsAreAnsweredAndNotCounted(t *testing.T) {
	rig := actortest.NewRig(t, must(counter.New(counter.Config{MaxKeys: 10}))).MustStart()
	rig.Tell(order("de"))
	for i, kind := range []string{"get", "count", "reset", "get"} {
		want := "map[counts:map[order:1] total:1]"
		if i == 3 {
			want = "map[counts:map[] total:0]"
		}
		rig.TellFrom("/user/asker", actor.Message{Kind: kind})
		if got := numbers(t, rig); got != want {
			t.Errorf("%s\n got: %s\nwant: %s", kind, got, want)
		}
	}
}

func TestAFailingKeyFailsTheActorWhereThatIsConfigured(t *testing.T) {
	rig := actortest.NewRig(t, must(counter.New(counter.Config{Key: "msg.a + 1", MaxKeys: 1, OnError: route.Fail}))).MustStart()
	if err := rig.Tell(order("de")); err == nil {
		t.Error("got no error, want the expression's")
	}
}

func TestAKeyThatIsNoTextGoesThroughASnapshot(t *testing.T) {
	n := must(counter.New(counter.Config{MaxKeys: 10}))
	actortest.NewRig(t, n).MustStart().Tell(actor.Message{Kind: "a\xffb"})
	state := must(n.Snapshot())
	next := must(counter.New(counter.Config{MaxKeys: 10}))
	if err := next.Restore(state); err != nil {
		t.Fatal(err)
	}
	if got, want := string(must(next.Snapshot()).Data), string(state.Data); got != want {
		t.Errorf("state\n got: %s\nwant: %s", got, want)
	}
}

func TestMessagesGoOnUnchanged(t *testing.T) {
	rig := actortest.NewRig(t, must(counter.New(counter.Config{MaxKeys: 1, To: actor.Targets{"/user/next"}}))).MustStart()
	rig.Tell(order("de"))
	if sent := rig.Sent(); len(sent) != 1 || sent[0].To != "/user/next" || sent[0].Message.Kind != "order" {
		t.Errorf("sent: got %+v, want the order to /user/next", sent)
	}
}

func TestTheNumbersOutliveTheInstance(t *testing.T) {
	n := must(counter.New(counter.Config{MaxKeys: 10}))
	rig := actortest.NewRig(t, n).MustStart()
	rig.Tell(order("de"))
	if err := rig.Do(func(ctx actor.Context) error {
		return n.Reconfigure(ctx, counter.Config{Key: "msg.country", MaxKeys: 10})
	}); err != nil {
		t.Fatal(err)
	}
	rig.Tell(order("fr"))

	next := must(counter.New(counter.Config{MaxKeys: 10}))
	if err := next.Restore(must(n.Snapshot())); err != nil {
		t.Fatal(err)
	}
	rig = actortest.NewRig(t, next).MustStart()
	rig.Tell(order("de"))
	rig.TellFrom("/user/asker", actor.Message{Kind: "get"})
	if got, want := numbers(t, rig), "map[counts:map[fr:1 order:2] total:3]"; got != want {
		t.Errorf("numbers\n got: %s\nwant: %s", got, want)
	}
}

func TestAnotherStateIsRefused(t *testing.T) {
	for _, s := range []actor.State{{Version: 2, Data: []byte(`{}`)}, {Version: 1, Data: []byte(`[`)}} {
		if err := must(counter.New(counter.Config{})).Restore(s); err == nil {
			t.Errorf("version %d, data %s: got no error, want one", s.Version, s.Data)
		}
	}
}

// FuzzRestore: whatever a snapshot holds, the counter refuses it or works on.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"total":3,"counts":{"a":3}}`))
	f.Add([]byte(`{"counts":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := must(counter.New(counter.Config{MaxKeys: 10}))
		if n.Restore(actor.State{Version: 1, Data: data}) != nil {
			return
		}
		rig := actortest.NewRig(t, n).MustStart()
		if err := rig.Tell(actor.Message{Kind: "x"}); err != nil {
			t.Errorf("after restoring %s: got error %v, want none", data, err)
		}
	})
}

func TestAWrongKeyIsFoundByPrepare(t *testing.T) {
	_, err := counter.Factory().Prepare(map[string]any{"key": "msg.country +"})
	if err == nil || err.Error()[:5] != "key: " {
		t.Errorf("got error %v, want one about the key", err)
	}
}

func Example() {
	args, _ := counter.Factory().Schema().Decode(nil)
	_, err := counter.Factory().Prepare(args)
	fmt.Println(args["max-keys"], err)
	// Output: 1000 <nil>
}

func BenchmarkReceive(b *testing.B) {
	n := must(counter.New(counter.Config{Key: "msg.country", MaxKeys: 10}))
	rig, m := actortest.NewRig(b, n).MustStart(), order("de")
	b.ReportAllocs()
	rig.Do(func(ctx actor.Context) error {
		for b.Loop() {
			n.Receive(ctx, m)
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
