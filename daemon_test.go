package actord_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests of this package build the programs and use them as a person would.

// patience is how long a test waits for what must happen; it is a failure budget
// and not a measure.
const patience = 30 * time.Second

var programs struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

// program returns the path of a program that is built once for all tests:
// actord or fraud.
func program(t *testing.T, name string) string {
	t.Helper()
	programs.once.Do(func() {
		readSources()
		programs.dir, programs.err = os.MkdirTemp("", "actord")
		for out, pkg := range map[string]string{"actord": "./cmd/actord", "fraud": "./examples/orders/fraud"} {
			args := append([]string{"build"}, buildFlags...)
			cmd := exec.Command("go", append(args, "-o", filepath.Join(programs.dir, out), pkg)...)
			if text, err := cmd.CombinedOutput(); err != nil && programs.err == nil {
				programs.err = fmt.Errorf("build %s: %w\n%s", pkg, err, text)
			}
		}
	})
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return filepath.Join(programs.dir, name)
}

// readSources looks at every folder with sources, so that go test does not take
// the result of an earlier program for this one's.
func readSources() {
	_ = filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() && (e.Name() == ".git" || path == "bin" || path == "out") {
			return filepath.SkipDir
		}
		return nil
	})
}

// record is one line of the daemon's log.
type record map[string]any

func (r record) text(key string) string { s, _ := r[key].(string); return s }
func (r record) msg() string            { return r.text("msg") }

// daemon is a running actord with its log.
type daemon struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	code int           // its exit code then

	mu     sync.Mutex // guards what follows
	log    []record
	raw    bytes.Buffer
	arrive chan struct{} // closed and replaced when a record arrives
}

// start runs actord in dir, which holds an application.conf.
func start(t *testing.T, dir string, args ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, dir: dir, done: make(chan struct{}), arrive: make(chan struct{})}
	d.cmd = exec.Command(program(t, "actord"), append([]string{"run"}, args...)...)
	d.cmd.Dir = dir
	d.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "ACTORD_CONFIG=")
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process's output; the cleanup waits for done
		d.read(stderr)
		d.code = exitCode(d.cmd.Wait())
		close(d.done)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill() // its own process alone, and only if it still runs
		<-d.done
		if t.Failed() {
			t.Logf("log of actord:\n%s", tail(d.raw.String(), 200))
		}
	})
	return d
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

func tail(s string, lines int) string {
	all := strings.Split(s, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (d *daemon) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var rec record
		_ = json.Unmarshal(lines.Bytes(), &rec)
		d.mu.Lock()
		d.raw.Write(lines.Bytes())
		d.raw.WriteByte('\n')
		if rec != nil {
			d.log = append(d.log, rec)
			close(d.arrive)
			d.arrive = make(chan struct{})
		}
		d.mu.Unlock()
	}
}

// mark is a place in the log.
func (d *daemon) mark() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// wait returns the first record after mark that ok accepts.
func (d *daemon) wait(mark int, what string, ok func(record) bool) record {
	d.t.Helper()
	limit := time.After(patience)
	for {
		d.mu.Lock()
		for ; mark < len(d.log); mark++ {
			if ok(d.log[mark]) {
				defer d.mu.Unlock()
				return d.log[mark]
			}
		}
		arrive := d.arrive
		d.mu.Unlock()
		select {
		case <-arrive:
		case <-d.done:
			d.t.Fatalf("actord ended with %d before the log said %s", d.code, what)
		case <-limit:
			d.t.Fatalf("the log did not say %s in %v", what, patience)
		}
	}
}

func (d *daemon) waitMsg(mark int, msg string) record {
	d.t.Helper()
	return d.wait(mark, msg, func(r record) bool { return r.msg() == msg })
}

// url is where the bridge listens.
func (d *daemon) url() string {
	d.t.Helper()
	d.waitMsg(0, "running")
	return d.waitMsg(0, "bridge is up").text("endpoint")
}

// write replaces the configuration the way editors do.
func (d *daemon) write(text string) {
	d.t.Helper()
	file := filepath.Join(d.dir, "application.conf")
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		d.t.Fatal(err)
	}
}

// stop asks for an orderly end and returns the exit code.
func (d *daemon) stop() int {
	d.t.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	return d.ended()
}

func (d *daemon) ended() int {
	d.t.Helper()
	select {
	case <-d.done:
		return d.code
	case <-time.After(patience):
		d.t.Fatalf("actord did not end in %v", patience)
		return -1
	}
}

// command runs actord to its end and returns what it printed and its exit code.
func command(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t, "actord"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "ACTORD_CONFIG=")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	code = exitCode(cmd.Run())
	return out.String(), errs.String(), code
}

// post sends a body as JSON and returns the status and the answer.
func post(url, body string) (int, string, error) {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// lines reads a file of JSON lines; a missing file has none.
func lines(t *testing.T, file string) []record {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []record
	for line := range strings.Lines(string(text)) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v in %q", file, err, line)
		}
		out = append(out, r)
	}
	return out
}

// configured makes a folder with an application.conf.
func configured(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "application.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// alive reports whether a process is there and not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// eventually polls until ok; for what can only be seen from outside.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not in %v", what, patience)
		}
	}
}
