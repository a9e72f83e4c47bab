package runtime

import (
	"fmt"
	"sync"

	"github.com/actord/actord/runtime/actor"
)

// holds are the deliveries that an incarnation keeps open; see Context.Hold.
type holds struct {
	mu   sync.Mutex // guards open
	open map[*hold]struct{}
}

type hold struct {
	delivery *actor.Delivery
	once     sync.Once
}

func (h *hold) release(err error) {
	h.once.Do(func() { h.delivery.Done(err) })
}

// Hold keeps the current message's delivery open; see actor.Context.
func (c *Context[T]) Hold() (release func(error)) {
	d := c.meta.track()
	if d == nil {
		return func(error) {}
	}
	d.Join()
	if c.cell.holds == nil {
		c.cell.holds = &holds{open: map[*hold]struct{}{}}
	}
	h, all := &hold{delivery: d}, c.cell.holds
	all.mu.Lock()
	all.open[h] = struct{}{}
	all.mu.Unlock()
	return func(err error) {
		all.mu.Lock()
		delete(all.open, h)
		all.mu.Unlock()
		h.release(err)
	}
}

// refuseHolds ends what the incarnation still held.
func (n *node) refuseHolds() {
	if n.holds == nil {
		return
	}
	n.holds.mu.Lock()
	open := n.holds.open
	n.holds.open = map[*hold]struct{}{}
	n.holds.mu.Unlock()
	for h := range open {
		h.release(fmt.Errorf("%s ended while it held the message: %w", n.path, actor.ErrStopped))
	}
}
