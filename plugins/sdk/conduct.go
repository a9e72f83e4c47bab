package sdk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// conduct is how an instance wants to be run. It is owned by the goroutine that
// runs the instance.
type conduct struct {
	roles []actor.Behaviour // in the place of the instance's behaviour; the last one acts
	keyed map[string]*keyedTimer
}

// acting is what handles messages now.
func (in *instance) acting() actor.Behaviour {
	if all := in.lent.roles; len(all) > 0 {
		return all[len(all)-1]
	}
	return in.behavior
}

func (c *callContext) Become(b actor.Behaviour) {
	all := &c.in.lent.roles
	*all = append((*all)[:max(len(*all)-1, 0)], b)
}

func (c *callContext) BecomeStacked(b actor.Behaviour) {
	c.in.lent.roles = append(c.in.lent.roles, b)
}

func (c *callContext) Unbecome() {
	all := &c.in.lent.roles
	*all = (*all)[:max(len(*all)-1, 0)]
}

// Stash is not available: a message that its handler returned from is handled for
// the host, and would be lost with the process.
func (c *callContext) Stash() error {
	return c.in.session.unsupported("Stash", "keep a Letter, and give it back with Handle.Fail")
}

// Unstash has nothing to give back, since Stash refuses.
func (c *callContext) Unstash() {}

func (c *callContext) SetReceiveTimeout(time.Duration) error {
	return c.in.session.unsupported("SetReceiveTimeout", "set receive-timeout in the configuration")
}

func (c *callContext) Throttle(actor.Throttle) error {
	return c.in.session.unsupported("Throttle", "set throttle in the configuration")
}

// keyedTimer is one Timer of an instance.
type keyedTimer struct {
	in   *instance
	when actor.Schedule
	msg  actor.Message

	mu    sync.Mutex // guards what follows
	due   time.Time
	clock *time.Timer
	last  *timer // on its way
	over  bool
}

// Timer tells the instance m when the schedule says.
func (c *callContext) Timer(key string, when actor.Schedule, m actor.Message) error {
	if err := when.Check(); err != nil {
		return fmt.Errorf("timer %q of %s: %w", key, c.in.path, err)
	}
	c.CancelTimer(key)
	if c.in.lent.keyed == nil {
		c.in.lent.keyed = map[string]*keyedTimer{}
	}
	t := &keyedTimer{in: c.in, when: when, msg: m}
	c.in.lent.keyed[key] = t
	t.begin(time.Now())
	return nil
}

func (c *callContext) CancelTimer(key string) bool {
	t := c.in.lent.keyed[key]
	delete(c.in.lent.keyed, key)
	return t != nil && t.stop()
}

func (t *keyedTimer) begin(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = now.Add(t.when.First())
	if t.when.Next != nil {
		t.due = t.when.Next(now)
	}
	if t.due.IsZero() {
		return
	}
	t.clock = time.AfterFunc(t.due.Sub(now), t.fire)
	context.AfterFunc(t.in.ctx, func() { t.stop() })
}

// fire puts a tick into the instance's queue and arms the next one.
func (t *keyedTimer) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	t.last = t.in.arm(0, 0, t.msg)
	now := time.Now()
	switch {
	case t.when.Next != nil:
		t.due = t.when.Next(now)
	case t.when.Every > 0 && t.when.Delay:
		t.due = now.Add(t.when.Every)
	case t.when.Every > 0:
		t.due = t.due.Add(t.when.Every)
	default:
		t.over = true
	}
	if !t.over && !t.due.IsZero() {
		t.clock.Reset(t.due.Sub(now))
	}
}

// stop ends the timer and reports whether a tick was still to come.
func (t *keyedTimer) stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	pending := !t.over
	t.over = true
	if t.clock != nil {
		t.clock.Stop()
	}
	return (t.last != nil && t.last.stop()) || pending
}

// Go runs f beside the instance. The message that it is about is done for the host
// when its handler returns, so the result is told to Sender, not with Reply.
func (c *callContext) Go(f func(context.Context) (actor.Message, error)) {
	in, t := c.in, &timer{in: c.in, trace: c.Trace()}
	if c.letter != nil {
		t.sender = c.letter.sender
	}
	in.session.busy.Add(1)
	go func() { // ends with the instance's context, as f promises
		m, err := actor.Message{}, errors.New("it ended its goroutine (runtime.Goexit)")
		defer in.session.busy.Add(-1)
		defer func() {
			if err != nil {
				_, isPanic := errors.AsType[*panicked](err)
				m = failure(m, err, isPanic)
			}
			t.msg = m
			in.armed(t, 0)
		}()
		err = guard(func() (err error) { m, err = f(in.ctx); return err })
	}()
}

// failure is the message of kind failed, with what m says about the question.
func failure(m actor.Message, err error, isPanic bool) actor.Message {
	failed := actor.FailedMessage(err, isPanic)
	if about, ok := m.Body.(map[string]any); ok && m.Kind == actor.KindFailed {
		maps.Copy(failed.Body.(map[string]any), about)
	}
	return failed
}

func (c *callContext) AskAsync(to actor.Ref, m actor.Message, timeout time.Duration) {
	c.Go(func(ctx context.Context) (actor.Message, error) {
		about := actor.Message{Kind: actor.KindFailed, Body: map[string]any{"path": string(to.Path()), "kind": m.Kind}}
		a, ok := to.(actor.Asker)
		if !ok {
			return about, fmt.Errorf("ask %s: %w", to.Path(), actor.ErrUnsupported)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		answer, err := a.Ask(ctx, m)
		if err != nil {
			return about, err
		}
		return answer, nil
	})
}

func (c *callContext) Kill(r actor.Ref) {
	if r.Path() != c.in.path {
		c.Log().Warn("a plugin can kill only its own actor", "actor", string(r.Path()))
		return
	}
	c.Handle().Fail(actor.ErrKilled)
}
