package topology

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// bench is a system under test: a file that the test rewrites and behaviours
// that note what happens to them.
type bench struct {
	t     *testing.T
	file  string
	top   *Topology
	mu    sync.Mutex // guards notes
	notes []string

	unblock chan struct{} // closed to let handlers go on
	blocked chan struct{} // gets one for each handler that blocks
	log     slog.Handler  // nil discards
	dir     string        // for the state
}

func (b *bench) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// took returns the notes since the last call, sorted.
func (b *bench) took() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.notes
	b.notes = nil
	slices.Sort(out)
	return out
}

// noter is a behaviour with state: it counts messages, hands the number over and
// answers with it.
type noter struct {
	b     *bench
	conf  noterConf
	path  actor.Path
	count int64
}

type noterConf struct {
	Word string `conf:"word" default:"" doc:"a word"`
	Fail string `conf:"fail" default:"" doc:"what fails: build, start or receive; or it can block"`
}

func (n *noter) Start(ctx actor.Context) error {
	n.path = ctx.Self().Path()
	if n.conf.Fail == "start" {
		return errors.New("it is told to fail")
	}
	n.b.note("start %s %s", n.path, n.conf.Word)
	return nil
}

func (n *noter) Receive(ctx actor.Context, m actor.Message) error {
	switch n.conf.Fail {
	case "receive":
		return errors.New("it is told to fail")
	case "block":
		select {
		case n.b.blocked <- struct{}{}:
		default:
		}
		<-n.b.unblock
	}
	if m.Kind == "word" {
		return ctx.Reply(actor.Message{Kind: "word", Body: n.conf.Word})
	}
	n.count++
	if ctx.Sender() == nil {
		return nil
	}
	return ctx.Reply(actor.Message{Kind: "count", Body: n.count})
}

func (n *noter) Stop(actor.Context) error {
	n.b.note("stop %s %s", n.path, n.conf.Word)
	return nil
}

func (n *noter) Snapshot() (actor.State, error) {
	return actor.State{Version: 1, Data: fmt.Append(nil, n.count)}, nil
}

func (n *noter) Restore(s actor.State) error {
	_, err := fmt.Sscan(string(s.Data), &n.count)
	return err
}

