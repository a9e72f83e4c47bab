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

// clocked runs one actor that records the kind and the fake time of each message.
func clocked(t *testing.T, settings Settings, do lines, test func(s *System, a *Actor, r *record)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, r, t0 := newSystem(t), &record{}, time.Now()
		do["fail"] = func(actor.Context, actor.Message) error { return errors.New("boom") }
		a := spawnSpec(t, s, Spec{Name: "a", Settings: settings, New: func() (actor.Behaviour, error) {
			return actor.Func(func(ctx actor.Context, m actor.Message) error {
				r.add(fmt.Sprintf("%s@%v", m.Kind, time.Since(t0)))
				if f := do[m.Kind]; f != nil {
					return f(ctx, m)
				}
				return nil
			}), nil
		}})
		synctest.Wait()
		test(s, a, r)
	})
}

func kind(k string) actor.Message { return actor.Message{Kind: k} }

// set makes a line that sets a keyed timer.
func set(key string, when actor.Schedule, m string) func(actor.Context, actor.Message) error {
	return func(ctx actor.Context, _ actor.Message) error { return ctx.Timer(key, when, kind(m)) }
}

func after(d time.Duration) { time.Sleep(d); synctest.Wait() }

func TestKeyedTimers(t *testing.T) {
	minutes := func(now time.Time) time.Time { return now.Truncate(time.Minute).Add(time.Minute) }
	for _, tt := range []struct {
		name string
		do   lines
		run  func(a *Actor)
		want string
	}{
		{"a timer of the same key is replaced", lines{
			"one": set("k", actor.Schedule{After: 5 * time.Second}, "t1"),
			"two": set("k", actor.Schedule{After: 9 * time.Second}, "t2"),
		}, func(a *Actor) { tell(a, "one", "two"); after(time.Minute) }, "one@0s two@0s t2@9s"},
		{"a cancelled timer does not come, not even one that is queued", lines{
			"set": set("k", actor.Schedule{After: time.Second}, "t"),
			"block": func(ctx actor.Context, _ actor.Message) error {
				time.Sleep(2 * time.Second)
				if !ctx.CancelTimer("k") || ctx.CancelTimer("k") {
					return errors.New("it must report true once")
				}
				return nil
			},
		}, func(a *Actor) { tell(a, "set", "block"); after(time.Minute) }, "set@0s block@0s"},
		{"cancelling after it came reports false", lines{
			"set":    set("k", actor.Schedule{}, "t"),
			"cancel": func(ctx actor.Context, _ actor.Message) error { return fmt.Errorf("%v", ctx.CancelTimer("k")) },
		}, func(a *Actor) {
			tell(a, "set")
			after(time.Second)
			tell(a, "cancel")
			synctest.Wait()
			if got := a.Info().LastError; got != "false" {
				a.Ref().Tell(context.Background(), kind("LastError="+got))
			}
		}, "set@0s t@0s cancel@1s"},
		{"a fixed rate keeps its phase over a slow handler", lines{
			"set": set("k", actor.Schedule{Every: 10 * time.Second}, "t"),
			"t":   func(actor.Context, actor.Message) error { time.Sleep(3 * time.Second); return nil },
		}, func(a *Actor) { tell(a, "set"); after(31 * time.Second) }, "set@0s t@10s t@20s t@30s"},
		{"the first time may be another", lines{
			"set": set("k", actor.Schedule{After: time.Second, Every: 10 * time.Second, Delay: true}, "t"),
		}, func(a *Actor) { tell(a, "set"); after(22 * time.Second) }, "set@0s t@1s t@11s t@21s"},
		{"a plan is followed on the clock on the wall", lines{
			"set": set("k", actor.Schedule{Next: minutes}, "t"),
		}, func(a *Actor) { after(30 * time.Second); tell(a, "set"); after(2 * time.Minute) }, "set@30s t@1m0s t@2m0s"},
		{"a plan may be far away", lines{
			"set": set("k", actor.Schedule{Next: func(now time.Time) time.Time { return now.Truncate(24 * time.Hour).Add(30 * time.Hour) }}, "t"),
		}, func(a *Actor) { tell(a, "set"); after(70 * time.Hour) }, "set@0s t@30h0m0s t@54h0m0s"},
		{"a plan that panics is asked again", lines{
			"set": set("k", actor.Schedule{Next: panicsOnce(minutes)}, "t"),
		}, func(a *Actor) { tell(a, "set"); after(150 * time.Second) }, "set@0s t@2m0s"},
		{"a restart ends them", lines{
			"set": set("k", actor.Schedule{Every: time.Second}, "t"),
		}, func(a *Actor) { tell(a, "set"); after(time.Second); tell(a, "fail"); after(time.Minute) }, "set@0s t@1s fail@1s"},
		{"every must be possible", lines{
			"set": set("k", actor.Schedule{Every: -time.Second}, "t"),
		}, func(a *Actor) {
			tell(a, "set")
			after(time.Minute)
			tell(a, a.Info().LastError)
		}, `set@0s timer "k" of /user/a@1m0s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clocked(t, Settings{}, tt.do, func(s *System, a *Actor, r *record) {
				tt.run(a)
				synctest.Wait()
				if got := join(r); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func panicsOnce(next func(time.Time) time.Time) func(time.Time) time.Time {
	asked := false
	return func(now time.Time) time.Time {
		if !asked {
			asked = true
			panic("boom")
		}
		return next(now)
	}
}

func TestARepeatedTimerWithoutATimeIsNotSet(t *testing.T) {
	do := lines{"set": func(ctx actor.Context, _ actor.Message) error {
		if ctx.Every(0, kind("t"))() || ctx.Every(-time.Second, kind("t"))() {
			return errors.New("there is nothing to cancel")
		}
		return nil
	}}
	clocked(t, Settings{}, do, func(s *System, a *Actor, r *record) {
		tell(a, "set")
		after(time.Hour)
		if got := join(r); got != "set@0s" {
			t.Errorf("got %q, want set alone", got)
		}
	})
}

func TestFiredTimersLeaveNothingBehind(t *testing.T) {
	do := lines{}
	do["set"] = func(ctx actor.Context, _ actor.Message) error {
		for i := range 1000 {
			_ = ctx.Timer(fmt.Sprint(i), actor.Schedule{}, kind("t"))
		}
		return nil
	}
	left := make(chan string, 1)
	do["look"] = func(ctx actor.Context, _ actor.Message) error {
		x := ctx.(*messageContext).cell.x
		left <- fmt.Sprintf("%d by key, %d in all", len(x.keyed), len(x.timers))
		return nil
	}
	clocked(t, Settings{}, do, func(s *System, a *Actor, r *record) {
		left = make(chan string, 1)
		tell(a, "set")
		synctest.Wait()
		tell(a, "look")
		if got, want := <-left, "0 by key, 0 in all"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// ticking are settings with timers that fire every so often, by kind.
func ticking(every map[string]time.Duration) Settings {
	r := &Routine{Timers: map[string]Timer{}}
	for k, d := range every {
		r.Timers[k] = Timer{When: actor.Schedule{Every: d}, Message: kind(k), Mark: d.String()}
	}
	return Settings{Routine: r}
}

func TestTimersOfTheSettings(t *testing.T) {
	every := func(list ...any) Settings {
		m := map[string]time.Duration{}
		for i := 0; i < len(list); i += 2 {
			m[list[i].(string)] = list[i+1].(time.Duration)
		}
		return ticking(m)
	}
	for _, tt := range []struct {
		name string
		run  func(a *Actor, r *record) error
		want string
	}{
		{"a change replaces by key, and what stays keeps its phase", func(a *Actor, _ *record) error {
			after(5 * time.Second)
			err := a.Update(every("t", 10*time.Second, "u", 4*time.Second), nil)
			after(6 * time.Second)
			return err
		}, "u@9s t@10s"},
		{"what is gone ends", func(a *Actor, _ *record) error {
			after(10 * time.Second)
			err := a.Update(Settings{}, nil)
			after(time.Hour)
			return err
		}, "t@10s"},
		{"what is changed begins anew", func(a *Actor, _ *record) error {
			after(9 * time.Second)
			err := a.Update(every("t", 3*time.Second), nil)
			after(4 * time.Second)
			return err
		}, "t@12s"},
		{"a reload of the behaviour does not disturb them", func(a *Actor, r *record) error {
			after(9 * time.Second)
			err := a.Swap(context.Background(), func() (actor.Behaviour, error) { return script{r: r, name: "new/"}, nil }, nil)
			after(time.Second)
			return err
		}, "new/t"},
		{"a restart begins them anew", func(a *Actor, _ *record) error {
			after(9 * time.Second)
			tell(a, "fail")
			after(11 * time.Second)
			return nil
		}, "fail@9s t@19s"},
		{"a stop ends them", func(a *Actor, _ *record) error {
			err := a.Stop(context.Background())
			after(time.Hour)
			return err
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clocked(t, every("t", 10*time.Second), lines{}, func(s *System, a *Actor, r *record) {
				if err := tt.run(a, r); err != nil {
					t.Error(err)
				}
				if got := join(r); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestAFullMailboxDropsATickAndCountsIt(t *testing.T) {
	settings := ticking(map[string]time.Duration{"t": time.Second})
	settings.Mailbox = mailbox.Settings{Capacity: 1, Overflow: mailbox.Reject}
	do := lines{"block": func(actor.Context, actor.Message) error { time.Sleep(4500 * time.Millisecond); return nil }}
	clocked(t, settings, do, func(s *System, a *Actor, r *record) {
		tell(a, "block")
		after(4900 * time.Millisecond)
		if got, want := join(r), "block@0s t@4.5s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := a.Info().Dropped; got != 3 {
			t.Errorf("dropped: got %d, want 3", got)
		}
	})
}

func TestARoutineThatIsWrongIsRefused(t *testing.T) {
	s := newSystem(t)
	bad := Settings{Routine: &Routine{
		ReceiveTimeout: -1, Throttle: actor.Throttle{Rate: -1},
		Timers: map[string]Timer{"x": {When: actor.Schedule{Every: -1}}},
	}}
	spec := Spec{Name: "a", Settings: bad, New: func() (actor.Behaviour, error) { return script{r: &record{}}, nil }}
	_, err := s.SpawnActor(actor.User, spec)
	for _, want := range []string{"receive timeout", "throttle", `timer "x"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("spawn: got %v, want an error with %s", err, want)
		}
	}
	spec.Settings = Settings{}
	a := spawnSpec(t, s, spec)
	if err := a.Update(bad, nil); err == nil {
		t.Error("update: got no error, want one")
	}
}

