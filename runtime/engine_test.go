package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	gort "runtime"
	"slices"
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

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// newSystem starts a system that the test ends.
func newSystem(t testing.TB, o ...Option) *System {
	t.Helper()
	s := New("test", append([]Option{WithLogger(quiet)}, o...)...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func spawnFunc(t testing.TB, s *System, name string, f actor.Func) *Actor {
	t.Helper()
	return spawnSpec(t, s, Spec{Name: name, New: func() (actor.Behaviour, error) { return f, nil }})
}

func spawnSpec(t testing.TB, s *System, spec Spec) *Actor {
	t.Helper()
	a, err := s.SpawnActor(actor.User, spec)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func num(i int) actor.Message { return actor.Message{Kind: "n", Body: int64(i)} }

// record collects what an actor saw.
type record struct {
	mu  sync.Mutex
	got []any
}

func (r *record) add(v any) { r.mu.Lock(); r.got = append(r.got, v); r.mu.Unlock() }
func (r *record) all() []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *record) want(t *testing.T, want ...any) {
	t.Helper()
	if got := r.all(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMessagesAreHandledInTheOrderOneSenderToldThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		a := spawnFunc(t, s, "a", func(_ actor.Context, m actor.Message) error { r.add(m.Body); return nil })
		var want []any
		for i := range 1000 {
			_ = a.Ref().Tell(t.Context(), num(i))
			want = append(want, int64(i))
		}
		synctest.Wait()
		r.want(t, want...)
	})
}

func TestAFailureSkipsOnlyTheMessageAndKeepsTheMailbox(t *testing.T) {
	for _, how := range []string{"error", "panic", "goexit"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				made := 0
				a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
					made++
					return actor.Func(func(_ actor.Context, m actor.Message) error {
						if m.Body == int64(2) {
							switch how {
							case "panic":
								panic("boom")
							case "goexit":
								gort.Goexit()
							}
							return errors.New("boom")
						}
						r.add(m.Body)
						return nil
					}), nil
				}})
				for i := range 5 {
					_ = a.Ref().Tell(t.Context(), num(i))
				}
				synctest.Wait()
				r.want(t, int64(0), int64(1), int64(3), int64(4))
				if made != 2 {
					t.Errorf("instances made: got %d, want 2", made)
				}
				if i := a.Info(); i.Restarts != 1 || i.Failed != 1 || i.Handled != 4 {
					t.Errorf("got %+v, want 1 restart, 1 failed, 4 handled", i)
				}
			})
		})
	}
}

func TestDirectives(t *testing.T) {
	tests := []struct {
		name     string
		strategy supervise.Strategy
		handled  []any
		state    string
	}{
		{"resume keeps the instance", supervise.Strategy{OnFailure: supervise.Resume}, []any{int64(1), int64(2), int64(3)}, "running"},
		{"restart makes a new one", supervise.Strategy{MaxRestarts: 5}, []any{int64(1), int64(1), int64(2)}, "running"},
		{"stop ends it", supervise.Strategy{OnFailure: supervise.Stop}, []any{int64(1)}, "terminated"},
		{"an exhausted budget ends it", supervise.Strategy{MaxRestarts: 0, OnExhausted: supervise.Stop}, []any{int64(1)}, "terminated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Supervision: &tt.strategy}, New: func() (actor.Behaviour, error) {
					n := int64(0)
					return actor.Func(func(_ actor.Context, m actor.Message) error {
						if m.Kind == "fail" {
							return errors.New("boom")
						}
						n++
						r.add(n)
						return nil
					}), nil
				}})
				for _, kind := range []string{"ok", "fail", "ok", "ok"} {
					_ = a.Ref().Tell(t.Context(), actor.Message{Kind: kind})
				}
				synctest.Wait()
				r.want(t, tt.handled...)
				if got := a.Info().State; got != tt.state {
					t.Errorf("state: got %s, want %s", got, tt.state)
				}
			})
		})
	}
}

func TestRestartWaitsForTheBackoffAndStopWinsOverIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		strategy := supervise.Strategy{MaxRestarts: supervise.Unlimited, Backoff: supervise.Backoff{Min: time.Second, Factor: 2}}
		var starts []time.Duration
		t0 := time.Now()
		a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Supervision: &strategy}, New: func() (actor.Behaviour, error) {
			starts = append(starts, time.Since(t0))
			return actor.Func(func(actor.Context, actor.Message) error { return errors.New("boom") }), nil
		}})
		for range 3 {
			_ = a.Ref().Tell(t.Context(), num(0))
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}
		if !slices.Equal(starts, want) {
			t.Errorf("starts at %v, want %v", starts, want)
		}
		_ = a.Ref().Tell(t.Context(), num(0))
		synctest.Wait()
		t1 := time.Now()
		if err := a.Stop(t.Context()); err != nil || time.Since(t1) != 0 {
			t.Errorf("stop during back-off: got %v after %v, want nil at once", err, time.Since(t1))
		}
	})
}

