package runtime

import (
	"fmt"
	"slices"

	"github.com/actord/actord/runtime/actor"
)

// Interest says which events somebody wants.
type Interest struct {
	Kinds []string               // of actor.EventKinds; none means all
	When  func(actor.Event) bool // nil: all of these kinds; quick and safe for concurrent use
}

// listener hands events to an actor until it ends; see watcher.
type listener struct {
	sys      *System
	node     *node
	interest Interest
	cancel   func()
}

// SubscribeActor gives the actor that lives at path the events that it wants, as
// messages (actor.EventMessage), until cancel is called or the actor ends. What
// becomes of such a message makes no further events. A When that panics is logged
// and does not match; the subscription stays. Errors: an unknown kind,
// actor.ErrNotFound, actor.ErrWrongType.
func (s *System) SubscribeActor(path actor.Path, want Interest) (cancel func(), err error) {
	for _, k := range want.Kinds {
		if !slices.Contains(actor.EventKinds, k) {
			return nil, fmt.Errorf("subscribe %s: unknown event %q%s", path, k, actor.DidYouMean(k, actor.EventKinds))
		}
	}
	n, ok := s.registry.get(path)
	if !ok {
		return nil, fmt.Errorf("subscribe %s: %w", path, actor.ErrNotFound)
	}
	if _, ok := n.body.(*cell[actor.Message]); !ok {
		return nil, fmt.Errorf("subscribe %s: %w", path, actor.ErrWrongType)
	}
	want.Kinds = slices.Clone(want.Kinds)
	l := &listener{sys: s, node: n, interest: want}
	l.cancel = s.Subscribe(l.hear)
	if !n.watch(l) {
		l.cancel()
		return nil, fmt.Errorf("subscribe %s: %w", path, actor.ErrStopped)
	}
	return func() {
		n.unwatch(l)
		l.cancel()
	}, nil
}

func (l *listener) hear(e actor.Event) {
	if len(l.interest.Kinds) > 0 && !slices.Contains(l.interest.Kinds, e.Kind()) {
		return
	}
	if l.interest.When == nil || l.interest.When(e) {
		l.sys.tellEvent(l.node, e)
	}
}

func (l *listener) terminated(*node) { l.cancel() }
