package mailbox

import "math"

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
// An item that keep accepts, such as a death notice, is never discarded and
// always finds room: such items may take the queue above its capacity.
type Queue[T any] struct {
	settings Settings
	keep     func(T) bool
	front    []T // served first: items given back; reversed, the next one is last
	fifo     fifo[T]
	heap     heap[T]
	seq, low int64 // sequence numbers of ranked items; low counts down for items given back
	depth    int
	warned   int
}

// New returns an empty queue. keep says which items must not be discarded.
func New[T any](s Settings, keep func(T) bool, pool *Pool[T]) Queue[T] {
	return Queue[T]{settings: s, keep: keep, fifo: fifo[T]{pool: pool}}
}

// Len returns how many items are queued.
func (q *Queue[T]) Len() int { return q.depth }

// Settings returns the bounds in force.
func (q *Queue[T]) Settings() Settings { return q.settings }

// HasRoom reports whether a push would neither discard nor refuse anything.
func (q *Queue[T]) HasRoom() bool { return q.settings.Capacity == 0 || q.depth < q.settings.Capacity }

// Push adds item under the overflow policy. rank counts in ranked queues only.
func (q *Queue[T]) Push(item T, rank float64) Outcome[T] {
	if q.HasRoom() || q.keep(item) {
		q.add(item, rank)
		return Outcome[T]{}
	}
	switch q.settings.Overflow {
	case DropNew:
		return Outcome[T]{Result: Shed, Dropped: item}
	case DropHead:
		if old, ok := q.evictOldest(); ok {
			q.add(item, rank)
			return Outcome[T]{Result: Evicted, Dropped: old}
		}
		return Outcome[T]{Result: Shed, Dropped: item}
	case DropLowest:
		return q.pushOverLowest(item, rank)
	default:
		return Outcome[T]{Result: Refused}
	}
}

// pushOverLowest lets the new item compete with the least urgent one; among
// equals the newcomer loses.
func (q *Queue[T]) pushOverLowest(item T, rank float64) Outcome[T] {
	if math.IsNaN(rank) {
		rank = math.Inf(1)
	}
	i := q.heap.last(func(t T) bool { return !q.keep(t) })
	if i < 0 || q.heap.items[i].rank <= rank {
		return Outcome[T]{Result: Shed, Dropped: item}
	}
	old := q.heap.remove(i).item
	q.depth--
	q.add(item, rank)
	return Outcome[T]{Result: Evicted, Dropped: old}
}

// evictOldest discards the first item that may be discarded. Those in front of
// it that may not keep their place.
func (q *Queue[T]) evictOldest() (old T, ok bool) {
	var kept []T
	for {
		old, ok = q.fifo.pop()
		if !ok || !q.keep(old) {
			break
		}
		kept = append(kept, old)
	}
	if len(kept) > 0 {
		// They were the head of the queue, behind everything given back earlier.
		front := make([]T, 0, len(kept)+len(q.front))
		for i := len(kept) - 1; i >= 0; i-- {
			front = append(front, kept[i])
		}
		q.front = append(front, q.front...)
	}
	if ok {
		q.depth--
	}
	return old, ok
}

func (q *Queue[T]) add(item T, rank float64) {
	q.depth++
	if q.settings.Ranked {
		q.seq++
		q.heap.push(ranked[T]{item, rank, q.seq})
		return
	}
	q.fifo.push(item)
}

// Take removes and returns the next item.
func (q *Queue[T]) Take() (item T, ok bool) {
	if n := len(q.front); n > 0 {
		item = q.front[n-1]
		var zero T
		q.front[n-1] = zero
		q.front = q.front[:n-1]
		if n == 1 {
			q.front = nil
		}
		q.depth--
		return item, true
	}
	if q.settings.Ranked {
		r, ok := q.heap.pop()
		if ok {
			q.depth--
		}
		return r.item, ok
	}
	if item, ok = q.fifo.pop(); ok {
		q.depth--
	}
	return item, ok
}

// TakeChunk removes a run of items at once, nil when there is none that can be
// taken this way: only unlimited queues without rank give runs, since in others
// the next push may change what is next. done is the last chunk taken, when it
// has been used up.
func (q *Queue[T]) TakeChunk(done *Chunk[T]) *Chunk[T] {
	if done != nil {
		q.fifo.recycle(done)
	}
	if q.settings.Capacity > 0 || q.settings.Ranked || len(q.front) > 0 {
		return nil
	}
	c := q.fifo.detach()
	if c != nil {
		q.depth -= c.Len()
	}
	return c
}

// PushFront gives items back, to be served next and in this order (a ranked
// queue ranks them again with rank, before equals). It never discards anything
// and may take the queue above its capacity.
func (q *Queue[T]) PushFront(items []T, rank func(T) float64) {
	q.depth += len(items)
	if q.settings.Ranked {
		q.low -= int64(len(items))
		for i, item := range items {
			q.heap.push(ranked[T]{item, rank(item), q.low + int64(i)})
		}
		return
	}
	for i := len(items) - 1; i >= 0; i-- {
		q.front = append(q.front, items[i])
	}
}

// Configure changes the bounds and the order without discarding anything: what
// is queued above a smaller capacity stays until it is taken. rank ranks what is
// queued when the new settings are ranked.
func (q *Queue[T]) Configure(s Settings, rank func(T) float64) {
	wasRanked := q.settings.Ranked
	if !wasRanked && !s.Ranked {
		q.settings = s
		return
	}
	items := make([]T, 0, q.depth)
	for item, ok := q.Take(); ok; item, ok = q.Take() {
		items = append(items, item)
	}
	q.settings, q.heap = s, heap[T]{}
	for _, item := range items {
		r := 0.0
		if s.Ranked {
			r = rank(item)
		}
		q.add(item, r)
	}
}

// HighWater reports whether the queue has just reached a warning mark: WarnAt at
// first, then every doubling. The mark falls back when the queue has emptied.
func (q *Queue[T]) HighWater() bool {
	if q.settings.WarnAt <= 0 {
		return false
	}
	if q.depth == 0 {
		q.warned = 0
	}
	next := max(q.settings.WarnAt, 2*q.warned)
	if q.depth < next {
		return false
	}
	q.warned = next
	return true
}
