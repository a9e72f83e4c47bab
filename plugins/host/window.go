package host

// waiter is a handler that waits for room in the window.
type waiter struct {
	in      *instance
	size    int
	granted bool
	ready   chan struct{}
}

// fits tells whether in may have one more message of size bytes; mu is held.
func (s *session) fits(in *instance, size int) bool {
	return in.fits(s.cfg.Window) && s.fitsBytes(size)
}

func (s *session) fitsBytes(size int) bool {
	return s.inflight < s.cfg.Window.Messages && (s.bytes+size <= s.cfg.Window.Bytes || s.inflight == 0)
}

func (s *session) reserve(in *instance, size int) {
	s.inflight++
	s.bytes += size
	in.inflight++
}

// release gives room back and lets those in who wait, in order; mu is held. An
// actor that has its share does not hold up the others.
func (s *session) release(in *instance, messages, bytes int) {
	s.inflight -= messages
	s.bytes -= bytes
	in.inflight -= messages
	kept := s.waiters[:0]
	for i, w := range s.waiters {
		if !s.fitsBytes(w.size) {
			kept = append(kept, s.waiters[i:]...)
			break
		}
		if !w.in.fits(s.cfg.Window) {
			kept = append(kept, w)
			continue
		}
		s.reserve(w.in, w.size)
		w.granted = true
		close(w.ready)
	}
	clear(s.waiters[len(kept):])
	s.waiters = kept
}

// leave takes w off the list of those who wait; mu is held. It reports whether w
// had been let in.
func (s *session) leave(w *waiter) bool {
	for i, o := range s.waiters {
		if o == w {
			s.waiters = append(s.waiters[:i], s.waiters[i+1:]...)
			return false
		}
	}
	return w.granted
}

// abort lets in's waiting handler go without room; mu is held.
func (s *session) abort(in *instance) {
	for _, w := range s.waiters {
		if w.in == in {
			s.leave(w)
			close(w.ready)
			return
		}
	}
}
