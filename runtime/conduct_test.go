package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// script does what the kind of a message says, and records what it handled. A kind
// without a line is only recorded.
type script struct {
	r    *record
	name string
	do   map[string]func(ctx actor.Context, m actor.Message) error
}

func (b script) Receive(ctx actor.Context, m actor.Message) error {
	text := b.name + m.Kind
	if m.Body != nil && m.Kind != actor.KindTerminated && m.Kind != actor.KindFailed {
		text += fmt.Sprint(m.Body)
	}
	b.r.add(text)
	if f := b.do[m.Kind]; f != nil {
		return f(ctx, m)
	}
	return nil
}

type lines = map[string]func(ctx actor.Context, m actor.Message) error

// stage runs one scripted actor in a bubble.
func stage(t *testing.T, settings Settings, do lines, test func(s *System, a *Actor, r *record)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		do["fail"] = func(actor.Context, actor.Message) error { return errors.New("boom") }
		a := spawnSpec(t, s, Spec{Name: "a", Settings: settings, New: func() (actor.Behaviour, error) { return script{r: r, do: do}, nil }})
		test(s, a, r)
	})
}

func tell(a *Actor, kinds ...string) {
	for _, k := range kinds {
		kind, body, numbered := strings.Cut(k, ":")
		m := actor.Message{Kind: kind}
		if numbered {
			m.Body = body
		}
		_ = a.Ref().Tell(context.Background(), m)
	}
}

// deadLetters records reason and kind of every dead letter.
func deadLetters(s *System) *record {
	r := &record{}
	s.Subscribe(func(e actor.Event) {
		switch e := e.(type) {
		case actor.DeadLetter:
			r.add(e.Reason + " " + e.Message.Kind)
		case actor.Dropped:
			r.add(e.Policy + " " + e.Message.Kind)
		}
	})
	return r
}

func TestBecomeChangesWhoHandlesMessagesUntilARestart(t *testing.T) {
	r2 := &record{}
	do := lines{
		"unbecome": func(ctx actor.Context, _ actor.Message) error { ctx.Unbecome(); return nil },
	}
	role := func(r *record, name string) actor.Behaviour { return script{r: r, name: name, do: do} }
	do["one"] = func(ctx actor.Context, _ actor.Message) error { ctx.Become(role(r2, "one/")); return nil }
	do["two"] = func(ctx actor.Context, _ actor.Message) error { ctx.BecomeStacked(role(r2, "two/")); return nil }
	stage(t, DefaultSettings(), do, func(s *System, a *Actor, r *record) {
		steps := []struct {
			name, kinds, first, roles string
		}{
			{"a role handles the next message, not the current one", "one x", "one", "one/x"},
			{"a stacked role goes on top", "two x", "", "one/two two/x"},
			{"become takes the place of the top only", "one x", "", "two/one one/x"},
			{"unbecome goes back by one", "unbecome x", "", "one/unbecome one/x"},
			{"at last to the first behaviour, and there it stays", "unbecome unbecome x", "unbecome x", "one/unbecome"},
			{"a restart goes back to the first behaviour", "two two fail x", "two x", "two/two two/fail"},
		}
		for _, step := range steps {
			r.reset()
			r2.reset()
			tell(a, strings.Fields(step.kinds)...)
			synctest.Wait()
			if got := join(r); got != step.first {
				t.Errorf("%s: the first behaviour got %q, want %q", step.name, got, step.first)
			}
			if got := join(r2); got != step.roles {
				t.Errorf("%s: the roles got %q, want %q", step.name, got, step.roles)
			}
		}
	})
}

func (r *record) reset() { r.mu.Lock(); r.got = nil; r.mu.Unlock() }

func join(r *record) string {
	var out []string
	for _, v := range r.all() {
		out = append(out, fmt.Sprint(v))
	}
	return strings.Join(out, " ")
}

