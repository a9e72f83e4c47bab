package topology

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// hear is a log handler that tells of one message.
type hear struct {
	slog.Handler
	what  string
	heard chan struct{} // closed when it came
	once  *sync.Once
}

func listenFor(what string) *hear {
	return &hear{slog.DiscardHandler, what, make(chan struct{}), &sync.Once{}}
}

func (h *hear) Enabled(context.Context, slog.Level) bool { return true }

func (h *hear) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h *hear) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, h.what) {
		h.once.Do(func() { close(h.heard) })
	}
	return nil
}

const many = "a { behaviour = noter }, b { behaviour = noter }, c { behaviour = noter }, d { behaviour = noter }"

func TestAFileThatDeletesMostActorsIsHeld(t *testing.T) {
	few := trying("removed-hold = 1m, probation = off", "a { behaviour = noter }")
	tests := []struct {
		name    string
		hold    string
		request Request
		outcome Outcome
	}{
		{"it is applied when it stays the same", "1ms", Request{By: "test"}, Applied},
		{"it is applied at once when forced", "1m", Request{By: "test", Force: true}, Applied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, trying("probation = off, removed-hold = "+tt.hold, many))
			b.write(few)
			if r := b.top.Do(t.Context(), tt.request); r.Outcome != tt.outcome {
				t.Errorf("got %s %v, want %s", r.Outcome, r.Err, tt.outcome)
			}
		})
	}
	t.Run("half of them may go", func(t *testing.T) {
		b := newBench(t, trying("probation = off, removed-hold = 1m", many))
		r := b.change(trying("probation = off, removed-hold = 1m", "a { behaviour = noter }, b { behaviour = noter }"))
		if r.Outcome != Applied {
			t.Errorf("got %s %v, want it applied", r.Outcome, r.Err)
		}
	})
	t.Run("who is renamed does not go", func(t *testing.T) {
		b := newBench(t, trying("probation = off, removed-hold = 1m, max-removed = 0%", "a { behaviour = noter }"))
		r := b.change(trying("probation = off, removed-hold = 1m, max-removed = 0%", "z { behaviour = noter, was = /user/a }"))
		if r.Outcome != Applied {
			t.Errorf("got %s %v, want it applied", r.Outcome, r.Err)
		}
	})
}

// held starts a reload with a file that deletes most actors and returns when it
// is held.
func held(t *testing.T, hold string) (b *bench, ctx context.CancelCauseFunc, result chan Result) {
	t.Helper()
	ear := listenFor("reload held")
	b = &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf"), log: ear}
	b.write(trying("probation = off, removed-hold = "+hold, many))
	var err error
	if b.top, err = Start(t.Context(), b.source(nil), b.options()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.top.Stop(context.Background()) })
	b.write(trying("probation = off, removed-hold = "+hold, "a { behaviour = noter }"))
	c, cancel := context.WithCancelCause(t.Context())
	result = make(chan Result, 1)
	go func() { result <- b.top.Reload(c, "test") }()
	<-ear.heard
	return b, cancel, result
}

func TestAFileThatIsStillBeingWrittenStopsNobody(t *testing.T) {
	b, _, result := held(t, "200ms")
	b.write(trying("probation = off, removed-hold = 200ms", many))
	if r := <-result; r.Outcome != Unchanged {
		t.Errorf("got %s %v, want nothing changed: the file is whole again", r.Outcome, r.Err)
	}
	for _, p := range []actor.Path{"/user/a", "/user/b", "/user/c", "/user/d"} {
		if got := b.count(p); got != int64(1) {
			t.Errorf("%s: got %v, want it untouched", p, got)
		}
	}
}

func TestAHeldReloadCanBeGivenUp(t *testing.T) {
	_, cancel, result := held(t, "1m")
	cancel(errors.New("it is late"))
	if r := <-result; r.Outcome != Rejected || !strings.Contains(r.Err.Error(), "it would delete 3 of 4 actors, more than reload.max-removed = 50% (force it") {
		t.Errorf("got %s %v, want it rejected with what would have been deleted", r.Outcome, r.Err)
	}
}

