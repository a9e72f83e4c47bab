package runtime

import (
	"slices"

	"github.com/actord/actord/runtime/actor"
)

// roles are what handles an actor's messages in the place of its instance; the
// last one acts.
type roles[T any] []Receiver[T]

// Become makes r handle the messages from the next one on, in the place of what
// handles them now. Hooks stay with the instance, but for those for messages:
// Terminated and TimedOut are those of r when it has them.
func (c *Context[T]) Become(r Receiver[T]) {
	all := c.cell.roles()
	if len(all) > 0 {
		all = slices.Clone(all[:len(all)-1])
	}
	c.cell.extras().roles = append(all, r)
}

// BecomeStacked is Become that keeps what handled messages so far, for Unbecome.
func (c *Context[T]) BecomeStacked(r Receiver[T]) {
	x := c.cell.extras()
	x.roles = append(slices.Clip(c.cell.roles()), r)
}

// Unbecome goes back to what handled messages before the last Become or
// BecomeStacked, at last to the instance.
func (c *Context[T]) Unbecome() {
	switch all := c.cell.roles(); len(all) {
	case 0:
	case 1:
		c.cell.x.roles = nil
	default:
		c.cell.x.roles = all[:len(all)-1]
	}
}

func (c *cell[T]) roles() roles[T] {
	if c.x == nil || c.x.roles == nil {
		return nil
	}
	return c.x.roles.(roles[T])
}

// acting is what handles messages now.
func (c *cell[T]) acting() Receiver[T] {
	if all := c.roles(); len(all) > 0 {
		return all[len(all)-1]
	}
	return c.instance
}

// receive hands a message over when there is more to it than the instance.
func (c *cell[T]) receive(m T) error {
	if c.x.idle != nil {
		c.x.idle.touched = true
	}
	return c.acting().Receive(&c.ctx, m)
}

func (c *messageContext) Become(b actor.Behaviour)        { c.Context.Become(&behaviour{b: b}) }
func (c *messageContext) BecomeStacked(b actor.Behaviour) { c.Context.BecomeStacked(&behaviour{b: b}) }
