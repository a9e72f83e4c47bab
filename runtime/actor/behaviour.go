package actor

import (
	"context"
	"log/slog"
	"time"
)

// Behaviour handles an actor's messages, one at a time. An error or a panic is
// the actor's failure: the message is skipped and the supervision decides.
type Behaviour interface {
	Receive(ctx Context, m Message) error
}

// Func makes a plain function a Behaviour.
type Func func(ctx Context, m Message) error

// Receive calls f.
func (f Func) Receive(ctx Context, m Message) error { return f(ctx, m) }

// Starter is a Behaviour with work before its first message. An error is a
// failure of the actor.
type Starter interface {
	Start(ctx Context) error
}

// Stopper is a Behaviour with work after its last message; children are gone by
// then. It also runs for the instance that a restart or a reload replaces. An
// error is logged and stops nothing.
type Stopper interface {
	Stop(ctx Context) error
}

// Reconfigurer is a Behaviour that takes a new configuration in place, between
// two messages. An error means that nothing was changed; the old configuration
// goes on. C is the configuration type of its factory.
type Reconfigurer[C any] interface {
	Reconfigure(ctx Context, config C) error
}

// State is a behaviour's state as bytes with the version of their layout.
type State struct {
	Version int
	Data    []byte
}

// Snapshotter is a Behaviour whose state moves to its successor when a reload
// replaces it. Snapshot runs after the last message and before Stop; Restore
// runs before Start and returns an error when it cannot read the version, which
// makes the reload keep the old instance.
type Snapshotter interface {
	Snapshot() (State, error)
	Restore(State) error
}

// Producer builds a fresh instance: for the first start and for every restart.
type Producer func() (Behaviour, error)

// Context is a behaviour's only way to the world. It is valid during the call it
// was given to, and only on that goroutine; as a context.Context it ends when
// the actor is told to stop at once.
type Context interface {
	context.Context

	// Self is this actor; Sender is who sent the current message, nil when
	// nobody did (a timer, a bridge, a call from outside).
	Self() Ref
	Sender() Ref
	// Trace is the current message's trace. It is made on first use.
	Trace() TraceID
	// Log knows the actor and the trace.
	Log() *slog.Logger

	// Tell sends with this actor as sender. When the receiver is full the actor's
	// on-full decides; an error comes back only when it leaves the decision to
	// the behaviour. A missing receiver makes a dead letter and is no error.
	Tell(to Ref, m Message) error
	// Reply tells the sender; without a sender the message is a dead letter.
	Reply(m Message) error
	// Ask waits for an answer, and this actor handles nothing meanwhile. See Asker.
	Ask(to Ref, m Message, timeout time.Duration) (Message, error)

	// Lookup returns the address p; it never fails, see Ref.
	Lookup(p Path) Ref
	// Resolve returns the address that configuration wrote as t; relative
	// targets start at this actor. "reply" resolves to a Ref that stands for the
	// sender of whatever message is current when it is told.
	Resolve(t Target) (Ref, error)

	// After tells this actor m once, after d; Every does so again and again,
	// with a fixed delay. Timers end with the incarnation that set them. cancel
	// reports whether it prevented a delivery that was still to come. Every with d ≤ 0
	// is a mistake, which is logged: no timer is set.
	After(d time.Duration, m Message) (cancel func() bool)
	Every(d time.Duration, m Message) (cancel func() bool)

	// Spawn starts a child under this actor, supervised by its
	// child-supervision. Without a name it gets one that nobody can guess. Errors:
	// ErrNameTaken, ErrTerminating, a bad name. Where
	// keep-children holds, the children of the instance before a restart are still
	// there: ErrNameTaken says so, and Lookup finds them.
	Spawn(name string, p Producer) (Ref, error)
	// Stop ends this actor or a child behind the messages it already has.
	Stop(ref Ref)
	// Watch asks for a message of kind KindTerminated when ref's present
	// incarnation ends; at once when there is none. Unwatch takes it back.
	Watch(ref Ref) error
	Unwatch(ref Ref)

	// Publish hands an event to the system's event stream.
	Publish(e Event)

	// PublishTo sends m to all subscribers of a topic, or to one in turn, as the
	// topic says, with this actor as sender. A full subscriber keeps nobody else
	// from getting it; this actor's on-full decides about that one's copy. Without
	// subscribers m is a dead letter, unless the topic drops such messages. The
	// error is ErrNotFound for a topic that is not declared. Resolve gives the
	// same as a Ref for the target "topic:NAME".
	PublishTo(topic string, m Message) error
	// Subscribe makes this actor get what is published to a topic, until it ends;
	// a restart ends nothing. Doing it twice is doing it once. Unsubscribe takes
	// it back; a subscription that configuration declares stays. The error is
	// ErrNotFound for a topic that is not declared.
	Subscribe(topic string) error
	Unsubscribe(topic string)

	// Hold keeps the delivery of the current message open after Receive returned,
	// for work that is done later: a batch, an aggregate, a join. release ends it,
	// once, from any goroutine. What is still held when the incarnation ends is
	// refused. For a message that nobody tracks it does nothing.
	Hold() (release func(error))

	// Letter keeps the current message for work that ends later; Handle keeps
	// the actor. Both may be used from any goroutine after the call.
	Letter() Letter
	Handle() Handle

	Conduct
}

// KindTerminated is the kind of the message a watcher gets. Its body is a map
// with "path" (string) of the actor that ended.
const KindTerminated = "terminated"

// Letter is a message together with who sent it and its trace.
type Letter interface {
	Message() Message
	Sender() Ref
	Trace() TraceID
}

// Handle acts for one incarnation of an actor from outside its handler, for
// behaviours whose work happens elsewhere, e.g. in a plugin process. Its methods
// are safe for concurrent use; after the incarnation has ended they do nothing
// and return false or ErrStopped.
type Handle interface {
	// Fail makes err the failure of this incarnation. The letters in back go to
	// the front of the mailbox in this order, so the next incarnation gets them,
	// or become dead letters when the actor ends. A nil err is no failure: it only
	// gives the letters back.
	Fail(err error, back ...Letter) bool
	// Tell sends with this actor as sender and the trace of cause (may be nil).
	Tell(to Ref, m Message, cause Letter) error
	// Done says that the work of a letter ended well. A letter that was taken while
	// handling a tracked message keeps its delivery open until Done, DeadLetter or
	// Fail.
	Done(l Letter)
	// DeadLetter gives up on a letter for reason.
	DeadLetter(l Letter, reason string)
	// Ended is closed when the incarnation is told to stop or is replaced.
	Ended() <-chan struct{}
}
