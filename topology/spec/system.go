package spec

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/phase"
)

// DeadLetters says what is remembered of lost messages.
type DeadLetters struct {
	Store        string        // off, metrics or memory
	MaxEntries   int           // kept at most
	Retention    time.Duration // older ones are forgotten; 0: never
	MaxReplays   int           // so often one may be told again
	IncludeDrops bool          // what overflow policies discard is remembered as well
}

// Dispatcher says how actors get to run.
type Dispatcher struct {
	Throughput int           // messages of one turn
	TimeSlice  time.Duration // of one turn; less than 0: any time
	Threads    int           // of its own; 0: each actor that wakes up gets a goroutine
}

// The dispatchers that are always there.
const (
	defaultDispatcher = "default"
	pinnedDispatcher  = "pinned"
)

type shutdownConf struct {
	DefaultTimeout time.Duration        `conf:"default-phase-timeout" default:"5s" min:"1ms" doc:"how long a phase may take that says nothing"`
	Phases         map[string]phaseConf `conf:"phases" doc:"phases that differ from the default, and further ones"`
}

type phaseConf struct {
	Timeout time.Duration `conf:"timeout" min:"1ms" doc:"how long all tasks of the phase may take; default-phase-timeout unless set"`
	After   []string      `conf:"after" doc:"phases that come before; one that names none comes first"`
	Recover bool          `conf:"recover" default:"on" doc:"a task that fails or does not finish is passed over; off ends the shutdown there, with the system still up"`
}

type deadLettersConf struct {
	Store        string        `conf:"store" default:"metrics" enum:"off|metrics|memory" doc:"metrics counts by recipient and reason; memory keeps the latest as well, to be shown and told again"`
	MaxEntries   int           `conf:"max-entries" default:"1000" min:"1" max:"1000000" unit:"messages" doc:"how many are kept"`
	Retention    time.Duration `conf:"retention" default:"1h" min:"0s" doc:"how long they are kept; 0 means until others take their place"`
	MaxReplays   int           `conf:"max-replays" default:"3" min:"0" max:"1000" unit:"times" doc:"how often one may be told again"`
	IncludeDrops bool          `conf:"include-drops" default:"off" doc:"what overflow policies discard is remembered as well"`
}

type dispatcherConf struct {
	Throughput int           `conf:"throughput" default:"256" min:"1" max:"1000000" unit:"messages" doc:"how many an actor handles in one turn"`
	TimeSlice  time.Duration `conf:"time-slice" default:"10ms" min:"100us" words:"unlimited=-1" doc:"how long a turn may take until others come first"`
	Threads    int           `conf:"threads" min:"0" max:"1024" unit:"threads" doc:"turns run on so many operating-system threads of the dispatcher's own; 0 gives each actor that wakes up a goroutine. 1 for pinned, else 0"`
}

var dispatcherSchema = actor.SchemaOf[dispatcherConf]("dispatcher", "How actors get to run.")

// phases reads how the system is shut down.
func (c *checker) phases(file *value, conf shutdownConf, drain time.Duration) phase.Settings {
	set := phase.Settings{DefaultTimeout: conf.DefaultTimeout}
	for name := range entries(file.get("shutdown").get("phases")) {
		if p, ok := conf.Phases[name]; ok {
			set.Phases = append(set.Phases, phase.Phase{Name: name, Timeout: p.Timeout, After: p.After, Halt: !p.Recover})
		}
	}
	for _, err := range all(set.Check(drain)) {
		if wrong, ok := errors.AsType[*phase.Error](err); ok {
			c.phaseError(file, set, wrong)
		}
	}
	return set
}

// phaseError reports what is wrong with a phase where it is.
func (c *checker) phaseError(file *value, set phase.Settings, wrong *phase.Error) {
	at, err := []string{"shutdown", "phases", wrong.Phase}, wrong.Err
	own := slices.ContainsFunc(set.Phases, func(p phase.Phase) bool { return p.Name == wrong.Phase })
	switch {
	case errors.Is(err, phase.ErrDrain):
		err = fmt.Errorf("%w; raise shutdown.phases.%s.timeout or lower system.shutdown-drain-timeout", err, wrong.Phase)
		switch {
		case own && file.get("shutdown").get("phases").get(wrong.Phase).get("timeout") != nil:
			at = append(at, "timeout")
		case file.get("system").get("shutdown-drain-timeout") != nil:
			at = []string{"system", "shutdown-drain-timeout"}
		default:
			at = []string{"shutdown", "default-phase-timeout"}
		}
	case errors.Is(err, phase.ErrUnknown), errors.Is(err, phase.ErrCircle):
		at = append(at, "after")
	}
	c.at(file, at, err)
}

// all are the errors that were joined.
func all(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, all(e)...)
		}
		return out
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// dispatchersOf reads how actors get to run. Given are the decoded entries, to which
// those are added that are always there, so that they compare.
func (c *checker) dispatchersOf(file *value, given map[string]any) map[string]Dispatcher {
	for _, name := range []string{defaultDispatcher, pinnedDispatcher} {
		if given[name] == nil {
			given[name], _ = dispatcherSchema.Decode(nil)
		}
	}
	out := map[string]Dispatcher{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		values, ok := given[name].(map[string]any)
		if !ok {
			continue
		}
		if values["threads"] == nil {
			values["threads"] = int64(0)
			if name == pinnedDispatcher {
				values["threads"] = int64(1)
			}
		}
		conf := actor.Fill[dispatcherConf](values)
		out[name] = Dispatcher(conf)
		at := []string{"dispatchers", name}
		if err := actor.CheckName(name); err != nil {
			c.atKey(file, at, err)
		}
		if name == defaultDispatcher && conf.Threads > 0 {
			c.at(file, append(at, "threads"), fmt.Errorf("the default dispatcher cannot have threads of its own; give the actors that need them another one (dispatcher = %s)", pinnedDispatcher))
		}
	}
	return out
}

// knownDispatchers reports actors that name a dispatcher that is not there.
func (c *checker) knownDispatchers(file *value, s *System) {
	for a := range s.All() {
		if _, ok := s.Dispatchers[a.Dispatcher]; ok || a.Dispatcher == "" {
			continue
		}
		at := []string{"actors"}
		for name := range strings.SplitSeq(strings.TrimPrefix(string(a.Path), "/user/"), "/") {
			at = append(at, name, "children")
		}
		at[len(at)-1] = "dispatcher"
		known := slices.Sorted(maps.Keys(s.Dispatchers))
		c.at(file, at, fmt.Errorf("dispatcher %q is not declared%s", a.Dispatcher, didYouMeanOr(a.Dispatcher, known)))
	}
}
