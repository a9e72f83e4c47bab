package actor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Conduct is the part of a Context by which a behaviour changes how it is run.
// All of it ends with the incarnation: a restart begins with the first behaviour
// and with what configuration says.
type Conduct interface {
	// Become makes b handle the messages from the next one on, in the place of
	// what handles them now; BecomeStacked keeps that, and Unbecome goes back to
	// it, at last to the first behaviour. Only Receive of b is called: Start, Stop
	// and the other hooks stay with the first behaviour.
	Become(b Behaviour)
	BecomeStacked(b Behaviour)
	Unbecome()

	// Stash sets the current message aside once its handler returns without an
	// error. Unstash gives what was set aside back to the front of the mailbox, in
	// the order of Stash; nothing is dropped for it. What is still set aside when
	// the actor stops or restarts becomes dead letters; a reload gives it back to
	// the mailbox. Errors: ErrStashFull, ErrUnsupported outside a handler or when it
	// was called for this message already.
	Stash() error
	Unstash()

	// SetReceiveTimeout makes a message of kind KindReceiveTimeout come whenever
	// nobody told this actor anything for d and its mailbox is empty; 0 ends that.
	// Timers and notices do not count as being told. Errors: d < 0, ErrUnsupported.
	SetReceiveTimeout(d time.Duration) error
	// Throttle limits how many messages are handled; the zero value ends that.
	// Errors: a bad limit, ErrUnsupported.
	Throttle(t Throttle) error

	// Timer tells this actor m when the schedule says; a timer of the same key is
	// replaced. CancelTimer reports whether it prevented a delivery that was still to
	// come. Errors: a bad schedule.
	Timer(key string, when Schedule, m Message) error
	CancelTimer(key string) bool

	// Go runs f on a goroutine of its own and tells this actor the result, with the
	// sender, the trace and the delivery of the current message. An error, a panic
	// and runtime.Goexit come as a message of kind KindFailed. f must return when its
	// context ends, which is when the incarnation does: stopping waits for it. A
	// result that comes later is a dead letter.
	Go(f func(ctx context.Context) (Message, error))
	// AskAsync asks without waiting: the answer is told to this actor as Go would
	// do, and so is a failure to get one.
	AskAsync(to Ref, m Message, timeout time.Duration)

	// Kill makes ErrKilled the failure of this actor, or of a child, after the
	// message it handles.
	Kill(ref Ref)
}

// PreRestarter is a Behaviour with work for the instance that a restart ends;
// without it Stop runs. An error is logged and stops nothing.
type PreRestarter interface {
	PreRestart(ctx Context, cause error) error
}

// PostRestarter is a Behaviour with work for the instance that a restart makes,
// before its first message; without it Start runs. An error is a failure.
type PostRestarter interface {
	PostRestart(ctx Context, cause error) error
}

// Kinds of the messages that come by themselves. The body of KindFailed is a map
// with "error" (string) and "panic" (bool); after AskAsync also "path" and "kind" of
// the question.
const (
	KindReceiveTimeout = "receive-timeout"
	KindFailed         = "failed"
)

// ReasonStashed is the reason of dead letters that were set aside by Stash when
// their incarnation ended.
const ReasonStashed = "stashed"

// PolicyThrottle is the policy of Dropped when a throttle discarded the message.
const PolicyThrottle = "throttle"

// Errors of conduct.
var (
	ErrKilled    = errors.New("killed")
	ErrStashFull = errors.New("the stash is full")
)

// Throttle limits the messages that an actor handles: a bucket holds Burst
// tokens at most and gets Rate of them a second, and each message takes one. The
// zero value limits nothing.
type Throttle struct {
	Rate  float64 // messages a second; 0 means no limit
	Burst int     // messages at once; 0 means those of one second, at least one
	Drop  bool    // what exceeds the limit is discarded; otherwise it waits in the mailbox
}

// On tells whether t limits anything.
func (t Throttle) On() bool { return t.Rate > 0 }

// Capacity is how many messages may be handled at once.
func (t Throttle) Capacity() float64 {
	if t.Burst > 0 {
		return float64(t.Burst)
	}
	return max(1, math.Ceil(t.Rate))
}

// Check reports a limit that makes no sense.
func (t Throttle) Check() error {
	switch {
	case t.Rate < 0 || math.IsNaN(t.Rate) || math.IsInf(t.Rate, 0):
		return fmt.Errorf("throttle: a rate of %v messages a second is not possible", t.Rate)
	case t.Burst < 0:
		return fmt.Errorf("throttle: a burst of %d messages is not possible", t.Burst)
	}
	return nil
}

// Schedule says when a timer fires: once after After (the zero value: as soon as
// possible), or again and again.
type Schedule struct {
	After time.Duration // the first time; 0 with Every means after Every
	Every time.Duration // then again and again
	Delay bool          // Every counts from the last firing; otherwise firings keep a fixed rate
	// Next returns the first time after now, in place of the others; the zero time
	// means not in the foreseeable future. It runs on a goroutine of the engine and
	// must not block.
	Next func(now time.Time) time.Time
}

// Check reports a schedule that contradicts itself.
func (s Schedule) Check() error {
	switch {
	case s.Every < 0:
		return fmt.Errorf("schedule: every %s is not possible", s.Every)
	case s.Next != nil && (s.Every > 0 || s.After > 0):
		return errors.New("schedule: Next says when to fire, so nothing else can")
	}
	return nil
}

// First is the time until the first firing of a schedule without Next.
func (s Schedule) First() time.Duration {
	if s.After <= 0 {
		return s.Every
	}
	return s.After
}

// FailedMessage is the message of kind KindFailed about err.
func FailedMessage(err error, panicked bool) Message {
	return Message{Kind: KindFailed, Body: map[string]any{"error": err.Error(), "panic": panicked}}
}
