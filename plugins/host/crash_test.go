package host

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	rt "github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

func TestLoopbackStartErrors(t *testing.T) {
	dir := t.TempDir()
	text, text2 := filepath.Join(dir, "text"), filepath.Join(dir, "plain")
	for name, mode := range map[string]os.FileMode{text: 0o755, text2: 0o644} {
		if err := os.WriteFile(name, []byte("not a program"), mode); err != nil {
			t.Fatal(err)
		}
	}
	mode := func(m string) func(*Config) {
		return func(c *Config) { c.Env = map[string]string{"TEST_MODE": m} }
	}
	command := func(path string) func(*Config) {
		return func(c *Config) { c.Command = []string{path} }
	}
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   []string
	}{
		{"no such file", command("./bin/frod"), []string{"plugin testing", "no file", "bin/frod", "build it"}},
		{"no such program in PATH", command("frod-of-nowhere"), []string{"no program", "PATH"}},
		{"no command", func(c *Config) { c.Command = nil }, []string{"no command", "command ="}},
		{"a directory", command(dir), []string{"is a directory"}},
		{"not executable", command(text2), []string{"not executable", "chmod +x"}},
		{"not a program", command(text), []string{"cannot be run", "exec format error"}},
		{"not a plugin", command("/bin/true"), []string{"exit status 0", "is it a plugin"}},
		{"it exits", mode("exit"), []string{"exit status 3", "no licence found"}},
		{"another protocol version", mode("version"), []string{"version 9", "version 1", "rebuild"}},
		{"it does not get ready", func(c *Config) { mode("silent")(c); c.StartTimeout = 200 * time.Millisecond }, []string{"did not get ready within 200ms"}},
		{"it listens and does not answer", func(c *Config) { mode("deaf")(c); c.StartTimeout = 300 * time.Millisecond }, []string{"did not get ready within 300ms"}},
		{"another checksum", func(c *Config) { c.SHA256 = strings.Repeat("0", 64) }, []string{"has sha256", "change sha256"}},
		{"no checksum at all", func(c *Config) { c.SHA256 = "abc" }, []string{"64 hexadecimal digits"}},
		{"a bad name", func(c *Config) { c.Name = "a/b" }, []string{"a/b"}},
		{"a broken manifest", func(c *Config) { mode("schema")(c); command(filepath.Join(bin, "hostile"))(c) }, []string{"manifest"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := testConfig("plugin")
			tc.change(&cfg)
			_, err := Describe(t.Context(), cfg)
			for _, w := range tc.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("got %v; want an error with %q", err, w)
				}
			}
		})
	}
}

func TestLoopbackStartSucceeds(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(bin, "plugin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		change func(*Config)
	}{
		{"with the right checksum", func(c *Config) { c.SHA256 = fmt.Sprintf("%x", sha256.Sum256(b)) }},
		{"with a path relative to its directory", func(c *Config) { c.Dir, c.Command = bin, []string{"./plugin"} }},
		{"when it prints before it is ready", func(c *Config) { c.Env = map[string]string{"TEST_MODE": "chatty"} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := testConfig("plugin")
			tc.change(&cfg)
			if _, err := Describe(t.Context(), cfg); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLoopbackAPluginRunByHandSaysWhatItIs(t *testing.T) {
	program := filepath.Join(bin, "plugin")
	out, err := exec.Command(program).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "plugins.testing") {
		t.Errorf("got %v, %s; want exit status 1 and how to use it", err, out)
	}
	out, err = exec.Command(program, "--describe").Output()
	if err != nil || !strings.Contains(string(out), `"name": "trouble"`) {
		t.Errorf("got %v, %s; want the manifest", err, out)
	}
}

func TestLoopbackKilledPluginIsNoticedAndComesBack(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("a", "trouble", nil, nil)
	r.spawn("b", "count", nil, nil)
	pid := r.plugin.PID()
	r.tell("/user/a", "hang", "in work")
	r.tell("/user/a", "ok", "behind")
	eventually(t, "the messages left", func() bool { return r.plugin.sentAll(2) })

	begin := time.Now()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both actors fail", func() bool { return len(seen[actor.Failed](r)) >= 2 })
	took := time.Since(begin)
	t.Logf("noticed after %s", took)
	if took > 2*time.Second { // 100 ms on a machine that is not loaded
		t.Errorf("noticed after %s; want soon", took)
	}
	for _, f := range seen[actor.Failed](r) {
		if !errors.Is(f.Cause, ErrCrashed) || !strings.Contains(f.Cause.Error(), "signal: killed") {
			t.Errorf("%s: got %v; want ErrCrashed with the signal", f.Path, f.Cause)
		}
	}
	r.tell("/user/b", "add", nil)
	if got := r.ask("/user/b", "get", nil).Body; got != int64(1) {
		t.Errorf("got %v; want 1 from a fresh instance", got)
	}
	if got := r.ask("/user/a", "seen", nil).Body; fmt.Sprint(got) != "[]" {
		t.Errorf("got %v; want nothing: what had left is not delivered again", got)
	}
	if got := fmt.Sprint(r.lettered(actor.ReasonCrashed)); got != "[in work behind]" {
		t.Errorf("got dead letters %s; want [in work behind]", got)
	}
	started, exited := seen[actor.PluginStarted](r), seen[actor.PluginExited](r)
	if len(started) != 2 || len(exited) != 1 || exited[0].PID != pid || exited[0].Unacked != 2 || started[1].PID != r.plugin.PID() {
		t.Errorf("got started %v, exited %v; want two starts and one exit with 2 unacknowledged", started, exited)
	}
	if alive(pid) {
		t.Errorf("process %d is alive; want it gone", pid)
	}
}

// waiting returns how many handlers wait for room.
func (p *Plugin) waiting() int {
	p.mu.Lock()
	s := p.live
	p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiters)
}

// sentAll tells whether n messages have left for the process.
func (p *Plugin) sentAll(n uint64) bool {
	p.mu.Lock()
	s := p.live
	p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent >= n
}

func TestLoopbackEveryMessageIsAccountedForWhenThePluginIsKilled(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("at least once %t", again), func(t *testing.T) { killUnderLoad(t, again) })
	}
}