func newBench(t *testing.T, text string) *bench {
	t.Helper()
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf")}
	b.write(text)
	top, err := Start(t.Context(), b.source(nil), b.options())
	if err != nil {
		t.Fatal(err)
	}
	b.top = top
	t.Cleanup(func() {
		if err := top.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) options() Options {
	if b.log == nil {
		b.log = slog.NewTextHandler(io.Discard, nil)
	}
	if b.dir == "" {
		b.dir = b.t.TempDir()
	}
	return Options{
		Log: slog.New(b.log),
		Env: func(name string) (string, bool) { return b.dir, name == "XDG_STATE_HOME" },
	}
}

func (b *bench) source(open OpenPlugin) Source {
	reg := &actor.Registry{}
	for _, name := range []string{"noter", "other"} {
		f := actor.FactoryOf(actor.SchemaOf[noterConf](name, "notes"), func(c noterConf) (actor.Behaviour, error) {
			if c.Fail == "build" {
				return nil, errors.New("it cannot be built")
			}
			return &noter{b: b, conf: c}, nil
		})
		if err := reg.AddBehaviour(f); err != nil {
			b.t.Fatal(err)
		}
	}
	return Source{File: b.file, Registry: reg, Open: open}
}

func (b *bench) write(text string) {
	b.t.Helper()
	if err := os.WriteFile(b.file, []byte("actord { system.shutdown-drain-timeout = 0, reload { watch = off, probation = off } }\n"+text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// count asks the noter at path; it answers with how many messages it has had.
func (b *bench) count(path actor.Path) any {
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	m, err := b.top.System().Lookup(path).(actor.Asker).Ask(ctx, actor.Message{Kind: "hit"})
	if err != nil {
		return err.Error()
	}
	return m.Body
}

const before = `actord.actors {
  a { behaviour = noter, args.word = one, mailbox.capacity = 100, children { k { behaviour = noter } } }
  b { behaviour = noter }
}`

func TestReloadTouchesWhatChangedAlone(t *testing.T) {
	tests := []struct {
		name  string
		after string
		plan  string
		notes []string
		a, b  any // how many messages they have had after two each
	}{
		{"nothing", before + "\n# a comment\n", "", nil, int64(3), int64(3)},
		{"a new actor", before + "\nactord.actors.c { behaviour = noter, args.word = new }",
			"+ /user/c  start (noter)\n", []string{"start /user/c new"}, int64(3), int64(3)},
		{"an actor that goes", strings.Replace(before, "b { behaviour = noter }", "", 1),
			"- /user/b  stop\n", []string{"stop /user/b "}, int64(3), "ask /user/b: " + actor.ErrStopped.Error()},
		{"a capacity", strings.Replace(before, "= 100", "= 200", 1),
			"~ /user/a  update mailbox.capacity 100 → 200\n", nil, int64(3), int64(3)},
		{"an argument hands the state over", strings.Replace(before, "one", "two", 1),
			"~ /user/a  reconfigure args.word one → two\n", []string{"start /user/a two", "stop /user/a one"}, int64(3), int64(3)},
		{"another behaviour starts anew", strings.Replace(before, "b { behaviour = noter", "b { behaviour = other", 1),
			"± /user/b  replace behaviour noter → other\n", []string{"start /user/b ", "stop /user/b "}, int64(3), int64(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, before)
			for range 2 {
				b.count("/user/a")
				b.count("/user/b")
			}
			b.took()
			b.write(tt.after)
			r := b.top.Reload(t.Context(), "test")
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if got := r.Plan.String(); got != tt.plan {
				t.Errorf("plan: got\n%s\nwant\n%s", got, tt.plan)
			}
			if got := b.took(); !slices.Equal(got, tt.notes) {
				t.Errorf("happened: got %q, want %q", got, tt.notes)
			}
			if got := b.count("/user/a"); got != tt.a {
				t.Errorf("/user/a: got %v, want %v", got, tt.a)
			}
			if got := b.count("/user/b"); got != tt.b {
				t.Errorf("/user/b: got %v, want %v", got, tt.b)
			}
		})
	}
}

func TestAWrongFileTouchesNothing(t *testing.T) {
	tests := []struct{ name, after, err string }{
		{"half a file", before[:len(before)/2], "application.conf:"},
		{"a wrong number", strings.Replace(before, "= 100", "= many", 1), `actors.a.mailbox.capacity: "many" is not a number`},
		{"an unknown behaviour", strings.Replace(before, "b { behaviour = noter", "b { behaviour = notter", 1), `did you mean "noter"?`},
		{"what cannot be built", strings.Replace(before, "word = one", "fail = build", 1), "it cannot be built"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, before)
			b.took()
			b.write(tt.after)
			r := b.top.Reload(t.Context(), "test")
			if r.Outcome != Rejected || r.Revision != 1 || r.Err == nil || !strings.Contains(hocon.Format(r.Err), tt.err) {
				t.Errorf("got %s, revision %d, %v; want rejected, 1, %q", r.Outcome, r.Revision, r.Err, tt.err)
			}
			if got := b.took(); len(got) > 0 {
				t.Errorf("happened: got %q, want nothing", got)
			}
		})
	}
}

func TestAStepThatFailsLeadsBack(t *testing.T) {
	tests := []struct{ name, after string }{
		{"a new actor does not start", strings.Replace(before, "= 100", "= 5", 1) + "\nactord.actors.c { behaviour = noter, args.fail = start }"},
		{"new arguments do not start", strings.Replace(before, "word = one", "fail = start", 1) + "\nactord.actors.c { behaviour = noter }"},
		{"a replaced actor does not start", strings.Replace(before, "b { behaviour = noter", "b { behaviour = other, args.fail = start", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, before)
			b.count("/user/a")
			b.write(tt.after)
			r := b.top.Reload(t.Context(), "test")
			if r.Outcome != RolledBack || r.Revision != 1 {
				t.Errorf("got %s, revision %d, %v; want rolled-back, 1", r.Outcome, r.Revision, r.Err)
			}
			if got := b.count("/user/a"); got != int64(2) {
				t.Errorf("/user/a: got %v, want its state kept", got)
			}
			if got := b.count("/user/b"); got != int64(1) {
				t.Errorf("/user/b: got %v, want it to run", got)
			}
			if _, there := b.top.System().Find("/user/c"); there {
				t.Error("/user/c: got a running actor, want none")
			}
			a, _ := b.top.System().Find("/user/a")
			if got := a.Info().Capacity; got != 100 {
				t.Errorf("capacity of /user/a: got %d, want 100 as before", got)
			}
			b.write(before + "\n")
			if r := b.top.Reload(t.Context(), "test"); r.Outcome != Unchanged {
				t.Errorf("the file as it was: got %s %v, want unchanged", r.Outcome, r.Err)
			}
		})
	}
}

func TestAStartThatFailsLeavesNothingBehind(t *testing.T) {
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf")}
	b.write(before + "\nactord.actors.c { behaviour = noter, args.fail = start }")
	if _, err := Start(t.Context(), b.source(nil), b.options()); err == nil || !strings.Contains(err.Error(), "it is told to fail") {
		t.Errorf("got %v, want the failure of /user/c", err)
	}
	b.write(before)
	top, err := Start(t.Context(), b.source(nil), b.options())
	if err != nil {
		t.Fatalf("start again: %v", err)
	}
	if err := top.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// fakePlugin is a plugin process that offers the noter.
type fakePlugin struct {
	b      *bench
	number int
}

func (p *fakePlugin) Factories() []actor.Factory {
	return []actor.Factory{actor.FactoryOf(actor.SchemaOf[noterConf]("p/noter", "notes"), func(c noterConf) (actor.Behaviour, error) {
		c.Word = fmt.Sprintf("process %d", p.number)
		return &noter{b: p.b, conf: c}, nil
	})}
}

func (p *fakePlugin) Close(context.Context) error {
	p.b.note("close process %d", p.number)
	return nil
}

func TestAChangedProgramTakesOverWithTheState(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/true"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf")}
	b.write(fmt.Sprintf("actord { plugins.p.command = [%q], actors { a.behaviour = \"p/noter\", b.behaviour = noter } }", program))
	opened := 0
	open := func(context.Context, *spec.Plugin) (PluginHost, error) {
		opened++
		return &fakePlugin{b, opened}, nil
	}
	var err error
	if b.top, err = Start(t.Context(), b.source(open), b.options()); err != nil {
		t.Fatal(err)
	}
	b.count("/user/a")
	b.took()
	if err := os.WriteFile(program, []byte("#!/bin/false"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := b.top.Reload(t.Context(), "test")
	if r.Outcome != Applied || len(r.Plan.Steps) != 1 {
		t.Errorf("got %s %v, want one step", r.Outcome, r.Plan)
	}
	want := []string{"close process 1", "start /user/a process 2", "stop /user/a process 1"}
	if got := b.took(); !slices.Equal(got, want) {
		t.Errorf("happened: got %q, want %q", got, want)
	}
	if got := b.count("/user/a"); got != int64(2) {
		t.Errorf("/user/a: got %v, want its state kept", got)
	}
	if err := b.top.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestASecondDaemonIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(dir); !errors.Is(err, ErrRunning) {
		t.Errorf("got %v, want ErrRunning", err)
	}
	if err := s.save(AppliedConfig{Revision: 3, Config: []byte(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	if a, running, err := ReadApplied(dir); err != nil || !running || a.Revision != 3 {
		t.Errorf("got %+v %v %v, want revision 3", a, running, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, running, err := ReadApplied(dir); err != nil || running {
		t.Errorf("after the end: got %v %v, want not running", running, err)
	}
}
