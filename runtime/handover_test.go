package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// adder has a number as its state and answers with it.
type adder struct {
	n       int64
	version int
	refuse  int // a version of states that it does not take
	fail    string
	seen    func(m actor.Message)
}

func (a *adder) Start(actor.Context) error {
	if a.fail == "start" {
		return errors.New("it is told to fail")
	}
	return nil
}

func (a *adder) Receive(ctx actor.Context, m actor.Message) error {
	if a.fail == m.Kind {
		return errors.New("it is told to fail")
	}
	a.n++
	if a.seen != nil {
		a.seen(m)
	}
	if ctx.Sender() == nil {
		return nil
	}
	return ctx.Reply(actor.Message{Kind: "n", Body: a.n})
}

func (a *adder) Snapshot() (actor.State, error) {
	return actor.State{Version: a.version, Data: fmt.Append(nil, a.n)}, nil
}

func (a *adder) Restore(s actor.State) error {
	if a.refuse > 0 && s.Version == a.refuse {
		a.n = -1000
		return errors.New("it does not know this version")
	}
	_, err := fmt.Sscan(string(s.Data), &a.n)
	return err
}

func adding(a adder) actor.Producer {
	return func() (actor.Behaviour, error) { return new(a), nil }
}

func hit(t *testing.T, s *System, p actor.Path) any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	m, err := s.Lookup(p).(actor.Asker).Ask(ctx, actor.Message{Kind: "hit"})
	if err != nil {
		return err.Error()
	}
	return m.Body
}

func TestAStateThatIsRefusedIsReplacedByTheReserve(t *testing.T) {
	s := newSystem(t)
	a := spawnSpec(t, s, Spec{Name: "a", New: adding(adder{version: 1})})
	hit(t, s, "/user/a")
	first, err := a.HandOver(t.Context(), Handover{New: adding(adder{version: 2})})
	if err != nil || first.State == nil || string(first.State.Data) != "1" {
		t.Fatalf("got %+v %v, want the state 1", first, err)
	}
	hit(t, s, "/user/a")
	old := adder{version: 1, refuse: 2}
	if _, err := a.HandOver(t.Context(), Handover{New: adding(old)}); err == nil {
		t.Error("without a reserve: got no error, want the refusal")
	}
	back, err := a.HandOver(t.Context(), Handover{New: adding(old), Reserve: first.State})
	if err != nil || back.Lost == nil || string(back.State.Data) != "2" {
		t.Errorf("got %+v %v, want the loss of the state 2", back, err)
	}
	if got := hit(t, s, "/user/a"); got != int64(2) {
		t.Errorf("got %v, want 2: the reserve and one hit", got)
	}
	if _, err := a.HandOver(t.Context(), Handover{New: adding(old), State: &actor.State{Version: 1, Data: []byte("7")}}); err != nil {
		t.Error(err)
	}
	if got := hit(t, s, "/user/a"); got != int64(8) {
		t.Errorf("got %v, want 8: the given state and one hit", got)
	}
}