func TestTheEndMarker(t *testing.T) {
	actors := "actord.actors { a { behaviour = noter }, b { behaviour = noter } }\n"
	on := "actord.reload.require-eof = on\n"
	tests := []struct {
		name, text string
		err        string
	}{
		{"is there", on + actors + "actord.actors.c.behaviour = noter\nactord.eof = true\n", ""},
		{"is missing", on + actors, "the end marker is missing"},
		{"is missing with the line that wants it", "actord.actors { a { behaviour = noter } }\n", "the end marker is missing"},
		{"is half there", on + actors + "actord.eof = tru", "application.conf:4"},
		{"is not the last line", on + "actord.eof = true\n" + actors, "something follows the end marker"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, on+actors+"actord.eof = true\n")
			r := b.change(tt.text)
			if tt.err == "" && r.Outcome != Applied || tt.err != "" && (r.Outcome != Rejected || !strings.Contains(Explain(r.Err), tt.err)) {
				t.Errorf("got %s %v, want %q", r.Outcome, r.Err, tt.err)
			}
		})
	}
}

func TestARenamedActorKeepsWhatItHas(t *testing.T) {
	const before = `actord.actors {
  a { behaviour = noter, args.word = one, children { k { behaviour = noter }, gone { behaviour = noter } } }
  b { behaviour = noter }
}`
	tests := []struct {
		name, after string
		plan        string
	}{
		{"with all below it", strings.Replace(strings.Replace(before, "  a {", "  z { was = /user/a,", 1), ", gone { behaviour = noter }", "", 1),
			"» /user/a → /user/z  rename (with 1 below it)\n"},
		{"with other settings", strings.Replace(strings.Replace(before, "  a {", "  z { was = /user/a, mailbox.capacity = 7,", 1), "one", "two", 1),
			"» /user/a → /user/z  rename mailbox.capacity unlimited → 7"},
		{"to another parent", strings.Replace(strings.Replace(before, "b { behaviour = noter }", "b { behaviour = noter, children { z { behaviour = noter, was = /user/a, children.k.behaviour = noter } } }", 1),
			"a { behaviour = noter, args.word = one, children { k { behaviour = noter }, gone { behaviour = noter } } }", "", 1),
			"» /user/a → /user/b/z  rename"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, before)
			for range 3 {
				b.count("/user/a")
				b.count("/user/a/k")
			}
			old := b.top.System().Lookup("/user/a")
			r := b.change(tt.after)
			if r.Outcome != Applied || !strings.Contains(r.Plan.String(), tt.plan) {
				t.Fatalf("got %s %v, plan\n%s\nwant\n%s", r.Outcome, r.Err, r.Plan, tt.plan)
			}
			path := actor.Path("/user/z")
			if strings.Contains(tt.plan, "/user/b/z") {
				path = "/user/b/z"
			}
			if got := b.count(path); got != int64(4) {
				t.Errorf("%s: got %v, want its state and one more", path, got)
			}
			if got := b.count(path.Child("k")); got != int64(4) {
				t.Errorf("%s/k: got %v, want its state and one more", path, got)
			}
			if a, ok := b.top.System().Find(path); !ok || a.Info().Handled != 4 {
				t.Errorf("%s: got %+v, want 4 messages counted", path, a.Info())
			}
			if _, there := b.top.System().Find("/user/a"); there {
				t.Error("the old path: got an actor, want none")
			}
			if err := old.Tell(t.Context(), actor.Message{Kind: "hit"}); err == nil && b.count(path) != int64(6) {
				t.Error("an old address: got a message lost without an error")
			}
			b.took()
			if r := b.change(before); r.Outcome != Applied || !strings.Contains(r.Plan.String(), "→ /user/a  rename") {
				t.Errorf("back: got %s %v, plan\n%s, want a rename", r.Outcome, r.Err, r.Plan)
			}
			if got, ok := b.count("/user/a").(int64); !ok || got < 5 {
				t.Errorf("/user/a: got %v, want its state back", got)
			}
		})
	}
}

func TestARenameIsUndone(t *testing.T) {
	const before = "a { behaviour = noter, args.word = one, children { k { behaviour = noter } } }, b { behaviour = noter, args.word = one }"
	tests := []struct{ name, after string }{
		{"when a later step fails", strings.Replace(strings.Replace(before, "a {", "z { was = /user/a,", 1), "b { behaviour = noter, args.word = one", "b { behaviour = noter, args.fail = start", 1)},
		{"when it does not start", strings.Replace(before, "a { behaviour = noter, args.word = one", "z { was = /user/a, behaviour = noter, args.fail = start", 1)},
		{"when something below it does not start", strings.Replace(strings.Replace(before, "a {", "z { was = /user/a,", 1), "k { behaviour = noter", "k { behaviour = noter, args.fail = start", 1)},
		{"when a new one below it does not start", strings.Replace(strings.Replace(before, "a {", "z { was = /user/a,", 1), "k { behaviour = noter", "k { behaviour = noter }, l { behaviour = noter, args.fail = start", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, trying("probation = off", before))
			b.count("/user/a")
			b.count("/user/a/k")
			if r := b.change(trying("probation = off", tt.after)); r.Outcome != RolledBack {
				t.Fatalf("got %s %v, want it rolled back", r.Outcome, r.Err)
			}
			for _, p := range []actor.Path{"/user/a", "/user/a/k"} {
				if got := b.count(p); got != int64(2) {
					t.Errorf("%s: got %v, want it as it was", p, got)
				}
			}
			if _, there := b.top.System().Find("/user/z"); there {
				t.Error("/user/z: got an actor, want none")
			}
		})
	}
}

