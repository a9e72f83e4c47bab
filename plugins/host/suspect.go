package host

import (
	"sync"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// suspects are the messages that were being handled when a process died. One that
// is there a second time probably is the reason and must not come a third time.
type suspects struct {
	count atomic.Int32 // of messages, so that the usual case needs no lock

	mu   sync.Mutex // guards seen
	seen map[suspect]struct{}
}

// suspect identifies a message over its redeliveries.
type suspect struct {
	actor actor.Path
	trace actor.TraceID
	kind  string
}

// maxSuspects bounds what is remembered; each process that dies adds one message
// per busy actor at most.
const maxSuspects = 10_000

// again notes a message that was being handled at a death, and reports whether
// that is the second one.
func (s *suspects) again(m suspect) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, twice := s.seen[m]
	switch {
	case twice:
		delete(s.seen, m)
	case s.seen == nil || len(s.seen) >= maxSuspects:
		s.seen = map[suspect]struct{}{m: {}}
	default:
		s.seen[m] = struct{}{}
	}
	s.count.Store(int32(len(s.seen)))
	return twice
}

// clear acquits a message that was handled.
func (s *suspects) clear(m suspect) {
	if s.count.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, m)
	s.count.Store(int32(len(s.seen)))
}