func TestTheRouteesOfAPoolHaveItsRoutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		spawnSpec(t, s, Spec{
			Name: "a", Settings: ticking(map[string]time.Duration{"t": time.Second}), Pool: &Pool[actor.Message]{Size: 3},
			New: func() (actor.Behaviour, error) { return script{r: r}, nil },
		})
		after(1500 * time.Millisecond)
		r.want(t, "t", "t", "t")
	})
}

func TestGo(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(context.Context) (actor.Message, error)
		want string
	}{
		{"a result is told", func(context.Context) (actor.Message, error) { return kind("done"), nil }, "done: <nil>"},
		{"an error is told", func(context.Context) (actor.Message, error) { return kind("done"), errors.New("boom") },
			"failed: map[error:boom panic:false]"},
		{"a panic is told", func(context.Context) (actor.Message, error) { panic("boom") }, "failed: map[error:panic: boom panic:true]"},
		{"the end of the goroutine is told", func(context.Context) (actor.Message, error) { gort.Goexit(); return kind("done"), nil },
			"failed: map[error:" + ErrGoexit.Error() + " panic:false]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				var incarnations atomic.Int32
				a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
					incarnations.Add(1)
					return actor.Func(func(ctx actor.Context, m actor.Message) error {
						if m.Kind != "go" {
							return ctx.Reply(actor.Message{Kind: fmt.Sprintf("%s: %v", m.Kind, m.Body)})
						}
						ctx.Go(tt.f)
						return nil
					}), nil
				}})
				answer, err := a.Ref().(actor.Asker).Ask(t.Context(), kind("go"))
				if err != nil || answer.Kind != tt.want || incarnations.Load() != 1 {
					t.Errorf("got %q, %v in incarnation %d; want %q in the first", answer.Kind, err, incarnations.Load(), tt.want)
				}
			})
		})
	}
}