func killUnderLoad(t *testing.T, again bool) {
	r := newRig(t, func(c *Config) { c.Window.Messages, c.AtLeastOnce = 64, again })
	r.spawn("echo", "echo", map[string]any{"to": "/user/probe"}, bounded(256))
	const n, kills = 6000, 3
	done := make(chan error, 1)
	go func() {
		ref := r.sys.Lookup("/user/echo")
		for i := range n {
			if err := ref.Tell(t.Context(), actor.Message{Kind: "n", Body: int64(i)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	arrived := map[int64]int{}
	killed, last, repeats := 0, int64(-1), 0
	limit := time.After(patience)
	for len(arrived)+len(r.lettered(actor.ReasonCrashed)) < n {
		select {
		case m := <-r.probed:
			i := m.Body.(int64)
			if arrived[i]++; arrived[i] > 1 {
				repeats++
			} else if i <= last {
				t.Fatalf("got %d after %d; want order", i, last)
			}
			last = max(last, i)
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			t.Fatalf("got %d arrived and %d dead of %d", len(arrived), len(r.lettered("")), n)
		}
		if killed < kills && len(arrived) > (killed+1)*n/(kills+2) {
			if pid := r.plugin.PID(); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	dead := len(r.lettered(actor.ReasonCrashed))
	t.Logf("%d dead letters, %d handled again", dead, repeats)
	switch {
	case !again && (repeats > 0 || dead > kills*64):
		t.Errorf("got %d handled twice and %d dead letters; want none twice and at most a window for each of %d kills", repeats, dead, kills)
	case again && (dead > 0 || repeats > kills*64):
		t.Errorf("got %d dead letters and %d handled twice; want none dead and at most a window for each of %d kills", dead, repeats, kills)
	}
}

func TestLoopbackAMessageThatKillsTwiceIsADeadLetter(t *testing.T) {
	r := newRig(t, func(c *Config) { c.AtLeastOnce = true })
	r.spawn("trouble", "trouble", nil, nil)
	r.tell("/user/trouble", "exit", "poison")
	r.tell("/user/trouble", "ok", "good")
	if got := fmt.Sprint(r.ask("/user/trouble", "seen", nil).Body); got != "[good]" {
		t.Errorf("got %s handled; want [good]", got)
	}
	if got := fmt.Sprint(r.lettered(actor.ReasonCrashed)); got != "[poison]" {
		t.Errorf("got dead letters %s; want [poison]", got)
	}
	if got := len(seen[actor.PluginExited](r)); got != 2 {
		t.Errorf("got %d deaths; want 2", got)
	}
}

func TestLoopbackFailuresUnderLoadKeepTheOrder(t *testing.T) {
	for _, d := range []supervise.Directive{supervise.Restart, supervise.Resume} {
		t.Run(d.String(), func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Window.Messages = 256 })
			r.spawn("echo", "echo", map[string]any{"to": "/user/probe"}, func(s *rt.Settings) {
				bounded(512)(s)
				s.Supervision = &supervise.Strategy{OnFailure: d, MaxRestarts: supervise.Unlimited}
			})
			const n, every = 8000, 97
			failures := 0
			for i := range n {
				kind := "n"
				if i%every == 50 {
					kind, failures = []string{"error", "panic"}[i%2], failures+1
				}
				r.tell("/user/echo", kind, int64(i))
			}
			for i := range n {
				if i%every == 50 {
					continue
				}
				if got := r.probe(); got.Body != int64(i) {
					t.Fatalf("got %v; want %d: each once and in order", got.Body, i)
				}
			}
			eventually(t, "each failed message is a dead letter", func() bool { return len(r.lettered("")) == failures })
			if got := len(r.lettered(actor.ReasonFailed)); got != failures {
				t.Errorf("got %d failed messages; want %d", got, failures)
			}
			if got := len(seen[actor.Failed](r)); got != failures {
				t.Errorf("got %d failures; want %d", got, failures)
			}
		})
	}
}

func TestLoopbackHungProcessIsKilled(t *testing.T) {
	r := newRig(t, func(c *Config) { c.HealthEvery, c.HealthTimeout = 20*time.Millisecond, 200*time.Millisecond })
	r.spawn("count", "count", nil, nil)
	pid := r.plugin.PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process is killed", func() bool { return !alive(pid) })
	if got := r.ask("/user/count", "get", nil).Body; got != int64(0) {
		t.Errorf("got %v; want 0 from a fresh instance", got)
	}
	if e := seen[actor.PluginExited](r); len(e) != 1 || !strings.Contains(e[0].Cause.Error(), "health check") {
		t.Errorf("got %v; want one exit because of the health check", e)
	}
}

func TestLoopbackHungHandlerIsFoundWithItsStack(t *testing.T) {
	r := newRig(t, func(c *Config) { c.HandlerTimeout = 300 * time.Millisecond })
	r.spawn("trouble", "trouble", nil, nil)
	r.tell("/user/trouble", "hang", nil)
	eventually(t, "the process is ended", func() bool { return len(seen[actor.PluginExited](r)) == 1 })
	cause := seen[actor.PluginExited](r)[0].Cause.Error()
	for _, want := range []string{"/user/trouble", `"hang"`, "handler-timeout"} {
		if !strings.Contains(cause, want) {
			t.Errorf("got %q; want %q in it", cause, want)
		}
	}
	if !strings.Contains(r.log.String(), "(*trouble).Receive") {
		t.Error("got no stack of the handler in the log; want it")
	}
}

func TestLoopbackPanicOutsideAHandlerNamesItself(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("trouble", "trouble", nil, nil)
	r.tell("/user/trouble", "crash", nil)
	eventually(t, "the process dies", func() bool { return len(seen[actor.PluginExited](r)) == 1 })
	if cause := seen[actor.PluginExited](r)[0].Cause.Error(); !strings.Contains(cause, "panic: in a goroutine") {
		t.Errorf("got %q; want the panic", cause)
	}
}

func TestLoopbackHostileOutputDoesNoHarm(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("trouble", "trouble", nil, nil)
	pid := r.plugin.PID()
	r.tell("/user/trouble", "stderr", nil)
	r.ask("/user/trouble", "seen", nil)
	eventually(t, "all is logged", func() bool { return strings.Count(r.log.String(), "cut-bytes=") == 80 })
	if r.plugin.PID() != pid || !strings.Contains(r.log.String(), "@message") {
		t.Errorf("got process %d; want %d alive and its lines logged", r.plugin.PID(), pid)
	}
}

func TestLoopbackNonsenseKillsThatPluginOnly(t *testing.T) {
	for _, mode := range []string{"ack", "future-ack", "command", "body", "failure", "empty"} {
		t.Run(mode, func(t *testing.T) {
			r := newRig(t, func(c *Config) {
				c.Command, c.Env = []string{filepath.Join(bin, "hostile")}, map[string]string{"TEST_MODE": mode}
				c.Restart = Restart{Min: time.Millisecond, Max: time.Millisecond, MaxRestarts: 1, Within: time.Minute}
			})
			r.spawn("any", "any", nil, nil)
			pid := r.plugin.PID()
			r.tell("/user/any", "x", nil)
			eventually(t, "it is reported", func() bool { return len(seen[actor.PluginExited](r)) == 1 })
			if cause := seen[actor.PluginExited](r)[0].Cause.Error(); !strings.Contains(cause, "broke the protocol") {
				t.Errorf("got %q; want that it broke the protocol", cause)
			}
			if alive(pid) {
				t.Errorf("process %d is alive; want it killed", pid)
			}
		})
	}
}

func TestLoopbackTooManyDeathsFailThePlugin(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Restart = Restart{Min: time.Millisecond, Max: time.Millisecond, MaxRestarts: 2, Within: time.Minute}
	})
	r.spawn("trouble", "trouble", nil, nil)
	for i := range 3 {
		eventually(t, "the process runs", func() bool { return r.plugin.PID() != 0 })
		r.tell("/user/trouble", "exit", nil)
		eventually(t, "the process dies", func() bool { return len(seen[actor.PluginExited](r)) == i+1 })
	}
	eventually(t, "the actor learns why", func() bool {
		f := seen[actor.Failed](r)
		return len(f) > 0 && strings.Contains(f[len(f)-1].Cause.Error(), "died more than 2 times")
	})
}

func TestLoopbackNothingOutlivesThePlugin(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Env = map[string]string{"TEST_MODE": "child"} })
	child := childOf(t, r.log)
	pid := r.plugin.PID()
	if !alive(child) {
		t.Fatalf("child %d does not run; want it alive", child)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is gone, too", func() bool { return !alive(child) })
	eventually(t, "another process runs", func() bool { p := r.plugin.PID(); return p != 0 && p != pid })
	pid = r.plugin.PID()
	if err := r.plugin.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Errorf("process %d is alive after Close; want it gone", pid)
	}
}

