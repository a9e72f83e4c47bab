package mailbox

import "sync"

// Sizes of chunks: a queue that rarely holds more than a few messages keeps two
// small ones; a backlog is made of large ones, which go back to a pool.
const (
	smallChunk = 4
	largeChunk = 63
)

// Chunk is a run of queued items that a consumer has taken out of a queue at
// once, so that it meets the queue's lock once for all of them.
type Chunk[T any] struct {
	items []T
	head  int
	next  *Chunk[T]
}

// Next removes and returns the first item.
func (c *Chunk[T]) Next() (item T, ok bool) {
	if c.head == len(c.items) {
		return item, false
	}
	item = c.items[c.head]
	var zero T
	c.items[c.head] = zero
	c.head++
	return item, true
}

// Len returns how many items are left.
func (c *Chunk[T]) Len() int { return len(c.items) - c.head }

// Shared is what the queues of one item type have in common. It is safe for
// concurrent use; Keep must not change while a queue uses it.
type Shared[T any] struct {
	Keep  func(T) bool // says which items must not be discarded
	large sync.Pool    // of large chunks
}

func (s *Shared[T]) chunk() *Chunk[T] {
	if c, ok := s.large.Get().(*Chunk[T]); ok {
		return c
	}
	return &Chunk[T]{items: make([]T, 0, largeChunk)}
}

// fifo is a ring of chunks of which the last is known: there may be very many
// queues, and each has one.
type fifo[T any] struct {
	tail  *Chunk[T]
	spare *Chunk[T] // up to two small chunks, linked by next
}

func (f *fifo[T]) push(item T, shared *Shared[T]) {
	if f.tail == nil || len(f.tail.items) == cap(f.tail.items) {
		f.grow(shared)
	}
	f.tail.items = append(f.tail.items, item)
}

// space returns the last chunk when it has space, nil when one must be made.
func (f *fifo[T]) space() *Chunk[T] {
	c := f.tail
	switch {
	case c != nil && len(c.items) < cap(c.items):
		return c
	case c != nil || f.spare == nil:
		return nil
	}
	c = f.spare
	f.spare, c.next = c.next, c
	f.tail = c
	return c
}

func (f *fifo[T]) grow(shared *Shared[T]) {
	c := f.spare
	switch {
	case f.tail != nil:
		c = shared.chunk()
	case c != nil:
		f.spare = c.next
	default:
		c = &Chunk[T]{items: make([]T, 0, smallChunk)}
	}
	if c.next = c; f.tail != nil {
		c.next, f.tail.next = f.tail.next, c
	}
	f.tail = c
}

func (f *fifo[T]) pop(shared *Shared[T]) (item T, ok bool) {
	if f.tail == nil {
		return item, false
	}
	head := f.tail.next
	item, ok = head.Next()
	if head.Len() == 0 {
		f.recycle(f.detach(), shared)
	}
	return item, ok
}

// detach takes the first chunk out of the list.
func (f *fifo[T]) detach() *Chunk[T] {
	if f.tail == nil {
		return nil
	}
	c := f.tail.next
	if c == f.tail {
		f.tail = nil
	} else {
		f.tail.next = c.next
	}
	c.next = nil
	return c
}

// recycle takes back a chunk whose items were all taken.
func (f *fifo[T]) recycle(c *Chunk[T], shared *Shared[T]) {
	c.items, c.head = c.items[:0], 0
	switch {
	case cap(c.items) >= largeChunk:
		shared.large.Put(c)
	case f.spare == nil || f.spare.next == nil:
		c.next, f.spare = f.spare, c
	}
}
