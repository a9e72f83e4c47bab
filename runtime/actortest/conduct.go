package actortest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// conduct is how the behaviour on a Rig wants to be run. It belongs to the test's
// goroutine.
type conduct struct {
	roles    []actor.Behaviour
	setAside *letter   // the current message, once it was stashed
	stash    []*letter // in the order of Stash
	front    []*letter // to be handled next: results, and what was given back
	silence  func() bool
	timeout  time.Duration
	throttle actor.Throttle
	keyed    map[string]func() bool // cancels
}

// acting is what handles messages now.
func (r *Rig) acting() actor.Behaviour {
	if all := r.conduct.roles; len(all) > 0 {
		return all[len(all)-1]
	}
	return r.b
}

// follow does what a call left to do, until there is nothing or one fails.
func (r *Rig) follow(l *letter, err error) error {
	set := r.conduct.setAside
	r.conduct.setAside = nil
	if err == nil && set == l && l != nil {
		r.conduct.stash = append(r.conduct.stash, l)
	}
	for err == nil && len(r.conduct.front) > 0 {
		next := r.conduct.front[0]
		r.conduct.front = r.conduct.front[1:]
		err = r.handle(next)
	}
	return err
}

// Stashed returns how many messages are set aside.
func (r *Rig) Stashed() int { return len(r.conduct.stash) }

// Throttled returns the limit that the behaviour set. The Rig does not apply it.
func (r *Rig) Throttled() actor.Throttle { return r.conduct.throttle }

func (c *fakeContext) Become(b actor.Behaviour) {
	d := &c.use("Become").conduct
	d.roles = append(d.roles[:max(len(d.roles)-1, 0)], b)
}

func (c *fakeContext) BecomeStacked(b actor.Behaviour) {
	d := &c.use("BecomeStacked").conduct
	d.roles = append(d.roles, b)
}

func (c *fakeContext) Unbecome() {
	d := &c.use("Unbecome").conduct
	d.roles = d.roles[:max(len(d.roles)-1, 0)]
}

func (c *fakeContext) Stash() error {
	d := &c.use("Stash").conduct
	if c.letter.trace.IsZero() || d.setAside != nil {
		return fmt.Errorf("stash: there is no message, or it is set aside already: %w", actor.ErrUnsupported)
	}
	d.setAside = c.letter
	return nil
}

func (c *fakeContext) Unstash() {
	d := &c.use("Unstash").conduct
	d.front, d.stash = append(d.stash, d.front...), nil
}

func (c *fakeContext) SetReceiveTimeout(d time.Duration) error {
	r := c.use("SetReceiveTimeout")
	if d < 0 {
		return fmt.Errorf("receive timeout: %s is not possible", d)
	}
	r.conduct.timeout = d
	r.listen()
	return nil
}

// listen begins to wait for silence.
func (r *Rig) listen() {
	if r.conduct.silence != nil {
		r.conduct.silence()
		r.conduct.silence = nil
	}
	if d := r.conduct.timeout; d > 0 {
		r.conduct.silence = r.addTimer(d, d, actor.Message{Kind: actor.KindReceiveTimeout})
	}
}

func (c *fakeContext) Throttle(t actor.Throttle) error {
	r := c.use("Throttle")
	if err := t.Check(); err != nil {
		return err
	}
	r.conduct.throttle = t
	return nil
}

// Timer sets a timer on the clock of Advance; Next is asked once, for the distance
// from the clock of package time.
func (c *fakeContext) Timer(key string, when actor.Schedule, m actor.Message) error {
	r := c.use("Timer")
	if err := when.Check(); err != nil {
		return fmt.Errorf("timer %q: %w", key, err)
	}
	c.CancelTimer(key)
	first := when.First()
	if when.Next != nil {
		now := time.Now()
		first = when.Next(now).Sub(now)
	}
	if r.conduct.keyed == nil {
		r.conduct.keyed = map[string]func() bool{}
	}
	r.conduct.keyed[key] = r.addTimer(first, when.Every, m)
	return nil
}

func (c *fakeContext) CancelTimer(key string) bool {
	r := c.use("CancelTimer")
	cancel := r.conduct.keyed[key]
	delete(r.conduct.keyed, key)
	return cancel != nil && cancel()
}

// Go runs f at once, and the result is handled after the current message.
func (c *fakeContext) Go(f func(context.Context) (actor.Message, error)) {
	c.use("Go").later(c.letter, f)
}

func (c *fakeContext) AskAsync(to actor.Ref, m actor.Message, timeout time.Duration) {
	c.use("AskAsync").later(c.letter, func(context.Context) (actor.Message, error) { return c.Ask(to, m, timeout) })
}

// later runs f on a goroutine of its own, so that whatever it does is contained.
func (r *Rig) later(cause *letter, f func(context.Context) (actor.Message, error)) {
	result := make(chan actor.Message, 1)
	go func() {
		m, err, panicked := actor.Message{}, errors.New("it ended its goroutine (runtime.Goexit)"), false
		defer func() {
			if p := recover(); p != nil {
				err, panicked = fmt.Errorf("panic: %v", p), true
			}
			if err != nil {
				m = actor.FailedMessage(err, panicked)
			}
			result <- m
		}()
		m, err = f(r.life)
	}()
	r.conduct.front = append(r.conduct.front, &letter{message: <-result, sender: cause.sender, trace: actor.NewTraceID()})
}

func (c *fakeContext) Kill(to actor.Ref) {
	r := c.use("Kill")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, Failure{Err: fmt.Errorf("%s: %w", to.Path(), actor.ErrKilled)})
}
