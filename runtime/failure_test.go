package runtime

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// spawnBelow starts a declared actor below parent.
func spawnBelow(t testing.TB, s *System, parent actor.Path, spec Spec) *Actor {
	t.Helper()
	a, err := s.SpawnActor(parent, spec)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// onKind is a behaviour that does what is listed for a kind and counts the rest.
func onKind(r *record, do map[string]actor.Func) actor.Producer {
	return func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			if f := do[m.Kind]; f != nil {
				return f(ctx, m)
			}
			r.add(m.Kind)
			return nil
		}), nil
	}
}

func boom(actor.Context, actor.Message) error { return errors.New("boom") }

func tellKind(t testing.TB, a *Actor, kinds ...string) {
	t.Helper()
	for _, k := range kinds {
		_ = a.Ref().Tell(t.Context(), actor.Message{Kind: k})
	}
}

func TestChildrenStayFrozenWhileTheirParentsFailureIsUndecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		hold := func(actor.Context, actor.Message) error { <-gate; return nil }
		resume := supervise.Strategy{OnFailure: supervise.Resume}
		top := spawnSpec(t, s, Spec{Name: "top", Settings: Settings{ChildSupervision: &resume}, New: onKind(r, map[string]actor.Func{"hold": hold})})
		mid := spawnBelow(t, s, "/user/top", Spec{Name: "mid", New: onKind(r, map[string]actor.Func{"fail": boom})})
		low := spawnBelow(t, s, "/user/top/mid", Spec{Name: "low", New: onKind(r, nil)})
		synctest.Wait()
		tellKind(t, top, "hold") // so that it decides later
		synctest.Wait()
		tellKind(t, mid, "fail")
		synctest.Wait()
		mid.node.signal(signal{kind: sigFreeze})
		mid.node.signal(signal{kind: sigThaw}) // something above was dealt with
		tellKind(t, low, "x")
		synctest.Wait()
		r.want(t)
		close(gate)
		synctest.Wait()
		r.want(t, "x")
	})
}

func TestAnActorThatIsResumedInAFrozenTreeWaitsForTheThaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		resume := supervise.Strategy{OnFailure: supervise.Resume}
		mid := spawnSpec(t, s, Spec{Name: "mid", Settings: Settings{Supervision: &resume}, New: onKind(r, map[string]actor.Func{"fail": boom})})
		low := spawnBelow(t, s, "/user/mid", Spec{Name: "low", New: onKind(r, nil)})
		synctest.Wait()
		mid.node.signal(signal{kind: sigFail, err: errors.New("boom"), incarnation: 1})
		mid.node.signal(signal{kind: sigFreeze})
		synctest.Wait()
		tellKind(t, low, "x")
		synctest.Wait()
		r.want(t)
		mid.node.signal(signal{kind: sigThaw})
		synctest.Wait()
		r.want(t, "x")
	})
}

func TestAFailureIsDecidedOnceHoweverManyChildrenEscalate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		hold := func(actor.Context, actor.Message) error { <-gate; return nil }
		escalate := supervise.Strategy{OnFailure: supervise.Escalate}
		p := spawnSpec(t, s, Spec{Name: "p", Settings: Settings{ChildSupervision: &escalate}, New: onKind(r, map[string]actor.Func{"hold": hold})})
		var kids []*Actor
		for _, name := range []string{"a", "b", "c"} {
			kids = append(kids, spawnBelow(t, s, "/user/p", Spec{Name: name, New: onKind(r, map[string]actor.Func{"fail": boom})}))
		}
		synctest.Wait()
		tellKind(t, p, "hold")
		synctest.Wait()
		for _, k := range kids {
			tellKind(t, k, "fail", "after")
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if got := p.Info().Restarts; got != 1 {
			t.Errorf("restarts of the parent: got %d, want 1", got)
		}
		r.want(t, "after", "after", "after")
	})
}

func TestSiblingsThatRestartTogetherShareOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		together := supervise.Strategy{AllForOne: true, MaxRestarts: 2}
		spawnSpec(t, s, Spec{Name: "p", Settings: Settings{ChildSupervision: &together}, New: onKind(r, nil)})
		a := spawnBelow(t, s, "/user/p", Spec{Name: "a", New: onKind(r, map[string]actor.Func{"fail": boom})})
		b := spawnBelow(t, s, "/user/p", Spec{Name: "b", New: onKind(r, map[string]actor.Func{"fail": boom})})
		for i, x := range []*Actor{a, b, a} {
			tellKind(t, x, "fail")
			synctest.Wait()
			want := "running"
			if i == 2 {
				want = "terminated"
			}
			if ai, bi := a.Info(), b.Info(); ai.State != want || bi.State != want || ai.Restarts != bi.Restarts {
				t.Errorf("after failure %d: got %s and %s, restarted %d and %d times; want both %s and as often", i+1, ai.State, bi.State, ai.Restarts, bi.Restarts, want)
			}
		}
	})
}

func TestARuleThatPanicsEscalates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		bad := supervise.Strategy{Rules: []supervise.Rule{{When: func(error) bool { panic("rule") }}}}
		p := spawnSpec(t, s, Spec{Name: "p", New: onKind(r, nil)})
		c := spawnBelow(t, s, "/user/p", Spec{Name: "c", Settings: Settings{Supervision: &bad}, New: onKind(r, map[string]actor.Func{"fail": boom})})
		tellKind(t, c, "fail", "after")
		synctest.Wait()
		if got := p.Info().Restarts; got != 1 {
			t.Errorf("restarts of the parent: got %d, want 1", got)
		}
		r.want(t, "after")
	})
}

func TestAChildThatFailsWhileItsParentIsReplacedIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		busy := func() (actor.Behaviour, error) {
			return &hooked{stop: func(actor.Context) error { <-gate; return nil }}, nil
		}
		p := spawnSpec(t, s, Spec{Name: "p", New: make1(&hooked{start: func(ctx actor.Context) error {
			_, err := ctx.Spawn("dynamic", busy)
			return err
		}})})
		c := spawnBelow(t, s, "/user/p", Spec{Name: "c", New: onKind(r, map[string]actor.Func{"fail": boom})})
		synctest.Wait()
		swapped := make(chan error, 1)
		go func() { swapped <- p.Swap(t.Context(), make1(&hooked{}), nil) }()
		synctest.Wait() // the swap waits for the dynamic child
		tellKind(t, c, "fail", "after")
		synctest.Wait()
		close(gate)
		if err := <-swapped; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.want(t, "after")
	})
}

func TestAGracefulStopOfAFailedParentLetsItsChildrenDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		escalate := supervise.Strategy{OnFailure: supervise.Escalate} // past the top: it stays suspended
		p := spawnSpec(t, s, Spec{Name: "p", Settings: Settings{Supervision: &escalate}, New: onKind(r, map[string]actor.Func{"fail": boom})})
		c := spawnBelow(t, s, "/user/p", Spec{Name: "c", New: onKind(r, nil)})
		synctest.Wait()
		tellKind(t, p, "fail")
		synctest.Wait()
		tellKind(t, c, "x", "y")
		synctest.Wait()
		r.want(t)
		began := time.Now()
		if err := p.Stop(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("got %v after %v, want nil at once", err, time.Since(began))
		}
		r.want(t, "x", "y")
	})
}

func TestStopInAFrozenTreeDoesNotWaitForTheThaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		a := spawnSpec(t, s, Spec{Name: "a", New: onKind(r, nil)})
		synctest.Wait()
		a.node.signal(signal{kind: sigFreeze})
		began := time.Now()
		if err := a.Stop(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("got %v after %v, want nil at once", err, time.Since(began))
		}
	})
}

func TestAnActorThatCannotStartIsTriedAgainWhenItsSupervisorsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, tries := newSystem(t), &record{}, 0
		resume, escalate := supervise.Strategy{OnFailure: supervise.Resume}, supervise.Strategy{OnFailure: supervise.Escalate}
		spawnSpec(t, s, Spec{Name: "p", Settings: Settings{Supervision: &resume}, New: onKind(r, nil)})
		c := spawnBelow(t, s, "/user/p", Spec{Name: "c", Settings: Settings{Supervision: &escalate}, New: func() (actor.Behaviour, error) {
			if tries++; tries == 1 {
				return nil, errors.New("boom")
			}
			return onKind(r, nil)()
		}})
		tellKind(t, c, "x")
		time.Sleep(2 * pauseUnborn)
		synctest.Wait()
		r.want(t, "x")
		if tries != 2 {
			t.Errorf("starts: got %d, want 2", tries)
		}
	})
}
