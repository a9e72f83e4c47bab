package topology

import (
	"github.com/actord/actord/runtime"
	"github.com/actord/actord/topology/spec"
)

// routineOf is a routine as the engine needs it.
func routineOf(r *spec.Routine) *runtime.Routine {
	if r == nil {
		return nil
	}
	out := &runtime.Routine{
		ReceiveTimeout: r.ReceiveTimeout, StopWhenIdle: r.StopWhenIdle, Throttle: r.Throttle, Watch: r.Watch,
	}
	if len(r.Timers) > 0 {
		out.Timers = make(map[string]runtime.Timer, len(r.Timers))
	}
	for name, t := range r.Timers {
		out.Timers[name] = runtime.Timer(t)
	}
	return out
}
