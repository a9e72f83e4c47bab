package runtime

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// arrivals tells actors when somebody comes to live at a path.
type arrivals struct {
	waiting atomic.Int64 // so that a spawn costs one look when nobody waits
	mu      sync.Mutex   // guards byPath
	byPath  map[actor.Path]map[*node]func()
}

// await makes f run on the turn of n whenever somebody arrives at path.
func (a *arrivals) await(path actor.Path, n *node, f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byPath == nil {
		a.byPath = map[actor.Path]map[*node]func(){}
	}
	if a.byPath[path] == nil {
		a.byPath[path] = map[*node]func(){}
	}
	if _, again := a.byPath[path][n]; !again {
		a.waiting.Add(1)
	}
	a.byPath[path][n] = f
}

func (a *arrivals) forget(path actor.Path, n *node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.byPath[path][n]; !ok {
		return
	}
	a.waiting.Add(-1)
	delete(a.byPath[path], n)
	if len(a.byPath[path]) == 0 {
		delete(a.byPath, path)
	}
}

// arrived tells who waits for somebody at path.
func (a *arrivals) arrived(path actor.Path) {
	if a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	var told []*node
	var calls []func()
	for n, f := range a.byPath[path] {
		told, calls = append(told, n), append(calls, f)
	}
	a.mu.Unlock()
	for i, n := range told {
		n.signal(signal{kind: sigCall, f: calls[i]})
	}
}

// settleWatch makes the actor watch whoever lives at the paths.
func (c *cell[T]) settleWatch(s *standing, want []actor.Path) {
	for path := range s.watch {
		if !slices.Contains(want, path) {
			delete(s.watch, path)
			c.sys.arrivals.forget(path, &c.node)
			c.ctx.Unwatch(path)
		}
	}
	for _, path := range want {
		if _, there := s.watch[path]; !there && path != c.path {
			s.watch[path] = struct{}{}
			c.sys.arrivals.await(path, &c.node, func() {
				if !c.ending() {
					c.watchOccupant(path)
				}
			})
			c.watchOccupant(path)
		}
	}
}

// watchOccupant watches whoever lives at a path that the routine names; when
// nobody does, whoever comes.
func (c *cell[T]) watchOccupant(path actor.Path) {
	if c.x == nil || c.x.standing == nil {
		return
	}
	if _, wanted := c.x.standing.watch[path]; !wanted {
		return
	}
	n, ok := c.sys.registry.get(path)
	if !ok || !n.watch(c) {
		return
	}
	if c.x.watching == nil {
		c.x.watching = map[*node]struct{}{}
	}
	c.x.watching[n] = struct{}{}
}
