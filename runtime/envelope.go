package runtime

import (
	"context"
	"fmt"

	"github.com/actord/actord/runtime/actor"
)

// envelope is a message on its way: who sent it and, when there is more to say,
// meta. It is small because a backlog is made of them.
type envelope[T any] struct {
	msg    T
	sender actor.Ref
	meta   *meta
}

// meta is what few messages carry. It is shared and immutable, but for trace
// being set once by the handler that first asks for it on its own copy.
type meta struct {
	kind        metaKind
	event       bool // the message is about an event: what becomes of it makes no further events
	trace       actor.TraceID
	delivery    *actor.Delivery // what the message belongs to; nil when nobody tracks it
	replay      *replay         // that the message is, or that what told it was; nil for most
	ended       *node           // of a notice: the actor that ended
	timer       *timer          // of a tick
	incarnation uint64          // of a tick: who set the timer
}

type metaKind uint8

const (
	traced  metaKind = iota // an ordinary message
	notice                  // a watched actor ended; never discarded
	tick                    // a timer's message; void for a later incarnation
	outcome                 // the result of a task; never discarded
	silence                 // nobody told the actor anything for the receive timeout
)

// keepNotice tells the mailbox what must not be discarded.
func keepNotice[T any](e envelope[T]) bool {
	return e.meta != nil && (e.meta.kind == notice || e.meta.kind == outcome)
}

// mail tells that it is an ordinary message, neither a tick nor a notice.
func (e envelope[T]) mail() bool { return e.meta.isMail() }

func (m *meta) isMail() bool { return m == nil || m.kind == traced }

// owed tells that somebody must learn when it gets lost.
func (e envelope[T]) owed() bool { return e.mail() || e.meta.kind == outcome }

// track is the delivery that the message belongs to, nil for most.
func (m *meta) track() *actor.Delivery {
	if m == nil {
		return nil
	}
	return m.delivery
}

func (m *meta) traceID() actor.TraceID {
	if m == nil {
		return actor.TraceID{}
	}
	return m.trace
}

// aboutEvent tells that nothing that becomes of the message is to be an event.
func (m *meta) aboutEvent() bool { return m != nil && m.event }

// asMessage is how a message of any type appears in events.
func asMessage(m any) actor.Message {
	if msg, ok := m.(actor.Message); ok {
		return msg
	}
	return actor.Message{Kind: fmt.Sprintf("%T", m)}
}

// origin is a context that knows who is sending and on which trace.
type origin interface {
	origin() (actor.Ref, *meta)
}

type originKey struct{}

// originOf finds the sender and the trace that ctx stands for.
func originOf(ctx context.Context) (actor.Ref, *meta) {
	if ctx == context.Background() {
		return nil, nil // most calls from outside: save the look-ups
	}
	if o, ok := ctx.(origin); ok {
		return o.origin()
	}
	if o, ok := ctx.Value(originKey{}).(origin); ok {
		return o.origin()
	}
	if t, d := actor.EntryOf(ctx); !t.IsZero() || d != nil {
		return nil, &meta{trace: t, delivery: d}
	}
	return nil, nil
}

// from is a context that sends as somebody else.
type from struct {
	context.Context
	sender actor.Ref
	meta   *meta
}

func (f from) origin() (actor.Ref, *meta) { return f.sender, f.meta }
