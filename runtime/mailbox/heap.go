package mailbox

import (
	"math"
	"math/bits"
)

// entry is the place of an item in the order: lower key first, then lower sequence
// number. It is small, since entries are moved often; the item stays in its slot.
type entry struct {
	key  uint64 // of the rank; see keyOf
	seq  uint64
	slot uint32
}

// before is 1 when a comes first, else 0. It has no branch, since nobody could
// predict which way it goes.
func (a *entry) before(b *entry) uint64 {
	_, less := bits.Sub64(a.seq, b.seq, 0)
	_, less = bits.Sub64(a.key, b.key, less)
	return less
}

// urgency is rank with NaN, which cannot be ordered, as the lowest urgency.
func urgency(rank float64) float64 {
	if math.IsNaN(rank) {
		return math.Inf(1)
	}
	return rank
}

// keyOf makes a number of rank that is ordered as urgencies are.
func keyOf(rank float64) uint64 {
	b := math.Float64bits(urgency(rank) + 0) // one zero, not two
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// seqOf makes a number of seq, which may be less than 0, that is ordered alike.
func seqOf(seq int64) uint64 { return uint64(seq) ^ 1<<63 }

// heap gives both its first and its last entry in logarithmic time: the first is
// served, the last makes room. It is a min-max heap: an entry on an even level is
// before everything below it, one on an odd level is after everything below it.
type heap[T any] struct {
	order []entry
	slots []T
	free  []uint32 // slots without an item
}

// shrinkAbove is the size up to which memory is kept, so that a queue that fills and
// empties all the time does not make it anew each time.
const shrinkAbove = 2048

func (h *heap[T]) len() int { return len(h.order) }

func (h *heap[T]) push(item T, key, seq uint64) {
	var slot uint32
	if n := len(h.free); n > 0 {
		slot, h.free = h.free[n-1], h.free[:n-1]
		h.slots[slot] = item
	} else {
		slot = uint32(len(h.slots))
		h.slots = append(h.slots, item)
	}
	h.order = append(h.order, entry{key, seq, slot})
	h.rise(len(h.order) - 1)
}

// rise moves the entry at i, which is new there, up to its place.
func (h *heap[T]) rise(i int) {
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
func (h *heap[T]) first() *entry { return &h.order[0] }

// last returns the index of the entry to be served last; the heap is not empty.
func (h *heap[T]) last() int {
	switch len(h.order) {
	case 1:
		return 0
	case 2:
		return 1
	}
	if h.order[1].before(&h.order[2]) != 0 {
		return 2
	}
	return 1
}

// remove takes out the first or the last entry, which is at i.
func (h *heap[T]) remove(i int) T {
	slot, last := h.order[i].slot, len(h.order)-1
	out := h.slots[slot]
	var zero T
	h.slots[slot] = zero
	h.free = append(h.free, slot)
	h.order[i] = h.order[last]
	h.order = h.order[:last]
	if i < last {
		h.sink(i)
	}
	if cap(h.order) > shrinkAbove && len(h.order) < cap(h.order)/4 {
		h.shrink()
	}
	return out
}

// shrink gives back the memory of a backlog that is gone.
func (h *heap[T]) shrink() {
	size := cap(h.order) / 2
	order, slots := append(make([]entry, 0, size), h.order...), make([]T, 0, size)
	for i := range order {
		slots = append(slots, h.slots[order[i].slot])
		order[i].slot = uint32(i)
	}
	h.order, h.slots, h.free = order, slots, nil
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
	from, to := 4*i+3, 4*i+6
	if to >= len(h.order) { // a child without children of its own may be it
		from, to = 2*i+1, len(h.order)-1
	}
	if from > to {
		return -1
	}
	flip, found := uint64(0), from
	if down {
		flip = 1
	}
	for k := from + 1; k <= to; k++ {
		if k == 2*i+3 {
			if k = 4*i + 3; k > to { // what is between is below others
				break
			}
		}
		if h.order[k].before(&h.order[found]) != flip { // no two entries are equal
			found = k
		}
	}
	return found
}

// goesUp reports whether the entry at i belongs above the one at j, on the
// levels whose order is reversed when down is true.
func (h *heap[T]) goesUp(i, j int, down bool) bool {
	if down {
		i, j = j, i
	}
	return h.order[i].before(&h.order[j]) != 0
}

func (h *heap[T]) swap(i, j int) { h.order[i], h.order[j] = h.order[j], h.order[i] }

// onMaxLevel tells the level of index i: the root's is a min level.
func onMaxLevel(i int) bool { return bits.Len(uint(i+1))%2 == 0 }