func TestEscalationFailsTheParent(t *testing.T) {
	tests := []struct {
		name   string
		parent supervise.Strategy
		child  string // its state afterwards
		made   int    // parents made
	}{
		{"the child survives when the grandparent resumes the parent", supervise.Strategy{OnFailure: supervise.Resume}, "running", 1},
		{"the child is gone when the grandparent restarts the parent", supervise.Strategy{MaxRestarts: 5}, "terminated", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, made := newSystem(t), 0
				var child *Actor
				escalate := supervise.Strategy{OnFailure: supervise.Escalate}
				spawnSpec(t, s, Spec{Name: "p", Settings: Settings{Supervision: &tt.parent, ChildSupervision: &escalate},
					New: func() (actor.Behaviour, error) {
						made++
						first := made == 1
						return starter(func(ctx actor.Context) error {
							if first {
								_, err := ctx.Spawn("c", func() (actor.Behaviour, error) {
									return actor.Func(func(actor.Context, actor.Message) error { return errors.New("boom") }), nil
								})
								return err
							}
							return nil
						}), nil
					}})
				synctest.Wait()
				child, _ = s.Find("/user/p/c")
				_ = child.Ref().Tell(t.Context(), num(0))
				synctest.Wait()
				if got := child.Info().State; got != tt.child {
					t.Errorf("child: got %s, want %s", got, tt.child)
				}
				if made != tt.made {
					t.Errorf("parents made: got %d, want %d", made, tt.made)
				}
			})
		})
	}
}

// starter is a behaviour that only has a Start.
type starter func(actor.Context) error

func (f starter) Start(ctx actor.Context) error              { return f(ctx) }
func (f starter) Receive(actor.Context, actor.Message) error { return nil }

func TestAnEscalationPastTheTopIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		escalate := supervise.Strategy{OnFailure: supervise.Escalate}
		a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Supervision: &escalate}, New: func() (actor.Behaviour, error) {
			return actor.Func(func(actor.Context, actor.Message) error { return errors.New("boom") }), nil
		}})
		_ = a.Ref().Tell(t.Context(), num(0))
		if err := <-s.Failed(); err == nil || err.Error() != "/user/a failed: boom" {
			t.Errorf("got %v, want /user/a failed: boom", err)
		}
	})
}

func TestStopDrainsAndThenRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		letters := &record{}
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok {
				letters.add(d.Message.Body)
			}
		})
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			time.Sleep(time.Millisecond)
			r.add(m.Body)
			return nil
		})
		ref := a.Ref()
		for i := range 3 {
			_ = ref.Tell(t.Context(), num(i))
		}
		stopped := make(chan error)
		go func() { stopped <- a.Stop(t.Context()) }()
		synctest.Wait()
		if err := ref.Tell(t.Context(), num(3)); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("tell to a draining actor: got %v, want ErrStopped", err)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		r.want(t, int64(0), int64(1), int64(2))
		letters.want(t, int64(3))
	})
}

func TestWatchTellsOnceByIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		target := spawnFunc(t, s, "target", func(actor.Context, actor.Message) error { return nil })
		spawnFunc(t, s, "w", func(ctx actor.Context, m actor.Message) error {
			if m.Kind == actor.KindTerminated {
				r.add(m.Body.(map[string]any)["path"])
				return nil
			}
			return ctx.Watch(ctx.Lookup("/user/target"))
		})
		w := s.Lookup("/user/w")
		_ = w.Tell(t.Context(), num(0))
		synctest.Wait()
		_ = target.Stop(t.Context())
		again := spawnFunc(t, s, "target", func(actor.Context, actor.Message) error { return nil })
		_ = again.Stop(t.Context())
		synctest.Wait()
		r.want(t, "/user/target")
		_ = w.Tell(t.Context(), num(0)) // nobody lives there: told at once
		synctest.Wait()
		r.want(t, "/user/target", "/user/target")
	})
}

func TestTimersFireInTimeAndEndWithTheIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		t0 := time.Now()
		a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
			return &timed{r: r, t0: t0}, nil
		}})
		time.Sleep(35 * time.Millisecond)
		synctest.Wait()
		r.want(t, "once@5ms", "tick@10ms", "tick@20ms", "tick@30ms")
		_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "fail"})
		synctest.Wait()
		time.Sleep(12 * time.Millisecond)
		synctest.Wait()
		if got := r.all()[4:]; !slices.Equal(got, []any{"once@40ms", "tick@45ms"}) {
			t.Errorf("after the restart: got %v, want a fresh set of timers", got)
		}
	})
}

