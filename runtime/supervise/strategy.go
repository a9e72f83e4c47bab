// Package supervise decides what happens after an actor failed. It is arithmetic
// over values: whoever asks brings the time, the history and the dice.
package supervise

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Directive is what to do with a failed actor.
type Directive uint8

// The directives.
const (
	Restart  Directive = iota // a fresh instance, the mailbox kept, the failed message skipped
	Resume                    // the same instance, the failed message skipped
	Stop                      // end it; its queue becomes dead letters
	Escalate                  // its parent fails with the same cause
)

var directiveNames = []string{"restart", "resume", "stop", "escalate"}

// DirectiveNames lists the directives as configuration writes them.
func DirectiveNames() []string { return slices.Clone(directiveNames) }

// String returns the directive as configuration writes it.
func (d Directive) String() string { return directiveNames[d] }

// ParseDirective reads a directive's name.
func ParseDirective(name string) (Directive, error) {
	if i := slices.Index(directiveNames, name); i >= 0 {
		return Directive(i), nil
	}
	return 0, fmt.Errorf("%q is not a directive (want one of %s)", name, strings.Join(directiveNames, ", "))
}

// Unlimited restarts.
const Unlimited = -1

// Backoff is the delay before the n-th restart in a row (n from 1):
// min(Min·Factor^(n-1), Max), spread by ±Jitter. An actor that stayed up for
// ResetAfter starts again at n = 1.
type Backoff struct {
	Min, Max   time.Duration
	Factor     float64
	Jitter     float64 // share of the delay, 0 to 1
	ResetAfter time.Duration
}

// Delay returns the delay before restart n; dice is a random number in [0,1).
func (b Backoff) Delay(n int, dice float64) time.Duration {
	if b.Min <= 0 || n < 1 {
		return 0
	}
	d := float64(b.Min) * math.Pow(max(b.Factor, 1), float64(n-1))
	if b.Max > 0 {
		d = min(d, float64(b.Max))
	}
	d *= 1 + b.Jitter*(2*dice-1)
	return time.Duration(min(d, math.MaxInt64/2))
}

// Rule picks a directive for the errors that When accepts.
type Rule struct {
	When func(error) bool
	Then Directive
}

// Strategy is how an actor's failures are answered. It is immutable and may be
// shared; the tally is in a History per actor.
type Strategy struct {
	OnFailure    Directive
	Rules        []Rule        // the first match wins over OnFailure
	AllForOne    bool          // the directive goes to all siblings as well
	MaxRestarts  int           // restarts granted within Within; Unlimited
	Within       time.Duration // 0 means since the start
	OnExhausted  Directive     // Escalate; everything else means Stop
	Backoff      Backoff
	KeepChildren bool // children survive a restart and are resumed
}

// Default returns the strategy of actors that name none: restart, ten times a
// minute, then stop.
func Default() Strategy {
	return Strategy{
		OnFailure: Restart, MaxRestarts: 10, Within: time.Minute, OnExhausted: Stop,
		Backoff: Backoff{Max: 30 * time.Second, Factor: 2, Jitter: 0.2, ResetAfter: 30 * time.Second},
	}
}

// Decision is the answer to one failure.
type Decision struct {
	Directive Directive
	AllForOne bool
	Delay     time.Duration // before a restart
	Exhausted bool          // the restart budget was used up
}

// History remembers an actor's restarts. The zero value is an empty history. It
// holds at most MaxRestarts moments, whatever happens.
type History struct {
	restarts []time.Time
	last     time.Time
	row      int // restarts since the actor last was stable
}

// Decide answers a failure at now and, when it grants a restart, remembers it.
// dice is a random number in [0,1) for the jitter.
func (s Strategy) Decide(h *History, err error, now time.Time, dice float64) Decision {
	d := Decision{Directive: s.directive(err), AllForOne: s.AllForOne}
	if d.Directive != Restart {
		return d
	}
	h.forget(now, s.Within)
	if s.MaxRestarts != Unlimited && len(h.restarts) >= s.MaxRestarts {
		d.Directive, d.Exhausted = Stop, true
		if s.OnExhausted == Escalate {
			d.Directive = Escalate
		}
		return d
	}
	if s.Backoff.ResetAfter > 0 && now.Sub(h.last) >= s.Backoff.ResetAfter {
		h.row = 0
	}
	h.row++
	d.Delay = s.Backoff.Delay(h.row, dice)
	h.last = now.Add(d.Delay)
	if s.MaxRestarts != Unlimited {
		h.restarts = append(h.restarts, now)
	}
	return d
}

func (s Strategy) directive(err error) Directive {
	for _, r := range s.Rules {
		if r.When(err) {
			return r.Then
		}
	}
	return s.OnFailure
}

// forget drops the restarts that left the window.
func (h *History) forget(now time.Time, within time.Duration) {
	if within <= 0 {
		return
	}
	i := 0
	for i < len(h.restarts) && now.Sub(h.restarts[i]) > within {
		i++
	}
	h.restarts = slices.Delete(h.restarts, 0, i)
}
