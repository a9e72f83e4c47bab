package runtime

import (
	"fmt"

	"github.com/actord/actord/runtime/actor"
)

// DefaultStashCapacity is how many messages an actor may set aside when its
// settings do not say.
const DefaultStashCapacity = 1024

// Stash sets the current message aside; see actor.Context.
func (c *Context[T]) Stash() error {
	limit := c.cell.settings.Load().StashCapacity
	if limit <= 0 {
		limit = DefaultStashCapacity
	}
	switch {
	case c.cell.at == outside || (c.env.meta != nil && c.env.meta.kind == silence):
		return fmt.Errorf("stash at %s: there is no message: %w", c.cell.path, actor.ErrUnsupported)
	case c.cell.at == setAside:
		return fmt.Errorf("stash at %s: this message is set aside already: %w", c.cell.path, actor.ErrUnsupported)
	case len(c.cell.stash()) >= limit:
		return fmt.Errorf("stash at %s: %d messages are set aside: %w", c.cell.path, limit, actor.ErrStashFull)
	}
	c.cell.at = setAside
	return nil
}

// Unstash gives what was set aside back to the front of the mailbox.
func (c *Context[T]) Unstash() { c.cell.unstash(true) }

func (c *cell[T]) stash() []envelope[T] {
	if c.x == nil || c.x.stash == nil {
		return nil
	}
	return c.x.stash.([]envelope[T])
}

// setAside stashes the message that was just handled. It counts as neither handled
// nor queued.
func (c *cell[T]) setAside() {
	env, x := c.ctx.env, c.extras()
	switch {
	case env.meta == nil || env.meta.kind == traced:
		env.meta = c.ctx.meta // with the trace, if the handler made one
	case env.meta.kind == notice: // it is to be told again
		if x.watching == nil {
			x.watching = map[*node]struct{}{}
		}
		x.watching[env.meta.ended] = struct{}{}
	case env.meta.kind == tick:
		env.meta = nil // it has been claimed: from now on it is a message like others
	}
	x.stash = append(c.stash(), env)
	c.counters.troubles().stashed.Add(1)
	c.ctx.leave()
}

// unstash empties the stash into the front of the mailbox; without mail only what
// nobody is owed.
func (c *cell[T]) unstash(mail bool) {
	set := c.stash()
	if len(set) == 0 {
		return
	}
	back := set
	if !mail {
		back = nil
		for _, env := range set {
			if !env.owed() {
				back = append(back, env)
			}
		}
	}
	c.x.stash = nil
	c.counters.troubles().stashed.Add(-int64(len(set)))
	c.putFront(back)
}

// letterStash makes dead letters of what is set aside.
func (c *cell[T]) letterStash() {
	set := c.stash()
	if len(set) == 0 {
		return
	}
	c.x.stash = nil
	c.counters.troubles().stashed.Add(-int64(len(set)))
	for _, env := range set {
		c.letter(env, actor.ReasonStashed)
	}
}

// endStash is what becomes of the stash at the end of an incarnation: a reload
// gives it to the successor, a restart only the notices. A stop leaves it to
// discard.
func (c *cell[T]) endStash() {
	switch {
	case c.ending():
	case c.swapping:
		c.unstash(true)
	default:
		set := c.stash()
		c.unstash(false)
		for _, env := range set {
			c.letter(env, actor.ReasonStashed) // which passes notices over
		}
	}
}

// putFront puts envelopes in front of everything that waits.
func (c *cell[T]) putFront(envs []envelope[T]) {
	if len(envs) == 0 {
		return
	}
	for c.batch != nil && c.batch.Len() > 0 {
		env, _ := c.batch.Next()
		envs = append(envs, env)
	}
	for !c.pushFront(envs) {
	}
}