func TestAFailedProbationLeadsBackToTheOldName(t *testing.T) {
	b := newBench(t, trying("probation = 1h", "a { behaviour = noter }, b { behaviour = noter, "+strict+" }"))
	b.count("/user/a")
	r := b.change(trying("probation = 1h", "z { behaviour = noter, was = /user/a }, b { behaviour = noter, args.fail = receive, "+strict+" }"))
	b.count("/user/z")
	b.tell("/user/b")
	if e := b.await(r); e.Outcome != RolledBack {
		t.Errorf("got %s %s, want it rolled back", e.Outcome, e.Error)
	}
	if got := b.count("/user/a"); got != int64(3) {
		t.Errorf("/user/a: got %v, want the state of both names", got)
	}
}

func TestWhatARemovedActorLeavesIsCounted(t *testing.T) {
	b := newBench(t, trying("probation = off, max-removed = 100%", "a { behaviour = noter, args.fail = block, stop-timeout = 20ms }"))
	b.unblock = make(chan struct{})
	var mu sync.Mutex
	reasons := map[string]int{}
	b.top.System().Subscribe(func(e actor.Event) {
		if d, ok := e.(actor.DeadLetter); ok {
			mu.Lock()
			reasons[d.Reason]++
			mu.Unlock()
		}
	})
	for range 5 {
		b.tell("/user/a")
	}
	go func() { // lets the handler end after the stop-timeout is over
		time.AfterFunc(100*time.Millisecond, func() { close(b.unblock) })
	}()
	r := b.change(trying("probation = off", ""))
	if r.Outcome != Applied || len(r.Actions) == 0 {
		t.Fatalf("got %s %v, want it applied", r.Outcome, r.Err)
	}
	left := 0
	for _, a := range r.Actions {
		left += a.Left
	}
	mu.Lock()
	defer mu.Unlock()
	if left != 4 || reasons["removed in revision 2"] != 4 {
		t.Errorf("got %d left, reasons %v; want 4, removed in revision 2", left, reasons)
	}
}

func TestAReloadThatHangsNamesWhoBlocks(t *testing.T) {
	conf := "a { behaviour = noter, args { word = %s, fail = block } }"
	b := newBench(t, trying("probation = off, deadline = 150ms", fmt.Sprintf(conf, "one")))
	b.unblock, b.blocked = make(chan struct{}), make(chan struct{}, 10)
	b.tell("/user/a")
	<-b.blocked
	r := b.change(trying("probation = off, deadline = 150ms", fmt.Sprintf(conf, "two")))
	close(b.unblock)
	if r.Outcome != RolledBack {
		t.Errorf("got %s, want it rolled back", r.Outcome)
	}
	for _, want := range []string{"/user/a", "it is busy", "reload.deadline = 150ms is over"} {
		if r.Err == nil || !strings.Contains(r.Err.Error(), want) {
			t.Errorf("got %v, want it to say %q", r.Err, want)
		}
	}
	b.count("/user/a")
	if notes := strings.Join(b.took(), ", "); strings.Contains(notes, "start /user/a two") {
		t.Errorf("happened: got %s, want nothing done later", notes)
	}
}

