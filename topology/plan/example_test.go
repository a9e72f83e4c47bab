package plan_test

import (
	"fmt"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

func ExampleDiff() {
	var reg actor.Registry
	err := reg.AddBehaviour(actor.FactoryOf(actor.Schema{Name: "sink"}, func(struct{}) (actor.Behaviour, error) {
		return actor.Func(func(actor.Context, actor.Message) error { return nil }), nil
	}))
	if err != nil {
		panic(err)
	}
	read := func(text string) *spec.System {
		tree, err := hocon.Parse("application.conf", []byte(text), hocon.Options{})
		if err != nil {
			panic(err)
		}
		s, err := spec.Check(tree, &reg)
		if err != nil {
			panic(err)
		}
		return s
	}
	old := read("actord.actors { intake { behaviour = sink, mailbox.capacity = 100 }, old.behaviour = sink }")
	new := read("actord.actors { intake { behaviour = sink, mailbox.capacity = 200 }, x.behaviour = sink }")
	fmt.Print(plan.Diff(old, new))
	// Output:
	// + /user/x  start (sink)
	// ~ /user/intake  update mailbox.capacity 100 → 200
	// - /user/old  stop
}
