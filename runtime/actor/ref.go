package actor

import (
	"context"
	"errors"
)

// Ref is the address of an actor. It names a path, so it survives restarts and
// reloads of what lives there, and it may point to nothing: then Tell turns the
// message into a dead letter and returns ErrStopped.
//
// Refs are safe for concurrent use and comparable by Path.
type Ref interface {
	// Path returns where the actor lives.
	Path() Path
	// Tell puts m into the actor's mailbox and returns without waiting for it to
	// be handled. Given a handler's Context it carries that actor as sender, and
	// the trace. Errors: ErrFull, ErrStopped, ErrBlockTimeout, ErrWrongType, or
	// the cause of ctx when a blocking mailbox was waited for.
	Tell(ctx context.Context, m Message) error
}

// Reasons why a message, a name or a request was not accepted. They come wrapped
// with the path; compare with errors.Is.
var (
	ErrFull          = errors.New("mailbox is full")
	ErrStopped       = errors.New("actor is stopped or was never started")
	ErrBlockTimeout  = errors.New("mailbox stayed full until the block-timeout")
	ErrWrongType     = errors.New("actor takes messages of another type")
	ErrAskTimeout    = errors.New("no reply in time")
	ErrActorFailed   = errors.New("actor failed while handling the request")
	ErrWouldDeadlock = errors.New("an actor cannot wait for itself")
	ErrNameTaken     = errors.New("name is taken")
	ErrNotFound      = errors.New("no such actor")
	ErrTerminating   = errors.New("system is shutting down")
	ErrUnsupported   = errors.New("not supported here")
)

// OfferResult is the answer to Offer.
type OfferResult uint8

// Answers to Offer.
const (
	Accepted OfferResult = iota // the message is in the mailbox
	Full                        // there is no room now; wait and offer again
	Closed                      // nothing lives there any more
)

// Offerer is a Ref that can be asked for room. Offer puts m into the mailbox
// only when that discards nothing, whatever the overflow policy says, so that a
// bridge can make its peer wait instead of losing a message.
type Offerer interface {
	Offer(ctx context.Context, m Message) OfferResult
}

// Offer offers m to ref, with a plain Tell where ref is no Offerer.
func Offer(ctx context.Context, ref Ref, m Message) OfferResult {
	if o, ok := ref.(Offerer); ok {
		return o.Offer(ctx, m)
	}
	switch err := ref.Tell(ctx, m); {
	case err == nil:
		return Accepted
	case errors.Is(err, ErrFull), errors.Is(err, ErrBlockTimeout):
		return Full
	default:
		return Closed
	}
}

// Asker is a Ref that can wait for an answer.
type Asker interface {
	// Ask tells m and waits for the first reply. It ends early with ErrStopped
	// when the actor stops, ErrActorFailed when handling m failed, ErrAskTimeout
	// when ctx ends by deadline, and the cause of ctx otherwise.
	Ask(ctx context.Context, m Message) (Message, error)
}
