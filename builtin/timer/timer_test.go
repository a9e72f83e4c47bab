package timer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/actord/actord/builtin/timer"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

const everyFirst = -1 // the word "every" of after

func TestMessagesComeInTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		config timer.Config
		wait   []time.Duration
		want   []int // messages after each wait
	}{
		{
			name:   "the first one comes after every",
			config: timer.Config{Every: 10 * time.Second, After: everyFirst},
			wait:   []time.Duration{9 * time.Second, time.Second, 20 * time.Second},
			want:   []int{0, 1, 2},
		},
		{
			name:   "after moves the first one",
			config: timer.Config{Every: 10 * time.Second, After: time.Second},
			wait:   []time.Duration{time.Second, 9 * time.Second, time.Second},
			want:   []int{1, 0, 1},
		},
		{
			name:   "after 0s starts at once",
			config: timer.Config{Every: 10 * time.Second},
			wait:   []time.Duration{0, 10 * time.Second},
			want:   []int{1, 1},
		},
		{
			name:   "count ends it",
			config: timer.Config{Every: time.Second, Count: 3},
			wait:   []time.Duration{time.Hour, time.Hour},
			want:   []int{3, 0},
		},
		{
			name:   "a count of one is a single message",
			config: timer.Config{Every: time.Second, After: time.Minute, Count: 1},
			wait:   []time.Duration{time.Minute, time.Hour},
			want:   []int{1, 0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.To = actor.Targets{"/user/a"}
			rig := actortest.NewRig(t, must(timer.New(c.config))).MustStart()
			for i, d := range c.wait {
				if err := rig.Advance(d); err != nil {
					t.Fatal(err)
				}
				if got := len(rig.Sent()); got != c.want[i] {
					t.Errorf("wait %d (%v): got %d messages, want %d", i, d, got, c.want[i])
				}
			}
		})
	}
}

func TestTheMessageIsTheConfiguredOneAndGoesToEveryTarget(t *testing.T) {
	tm := must(timer.New(timer.Config{
		Every: time.Second, Kind: "poll", Body: map[string]any{"unit": "celsius"}, Headers: map[string]string{"source": "clock"},
		To: actor.Targets{"/user/a", "./b"},
	}))
	rig := actortest.NewRig(t, tm).MustStart()
	rig.Advance(0)
	sent := rig.Sent()
	if len(sent) != 2 || sent[0].To != "/user/a" || sent[1].To != "/user/subject/b" {
		t.Fatalf("sent: got %+v, want one to /user/a and one to /user/subject/b", sent)
	}
	m := sent[0].Message
	if got, want := fmt.Sprint(m.Kind, " ", m.Body, m.Headers), "poll map[unit:celsius] map[source:clock]"; got != want {
		t.Errorf("message\n got: %s\nwant: %s", got, want)
	}
}

func TestWhatOthersSendIsADeadLetter(t *testing.T) {
	rig := actortest.NewRig(t, must(timer.New(timer.Config{Every: time.Second, To: actor.Targets{"/user/a"}}))).MustStart()
	rig.Tell(actor.Message{Kind: "order"})
	if dead := rig.DeadLetters(); len(dead) != 1 || dead[0].Reason != "unrouted: a timer takes no messages" {
		t.Errorf("dead letters: got %+v, want the order as unrouted", dead)
	}
}

func TestANewConfigurationKeepsTheCount(t *testing.T) {
	c := timer.Config{Every: time.Second, After: everyFirst, Count: 5, To: actor.Targets{"/user/a"}}
	tm := must(timer.New(c))
	rig := actortest.NewRig(t, tm).MustStart()
	reconfigure := func(c timer.Config) {
		t.Helper()
		if err := rig.Do(func(ctx actor.Context) error { return tm.Reconfigure(ctx, c) }); err != nil {
			t.Fatal(err)
		}
	}
	rig.Advance(2500 * time.Millisecond)
	reconfigure(c)
	rig.Advance(500 * time.Millisecond)
	if got := len(rig.Sent()); got != 3 {
		t.Errorf("with an equal configuration: got %d messages in 3s, want 3: the rhythm stays", got)
	}
	c.Every = time.Minute
	reconfigure(c)
	if got := rig.Timers(); got != 1 {
		t.Errorf("timers: got %d, want 1: the old one is cancelled", got)
	}
	rig.Advance(time.Hour)
	if got := len(rig.Sent()); got != 2 {
		t.Errorf("after the change: got %d messages, want the 2 that were left", got)
	}
}

func TestASuccessorGoesOnCounting(t *testing.T) {
	c := timer.Config{Every: time.Second, Count: 3, To: actor.Targets{"/user/a"}}
	old := must(timer.New(c))
	rig := actortest.NewRig(t, old).MustStart()
	rig.Advance(time.Second)
	state := must(old.Snapshot())
	next := must(timer.New(c))
	if err := next.Restore(state); err != nil {
		t.Fatal(err)
	}
	rig = actortest.NewRig(t, next).MustStart()
	rig.Advance(time.Hour)
	if got := len(rig.Sent()); got != 1 {
		t.Errorf("got %d messages from the successor, want 1 of 3", got)
	}
	if err := next.Restore(actor.State{Version: 2}); err == nil {
		t.Error("a state of version 2: got no error, want one")
	}
}

// FuzzRestore: whatever a snapshot holds, the timer refuses it or works on.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"sent":2}`))
	f.Add([]byte(`{"sent":-9223372036854775808}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tm := must(timer.New(timer.Config{Every: time.Second, Count: 3, To: actor.Targets{"/user/a"}}))
		if tm.Restore(actor.State{Version: 1, Data: data}) != nil {
			return
		}
		rig := actortest.NewRig(t, tm).MustStart()
		if err := rig.Advance(time.Minute); err != nil {
			t.Errorf("after restoring %s: got error %v, want none", data, err)
		}
	})
}

func TestConfigurationIsChecked(t *testing.T) {
	for _, c := range []struct{ name, every, after, count, want string }{
		{"every needs a unit", "10", "1s", "1", `every: "10" is not a duration`},
		{"every is at least a millisecond", "1us", "1s", "1", "every: 1us is too small"},
		{"a negative after is none", "1s", "-1s", "1", "after: -1s is too small"},
		{"a count of zero is not a count", "1s", "1s", "0", "count: 0 is too small"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := map[string]any{"every": c.every, "after": c.after, "count": c.count, "to": "/user/a"}
			_, errs := timer.Factory().Schema().Decode(args)
			if len(errs) != 1 || !startsWith(errs[0].Error(), c.want) {
				t.Errorf("got %v, want one error: %s…", errs, c.want)
			}
		})
	}
}

func startsWith(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

func Example() {
	args, _ := timer.Factory().Schema().Decode(map[string]any{"every": "5s", "to": "/user/poller"})
	prepared, err := timer.Factory().Prepare(args)
	fmt.Println(prepared.New != nil, err)
	// Output: true <nil>
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