// working has a line that works beside the turn until the gate opens.
func working(gate *chan struct{}) lines {
	return lines{"work": func(ctx actor.Context, _ actor.Message) error {
		ctx.Go(func(ctx context.Context) (actor.Message, error) {
			select {
			case <-ctx.Done():
				return actor.Message{}, fmt.Errorf("told to end: %w", ctx.Err())
			case <-*gate:
				return kind("done"), nil
			}
		})
		return nil
	}}
}

func TestWorkBesideTheTurnEndsWithItsIncarnation(t *testing.T) {
	gate := make(chan struct{})
	stage(t, Settings{}, working(&gate), func(s *System, a *Actor, r *record) {
		gate = make(chan struct{})
		lost := deadLetters(s)
		tell(a, "work", "x") // it goes on meanwhile
		synctest.Wait()
		r.want(t, "work", "x")
		tell(a, "fail", "work")
		synctest.Wait()
		close(gate)
		synctest.Wait()
		r.want(t, "work", "x", "fail", "work", "done")
		lost.want(t, "failed: boom fail", "stopped: it asked for this before it restarted or ended failed")
	})
}

func TestAStopWaitsForWorkBesideTheTurnAndForNothingElse(t *testing.T) {
	stubborn := make(chan struct{})
	do := lines{"work": func(ctx actor.Context, _ actor.Message) error {
		ctx.Go(func(context.Context) (actor.Message, error) { <-stubborn; return kind("done"), nil })
		return nil
	}}
	stage(t, Settings{}, do, func(s *System, a *Actor, r *record) {
		stubborn = make(chan struct{})
		lost := deadLetters(s)
		tell(a, "work")
		synctest.Wait()
		go a.StopNow(context.Background())
		after(time.Hour)
		select {
		case <-a.Done():
			t.Error("the actor ended before its work")
		default:
		}
		if got := a.Info().State; got != "stopping" {
			t.Errorf("state: got %s, want stopping", got)
		}
		close(stubborn)
		<-a.Done()
		lost.want(t, "stopped done")
	})
}

