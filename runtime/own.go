package runtime

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/actord/actord/runtime/actor"
)

// Mail is a message in a Mailbox, with what travels with it. It may be kept and
// moved, and must not be made up.
type Mail[T any] struct{ env envelope[T] }

// Message returns what was told.
func (m Mail[T]) Message() T { return m.env.msg }

// Sender returns who told it, nil when nobody did.
func (m Mail[T]) Sender() actor.Ref { return m.env.sender }

// Mailbox is a queue that the author of an actor brings; see Props.Mailbox. It
// belongs to one actor and survives its restarts. Its methods are called one at a
// time, some of them while a sender waits: they must be quick, and must not tell
// anybody anything. One that panics is given up: the actor fails, what the mailbox
// held counts as dropped, and it takes no more messages.
//
// It gets messages alone. Notices, ticks and what is given back or unstashed come
// before what it holds.
type Mailbox[T any] interface {
	// Push takes a message, or refuses it: its sender gets actor.ErrFull.
	Push(m Mail[T]) bool
	// Pop gives the next message, false when there is none. It is asked again when the
	// next message has come.
	Pop() (Mail[T], bool)
}

// ownBox is the mailbox that an actor brought. mu of its node guards it.
type ownBox[T any] struct {
	box    Mailbox[T]
	n      int           // what it holds
	lost   []envelope[T] // what it has dropped and nobody has reported
	dry    bool          // it has nothing to give until the next message comes
	broken error         // it has panicked
}

// claims are the mailboxes that are in use, with the path of their actor. They are
// those of the process, since systems could share one as well.
var claims sync.Map

var errMailboxCombined = errors.New("an actor with a mailbox of its own has no capacity, no priority and no pool")

// newOwnBox makes the mailbox of an actor; nil when it brings none.
func newOwnBox[T any](path actor.Path, props *Props[T]) (o *ownBox[T], err error) {
	if props.Mailbox == nil {
		return nil, nil
	}
	if props.Settings.Mailbox.Capacity > 0 || props.Priority != nil || props.Pool != nil {
		return nil, errMailboxCombined
	}
	defer func() {
		if p := recover(); p != nil {
			o, err = nil, fmt.Errorf("the mailbox factory panicked: %v", p)
		}
	}()
	o = &ownBox[T]{}
	o.box = props.Mailbox(func(m Mail[T]) {
		o.lost = append(o.lost, m.env)
		o.n--
	})
	switch kind := reflect.ValueOf(o.box).Kind(); {
	case kind == reflect.Invalid:
		return nil, errors.New("the mailbox factory made nothing")
	case kind != reflect.Pointer:
		return nil, fmt.Errorf("a mailbox must be a pointer, not a %T, so that it can be told from others", o.box)
	}
	if other, taken := claims.LoadOrStore(any(o.box), path); taken {
		return nil, fmt.Errorf("this mailbox is that of %s already; the factory must make another one for each actor", other)
	}
	return o, nil
}

// own is the mailbox that the actor brought; nil for most.
func (c *cell[T]) own() *ownBox[T] {
	if r := c.ranker.Load(); r != nil {
		return r.own
	}
	return nil
}

// release lets another actor have the mailbox.
func (o *ownBox[T]) release() {
	if o != nil {
		claims.Delete(any(o.box))
	}
}

// waits tells how many messages the mailbox can give.
func (o *ownBox[T]) waits() int {
	if o == nil || o.dry || o.broken != nil {
		return 0
	}
	return o.n
}

func (o *ownBox[T]) push(env envelope[T]) (ok bool) {
	if o.broken != nil {
		return false
	}
	defer o.survive(&ok)
	o.n++ // before, since it may be dropped at once
	if ok = o.box.Push(Mail[T]{env}); !ok {
		o.n--
	}
	o.dry = false
	return ok
}

func (o *ownBox[T]) pop() (env envelope[T], ok bool) {
	if o.broken != nil {
		return env, false
	}
	defer o.survive(&ok)
	m, ok := o.box.Pop()
	if o.dry = !ok; ok {
		o.n--
	}
	return m.env, ok
}

// survive gives a mailbox up that panics.
func (o *ownBox[T]) survive(ok *bool) {
	if p := recover(); p != nil {
		*ok, o.broken = false, fmt.Errorf("the mailbox panicked: %v", p)
	}
}

// settle takes what is to be reported.
func (o *ownBox[T]) settle() (lost []envelope[T]) {
	lost, o.lost = o.lost, nil
	return lost
}

// pushOwn puts env into the mailbox that the actor brought. mu is held, and released.
func (c *cell[T]) pushOwn(o *ownBox[T], env envelope[T], mode pushMode) (pushed, chan struct{}) {
	whole := o.broken == nil
	ok := o.push(env)
	lost := o.settle()
	wake := ok && !c.parked && c.wake()
	gaveUp := whole && o.broken != nil
	c.mu.Unlock()
	if wake {
		c.launch()
	}
	c.report(o, lost, gaveUp)
	switch {
	case ok:
		return in, nil
	case mode == pushOnce:
		c.shed(env, ownPolicy)
	}
	return full, nil
}

// ownPolicy is the policy of mailboxes that actors bring, in reports.
const ownPolicy = "own mailbox"

// nextOwn takes the next message out of the mailbox that the actor brought.
func (c *cell[T]) nextOwn(o *ownBox[T]) (envelope[T], bool) {
	c.mu.Lock()
	whole := o.broken == nil
	env, ok := o.pop()
	lost := o.settle()
	gaveUp := whole && o.broken != nil
	c.mu.Unlock()
	c.report(o, lost, gaveUp)
	return env, ok
}

// report says what the mailbox dropped, and that it was given up.
func (c *cell[T]) report(o *ownBox[T], lost []envelope[T], gaveUp bool) {
	for _, env := range lost {
		c.shed(env, ownPolicy)
	}
	if gaveUp {
		c.forfeit(o)
		c.signal(signal{kind: sigFail, err: o.broken})
	}
}

// forfeit counts what the mailbox holds and will not give.
func (c *cell[T]) forfeit(o *ownBox[T]) {
	c.mu.Lock()
	n := o.n
	o.n = 0
	c.mu.Unlock()
	if n > 0 {
		c.counters.troubles().dropped.Add(uint64(n))
		c.log().Error("a mailbox kept messages to itself", "messages", n)
	}
}

// closeOwn ends the mailbox with its actor.
func (c *cell[T]) closeOwn() {
	if o := c.own(); o != nil {
		c.forfeit(o)
		o.release()
	}
}