// stashing sets every x aside until it is told to open.
func stashing() lines {
	opened := false
	return lines{
		"x": func(ctx actor.Context, _ actor.Message) error {
			if opened {
				return nil
			}
			return ctx.Stash()
		},
		"open":  func(ctx actor.Context, _ actor.Message) error { opened = true; ctx.Unstash(); return nil },
		"shut":  func(actor.Context, actor.Message) error { opened = false; return nil },
		"twice": func(ctx actor.Context, _ actor.Message) error { return errors.Join(ctx.Stash(), ctx.Stash()) },
	}
}

func TestStash(t *testing.T) {
	small := Settings{StashCapacity: 2, Mailbox: mailbox.Settings{Capacity: 2, Overflow: mailbox.Reject}}
	resume := &supervise.Strategy{OnFailure: supervise.Resume}
	for _, tt := range []struct {
		name     string
		settings Settings
		kinds    string
		handled  string
		lost     string
		stashed  int
	}{
		{name: "what is set aside comes back in order, before what waits",
			kinds: "x:1 x:2 y open z", handled: "x1 x2 y open x1 x2 z"},
		{name: "what is set aside waits until then", kinds: "x:1 y", handled: "x1 y", stashed: 1},
		{name: "a full stash is an error of the handler", settings: Settings{StashCapacity: 2, Supervision: resume},
			kinds: "x:1 x:2 x:3 open", handled: "x1 x2 x3 open x1 x2", lost: "failed: stash at /user/a: 2 messages are set aside: the stash is full x"},
		{name: "a message that fails after stash is not set aside", settings: Settings{Supervision: resume},
			kinds: "twice open", handled: "twice open", lost: "failed: stash at /user/a: this message is set aside already: not supported here twice"},
		{name: "a restart makes dead letters of it", kinds: "x:1 x:2 fail y", handled: "x1 x2 fail y",
			lost: "failed: boom fail, stashed x, stashed x"},
		{name: "unstash goes above the capacity and drops nothing", settings: small, kinds: "x:1 x:2 | open | shut x:3", handled: "x1 x2 open x1 x2 shut x3", stashed: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stage(t, tt.settings, stashing(), func(s *System, a *Actor, r *record) {
				lost := deadLetters(s)
				for part := range strings.SplitSeq(tt.kinds, " | ") {
					tell(a, strings.Fields(part)...)
					synctest.Wait()
				}
				if got := join(r); got != tt.handled {
					t.Errorf("handled: got %q, want %q", got, tt.handled)
				}
				if got := strings.Join(texts(lost), ", "); got != tt.lost {
					t.Errorf("lost: got %q, want %q", got, tt.lost)
				}
				if got := a.Info().Stashed; got != tt.stashed {
					t.Errorf("stashed: got %d, want %d", got, tt.stashed)
				}
			})
		})
	}
}

func texts(r *record) []string {
	return strings.Split(strings.Trim(fmt.Sprintf("%q", r.all()), "[]\""), "\" \"")
}

func TestAStopMakesDeadLettersOfTheStashBeforeTheMailbox(t *testing.T) {
	do := stashing()
	gate := make(chan struct{})
	do["wait"] = func(actor.Context, actor.Message) error { <-gate; return nil }
	synctestGate := func() { gate = make(chan struct{}) }
	stage(t, DefaultSettings(), do, func(s *System, a *Actor, r *record) {
		synctestGate()
		lost := deadLetters(s)
		tell(a, "x", "x", "wait", "y", "z")
		synctest.Wait()
		go a.StopNow(context.Background())
		synctest.Wait()
		close(gate)
		<-a.Done()
		lost.want(t, "stashed x", "stashed x", "stopped y", "stopped z")
		if i := a.Info(); i.Stashed != 0 || i.Handled != 1 || i.DeadLettered != 4 {
			t.Errorf("counters: got %+v, want 1 handled and 4 dead letters", i)
		}
	})
}

