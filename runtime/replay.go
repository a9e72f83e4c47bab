package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// ReplayOutcome says what became of an attempt to tell a lost letter again.
type ReplayOutcome uint8

// The outcomes of DeadLetters.Replay. After all but the first, the letter is still
// kept.
const (
	Replayed            ReplayOutcome = iota // it is on its way; when it is lost again, it is the same entry
	UnknownLetter                            // no letter with this ID is kept
	UnresolvedRecipient                      // nobody lives at the address
	WrongRecipient                           // who lives there takes no such messages
	InQuarantine                             // it was told again too often
	NotTaken                                 // the mailbox is full, or the context ended
)

var replayNames = [...]string{"replayed", "unknown-letter", "unresolved-recipient", "wrong-recipient", "quarantined", "not-taken"}

// String returns the word for the outcome.
func (o ReplayOutcome) String() string { return replayNames[o] }

// ReplayResult is the outcome of telling one letter again.
type ReplayResult struct {
	Outcome ReplayOutcome
	To      actor.Path // where it went, or was to go
	Err     error      // what was in the way; nil when it was replayed
}

// replay is a letter that was told again and is on its way.
type replay struct {
	letter LostLetter
	to     actor.Path
	over   atomic.Bool // it was handled, or is kept again
}

// replayOf is the replay that a message lost at recipient is; nil for most. The
// meta passes on to what a handler tells, which is something else: it goes
// elsewhere, or is lost later than the message was handled.
func (m *meta) replayOf(recipient actor.Path) *replay {
	if m == nil || m.replay == nil || !recipient.Under(m.replay.to) || !m.replay.over.CompareAndSwap(false, true) {
		return nil
	}
	return m.replay
}

// handled says that the message of a replay needs to be kept no more.
func (r *replay) handled() {
	if r != nil {
		r.over.Store(true)
	}
}

// Replay tells a letter again, to whom it was for or, when to is not "", to another
// address. It has its sender and its trace as before. It waits for room when the
// mailbox's policy says so, at most until ctx ends.
func (d *DeadLetters) Replay(ctx context.Context, id uint64, to actor.Path) ReplayResult {
	d.mu.Lock()
	l, res := d.prepare(id, to)
	d.mu.Unlock()
	if res.Err != nil {
		return res
	}
	r := &replay{letter: l, to: res.To}
	if err := d.tell(ctx, r); err != nil {
		res.Outcome, res.Err = outcomeOf(err), fmt.Errorf("replay %d to %s: %w", id, res.To, err)
		if r.over.CompareAndSwap(false, true) {
			d.mu.Lock()
			d.store.Put(l)
			d.mu.Unlock()
		}
	}
	return res
}

// prepare takes the letter out when it may be told again. mu is held.
func (d *DeadLetters) prepare(id uint64, to actor.Path) (LostLetter, ReplayResult) {
	l, ok := d.store.Get(id)
	switch {
	case !ok:
		return l, ReplayResult{UnknownLetter, to, fmt.Errorf("replay %d: no such dead letter is kept", id)}
	case d.Quarantined(l):
		return l, ReplayResult{InQuarantine, to, fmt.Errorf("replay %d: it is in quarantine, since it was lost again %d times", id, l.Replays)}
	case to == "":
		to = l.Recipient
	}
	if _, ok := d.sys.registry.get(to); !ok && to.Parent() != topicsPath {
		return l, ReplayResult{UnresolvedRecipient, to, fmt.Errorf("replay %d to %s: %w", id, to, actor.ErrNotFound)}
	}
	l, _ = d.store.Take(id)
	return l, ReplayResult{Outcome: Replayed, To: to}
}

func (d *DeadLetters) tell(ctx context.Context, r *replay) error {
	var sender actor.Ref
	if r.letter.Sender != "" {
		sender = d.sys.Lookup(r.letter.Sender)
	}
	mt := &meta{trace: r.letter.Trace, replay: r}
	if mt.trace.IsZero() {
		mt.trace = actor.NewTraceID() // now, so that the handler needs no copy of mt for it
	}
	if r.to.Parent() == topicsPath {
		return topicRef{d.sys, r.to.Name()}.publish(ctx, envelope[actor.Message]{msg: r.letter.Message, sender: sender, meta: mt})
	}
	n, ok := d.sys.registry.get(r.to)
	if !ok {
		return actor.ErrNotFound
	}
	return n.body.(interface {
		retell(context.Context, LostLetter, actor.Ref, *meta) error
	}).retell(ctx, r.letter, sender, mt)
}

// retell puts a lost letter into the mailbox.
func (c *cell[T]) retell(ctx context.Context, l LostLetter, sender actor.Ref, mt *meta) error {
	m, ok := l.Original.(T)
	if l.Original == nil {
		m, ok = any(l.Message).(T)
	}
	if !ok {
		return actor.ErrWrongType
	}
	_, err := c.tell(ctx, envelope[T]{msg: m, sender: sender, meta: mt})
	return err
}

func outcomeOf(err error) ReplayOutcome {
	switch {
	case errors.Is(err, actor.ErrWrongType):
		return WrongRecipient
	case errors.Is(err, actor.ErrStopped), errors.Is(err, actor.ErrNotFound):
		return UnresolvedRecipient
	default:
		return NotTaken
	}
}
