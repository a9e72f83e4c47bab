package spec_test

import (
	"fmt"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

func ExampleCheck() {
	type config struct {
		To actor.Targets `conf:"to,required" doc:"who gets the messages"`
	}
	var reg actor.Registry
	schema := actor.SchemaOf[config]("forward", "Tells every message on.")
	err := reg.AddBehaviour(actor.FactoryOf(schema, func(c config) (actor.Behaviour, error) {
		return actor.Func(func(actor.Context, actor.Message) error { return nil }), nil
	}))
	if err != nil {
		panic(err)
	}
	tree, err := hocon.Parse("application.conf", []byte(`
actord.actors {
  intake { behaviour = forward, args.to = /user/stor, mailbox.capcity = 100 }
  store { behaviour = forward, args.to = dead-letters }
}`), hocon.Options{})
	if err != nil {
		panic(err)
	}
	_, err = spec.Check(tree, &reg)
	fmt.Print(hocon.Format(err))
	// Output:
	// application.conf:3:43: actors.intake.args.to: no actor is declared at /user/stor; did you mean "/user/store"?
	//       intake { behaviour = forward, args.to = /user/stor, mailbox.capcity = 100 }
	//                                               ^
	// application.conf:3:55: actors.intake.mailbox.capcity: unknown key; did you mean "capacity"?
	//       intake { behaviour = forward, args.to = /user/stor, mailbox.capcity = 100 }
	//                                                           ^
}
