package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// trying is a configuration whose changes are on probation.
func trying(how, actors string) string {
	return fmt.Sprintf("actord { reload { %s }, actors { %s } }", how, actors)
}

// await waits for the end of the probation and returns the entry of the revision.
func (b *bench) await(r Result) Entry {
	b.t.Helper()
	if r.Outcome != Applied || r.Probation == nil {
		b.t.Fatalf("got %s %v, want it applied and on probation", r.Outcome, r.Err)
	}
	select {
	case <-r.Probation:
	case <-time.After(20 * time.Second):
		b.t.Fatal("the probation did not end")
	}
	for _, e := range b.top.Revisions() {
		if e.Kept && e.Revision == r.Revision {
			return e
		}
	}
	b.t.Fatalf("revision %d is not in the history", r.Revision)
	return Entry{}
}

func (b *bench) change(text string) Result {
	b.t.Helper()
	b.write(text)
	return b.top.Reload(b.t.Context(), "test")
}

func (b *bench) tell(path actor.Path) {
	b.t.Helper()
	if err := b.top.System().Lookup(path).Tell(b.t.Context(), actor.Message{Kind: "hit"}); err != nil {
		b.t.Error(err)
	}
}

const strict = "supervision { max-restarts = 0 }"

func TestProbation(t *testing.T) {
	good := "a { behaviour = noter, args.word = one, " + strict + " }"
	tests := []struct {
		name       string
		how, after string
		messages   int
		probation  string
		err        string
	}{
		{"what does well passes", "probation = 20ms", strings.Replace(good, "one", "two", 1), 1, passed, ""},
		{"a behaviour that fails too often leads back", "probation = 1h", strings.Replace(good, "word = one", "fail = receive", 1), 1, failed, "/user/a failed too often: it is told to fail"},
		{"a strategy that stops leads back", "probation = 1h", strings.Replace(good, "word = one, "+strict, "fail = receive, supervision.on-failure = stop", 1), 1, failed, "/user/a failed too often"},
		{"a strategy that escalates leads back", "probation = 1h", strings.Replace(good, "word = one, "+strict, "fail = receive, supervision.on-failure = escalate", 1), 1, failed, "/user/a failed too often"},
		{"what does not come back in time leads back", "probation = 100ms", strings.Replace(good, "word = one, "+strict, "fail = receive, supervision.backoff { min = 20m, max = 20m }", 1), 1, failed, "/user/a did not come back: it is restarting"},
		{"what is not healthy leads back", `probation = 100ms, healthy = "msg.failures == 0 && msg.seconds > 1000"`, strings.Replace(good, "one", "two", 1), 0, failed, "reload.healthy is false"},
		{"what stays healthy passes", `probation = 50ms, healthy = "msg.failures == 0 && msg.bridges_down == 0"`, strings.Replace(good, "one", "two", 1), 1, passed, ""},
		{"a new actor that fails goes again", "probation = 1h", good + ", c { behaviour = noter, args.fail = receive, " + strict + " }", 1, failed, "/user/c failed too often"},
		{"an actor that was not touched may fail", "probation = 100ms", good + ", c { behaviour = noter }", 1, passed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, trying(tt.how, good))
			b.count("/user/a")
			r := b.change(trying(tt.how, tt.after))
			for range tt.messages {
				b.tell("/user/a")
				if _, there := b.top.System().Find("/user/c"); there {
					b.tell("/user/c")
				}
			}
			e := b.await(r)
			outcome, revision := RolledBack, uint64(1)
			if tt.probation == passed {
				outcome, revision = Applied, 2
			}
			if e.Probation != tt.probation || e.Outcome != outcome || !strings.Contains(e.Error, tt.err) {
				t.Errorf("got %s, %s, %q; want %s, %s, %q", e.Outcome, e.Probation, e.Error, outcome, tt.probation, tt.err)
			}
			if _, got := b.top.Current(); got != revision {
				t.Errorf("in force: got revision %d, want %d", got, revision)
			}
			if got := b.count("/user/a"); got != int64(2+tt.messages) && got != int64(2) {
				t.Errorf("/user/a: got %v, want its state kept", got)
			}
			if _, there := b.top.System().Find("/user/c"); there != (tt.probation == passed && strings.Contains(tt.after, "c {")) {
				t.Errorf("/user/c: got there %t", there)
			}
		})
	}
}

