package topology

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// subscriptions hand events to the actors that configuration names.
type subscriptions struct {
	list atomic.Pointer[[]spec.Subscription]
}

func (s *subscriptions) set(list []spec.Subscription) { s.list.Store(&list) }

// attach begins to hand on the events of sys.
func (s *subscriptions) attach(sys *runtime.System) {
	sys.Subscribe(func(e actor.Event) {
		list := s.list.Load()
		if list == nil {
			return
		}
		for _, sub := range *list {
			if !slices.Contains(sub.Events, e.Kind()) || (sub.When != nil && !sub.When(actor.EventMessage(e))) {
				continue
			}
			switch kind, path, err := sub.To.Parse(actor.User); {
			case err != nil:
			case kind == actor.PathTarget:
				sys.TellEvent(path, e)
			case kind == actor.TopicTarget:
				sys.TellEvent(runtime.TopicPath(strings.TrimPrefix(string(sub.To), "topic:")), e)
			}
		}
	})
}
