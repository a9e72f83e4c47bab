package runtime

import "errors"

// hook runs code of the behaviour other than Receive and goes on with then,
// whatever that code does: return, panic, or end its goroutine. In the last case
// the rest happens in this deferred call and the next turn on another goroutine.
func (c *cell[T]) hook(f func() error, then func(error)) {
	err := ErrGoexit
	defer func() {
		c.ctx.leave()
		if r := recover(); r != nil {
			err = c.panicked(r)
		}
		then(err)
	}()
	c.ctx.enter(envelope[T]{})
	err = f()
}

var errNothing = errors.New("the producer made nothing")

func (c *cell[T]) create(then func(error)) {
	c.hook(func() error {
		instance, err := c.props.Load().New()
		switch {
		case err != nil:
			return err
		case instance == nil:
			return errNothing
		}
		c.instance = instance
		return c.startInstance()
	}, then)
}

func (c *cell[T]) startInstance() error {
	c.settle()
	return c.firstHook()
}

// destroy ends the incarnation, with the stop hook of its instance.
func (c *cell[T]) destroy(then func()) {
	c.leaveIncarnation()
	last := c.lastHook()
	c.born = false
	if last == nil {
		c.instance = nil
		c.refuseHolds()
		c.forget()
		then()
		return
	}
	c.hook(last, func(err error) {
		c.instance = nil
		if err != nil {
			c.log().Error("stop hook failed", "err", err)
		}
		c.leaveIncarnation() // the hook may have asked for the channel again
		c.stopTimers()       // or armed more
		c.refuseHolds()
		c.forget()
		then()
	})
}

func (c *cell[T]) leaveIncarnation() {
	c.mu.Lock()
	c.endIncarnation()
	c.mu.Unlock()
}