func TestAResultIsNeverDroppedForItsMailboxIsFull(t *testing.T) {
	gate := make(chan struct{})
	block := make(chan struct{})
	do := working(&gate)
	do["block"] = func(actor.Context, actor.Message) error { <-block; return nil }
	settings := Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.DropHead}}
	stage(t, settings, do, func(s *System, a *Actor, r *record) {
		gate, block = make(chan struct{}), make(chan struct{})
		tell(a, "work")
		synctest.Wait()
		tell(a, "block")
		synctest.Wait()
		close(gate)
		synctest.Wait()
		tell(a, "x", "y", "z")
		close(block)
		synctest.Wait()
		if got := join(r); !strings.Contains(got, "done") {
			t.Errorf("got %q, want done among it", got)
		}
	})
}

func TestWorkBesideTheTurnBelongsToTheDeliveryAndTheTrace(t *testing.T) {
	gate := make(chan struct{})
	do := working(&gate)
	traces := &record{}
	do["done"] = func(ctx actor.Context, _ actor.Message) error { traces.add(ctx.Trace()); return nil }
	stage(t, Settings{}, do, func(s *System, a *Actor, r *record) {
		gate = make(chan struct{})
		end, trace := &record{}, actor.NewTraceID()
		d := actor.NewDelivery(0, func(err error) { end.add(fmt.Sprint(err)) })
		_ = a.Ref().Tell(actor.WithTrace(actor.Track(t.Context(), d), trace), kind("work"))
		d.Done(nil)
		synctest.Wait()
		end.want(t)
		close(gate)
		synctest.Wait()
		end.want(t, "<nil>")
		traces.want(t, trace)
	})
}