func TestAnExhaustedActorCanBeHeldAndGoesOnWithAnotherBehaviour(t *testing.T) {
	s := newSystem(t)
	held := make(chan actor.Path, 1)
	s.HoldFailed(func(p actor.Path, cause error) bool { held <- p; return true })
	once := supervise.Strategy{MaxRestarts: 0, Within: time.Minute}
	var mu sync.Mutex
	var got []string
	seen := func(m actor.Message) { mu.Lock(); got = append(got, m.Kind); mu.Unlock() }
	a := spawnSpec(t, s, Spec{Name: "a", New: adding(adder{fail: "bad"}), Settings: Settings{Supervision: &once}})
	for _, kind := range []string{"bad", "one", "two"} {
		if err := a.Ref().Tell(t.Context(), actor.Message{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	if p := <-held; p != "/user/a" {
		t.Errorf("held: got %s, want /user/a", p)
	}
	if _, err := a.HandOver(t.Context(), Handover{New: adding(adder{seen: seen}), Release: true}); err != nil {
		t.Fatal(err)
	}
	hit(t, s, "/user/a")
	mu.Lock()
	defer mu.Unlock()
	if text := strings.Join(got, " "); text != "one two hit" {
		t.Errorf("handled: got %s, want one two hit", text)
	}
}

func TestARemovedActorNamesTheReasonForWhatItLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		var reasons []string
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok {
				reasons = append(reasons, d.Reason)
			}
		})
		slow := func(ctx actor.Context, m actor.Message) error { time.Sleep(time.Second); return nil }
		a := spawnSpec(t, s, Spec{
			Name: "a", New: func() (actor.Behaviour, error) { return actor.Func(slow), nil },
			Settings: Settings{StopTimeout: 1500 * time.Millisecond},
		})
		for i := range 5 {
			_ = a.Ref().Tell(t.Context(), num(i))
		}
		left, err := a.Remove(t.Context(), "removed in revision 7")
		if err != nil || left != 3 {
			t.Errorf("got %d %v, want 3 left", left, err)
		}
		synctest.Wait()
		if got := strings.Join(reasons, ", "); got != strings.Join([]string{"removed in revision 7", "removed in revision 7", "removed in revision 7"}, ", ") {
			t.Errorf("reasons: got %s", got)
		}
	})
}

func TestAMovedMailboxKeepsItsMessagesAndTheirOrder(t *testing.T) {
	s := newSystem(t)
	const senders, each = 4, 5000
	var mu sync.Mutex
	last, twice := map[int64]int64{}, 0
	seen := func(m actor.Message) {
		mu.Lock()
		defer mu.Unlock()
		n, ok := m.Body.(int64)
		if !ok {
			return
		}
		if who := n / each; n <= last[who] && n%each > 0 {
			twice++
		} else {
			last[who] = n
		}
	}
	limits := Settings{Mailbox: mailbox.Settings{Capacity: 64, Overflow: mailbox.Block, BlockTimeout: time.Minute}}
	a := spawnSpec(t, s, Spec{Name: "a", New: adding(adder{seen: seen}), Settings: limits})
	var sending sync.WaitGroup
	ref := s.Lookup("/user/a")
	for who := range senders {
		sending.Go(func() {
			for i := range each {
				if err := ref.Tell(t.Context(), num(who*each+i)); err != nil {
					t.Errorf("tell: %v", err)
				}
			}
		})
	}
	from := a
	for i := range 20 {
		paused, err := from.Pause(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		producer := func() (actor.Behaviour, error) {
			b := &adder{version: 1, seen: seen}
			return b, b.Restore(*paused.State())
		}
		next, err := s.SpawnActor(actor.User, Spec{Name: fmt.Sprintf("a%d", i), New: producer, Settings: limits, Frozen: true})
		if err == nil {
			err = next.Started(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := paused.MoveTo(next); err != nil {
			t.Fatal(err)
		}
		if err := from.StopNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		from = next
	}
	sending.Wait()
	if got := hit(t, s, from.Path()); got != int64(senders*each+1) {
		t.Errorf("handled: got %v, want %d", got, senders*each+1)
	}
	if twice > 0 {
		t.Errorf("got %d messages out of order or twice, want none", twice)
	}
	hit(t, s, from.Path()) // a message is counted after its answer, and before the next one
	if got := from.Info().Handled; got < senders*each+1 || got > senders*each+2 {
		t.Errorf("counted: got %d, want %d and perhaps the last one", got, senders*each+1)
	}
	s.Forget("/user/a")
	if _, there := s.Find("/user/a"); there {
		t.Error("a path that was forgotten: got an actor, want none")
	}
}

func TestAPausedActorGoesOnAsItWas(t *testing.T) {
	s := newSystem(t)
	a := spawnSpec(t, s, Spec{Name: "a", New: adding(adder{})})
	hit(t, s, "/user/a")
	p, err := a.Pause(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Pause(t.Context()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("paused twice: got %v, want ErrNotRunning", err)
	}
	_ = a.Ref().Tell(t.Context(), num(1))
	if err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := hit(t, s, "/user/a"); got != int64(3) {
		t.Errorf("got %v, want 3 messages counted", got)
	}
}
