package spec

import (
	"iter"
	"log/slog"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/phase"
	"github.com/actord/actord/runtime/supervise"
	"github.com/actord/actord/topology/hocon"
)

// System is a checked configuration. It is immutable and may be shared.
type System struct {
	Name         string
	DrainTimeout time.Duration // how long a shutdown waits for the actors to become quiet; 0: not at all
	RootFailure  string        // shutdown or stop-subtree
	StateDir     string        // "": one below the user's state directory
	Log          Log
	Reload       Reload
	Shutdown     phase.Settings
	DeadLetters  DeadLetters
	Dispatchers  map[string]Dispatcher // by name; default and pinned are always there

	Actors        []*Actor  // those under /user, by StartOrder, then as they stand in the file
	Bridges       []*Bridge // as they stand in the file
	Plugins       []*Plugin // as they stand in the file
	Topics        []*Topic  // as they stand in the file
	Subscriptions []Subscription

	Settings []Setting // of the sections whose names are given, keys as in the file
	Hash     string    // of the whole configuration, without what is cosmetic

	Warnings hocon.Errors // what is likely wrong but works
	Files    []string     // with secrets, absolute names: a change of one is a change of the configuration

	memory *memory // for the next check
}

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string                    // auto, text or json
	Levels map[actor.Path]slog.Level // other levels for an actor and all below it
}

// Reload says how changes of the file are noticed and applied.
type Reload struct {
	Watch    bool
	Quiet    time.Duration // how long the files must stay unchanged
	Poll     time.Duration // how often contents are compared; 0: never
	Deadline time.Duration // how long applying may take

	Probation     time.Duration              // how long what was touched must do well; 0: not at all
	Healthy       func(m actor.Message) bool // must hold during the probation; nil: always; safe for concurrent use
	KeepRevisions int                        // how many are kept on disk
	MaxRemoved    float64                    // share of actors, from 0 to 1, above which a reload is held
	RemovedHold   time.Duration              // how long it is held
	RequireEOF    bool                       // the file must end with the end marker
}

// Subscription sends events of the system to an actor.
type Subscription struct {
	To     actor.Target
	Events []string                   // kinds of actor.EventKinds, at least one
	When   func(m actor.Message) bool // nil: all; safe for concurrent use; false when it fails
	Pos    hocon.Pos
}

// Actor is a declared actor with all that it is given.
type Actor struct {
	Path        actor.Path
	Behaviour   string // as the Registry calls it
	Description string
	Was         actor.Path     // where it was before a rename; "" is nowhere else
	Args        map[string]any // decoded, with defaults
	Prepared    actor.Prepared

	Mailbox          mailbox.Settings
	Priority         string // expression; "" means FIFO
	PriorityDefault  float64
	Rank             Rank               // what Priority computes; nil means FIFO
	Supervision      supervise.Strategy // how this actor is supervised
	ChildSupervision supervise.Strategy // for children that its behaviour spawns
	Pool             Pool               // of one for most
	Dispatcher       string             // one of the system\'s
	StashCapacity    int                // messages that the behaviour may set aside
	Routine          *Routine           // nil: nothing
	StopTimeout      time.Duration
	HandlerWarn      time.Duration // 0: never
	OnFull           string        // dead-letter, drop, retry or block
	StartOrder       int           // lower first among siblings
	Children         []*Actor      // by StartOrder, then as they stand in the file

	Settings    []Setting // without args and children
	ArgSettings []Setting
	Hash        string    // of this actor and all below it, without what is cosmetic
	Pos         hocon.Pos // of its name
}

// Rank gives a message its rank: lower is sooner. It is safe for concurrent use
// and never fails: what cannot be ranked gets the PriorityDefault.
type Rank = func(m actor.Message, sender actor.Ref) float64

// Bridge is a declared bridge. Its actor is at Path, /system/bridges/NAME.
type Bridge struct {
	Path        actor.Path
	Type        string // as the Registry calls it
	Description string
	Args        map[string]any // the type's own keys, decoded, with defaults
	Prepared    actor.Prepared
	Listens     bool // it waits for others to connect; it closes before the other bridges

	Settings []Setting // of all keys, args included
	Hash     string
	Pos      hocon.Pos // of its name
}

// Plugin is a declared plugin.
type Plugin struct {
	Name           string
	Command        []string
	SHA256         string // of the program, lower-case hex; "" accepts any
	Version        string // that the plugin must have; "" accepts any
	Restart        PluginRestart
	Delivery       string // at-least-once or at-most-once
	MaxMessage     actor.Size
	HandlerTimeout time.Duration
	StopTimeout    time.Duration
	Window         Window
	Env            map[string]actor.Secret // set for the process
	EnvAllow       []string                // passed on from the daemon's environment

	Settings []Setting
	Hash     string
	Pos      hocon.Pos // of its name
}

// PluginRestart says how often and how fast a dead process is started again.
type PluginRestart struct {
	Backoff     supervise.Backoff
	MaxRestarts int // supervise.Unlimited for no limit
	Within      time.Duration
}

// Window bounds what a plugin has received and not yet handled.
type Window struct {
	Messages int
	Bytes    actor.Size
}

// All yields the actors of the system, each before those below it.
func (s *System) All() iter.Seq[*Actor] {
	return func(yield func(*Actor) bool) { walk(s.Actors, yield) }
}

// All yields the actor and those below it, each before those below it.
func (a *Actor) All() iter.Seq[*Actor] {
	return func(yield func(*Actor) bool) { walk([]*Actor{a}, yield) }
}

func walk(actors []*Actor, yield func(*Actor) bool) bool {
	for _, a := range actors {
		if !yield(a) || !walk(a.Children, yield) {
			return false
		}
	}
	return true
}