func TestAskAsync(t *testing.T) {
	do := lines{
		"ask": func(ctx actor.Context, m actor.Message) error {
			ctx.AskAsync(ctx.Lookup(actor.Path(m.Body.(string))), kind("question"), time.Minute)
			return nil
		},
		"question":       func(ctx actor.Context, _ actor.Message) error { return ctx.Reply(kind("answer")) },
		actor.KindFailed: func(ctx actor.Context, m actor.Message) error { return fmt.Errorf("%v", m.Body) },
	}
	for _, tt := range []struct{ name, to, handled, err string }{
		{"the answer is told", "/user/b", "ask/user/b x answer", ""},
		{"an actor may ask itself", "/user/a", "ask/user/a x question answer", ""},
		{"a missing actor is told at once", "/user/none", "ask/user/none x failed",
			"map[error:ask /user/none: actor is stopped or was never started kind:question panic:false path:/user/none]"},
		{"silence is told", "/user/mute", "ask/user/mute x failed", "map[error:ask /user/mute: no reply in time kind:question panic:false path:/user/mute]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stage(t, Settings{}, do, func(s *System, a *Actor, r *record) {
				spawnFunc(t, s, "b", func(ctx actor.Context, m actor.Message) error { return ctx.Reply(kind("answer")) })
				spawnFunc(t, s, "mute", func(actor.Context, actor.Message) error { return nil })
				tell(a, "ask:"+tt.to, "x")
				after(time.Minute)
				// The order of x and what comes of the question is not said.
				got, x := join(r), " x"
				got, want := strings.Replace(got, x, "", 1), strings.Replace(tt.handled, x, "", 1)
				if got != want || a.Info().LastError != tt.err {
					t.Errorf("got %q and the failure %q, want %q and %q", got, a.Info().LastError, want, tt.err)
				}
			})
		})
	}
}

// rehearsed records its hooks.
type rehearsed struct {
	script
	broken string
}

func (b rehearsed) Start(actor.Context) error { b.r.add("start"); return nil }
func (b rehearsed) Stop(actor.Context) error  { b.r.add("stop"); return nil }
func (b rehearsed) PreRestart(ctx actor.Context, cause error) error {
	b.r.add("pre " + cause.Error())
	ctx.Unstash()
	if b.broken == "pre" {
		panic("broken")
	}
	return nil
}
func (b rehearsed) PostRestart(_ actor.Context, cause error) error {
	b.r.add("post " + cause.Error())
	return nil
}

