package plan

import (
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

type routerConf struct {
	To    actor.Targets `conf:"to" doc:"where to"`
	Token string        `conf:"token" default:"" doc:"a secret"`
	Shape string        `conf:"shape" default:"flat" doc:"of the table" class:"replace"`
	Cores int           `conf:"cores" default:"1" doc:"of the machine" class:"process"`
	Note  string        `conf:"note" default:"" doc:"for people" class:"cosmetic"`
}

type inConf struct {
	To actor.Targets `conf:"to,required" doc:"who gets it"`
}

type webConf struct {
	Listen actor.Address     `conf:"listen,required" doc:"where to listen"`
	Idle   time.Duration     `conf:"idle-timeout" default:"1m" doc:"of a connection" class:"live"`
	In     map[string]inConf `conf:"in" doc:"routes" class:"rewire"`
}

func registry() *actor.Registry {
	reg := &actor.Registry{}
	for _, err := range []error{
		reg.AddBehaviour(fake[routerConf]("router")),
		reg.AddBehaviour(fake[struct{}]("sink")),
		reg.AddBehaviour(fake[struct{}]("fraud/score")),
		reg.AddBridge(fake[webConf]("web")),
		reg.AddBridge(fake[webConf]("sse")),
	} {
		if err != nil {
			panic(err)
		}
	}
	return reg
}

func fake[C any](name string) actor.Factory {
	ignore := actor.Func(func(actor.Context, actor.Message) error { return nil })
	return actor.FactoryOf(actor.SchemaOf[C](name, "a fake"), func(C) (actor.Behaviour, error) { return ignore, nil })
}

// system checks a text, which must be without mistakes; "" is no system.
func system(t testing.TB, text string) *spec.System {
	t.Helper()
	if text == "" {
		return nil
	}
	none := func(string) (string, bool) { return "", false }
	tree, err := hocon.Parse("application.conf", []byte(text), hocon.Options{Env: none})
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	s, err := spec.Check(tree, registry())
	if err != nil {
		t.Fatalf("%s\n%s", hocon.Format(err), text)
	}
	return s
}
