package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// bin holds the plugins that TestMain builds.
var bin string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "be-a-host" {
		beAHost(os.Args[2])
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "plugins")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		for _, name := range []string{"plugin", "hostile"} {
			out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./testdata/"+name).CombinedOutput()
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n%s", name, err, out)
				return 1
			}
		}
		bin = dir
		return m.Run()
	}())
}

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit, tick := time.After(patience), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-limit:
			t.Fatalf("did not happen within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

// safeBuffer is a log that can be read while it is written.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// rig is a real system with a plugin and a probe at /user/probe.
type rig struct {
	t      *testing.T
	sys    *runtime.System
	plugin *Plugin
	log    *safeBuffer
	probed chan actor.Message

	mu     sync.Mutex // guards events
	events []actor.Event
}

func testConfig(program string) Config {
	return Config{
		Log:  slog.New(slog.DiscardHandler),
		Name: "testing", Command: []string{filepath.Join(bin, program)},
		Restart: Restart{Min: time.Millisecond, Max: 10 * time.Millisecond, Factor: 2, MaxRestarts: 100, Within: time.Minute},
	}
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, log: &safeBuffer{}, probed: make(chan actor.Message, 10_000)}
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r.sys = runtime.New("test", runtime.WithLogger(logger), runtime.WithDrainTimeout(0))
	r.sys.Subscribe(func(e actor.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	cfg := testConfig("plugin")
	cfg.Log, cfg.Publish, cfg.Lookup = logger, r.sys.Publish, r.sys.Lookup
	if change != nil {
		change(&cfg)
	}
	var err error
	if r.plugin, err = Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.sys.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := r.plugin.Close(ctx); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			log := r.log.String()
			t.Log(log[max(0, len(log)-4000):])
		}
	})
	probe := func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			if m.Kind == "send" {
				to := m.Body.([]any)
				return ctx.Tell(ctx.Lookup(actor.Path(to[0].(string))), actor.Message{Kind: to[1].(string)})
			}
			r.probed <- m
			return nil
		}), nil
	}
	r.mustSpawn(runtime.Spec{Name: "probe", New: probe, Settings: runtime.DefaultSettings()})
	return r
}

func (r *rig) mustSpawn(spec runtime.Spec) *runtime.Actor {
	r.t.Helper()
	a, err := r.sys.SpawnActor(actor.User, spec)
	if err == nil {
		err = a.Started(r.t.Context())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

func prepare(p *Plugin, behaviour string, args map[string]any) (actor.Prepared, error) {
	for _, f := range p.Factories() {
		if f.Schema().Name == p.cfg.Name+"/"+behaviour {
			decoded, mistakes := f.Schema().Decode(args)
			if len(mistakes) > 0 {
				return actor.Prepared{}, mistakes[0]
			}
			return f.Prepare(decoded)
		}
	}
	return actor.Prepared{}, errors.New("no such behaviour")
}

// spawn starts an actor with a behaviour of the plugin. change may be nil.
func (r *rig) spawn(name, behaviour string, args map[string]any, change func(*runtime.Settings)) *runtime.Actor {
	r.t.Helper()
	p, err := prepare(r.plugin, behaviour, args)
	if err != nil {
		r.t.Fatal(err)
	}
	s := runtime.DefaultSettings()
	s.Supervision = &supervise.Strategy{OnFailure: supervise.Restart, MaxRestarts: supervise.Unlimited}
	if change != nil {
		change(&s)
	}
	return r.mustSpawn(runtime.Spec{Name: name, New: p.New, Behaviour: "testing/" + behaviour, Settings: s})
}

func (r *rig) tell(to, kind string, body any) {
	r.t.Helper()
	if err := r.sys.Lookup(actor.Path(to)).Tell(r.t.Context(), actor.Message{Kind: kind, Body: body}); err != nil {
		r.t.Fatal(err)
	}
}

// tellAsProbe has the probe tell to a message of a kind.
func (r *rig) tellAsProbe(to, kind string) {
	r.t.Helper()
	r.tell("/user/probe", "send", []any{to, kind})
}

func (r *rig) ask(to, kind string, body any) actor.Message {
	r.t.Helper()
	reply, err := r.tryAsk(to, kind, body)
	if err != nil {
		r.t.Fatalf("ask %s %s: %v", to, kind, err)
	}
	return reply
}

func (r *rig) tryAsk(to, kind string, body any) (actor.Message, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	return r.sys.Lookup(actor.Path(to)).(actor.Asker).Ask(ctx, actor.Message{Kind: kind, Body: body})
}

// probe returns the next message that reached /user/probe.
func (r *rig) probe() actor.Message {
	r.t.Helper()
	select {
	case m := <-r.probed:
		return m
	case <-time.After(patience):
		r.t.Fatal("nothing reached the probe")
		return actor.Message{}
	}
}

// seen returns the events of type E so far.
func seen[E actor.Event](r *rig) []E {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []E
	for _, e := range r.events {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// lettered returns the bodies of the dead letters with a reason.
func (r *rig) lettered(reason string) []any {
	var out []any
	for _, e := range seen[actor.DeadLetter](r) {
		if strings.HasPrefix(e.Reason, reason) {
			out = append(out, e.Message.Body)
		}
	}
	return out
}

// alive tells whether a process runs; a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return syscall.Kill(pid, 0) == nil && !strings.HasPrefix(rest, "Z")
}

func bounded(capacity int) func(*runtime.Settings) {
	return func(s *runtime.Settings) {
		s.Mailbox = mailbox.Settings{Capacity: capacity, Overflow: mailbox.Block, BlockTimeout: patience}
	}
}

func sprint(v any) string { return fmt.Sprint(v) }
