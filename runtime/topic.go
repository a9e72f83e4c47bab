package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// Topic says who gets what is published to a name. Actors subscribe at run time
// as well, see Context.Subscribe.
type Topic struct {
	Subscribers  []actor.Path // by address, whatever lives there
	One          bool         // each message goes to one subscriber, in turn; otherwise to all
	DropUnrouted bool         // a message that no subscriber takes is dropped; otherwise a dead letter
}

// topics are the topics of a system by name. The map is replaced, never changed.
type topics struct {
	mu  sync.Mutex // guards writes of all
	all atomic.Pointer[map[string]*topic]
}

func (t *topics) get(name string) *topic {
	if m := t.all.Load(); m != nil {
		return (*m)[name]
	}
	return nil
}

func (t *topics) names() []string {
	if m := t.all.Load(); m != nil {
		return slices.Sorted(maps.Keys(*m))
	}
	return nil
}

func (t *topics) change(f func(map[string]*topic)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := map[string]*topic{}
	if m := t.all.Load(); m != nil {
		maps.Copy(next, *m)
	}
	f(next)
	t.all.Store(&next)
}

// topic is one topic.
type topic struct {
	sys  *System
	path actor.Path
	turn atomic.Uint64
	now  atomic.Pointer[audience]

	mu     sync.Mutex // guards what follows; taken before any node's mu
	conf   Topic
	joined []*node // that subscribed at run time
}

// audience is who gets a message that is published now.
type audience struct {
	fan  *fan[actor.Message]
	drop bool
}

const topicsPath = actor.System + "/topics"

// TopicPath is the address that a topic has in dead letters and logs.
func TopicPath(name string) actor.Path { return topicsPath.Child(name) }

// SetTopic declares a topic, or changes one: those who subscribed at run time stay.
// The error is a bad name.
func (s *System) SetTopic(name string, conf Topic) error {
	if err := actor.CheckName(name); err != nil {
		return fmt.Errorf("topic: %w", err)
	}
	conf.Subscribers = slices.Clone(conf.Subscribers)
	s.topics.change(func(all map[string]*topic) {
		t := all[name]
		if t == nil {
			t = &topic{sys: s, path: TopicPath(name)}
			all[name] = t
		}
		t.mu.Lock()
		t.conf = conf
		t.regroup()
		t.mu.Unlock()
	})
	return nil
}

// RemoveTopic ends a topic. What is published to it from now on is a dead letter.
func (s *System) RemoveTopic(name string) {
	var gone *topic
	s.topics.change(func(all map[string]*topic) {
		gone = all[name]
		delete(all, name)
	})
	if gone == nil {
		return
	}
	gone.mu.Lock()
	joined := gone.joined
	gone.joined = nil
	gone.mu.Unlock()
	for _, n := range joined {
		n.unwatch(gone)
	}
}

// Topic returns the address of a topic: telling it is publishing. It never fails;
// without such a topic, messages become dead letters.
func (s *System) Topic(name string) actor.Ref { return topicRef{s, name} }

// Topics returns the names of all topics.
func (s *System) Topics() []string { return s.topics.names() }

// TopicSubscribers returns who is subscribed, the declared ones first.
func (s *System) TopicSubscribers(name string) []actor.Path {
	t := s.topics.get(name)
	if t == nil {
		return nil
	}
	var out []actor.Path
	for _, p := range t.now.Load().fan.to {
		out = append(out, p.path)
	}
	return out
}

func (s *System) findTopic(name string) (*topic, error) {
	if t := s.topics.get(name); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("topic %q: %w%s", name, actor.ErrNotFound, actor.DidYouMean(name, s.topics.names()))
}

// SubscribeTopic subscribes the actor that lives at path until it ends. It reports
// whether that is new. Errors: actor.ErrNotFound, actor.ErrWrongType when it takes
// no actor.Message.
func (s *System) SubscribeTopic(name string, path actor.Path) (bool, error) {
	n, ok := s.registry.get(path)
	if !ok {
		return false, fmt.Errorf("subscribe %s to topic %q: %w", path, name, actor.ErrNotFound)
	}
	return s.subscribeNode(name, n)
}

func (s *System) subscribeNode(name string, n *node) (bool, error) {
	t, err := s.findTopic(name)
	if err != nil {
		return false, err
	}
	if _, ok := n.body.(*cell[actor.Message]); !ok {
		return false, fmt.Errorf("subscribe %s to topic %q: %w", n.path, name, actor.ErrWrongType)
	}
	return t.join(n)
}

// UnsubscribeTopic ends what SubscribeTopic or Context.Subscribe began, and
// reports whether there was anything.
func (s *System) UnsubscribeTopic(name string, path actor.Path) bool {
	t := s.topics.get(name)
	if t == nil {
		return false
	}
	n, ok := s.registry.get(path)
	return ok && t.leave(n)
}

// join subscribes an incarnation of an address.
func (t *topic) join(n *node) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.joined, n) {
		return false, nil
	}
	if !n.watch(t) {
		return false, fmt.Errorf("subscribe %s to %s: %w", n.path, t.path, actor.ErrStopped)
	}
	t.joined = append(t.joined, n)
	t.regroup()
	return true, nil
}