func childOf(t *testing.T, log *safeBuffer) (pid int) {
	t.Helper()
	eventually(t, "the child is logged", func() bool {
		_, rest, ok := strings.Cut(log.String(), "child=")
		if ok {
			pid, _ = strconv.Atoi(rest[:strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })])
		}
		return pid != 0
	})
	return pid
}

func TestLoopbackCloseOfAStoppedProcessIsBounded(t *testing.T) {
	r := newRig(t, func(c *Config) { c.StopTimeout = 50 * time.Millisecond })
	pid := r.plugin.PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := r.plugin.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Errorf("process %d is alive after Close; want it gone", pid)
	}
}

func TestLoopbackStopHandlesWhatThereIs(t *testing.T) {
	r := newRig(t, nil)
	a := r.spawn("echo", "echo", map[string]any{"to": "/user/probe"}, nil)
	for i := range 500 {
		r.tell("/user/echo", "n", int64(i))
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if got := r.probe(); got.Body != int64(i) {
			t.Fatalf("got %v; want %d", got.Body, i)
		}
	}
}

func TestLoopbackWindowHoldsBackTheMailbox(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Window.Messages = 8 })
	a := r.spawn("hung", "trouble", nil, nil)
	r.spawn("other", "echo", nil, nil)
	r.tell("/user/hung", "hang", nil)
	for i := range 10 {
		r.tell("/user/hung", "ok", int64(i))
	}
	eventually(t, "it has its share and no more", func() bool { return r.plugin.waiting() == 1 && r.plugin.sentAll(2) })
	for range 20 {
		r.ask("/user/other", "x", nil) // its neighbour is not held up
	}
	// It is stopped with a handler that never ends: within bounds, all accounted for.
	r.plugin.cfg.StopTimeout = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = a.Stop(ctx)
	eventually(t, "every message is a dead letter", func() bool { return len(r.lettered(actor.ReasonStopped)) == 11 })
}