func TestRestartHooks(t *testing.T) {
	for _, tt := range []struct {
		name, broken string
		run          func(s *System, a *Actor)
		want         string
	}{
		{name: "a restart has hooks of its own", run: func(_ *System, a *Actor) { tell(a, "fail", "x") }, want: "start, fail, pre boom, post boom, x"},
		{name: "a kill is a failure like others", run: func(_ *System, a *Actor) { a.Kill() }, want: "start, pre killed, post killed"},
		{name: "a hook that panics does not keep it from restarting", broken: "pre",
			run: func(_ *System, a *Actor) { tell(a, "fail", "x") }, want: "start, fail, pre boom, post boom, x"},
		{name: "what the hook gives back from the stash is handled by the next instance",
			run: func(_ *System, a *Actor) { tell(a, "keep", "fail", "x") }, want: "start, keep, fail, pre boom, post boom, keep, x"},
		{name: "a stop has the usual hook", run: func(_ *System, a *Actor) { _ = a.Stop(context.Background()) }, want: "start, stop"},
		{name: "a reload has the usual hooks", run: func(_ *System, a *Actor) {
			_ = a.Swap(context.Background(), func() (actor.Behaviour, error) { return script{r: &record{}}, nil }, nil)
		}, want: "start, stop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r, kept := newSystem(t), &record{}, false
				do := lines{
					"fail": func(actor.Context, actor.Message) error { return errors.New("boom") },
					"keep": func(ctx actor.Context, _ actor.Message) error {
						if kept {
							return nil
						}
						kept = true
						return ctx.Stash()
					},
				}
				a := spawnSpec(t, s, Spec{Name: "a", New: func() (actor.Behaviour, error) {
					return rehearsed{script{r: r, do: do}, tt.broken}, nil
				}})
				synctest.Wait()
				tt.run(s, a)
				synctest.Wait()
				if got := strings.Join(texts(r), ", "); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestAnActorKillsItselfOrAChildAndNobodyElse(t *testing.T) {
	do := lines{
		"kill": func(ctx actor.Context, m actor.Message) error {
			ctx.Kill(ctx.Lookup(actor.Path(m.Body.(string))))
			return nil
		},
		"spawn": func(ctx actor.Context, _ actor.Message) error {
			_, err := ctx.Spawn("child", func() (actor.Behaviour, error) { return script{r: &record{}}, nil })
			return err
		},
	}
	stage(t, Settings{}, do, func(s *System, a *Actor, r *record) {
		other := spawnFunc(t, s, "b", func(actor.Context, actor.Message) error { return nil })
		tell(a, "spawn", "kill:/user/a/child", "kill:/user/b")
		synctest.Wait()
		child, _ := s.Find("/user/a/child")
		if got := child.Info(); got.Restarts != 1 || got.LastError != "killed" {
			t.Errorf("the child: got %d restarts and %q, want 1 and killed", got.Restarts, got.LastError)
		}
		if got := other.Info(); got.Restarts != 0 {
			t.Errorf("the neighbour: got %d restarts, want 0", got.Restarts)
		}
		tell(a, "kill:/user/a")
		synctest.Wait()
		if got := a.Info(); got.Restarts != 1 {
			t.Errorf("itself: got %d restarts, want 1", got.Restarts)
		}
	})
}

func TestTheSettingsWatchWhoeverLivesAtAPath(t *testing.T) {
	watch := func(paths ...actor.Path) Settings { return Settings{Routine: &Routine{Watch: paths}} }
	stage(t, watch("/user/b", "/user/a"), lines{}, func(s *System, a *Actor, r *record) {
		b := func() *Actor { return spawnFunc(t, s, "b", func(actor.Context, actor.Message) error { return nil }) }
		synctest.Wait()
		r.want(t) // nobody lives there yet
		first := b()
		synctest.Wait()
		tell(a, "fail") // a restart keeps watching
		synctest.Wait()
		_ = first.Stop(context.Background())
		second := b() // before the notice may have been handled
		synctest.Wait()
		r.want(t, "fail", "terminated")
		_ = second.Stop(context.Background())
		synctest.Wait()
		r.want(t, "fail", "terminated", "terminated")
		third := b()
		_ = a.Update(watch(), nil)
		synctest.Wait()
		_ = third.Stop(context.Background())
		synctest.Wait()
		r.want(t, "fail", "terminated", "terminated")
		_ = a.Update(watch("/user/b"), nil)
		_ = a.Stop(context.Background())
		if got := s.arrivals.waiting.Load(); got != 0 {
			t.Errorf("%d actors wait for arrivals, want none", got)
		}
	})
}

func TestWhateverWasKeptAsALetterCanBeGivenBack(t *testing.T) {
	for _, tt := range []struct {
		kind     string
		settings Settings
		cause    func(ctx actor.Context)
	}{
		{kind: "tick", cause: func(ctx actor.Context) { ctx.After(time.Second, kind("tick")) }},
		{kind: "done", cause: func(ctx actor.Context) {
			ctx.Go(func(context.Context) (actor.Message, error) { return kind("done"), nil })
		}},
		{kind: actor.KindTerminated, cause: func(ctx actor.Context) { _ = ctx.Watch(ctx.Lookup("/user/none")) }},
		{kind: actor.KindReceiveTimeout, settings: Settings{Routine: &Routine{ReceiveTimeout: time.Minute}}, cause: func(actor.Context) {}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			given := false
			do := lines{
				"begin": func(ctx actor.Context, _ actor.Message) error { tt.cause(ctx); return nil },
				tt.kind: func(ctx actor.Context, m actor.Message) error {
					l := ctx.Letter()
					if l.Message().Kind != m.Kind {
						return fmt.Errorf("the letter holds a %q", l.Message().Kind)
					}
					if !given {
						given = true
						ctx.Handle().Fail(errors.New("boom"), l)
					}
					return nil
				},
			}
			stage(t, tt.settings, do, func(s *System, a *Actor, r *record) {
				tell(a, "begin")
				after(90 * time.Second)
				r.want(t, "begin", tt.kind, tt.kind)
				if got := a.Info(); got.LastError != "boom" || got.Restarts != 1 {
					t.Errorf("got %d restarts and %q, want 1 and boom", got.Restarts, got.LastError)
				}
			})
		})
	}
}

func TestAnInstanceFindsTheChildrenThatARestartKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		keep := &supervise.Strategy{OnFailure: supervise.Restart, MaxRestarts: 3, KeepChildren: true}
		a := spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Supervision: keep}, New: func() (actor.Behaviour, error) {
			return starter(func(ctx actor.Context) error {
				_, err := ctx.Spawn("child", func() (actor.Behaviour, error) { return script{r: r}, nil })
				if errors.Is(err, actor.ErrNameTaken) {
					r.add("kept")
					err = ctx.Tell(ctx.Lookup(ctx.Self().Path().Child("child")), kind("hello"))
				}
				return err
			}), nil
		}})
		synctest.Wait()
		a.Kill()
		synctest.Wait()
		r.want(t, "kept", "hello")
	})
}

