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
	x := c.cell.extras()
	if x.holds == nil {
		x.holds = &holds{open: map[*hold]struct{}{}}
	}
	h, all := &hold{delivery: d}, x.holds
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
	if n.x == nil || n.x.holds == nil {
		return
	}
	all := n.x.holds
	all.mu.Lock()
	open := all.open
	all.open = map[*hold]struct{}{}
	all.mu.Unlock()
	for h := range open {
		h.release(fmt.Errorf("%s ended while it held the message: %w", n.path, actor.ErrStopped))
	}
}
