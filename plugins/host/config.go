// Package host runs plugins: it starts a plugin's process, keeps one session
// with it, and gives factories whose behaviours are proxies for instances in
// that process.
//
// One process hosts all instances of a plugin. What goes wrong stays where it
// belongs:
//
//   - A failing or panicking handler is the failure of its actor. The messages
//     that had already left for the plugin return to the actor's mailbox.
//   - A process that dies fails all of its actors with ErrCrashed and is started
//     again, with growing delays. Messages that it had and did not acknowledge
//     become dead letters, because they may have been handled, or are handled
//     again (Config.AtLeastOnce).
//   - A process that hangs, or that speaks nonsense, is killed and counts as
//     died. Nothing that a process writes to its standard output or error can
//     hurt the daemon.
//   - No process outlives its plugin, nor the daemon: not when the daemon is
//     killed, and not when the process starts others and ends.
//
// The daemon stops draining an actor's mailbox while the plugin has as many of
// its messages as the window allows, so that the mailbox's own overflow policy
// is the only one.
package host

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// ErrCrashed is the kind of failure that all actors of a plugin have when its
// process ends.
var ErrCrashed = errors.New("the plugin process ended")

// Config says how a plugin is run. Zero durations, sizes and counts mean the
// defaults of DefaultConfig.
type Config struct {
	Name    string   // as configuration calls it; its behaviours are Name/BEHAVIOUR
	Command []string // program and arguments; required
	Dir     string   // working directory, and what a relative program starts from
	SHA256  string   // of the program, hexadecimal; "" means unchecked

	Env      map[string]string // what the process gets besides
	EnvAllow []string          // these variables of the daemon

	StartTimeout   time.Duration // until the process answers
	HandlerTimeout time.Duration // a handler that takes longer counts as hung
	StopTimeout    time.Duration // for what an instance still has when it is stopped
	HealthEvery    time.Duration // how often the process is asked whether it lives
	HealthTimeout  time.Duration // how long it may take to answer

	// AtLeastOnce gives the messages that a process had when it died back to their
	// actors, which may handle some of them twice; one that is being handled at two
	// deaths becomes a dead letter. Otherwise all of them become dead letters.
	AtLeastOnce bool

	MaxMessage int // bytes of one message's body
	Window     Window
	Restart    Restart

	Log     *slog.Logger               // slog.Default when nil
	Publish func(actor.Event)          // nil discards events
	Lookup  func(actor.Path) actor.Ref // resolves what an instance sends to; required by Open
	Topic   func(string) actor.Ref     // resolves topics that its arguments do not name; nil knows none
}

// Nobody is a Config.Lookup that finds no actor, for tests and tools.
func Nobody(actor.Path) actor.Ref { return nil }

// Window is how much a plugin may have and not yet have acknowledged. One actor
// takes at most a quarter of the messages.
type Window struct {
	Messages int
	Bytes    int
}

// Restart is how a process that died is started again: after
// min(Min·Factor^(n-1), Max) spread by ±Jitter, at most MaxRestarts times within
// Within.
type Restart struct {
	Min, Max    time.Duration
	Factor      float64
	Jitter      float64
	MaxRestarts int
	Within      time.Duration
}

// DefaultConfig holds the defaults.
func DefaultConfig() Config {
	return Config{
		EnvAllow:     []string{"PATH", "HOME", "LANG", "TZ"},
		StartTimeout: 10 * time.Second, HandlerTimeout: 30 * time.Second, StopTimeout: 5 * time.Second,
		HealthEvery: 5 * time.Second, HealthTimeout: 5 * time.Second,
		MaxMessage: 4 << 20, Window: Window{Messages: 1024, Bytes: 4 << 20},
		Restart: Restart{Min: time.Second, Max: 30 * time.Second, Factor: 2, Jitter: 0.2, MaxRestarts: 10, Within: 5 * time.Minute},
	}
}

// complete fills in the defaults and checks the rest.
func (c Config) complete() (Config, error) {
	d := DefaultConfig()
	or(&c.StartTimeout, d.StartTimeout)
	or(&c.HandlerTimeout, d.HandlerTimeout)
	or(&c.StopTimeout, d.StopTimeout)
	or(&c.HealthEvery, d.HealthEvery)
	or(&c.HealthTimeout, d.HealthTimeout)
	or(&c.MaxMessage, d.MaxMessage)
	or(&c.Window.Messages, d.Window.Messages)
	or(&c.Window.Bytes, d.Window.Bytes)
	or(&c.Restart, d.Restart)
	if c.EnvAllow == nil {
		c.EnvAllow = d.EnvAllow
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.Log = c.Log.With("plugin", c.Name)
	if c.Publish == nil {
		c.Publish = func(actor.Event) {}
	}
	if err := actor.CheckName(c.Name); err != nil {
		return c, fmt.Errorf("plugin: %w", err)
	}
	if c.MaxMessage > wire.MaxBody {
		return c, fmt.Errorf("plugin %s: max-message is %d bytes; at most %d are possible", c.Name, c.MaxMessage, wire.MaxBody)
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return c, fmt.Errorf("plugin %s: no command; give the program, e.g. command = [\"./bin/%s\"]", c.Name, c.Name)
	}
	return c, nil
}

func or[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// history remembers when a process was started again.
type history struct {
	restarts []time.Time
	row      int // since it last stayed up for Within
}

// next grants a restart at now after a life of up, or says that there were too
// many. dice is a random number in [0,1).
func (r Restart) next(h *history, now time.Time, up time.Duration, dice float64) (delay time.Duration, ok bool) {
	for len(h.restarts) > 0 && now.Sub(h.restarts[0]) > r.Within {
		h.restarts = h.restarts[1:]
	}
	if len(h.restarts) >= r.MaxRestarts {
		return 0, false
	}
	if up > r.Within {
		h.row = 0
	}
	h.row++
	h.restarts = append(h.restarts, now)
	d := float64(r.Min) * math.Pow(max(r.Factor, 1), float64(h.row-1))
	d = min(d, float64(max(r.Max, r.Min))) * (1 + r.Jitter*(2*dice-1))
	return time.Duration(d), true
}