func TestAReloadGivesTheStashToTheNextBehaviour(t *testing.T) {
	stage(t, DefaultSettings(), stashing(), func(s *System, a *Actor, r *record) {
		lost := deadLetters(s)
		tell(a, "x:1", "x:2", "y")
		synctest.Wait()
		next := &record{}
		if err := a.Swap(context.Background(), func() (actor.Behaviour, error) { return script{r: next}, nil }, nil); err != nil {
			t.Fatal(err)
		}
		tell(a, "z")
		synctest.Wait()
		next.want(t, "x1", "x2", "z")
		lost.want(t)
	})
}

func TestAStashedMessageKeepsItsDeliveryAndItsAsker(t *testing.T) {
	do := stashing()
	stage(t, DefaultSettings(), do, func(s *System, a *Actor, r *record) {
		settle := func() (*actor.Delivery, *record) {
			end := &record{}
			return actor.NewDelivery(0, func(err error) { end.add(fmt.Sprint(err)) }), end
		}
		d, end := settle()
		_ = a.Ref().Tell(actor.Track(context.Background(), d), actor.Message{Kind: "x"})
		d.Done(nil)
		synctest.Wait()
		end.want(t) // it is still open
		tell(a, "open", "shut")
		synctest.Wait()
		end.want(t, "<nil>")

		d, end = settle()
		_ = a.Ref().Tell(actor.Track(context.Background(), d), actor.Message{Kind: "x"})
		d.Done(nil)
		asked := make(chan error, 1)
		go func() {
			_, err := a.Ref().(actor.Asker).Ask(context.Background(), actor.Message{Kind: "x"})
			asked <- err
		}()
		synctest.Wait()
		tell(a, "fail")
		synctest.Wait()
		end.want(t, "dead letter of /user/a: stashed")
		if err := <-asked; !errors.Is(err, actor.ErrStopped) {
			t.Errorf("the asker: got %v, want ErrStopped", err)
		}
	})
}

func TestADeathNoticeCanBeSetAsideAndSurvivesARestart(t *testing.T) {
	aside := true
	do := lines{}
	do[actor.KindTerminated] = func(ctx actor.Context, _ actor.Message) error {
		if aside {
			return ctx.Stash()
		}
		return nil
	}
	do["watch"] = func(ctx actor.Context, _ actor.Message) error { return ctx.Watch(ctx.Lookup("/user/b")) }
	stage(t, DefaultSettings(), do, func(s *System, a *Actor, r *record) {
		b := spawnFunc(t, s, "b", func(actor.Context, actor.Message) error { return nil })
		tell(a, "watch")
		synctest.Wait()
		_ = b.Stop(context.Background())
		synctest.Wait()
		aside = false
		tell(a, "fail")
		synctest.Wait()
		r.want(t, "watch", "terminated", "fail", "terminated")
	})
}

func TestStashOutsideAHandlerIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		got := make(chan error, 1)
		spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
			return starter(func(ctx actor.Context) error { got <- ctx.Stash(); return nil }), nil
		}})
		if err := <-got; !errors.Is(err, actor.ErrUnsupported) {
			t.Errorf("got %v, want ErrUnsupported", err)
		}
	})
}

