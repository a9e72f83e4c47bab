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
	byPath  map[actor.Path]map[*node]func(*node)
}

// await makes n watch whoever arrives at path. f runs on its turn before it can
// hear of the end.
func (a *arrivals) await(path actor.Path, n *node, f func(arrived *node)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byPath == nil {
		a.byPath = map[actor.Path]map[*node]func(*node){}
	}
	if a.byPath[path] == nil {
		a.byPath[path] = map[*node]func(*node){}
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

// arrived tells who waits for somebody at the path of who.
func (a *arrivals) arrived(who *node) {
	if a.waiting.Load() == 0 {
		return
	}
	a.mu.Lock()
	var told []*node
	var calls []func(*node)
	for n, f := range a.byPath[who.path] {
		told, calls = append(told, n), append(calls, f)
	}
	a.mu.Unlock()
	for i, n := range told {
		n.signal(signal{kind: sigCall, f: func() { calls[i](who) }})
		if w := n.body.(watcher); !who.watch(w) {
			w.terminated(who)
		}
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
			c.sys.arrivals.await(path, &c.node, func(n *node) {
				if !c.ending() && c.standsWatch(path) {
					c.watches(n)
				} else {
					n.unwatch(c)
				}
			})
			c.watchOccupant(path)
		}
	}
}

// watchOccupant watches whoever lives at a path that the routine names; when
// nobody does, whoever comes.
func (c *cell[T]) watchOccupant(path actor.Path) {
	if !c.standsWatch(path) {
		return
	}
	if n, ok := c.sys.registry.get(path); ok && n.watch(c) {
		c.watches(n)
	}
}

func (c *cell[T]) standsWatch(path actor.Path) (wanted bool) {
	if c.x != nil && c.x.standing != nil {
		_, wanted = c.x.standing.watch[path]
	}
	return wanted
}

// watches remembers that the end of n is to be told.
func (c *cell[T]) watches(n *node) {
	if c.x.watching == nil {
		c.x.watching = map[*node]struct{}{}
	}
	c.x.watching[n] = struct{}{}
}