func (t *topic) leave(n *node) bool {
	if !t.forget(n) {
		return false
	}
	n.unwatch(t)
	return true
}

// terminated takes a subscriber that has ended off the list; see watcher.
func (t *topic) terminated(n *node) { t.forget(n) }

func (t *topic) forget(n *node) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.joined, n)
	if i < 0 {
		return false
	}
	t.joined = slices.Delete(t.joined, i, i+1)
	t.regroup()
	return true
}

// regroup makes the audience; mu is held. Who is declared and has subscribed as
// well gets a message once.
func (t *topic) regroup() {
	var to []*PID[actor.Message]
	for _, p := range t.conf.Subscribers {
		to = append(to, &PID[actor.Message]{sys: t.sys, path: p})
	}
	for _, n := range t.joined {
		if !slices.Contains(t.conf.Subscribers, n.path) {
			to = append(to, n.address())
		}
	}
	base := fan[actor.Message]{sys: t.sys, path: t.path, turn: &t.turn, strategy: Broadcast}
	if t.conf.One {
		base.strategy = RoundRobin
	}
	t.now.Store(&audience{fan: base.withTo(to), drop: t.conf.DropUnrouted})
}

// topicRef is the address of a topic.
type topicRef struct {
	sys  *System
	name string
}

// Path is the topic's address; no actor lives there.
func (r topicRef) Path() actor.Path { return TopicPath(r.name) }

// Tell publishes m. A full subscriber keeps nobody else from getting it; what
// becomes of its copy is what its mailbox, then the sender's on-full says.
func (r topicRef) Tell(ctx context.Context, m actor.Message) error {
	sender, mt := originOf(ctx)
	return r.publish(ctx, envelope[actor.Message]{msg: m, sender: sender, meta: mt})
}

func (r topicRef) publish(ctx context.Context, env envelope[actor.Message]) error {
	d := env.meta.track()
	d.Join()
	t := r.sys.topics.get(r.name)
	if t == nil {
		d.Done(nil)
		return r.unrouted(env)
	}
	a := t.now.Load()
	_, err := a.fan.tell(ctx, env)
	if err == nil {
		return nil
	}
	d.Done(nil)
	switch {
	case !errors.Is(err, actor.ErrStopped):
		return fmt.Errorf("publish to %s: %w", r.Path(), err)
	case a.drop:
		releaseAsker(env.sender, actor.ErrStopped)
		return nil
	default:
		return r.unrouted(env)
	}
}

// unrouted makes a dead letter of what nobody takes, which is no error.
func (r topicRef) unrouted(env envelope[actor.Message]) error {
	releaseAsker(env.sender, actor.ErrStopped)
	r.sys.deadLetter(r.Path(), env.sender, env.msg, actor.ReasonUnrouted, env.meta)
	return nil
}

// Offer publishes m when every subscriber that is there has room.
func (r topicRef) Offer(ctx context.Context, m actor.Message) actor.OfferResult {
	sender, mt := originOf(ctx)
	d := mt.track()
	t := r.sys.topics.get(r.name)
	if t == nil {
		return actor.Closed
	}
	env := envelope[actor.Message]{msg: m, sender: sender, meta: mt}
	d.Join()
	_, res := t.now.Load().fan.offer(ctx, env)
	if res != actor.Accepted {
		d.Done(nil)
	}
	return res
}

// Ask publishes m and waits for the first answer of any subscriber.
func (r topicRef) Ask(ctx context.Context, m actor.Message) (zero actor.Message, err error) {
	f := newFuture[actor.Message](r.sys)
	defer f.over()
	_, mt := originOf(ctx)
	if err := r.publish(ctx, envelope[actor.Message]{msg: m, sender: f, meta: mt}); err != nil {
		return zero, fmt.Errorf("ask %s: %w", r.Path(), cause(err))
	}
	return f.wait(ctx, r.Path())
}

// PublishTo publishes m to a topic with this actor as sender. What a full
// subscriber does not take is dealt with as the actor's on-full says, for each
// subscriber by itself. A topic without subscribers makes a dead letter, unless it
// drops such messages; one that does not exist is actor.ErrNotFound.
func (c *Context[T]) PublishTo(topic string, m actor.Message) error {
	if _, err := c.cell.sys.findTopic(topic); err != nil {
		return err
	}
	return c.cell.sys.Topic(topic).Tell(c, m)
}

// Subscribe makes this actor get what is published to a topic, until it ends; a
// restart ends nothing. Doing it twice is doing it once. Errors: actor.ErrNotFound
// for a topic that is not declared, actor.ErrWrongType when T is no actor.Message.
func (c *Context[T]) Subscribe(topic string) error {
	_, err := c.cell.sys.subscribeNode(topic, &c.cell.node)
	return err
}

// Unsubscribe takes Subscribe back. A subscription that configuration declares
// stays.
func (c *Context[T]) Unsubscribe(topic string) {
	if t := c.cell.sys.topics.get(topic); t != nil {
		t.leave(&c.cell.node)
	}
}