func TestReceiveTimeout(t *testing.T) {
	idle := func(d time.Duration) Settings { return Settings{Routine: &Routine{ReceiveTimeout: d}} }
	for _, tt := range []struct {
		name string
		run  func(a *Actor)
		want string
	}{
		{"it comes after silence and again", func(a *Actor) { time.Sleep(25 * time.Second) }, "receive-timeout@10s receive-timeout@20s"},
		{"a message begins the silence anew", func(a *Actor) {
			time.Sleep(7 * time.Second)
			tell(a, "x")
			time.Sleep(11 * time.Second)
		}, "x@7s receive-timeout@17s"},
		{"the silence begins when the work is done", func(a *Actor) {
			tell(a, "slow") // 8s
			time.Sleep(19 * time.Second)
		}, "slow@0s receive-timeout@18s"},
		{"timers do not break the silence", func(a *Actor) {
			tell(a, "tick")
			time.Sleep(11 * time.Second)
		}, "tick@0s t@6s receive-timeout@10s"},
		{"a restart begins anew with what the settings say", func(a *Actor) {
			tell(a, "long") // sets 1h
			time.Sleep(15 * time.Second)
			tell(a, "fail")
			time.Sleep(11 * time.Second)
		}, "long@0s fail@15s receive-timeout@25s"},
		{"the behaviour can end it", func(a *Actor) {
			tell(a, "never")
			time.Sleep(time.Hour)
		}, "never@0s"},
		{"a change of the settings is taken at once", func(a *Actor) {
			time.Sleep(5 * time.Second)
			_ = a.Update(idle(3*time.Second), nil)
			time.Sleep(7 * time.Second)
			_ = a.Update(Settings{}, nil)
			time.Sleep(time.Hour)
		}, "receive-timeout@8s receive-timeout@11s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			do := lines{
				"slow": func(actor.Context, actor.Message) error { time.Sleep(8 * time.Second); return nil },
				"tick": func(ctx actor.Context, _ actor.Message) error {
					ctx.After(6*time.Second, actor.Message{Kind: "t"})
					return nil
				},
				"long":  func(ctx actor.Context, _ actor.Message) error { return ctx.SetReceiveTimeout(time.Hour) },
				"never": func(ctx actor.Context, _ actor.Message) error { return ctx.SetReceiveTimeout(0) },
				"fail":  func(actor.Context, actor.Message) error { return errors.New("boom") },
			}
			synctest.Test(t, func(t *testing.T) {
				s, r, t0 := newSystem(t), &record{}, time.Now()
				a := spawnSpec(t, s, Spec{Name: "a", Settings: idle(10 * time.Second), New: func() (actor.Behaviour, error) {
					return actor.Func(func(ctx actor.Context, m actor.Message) error {
						r.add(fmt.Sprintf("%s@%v", m.Kind, time.Since(t0)))
						if f := do[m.Kind]; f != nil {
							return f(ctx, m)
						}
						return nil
					}), nil
				}})
				synctest.Wait()
				tt.run(a)
				synctest.Wait()
				if got := join(r); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestAReceiveTimeoutCanStopTheActor(t *testing.T) {
	stage(t, Settings{Routine: &Routine{ReceiveTimeout: 10 * time.Second, StopWhenIdle: true}}, lines{}, func(s *System, a *Actor, r *record) {
		t0 := time.Now()
		time.Sleep(4 * time.Second)
		tell(a, "x")
		<-a.Done()
		if got := time.Since(t0); got != 14*time.Second {
			t.Errorf("it ended after %v, want 14s", got)
		}
		r.want(t, "x")
	})
}

func TestAReceiveTimeoutNeverComesWhileSomethingWaitsForTheThrottle(t *testing.T) {
	settings := Settings{Routine: &Routine{ReceiveTimeout: 3 * time.Second, Throttle: actor.Throttle{Rate: 0.1, Burst: 1}}}
	stage(t, settings, lines{}, func(s *System, a *Actor, r *record) {
		synctest.Wait()
		tell(a, "x", "y") // y waits for 10s
		time.Sleep(12 * time.Second)
		synctest.Wait()
		r.want(t, "x", "y")
		time.Sleep(time.Second)
		synctest.Wait()
		r.want(t, "x", "y", "receive-timeout")
	})
}

func TestThrottlePausesWithoutTurnsAndInOrder(t *testing.T) {
	settings := Settings{Routine: &Routine{Throttle: actor.Throttle{Rate: 10, Burst: 3}}}
	stage(t, settings, lines{}, func(s *System, a *Actor, r *record) {
		t0 := time.Now()
		for i := range 13 {
			tell(a, fmt.Sprintf("n:%d", i))
		}
		synctest.Wait()
		r.want(t, "n0", "n1", "n2")
		wakes, _ := a.node.activity()
		for i := range 100 {
			tell(a, fmt.Sprintf("m:%d", i))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := len(r.all()), 13; got != want {
			t.Errorf("after %v: %d messages, want %d", time.Since(t0), got, want)
		}
		if !slices.Equal(r.all()[10:], []any{"n10", "n11", "n12"}) {
			t.Errorf("the order: got %v", r.all())
		}
		after, busy := a.node.activity()
		if turns := after - wakes; turns > 11 || busy {
			t.Errorf("10 messages took %d wake-ups (busy %v), want one each and a quiet actor", turns, busy)
		}
	})
}

func TestWhatIsNoMailPassesAThrottle(t *testing.T) {
	do := lines{
		"watch": func(ctx actor.Context, _ actor.Message) error { return ctx.Watch(ctx.Lookup("/user/b")) },
		"work": func(ctx actor.Context, _ actor.Message) error {
			ctx.Go(func(context.Context) (actor.Message, error) { return actor.Message{Kind: "done"}, nil })
			return nil
		},
	}
	settings := Settings{Routine: &Routine{Throttle: actor.Throttle{Rate: 1, Burst: 2, Drop: true}}}
	stage(t, settings, do, func(s *System, a *Actor, r *record) {
		lost := deadLetters(s)
		b := spawnFunc(t, s, "b", func(actor.Context, actor.Message) error { return nil })
		tell(a, "watch", "work", "x", "y")
		synctest.Wait()
		_ = b.Stop(context.Background())
		synctest.Wait()
		lost.want(t, "throttle x", "throttle y")
		r.want(t, "watch", "work", "done", "terminated")
		if got := a.Info().Dropped; got != 2 {
			t.Errorf("dropped: got %d, want 2", got)
		}
	})
}

func TestNothingWaitsForAThrottle(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(s *System, a *Actor) error
	}{
		{"a stop", func(_ *System, a *Actor) error { return a.Stop(context.Background()) }},
		{"a shutdown", func(s *System, _ *Actor) error { return s.Shutdown(context.Background()) }},
		{"a kill", func(_ *System, a *Actor) error {
			a.Kill()
			synctest.Wait()
			if got := a.Info().Restarts; got != 1 {
				return fmt.Errorf("%d restarts, want 1", got)
			}
			return a.StopNow(context.Background())
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			settings := Settings{Routine: &Routine{Throttle: actor.Throttle{Rate: 0.001, Burst: 1}}}
			stage(t, settings, lines{}, func(s *System, a *Actor, r *record) {
				lost := deadLetters(s)
				tell(a, "x", "y", "z")
				synctest.Wait()
				t0 := time.Now()
				if err := tt.end(s, a); err != nil || time.Since(t0) > 10*time.Millisecond {
					t.Errorf("it took %v and returned %v, want no time and no error", time.Since(t0), err)
				}
				r.want(t, "x")
				lost.want(t, "stopped y", "stopped z")
			})
		})
	}
}

func TestAThrottleThatRunsOutWhileTheActorDrainsEndsIt(t *testing.T) {
	do, gate := lines{}, (chan struct{})(nil)
	do["wait"] = func(actor.Context, actor.Message) error { <-gate; return nil }
	stage(t, Settings{Routine: &Routine{Throttle: actor.Throttle{Rate: 0.001, Burst: 2}}}, do, func(s *System, a *Actor, r *record) {
		gate = make(chan struct{})
		tell(a, "wait", "x", "y")
		synctest.Wait()
		t0 := time.Now()
		go a.Stop(context.Background())
		synctest.Wait()
		close(gate)
		<-a.Done()
		if d := time.Since(t0); d > 0 {
			t.Errorf("the stop took %v, want no time", d)
		}
		r.want(t, "wait", "x")
	})
}

func TestAThrottleChangesWhileItPauses(t *testing.T) {
	with := func(rate float64) Settings {
		return Settings{Routine: &Routine{Throttle: actor.Throttle{Rate: rate, Burst: 1}}}
	}
	stage(t, with(0.001), lines{}, func(s *System, a *Actor, r *record) {
		tell(a, "a", "b", "c", "d")
		synctest.Wait()
		r.want(t, "a")
		_ = a.Update(with(1), nil)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		r.want(t, "a", "b")
		_ = a.Update(Settings{}, nil)
		synctest.Wait()
		r.want(t, "a", "b", "c", "d")
	})
}
