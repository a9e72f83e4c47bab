// Package sdktest is for the tests of plugins. It builds a plugin as its users
// do, runs it as the daemon does, and checks that its behaviours keep the
// promises of package actor on the way through the process:
//
//	func TestPlugin(t *testing.T) {
//		sdktest.Suite(t, ".", map[string]actortest.Case{"score": {Args: …, Messages: …}})
//	}
//
// What a behaviour computes is tested without a process, by actortest.Rig.
package sdktest

import (
	"context"
	"log/slog"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/plugins/host"
	"github.com/actord/actord/runtime/actortest"
)

// patience is how long the parts of a test may take.
const patience = 30 * time.Second

// Build compiles the plugin in the package pkg, "." for the one that is tested,
// and returns the program. It is removed when the test ends.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "plugin")
	if out, err := exec.Command("go", "build", "-o", program, pkg).CombinedOutput(); err != nil {
		t.Fatalf("build the plugin %s: %v\n%s", pkg, err, out)
	}
	return program
}

// Open runs a plugin until the test ends. Its behaviours reach the targets of
// their arguments and whoever sent to them. What the plugin logs appears in the
// test's log.
func Open(t testing.TB, program string) *host.Plugin {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := host.Open(ctx, host.Config{
		Name: "plugin", Command: []string{program}, Lookup: host.Nobody,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	settle()
	return p
}

// settle waits until the number of goroutines is steady, because tests count them
// and those of a session do not all start at once.
func settle() {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Second)
	for last, same := 0, 0; same < 20; same++ {
		select {
		case <-tick.C:
		case <-limit:
			return
		}
		if n := runtime.NumGoroutine(); n != last {
			last, same = n, 0
		}
	}
}

// Suite builds the plugin in pkg, runs it, and has its behaviours pass
// actortest.Suite through the process. cases are by the name of the behaviour;
// each behaviour of the plugin needs one.
func Suite(t *testing.T, pkg string, cases map[string]actortest.Case) {
	t.Helper()
	p := Open(t, Build(t, pkg))
	for _, f := range p.Factories() {
		_, name, _ := strings.Cut(f.Schema().Name, "/")
		c, ok := cases[name]
		if !ok {
			t.Errorf("behaviour %s has no case; give one", name)
			continue
		}
		t.Run(name, func(t *testing.T) { actortest.Suite(t, f, c) })
	}
}