func TestWhatWaitsForAFailedActorIsHandledByTheOneThatComesBack(t *testing.T) {
	good := "a { behaviour = noter, args.word = one, " + strict + " }"
	b := newBench(t, trying("probation = 1h", good))
	b.count("/user/a")
	r := b.change(trying("probation = 1h", strings.Replace(good, "word = one", "fail = receive", 1)))
	for range 100 {
		b.tell("/user/a")
	}
	b.await(r)
	if got := b.count("/user/a"); got != int64(1+99+1) {
		t.Errorf("got %v, want 101: all but the message that failed", got)
	}
	if r := b.top.Reload(t.Context(), byFile); r.Outcome != Rejected || !strings.Contains(r.Err.Error(), "failed its probation") {
		t.Errorf("the same file again: got %s %v, want it rejected", r.Outcome, r.Err)
	}
	if r := b.top.Reload(t.Context(), "a person"); r.Outcome != Applied {
		t.Errorf("asked by a person: got %s %v, want it tried", r.Outcome, r.Err)
	}
}

func TestAReloadDoesNotWaitForAProbation(t *testing.T) {
	actors := "a { behaviour = noter, args.word = %s, " + strict + " }, b { behaviour = noter, " + strict + " }"
	b := newBench(t, trying("probation = 1h", fmt.Sprintf(actors, "one")))
	second := b.change(trying("probation = 1h", fmt.Sprintf(actors, "two")))
	b.count("/user/a")
	third := b.change(trying("probation = 1h", strings.Replace(fmt.Sprintf(actors, "two"), "b { behaviour = noter", "b { behaviour = noter, args.fail = receive", 1)))
	if e := b.await(second); e.Probation != supersededBy || e.Outcome != Applied {
		t.Errorf("revision 2: got %s, %s, want applied, superseded", e.Outcome, e.Probation)
	}
	b.took()
	b.tell("/user/b")
	b.await(third)
	// The way back leads past revision 2, which never passed.
	if rev, n := b.top.Current(); n != 1 || rev.Spec.Actors[0].Args["word"] != "one" {
		t.Errorf("got revision %d, want 1", n)
	}
	if got := b.count("/user/a"); got != int64(2) {
		t.Errorf("/user/a: got %v, want its state of revision 2 handed back", got)
	}
	if r := b.change(trying("probation = 1h", fmt.Sprintf(actors, "three"))); r.Revision != 4 {
		t.Errorf("the next one: got revision %d, want 4: numbers are not given twice", r.Revision)
	}
}

// link is a bridge that says whether it is connected.
type link struct {
	up bool
}

type linkConf struct {
	Up bool `conf:"up" default:"on" doc:"connected"`
}

func (l *link) Start(ctx actor.Context) error {
	if path := ctx.Self().Path(); l.up {
		ctx.Publish(actor.BridgeConnected{Path: path})
	} else {
		ctx.Publish(actor.BridgeDisconnected{Path: path, Cause: errors.New("nobody answers")})
	}
	return nil
}

func (l *link) Receive(actor.Context, actor.Message) error { return nil }

func TestABridgeThatIsNotUpLeadsBack(t *testing.T) {
	b := &bench{t: t, file: t.TempDir() + "/application.conf"}
	src := b.source(nil)
	err := src.Registry.AddBridge(actor.FactoryOf(actor.SchemaOf[linkConf]("link", "a link"), func(c linkConf) (actor.Behaviour, error) {
		return &link{c.Up}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	conf := "actord { reload.probation = 50ms, bridges.l { type = link, up = %s } }"
	b.write(fmt.Sprintf(conf, "on"))
	if b.top, err = Start(t.Context(), src, b.options()); err != nil {
		t.Fatal(err)
	}
	e := b.await(b.change(fmt.Sprintf(conf, "off")))
	if e.Outcome != RolledBack || !strings.Contains(e.Error, "/system/bridges/l is not connected") {
		t.Errorf("got %s %q, want it rolled back because of the bridge", e.Outcome, e.Error)
	}
	if b.top.links.down("/system/bridges/l") {
		t.Error("the bridge after the way back: got down, want up")
	}
	if err := b.top.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAStopDuringAProbationEndsBoth(t *testing.T) {
	b := newBench(t, trying("probation = 1h", "a { behaviour = noter, args.word = one }"))
	r := b.change(trying("probation = 1h", "a { behaviour = noter, args.word = two }"))
	if err := b.top.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Probation:
	default:
		t.Error("the probation: got open, want it ended")
	}
	if r := b.top.Reload(t.Context(), "test"); r.Outcome != Rejected || !errors.Is(r.Err, actor.ErrTerminating) {
		t.Errorf("a reload afterwards: got %s %v, want it rejected", r.Outcome, r.Err)
	}
}
