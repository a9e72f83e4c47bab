package mailbox

import (
	"math"
	"math/bits"
)

// ranked is an item with its place in the order: lower rank first, then lower
// sequence number.
type ranked[T any] struct {
	item T
	rank float64
	seq  int64
}

func (a *ranked[T]) before(b *ranked[T]) bool {
	return a.rank < b.rank || (a.rank == b.rank && a.seq < b.seq)
}

// urgency is rank with NaN, which cannot be ordered, as the lowest urgency.
func urgency(rank float64) float64 {
	if math.IsNaN(rank) {
		return math.Inf(1)
	}
	return rank
}

// heap gives both its first and its last entry in logarithmic time: the first is
// served, the last makes room. It is a min-max heap: an entry on an even level is
// before everything below it, one on an odd level is after everything below it.
type heap[T any] struct{ items []ranked[T] }

func (h *heap[T]) push(r ranked[T]) {
	h.items = append(h.items, r)
	i := len(h.items) - 1
	if i == 0 {
		return
	}
	parent, down := (i-1)/2, onMaxLevel(i)
	if h.goesUp(parent, i, down) { // it belongs to the other order
		h.swap(i, parent)
		i, down = parent, !down
	}
	for i > 2 {
		above := ((i-1)/2 - 1) / 2
		if !h.goesUp(i, above, down) {
			return
		}
		h.swap(i, above)
		i = above
	}
}

// first returns the entry to be served next; the heap is not empty.
func (h *heap[T]) first() *ranked[T] { return &h.items[0] }

// last returns the index of the entry to be served last; the heap is not empty.
func (h *heap[T]) last() int {
	switch len(h.items) {
	case 1:
		return 0
	case 2:
		return 1
	}
	if h.items[1].before(&h.items[2]) {
		return 2
	}
	return 1
}

// remove takes out the first or the last entry, which is at i.
func (h *heap[T]) remove(i int) T {
	out, last := h.items[i].item, len(h.items)-1
	h.items[i] = h.items[last]
	h.items[last] = ranked[T]{}
	h.items = h.items[:last]
	if i < last {
		h.sink(i)
	}
	if cap(h.items) > 1024 && len(h.items) < cap(h.items)/4 {
		h.items = append(make([]ranked[T], 0, cap(h.items)/2), h.items...)
	}
	return out
}

// sink moves the entry at i down to its place.
func (h *heap[T]) sink(i int) {
	down := onMaxLevel(i)
	for {
		next := h.extreme(i, down)
		if next < 0 || !h.goesUp(next, i, down) {
			return
		}
		h.swap(next, i)
		if next <= 2*i+2 {
			return // it was a child, so nothing is below it
		}
		if parent := (next - 1) / 2; h.goesUp(parent, next, down) {
			h.swap(next, parent)
		}
		i = next
	}
}

// extreme returns which of the children and grandchildren of i goes up first, -1
// when there are none.
func (h *heap[T]) extreme(i int, down bool) int {
	found := -1
	consider := func(from, to int) {
		for k := from; k <= to && k < len(h.items); k++ {
			if found < 0 || h.goesUp(k, found, down) {
				found = k
			}
		}
	}
	consider(2*i+1, 2*i+2)
	consider(4*i+3, 4*i+6)
	return found
}

// goesUp reports whether the entry at i belongs above the one at j, on the
// levels whose order is reversed when down is true.
func (h *heap[T]) goesUp(i, j int, down bool) bool {
	if down {
		return h.items[j].before(&h.items[i])
	}
	return h.items[i].before(&h.items[j])
}

func (h *heap[T]) swap(i, j int) { h.items[i], h.items[j] = h.items[j], h.items[i] }

// onMaxLevel tells the level of index i: the root's is a min level.
func onMaxLevel(i int) bool { return bits.Len(uint(i+1))%2 == 0 }
