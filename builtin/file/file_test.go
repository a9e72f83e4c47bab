package file_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/builtin/file"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func order(n int) actor.Message {
	return actor.Message{Kind: "order", Body: map[string]any{"n": int64(n)}, Headers: actor.Headers{"topic": "a<b"}}
}

// config is one that writes at once, to a folder that is not there yet.
func config(t testing.TB) file.Config {
	return file.Config{Path: actor.File(filepath.Join(t.TempDir(), "logs", "orders.jsonl")), Flush: file.Every, Fsync: file.Off}
}

func start(t testing.TB, c file.Config) (*actortest.Rig, *file.File) {
	t.Helper()
	f := must(file.New(c))
	return actortest.NewRig(t, f).MustStart(), f
}

func read(t testing.TB, c file.Config) string {
	t.Helper()
	data, err := os.ReadFile(string(c.Path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestALineHoldsTheMessage(t *testing.T) {
	for _, c := range []struct {
		name    string
		include []string
		want    string
	}{
		{"time, trace, kind and body always", nil, `{"kind":"order","body":{"n":7}}`},
		{"and what include asks for", []string{"headers", "sender", "path"},
			`{"kind":"order","path":"/user/subject","sender":"/user/shop","headers":{"topic":"a<b"},"body":{"n":7}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := config(t)
			config.Include = c.include
			rig, _ := start(t, config)
			rig.TellFrom("/user/shop", order(7))
			line := read(t, config)
			var l struct {
				Time  time.Time
				Trace string
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%v in line %s", err, line)
			}
			if age := time.Since(l.Time); age < 0 || age > time.Minute || len(l.Trace) != 32 {
				t.Errorf("got time %v and trace %q, want a moment ago and 32 digits", l.Time, l.Trace)
			}
			head := fmt.Sprintf(`{"time":%s,"trace":%q,`, must(json.Marshal(l.Time)), l.Trace)
			if got, want := line, head+c.want[1:]+"\n"; got != want {
				t.Errorf("line\n got: %swant: %s", got, want)
			}
		})
	}
}

func TestLinesWaitForTheFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t)
		c.Flush = time.Second
		rig, _ := start(t, c)
		lines := func() int { return strings.Count(read(t, c), "\n") }
		for n := range 3 {
			rig.Tell(order(n))
		}
		if got, timers := lines(), rig.Timers(); got != 0 || timers != 1 {
			t.Errorf("before the flush: got %d lines and %d timers, want 0 and 1", got, timers)
		}
		rig.Advance(time.Second)
		if got := lines(); got != 3 {
			t.Errorf("after the flush: got %d lines, want 3", got)
		}
		rig.Tell(order(3))
		time.Sleep(2 * time.Second) // the tick does not come, as when a full mailbox discards it
		rig.Tell(order(4))
		if got := lines(); got != 5 {
			t.Errorf("overdue: got %d lines, want 5", got)
		}
		rig.Tell(actor.Message{Kind: "large", Body: strings.Repeat("x", 70_000)})
		if got := lines(); got != 6 {
			t.Errorf("with a full buffer: got %d lines, want 6", got)
		}
		rig.Tell(order(6))
		rig.Stop()
		if got := lines(); got != 7 {
			t.Errorf("at the end: got %d lines, want 7", got)
		}
	})
}

func TestAReopenedFileGoesOnAndATornLineIsEnded(t *testing.T) {
	c := config(t)
	rig, _ := start(t, c)
	rig.Tell(order(1))
	rig.Stop()
	torn := must(os.OpenFile(string(c.Path), os.O_APPEND|os.O_WRONLY, 0))
	torn.WriteString(`{"time":"20`)
	torn.Close()
	rig, _ = start(t, c)
	rig.Tell(order(2))
	lines := strings.Split(read(t, c), "\n")
	if len(lines) != 4 || lines[1] != `{"time":"20` || !json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[2])) {
		t.Errorf("got lines %q, want a whole one, the torn one, a whole one", lines)
	}
}

func TestAFullFileIsNumbered(t *testing.T) {
	c := config(t)
	c.Flush, c.MaxSize, c.MaxFiles = time.Hour, 1024, 2
	rig, _ := start(t, c)
	for n := range 100 {
		rig.Tell(order(n))
	}
	rig.Stop()
	entries := must(os.ReadDir(filepath.Dir(string(c.Path))))
	if len(entries) != 3 {
		t.Errorf("got %d files, want the one that is written and 2 full ones", len(entries))
	}
	for _, e := range entries {
		if size := must(e.Info()).Size(); size > 1024 {
			t.Errorf("%s: got %d bytes, want at most 1024", e.Name(), size)
		}
	}
	if !strings.Contains(read(t, c), `{"n":99}`) {
		t.Errorf("the file that is written lacks the last line:\n%s", read(t, c))
	}
}

func TestAFullDiskFailsTheActorAndTheMessagesComeBack(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full, a device without room")
	}
	rig, f := start(t, file.Config{Path: "/dev/full", Flush: time.Second, Fsync: file.Off})
	rig.Tell(order(1))
	rig.Tell(order(2))
	if err := rig.Advance(time.Second); err != nil {
		t.Errorf("got error %v, want none: the failure is reported with the letters", err)
	}
	failed := rig.Failures()
	if len(failed) != 1 || failed[0].Err.Error() != "write /dev/full: no space left on device" {
		t.Fatalf("failures: got %v, want one: write /dev/full: no space left on device", failed)
	}
	if got := fmt.Sprint(failed[0].Back); got != fmt.Sprint([]actor.Message{order(1), order(2)}) {
		t.Errorf("given back: got %s, want both messages in their order", got)
	}
	c := file.Config{Path: "/dev/full", Flush: file.Every}
	rig.Tell(order(3))
	if err := rig.Do(func(ctx actor.Context) error { return f.Reconfigure(ctx, c) }); err == nil {
		t.Error("a new configuration while lines cannot be written: got no error, want one")
	}
	rig.Tell(order(4))
	if err := rig.Stop(); err == nil {
		t.Error("stop: got no error, want one")
	}
	if dead := rig.DeadLetters(); len(dead) != 1 || dead[0].Reason != "stopped: write /dev/full: no space left on device" {
		t.Errorf("dead letters: got %+v, want the last message", dead)
	}
}

func TestWhatIsNoJSONIsADeadLetter(t *testing.T) {
	c := config(t)
	rig, _ := start(t, c)
	rig.Tell(actor.Message{Kind: "odd", Body: math.NaN()})
	rig.Tell(order(1))
	if dead := rig.DeadLetters(); len(dead) != 1 || dead[0].Reason != "unrouted: cannot be written as JSON: json: unsupported value: NaN" {
		t.Errorf("dead letters: got %+v, want the message with NaN", dead)
	}
	if got := read(t, c); strings.Count(got, "\n") != 1 || !json.Valid([]byte(got)) {
		t.Errorf("got %q, want the one good line", got)
	}
}

func TestAFileHasOneWriter(t *testing.T) {
	c := config(t)
	rig, _ := start(t, c)
	err := actortest.NewRig(t, must(file.New(c))).Start()
	if want := "open " + string(c.Path) + ": another actor or another process writes it; give each its own path"; err == nil || err.Error() != want {
		t.Errorf("the second\n got: %v\nwant: %s", err, want)
	}
	rig.Stop()
	second, _ := start(t, c)
	second.Stop()
}

func TestAFolderThatCannotBeMadeFailsTheStart(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a")
	os.WriteFile(parent, nil, 0o600)
	err := actortest.NewRig(t, must(file.New(file.Config{Path: actor.File(parent + "/b/c")}))).Start()
	if err == nil || !strings.HasSuffix(err.Error(), "/a/b/c: not a directory") {
		t.Errorf("got error %v, want: open …/a/b/c: not a directory", err)
	}
}

func TestANewConfigurationIsTakenInPlace(t *testing.T) {
	c := config(t)
	c.Flush = time.Hour
	rig, f := start(t, c)
	reconfigure := func(c file.Config) error {
		return rig.Do(func(ctx actor.Context) error { return f.Reconfigure(ctx, c) })
	}
	rig.Tell(order(1))
	other := c
	other.Path += ".other"
	other.Flush = file.Every
	blocked, _ := start(t, other)
	if err := reconfigure(other); err == nil {
		t.Error("a file that another actor writes: got no error, want one")
	}
	blocked.Stop()
	if err := reconfigure(other); err != nil {
		t.Fatal(err)
	}
	rig.Tell(order(2))
	other.Include = []string{"headers"}
	if err := reconfigure(other); err != nil {
		t.Fatal(err)
	}
	rig.Tell(order(3))
	if got := read(t, c); strings.Count(got, "\n") != 1 || !strings.Contains(got, `{"n":1}`) {
		t.Errorf("the old file\n got: %s\nwant: the first message", got)
	}
	if got := read(t, other); strings.Count(got, "\n") != 2 || strings.Count(got, "headers") != 1 {
		t.Errorf("the new file\n got: %s\nwant: two messages, the second with headers", got)
	}
}

func TestFsyncHappensInTime(t *testing.T) {
	c := config(t)
	c.Fsync = time.Minute
	rig, _ := start(t, c)
	rig.Tell(order(1))
	rig.Tell(order(2))
	if got := rig.Timers(); got != 1 {
		t.Errorf("timers: got %d, want 1 for the sync", got)
	}
	if err := errors.Join(rig.Advance(time.Minute), rig.Stop()); err != nil {
		t.Error(err)
	}
	c.Fsync = file.Every
	rig, _ = start(t, c)
	rig.Tell(order(3))
	if got := rig.Timers(); got != 0 {
		t.Errorf("timers with fsync = every: got %d, want none", got)
	}
}

func TestWrongConfigurationIsFoundByPrepare(t *testing.T) {
	for _, c := range []struct {
		config file.Config
		want   string
	}{
		{file.Config{}, "path is empty; name the file to write"},
		{file.Config{Path: "a", Include: []string{"path", "header"}}, `include[1]: "header" is not one of sender, headers, path; did you mean "headers"?`},
	} {
		if _, err := file.New(c.config); err == nil || err.Error() != c.want {
			t.Errorf("got error %v, want: %s", err, c.want)
		}
	}
}

func Example() {
	args, errs := file.Factory().Schema().Decode(map[string]any{"path": "orders.jsonl", "fsync": "every"})
	fmt.Println(args["flush"], args["fsync"], args["max-size"].(actor.Size)>>20, errs)
	// Output: 100ms 0s 64 []
}

func BenchmarkReceive(b *testing.B) {
	c := config(b)
	c.Flush = time.Hour
	rig, f := start(b, c)
	m := order(1)
	b.ReportAllocs()
	rig.Do(func(ctx actor.Context) error {
		for b.Loop() {
			f.Receive(ctx, m)
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
