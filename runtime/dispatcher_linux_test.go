package runtime

import (
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/actord/actord/runtime/actor"
)

func TestPinnedActorsAlwaysRunOnTheSameThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen := newSystem(t), map[int]bool{}
		for _, name := range []string{"a", "b", "c"} {
			a := spawnSpec(t, s, Spec{Name: name, Dispatcher: PinnedDispatcher, New: make1(&hooked{receive: func(actor.Context, actor.Message) error {
				seen[syscall.Gettid()] = true // one thread, so no lock
				return nil
			}})})
			for range 50 {
				tellKind(t, a, "x")
				synctest.Wait()
			}
		}
		if len(seen) != 1 {
			t.Errorf("got %d threads, want 1", len(seen))
		}
	})
}
