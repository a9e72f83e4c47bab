package runtime

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

func TestWhoEndsLastHearsHowTheOthersEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet), WithDrainTimeout(10*time.Millisecond))
		heard := &record{}
		spawnFunc(t, s, "lost", func(_ actor.Context, m actor.Message) error {
			heard.add(m.Body.(map[string]any)["body"])
			return nil
		})
		if _, err := s.SubscribeActor("/user/lost", Interest{Kinds: []string{"dead-letter"}}); err != nil {
			t.Fatal(err)
		}
		s.EndLast("/user/lost")
		slow := spawnFunc(t, s, "slow", func(actor.Context, actor.Message) error { time.Sleep(time.Second); return nil })
		for i := range 5 {
			_ = slow.Ref().Tell(t.Context(), num(i))
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(heard.all()), "[1 2 3 4]"; got != want { // the first was being handled
			t.Errorf("heard of %s, want %s", got, want)
		}
	})
}
