package actor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrAckTimeout refuses a delivery whose work took too long.
var ErrAckTimeout = errors.New("the work was not done within the ack-timeout")

// Delivery is one message from outside together with all the work it causes. A
// bridge makes one, offers the message with it (Track), and learns once how it
// ended: well, when every part of the work is done; refused, as soon as one part
// failed, was dropped or became a dead letter.
//
// What a handler tells, asks, stashes or holds while it handles a tracked message
// joins the delivery. A nil Delivery is a message that nobody tracks; its methods
// do nothing. Deliveries are safe for concurrent use.
type Delivery struct {
	open    atomic.Int64 // parts that are not done
	settled atomic.Bool
	settle  func(error)
	limit   atomic.Pointer[time.Timer] // may fire while it is being stored
}

// NewDelivery returns a delivery with one open part: its maker's own, which ends
// with Done when the message has been offered. settle is called exactly once, on
// whatever goroutine settled it, and must not block; nil means that all went
// well. A timeout > 0 refuses the delivery with ErrAckTimeout when it is over.
func NewDelivery(timeout time.Duration, settle func(error)) *Delivery {
	d := &Delivery{settle: settle}
	d.open.Store(1)
	if timeout > 0 {
		d.limit.Store(time.AfterFunc(timeout, func() { d.Refuse(ErrAckTimeout) }))
	}
	return d
}

// Join adds a part that ends with Done.
func (d *Delivery) Join() {
	if d != nil {
		d.open.Add(1)
	}
}

// Done ends a part, well or with an error that refuses the delivery.
func (d *Delivery) Done(err error) {
	if d == nil {
		return
	}
	if err != nil {
		d.Refuse(err)
	}
	if d.open.Add(-1) == 0 {
		d.end(nil)
	}
}

// Refuse settles the delivery with err, whatever is still open.
func (d *Delivery) Refuse(err error) {
	if d != nil {
		d.end(err)
	}
}

func (d *Delivery) end(err error) {
	if !d.settled.CompareAndSwap(false, true) {
		return
	}
	if t := d.limit.Load(); t != nil {
		t.Stop()
	}
	d.settle(err)
}

// Settled reports whether it is known how the delivery ended.
func (d *Delivery) Settled() bool { return d != nil && d.settled.Load() }

// entry is what a context from outside carries into the system.
type entry struct {
	trace    TraceID
	delivery *Delivery
}

type entryKey struct{}

// Track returns a context whose tells and offers belong to d.
func Track(ctx context.Context, d *Delivery) context.Context {
	e, _ := ctx.Value(entryKey{}).(entry)
	e.delivery = d
	return context.WithValue(ctx, entryKey{}, e)
}

// WithTrace returns a context whose tells carry trace t. Entry points such as
// bridges use it; a handler's Context already carries the trace.
func WithTrace(ctx context.Context, t TraceID) context.Context {
	e, _ := ctx.Value(entryKey{}).(entry)
	e.trace = t
	return context.WithValue(ctx, entryKey{}, e)
}

// EntryOf returns what ctx carries from outside: its trace and its delivery, zero
// and nil when there is none. An engine calls it for contexts that are not its own.
func EntryOf(ctx context.Context) (TraceID, *Delivery) {
	e, _ := ctx.Value(entryKey{}).(entry)
	return e.trace, e.delivery
}
