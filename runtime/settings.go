package runtime

import (
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// OnFull says what Context.Tell does with a message whose receiver is full.
type OnFull uint8

// What to do when a receiver refuses a message because it is full.
const (
	ReturnError OnFull = iota // the behaviour gets the error
	DeadLetter                // the message becomes a dead letter
	Drop                      // the message is discarded and counted
	Retry                     // it is told again, with growing delays, then becomes a dead letter
	BlockOnFull               // the sender waits for room, until it is told to stop
)

// Settings are what can change while an actor lives. The zero value is an
// unlimited FIFO mailbox under the default strategy.
type Settings struct {
	Mailbox          mailbox.Settings
	Supervision      *supervise.Strategy // how this actor is supervised; nil: as its parent says
	ChildSupervision *supervise.Strategy // for children that say nothing; nil: supervise.Default
	StopTimeout      time.Duration       // how long Actor.Stop waits for the queue to drain; 0 means DefaultStopTimeout
	HandlerWarn      time.Duration       // a handler or hook that runs longer is reported, and again at every doubling; 0 means never
	OnFull           OnFull
	StashCapacity    int      // messages that may be set aside; 0 means DefaultStashCapacity
	Routine          *Routine // what the actor does by itself; nil means nothing

	dispatcher *dispatcher // nil is the default one; never changes while the actor lives
}

// DefaultStopTimeout is how long a graceful stop may drain a mailbox.
const DefaultStopTimeout = 5 * time.Second

// DefaultHandlerWarn is how long a handler of a declared actor may run before it
// is reported.
const DefaultHandlerWarn = 10 * time.Second

// DefaultSettings are the settings of an actor that configuration declares
// without saying more.
func DefaultSettings() Settings {
	return Settings{
		Mailbox: mailbox.Settings{WarnAt: 10_000}, StopTimeout: DefaultStopTimeout,
		HandlerWarn: DefaultHandlerWarn, OnFull: DeadLetter,
	}
}

// Ranker gives a message its rank when it is told: lower is sooner, NaN last. It
// runs on the sender's goroutine, so it must be safe for concurrent use.
type Ranker func(m actor.Message, sender actor.Ref) float64

// Spec declares an actor of a system that is written down.
type Spec struct {
	Name       string
	Behaviour  string         // what configuration calls it, for inspection
	New        actor.Producer // the behaviour
	Settings   Settings
	Priority   Ranker               // nil means FIFO
	Pool       *Pool[actor.Message] // several of them behind the address; nil means one
	Dispatcher string               // who runs it; "" means DefaultDispatcher
	Frozen     bool                 // it starts and handles no message until a mailbox is moved to it; see Paused.MoveTo
}

// Props is what an actor of message type T is made of.
type Props[T any] struct {
	New        func() (Receiver[T], error) // called for the first start and every restart
	Behaviour  string                      // a name for inspection
	Settings   Settings
	Priority   func(m T, sender actor.Ref) float64 // see Ranker; nil means FIFO
	Pool       *Pool[T]                            // several of them behind the address; nil means one
	Dispatcher string                              // who runs it; "" means DefaultDispatcher

	// Mailbox makes a queue of the actor's own; nil means the usual one. It is called
	// once for each actor, and what it makes belongs to that actor alone. The mailbox
	// says with dropped, while it pushes or pops, which messages it has discarded: that
	// is counted and published as for any other.
	Mailbox func(dropped func(Mail[T])) Mailbox[T]

	frozen  bool       // see Spec
	running *pool[T]   // that the actor leads
	base    actor.Path // what relative targets start from; "" means the actor's path
}

// Receiver handles the messages of one actor, one at a time. It may also have
// Start, Stop and Terminated methods (Starter, Stopper, TerminatedHandler).
type Receiver[T any] interface {
	Receive(ctx *Context[T], m T) error
}

// Starter runs before the first message of an instance.
type Starter[T any] interface{ Start(ctx *Context[T]) error }

// Stopper runs after the last message of an instance.
type Stopper[T any] interface{ Stop(ctx *Context[T]) error }

// TerminatedHandler is told that a watched actor ended.
type TerminatedHandler[T any] interface {
	Terminated(ctx *Context[T], path actor.Path) error
}
