package mailbox

import (
	"cmp"
	"slices"
)

// Outcome is what became of a pushed item.
type Outcome[T any] struct {
	Result  Result
	Dropped T // the item that was discarded, for Evicted and Shed
}

// Result tells outcomes apart.
type Result uint8

// The outcomes of a push.
const (
	Queued  Result = iota // the item is in the queue
	Evicted               // the item is in the queue; Dropped made room for it
	Shed                  // the item itself was discarded: it is Dropped
	Refused               // the queue is full: reject, or wait for room and push again
)

// Queue is one actor's queue. It is not safe for concurrent use.
//
// An item that Shared.Keep accepts, such as a death notice, is never discarded
// and always finds room: such items may take the queue above its capacity.
type Queue[T any] struct {
	settings      *Settings
	shared        *Shared[T]
	fifo          fifo[T]
	aside         *aside[T] // made on demand
	depth, warned int32
}

// aside is what few queues need: items given back, and ranks.
type aside[T any] struct {
	front    []T     // served before the FIFO; reversed, so the next one is last
	loose    int     // how many of front may be discarded
	ranks    heap[T] // a ranked queue's items that may be discarded
	kept     heap[T] // and those that may not
	seq, low int64   // sequence numbers; low counts down for items given back
}

// New returns an empty queue. The settings must not change afterwards; see
// Configure.
func New[T any](s *Settings, shared *Shared[T]) Queue[T] {
	return Queue[T]{settings: s, shared: shared}
}

// Len returns how many items are queued.
func (q *Queue[T]) Len() int { return int(q.depth) }

// Settings returns the bounds in force.
func (q *Queue[T]) Settings() *Settings { return q.settings }

// HasRoom reports whether a push would neither discard nor refuse anything.
func (q *Queue[T]) HasRoom() bool { return q.settings.Capacity == 0 || q.Len() < q.settings.Capacity }

// Append is Push for the common case, in which nothing is to be decided: the
// queue has no rank, room, no warning mark ahead, and a chunk with space. False
// means that nothing was done.
func (q *Queue[T]) Append(item *T) bool {
	s := q.settings
	if s.Ranked || (s.Capacity > 0 && q.Len() >= s.Capacity) || (s.WarnAt > 0 && q.Len()+1 >= s.WarnAt) {
		return false
	}
	c := q.fifo.space()
	if c == nil {
		return false
	}
	if q.depth == 0 {
		q.warned = 0
	}
	q.depth++
	n := len(c.items)
	c.items = c.items[:n+1]
	c.items[n] = *item
	return true
}

// Push adds item under the overflow policy. rank counts in ranked queues only.
func (q *Queue[T]) Push(item T, rank float64) Outcome[T] {
	if q.HasRoom() || q.shared.Keep(item) {
		q.add(item, rank)
		return Outcome[T]{}
	}
	var old T
	evicted := false
	switch q.settings.Overflow {
	case DropHead:
		old, evicted = q.evictOldest()
	case DropLowest:
		old, evicted = q.evictBelow(keyOf(rank))
	case DropNew:
	default:
		return Outcome[T]{Result: Refused}
	}
	if !evicted {
		return Outcome[T]{Result: Shed, Dropped: item}
	}
	q.depth--
	q.add(item, rank)
	return Outcome[T]{Result: Evicted, Dropped: old}
}

// evictBelow discards the least urgent item when a newcomer of that rank is more
// urgent; among equals the newcomer loses.
func (q *Queue[T]) evictBelow(key uint64) (old T, ok bool) {
	if q.aside == nil || q.aside.ranks.len() == 0 {
		return old, false
	}
	last := q.aside.ranks.last()
	if q.aside.ranks.order[last].key <= key {
		return old, false
	}
	return q.aside.ranks.remove(last), true
}

// evictOldest discards the first item that may be discarded. Those in front of
// it keep their place.
func (q *Queue[T]) evictOldest() (old T, ok bool) {
	if q.aside != nil && q.aside.loose > 0 {
		return q.aside.evict(q.shared.Keep), true
	}
	var kept []T
	for {
		old, ok = q.fifo.pop(q.shared)
		if !ok || !q.shared.Keep(old) {
			break
		}
		kept = append(kept, old)
	}
	if len(kept) > 0 {
		slices.Reverse(kept)
		q.beside().front = append(kept, q.aside.front...)
	}
	return old, ok
}

// evict takes the first item that may be discarded out of front; there is one.
func (a *aside[T]) evict(keep func(T) bool) T {
	i := len(a.front) - 1
	for keep(a.front[i]) {
		i--
	}
	old := a.front[i]
	a.front = slices.Delete(a.front, i, i+1)
	a.loose--
	return old
}

func (q *Queue[T]) beside() *aside[T] {
	if q.aside == nil {
		q.aside = &aside[T]{}
	}
	return q.aside
}

