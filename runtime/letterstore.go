package runtime

import (
	linked "container/list"
	"time"
)

// LetterStore keeps lost letters. Its methods are called one at a time, and while
// senders wait: they must not block, so one that writes to a disk does that on its
// own time.
type LetterStore interface {
	// Put adds a letter as the latest one.
	Put(LostLetter)
	// Get returns the letter with the ID.
	Get(id uint64) (LostLetter, bool)
	// Take removes it as well.
	Take(id uint64) (LostLetter, bool)
	// List returns those that q selects, the latest first.
	List(q LetterQuery) []LostLetter
	// Remove forgets all that q selects, whatever its limit, and returns how many.
	Remove(q LetterQuery) int
	// Trim forgets the oldest until at most max are left, and all from before a time
	// that is not zero.
	Trim(max int, before time.Time)
}

// memoryLetters are kept in memory.
type memoryLetters struct {
	order *linked.List // of LostLetter, the oldest first
	byID  map[uint64]*linked.Element
}

func newMemoryLetters() *memoryLetters {
	return &memoryLetters{linked.New(), map[uint64]*linked.Element{}}
}

func (m *memoryLetters) Put(l LostLetter) { m.byID[l.ID] = m.order.PushBack(l) }

func (m *memoryLetters) Get(id uint64) (LostLetter, bool) {
	e, ok := m.byID[id]
	if !ok {
		return LostLetter{}, false
	}
	return e.Value.(LostLetter), true
}

func (m *memoryLetters) Take(id uint64) (l LostLetter, ok bool) {
	if l, ok = m.Get(id); ok {
		m.forget(m.byID[id])
	}
	return l, ok
}

func (m *memoryLetters) forget(e *linked.Element) {
	delete(m.byID, m.order.Remove(e).(LostLetter).ID)
}

func (m *memoryLetters) List(q LetterQuery) (out []LostLetter) {
	for e := m.order.Back(); e != nil && (q.Limit <= 0 || len(out) < q.Limit); e = e.Prev() {
		if l := e.Value.(LostLetter); q.Matches(&l) {
			out = append(out, l)
		}
	}
	return out
}

func (m *memoryLetters) Remove(q LetterQuery) (n int) {
	for e := m.order.Front(); e != nil; {
		next := e.Next()
		if l := e.Value.(LostLetter); q.Matches(&l) {
			m.forget(e)
			n++
		}
		e = next
	}
	return n
}

func (m *memoryLetters) Trim(max int, before time.Time) {
	for e := m.order.Front(); e != nil; e = m.order.Front() {
		if m.order.Len() <= max && !e.Value.(LostLetter).Time.Before(before) {
			return
		}
		m.forget(e)
	}
}
