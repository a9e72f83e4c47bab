package watch

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

const ms = time.Millisecond

// step is one thing that happens to the files at a moment of the test.
type step struct {
	at    time.Duration
	put   map[string]string // the files that change; "-" removes one
	quiet bool              // no notification comes
	err   error             // comes instead of a notification
}

// save is a step that writes one file, with its notification.
func save(at time.Duration, name, text string) step {
	return step{at: at, put: map[string]string{name: text}}
}

// noise is n notifications of a.conf without a change, one every gap.
func noise(from, gap time.Duration, n int) []step {
	var steps []step
	for i := range n {
		steps = append(steps, step{at: from + time.Duration(i)*gap, put: map[string]string{}})
	}
	return steps
}

func TestSettle(t *testing.T) {
	many := func(groups ...[]step) []step { return slices.Concat(groups...) }
	tests := []struct {
		name  string
		steps []step
		want  []string // moment and files of each change
	}{
		{name: "a save is reported after the quiet time and a second reading",
			steps: []step{save(0, "a.conf", "2")}, want: []string{"120ms a.conf"}},
		{name: "each notification begins the quiet time anew",
			steps: []step{save(0, "a.conf", "2"), save(90*ms, "a.conf", "3"), save(180*ms, "a.conf", "4")},
			want:  []string{"300ms a.conf"}},
		{name: "a notification between the two readings begins it anew",
			steps: []step{save(0, "a.conf", "2"), save(110*ms, "a.conf", "3")}, want: []string{"230ms a.conf"}},
		{name: "a change without notification between the two readings waits for a quiet time",
			steps: []step{save(0, "a.conf", "2"), {at: 110 * ms, put: map[string]string{"a.conf": "3"}, quiet: true}},
			want:  []string{"220ms a.conf"}},
		{name: "two saves apart are two changes",
			steps: []step{save(0, "a.conf", "2"), save(time.Second, "a.conf", "3")},
			want:  []string{"120ms a.conf", "1.12s a.conf"}},
		{name: "two files saved together are one change",
			steps: []step{save(0, "a.conf", "2"), save(50*ms, "b.conf", "2")}, want: []string{"170ms a.conf b.conf"}},
		{name: "the same content is not reported", steps: []step{save(0, "a.conf", "1")}},
		{name: "a change that is taken back in time is not reported",
			steps: []step{save(0, "a.conf", "2"), save(50*ms, "a.conf", "1")}},
		{name: "a change that is taken back late is two changes",
			steps: []step{save(0, "a.conf", "2"), save(time.Second, "a.conf", "1")},
			want:  []string{"120ms a.conf", "1.12s a.conf"}},
		{name: "a busy writer is read at the bound",
			steps: many([]step{save(0, "a.conf", "2")}, noise(50*ms, 50*ms, 60)), want: []string{"2.02s a.conf"}},
		{name: "a writer that is busy between the two readings as well cannot put them off",
			steps: many([]step{save(0, "a.conf", "2")}, noise(5*ms, 5*ms, 600)), want: []string{"2.02s a.conf"}},
		{name: "an emptied file has two seconds to be filled",
			steps: []step{save(0, "a.conf", "")}, want: []string{"2.12s a.conf"}},
		{name: "an emptied file that is filled in time is one change",
			steps: []step{save(0, "a.conf", ""), save(1900*ms, "a.conf", "2")}, want: []string{"2.02s a.conf"}},
		{name: "an emptied file that gets its content back is no change",
			steps: []step{save(0, "a.conf", ""), save(time.Second, "a.conf", "1")}},
		{name: "notifications do not lengthen the wait for an emptied file",
			steps: []step{save(0, "a.conf", ""), save(time.Second, "a.conf", "")}, want: []string{"2.12s a.conf"}},
		{name: "a file that vanished has two seconds to come back",
			steps: []step{save(0, "a.conf", "-")}, want: []string{"2.12s a.conf"}},
		{name: "a file that vanished and came back is one change",
			steps: []step{save(0, "a.conf", "-"), save(time.Second, "a.conf", "2")}, want: []string{"1.12s a.conf"}},
		{name: "a missing file that appears empty is given time",
			steps: []step{save(0, "new.conf", ""), save(time.Second, "new.conf", "1")}, want: []string{"1.12s new.conf"}},
		{name: "a change without notification is found by the poll",
			steps: []step{{at: time.Second, put: map[string]string{"a.conf": "2"}, quiet: true}},
			want:  []string{"5.1s a.conf"}},
		{name: "an overflow of the queue is made up for by a look",
			steps: []step{{put: map[string]string{"a.conf": "2"}, err: fsnotify.ErrEventOverflow}},
			want:  []string{"120ms a.conf"}},
		{name: "a failing notification is made up for by a look",
			steps: []step{{put: map[string]string{"a.conf": "2"}, err: errors.New("boom")}},
			want:  []string{"120ms a.conf"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := play(tt.steps); !slices.Equal(got, tt.want) {
					t.Errorf("changes\n got %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

// play runs the steps against a.conf, b.conf and a missing new.conf, and returns the changes of the first ten seconds.
func play(steps []step) []string {
	d := newFakeDisk(map[string]string{"a.conf": "1", "b.conf": "1"})
	w := start([]string{"a.conf", "b.conf", "new.conf"}, Options{Log: slog.New(slog.DiscardHandler)}, d)
	began := time.Now()
	go func() {
		for _, s := range steps {
			time.Sleep(time.Until(began.Add(s.at)))
			s.apply(d)
		}
	}()
	var got []string
	for end := time.After(10 * time.Second); ; {
		select {
		case c := <-w.Changes():
			got = append(got, fmt.Sprintf("%v %s", time.Since(began), strings.Join(c.Files, " ")))
		case <-end:
			w.Close()
			return got
		}
	}
}

func (s step) apply(d *fakeDisk) {
	name := "a.conf"
	for name = range s.put {
		d.put(name, s.put[name])
	}
	switch {
	case s.err != nil:
		d.failures <- s.err
	case !s.quiet:
		d.notify <- fsnotify.Event{Name: name, Op: fsnotify.Write}
	}
}

// A property of the settler itself: whatever the notifications are, it reads within the bound and reports what it read.
func TestSettlerReadsWithinTheBound(t *testing.T) {
	for _, gap := range []time.Duration{ms, 30 * ms, 99 * ms, 101 * ms, time.Second} {
		now := time.Unix(0, 0)
		s := settler{quiet: defaultQuiet, poll: defaultPoll}
		s.begin(snapshot{{name: "a", presence: filled}}, now)
		next := snapshot{{name: "a", presence: filled, digest: [32]byte{1}}}
		end, changed := now.Add(bound+recheck), false
		for at := now; !at.After(end) && !changed; at = at.Add(gap) {
			s.event(at)
			for !changed && !s.due.After(earlier(at.Add(gap), end)) {
				read := at
				if s.due.After(at) {
					read = s.due
				}
				changed = s.observe(read, next)
			}
		}
		if !changed {
			t.Errorf("notifications every %v: no change after %v, next reading in %v", gap, bound+recheck, s.due.Sub(now))
		}
	}
}
