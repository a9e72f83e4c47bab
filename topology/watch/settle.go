package watch

import "time"

const (
	defaultQuiet = 100 * time.Millisecond
	defaultPoll  = 5 * time.Second
	slowPoll     = 2 * time.Second       // where notifications are known to be missing
	bound        = 2 * time.Second       // the longest that a busy writer puts off the first reading
	recheck      = 20 * time.Millisecond // between the two readings that must agree
	patience     = 2 * time.Second       // how long a file that became empty or vanished may take to come back
)

// settler decides when the files are read and which reading is a change. It is arithmetic on the times it is given: it
// reads no clock and no file.
//
// A notification starts a burst. The files are read when the burst has been quiet for a while, or when it has lasted
// for the bound, and read again shortly after; when both readings agree they count.
type settler struct {
	quiet, poll time.Duration

	base  snapshot  // what was reported last
	based time.Time // when that was known to be the content
	due   time.Time // when to read next

	burst  time.Time // when the current burst began; zero between bursts
	first  snapshot  // the reading that waits for its confirmation; nil when there is none
	hollow snapshot  // the agreed content in which a file became empty or vanished; nil when there is none
	until  time.Time // when hollow may be reported
}

// begin makes seen what changes are measured against.
func (s *settler) begin(seen snapshot, now time.Time) {
	s.base, s.based = seen, now
	s.rest(now)
}

// rebase takes a reading of another set of files. Files that stay keep what was reported of them; one that joins is
// unknown when it was written after the last report.
func (s *settler) rebase(seen snapshot, now time.Time) {
	s.base, s.based = seen.measuredAgainst(s.base, s.based), now
	s.hollow = nil
	s.event(now)
}

// event takes a notification.
func (s *settler) event(now time.Time) {
	if s.burst.IsZero() {
		s.burst = now
	}
	last := s.burst.Add(bound)
	if now.After(last) {
		return // a writer that never rests must not keep the readings from happening
	}
	s.first = nil
	s.due = earlier(now.Add(s.quiet), last)
}

// observe takes a reading made at now and says whether it is a change to report; then it is the new base.
func (s *settler) observe(now time.Time, seen snapshot) (changed bool) {
	switch {
	case seen.equal(s.base):
		s.rest(now)
		return false
	case s.first == nil || !seen.equal(s.first):
		s.confirm(now, seen)
		return false
	case seen.hollows(s.base) && s.wait(now, seen):
		return false
	}
	s.begin(seen, now)
	return true
}

// rest ends the burst: the next reading is the poll's.
func (s *settler) rest(now time.Time) {
	s.burst, s.first, s.hollow = time.Time{}, nil, nil
	s.due = now.Add(s.poll)
}

// confirm keeps seen until a second reading agrees. After a quiet time that follows soon; a reading that came
// without notification, or one that differs from the first, has no quiet time behind it and waits for one.
func (s *settler) confirm(now time.Time, seen snapshot) {
	pause := s.quiet
	if s.first == nil && !s.burst.IsZero() {
		pause = recheck
	}
	s.first = seen
	s.due = now.Add(pause)
}

// wait says whether the agreed content seen, in which a file became empty or vanished, is still to be held back.
func (s *settler) wait(now time.Time, seen snapshot) bool {
	if s.hollow == nil || !seen.equal(s.hollow) {
		s.hollow, s.until = seen, now.Add(patience)
	}
	s.burst = time.Time{}
	s.due = s.until
	return now.Before(s.until)
}

// tuned applies new intervals: a sleeping settler counts its poll interval anew.
func (s *settler) tuned(now time.Time) {
	if s.burst.IsZero() && s.first == nil {
		s.due = now.Add(s.poll)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
