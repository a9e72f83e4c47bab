// Package route holds what the built-in behaviours that pass messages on have in
// common: where a message goes, and what becomes of one that goes nowhere.
//
// A built-in behaviour never fails because somebody else is full or gone: what
// cannot be told becomes a dead letter.
package route

import (
	"errors"
	"fmt"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Targets are the addresses of a fan-out. The zero value goes nowhere.
type Targets []actor.Ref

// Resolve looks the targets up once, so that telling costs no lookup. It belongs
// into Start and Reconfigure.
func Resolve(ctx actor.Context, to actor.Targets) (Targets, error) {
	out := make(Targets, 0, len(to))
	for _, t := range to {
		ref, err := ctx.Resolve(t)
		if err != nil {
			return nil, fmt.Errorf("target %q: %w", t, err)
		}
		out = append(out, ref)
	}
	return out, nil
}

// Tell sends m to every target. Where one refuses it and leaves the decision
// here, the current message becomes a dead letter, once per such target.
func (t Targets) Tell(ctx actor.Context, m actor.Message) {
	for _, ref := range t {
		if err := ctx.Tell(ref, m); err != nil {
			ctx.Handle().DeadLetter(ctx.Letter(), reason(err)+": "+err.Error())
		}
	}
}

func reason(err error) string {
	switch {
	case errors.Is(err, actor.ErrFull), errors.Is(err, actor.ErrBlockTimeout):
		return actor.ReasonFull
	case errors.Is(err, actor.ErrTerminating):
		return actor.ReasonTerminating
	default:
		return actor.ReasonStopped
	}
}

// Unrouted makes the current message a dead letter because it goes nowhere. The
// detail says why; it may be empty.
func Unrouted(ctx actor.Context, detail string) {
	why := actor.ReasonUnrouted
	if detail != "" {
		why += ": " + detail
	}
	ctx.Handle().DeadLetter(ctx.Letter(), why)
}

// Compile compiles the expression that configuration has at place, e.g.
// "rules[2].when". An empty one gives no evaluator and no error.
func Compile(place, site string, src actor.Expr) (*rule.Evaluator, error) {
	if src == "" {
		return nil, nil
	}
	program, err := rule.Compile(site, string(src))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return program.Evaluator(), nil
}

// Input returns what an expression sees of the current message.
func Input(ctx actor.Context, m actor.Message) *rule.Input {
	in := &rule.Input{Message: m, Path: ctx.Self().Path()}
	if s := ctx.Sender(); s != nil {
		in.Sender = s.Path()
	}
	return in
}

// OnError says what becomes of a message on which an expression fails.
type OnError string

// The answers to a failed expression, as configuration writes them.
const (
	DeadLetter OnError = "dead-letter" // the message becomes a dead letter
	Skip       OnError = "skip"        // go on as if the expression were not there
	Fail       OnError = "fail"        // the actor fails
)

// Failed does what o says about err, which an expression returned for the
// current message. The behaviour goes on when skip is true and returns failure
// otherwise.
func (o OnError) Failed(ctx actor.Context, err error) (skip bool, failure error) {
	switch o {
	case Skip:
		return true, nil
	case Fail:
		return false, err
	default:
		Unrouted(ctx, err.Error())
		return false, nil
	}
}
