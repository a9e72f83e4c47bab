package actortest

import (
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

func TestTheRigGivesANameToAChildWithoutOne(t *testing.T) {
	rig := NewRig(t, actor.Func(func(ctx actor.Context, _ actor.Message) error {
		for range 2 {
			child, err := ctx.Spawn("", func() (actor.Behaviour, error) { return nil, nil })
			if err != nil {
				return err
			}
			if name := child.Path().Name(); !strings.HasPrefix(name, "$anonymous-") {
				t.Errorf("got %s, want a generated name", name)
			}
		}
		return nil
	})).MustStart()
	if err := rig.Tell(actor.Message{Kind: "x"}); err != nil {
		t.Error(err)
	}
}