type timed struct {
	r  *record
	t0 time.Time
}

func (b *timed) Start(ctx actor.Context) error {
	ctx.Every(10*time.Millisecond, actor.Message{Kind: "tick"})
	ctx.After(5*time.Millisecond, actor.Message{Kind: "once"})
	never := ctx.After(time.Millisecond, actor.Message{Kind: "never"})
	if !never() || never() {
		return errors.New("cancel must report true once")
	}
	return nil
}

func (b *timed) Receive(_ actor.Context, m actor.Message) error {
	if m.Kind == "fail" {
		return errors.New("boom")
	}
	b.r.add(fmt.Sprintf("%s@%v", m.Kind, time.Since(b.t0)))
	return nil
}

func TestOverflowPolicies(t *testing.T) {
	rank := func(m actor.Message, _ actor.Ref) float64 { return float64(m.Body.(int64)) }
	tests := []struct {
		name    string
		box     mailbox.Settings
		ranker  Ranker
		send    []int
		handled []any
		refused int
		dropped uint64
	}{
		{"drop-head keeps the newest", mailbox.Settings{Capacity: 2, Overflow: mailbox.DropHead}, nil, []int{1, 2, 3, 4}, []any{int64(3), int64(4)}, 0, 2},
		{"drop-new keeps the oldest", mailbox.Settings{Capacity: 2, Overflow: mailbox.DropNew}, nil, []int{1, 2, 3, 4}, []any{int64(1), int64(2)}, 0, 2},
		{"reject tells the sender", mailbox.Settings{Capacity: 2, Overflow: mailbox.Reject}, nil, []int{1, 2, 3, 4}, []any{int64(1), int64(2)}, 2, 0},
		{"block gives up after its timeout", mailbox.Settings{Capacity: 2, Overflow: mailbox.Block, BlockTimeout: time.Second}, nil, []int{1, 2, 3, 4}, []any{int64(1), int64(2)}, 2, 0},
		{"priority serves the lowest first", mailbox.Settings{}, rank, []int{3, 1, 2}, []any{int64(1), int64(2), int64(3)}, 0, 0},
		{"drop-lowest keeps the most urgent", mailbox.Settings{Capacity: 2, Overflow: mailbox.DropLowest}, rank, []int{3, 1, 2, 9}, []any{int64(1), int64(2)}, 0, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				gate := make(chan struct{})
				a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Mailbox: tt.box}, Priority: tt.ranker, New: func() (actor.Behaviour, error) {
					return actor.Func(func(_ actor.Context, m actor.Message) error {
						if m.Kind == "gate" {
							<-gate
							return nil
						}
						r.add(m.Body)
						return nil
					}), nil
				}})
				_ = a.Ref().Tell(t.Context(), actor.Message{Kind: "gate", Body: int64(0)})
				synctest.Wait()
				refused := 0
				for _, n := range tt.send {
					if err := a.Ref().Tell(t.Context(), num(n)); err != nil {
						refused++
					}
				}
				close(gate)
				synctest.Wait()
				r.want(t, tt.handled...)
				if refused != tt.refused || a.Info().Dropped != tt.dropped {
					t.Errorf("refused %d, dropped %d; want %d, %d", refused, a.Info().Dropped, tt.refused, tt.dropped)
				}
			})
		})
	}
}

func TestAskIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			switch m.Kind {
			case "echo":
				return ctx.Reply(actor.Message{Kind: "reply", Body: m.Body})
			case "fail":
				return errors.New("boom")
			}
			return nil
		})
		ask := func(kind string) (actor.Message, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return a.Ref().(actor.Asker).Ask(ctx, actor.Message{Kind: kind, Body: "x"})
		}
		if m, err := ask("echo"); err != nil || m.Body != "x" {
			t.Errorf("got %v, %v; want the echo", m, err)
		}
		if _, err := ask("fail"); !errors.Is(err, actor.ErrActorFailed) {
			t.Errorf("got %v, want ErrActorFailed", err)
		}
		if _, err := ask("silence"); !errors.Is(err, actor.ErrAskTimeout) {
			t.Errorf("got %v, want ErrAskTimeout", err)
		}
		go func() { time.Sleep(time.Millisecond); _ = a.StopNow(context.Background()) }()
		if _, err := ask("silence"); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
		if _, err := ask("echo"); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
	})
}

func TestShutdownDrainsChainsAndEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet))
		var got atomic.Int64
		for i := range 5 {
			next := actor.User.Child(fmt.Sprintf("a%d", i+1))
			last := i == 4
			spawnFunc(t, s, fmt.Sprintf("a%d", i), func(ctx actor.Context, m actor.Message) error {
				if last {
					got.Add(1)
					return nil
				}
				return ctx.Tell(ctx.Lookup(next), m)
			})
		}
		for i := range 100 {
			_ = s.Lookup("/user/a0").Tell(t.Context(), num(i))
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got.Load() != 100 {
			t.Errorf("delivered %d, want 100", got.Load())
		}
		if _, err := s.SpawnActor(actor.User, Spec{Name: "late"}); err == nil {
			t.Error("spawn after shutdown: got no error")
		}
		if err := s.Lookup("/user/a0").Tell(t.Context(), num(0)); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("tell after shutdown: got %v, want ErrStopped", err)
		}
	})
}

// accounted is a behaviour that counts and sometimes fails.
type accounted struct{ handled *atomic.Int64 }

func (b accounted) Receive(ctx actor.Context, m actor.Message) error {
	if m.Body.(int64)%97 == 0 {
		return errors.New("boom")
	}
	b.handled.Add(1)
	return nil
}

func TestEveryAcceptedMessageIsAccountedFor(t *testing.T) {
	for _, box := range []mailbox.Settings{{}, {Capacity: 64, Overflow: mailbox.DropHead}, {Capacity: 64, Overflow: mailbox.Reject}} {
		t.Run(fmt.Sprintf("capacity %d %s", box.Capacity, box.Overflow), func(t *testing.T) {
			s := New("test", WithLogger(quiet))
			var handled, lettered, dropped, accepted atomic.Int64
			s.Subscribe(func(e actor.Event) {
				switch e := e.(type) {
				case actor.DeadLetter:
					if !strings.HasPrefix(e.Reason, actor.ReasonFailed) { // counted as failed
						lettered.Add(1)
					}
				case actor.Dropped:
					dropped.Add(1)
				}
			})
			unlimited := supervise.Strategy{MaxRestarts: supervise.Unlimited}
			spec := Spec{Name: "a", Settings: Settings{Mailbox: box, Supervision: &unlimited}, New: func() (actor.Behaviour, error) {
				return accounted{&handled}, nil
			}}
			a := spawnSpec(t, s, spec)
			var failed atomic.Int64
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					ref := s.Lookup("/user/a")
					for i := range 5000 {
						err := ref.Tell(context.Background(), num(g*5000+i))
						if err == nil || errors.Is(err, actor.ErrStopped) {
							accepted.Add(1) // a refusal for a stopped actor is a dead letter
						}
					}
				})
			}
			for range 5 { // stop and start it again, meanwhile
				gort.Gosched()
				_ = a.StopNow(t.Context())
				failed.Add(int64(a.Info().Failed))
				a = spawnSpec(t, s, spec)
			}
			wg.Wait()
			if err := s.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			failed.Add(int64(a.Info().Failed))
			sum := handled.Load() + failed.Load() + lettered.Load() + dropped.Load()
			if sum != accepted.Load() {
				t.Errorf("accepted %d, but handled %d + failed %d + dead letters %d + dropped %d = %d",
					accepted.Load(), handled.Load(), failed.Load(), lettered.Load(), dropped.Load(), sum)
			}
		})
	}
}

func TestWhatBecomesOfEventMessagesMakesNoEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, kinds := newSystem(t), &record{}
		s.Subscribe(func(e actor.Event) {
			kinds.add(e.Kind())
			if e.Kind() == "dead-letter" || e.Kind() == "message-dropped" {
				s.TellEvent("/user/a", e)
			}
		})
		one := Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.DropNew}}
		resume := supervise.Strategy{OnFailure: supervise.Resume}
		one.Supervision = &resume
		spawnSpec(t, s, Spec{Name: "a", Settings: one, New: func() (actor.Behaviour, error) {
			return actor.Func(func(ctx actor.Context, m actor.Message) error {
				_ = ctx.Tell(ctx.Lookup("/user/nobody"), m)
				return errors.New("boom")
			}), nil
		}})
		synctest.Wait()
		for range 3 {
			_ = s.Lookup("/user/nobody").Tell(t.Context(), num(0))
		}
		synctest.Wait()
		want := 0
		for _, k := range kinds.all() {
			if k == "dead-letter" || k == "message-dropped" {
				want++
			}
		}
		if want != 3 {
			t.Errorf("got %d dead letters and drops in %v, want the 3 of the test alone", want, kinds.all())
		}
	})
}
