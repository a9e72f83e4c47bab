package supervise

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"
)

var errBoom = errors.New("boom")

// naive is the history as one would write it without a thought for memory: every
// restart that was granted, for ever.
type naive struct{ granted []time.Time }

func (n *naive) decide(s Strategy, now time.Time) (d Decision, row int) {
	inWindow := 0
	for _, t := range n.granted {
		if s.Within <= 0 || now.Sub(t) <= s.Within {
			inWindow++
		}
	}
	if s.MaxRestarts != Unlimited && inWindow >= s.MaxRestarts {
		d = Decision{Directive: Stop, Exhausted: true}
		if s.OnExhausted == Escalate {
			d.Directive = Escalate
		}
		return d, 0
	}
	n.granted = append(n.granted, now)
	return Decision{Directive: Restart}, len(n.granted)
}

// FuzzHistoryIsItsModel compares the budget of restarts with the model.
func FuzzHistoryIsItsModel(f *testing.F) {
	f.Add(3, 1000, false, []byte{1, 2, 3, 200, 200, 1})
	f.Add(0, 0, true, []byte{0, 0})
	f.Add(-1, 10, false, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, limit, within int, escalate bool, gaps []byte) {
		s := Strategy{MaxRestarts: max(limit%20, Unlimited), Within: time.Duration(within%5000) * time.Millisecond}
		if escalate {
			s.OnExhausted = Escalate
		}
		now, h, model := time.Unix(0, 0), &History{}, &naive{}
		for i, gap := range gaps {
			now = now.Add(time.Duration(gap) * 10 * time.Millisecond)
			got := s.Decide(h, errBoom, now, 0.5)
			if want, _ := model.decide(s, now); got != want {
				t.Fatalf("failure %d under %+v: got %+v, want %+v", i, s, got, want)
			}
			if len(h.restarts) > max(s.MaxRestarts, 0) {
				t.Fatalf("failure %d: the history holds %d moments, want at most %d", i, len(h.restarts), s.MaxRestarts)
			}
		}
	})
}

func TestTheBudgetIsCountedLiterally(t *testing.T) {
	for limit := range 4 {
		s, h, now := Strategy{MaxRestarts: limit}, &History{}, time.Unix(0, 0)
		granted := 0
		for s.Decide(h, errBoom, now, 0).Directive == Restart {
			granted++
		}
		if granted != limit {
			t.Errorf("max-restarts %d: got %d restarts granted", limit, granted)
		}
	}
}

func TestOnlyTheWindowCounts(t *testing.T) {
	s, h, now := Strategy{MaxRestarts: 2, Within: time.Minute}, &History{}, time.Unix(0, 0)
	steps := []struct {
		after time.Duration
		want  Directive
	}{{0, Restart}, {30 * time.Second, Restart}, {time.Second, Stop}, {29 * time.Second, Stop}, {time.Second, Restart}, {0, Stop}}
	for i, st := range steps {
		now = now.Add(st.after)
		if got := s.Decide(h, errBoom, now, 0).Directive; got != st.want {
			t.Errorf("failure %d: got %s, want %s", i, got, st.want)
		}
	}
}

func TestRulesComeBeforeTheDefaultAndTheFirstMatchWins(t *testing.T) {
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	s := Strategy{OnFailure: Escalate, Rules: []Rule{{is(errBoom), Resume}, {is(errBoom), Stop}}}
	if got := s.Decide(&History{}, fmt.Errorf("wrapped: %w", errBoom), time.Now(), 0).Directive; got != Resume {
		t.Errorf("got %s, want resume", got)
	}
	if got := s.Decide(&History{}, errors.New("other"), time.Now(), 0).Directive; got != Escalate {
		t.Errorf("got %s, want escalate", got)
	}
}

func TestBackoffGrowsUpToItsLimitAndStaysWithinItsSpread(t *testing.T) {
	b := Backoff{Min: 100 * time.Millisecond, Max: time.Second, Factor: 2}
	for n, want := range map[int]time.Duration{
		-1: 0, 0: 0, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 5000: time.Second,
	} {
		if got := b.Delay(n, 0.5); got != want {
			t.Errorf("restart %d: got %v, want %v", n, got, want)
		}
	}
	b.Jitter = 0.2
	if lo, hi := b.Delay(1, 0), b.Delay(1, 1); lo != 80*time.Millisecond || hi != 120*time.Millisecond {
		t.Errorf("jitter of 20%%: got %v to %v, want 80ms to 120ms", lo, hi)
	}
	unbounded := Backoff{Min: time.Hour, Factor: 10}
	if got := unbounded.Delay(math.MaxInt32, 1); got <= 0 {
		t.Errorf("without a limit: got %v, want a duration that is not negative", got)
	}
}

func TestAnActorThatStayedUpStartsItsBackoffAgain(t *testing.T) {
	s := Strategy{MaxRestarts: Unlimited, Backoff: Backoff{Min: time.Second, Factor: 2, ResetAfter: 10 * time.Second}}
	h, now := &History{}, time.Unix(0, 0)
	steps := []struct{ up, want time.Duration }{ // how long it was up before it failed
		{0, time.Second}, {0, 2 * time.Second}, {9 * time.Second, 4 * time.Second}, {10 * time.Second, time.Second},
	}
	for i, st := range steps {
		now = now.Add(st.up)
		d := s.Decide(h, errBoom, now, 0.5)
		if d.Delay != st.want {
			t.Errorf("failure %d after %v up: got a delay of %v, want %v", i, st.up, d.Delay, st.want)
		}
		now = now.Add(d.Delay)
	}
}

func TestDirectivesReadBackAsTheyAreWritten(t *testing.T) {
	for _, name := range DirectiveNames() {
		if d, err := ParseDirective(name); err != nil || d.String() != name {
			t.Errorf("%s: got %s, %v", name, d, err)
		}
	}
	if _, err := ParseDirective("retry"); err == nil {
		t.Error("retry: got no error")
	}
}

func ExampleStrategy_Decide() {
	s := Default()
	s.MaxRestarts = 1
	h := &History{}
	for range 2 {
		d := s.Decide(h, errors.New("boom"), time.Now(), 0.5)
		fmt.Println(d.Directive, d.Exhausted)
	}
	// Output:
	// restart false
	// stop true
}
