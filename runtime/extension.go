package runtime

import (
	"context"
	"sync"
)

// ExtensionID names something that a system has at most one of and that everybody in
// it shares, such as a pool of connections. The pointer is the identity: keep it in a
// package variable. An extension is made when somebody first reaches for it.
type ExtensionID[T any] struct {
	name string
	make func(*System) T
}

// NewExtension returns an identity; the name is for logs. make runs on the goroutine
// of whoever is first, once for each system, while others wait. It may reach for
// other extensions, but not in a circle, and a panic in it leaves nothing behind: who
// is next tries again. What it makes is closed when the system has shut down, if it
// has a method Close() error, Close() or Close(context.Context) error.
func NewExtension[T any](name string, make func(*System) T) *ExtensionID[T] {
	return &ExtensionID[T]{name, make}
}

// Name returns the name.
func (id *ExtensionID[T]) Name() string { return id.name }

// WithExtension makes the system use what make returns for id, for tests that
// need a double.
func WithExtension[T any](id *ExtensionID[T], make func(*System) T) Option {
	return func(s *System) { s.extensions.slot(id).make = func(s *System) any { return make(s) } }
}

// Extension returns what the system has for id, made on first use. When the system
// has shut down, one that is made is closed again at once.
func Extension[T any](s *System, id *ExtensionID[T]) T {
	slot := s.extensions.slot(id)
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if !slot.made {
		slot.made, slot.value = true, id.produce(s, slot)
		if !s.extensions.keep(id.name, slot.value) {
			closeExtension(s, extension{id.name, slot.value})
		}
	}
	return slot.value.(T)
}

// produce makes the value, with made taken back when that panics.
func (id *ExtensionID[T]) produce(s *System, slot *extensionSlot) any {
	done := false
	defer func() { slot.made = done }()
	var v any
	if slot.make != nil {
		v = slot.make(s)
	} else {
		v = id.make(s)
	}
	done = true
	return v
}

// extensions are those of one system.
type extensions struct {
	mu     sync.Mutex // guards what follows
	slots  map[any]*extensionSlot
	made   []extension // in the order they were completed
	closed bool
}

type extension struct {
	name  string
	value any
}

// extensionSlot is where one extension lives.
type extensionSlot struct {
	mu    sync.Mutex        // guards what follows; held while it is made
	make  func(*System) any // instead of the identity's own; nil for most
	made  bool
	value any
}

func (e *extensions) slot(id any) *extensionSlot {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.slots == nil {
		e.slots = map[any]*extensionSlot{}
	}
	slot := e.slots[id]
	if slot == nil {
		slot = &extensionSlot{}
		e.slots[id] = slot
	}
	return slot
}

// keep remembers to close v; false when that time has passed.
func (e *extensions) keep(name string, v any) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.made = append(e.made, extension{name, v})
	return true
}

// close ends the extensions, the last one first: it may use those before it.
func (e *extensions) close(s *System) {
	e.mu.Lock()
	made := e.made
	e.made, e.closed = nil, true
	e.mu.Unlock()
	for i := len(made) - 1; i >= 0; i-- {
		closeExtension(s, made[i])
	}
}

func closeExtension(s *System, x extension) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("closing an extension panicked", "extension", x.name, "panic", r)
		}
	}()
	var err error
	switch c := x.value.(type) {
	case interface{ Close() error }:
		err = c.Close()
	case interface{ Close() }:
		c.Close()
	case interface{ Close(context.Context) error }:
		err = c.Close(context.Background())
	}
	if err != nil {
		s.log.Error("an extension did not close", "extension", x.name, "err", err)
	}
}
