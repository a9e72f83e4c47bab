package actortest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// fakeContext is the actor.Context of one call on a Rig.
type fakeContext struct {
	context.Context
	rig    *Rig
	letter *letter
	ended  atomic.Bool
}

// use fails the test when the context has outlived its call.
func (c *fakeContext) use(method string) *Rig {
	c.rig.tb.Helper()
	if c.ended.Load() {
		c.rig.tb.Errorf("Context.%s was called after the call that the context belongs to; keep a Handle instead", method)
	}
	return c.rig
}

func (c *fakeContext) Self() actor.Ref      { return ref{c.use("Self"), Self} }
func (c *fakeContext) Sender() actor.Ref    { c.use("Sender"); return c.letter.sender }
func (c *fakeContext) Trace() actor.TraceID { c.use("Trace"); return c.letter.trace }

func (c *fakeContext) Log() *slog.Logger {
	log := c.use("Log").log.With("actor", string(Self))
	if !c.letter.trace.IsZero() {
		log = log.With("trace", c.letter.trace.String())
	}
	return log
}

func (c *fakeContext) Tell(to actor.Ref, m actor.Message) error {
	if to.Path() == replyPath {
		return c.Reply(m)
	}
	return c.use("Tell").tell(to.Path(), m, c.letter.trace)
}

func (c *fakeContext) Reply(m actor.Message) error {
	r := c.use("Reply")
	if c.letter.sender == nil {
		r.deadLetter(&letter{message: m, trace: c.letter.trace}, actor.ReasonNoSender)
		return nil
	}
	return r.tell(c.letter.sender.Path(), m, c.letter.trace)
}

func (c *fakeContext) Ask(to actor.Ref, m actor.Message, _ time.Duration) (actor.Message, error) {
	r := c.use("Ask")
	if r.Answer == nil {
		return actor.Message{}, fmt.Errorf("ask %s: %w", to.Path(), actor.ErrAskTimeout)
	}
	return r.Answer(to.Path(), m)
}

func (c *fakeContext) Lookup(p actor.Path) actor.Ref { return ref{c.use("Lookup"), p} }

// replyPath stands for the sender of the current message.
const replyPath = actor.Temp + "/reply"

func (c *fakeContext) Resolve(t actor.Target) (actor.Ref, error) {
	r := c.use("Resolve")
	kind, path, err := t.Parse(Self)
	switch kind {
	case actor.ReplyTarget:
		path = replyPath
	case actor.TopicTarget:
		path = actor.System.Child("topics").Child(strings.TrimPrefix(string(t), "topic:"))
	case actor.BridgeTarget:
		_, out, _ := strings.Cut(string(t), "/")
		path = path.Child(out)
	}
	return ref{r, path}, err
}

func (c *fakeContext) After(d time.Duration, m actor.Message) func() bool {
	return c.use("After").addTimer(d, 0, m)
}

func (c *fakeContext) Every(d time.Duration, m actor.Message) func() bool {
	r := c.use("Every")
	if d <= 0 {
		r.tb.Errorf("Every(%v): a timer cannot fire that often", d)
		return func() bool { return false }
	}
	return r.addTimer(d, d, m)
}

func (c *fakeContext) Spawn(name string, p actor.Producer) (actor.Ref, error) {
	return c.use("Spawn").spawn(name, p)
}

func (c *fakeContext) Stop(to actor.Ref) {
	r := c.use("Stop")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = append(r.stopped, to.Path())
	delete(r.children, to.Path().Name())
}

func (c *fakeContext) Watch(to actor.Ref) error {
	r := c.use("Watch")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = append(r.watched, to.Path())
	return nil
}

func (c *fakeContext) Unwatch(to actor.Ref) {
	r := c.use("Unwatch")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = slices.DeleteFunc(r.watched, func(p actor.Path) bool { return p == to.Path() })
}

func (c *fakeContext) Publish(e actor.Event) {
	r := c.use("Publish")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// PublishTo sends to /system/topics/NAME; every topic is declared on a Rig.
func (c *fakeContext) PublishTo(topic string, m actor.Message) error {
	r := c.use("PublishTo")
	if err := actor.CheckName(topic); err != nil {
		return err
	}
	return r.tell(actor.System.Child("topics").Child(topic), m, c.letter.trace)
}

func (c *fakeContext) Subscribe(topic string) error {
	r := c.use("Subscribe")
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.topics, topic) {
		r.topics = append(r.topics, topic)
	}
	return actor.CheckName(topic)
}

func (c *fakeContext) Unsubscribe(topic string) {
	r := c.use("Unsubscribe")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topics = slices.DeleteFunc(r.topics, func(t string) bool { return t == topic })
}

func (c *fakeContext) Letter() actor.Letter { c.use("Letter"); return c.letter }
func (c *fakeContext) Hold() func(error)    { c.use("Hold"); return func(error) {} }
func (c *fakeContext) Handle() actor.Handle { return handle{c.use("Handle")} }

// letter is a message on a Rig with its circumstances.
type letter struct {
	message actor.Message
	sender  actor.Ref
	trace   actor.TraceID
}

func (l *letter) Message() actor.Message { return l.message }
func (l *letter) Sender() actor.Ref      { return l.sender }
func (l *letter) Trace() actor.TraceID   { return l.trace }

// handle is the actor.Handle of a Rig.
type handle struct{ rig *Rig }

func (h handle) Fail(err error, back ...actor.Letter) bool {
	if h.rig.life.Err() != nil {
		return false
	}
	f := Failure{Err: err}
	for _, l := range back {
		f.Back = append(f.Back, l.Message())
	}
	h.rig.mu.Lock()
	defer h.rig.mu.Unlock()
	h.rig.failures = append(h.rig.failures, f)
	return true
}

func (h handle) Tell(to actor.Ref, m actor.Message, cause actor.Letter) error {
	if h.rig.life.Err() != nil {
		return actor.ErrStopped
	}
	var trace actor.TraceID
	if cause != nil {
		trace = cause.Trace()
	}
	return h.rig.tell(to.Path(), m, trace)
}

func (h handle) DeadLetter(l actor.Letter, reason string) { h.rig.deadLetter(l, reason) }
func (h handle) Done(actor.Letter)                        {}
func (h handle) Ended() <-chan struct{}                   { return h.rig.life.Done() }

// ref is an address on a Rig; it records what it is told.
type ref struct {
	rig  *Rig
	path actor.Path
}

func (f ref) Path() actor.Path { return f.path }

func (f ref) Tell(ctx context.Context, m actor.Message) error {
	return f.rig.tell(f.path, m, actor.TraceOf(ctx))
}

// sameBody compares bodies; unlike reflect.DeepEqual it takes NaN for equal to
// itself.
func sameBody(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case []byte:
		b, ok := b.([]byte)
		return ok && bytes.Equal(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameBody)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !sameBody(v, w) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(a, b)
	}
}