// careless sets messages aside, gives them back, fails and changes roles at random.
type careless struct{ dice *rand.Rand }

func (b careless) Receive(ctx actor.Context, m actor.Message) error {
	switch b.dice.IntN(12) {
	case 0, 1, 2:
		if err := ctx.Stash(); err != nil && !errors.Is(err, actor.ErrStashFull) {
			return err
		}
	case 3:
		ctx.Unstash()
	case 4:
		return errors.New("boom")
	case 5:
		ctx.BecomeStacked(careless{b.dice})
	case 6:
		ctx.Unbecome()
	case 7:
		ctx.Unstash()
		panic("boom")
	}
	return nil
}

func TestEveryMessageIsAccountedForWhateverIsDoneWithIt(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s, dice := newSystem(t, WithDrainTimeout(0)), rand.New(rand.NewPCG(seed, 1))
			settings := Settings{
				StashCapacity: 20, Supervision: &supervise.Strategy{OnFailure: supervise.Restart, MaxRestarts: supervise.Unlimited},
				Routine: &Routine{Throttle: actor.Throttle{Rate: 20_000, Burst: 10, Drop: seed%2 == 0}, ReceiveTimeout: time.Hour},
			}
			if seed%3 == 0 {
				settings.Mailbox = mailbox.Settings{Capacity: 50, Overflow: mailbox.DropHead}
			}
			a := spawnSpec(t, s, Spec{Name: "a", Settings: settings, New: func() (actor.Behaviour, error) {
				return careless{rand.New(rand.NewPCG(seed, 2))}, nil
			}})
			var accepted atomic.Uint64
			var senders sync.WaitGroup
			for range 4 {
				senders.Go(func() {
					for i := range 500 {
						if a.Ref().Tell(context.Background(), num(i)) == nil {
							accepted.Add(1)
						}
					}
				})
			}
			for range 20 {
				switch dice.IntN(4) {
				case 0:
					a.Kill()
				case 1:
					settings.Routine = &Routine{Throttle: actor.Throttle{Rate: float64(10_000 * (1 + dice.IntN(5))), Drop: dice.IntN(2) == 0}}
					_ = a.Update(settings, nil)
				case 2:
					_ = a.Swap(t.Context(), func() (actor.Behaviour, error) { return careless{rand.New(rand.NewPCG(seed, 3))}, nil }, nil)
				}
				gort.Gosched()
			}
			if seed%2 == 0 {
				senders.Wait()
			}
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			senders.Wait()
			i := a.Info()
			if sum := i.Handled + i.Failed + i.Dropped + i.DeadLettered; sum != accepted.Load() || i.Stashed != 0 || i.Queued != 0 {
				t.Errorf("%d were accepted; got %d = %d handled + %d failed + %d dropped + %d dead letters, %d set aside, %d queued",
					accepted.Load(), sum, i.Handled, i.Failed, i.Dropped, i.DeadLettered, i.Stashed, i.Queued)
			}
		})
	}
}

