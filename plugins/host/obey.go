package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// obey does what the plugin's behaviour asked for.
func (in *instance) obey(c *wire.Command, body any) {
	m := actor.Message{Kind: c.Kind, Body: body, Headers: c.Headers}
	cause := in.letter(c.Cause)
	switch c.Op {
	case wire.OpTell:
		in.tell(c, m, cause)
	case wire.OpSend:
		if to := in.resolve(c.Target, cause); to != nil {
			_ = to.Tell(actor.WithTrace(context.Background(), c.Trace), m) // a refusal is the receiver's to report
			return
		}
		in.lose(actor.Path(c.Target), m, c.Trace, actor.ReasonStopped)
	case wire.OpReply:
		if cause == nil || cause.Sender() == nil {
			in.lose(actor.DeadLetters, m, c.Trace, actor.ReasonNoSender)
			return
		}
		in.send(cause.Sender(), m, cause, c.Trace)
	case wire.OpAsk:
		in.session.workers.Go(func() { in.ask(c, m, cause) })
	case wire.OpDeadLetter:
		in.handle.DeadLetter(&remoteLetter{m, in, c.Target, c.Trace}, c.Reason)
	case wire.OpPublish:
		fields, _ := body.(map[string]any)
		in.session.cfg.Publish(remoteEvent{c.Kind, fields})
	case wire.OpStop:
		in.session.mu.Lock()
		in.ending = true
		in.session.mu.Unlock()
		in.wake()
	}
}

func (in *instance) tell(c *wire.Command, m actor.Message, cause actor.Letter) {
	switch to := in.resolve(c.Target, cause); {
	case c.Target == string(actor.ToDeadLetters):
		in.lose(actor.DeadLetters, m, c.Trace, actor.ReasonExplicit)
	case to == nil:
		in.lose(actor.Path(c.Target), m, c.Trace, actor.ReasonStopped)
	default:
		in.send(to, m, cause, c.Trace)
	}
}

// send tells to as the actor. What comes back as an error has no behaviour to go
// to, which went on long ago.
func (in *instance) send(to actor.Ref, m actor.Message, cause actor.Letter, t actor.TraceID) {
	if cause == nil && !t.IsZero() {
		cause = &remoteLetter{trace: t}
	}
	switch err := in.handle.Tell(to, m, cause); {
	case err == nil:
	case errors.Is(err, actor.ErrFull), errors.Is(err, actor.ErrBlockTimeout):
		in.lose(to.Path(), m, t, actor.ReasonFull)
	default:
		in.lose(to.Path(), m, t, actor.ReasonStopped+": "+err.Error())
	}
}

// lose reports a message of the actor that reached nobody.
func (in *instance) lose(to actor.Path, m actor.Message, t actor.TraceID, reason string) {
	in.session.cfg.Publish(actor.DeadLetter{
		Recipient: to, Sender: in.path, Message: m, Reason: reason, Trace: t, Time: time.Now(),
	})
}

// resolve finds what an instance calls target, nil when there is no such thing.
func (in *instance) resolve(target string, cause actor.Letter) actor.Ref {
	if cause != nil {
		if s := cause.Sender(); s != nil && string(s.Path()) == target {
			return s // also an address that cannot be looked up, such as of an ask
		}
	}
	if to := in.known(target); to != nil || strings.HasPrefix(target, tempPrefix) {
		return to
	}
	cfg := &in.session.cfg
	if topic, ok := strings.CutPrefix(target, "topic:"); ok && cfg.Topic != nil {
		return cfg.Topic(topic)
	}
	if strings.HasPrefix(target, "/") {
		return cfg.Lookup(actor.Path(target))
	}
	return nil
}

// known returns a target of the arguments, or one of the last askers.
func (in *instance) known(target string) actor.Ref {
	in.session.mu.Lock()
	defer in.session.mu.Unlock()
	if to := in.targets[target]; to != nil {
		return to
	}
	return in.askers.refs[target]
}

// tempPrefix begins the addresses that cannot be looked up.
const tempPrefix = string(actor.Temp) + "/"

// askers remembers the addresses of the last asks, because a plugin may answer
// when it has long acknowledged the question.
type askers struct {
	refs  map[string]actor.Ref
	order []string // oldest first
}

