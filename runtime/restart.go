package runtime

import "github.com/actord/actord/runtime/actor"

// PreRestarter runs in the place of Stopper for the instance that a restart ends.
type PreRestarter[T any] interface {
	PreRestart(ctx *Context[T], cause error) error
}

// PostRestarter runs in the place of Starter for the instance that a restart makes.
type PostRestarter[T any] interface {
	PostRestart(ctx *Context[T], cause error) error
}

// because remembers why the actor failed or is restarted.
func (n *node) because(err error) {
	if err != nil {
		n.extras().cause = err
	}
}

// lastHook is what the instance wants to do at its end; nil when there is nothing.
func (c *cell[T]) lastHook() func() error {
	if p, ok := c.instance.(PreRestarter[T]); ok && c.reviving && !c.ending() {
		return func() error { return p.PreRestart(&c.ctx, c.extras().cause) }
	}
	if s, ok := c.instance.(Stopper[T]); ok {
		return func() error { return s.Stop(&c.ctx) }
	}
	return nil
}

// firstHook runs what a new instance does before its first message.
func (c *cell[T]) firstHook() error {
	if p, ok := c.instance.(PostRestarter[T]); ok && c.reviving {
		return p.PostRestart(&c.ctx, c.extras().cause)
	}
	if s, ok := c.instance.(Starter[T]); ok {
		return s.Start(&c.ctx)
	}
	return nil
}

func (r *behaviour) PreRestart(ctx *Context[actor.Message], cause error) error {
	if p, ok := r.b.(actor.PreRestarter); ok {
		return p.PreRestart(r.lend(ctx), cause)
	}
	return r.Stop(ctx)
}

func (r *behaviour) PostRestart(ctx *Context[actor.Message], cause error) error {
	if p, ok := r.b.(actor.PostRestarter); ok {
		return p.PostRestart(r.lend(ctx), cause)
	}
	return r.Start(ctx)
}

// tick handles a timer's message, unless it has become void.
func (c *cell[T]) tick(env envelope[T]) error {
	m := env.meta
	if m.incarnation != 0 && m.incarnation != c.counters.incarnation.Load() || !c.sys.timers.deliver(m.timer) {
		return nil
	}
	if m.timer.single() && c.x != nil {
		delete(c.x.timers, m.timer)
		if m.timer.key != "" && c.x.keyed[m.timer.key] == m.timer {
			delete(c.x.keyed, m.timer.key)
		}
	}
	return c.acting().Receive(&c.ctx, env.msg)
}
