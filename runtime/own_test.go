package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// stack is a mailbox that gives the latest message first, drops the oldest beyond its
// size, refuses "refuse" and panics on "panic".
type stack struct {
	mail    []Mail[string]
	size    int
	dropped func(Mail[string])
}

func (s *stack) Push(m Mail[string]) bool {
	switch m.Message() {
	case "refuse":
		return false
	case "panic":
		panic("boom")
	}
	s.mail = append(s.mail, m)
	if s.size > 0 && len(s.mail) > s.size {
		s.dropped(s.mail[0])
		s.mail = s.mail[1:]
	}
	return true
}

func (s *stack) Pop() (m Mail[string], ok bool) {
	if len(s.mail) == 0 {
		return m, false
	}
	m, s.mail = s.mail[len(s.mail)-1], s.mail[:len(s.mail)-1]
	if m.Message() == "panic later" {
		panic("boom")
	}
	return m, true
}

func stacked(size int) func(func(Mail[string])) Mailbox[string] {
	return func(dropped func(Mail[string])) Mailbox[string] { return &stack{size: size, dropped: dropped} }
}

// gated notes its messages; it stops at "hold" until the gate opens, and fails at
// "fail".
type gated struct {
	r    *record
	gate chan struct{}
}

func (g gated) Receive(_ *Context[string], m string) error {
	switch g.r.add(m); m {
	case "hold":
		<-g.gate
	case "fail":
		return errors.New("boom")
	}
	return nil
}

// ownBench is an actor with a stack as mailbox, which is held.
func ownBench(t *testing.T, s *System, size int) (p *PID[string], a *Actor, r *record, release func()) {
	t.Helper()
	r, gate := &record{}, make(chan struct{})
	p, err := Spawn(s, "a", &Props[string]{New: func() (Receiver[string], error) { return gated{r, gate}, nil }, Mailbox: stacked(size)})
	if err != nil {
		t.Fatal(err)
	}
	a, _ = s.Find(p.Path())
	_ = p.Tell(t.Context(), "hold")
	synctest.Wait()
	return p, a, r, func() { close(gate); synctest.Wait() }
}

func TestAnActorMayBringItsMailbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		p, a, r, release := ownBench(t, s, 0)
		for _, m := range []string{"1", "2", "3"} {
			if err := p.Tell(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.Info().Queued; got != 3 {
			t.Errorf("queued: got %d, want 3", got)
		}
		if err := p.Tell(t.Context(), "refuse"); !errors.Is(err, actor.ErrFull) {
			t.Errorf("got %v, want ErrFull", err)
		}
		if got := p.Offer(t.Context(), "refuse"); got != actor.Full {
			t.Errorf("offer: got %v, want full", got)
		}
		release()
		r.want(t, "hold", "3", "2", "1")
	})
}

func TestWhatAMailboxDropsIsCountedAndPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, events := newSystem(t), &record{}
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.Dropped); ok {
				events.add(string(d.Path) + " " + d.Policy)
				_ = s.Lookup(d.Path).Tell(t.Context(), actor.Message{}) // an observer may tell the actor
			}
		})
		p, a, r, release := ownBench(t, s, 2)
		for _, m := range []string{"1", "2", "3"} {
			_ = p.Tell(t.Context(), m)
		}
		events.want(t, "/user/a own mailbox")
		if got := a.Info(); got.Dropped != 1 || got.Queued != 2 {
			t.Errorf("got %d dropped and %d queued, want 1 and 2", got.Dropped, got.Queued)
		}
		release()
		r.want(t, "hold", "3", "2")
	})
}

func TestAMailboxSurvivesARestartAndItsActorsEndMakesDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kept(t, nil)
		p, a, r, release := ownBench(t, s, 0)
		for _, m := range []string{"1", "fail"} {
			_ = p.Tell(t.Context(), m)
		}
		release()
		r.want(t, "hold", "fail", "1")
		p, a, _, release = func() (*PID[string], *Actor, *record, func()) {
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.DeadLetters().Purge(LetterQuery{})
			return ownBench(t, s, 0)
		}()
		for _, m := range []string{"1", "2"} {
			_ = p.Tell(t.Context(), m)
		}
		a.node.signal(signal{kind: sigStopNow})
		release()
		var got []any
		for _, l := range s.DeadLetters().List(LetterQuery{}) {
			got = append(got, l.Original)
		}
		if want := []any{"1", "2"}; !slices.Equal(got, want) {
			t.Errorf("dead letters: got %v, want %v", got, want)
		}
	})
}

func TestAGracefulStopWorksAMailboxOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		p, a, r, release := ownBench(t, s, 0)
		for _, m := range []string{"1", "2"} {
			_ = p.Tell(t.Context(), m)
		}
		go release()
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.want(t, "hold", "2", "1")
	})
}

func TestAMailboxOfTwoActorsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := newSystem(t), newSystem(t)
		one := &stack{}
		props := echoProps("")
		props.Mailbox = func(func(Mail[string])) Mailbox[string] { return one }
		if _, err := Spawn(s, "a", props); err != nil {
			t.Fatal(err)
		}
		for _, in := range []*System{s, other} {
			_, err := Spawn(in, "b", props)
			if err == nil || !strings.Contains(err.Error(), "this mailbox is that of /user/a already; the factory must make another one") {
				t.Errorf("got %v, want the actor that has it", err)
			}
		}
		if _, err := Spawn(s, "a", props); err == nil {
			t.Error("the same name: got no error")
		}
		a, _ := s.Find("/user/a")
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := Spawn(s, "b", props); err != nil {
			t.Errorf("when its actor has ended: got %v", err)
		}
	})
}

