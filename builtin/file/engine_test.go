package file_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/builtin/file"
	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// TestNothingIsLostWhileTheDiskIsFull runs the behaviour under supervision on a
// link to a device without room, and then gives it room.
func TestNothingIsLostWhileTheDiskIsFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full, a device without room")
	}
	dir := t.TempDir()
	path, disk := filepath.Join(dir, "lines"), filepath.Join(dir, "disk")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	sys := runtime.New("test", runtime.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	failed := make(chan struct{}, 1)
	sys.Subscribe(func(e actor.Event) {
		if _, ok := e.(actor.Failed); ok {
			select {
			case failed <- struct{}{}:
			default:
			}
		}
	})
	strategy := supervise.Default()
	strategy.MaxRestarts, strategy.Backoff.Min = supervise.Unlimited, time.Millisecond
	a, err := sys.SpawnActor(actor.User, runtime.Spec{
		Name: "sink", Settings: runtime.Settings{Supervision: &strategy},
		New: func() (actor.Behaviour, error) {
			return file.New(file.Config{Path: actor.File(path), Flush: time.Millisecond, Fsync: file.Off})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const messages = 500
	for n := range messages {
		if err := a.Ref().Tell(t.Context(), order(n)); err != nil {
			t.Fatal(err)
		}
	}
	<-failed // at least once
	if err := os.Symlink(disk, path+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for lines(disk) < messages {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("got %d lines, want %d; the actor is %+v", lines(disk), messages, a.Info())
		}
	}
	if err := sys.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	checkNumbers(t, disk, messages)
}

func lines(path string) int {
	data, _ := os.ReadFile(path)
	return strings.Count(string(data), "\n")
}

// checkNumbers checks that the lines are the orders 0 to n-1, each once, in order.
func checkNumbers(t *testing.T, path string, n int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	for i, line := range lines {
		if want := `"body":{"n":` + strconv.Itoa(i) + "}"; !strings.Contains(line, want) {
			t.Fatalf("line %d: got %s, want one with %s", i, line, want)
		}
	}
	if len(lines) != n {
		t.Errorf("got %d lines, want %d", len(lines), n)
	}
}
