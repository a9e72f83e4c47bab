package sdk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// send packs a command for the host.
func (in *instance) send(cmd *wire.Command, m actor.Message) error {
	body, err := wire.AppendBody(nil, m.Body)
	if err != nil {
		return fmt.Errorf("send %q: %w", m.Kind, err)
	}
	if len(body) > wire.MaxBody {
		return fmt.Errorf("send %q: the body has %d bytes; at most %d leave a plugin", m.Kind, len(body), wire.MaxBody)
	}
	cmd.Inst, cmd.Kind, cmd.Headers, cmd.Body = in.id, m.Kind, m.Headers, body
	in.session.out.command(cmd)
	return nil
}

// ref is an address in the host.
type ref struct {
	in     *instance
	target string // what the host resolves
	path   actor.Path
}

func (r *ref) Path() actor.Path { return r.path }

// Tell sends m. With a handler's context it carries that actor as sender and its
// trace; otherwise nobody is the sender.
func (r *ref) Tell(ctx context.Context, m actor.Message) error {
	if c, ok := ctx.Value(callKey{}).(*callContext); ok {
		return c.send(&wire.Command{Op: wire.OpTell, Target: r.target}, m)
	}
	return r.in.send(&wire.Command{Op: wire.OpSend, Target: r.target, Trace: actor.TraceOf(ctx)}, m)
}

// Ask tells m and waits for the first reply.
func (r *ref) Ask(ctx context.Context, m actor.Message) (actor.Message, error) {
	timeout := time.Duration(0) // until ctx ends
	if at, ok := ctx.Deadline(); ok {
		timeout = max(time.Until(at), time.Nanosecond)
	}
	return r.ask(ctx, m, timeout)
}

func (r *ref) ask(ctx context.Context, m actor.Message, timeout time.Duration) (actor.Message, error) {
	s := r.in.session
	id, result := s.call()
	defer s.dropCall(id)
	cmd := &wire.Command{Op: wire.OpAsk, Target: r.target, Call: id, Timeout: int64(timeout), Trace: actor.TraceOf(ctx)}
	if c, ok := ctx.Value(callKey{}).(*callContext); ok {
		cmd.Cause, cmd.Trace = c.seq, c.trace
	}
	if err := r.in.send(cmd, m); err != nil {
		return actor.Message{}, err
	}
	select {
	case res := <-result:
		return askResult(res)
	case <-ctx.Done():
		err := context.Cause(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = actor.ErrAskTimeout
		}
		return actor.Message{}, fmt.Errorf("ask %s: %w", r.path, err)
	}
}

// known are the errors that keep their identity on the way from the host.
var known = []error{
	actor.ErrFull, actor.ErrStopped, actor.ErrBlockTimeout, actor.ErrWrongType, actor.ErrAskTimeout,
	actor.ErrActorFailed, actor.ErrNotFound, actor.ErrTerminating, actor.ErrUnsupported,
}

// remoteError is an error of the host with its text and its identity.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

func askResult(res *wire.Result) (actor.Message, error) {
	if res.Error != "" {
		e := &remoteError{text: res.Error}
		for _, k := range known {
			if k.Error() == res.Code {
				e.is = k
			}
		}
		return actor.Message{}, e
	}
	var d wire.Delivery
	if _, err := wire.NextDelivery(res.Packed, &d); err != nil {
		return actor.Message{}, fmt.Errorf("ask: the reply: %w", err)
	}
	body, err := wire.DecodeBody(d.Body)
	return actor.Message{Kind: d.Kind, Body: body, Headers: d.Headers}, err
}

// replyRef stands for the sender of whatever message is current.
type replyRef struct{}

func (replyRef) Path() actor.Path { return actor.Path(actor.ToReply) }

func (replyRef) Tell(ctx context.Context, m actor.Message) error {
	c, ok := ctx.Value(callKey{}).(*callContext)
	if !ok {
		return fmt.Errorf("tell reply outside a handler: %w", actor.ErrUnsupported)
	}
	return c.Reply(m)
}
