package runtime

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
	PhaseBeforeServiceUnbind   = "before-service-unbind"   // nothing changes any more
	PhaseServiceUnbind         = "service-unbind"          // listeners close
	PhaseServiceRequestsDone   = "service-requests-done"   // requests that are there are answered
	PhaseServiceStop           = "service-stop"            // connections to brokers close
	PhaseBeforeClusterShutdown = "before-cluster-shutdown" // these six are for systems of several nodes
	PhaseShardingShutdown      = "cluster-sharding-shutdown-region"
	PhaseClusterLeave          = "cluster-leave"
	PhaseClusterExiting        = "cluster-exiting"
	PhaseClusterExitingDone    = "cluster-exiting-done"
	PhaseClusterShutdown       = "cluster-shutdown"
	PhaseBeforeTerminate       = "before-actor-system-terminate" // the actors still run
	PhaseTerminate             = "actor-system-terminate"        // they end: see System.Shutdown
)

var phaseNames = []string{
	PhaseBeforeServiceUnbind, PhaseServiceUnbind, PhaseServiceRequestsDone, PhaseServiceStop, PhaseBeforeClusterShutdown,
	PhaseShardingShutdown, PhaseClusterLeave, PhaseClusterExiting, PhaseClusterExitingDone, PhaseClusterShutdown,
	PhaseBeforeTerminate, PhaseTerminate,
}

// PhaseNames returns the names of the phases that are always there, in their order.
func PhaseNames() []string { return slices.Clone(phaseNames) }

// Phase is a step of the shutdown. Its tasks run beside each other.
type Phase struct {
	Name    string
	Timeout time.Duration // for all its tasks; 0 means the default, less than 0 as long as the shutdown may take
	After   []string      // phases that come before it; those of PhaseNames follow each other anyway
	Halt    bool          // when a task fails or does not finish, the phases behind it do not run and the system stays
}

// ShutdownSettings say how a system is shut down.
type ShutdownSettings struct {
	DefaultTimeout time.Duration // of phases that say nothing; 0 means DefaultPhaseTimeout
	Phases         []Phase       // further ones, and those of PhaseNames that differ from the default
}

// DefaultPhaseTimeout is how long a phase may take.
const DefaultPhaseTimeout = 5 * time.Second

// DefaultShutdown are the settings of a system that was told nothing else: the
// actors may take as long as the shutdown.
func DefaultShutdown() ShutdownSettings {
	return ShutdownSettings{Phases: []Phase{{Name: PhaseTerminate, Timeout: -1}}}
}

// WithShutdown sets how the system is shut down; DefaultShutdown otherwise. New
// panics when the settings are wrong; see ShutdownSettings.Check.
func WithShutdown(set ShutdownSettings) Option {
	return func(s *System) {
		if err := s.SetShutdown(set); err != nil {
			panic(err)
		}
	}
}

// PhaseError is a mistake in the settings of one phase.
type PhaseError struct {
	Phase string
	Err   error
}

// Error names the phase and what is wrong.
func (e *PhaseError) Error() string { return fmt.Sprintf("phase %s: %v", e.Phase, e.Err) }

// Unwrap returns what is wrong.
func (e *PhaseError) Unwrap() error { return e.Err }

// Check reports phases that are wrong: a bad or repeated name, one that is to follow
// an unknown one or, in a circle, itself, and a drain (see WithDrainTimeout) that does
// not fit into PhaseTerminate. The errors are PhaseErrors.
func (s ShutdownSettings) Check(drain time.Duration) error {
	phases, err := s.order()
	if err != nil {
		return err
	}
	for _, p := range phases {
		if p.Name == PhaseTerminate && p.Timeout > 0 && drain >= p.Timeout {
			return &PhaseError{p.Name, fmt.Errorf("its timeout of %v must be longer than the %v for which a shutdown waits for the actors to become quiet", p.Timeout, drain)}
		}
	}
	return nil
}

// order returns all phases in the order in which they run: each as soon as those
// that it follows are through.
func (s ShutdownSettings) order() ([]Phase, error) {
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

// byName returns all phases with what holds for them, those of the author first.
func (s ShutdownSettings) byName() ([]Phase, error) {
	var own []Phase
	built := make([]Phase, len(phaseNames))
	known := slices.Clone(phaseNames)
	for i, name := range phaseNames {
		built[i] = Phase{Name: name}
	}
	var errs []error
	for _, p := range s.Phases {
		p.After = slices.Clone(p.After)
		if i := slices.Index(phaseNames, p.Name); i >= 0 {
			built[i] = p
			continue
		}
		if err := actor.CheckName(p.Name); err != nil {
			errs = append(errs, &PhaseError{p.Name, err})
		} else if slices.Contains(known, p.Name) {
			errs = append(errs, &PhaseError{p.Name, errors.New("there are two of that name")})
		}
		own, known = append(own, p), append(known, p.Name)
	}
	for i := range built[1:] {
		built[i+1].After = append(built[i+1].After, built[i].Name)
	}
	all := append(own, built...)
	for i, p := range all {
		all[i].Timeout = cmp.Or(p.Timeout, s.DefaultTimeout, DefaultPhaseTimeout)
		for _, a := range p.After {
			if !slices.Contains(known, a) {
				errs = append(errs, &PhaseError{p.Name, fmt.Errorf("it is to follow %q, which does not exist%s", a, actor.DidYouMean(a, known))})
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
	return &PhaseError{name, fmt.Errorf("phases follow each other in a circle: %s", strings.Join(way, " follows "))}
}
