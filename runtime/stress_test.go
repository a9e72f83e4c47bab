package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	gort "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// ledger checks the promises of a tree under stress.
type ledger struct {
	accepted, handled, failed, lettered, dropped atomic.Int64

	mu    sync.Mutex // guards what follows
	last  map[string]int64
	wrong []string
	busy  sync.Map // actor.Path to *atomic.Int32
}

func (l *ledger) complain(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) < 10 {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

func (l *ledger) watch(e actor.Event) {
	switch e := e.(type) {
	case actor.DeadLetter:
		if strings.HasPrefix(e.Reason, actor.ReasonFailed) {
			l.failed.Add(1)
		} else {
			l.lettered.Add(1)
		}
	case actor.Dropped:
		l.dropped.Add(1)
	}
}

func (l *ledger) enter(p actor.Path) (leave func()) {
	v, _ := l.busy.LoadOrStore(p, new(atomic.Int32))
	n := v.(*atomic.Int32)
	if n.Add(1) != 1 {
		l.complain("%s: two handlers at once", p)
	}
	return func() { n.Add(-1) }
}

// order checks that messages of one sender come in the order it told them.
func (l *ledger) order(p actor.Path, m actor.Message) {
	body := m.Body.([]any)
	key := fmt.Sprintf("%s %d", p, body[0])
	l.mu.Lock()
	before, seq := l.last[key], body[1].(int64)
	l.last[key] = seq
	l.mu.Unlock()
	if seq <= before {
		l.complain("%s: message %d after %d of sender %d", p, seq, before, body[0])
	}
}

// stressed is the behaviour of every actor under stress.
type stressed struct{ l *ledger }

func (b stressed) Start(ctx actor.Context) error {
	defer b.l.enter(ctx.Self().Path())()
	if rand.IntN(50) == 0 {
		return errors.New("does not start")
	}
	return nil
}

func (b stressed) Stop(ctx actor.Context) error {
	defer b.l.enter(ctx.Self().Path())()
	return nil
}

func (b stressed) Receive(ctx actor.Context, m actor.Message) error {
	defer b.l.enter(ctx.Self().Path())()
	b.l.order(ctx.Self().Path(), m)
	switch m.Kind {
	case "fail":
		return errors.New("boom")
	case "panic":
		panic("boom")
	case "goexit":
		gort.Goexit()
	case "spawn":
		if c, err := ctx.Spawn("dynamic", func() (actor.Behaviour, error) { return b, nil }); err == nil {
			_ = ctx.Watch(c)
			ctx.Stop(c)
		}
	}
	b.l.handled.Add(1)
	return nil
}

func (b stressed) Snapshot() (actor.State, error) { return actor.State{}, nil }
func (b stressed) Restore(actor.State) error      { return nil }

var stressBoxes = []mailbox.Settings{
	{}, {Capacity: 16, Overflow: mailbox.DropHead}, {Capacity: 16, Overflow: mailbox.DropNew},
	{Capacity: 16, Overflow: mailbox.Reject}, {Capacity: 16, Overflow: mailbox.Block, BlockTimeout: time.Millisecond},
}

var stressStrategies = []supervise.Strategy{
	{MaxRestarts: supervise.Unlimited}, {OnFailure: supervise.Resume, MaxRestarts: 3}, {MaxRestarts: 3, AllForOne: true},
	{OnFailure: supervise.Escalate}, {MaxRestarts: supervise.Unlimited, KeepChildren: true},
	{MaxRestarts: supervise.Unlimited, Backoff: supervise.Backoff{Min: time.Millisecond}}, {OnFailure: supervise.Stop},
}

func stressSettings() Settings {
	s := Settings{Mailbox: stressBoxes[rand.IntN(len(stressBoxes))], StopTimeout: time.Second, HandlerWarn: time.Millisecond}
	s.Supervision = &stressStrategies[rand.IntN(len(stressStrategies))]
	s.ChildSupervision = &stressStrategies[rand.IntN(len(stressStrategies))]
	return s
}

// equalRank leaves the order to the arrival.
func equalRank(actor.Message, actor.Ref) float64 { return 1 }

// shake does one random thing to the tree of paths.
func shake(s *System, l *ledger, paths []actor.Path) {
	p := paths[rand.IntN(len(paths))]
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	produce := func() (actor.Behaviour, error) { return stressed{l}, nil }
	a, ok := s.Find(p)
	if !ok {
		_, _ = s.SpawnActor(p.Parent(), Spec{Name: p.Name(), New: produce, Settings: stressSettings()})
		return
	}
	switch rand.IntN(8) {
	case 0:
		_ = a.Stop(ctx)
	case 1:
		_ = a.StopNow(ctx)
	case 2:
		_ = a.Swap(ctx, produce, nil)
	case 3:
		_ = a.Swap(ctx, produce, func(actor.Context, actor.Behaviour) (bool, error) { return true, nil })
	case 4:
		_ = a.Update(stressSettings(), nil)
	case 5:
		set := stressSettings()
		set.Mailbox = mailbox.Settings{Capacity: 8, Overflow: mailbox.DropLowest}
		_ = a.Update(set, equalRank)
	case 6:
		_ = a.Info()
		_ = a.Children()
	case 7:
		a.node.signal(signal{kind: sigRestart})
	}
}

func TestStressedTreesKeepTheirPromises(t *testing.T) {
	before := gort.NumGoroutine()
	for round := range 3 {
		s := New("stress", WithLogger(quiet), WithRootFailure(RootStopSubtree))
		l := &ledger{last: map[string]int64{}}
		s.Subscribe(l.watch)
		paths := []actor.Path{"/user/a", "/user/b", "/user/a/x", "/user/a/y", "/user/b/z", "/user/a/x/deep"}
		var senders, shakers sync.WaitGroup
		for _, p := range paths {
			_, _ = s.SpawnActor(p.Parent(), Spec{Name: p.Name(), New: func() (actor.Behaviour, error) { return stressed{l}, nil }, Settings: stressSettings()})
		}
		shakes := make(chan struct{}, 4)
		for range 2 {
			shakers.Go(func() {
				for range shakes {
					shake(s, l, paths)
				}
			})
		}
		kinds := []string{"fail", "panic", "goexit", "spawn", "spawn"}
		for id := range 4 {
			senders.Go(func() {
				refs := make([]actor.Ref, len(paths))
				for i, p := range paths {
					refs[i] = s.Lookup(p)
				}
				for seq := range 8000 {
					m := actor.Message{Kind: "n", Body: []any{int64(id), int64(seq + 1)}}
					if k := rand.IntN(60); k < len(kinds) {
						m.Kind = kinds[k]
					}
					err := refs[rand.IntN(len(refs))].Tell(context.Background(), m)
					if err == nil || errors.Is(err, actor.ErrStopped) {
						l.accepted.Add(1)
					}
					if seq%10 == 0 {
						gort.Gosched()
					}
					if seq%150 == 0 {
						shakes <- struct{}{}
					}
				}
			})
		}
		senders.Wait()
		if close(shakes); round == 0 { // in other rounds the shaking goes on during the shutdown
			shakers.Wait()
		}
		endAndCheck(t, s, l)
		shakers.Wait()
	}
	wantGoroutines(t, before)
}

func endAndCheck(t *testing.T, s *System, l *ledger) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	sum := l.handled.Load() + l.failed.Load() + l.lettered.Load() + l.dropped.Load()
	if got := l.accepted.Load(); got != sum {
		t.Errorf("accepted %d, but handled %d + failed %d + dead letters %d + dropped %d = %d",
			got, l.handled.Load(), l.failed.Load(), l.lettered.Load(), l.dropped.Load(), sum)
	}
	for _, w := range l.wrong {
		t.Error(w)
	}
	s.registry.each(func(n *node) { t.Errorf("%s is still there", n.path) })
}

