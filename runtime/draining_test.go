package runtime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

func TestAChildThatFailsWhileItsParentStopsWorksOffTheRest(t *testing.T) {
	for _, tt := range []struct {
		directive supervise.Directive
		want      []any
	}{
		{supervise.Restart, []any{"wait", "fail", "x"}},
		{supervise.Resume, []any{"wait", "fail", "x"}},
		{supervise.Stop, []any{"wait", "fail"}},
		{supervise.Escalate, []any{"wait", "fail"}},
	} {
		t.Run(tt.directive.String(), func(t *testing.T) {
			do, gate := lines{}, (chan struct{})(nil)
			do["wait"] = func(actor.Context, actor.Message) error { <-gate; return nil }
			stage(t, Settings{}, do, func(s *System, parent *Actor, r *record) {
				gate = make(chan struct{})
				child, err := s.SpawnActor("/user/a", Spec{
					Name: "child", Settings: Settings{Supervision: &supervise.Strategy{OnFailure: tt.directive, MaxRestarts: 1}},
					New: func() (actor.Behaviour, error) { return script{r: r, do: do}, nil },
				})
				if err != nil {
					t.Fatal(err)
				}
				tell(child, "wait", "fail", "x")
				synctest.Wait()
				began := time.Now()
				go parent.Stop(context.Background())
				synctest.Wait()
				close(gate)
				<-parent.Done()
				if d := time.Since(began); d > 0 {
					t.Errorf("the stop took %v, want no time", d)
				}
				r.want(t, tt.want...)
			})
		})
	}
}