type byValue struct{ _ int }

func (byValue) Push(Mail[string]) bool         { return false }
func (byValue) Pop() (m Mail[string], ok bool) { return m, false }

func TestMailboxesThatCannotBeAreRefused(t *testing.T) {
	bad := errors.New("bad")
	for _, tc := range []struct {
		name   string
		change func(*Props[string])
		want   string
	}{
		{"with a capacity", func(p *Props[string]) { p.Settings.Mailbox.Capacity = 3 }, "no capacity"},
		{"with a priority", func(p *Props[string]) { p.Priority = func(string, actor.Ref) float64 { return 0 } }, "no priority"},
		{"with a pool", func(p *Props[string]) { p.Pool = &Pool[string]{Size: 2} }, "no pool"},
		{"nothing", func(p *Props[string]) { p.Mailbox = func(func(Mail[string])) Mailbox[string] { return nil } }, "made nothing"},
		{"a value", func(p *Props[string]) { p.Mailbox = func(func(Mail[string])) Mailbox[string] { return byValue{} } }, "must be a pointer"},
		{"a panic", func(p *Props[string]) { p.Mailbox = func(func(Mail[string])) Mailbox[string] { panic(bad) } }, "factory panicked: bad"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, props := newSystem(t), echoProps("")
				props.Mailbox = stacked(0)
				tc.change(props)
				if _, err := Spawn(s, "a", props); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			})
		})
	}
}

func TestAMailboxThatPanicsIsGivenUp(t *testing.T) {
	for _, word := range []string{"panic", "panic later"} {
		t.Run(word, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				p, a, _, release := ownBench(t, s, 0)
				_ = p.Tell(t.Context(), "1")
				_ = p.Tell(t.Context(), word)
				release()
				time.Sleep(time.Minute)
				got := a.Info()
				if got.Queued != 0 || got.Dropped == 0 || !strings.Contains(got.LastError, "the mailbox panicked: boom") || got.Restarts != 1 {
					t.Errorf("got %+v, want nothing queued, the loss and a restart", got)
				}
				if err := p.Tell(t.Context(), "2"); !errors.Is(err, actor.ErrFull) {
					t.Errorf("afterwards: got %v, want ErrFull", err)
				}
			})
		})
	}
}

func TestEveryMessageThroughAMailboxOfAnActorIsAccountedFor(t *testing.T) {
	s := newSystem(t)
	var handled, dead atomic.Int64
	s.Subscribe(func(e actor.Event) {
		if _, ok := e.(actor.DeadLetter); ok {
			dead.Add(1)
		}
	})
	var accepted atomic.Int64
	for round := range 20 {
		p, err := Spawn(s, fmt.Sprint("a", round), &Props[string]{New: func() (Receiver[string], error) {
			return tallying{&handled}, nil
		}, Mailbox: stacked(50)})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		for range 4 {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 200 {
					if p.Tell(t.Context(), "x") == nil {
						accepted.Add(1)
					}
				}
			}()
		}
		a, _ := s.Find(p.Path())
		if round%2 == 0 {
			_ = a.StopNow(t.Context())
		}
		for range 4 {
			<-done
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		i := a.Info()
		accounted := int64(i.Handled + i.Failed + i.Dropped + i.DeadLettered)
		if got := accepted.Swap(0); got != accounted || i.Queued != 0 {
			t.Fatalf("round %d: got %d accepted and %d accounted for (%+v)", round, got, accounted, i)
		}
	}
}

type tallying struct{ n *atomic.Int64 }

func (c tallying) Receive(*Context[string], string) error { c.n.Add(1); return nil }

// latest gives the latest message first.
type latest struct{ mail []Mail[string] }

func (l *latest) Push(m Mail[string]) bool { l.mail = append(l.mail, m); return true }

func (l *latest) Pop() (m Mail[string], ok bool) {
	if n := len(l.mail) - 1; n >= 0 {
		m, ok, l.mail = l.mail[n], true, l.mail[:n]
	}
	return m, ok
}

// printing prints its messages; at "wait" it says that it waits.
type printing struct{ waits, gate chan struct{} }

func (p printing) Receive(_ *Context[string], m string) error {
	if m == "wait" {
		close(p.waits)
		<-p.gate
		return nil
	}
	fmt.Println(m)
	return nil
}

func ExampleMailbox() {
	s, waits, gate := New("example", WithLogger(quiet)), make(chan struct{}), make(chan struct{})
	p, _ := Spawn(s, "a", &Props[string]{
		New:     func() (Receiver[string], error) { return printing{waits, gate}, nil },
		Mailbox: func(func(Mail[string])) Mailbox[string] { return &latest{} },
	})
	_ = p.Tell(context.Background(), "wait")
	<-waits
	for _, m := range []string{"first", "second", "third"} {
		_ = p.Tell(context.Background(), m)
	}
	close(gate)
	_ = s.Shutdown(context.Background())
	// Output:
	// third
	// second
	// first
}