// wantGoroutines waits until no more goroutines are there than before: those that
// were the last to finish something may still be returning.
func wantGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); gort.Gosched() {
		if gort.NumGoroutine() <= before {
			return
		}
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("goroutines: got %d, want %d as before\n%s", gort.NumGoroutine(), before, stacks[:gort.Stack(stacks, true)])
}

func TestSpawnsThatRaceWithAShutdownLeaveNothingBehind(t *testing.T) {
	before := gort.NumGoroutine()
	for round := range int64(1000) {
		s := New("race", WithLogger(quiet), WithDrainTimeout(0))
		l := &ledger{last: map[string]int64{}}
		s.Subscribe(l.watch)
		var wg sync.WaitGroup
		begun, some := make(chan struct{}), new(atomic.Int64)
		for g := range 3 {
			wg.Go(func() {
				parent := actor.User
				for i := range 4 {
					name := fmt.Sprintf("%d-%d", g, i)
					if _, err := s.SpawnActor(parent, Spec{Name: name, New: func() (actor.Behaviour, error) { return stressed{l}, nil }}); err != nil {
						return
					}
					parent = parent.Child(name)
					if some.Add(1) == round%8+1 {
						close(begun)
					}
					l.accepted.Add(1)
					_ = s.Lookup(parent).Tell(context.Background(), actor.Message{Body: []any{int64(g), int64(i + 1)}})
				}
			})
		}
		<-begun
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		endAndCheck(t, s, l)
		if t.Failed() {
			return
		}
	}
	wantGoroutines(t, before)
}

func TestOrdersComeBeforeEveryMessageThatWaits(t *testing.T) {
	orders := map[string]func(*Actor){
		"stop":    func(a *Actor) { go a.StopNow(context.Background()) },
		"restart": func(a *Actor) { a.node.signal(signal{kind: sigRestart}) },
		"freeze":  func(a *Actor) { a.node.signal(signal{kind: sigFreeze}) },
		"swap":    func(a *Actor) { go a.Swap(context.Background(), make1(&hooked{}), nil) },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, handled, gate := newSystem(t), 0, make(chan struct{})
				first := true
				a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
					mine := first
					first = false
					return actor.Func(func(actor.Context, actor.Message) error {
						if mine {
							handled++
							<-gate
						}
						return nil
					}), nil
				}})
				for i := range 1000 {
					_ = a.Ref().Tell(t.Context(), num(i))
				}
				synctest.Wait()
				order(a)
				synctest.Wait()
				close(gate)
				synctest.Wait()
				if handled != 1 {
					t.Errorf("messages handled before the order: got %d, want only the one in flight", handled)
				}
			})
		})
	}
}

func TestStoppingCostsTheSameForOneChildAndForMany(t *testing.T) {
	s := New("wide", WithLogger(quiet))
	const kids = 30_000 // looking at all that are left for each that ends takes minutes
	for i := range kids {
		if _, err := Spawn(s, fmt.Sprint(i), &Props[int]{New: func() (Receiver[int], error) { return idle[int]{}, nil }}); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("stopping %d children took %v", kids, took)
	}
}
