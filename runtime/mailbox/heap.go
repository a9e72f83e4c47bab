package mailbox

import "math"

// ranked is an item with its place in the order: lower rank first, then lower
// sequence number.
type ranked[T any] struct {
	item T
	rank float64
	seq  int64
}

func (a ranked[T]) before(b ranked[T]) bool {
	return a.rank < b.rank || (a.rank == b.rank && a.seq < b.seq)
}

// heap is a binary min-heap. A NaN rank is stored as the lowest urgency.
type heap[T any] struct{ items []ranked[T] }

func (h *heap[T]) push(r ranked[T]) {
	if math.IsNaN(r.rank) {
		r.rank = math.Inf(1)
	}
	h.items = append(h.items, r)
	h.up(len(h.items) - 1)
}

func (h *heap[T]) pop() (ranked[T], bool) {
	if len(h.items) == 0 {
		return ranked[T]{}, false
	}
	return h.remove(0), true
}

// remove takes out the entry at i.
func (h *heap[T]) remove(i int) ranked[T] {
	out, last := h.items[i], len(h.items)-1
	h.items[i] = h.items[last]
	h.items[last] = ranked[T]{}
	h.items = h.items[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
	if cap(h.items) > 1024 && len(h.items) < cap(h.items)/4 {
		h.items = append(make([]ranked[T], 0, cap(h.items)/2), h.items...)
	}
	return out
}

// last returns the index of the entry served last among those that may is true
// for, -1 when there is none.
func (h *heap[T]) last(may func(T) bool) int {
	found := -1
	for i := range h.items {
		if may(h.items[i].item) && (found < 0 || h.items[found].before(h.items[i])) {
			found = i
		}
	}
	return found
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.items[i].before(h.items[parent]) {
			return
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *heap[T]) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h.items); c++ {
			if h.items[c].before(h.items[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		h.items[i], h.items[least] = h.items[least], h.items[i]
		i = least
	}
}
