package runtime

import (
	"github.com/actord/actord/runtime/actor"
)

// adopt links child below n; false means that n takes no more children.
func (n *node) adopt(child *node) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.childless {
		return false
	}
	child.next = n.first
	if n.first != nil {
		n.first.prev = child
	}
	n.first = child
	n.count(child, 1)
	n.sys.live.Add(1)
	return true
}

// disown unlinks a child that has ended.
func (n *node) disown(child *node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if child.prev != nil {
		child.prev.next = child.next
	} else {
		n.first = child.next
	}
	if child.next != nil {
		child.next.prev = child.prev
	}
	child.next, child.prev = nil, nil
	n.count(child, -1)
}

func (n *node) count(child *node, d int32) {
	n.kids += d
	if !child.declared {
		n.dynamic += d
	}
}

// children returns a snapshot, newest first.
func (n *node) children() []*node {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kids == 0 {
		return nil
	}
	out := make([]*node, 0, n.kids)
	for c := n.first; c != nil; c = c.next {
		out = append(out, c)
	}
	return out
}

func (n *node) toChildren(kind signalKind) {
	for _, c := range n.children() {
		c.signal(signal{kind: kind})
	}
}

// thawChildren lets the children go on when n itself may, also those whose
// failure became the failure of n.
func (n *node) thawChildren() {
	if !n.mayHandle() {
		return
	}
	for _, c := range n.children() {
		if t := c.counters.trouble.Load(); t != nil && t.past.escalated {
			t.past.escalated = false
			c.signal(signal{kind: sigResume})
		}
		c.signal(signal{kind: sigThaw})
	}
}

// endDynamic ends the children that the behaviour made. Declared ones stay in
// place.
func (n *node) endDynamic() {
	for _, c := range n.children() {
		if !c.declared {
			c.signal(signal{kind: sigStopNow})
		}
	}
}

// whenChildrenEnded goes on with f when no child is left that was told to end.
func (n *node) whenChildrenEnded(f func()) {
	if n.x != nil {
		n.x.afterChildren = nil // this is what comes instead
	}
	if n.awaitsChildren() {
		n.extras().afterChildren = f
		return
	}
	f()
}

// awaitsChildren tells whether children are left that were told to end. It counts,
// since a child's end must not cost more when there are many of them.
func (n *node) awaitsChildren() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.is(stopping) {
		return n.kids > 0
	}
	return n.dynamic > 0 && !n.keep
}

// checkChildren goes on with what waits for children when none is left that was
// told to end.
func (n *node) checkChildren() {
	if n.x == nil || n.x.afterChildren == nil || n.awaitsChildren() {
		return
	}
	f := n.x.afterChildren
	n.x.afterChildren = nil
	f()
}

// waiting is who waits for something of an actor; guarded by the node's mu.
type waiting struct {
	watchers map[watcher]struct{}
	room     []chan struct{} // senders that wait for room
	done     chan struct{}   // closed when the actor has ended
	gone     chan struct{}   // closed when the incarnation ends
	starts   []chan error    // who waits for the first start
	startErr error           // the outcome of the first start
	reason   string          // what becomes of the mailbox at the end; "" is actor.ReasonStopped
}

// waiters returns who waits; mu is held.
func (n *node) waiters() *waiting {
	if n.waiting == nil {
		n.waiting = &waiting{}
	}
	return n.waiting
}

// watch registers w for the end of n; false means that n has ended already.
func (n *node) watch(w watcher) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		return false
	}
	all := n.waiters()
	if all.watchers == nil {
		all.watchers = map[watcher]struct{}{}
	}
	all.watchers[w] = struct{}{}
	return true
}

func (n *node) unwatch(w watcher) {
	n.mu.Lock()
	if n.waiting != nil {
		delete(n.waiting.watchers, w)
	}
	n.mu.Unlock()
}

// doneChan is closed when n has ended completely.
func (n *node) doneChan() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.waiters()
	if all.done == nil {
		all.done = make(chan struct{})
		if n.over {
			close(all.done)
		}
	}
	return all.done
}

// goneChan is closed when the present incarnation ends or is told to at once.
func (n *node) goneChan() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.waiters()
	if all.gone == nil {
		all.gone = make(chan struct{})
		if n.goneEarly || n.ended {
			close(all.gone)
		}
	}
	return all.gone
}

// endIncarnation closes the channel of the present incarnation; mu is held.
func (n *node) endIncarnation() {
	if n.waiting == nil || n.goneEarly {
		return
	}
	if n.waiting.gone != nil {
		close(n.waiting.gone)
		n.waiting.gone = nil
	}
}

// onStart registers for the outcome of the first start.
func (n *node) onStart() <-chan error {
	ch := make(chan error, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.tried && n.waiting != nil:
		ch <- n.waiting.startErr
	case n.tried:
		ch <- nil
	case n.ended:
		ch <- actor.ErrStopped
	default:
		all := n.waiters()
		all.starts = append(all.starts, ch)
	}
	return ch
}

// tellStart answers who waits for the first start; later outcomes are nobody's.
func (n *node) tellStart(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tried {
		return
	}
	n.tried = true
	if err != nil {
		n.waiters().startErr = err
	}
	if n.waiting == nil {
		return
	}
	for _, ch := range n.waiting.starts {
		ch <- err
	}
	n.waiting.starts = nil
}

// releaseRoom wakes every sender that waits for room; mu is held.
func (n *node) releaseRoom() {
	if n.waiting == nil {
		return
	}
	for _, ch := range n.waiting.room {
		close(ch)
	}
	n.waiting.room = nil
}

// handRoom wakes the sender that has waited longest; mu is held.
func (n *node) handRoom() {
	if n.waiting != nil && len(n.waiting.room) > 0 {
		close(n.waiting.room[0])
		n.waiting.room = n.waiting.room[1:]
	}
}
