package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// future waits for one answer. As a Ref it is the sender of the question.
type future[R any] struct {
	sys    *System
	path   atomic.Pointer[actor.Path] // made on demand
	answer chan answer[R]             // capacity 1: nobody waits to answer
}

type answer[R any] struct {
	value R
	err   error
}

func newFuture[R any](s *System) *future[R] {
	return &future[R]{sys: s, answer: make(chan answer[R], 1)}
}

// addressOver is the address of a question that nobody waits for any more.
var addressOver = actor.Temp.Child("$ask")

// Path returns a one-time address below /temp. It is known there from the moment
// that somebody wants to know it until the wait is over.
func (f *future[R]) Path() actor.Path {
	if p := f.path.Load(); p != nil {
		return *p
	}
	p := actor.Temp.Child(fmt.Sprintf("$ask-%012x", rand.Uint64()&(1<<48-1)))
	f.sys.temps.byPath.Store(p, answerable(f))
	if !f.path.CompareAndSwap(nil, &p) {
		f.sys.temps.byPath.Delete(p)
	}
	return *f.path.Load()
}

// over frees the address.
func (f *future[R]) over() {
	if !f.path.CompareAndSwap(nil, &addressOver) {
		f.sys.temps.byPath.Delete(*f.path.Load())
	}
}

// Tell answers the question; later answers are discarded.
func (f *future[R]) Tell(_ context.Context, m actor.Message) error {
	v, ok := any(m).(R)
	if !ok {
		return fmt.Errorf("tell %s: %w", f.Path(), actor.ErrWrongType)
	}
	f.settle(answer[R]{value: v})
	return nil
}

func (f *future[R]) settle(a answer[R]) {
	select {
	case f.answer <- a:
	default:
	}
}

func (f *future[R]) release(err error)  { f.settle(answer[R]{err: err}) }
func (f *future[R]) terminated(n *node) { f.release(actor.ErrStopped) }

// releaseAsker ends the wait of the asker behind a message that will not be
// answered.
func releaseAsker(sender actor.Ref, err error) {
	if f, ok := sender.(interface{ release(error) }); ok {
		f.release(err)
	}
}

// question checks that ctx may wait for an answer of to, and prepares for it.
func question[R, U any](ctx context.Context, to *PID[U]) (*future[R], error) {
	if to == nil {
		return nil, fmt.Errorf("ask a nil PID: %w", actor.ErrNotFound)
	}
	if sender, _ := originOf(ctx); sender != nil && sender.Path() == to.path && !beside(ctx) {
		return nil, fmt.Errorf("ask %s: %w", to.path, actor.ErrWouldDeadlock)
	}
	return newFuture[R](to.sys), nil
}

// ask sends the question m and waits for the answer, the end of the actor that
// got it, or the end of ctx. The future is the sender, so that whatever becomes
// of the question ends the wait.
func ask[U, R any](ctx context.Context, to *PID[U], m U, f *future[R]) (zero R, err error) {
	_, meta := originOf(ctx)
	defer f.over()
	c, err := to.deliver(ctx, envelope[U]{msg: m, sender: f, meta: meta})
	if err != nil {
		return zero, fmt.Errorf("ask %s: %w", to.path, cause(err))
	}
	if c != nil && c.watch(f) {
		defer c.unwatch(f)
	} else {
		f.release(actor.ErrStopped)
	}
	return f.wait(ctx, to.path)
}

// wait waits for the answer of the actor at path, or the end of ctx.
func (f *future[R]) wait(ctx context.Context, path actor.Path) (zero R, err error) {
	select {
	case a := <-f.answer:
		if a.err != nil {
			return zero, fmt.Errorf("ask %s: %w", path, a.err)
		}
		return a.value, nil
	case <-ctx.Done():
		err := context.Cause(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = actor.ErrAskTimeout
		}
		return zero, fmt.Errorf("ask %s: %w", path, err)
	}
}

func cause(err error) error {
	if u := errors.Unwrap(err); u != nil {
		return u
	}
	return err
}

// ReplyTo is where an actor of any message type sends the answer to a question.
// It may be called once or more; the first call counts. The zero value discards.
type ReplyTo[R any] struct{ f *future[R] }

// Reply answers with v and reports whether the asker still waited for it.
func (r ReplyTo[R]) Reply(v R) bool {
	if r.f == nil {
		return false
	}
	select {
	case r.f.answer <- answer[R]{value: v}:
		return true
	default:
		return false
	}
}

// Ask sends the message that build makes and waits for the answer to it. Errors:
// actor.ErrStopped (also when the actor ends before it answers), actor.ErrFull,
// actor.ErrActorFailed when handling it failed, actor.ErrWouldDeadlock when an
// actor asks itself, actor.ErrAskTimeout when ctx ends by deadline, else the cause
// of ctx.
func Ask[U, R any](ctx context.Context, to *PID[U], build func(ReplyTo[R]) U) (R, error) {
	f, err := question[R](ctx, to)
	if err != nil {
		var zero R
		return zero, err
	}
	return ask(ctx, to, build(ReplyTo[R]{f}), f)
}