func TestTheHistoryIsKept(t *testing.T) {
	b := newBench(t, trying("probation = off, keep-revisions = 3", "a { behaviour = noter, args.word = w1 }"))
	for i := 2; i <= 6; i++ {
		b.count("/user/a")
		b.change(trying("probation = off, keep-revisions = 3", fmt.Sprintf("a { behaviour = noter, args.word = w%d }", i)))
	}
	entries := b.top.Revisions()
	if len(entries) != 3 || entries[0].Revision != 4 || entries[2].Revision != 6 {
		t.Fatalf("got %+v, want revisions 4 to 6", entries)
	}
	last := entries[2]
	if last.By != "test" || last.Outcome != Applied || last.Hash == "" || last.At.IsZero() || len(last.Actions) != 1 ||
		last.Actions[0].Path != "/user/a" || last.Actions[0].Took <= 0 {
		t.Errorf("got %+v, want who, when, what and how long", last)
	}
	files, _ := filepath.Glob(filepath.Join(b.top.StateDir(), "*.json"))
	if len(files) != 5 {
		t.Errorf("got %v, want three revisions, their list, and what is applied", files)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v %v, want 0600", f, info.Mode(), err)
		}
	}
	r := b.top.Do(t.Context(), Request{By: "test", Rollback: true, To: 4})
	if r.Outcome != Applied || r.Revision != 7 || r.Hash != entries[0].Hash {
		t.Errorf("to revision 4: got %s %v, revision %d", r.Outcome, r.Err, r.Revision)
	}
	if got := b.count("/user/a"); got != int64(6) {
		t.Errorf("/user/a: got %v, want its state kept", got)
	}
	if r := b.top.Do(t.Context(), Request{By: "test", Hash: "0123456789"}); r.Outcome != Rejected {
		t.Errorf("another hash: got %s, want it rejected", r.Outcome)
	}
	if r := b.top.Do(t.Context(), Request{By: "test", Hash: entries[0].Hash[:12]}); r.Outcome != Applied {
		t.Errorf("the beginning of the hash: got %s %v, want it applied", r.Outcome, r.Err)
	}
}

func TestAStateDirectoryThatCannotBeWrittenIsOneWarning(t *testing.T) {
	b := newBench(t, trying("probation = off", "a { behaviour = noter, args.word = w1 }"))
	if err := os.RemoveAll(b.top.StateDir()); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"w2", "w3"} {
		if r := b.change(trying("probation = off", "a { behaviour = noter, args.word = "+word+" }")); r.Outcome != Applied {
			t.Errorf("got %s %v, want it applied all the same", r.Outcome, r.Err)
		}
	}
	if !b.top.history.warned {
		t.Error("got no warning, want one")
	}
}

func TestWithoutAStateDirectoryThisRunIsRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no-directory")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf"), dir: file}
	b.write(trying("probation = off", "a { behaviour = noter, args.word = w1 }"))
	var err error
	if b.top, err = Start(t.Context(), b.source(nil), b.options()); err != nil {
		t.Fatal(err)
	}
	b.change(trying("probation = off", "a { behaviour = noter, args.word = w2 }"))
	if r := b.top.Do(t.Context(), Request{By: "test", Rollback: true}); r.Outcome != Applied || r.Plan.String() != "~ /user/a  reconfigure args.word w2 → w1\n" {
		t.Errorf("got %s %v, want the revision before", r.Outcome, r.Err)
	}
	if err := b.top.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNumbersAndHistoryOutliveTheDaemon(t *testing.T) {
	b := newBench(t, trying("probation = off", "a { behaviour = noter, args.word = w1 }"))
	b.change(trying("probation = off", "a { behaviour = noter, args.word = w2 }"))
	if err := b.top.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.write("actord { half")
	if _, err := Start(t.Context(), b.source(nil), b.options()); err == nil {
		t.Fatal("a wrong file: got a start, want the mistake")
	}
	o := b.options()
	o.Resume = true
	top, err := Start(t.Context(), b.source(nil), o)
	if err != nil {
		t.Fatal(err)
	}
	b.top = top
	if rev, n := top.Current(); n != 3 || rev.Spec.Actors[0].Args["word"] != "w2" {
		t.Errorf("got revision %d, want 3 with what was applied last", n)
	}
	if r := b.change(trying("probation = off", "a { behaviour = noter, args.word = w3 }")); r.Outcome != Applied || r.Revision != 4 {
		t.Errorf("the file when it is right: got %s %v, revision %d", r.Outcome, r.Err, r.Revision)
	}
	if err := top.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAWayBackKnowsEveryNameInBetween(t *testing.T) {
	conf := func(a, b string) string {
		return trying("probation = 1h", a+", b { behaviour = noter, "+b+strict+" }")
	}
	b := newBench(t, conf("a { behaviour = noter }", ""))
	b.count("/user/a")
	b.change(conf("y { behaviour = noter, was = /user/a }", ""))
	b.count("/user/y")
	r := b.change(conf("z { behaviour = noter, was = /user/y }", "args.fail = receive, "))
	b.count("/user/z")
	b.tell("/user/b")
	if e := b.await(r); e.Outcome != RolledBack {
		t.Errorf("got %s %s, want it rolled back", e.Outcome, e.Error)
	}
	if got := b.count("/user/a"); got != int64(4) {
		t.Errorf("/user/a: got %v, want the state of all three names", got)
	}
}
