package runtime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/actord/actord/runtime/actor"
)

// nameless is what an actor is called after when it has neither a name nor a
// behaviour with one.
const nameless = "anonymous"

// nameFor is name, or a generated one when it is "". Generated names begin with '$',
// which no other name may, and end with a random part: whoever was not given such an
// address cannot guess it.
func (s *System) nameFor(name, behaviour string) (string, error) {
	if name != "" {
		return name, actor.CheckName(name)
	}
	base := strings.ReplaceAll(behaviour, "/", "-")
	if actor.CheckName(base) != nil {
		base = nameless
	}
	return fmt.Sprintf("$%s-%d-%012x", base, s.anon.Add(1), rand.Uint64()&(1<<48-1)), nil
}

// temps are the one-time addresses below /temp that somebody asked for.
type temps struct{ byPath sync.Map }

// answerable is a question that waits for its answer.
type answerable interface {
	actor.Ref
	release(err error)
}

// tempRef is an address below /temp that was looked up.
type tempRef struct {
	sys  *System
	path actor.Path
}

func (r tempRef) Path() actor.Path { return r.path }

// Tell answers the question that waits at the path, if it still does.
func (r tempRef) Tell(ctx context.Context, m actor.Message) error {
	if to, ok := r.sys.temps.byPath.Load(r.path); ok {
		return to.(answerable).Tell(ctx, m)
	}
	sender, meta := originOf(ctx)
	r.sys.deadLetter(r.path, sender, m, actor.ReasonStopped, meta)
	return fmt.Errorf("tell %s: nobody waits for an answer there any more: %w", r.path, actor.ErrStopped)
}

// release ends the wait of whoever asked.
func (r tempRef) release(err error) {
	if to, ok := r.sys.temps.byPath.Load(r.path); ok {
		to.(answerable).release(err)
	}
}