func TestLoopbackCrashesLeakNothing(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("count", "count", nil, nil)
	var fds, goroutines int
	for i := range 22 {
		eventually(t, "the process runs", func() bool { return r.plugin.PID() != 0 })
		r.ask("/user/count", "get", nil)
		if i == 2 {
			fds, goroutines = openFiles(t), runtime.NumGoroutine()
		}
		if err := syscall.Kill(r.plugin.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the exit is reported", func() bool { return len(seen[actor.PluginExited](r)) == i+1 })
	}
	eventually(t, "the process runs", func() bool { return r.plugin.PID() != 0 })
	r.ask("/user/count", "get", nil)
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines+3 })
	eventually(t, "no file is left open", func() bool { return openFiles(t) <= fds+2 })
	if err := r.plugin.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("actord-%d-*", os.Getpid())))
	if err != nil || len(left) > 0 {
		t.Errorf("got socket directories %v, %v; want none", left, err)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// beAHost is another process of this test: it opens a plugin, says its number and
// waits to be killed.
func beAHost(program string) {
	cfg := testConfig("")
	cfg.Command, cfg.Lookup = []string{program}, Nobody
	p, err := Open(context.Background(), cfg)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.PID())
	select {}
}

func TestLoopbackNoPluginOutlivesAKilledHost(t *testing.T) {
	host := exec.Command(os.Args[0], "be-a-host", filepath.Join(bin, "plugin"))
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil || !alive(pid) {
		t.Fatalf("got plugin %d, %v; want a live one", pid, err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	eventually(t, "the plugin is gone", func() bool { return !alive(pid) })
}
