package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/phase"
)

// told tells nobody something.
func (b *bench) told(kind string) {
	_ = b.top.System().Lookup("/user/nobody").Tell(b.t.Context(), actor.Message{Kind: kind})
}

func TestAReloadChangesWhatIsRememberedOfDeadLetters(t *testing.T) {
	b := newBench(t, "actord.actors.a.behaviour = noter")
	d := b.top.System().DeadLetters()
	if got, want := d.Settings(), runtime.DefaultDeadLetters(); got != want {
		t.Errorf("at first: got %+v, want %+v", got, want)
	}
	b.told("1")
	memory := "actord { actors.a.behaviour = noter, dead-letters { store = memory, max-entries = 2, max-replays = 1 } }"
	b.reload(memory, "~ system  configure dead-letters.store metrics → memory, dead-letters.max-entries 1000 → 2, dead-letters.max-replays 3 → 1\n")
	for _, kind := range []string{"2", "3", "4"} {
		b.told(kind)
	}
	var got []string
	for _, l := range d.List(runtime.LetterQuery{}) {
		got = append(got, l.Message.Kind)
	}
	if want := []string{"4", "3"}; !slices.Equal(got, want) {
		t.Errorf("kept: got %q, want %q", got, want)
	}
	if got, want := d.Counts()[0].Count, uint64(4); got != want {
		t.Errorf("counted: got %d, want %d", got, want)
	}
	b.reload("actord { actors.a.behaviour = noter, dead-letters.store = off }",
		"~ system  configure dead-letters.store memory → off, dead-letters.max-entries 2 → 1000, dead-letters.max-replays 1 → 3\n")
	if got := d.List(runtime.LetterQuery{}); len(got) != 0 {
		t.Errorf("off: got %v, want none", got)
	}
}

func TestAReloadChangesDispatchersLiveAndReplacesWhoChangesItsOwn(t *testing.T) {
	b := newBench(t, "actord.actors { a.behaviour = noter, b.behaviour = noter }")
	b.count("/user/a")
	b.count("/user/b")
	b.took()
	own := func(threads int) string {
		return fmt.Sprintf("actord { dispatchers.own.threads = %d, actors { a.behaviour = noter, b { behaviour = noter, dispatcher = own } } }", threads)
	}
	b.reload(own(2), "~ system  configure +dispatchers.own.throughput 256, +dispatchers.own.time-slice 10ms, +dispatchers.own.threads 2\n"+
		"± /user/b  replace dispatcher default → own\n")
	if got, want := b.took(), []string{"start /user/b ", "stop /user/b "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	b.reload(own(3), "~ system  configure dispatchers.own.threads 2 → 3\n")
	if got, want := b.counts("/user/a", "/user/b"), []any{int64(2), int64(1)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	b.reload("actord.actors { a.behaviour = noter, b.behaviour = noter }",
		"~ system  configure -dispatchers.own.throughput 256, -dispatchers.own.time-slice 10ms, -dispatchers.own.threads 3\n"+
			"± /user/b  replace dispatcher own → default\n")
	b.count("/user/b")
}

func TestAReplacementThatFailsGoesBackToADispatcherThatWasToGo(t *testing.T) {
	b := newBench(t, "actord { dispatchers.own.threads = 1, actors.a { behaviour = noter, dispatcher = own } }")
	b.write("actord.actors.a { behaviour = noter, args.fail = start, supervision.on-failure = stop }")
	if r := b.top.Reload(t.Context(), "test"); r.Outcome != RolledBack {
		t.Fatalf("got %s, %v; want rolled-back", r.Outcome, r.Err)
	}
	b.count("/user/a")
}

func TestAReloadChangesHowTheSystemIsShutDown(t *testing.T) {
	b := newBench(t, "actord.actors.a.behaviour = noter")
	b.reload("actord { actors.a.behaviour = noter, shutdown { default-phase-timeout = 9s, phases.flush { after = [service-stop] } } }",
		"~ system  configure shutdown.default-phase-timeout 5s → 9s, +shutdown.phases.flush.after[0] service-stop, +shutdown.phases.flush.recover on\n")
	sys := b.top.System()
	limit := time.Duration(0)
	if _, err := sys.OnShutdown("flush", "see", func(ctx context.Context) error {
		end, _ := ctx.Deadline()
		limit = time.Until(end).Round(time.Second)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.top.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := 9 * time.Second; limit != want {
		t.Errorf("the time of the phase: got %v, want %v", limit, want)
	}
	var got []string
	for _, p := range sys.ShutdownReport() {
		got = append(got, p.Phase)
	}
	if want := slices.Insert(phase.Names(), 4, "flush"); !slices.Equal(got, want) {
		t.Errorf("phases: got %q, want %q", got, want)
	}
}

func TestAPhaseThatHasATaskCannotBeReloadedAway(t *testing.T) {
	b := newBench(t, "actord { actors.a.behaviour = noter, shutdown.phases.flush.timeout = 1s }")
	remove, err := b.top.System().OnShutdown("flush", "x", func(context.Context) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	b.write("actord.actors.a.behaviour = noter")
	if r := b.top.Reload(t.Context(), "test"); r.Outcome != RolledBack || !strings.Contains(r.Err.Error(), "phase flush: it has the task x") {
		t.Errorf("got %s, %v; want rolled-back and the task", r.Outcome, r.Err)
	}
	remove()
	if r := b.top.Reload(t.Context(), "test"); r.Outcome != Applied {
		t.Errorf("got %s, %v; want applied", r.Outcome, r.Err)
	}
}

type listenConf struct {
	Listen actor.Address `conf:"listen" doc:"where to listen"`
}

// stopper notes when it ends.
type stopper struct {
	b    *bench
	path actor.Path
}

func (s *stopper) Start(ctx actor.Context) error              { s.path = ctx.Self().Path(); return nil }
func (s *stopper) Receive(actor.Context, actor.Message) error { return nil }
func (s *stopper) Stop(actor.Context) error                   { s.b.note("stop %s", s.path); return nil }

func TestListenersCloseBeforeOtherBridgesAndThoseBeforeActors(t *testing.T) {
	b := &bench{t: t, file: t.TempDir() + "/application.conf"}
	b.write(`actord {
		actors.a.behaviour = noter
		bridges { z { type = gate, listen = ":0" }, m { type = gate }, a { type = gate, listen = ":0" } }
	}`)
	src := b.source(nil)
	if err := src.Registry.AddBridge(actor.FactoryOf(actor.SchemaOf[listenConf]("gate", "a bridge"), func(listenConf) (actor.Behaviour, error) {
		return &stopper{b: b}, nil
	})); err != nil {
		t.Fatal(err)
	}
	top, err := Start(t.Context(), src, b.options())
	if err != nil {
		t.Fatal(err)
	}
	b.took()
	if err := top.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := b.notes
	if len(got) == 4 {
		slices.Sort(got[:2]) // beside each other
	}
	want := []string{"stop /system/bridges/a", "stop /system/bridges/z", "stop /system/bridges/m", "stop /user/a "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if r := top.Reload(t.Context(), "test"); r.Outcome != Rejected {
		t.Errorf("a reload afterwards: got %s, want rejected", r.Outcome)
	}
}

func TestAShutdownOfTheEngineAloneEndsBridgesAndReloadsToo(t *testing.T) {
	b := newBench(t, "actord.actors.a.behaviour = noter")
	if err := b.top.System().Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := b.top.Reload(t.Context(), "test"); r.Outcome != Rejected {
		t.Errorf("a reload afterwards: got %s, want rejected", r.Outcome)
	}
}
