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
	sys  *runtime.System
	list atomic.Pointer[[]spec.Subscription]
}

// set changes who gets what. Those who get events end last, so that they hear how
// the others ended.
func (s *subscriptions) set(list []spec.Subscription) {
	s.list.Store(&list)
	var last []actor.Path
	for _, sub := range list {
		if kind, path, err := sub.To.Parse(actor.User); err == nil && kind == actor.PathTarget {
			last = append(last, path)
		}
	}
	s.sys.EndLast(last...)
}

// attach begins to hand on the events of sys.
func (s *subscriptions) attach(sys *runtime.System) {
	s.sys = sys
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