func (q *Queue[T]) add(item T, rank float64) {
	if q.depth == 0 {
		q.warned = 0
	}
	q.depth++
	if !q.settings.Ranked {
		q.fifo.push(item, q.shared)
		return
	}
	a := q.beside()
	a.seq++
	a.rank(item, rank, a.seq, q.shared.Keep)
}

func (a *aside[T]) rank(item T, rank float64, seq int64, keep func(T) bool) {
	if keep(item) {
		a.kept.push(item, keyOf(rank), seqOf(seq))
	} else {
		a.ranks.push(item, keyOf(rank), seqOf(seq))
	}
}

// Take removes and returns the next item.
func (q *Queue[T]) Take() (item T, ok bool) {
	switch a := q.aside; {
	case a != nil && len(a.front) > 0:
		item, ok = a.unfront(q.shared.Keep), true
	case q.settings.Ranked:
		if a == nil {
			return item, false
		}
		item, ok = a.first()
	default:
		item, ok = q.fifo.pop(q.shared)
	}
	if ok {
		q.depth--
	}
	return item, ok
}

func (a *aside[T]) unfront(keep func(T) bool) T {
	n := len(a.front) - 1
	item := a.front[n]
	var zero T
	a.front[n] = zero
	a.front = a.front[:n]
	if n == 0 {
		a.front = nil
	}
	if !keep(item) {
		a.loose--
	}
	return item
}

// first removes the item of the lowest rank.
func (a *aside[T]) first() (item T, ok bool) {
	h := &a.ranks
	switch {
	case a.kept.len() == 0 && h.len() == 0:
		return item, false
	case h.len() == 0, a.kept.len() > 0 && a.kept.first().before(h.first()) != 0:
		h = &a.kept
	}
	return h.remove(0), true
}

// TakeChunk removes a run of items at once, nil when there is none that can be
// taken this way: only unlimited queues without rank give runs, since in others
// the next push may change what is next. done is the last chunk taken, when it
// has been used up.
func (q *Queue[T]) TakeChunk(done *Chunk[T]) *Chunk[T] {
	if done != nil {
		q.fifo.recycle(done, q.shared)
	}
	if q.settings.Capacity > 0 || q.settings.Ranked || (q.aside != nil && len(q.aside.front) > 0) {
		return nil
	}
	c := q.fifo.detach()
	if c != nil {
		q.depth -= int32(c.Len())
	}
	return c
}

// PushFront gives items back, to be served next and in this order (a ranked
// queue orders them by ranks, before their equals). It never discards anything
// and may take the queue above its capacity. ranks is read by ranked queues only.
func (q *Queue[T]) PushFront(items []T, ranks []float64) {
	q.depth += int32(len(items))
	a := q.beside()
	if q.settings.Ranked {
		a.low -= int64(len(items))
		for i, item := range items {
			a.rank(item, ranks[i], a.low+int64(i), q.shared.Keep)
		}
		return
	}
	for _, item := range slices.Backward(items) {
		a.front = append(a.front, item)
		if !q.shared.Keep(item) {
			a.loose++
		}
	}
}

// Configure changes the bounds and the order without discarding anything: what
// is queued above a smaller capacity stays until it is taken. When the order
// changes, rank ranks what is queued; among equals, and without rank, what came
// first is served first.
func (q *Queue[T]) Configure(s *Settings, rank func(T) float64) {
	if !q.settings.Ranked && !s.Ranked {
		q.settings = s
		return
	}
	items := q.arrivals()
	q.settings, q.depth = s, 0
	for _, item := range items {
		r := 0.0
		if s.Ranked {
			r = rank(item)
		}
		q.add(item, r)
	}
}

// arrivals empties the queue and returns what was in it, in the order of arrival.
func (q *Queue[T]) arrivals() []T {
	items := make([]T, 0, q.depth)
	if !q.settings.Ranked {
		for item, ok := q.Take(); ok; item, ok = q.Take() {
			items = append(items, item)
		}
		return items
	}
	if q.aside == nil {
		return nil
	}
	type arrival struct {
		seq  uint64
		item T
	}
	all := make([]arrival, 0, q.depth)
	for _, h := range []*heap[T]{&q.aside.ranks, &q.aside.kept} {
		for _, e := range h.order {
			all = append(all, arrival{e.seq, h.slots[e.slot]})
		}
	}
	slices.SortFunc(all, func(a, b arrival) int { return cmp.Compare(a.seq, b.seq) })
	for _, a := range all {
		items = append(items, a.item)
	}
	q.aside = nil
	return items
}

// HighWater reports whether the queue has just reached a warning mark: WarnAt at
// first, then every doubling. The mark falls back when the queue has emptied.
func (q *Queue[T]) HighWater() bool {
	if q.settings.WarnAt <= 0 || q.Len() < max(q.settings.WarnAt, 2*int(q.warned)) {
		return false
	}
	q.warned = q.depth
	return true
}