// counting is a typed actor with all that typed actors have of their own.
type counting struct{ r *record }

func (c counting) Receive(ctx *Context[int], m int) error {
	c.r.add(m)
	switch m {
	case 1:
		ctx.Go(func(context.Context) (int, error) { return 10, nil }, nil)
	case 2:
		ctx.Go(func(context.Context) (int, error) { return 0, errors.New("boom") }, func(err error) int { return 20 })
	case 3:
		ctx.Go(func(context.Context) (int, error) { return 0, errors.New("boom") }, nil)
	case 4:
		AskAsync(ctx, ctx.Self(), time.Second, func(r ReplyTo[int]) int { r.Reply(40); return 5 }, func(n int, _ error) int { return n })
	case 6:
		ctx.BecomeStacked(doubling(c))
	case 8:
		return ctx.Timer("k", actor.Schedule{After: time.Second}, 80)
	case 9:
		return ctx.SetReceiveTimeout(time.Minute)
	}
	return nil
}

func (c counting) TimedOut(*Context[int]) error { c.r.add("silence"); return nil }

type doubling struct{ r *record }

func (d doubling) Receive(ctx *Context[int], m int) error {
	d.r.add(2 * m)
	ctx.Unbecome()
	return nil
}

func TestTypedActorsHaveTheSame(t *testing.T) {
	for _, tt := range []struct {
		name     string
		tell     []int
		want     []any
		restarts uint64
	}{
		{name: "a result is told", tell: []int{1}, want: []any{1, 10}},
		{name: "an error becomes a message", tell: []int{2}, want: []any{2, 20}},
		{name: "or a failure", tell: []int{3}, want: []any{3}, restarts: 1},
		{name: "an answer is told", tell: []int{4}, want: []any{4, 5, 40}},
		{name: "a role handles messages", tell: []int{6, 7, 7}, want: []any{6, 14, 7}},
		{name: "a keyed timer is told", tell: []int{8}, want: []any{8, 80}},
		{name: "silence is told", tell: []int{9}, want: []any{9, "silence"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				pid, err := Spawn(s, "a", &Props[int]{New: func() (Receiver[int], error) { return counting{r}, nil }})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range tt.tell {
					_ = pid.Tell(t.Context(), m)
				}
				after(90 * time.Second)
				r.want(t, tt.want...)
				a, _ := s.Find("/user/a")
				if got := a.Info().Restarts; got != tt.restarts {
					t.Errorf("restarts: got %d, want %d", got, tt.restarts)
				}
			})
		})
	}
}
