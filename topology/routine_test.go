package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// diary is a behaviour that notes what it is told, and when.
type diary struct {
	b  *bench
	t0 time.Time
}

func (d *diary) Receive(ctx actor.Context, m actor.Message) error {
	d.b.note("%s %s@%v", ctx.Self().Path().Name(), m.Kind, time.Since(d.t0))
	if m.Kind == "stash" {
		return ctx.Stash()
	}
	return nil
}

// Snapshot and Restore hand over nothing, which keeps the plan short.
func (d *diary) Snapshot() (actor.State, error) { return actor.State{Version: 1}, nil }
func (d *diary) Restore(actor.State) error      { return nil }

// keepDiaries runs a test with diaries in a bubble.
func keepDiaries(t *testing.T, text string, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, file: t.TempDir() + "/application.conf"}
		b.write(text)
		src, t0 := b.source(nil), time.Now()
		f := actor.FactoryOf(actor.SchemaOf[noterConf]("diary", "notes"), func(noterConf) (actor.Behaviour, error) {
			return &diary{b, t0}, nil
		})
		if err := src.Registry.AddBehaviour(f); err != nil {
			t.Fatal(err)
		}
		top, err := Start(t.Context(), src, b.options())
		if err != nil {
			t.Fatal(err)
		}
		b.top = top
		test(b)
		if err := top.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func (b *bench) tellAll(path actor.Path, kinds ...string) {
	for _, k := range kinds {
		_ = b.top.System().Lookup(path).Tell(context.Background(), actor.Message{Kind: k})
	}
	synctest.Wait()
}

// pass lets time pass and returns the notes of it.
func (b *bench) pass(d time.Duration) string {
	time.Sleep(d)
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	out := strings.Join(b.notes, ", ")
	b.notes = nil
	return out
}

func TestAReloadChangesARoutineInPlace(t *testing.T) {
	const a = "actord.actors.a { behaviour = diary, %s }"
	type step struct {
		text, plan string
		tell       []string
		pass       time.Duration
		notes      string
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"timers are replaced by key, and others keep their phase", []step{
			{text: "timers { t { every = 10s, message.kind = t } }", pass: 14 * time.Second, notes: "a t@10s"},
			{text: "timers { t { every = 10s, message.kind = t }, u { every = 4s, message.kind = u } }",
				plan: `~ /user/a  update +timers.u.every 4s, +timers.u.message.kind u`,
				pass: 7 * time.Second, notes: "a u@18s, a t@20s"},
			{text: "timers { u { every = 6s, message.kind = u } }", pass: 6500 * time.Millisecond, notes: "a u@27s"},
			{text: "description = no more", pass: time.Hour},
		}},
		{"timers stay over a new behaviour", []step{
			{text: "args.word = one, timers.t { every = 10s, message.kind = t }", pass: 14 * time.Second, notes: "a t@10s"},
			{text: "args.word = two, timers.t { every = 10s, message.kind = t }", plan: "~ /user/a  reconfigure args.word one → two",
				pass: 7 * time.Second, notes: "a t@20s"},
		}},
		{"a plan is followed", []step{
			{text: `timers.t { cron = "30 * * * *", message.kind = t }`, pass: 90 * time.Minute, notes: "a t@30m0s, a t@1h30m0s"},
		}},
		{"a throttle pauses, changes and ends", []step{
			{text: "throttle { rate = 1/m, burst = 1 }", tell: []string{"x", "y", "z"}, pass: time.Second, notes: "a x@0s"},
			{text: "throttle { rate = 2/m, burst = 1 }", plan: "~ /user/a  update throttle.rate 1/m → 2/m", pass: 40 * time.Second, notes: "a y@30.5s"},
			{text: "", plan: "~ /user/a  update throttle.rate 2/m → off, throttle.burst 1 → 0", notes: "a z@41s"},
		}},
		{"silence is made known, and then ends the actor", []step{
			{text: "receive-timeout = 1m", pass: 150 * time.Second, notes: "a receive-timeout@1m0s, a receive-timeout@2m0s"},
			{text: "receive-timeout = 1m, on-receive-timeout = stop", plan: "~ /user/a  update on-receive-timeout message → stop", pass: 2 * time.Minute},
		}},
		{"what is set aside is given to the new behaviour", []step{
			{text: "args.word = one", tell: []string{"stash", "x"}, notes: "a stash@0s, a x@0s"},
			{text: "args.word = two", plan: "~ /user/a  reconfigure args.word one → two", notes: "a stash@0s"},
		}},
		{"the stash is bounded", []step{
			{text: "mailbox.stash-capacity = 1, supervision.on-failure = resume", tell: []string{"stash", "stash"}, notes: "a stash@0s, a stash@0s"},
			{text: "mailbox.stash-capacity = 2, supervision.on-failure = resume", plan: "~ /user/a  update mailbox.stash-capacity 1 → 2"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keepDiaries(t, fmt.Sprintf(a, tt.steps[0].text), func(b *bench) {
				for i, s := range tt.steps {
					if i > 0 {
						b.write(fmt.Sprintf(a, s.text))
						r := b.top.Reload(b.t.Context(), "test")
						if got := strings.TrimSpace(r.Plan.String()); r.Err != nil || s.plan != "" && got != s.plan {
							b.t.Errorf("step %d: got %v and the plan\n%s\nwant\n%s", i, r.Err, got, s.plan)
						}
					}
					b.tellAll("/user/a", s.tell...)
					if got := b.pass(s.pass); got != s.notes {
						b.t.Errorf("step %d: got %q, want %q", i, got, s.notes)
					}
				}
			})
		})
	}
}

func TestAConfiguredWatchFollowsThePath(t *testing.T) {
	text := func(word string) string {
		return "actord.actors { a { behaviour = diary, " + word + " }, db { behaviour = noter } }"
	}
	stopDB := func(b *bench) {
		a, ok := b.top.System().Find("/user/db")
		if !ok {
			b.t.Fatal("db is not there")
		}
		_ = a.StopNow(context.Background())
		synctest.Wait()
	}
	keepDiaries(t, text("watch = [/user/db]"), func(b *bench) {
		b.took()
		stopDB(b)
		if got, want := b.took(), []string{"a terminated@0s", "stop /user/db "}; !slices.Equal(got, want) {
			t.Errorf("it ended: got %q, want %q", got, want)
		}
		b.write(text("watch = [/user/db], description = x") + "\nactord.actors.db.args.word = new")
		b.top.Reload(b.t.Context(), "test") // which starts db again
		b.took()
		stopDB(b)
		if got, want := b.took(), []string{"a terminated@0s", "stop /user/db new"}; !slices.Equal(got, want) {
			t.Errorf("its successor ended: got %q, want %q", got, want)
		}
		b.write(text("description = x") + "\nactord.actors.db.args.word = newer")
		if got := b.top.Reload(b.t.Context(), "test").Plan.String(); !strings.Contains(got, "update -watch[0] /user/db") {
			t.Errorf("plan: got %s, want an update of watch", got)
		}
		b.took()
		stopDB(b)
		if got, want := b.took(), []string{"stop /user/db newer"}; !slices.Equal(got, want) {
			t.Errorf("it is not watched any more: got %q, want %q", got, want)
		}
	})
}