const maxAskers = 1024

func (a *askers) add(path string, ref actor.Ref) {
	if a.refs == nil {
		a.refs = map[string]actor.Ref{}
	}
	if _, known := a.refs[path]; !known {
		a.order = append(a.order, path)
	}
	a.refs[path] = ref
	if len(a.order) > maxAskers {
		delete(a.refs, a.order[0])
		a.order = a.order[1:]
	}
}

// letters unpacks the messages that an instance gives back.
func (in *instance) letters(packed []byte) (out []actor.Letter, err error) {
	for len(packed) > 0 {
		var d wire.Delivery
		if packed, err = wire.NextDelivery(packed, &d); err != nil {
			return nil, err
		}
		body, err := wire.DecodeBody(d.Body)
		if err != nil {
			return nil, err
		}
		m := actor.Message{Kind: d.Kind, Body: body, Headers: d.Headers}
		out = append(out, &remoteLetter{m, in, d.Sender, d.Trace})
	}
	return out, nil
}

// ask waits for an answer on behalf of the instance.
func (in *instance) ask(c *wire.Command, m actor.Message, cause actor.Letter) {
	in.waits(1)
	defer in.waits(-1)
	res := &wire.Result{Call: c.Call}
	reply, err := in.askFor(c, m, cause)
	if err == nil {
		d := wire.Delivery{Kind: reply.Kind, Headers: reply.Headers}
		if d.Body, err = wire.AppendBody(nil, reply.Body); err == nil {
			res.Packed = wire.AppendDelivery(nil, &d)
		}
	}
	if err != nil {
		res.Error = err.Error()
		for _, k := range []error{
			actor.ErrFull, actor.ErrStopped, actor.ErrBlockTimeout, actor.ErrWrongType, actor.ErrAskTimeout,
			actor.ErrActorFailed, actor.ErrNotFound, actor.ErrTerminating, actor.ErrUnsupported,
		} {
			if errors.Is(err, k) {
				res.Code = k.Error()
			}
		}
	}
	in.session.send(&wire.HostFrame{Frame: &wire.HostFrame_Result{Result: res}})
}

// waits counts the answers that the instance waits for. Meanwhile its handler is
// not hung, however long that takes.
func (in *instance) waits(n int) {
	in.session.mu.Lock()
	defer in.session.mu.Unlock()
	in.asking += n
	in.since = time.Now()
}

func (in *instance) askFor(c *wire.Command, m actor.Message, cause actor.Letter) (actor.Message, error) {
	to := in.resolve(c.Target, cause)
	a, ok := to.(actor.Asker)
	if !ok {
		return actor.Message{}, fmt.Errorf("ask %s: %w", c.Target, actor.ErrUnsupported)
	}
	ctx, cancel := context.WithCancel(actor.WithTrace(context.Background(), c.Trace))
	defer cancel()
	if c.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.Timeout))
		defer cancel()
	}
	stop := context.AfterFunc(sessionEnd{in.session}, cancel)
	defer stop()
	return a.Ask(ctx, m)
}

// remoteLetter is a message that comes from a plugin.
type remoteLetter struct {
	m     actor.Message
	in    *instance
	from  string // path of the sender, "" when nobody sent it
	trace actor.TraceID
}

func (l *remoteLetter) Message() actor.Message { return l.m }
func (l *remoteLetter) Trace() actor.TraceID   { return l.trace }

func (l *remoteLetter) Sender() actor.Ref {
	if l.from == "" {
		return nil
	}
	return l.in.resolve(l.from, nil)
}

// remoteEvent is an event that a plugin's behaviour published.
type remoteEvent struct {
	kind   string
	fields map[string]any
}

func (e remoteEvent) Kind() string           { return e.kind }
func (e remoteEvent) Fields() map[string]any { return e.fields }

// sessionEnd is a context that ends with the session.
type sessionEnd struct{ s *session }

func (e sessionEnd) Deadline() (time.Time, bool) { return time.Time{}, false }
func (e sessionEnd) Done() <-chan struct{}       { return e.s.ended }
func (e sessionEnd) Value(any) any               { return nil }
func (e sessionEnd) Err() error {
	select {
	case <-e.s.ended:
		return context.Canceled
	default:
		return nil
	}
}
