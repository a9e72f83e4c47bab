package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Actor is the owner's grip on one actor: what a topology needs to start, change
// and end it. Its methods are safe for concurrent use.
type Actor struct{ node *node }

// Path returns where the actor lives.
func (a *Actor) Path() actor.Path { return a.node.path }

// Ref returns the actor's address.
func (a *Actor) Ref() actor.Ref { return a.node.sys.Lookup(a.node.path) }

// Started waits for the outcome of the first start: nil, the error of the
// producer or of Start, or actor.ErrStopped.
func (a *Actor) Started(ctx context.Context) error {
	select {
	case err := <-a.node.onStart():
		return errors.Join(err, a.routeesStarted(ctx))
	case <-ctx.Done():
		return fmt.Errorf("start %s: %w", a.node.path, context.Cause(ctx))
	}
}

// Stop lets the actor and then its children handle what they have, at most the
// stop-timeout, then ends them; what is left becomes dead letters. It returns
// when the actor has ended, or an error when ctx ends first.
func (a *Actor) Stop(ctx context.Context) error {
	a.node.stopBehindQueue()
	limit := a.node.settings.Load().StopTimeout
	if limit <= 0 {
		limit = DefaultStopTimeout
	}
	clock := time.NewTimer(limit)
	defer clock.Stop()
	select {
	case <-a.node.doneChan():
		return nil
	case <-ctx.Done():
	case <-clock.C:
	}
	return a.StopNow(ctx)
}

// StopNow ends the actor and its children behind the message they are handling;
// the rest becomes dead letters.
func (a *Actor) StopNow(ctx context.Context) error {
	a.node.signal(signal{kind: sigStopNow})
	select {
	case <-a.node.doneChan():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: it is still %s: %w", a.node.path, state(a.node.state.Load()), context.Cause(ctx))
	}
}

// Done is closed when the actor has ended completely.
func (a *Actor) Done() <-chan struct{} { return a.node.doneChan() }

// Update changes the settings and the priority of the running actor. Nothing
// that is queued is dropped, whatever the new bounds are.
func (a *Actor) Update(s Settings, priority Ranker) error {
	c, ok := a.node.body.(*cell[actor.Message])
	if !ok {
		return fmt.Errorf("update %s: %w", a.node.path, actor.ErrWrongType)
	}
	return c.update(s, priority)
}

func (c *cell[T]) update(s Settings, priority func(T, actor.Ref) float64) error {
	s.Mailbox.Ranked = priority != nil
	s.dispatcher = c.settings.Load().dispatcher
	err := errors.Join(s.Mailbox.Check(), s.Routine.Check())
	if c.own() != nil && (s.Mailbox.Capacity > 0 || priority != nil) {
		err = errors.Join(err, errMailboxCombined)
	}
	if err != nil {
		return fmt.Errorf("update %s: %w", c.path, err)
	}
	var r *ranker[T]
	if priority != nil {
		r = &ranker[T]{rank: priority, log: c.log}
	}
	c.mu.Lock()
	if old := c.ranker.Load(); old != nil && (old.pool != nil || old.own != nil) {
		r = &ranker[T]{rank: priority, log: c.log, pool: old.pool, own: old.own}
	}
	c.ranker.Store(r)
	before := c.settings.Swap(&s)
	c.queue.Configure(&s.Mailbox, r.of)
	c.releaseRoom() // whoever waits tries again under the new bounds
	c.mu.Unlock()
	c.sys.watchdog.expect(s.HandlerWarn)
	c.resettle(before.Routine, s.Routine)
	if p := c.props.Load().running; p != nil {
		return p.update(s, priority)
	}
	return nil
}

// Swap gives the running actor another behaviour between two messages, with the
// same mailbox and address. reconfigure is tried first when it is not nil: true
// means that the running instance took the change. Otherwise the state of the
// old instance, when both can, is handed to the new one; then the old one stops
// and the new one starts. When the new one does not start, the old behaviour is
// started again with its state, and the error is returned.
func (a *Actor) Swap(ctx context.Context, next actor.Producer, reconfigure func(actor.Context, actor.Behaviour) (bool, error)) error {
	_, err := a.HandOver(ctx, Handover{New: next, Reconfigure: reconfigure})
	return err
}

// Info is what can be seen of an actor without disturbing it.
type Info struct {
	Path                  actor.Path
	Behaviour             string
	State                 string
	Incarnation, Restarts uint64
	Handled, Failed       uint64 // messages
	Dropped, DeadLettered uint64 // messages that were accepted and not handled
	Queued, Capacity      int
	Stashed               int // messages that are set aside
	LastError             string
	LastErrorAt           time.Time
}

// Info reads the actor's counters.
func (a *Actor) Info() Info {
	n := a.node
	i := Info{
		Path: n.path, State: state(n.state.Load()).String(),
		Incarnation: n.counters.incarnation.Load(), Handled: n.counters.handled.Load(),
		Capacity: n.settings.Load().Mailbox.Capacity,
	}
	if t := n.counters.trouble.Load(); t != nil {
		i.Restarts, i.Failed = t.restarts.Load(), t.failed.Load()
		i.Dropped, i.DeadLettered = t.dropped.Load(), t.lettered.Load()
		i.Stashed = int(t.stashed.Load())
		if e := t.lastError.Load(); e != nil {
			i.LastError, i.LastErrorAt = e.text, e.at
		}
	}
	n.mu.Lock()
	i.Queued = n.body.queued()
	n.mu.Unlock()
	if c, ok := n.body.(*cell[actor.Message]); ok {
		i.Behaviour = c.props.Load().Behaviour
	}
	return i
}

// Children returns the actor's children, oldest first.
func (a *Actor) Children() []*Actor {
	kids := a.node.children()
	out := make([]*Actor, len(kids))
	for i, k := range kids {
		out[len(kids)-1-i] = &Actor{k}
	}
	return out
}
