// Package phase describes the shutdown of a system as plain data: its phases, their
// order, and what can be wrong with them.
package phase

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// The phases of a shutdown, in their order. What brings work in ends first, so that
// what is under way can be finished; the actors end last.
const (
	BeforeServiceUnbind   = "before-service-unbind"   // nothing changes any more
	ServiceUnbind         = "service-unbind"          // listeners close
	ServiceRequestsDone   = "service-requests-done"   // requests that are there are answered
	ServiceStop           = "service-stop"            // connections to brokers close
	BeforeClusterShutdown = "before-cluster-shutdown" // these six are for systems of several nodes
	ShardingShutdown      = "cluster-sharding-shutdown-region"
	ClusterLeave          = "cluster-leave"
	ClusterExiting        = "cluster-exiting"
	ClusterExitingDone    = "cluster-exiting-done"
	ClusterShutdown       = "cluster-shutdown"
	BeforeTerminate       = "before-actor-system-terminate" // the actors still run
	Terminate             = "actor-system-terminate"        // they end: see runtime.System.Shutdown
)

var builtIn = []string{
	BeforeServiceUnbind, ServiceUnbind, ServiceRequestsDone, ServiceStop, BeforeClusterShutdown,
	ShardingShutdown, ClusterLeave, ClusterExiting, ClusterExitingDone, ClusterShutdown,
	BeforeTerminate, Terminate,
}

// Names returns the names of the phases that are always there, in their order.
func Names() []string { return slices.Clone(builtIn) }

// Phase is a step of the shutdown. Its tasks run beside each other.
type Phase struct {
	Name    string
	Timeout time.Duration // for all its tasks; 0 means the default, less than 0 as long as the shutdown may take
	After   []string      // phases that come before it; those of Names follow each other anyway
	Halt    bool          // when a task fails or does not finish, the phases behind it do not run and the system stays
}

// Settings say how a system is shut down.
type Settings struct {
	DefaultTimeout time.Duration // of phases that say nothing; 0 means DefaultTimeout
	Phases         []Phase       // further ones, and those of Names that differ from the default
}

// DefaultTimeout is how long a phase may take.
const DefaultTimeout = 5 * time.Second

// Default are the settings of a system that was told nothing else: the
// actors may take as long as the shutdown.
func Default() Settings {
	return Settings{Phases: []Phase{{Name: Terminate, Timeout: -1}}}
}

// What can be wrong with a phase besides its name.
var (
	ErrUnknown = errors.New("it follows a phase that does not exist")
	ErrCircle  = errors.New("phases follow each other in a circle")
	ErrDrain   = errors.New("the drain does not fit")
)

// Error is a mistake in the settings of one phase.
type Error struct {
	Phase string
	Err   error
}

// Error names the phase and what is wrong.
func (e *Error) Error() string { return fmt.Sprintf("phase %s: %v", e.Phase, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Check reports phases that are wrong: a bad or repeated name, one that is to follow
// an unknown one or, in a circle, itself, and a drain (see runtime.WithDrainTimeout) that does
// not fit into Terminate. The errors are PhaseErrors.
func (s Settings) Check(drain time.Duration) error {
	phases, err := s.Order()
	if err != nil {
		return err
	}
	for _, p := range phases {
		if p.Name == Terminate && p.Timeout > 0 && drain >= p.Timeout {
			return &Error{p.Name, fmt.Errorf("%w: its timeout of %v must be longer than the %v for which a shutdown waits for the actors to become quiet", ErrDrain, p.Timeout, drain)}
		}
	}
	return nil
}

// Order returns all phases in the order in which they run: each as soon as those
// that it follows are through.
func (s Settings) Order() ([]Phase, error) {
	all, err := s.byName()
	if err != nil {
		return nil, err
	}
	var out []Phase
	done := map[string]bool{}
	for len(out) < len(all) {
		next := slices.IndexFunc(all, func(p Phase) bool {
			return !done[p.Name] && !slices.ContainsFunc(p.After, func(a string) bool { return !done[a] })
		})
		if next < 0 {
			return nil, circle(all, done)
		}
		done[all[next].Name] = true
		out = append(out, all[next])
	}
	return out, nil
}

// Total is how long all phases may take together, those without a limit left out.
// It is 0 when the settings are wrong.
func (s Settings) Total() (sum time.Duration) {
	phases, _ := s.Order()
	for _, p := range phases {
		sum += max(p.Timeout, 0)
	}
	return sum
}

// byName returns all phases with what holds for them, those of the author first.
func (s Settings) byName() ([]Phase, error) {
	var own []Phase
	built := make([]Phase, len(builtIn))
	known := slices.Clone(builtIn)
	for i, name := range builtIn {
		built[i] = Phase{Name: name}
	}
	var errs []error
	for _, p := range s.Phases {
		p.After = slices.Clone(p.After)
		if i := slices.Index(builtIn, p.Name); i >= 0 {
			built[i] = p
			continue
		}
		if err := actor.CheckName(p.Name); err != nil {
			errs = append(errs, &Error{p.Name, err})
		} else if slices.Contains(known, p.Name) {
			errs = append(errs, &Error{p.Name, errors.New("there are two of that name")})
		}
		own, known = append(own, p), append(known, p.Name)
	}
	for i := range built[1:] {
		built[i+1].After = append(built[i+1].After, built[i].Name)
	}
	all := append(own, built...)
	for i, p := range all {
		all[i].Timeout = cmp.Or(p.Timeout, s.DefaultTimeout, DefaultTimeout)
		for _, a := range p.After {
			if !slices.Contains(known, a) {
				errs = append(errs, &Error{p.Name, fmt.Errorf("%w: %q%s", ErrUnknown, a, actor.DidYouMean(a, known))})
			}
		}
	}
	return all, errors.Join(errs...)
}

// circle says which of the phases that are not done wait for each other.
func circle(all []Phase, done map[string]bool) error {
	waitsFor := map[string]string{}
	for _, p := range all {
		for _, a := range p.After {
			if !done[p.Name] && !done[a] && waitsFor[p.Name] == "" {
				waitsFor[p.Name] = a
			}
		}
	}
	at := slices.IndexFunc(all, func(p Phase) bool { return !done[p.Name] })
	var way []string
	name := all[at].Name
	for ; !slices.Contains(way, name); name = waitsFor[name] {
		way = append(way, name)
	}
	way = append(way[slices.Index(way, name):], name)
	return &Error{name, fmt.Errorf("%w: %s", ErrCircle, strings.Join(way, " follows "))}
}
