package host

import (
	"context"
	"runtime"
	"testing"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

// The behaviours of a plugin keep the same promises as those that are built in.
func TestLoopbackPluginKeepsTheContract(t *testing.T) {
	cfg := testConfig("plugin")
	cfg.Lookup = Nobody
	p, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// The session's own goroutines are there from the start, but not at once.
	last, same := 0, 0
	eventually(t, "the number of goroutines is steady", func() bool {
		if n := runtime.NumGoroutine(); n != last {
			last, same = n, 0
		}
		same++
		return same > 50
	})
	for _, f := range p.Factories() {
		c := actortest.Case{Args: map[string]any{}, Messages: []actor.Message{{Kind: "a", Body: int64(1)}, {Kind: "b", Body: map[string]any{"x": []any{1.5}}}}}
		switch f.Schema().Name {
		case "testing/echo":
			c.Args["to"] = "/user/worker"
		case "testing/count":
			c.Args["step"] = int64(2)
		default:
			continue // they go wrong on purpose
		}
		t.Run(f.Schema().Name, func(t *testing.T) { actortest.Suite(t, f, c) })
	}
}
