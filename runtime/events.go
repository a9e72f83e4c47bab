package runtime

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// stream hands events to subscribers, in the order they subscribed.
type stream struct {
	mu   sync.Mutex // guards writes of subs
	subs atomic.Pointer[[]*subscription]
}

type subscription struct{ f func(actor.Event) }

// Subscribe calls f for every event, on the goroutine that publishes it: f must
// be quick, must not block and may be called concurrently. A panic in f is
// logged and ends nothing. cancel ends the subscription.
func (s *System) Subscribe(f func(actor.Event)) (cancel func()) {
	sub := &subscription{f}
	s.stream.change(func(subs []*subscription) []*subscription { return append(subs, sub) })
	return func() {
		s.stream.change(func(subs []*subscription) []*subscription {
			return slices.DeleteFunc(subs, func(x *subscription) bool { return x == sub })
		})
	}
}

func (t *stream) change(f func([]*subscription) []*subscription) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := f(slices.Clone(t.list()))
	t.subs.Store(&next)
}

func (t *stream) list() []*subscription {
	if p := t.subs.Load(); p != nil {
		return *p
	}
	return nil
}

// Publish hands e to every subscriber.
func (s *System) Publish(e actor.Event) {
	for _, sub := range s.stream.list() {
		s.hand(sub, e)
	}
}

func (s *System) hand(sub *subscription, e actor.Event) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("an event subscriber panicked", "event", e.Kind(), "panic", r)
		}
	}()
	sub.f(e)
}

// eventMail marks messages about events.
var eventMail = &meta{event: true}

// mailAbout is what the message about e carries: the trace of the message that e
// is about.
func mailAbout(e actor.Event) *meta {
	switch e := e.(type) {
	case actor.DeadLetter:
		return &meta{event: true, trace: e.Trace}
	case actor.Dropped:
		return &meta{event: true, trace: e.Trace}
	default:
		return eventMail
	}
}

// TellEvent sends an event's message to the actor at to, or to a topic (TopicPath). What becomes of the
// message, and of what is told while it is handled, makes no further events: a
// dead letter about a dead letter would go round for ever.
func (s *System) TellEvent(to actor.Path, e actor.Event) {
	if n, ok := s.registry.get(to); ok {
		s.tellEvent(n, e)
		return
	}
	if to.Parent() == topicsPath {
		_ = topicRef{s, to.Name()}.publish(noWait(), envelope[actor.Message]{msg: actor.EventMessage(e), meta: eventMail})
	}
}

func (s *System) tellEvent(n *node, e actor.Event) {
	if c, ok := n.body.(*cell[actor.Message]); ok {
		env := envelope[actor.Message]{msg: actor.EventMessage(e), meta: mailAbout(e)}
		if res, _ := c.push(env, pushOnce); res == moved {
			_, _ = c.ranker.Load().pool.tell(noWait(), env)
		}
	}
}

// deadLetter remembers and publishes that m, a message of any type, did not reach a
// handler, and refuses its delivery.
func (s *System) deadLetter(recipient actor.Path, sender actor.Ref, m any, reason string, mt *meta) {
	if d := mt.track(); d != nil {
		d.Refuse(fmt.Errorf("dead letter of %s: %s", recipient, reason))
	}
	heard := len(s.stream.list()) > 0 && !mt.aboutEvent()
	if !heard && s.letters.off() {
		return
	}
	e := actor.DeadLetter{
		Recipient: recipient, Sender: pathOf(sender), Message: asMessage(m), Reason: reason, Trace: mt.traceID(), Time: time.Now(),
	}
	s.letters.lost(LostLetter{Time: e.Time, Recipient: recipient, Sender: e.Sender, Reason: reason, Trace: e.Trace}, m, mt)
	if heard {
		s.Publish(e)
	}
}

// dropped remembers and publishes that a policy discarded m, a message of any type.
func (s *System) dropped(recipient actor.Path, sender actor.Ref, m any, policy string, mt *meta) {
	heard := len(s.stream.list()) > 0 && !mt.aboutEvent()
	if !heard && s.letters.off() {
		return
	}
	e := actor.Dropped{Path: recipient, Message: asMessage(m), Trace: mt.traceID(), Policy: policy}
	if mt.isMail() {
		s.letters.lost(LostLetter{
			Time: time.Now(), Recipient: recipient, Sender: pathOf(sender), Reason: actor.ReasonDropped + ": " + policy, Trace: e.Trace, Dropped: true,
		}, m, mt)
	}
	if heard {
		s.Publish(e)
	}
}

func pathOf(r actor.Ref) actor.Path {
	if r == nil {
		return ""
	}
	return r.Path()
}
