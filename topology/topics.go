package topology

import (
	"context"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// topic makes a topic what it is to be, and knows the way back.
func (tx *transaction) topic(t plan.Change[spec.Topic]) error {
	tx.undoWith(func(context.Context) error { return tx.setTopic(plan.Change[spec.Topic]{Old: t.New, New: t.Old}) })
	return tx.setTopic(t)
}

func (c crew) setTopic(t plan.Change[spec.Topic]) error {
	if t.New == nil {
		c.sys.RemoveTopic(t.Old.Name)
		return nil
	}
	return c.sys.SetTopic(t.New.Name, runtime.Topic{
		Subscribers: t.New.Subscribers, One: t.New.Delivery == "one", DropUnrouted: t.New.Unrouted == "drop",
	})
}

// poolOf is the pool of a declared actor as the engine needs it; nil for one
// actor.
func poolOf(p spec.Pool) *runtime.Pool[actor.Message] {
	if p.Size < 2 {
		return nil
	}
	// The schema has checked the word.
	strategy, _ := runtime.ParseStrategy(p.Strategy)
	return &runtime.Pool[actor.Message]{Size: p.Size, Strategy: strategy, Key: p.KeyOf}
}
