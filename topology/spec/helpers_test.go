package spec

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// load reads a text that is called application.conf.
func load(t testing.TB, text string) *hocon.Tree {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	tree, err := hocon.Parse("application.conf", []byte(text), hocon.Options{Env: none})
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	return tree
}

type routeRule struct {
	When actor.Expr    `conf:"when" default:"" expr:"bool" doc:"condition"`
	To   actor.Targets `conf:"to,required" doc:"where to"`
}

type routerConf struct {
	Rules   []routeRule   `conf:"rules" doc:"routes"`
	Default actor.Targets `conf:"default" doc:"for the rest"`
}

type limitConf struct {
	Rate  int           `conf:"rate" default:"10" min:"1" doc:"messages per second" unit:"messages" class:"live"`
	Burst int           `conf:"burst" default:"10" min:"1" doc:"at once"`
	Every time.Duration `conf:"every" default:"1s" doc:"window"`
}

type inConf struct {
	Path  string        `conf:"path" default:"/" doc:"of the request"`
	To    actor.Targets `conf:"to,required" doc:"who gets it"`
	Codec string        `conf:"codec" default:"json" enum:"json|text" doc:"of the body"`
}

type webConf struct {
	Listen actor.Address     `conf:"listen,required" doc:"where to listen"`
	Idle   time.Duration     `conf:"idle-timeout" default:"1m" doc:"of a connection" class:"live"`
	In     map[string]inConf `conf:"in" doc:"routes" class:"rewire"`
}

type outConf struct {
	From  actor.Targets `conf:"from" doc:"who sends"`
	Codec string        `conf:"codec" default:"json" enum:"json|text" doc:"of the body"`
}

type brokerConf struct {
	URL      string             `conf:"url,required" doc:"address of the broker"`
	Password string             `conf:"password" default:"" doc:"of the user"`
	Out      map[string]outConf `conf:"out" doc:"publications" class:"rewire"`
}

// registry holds behaviours router, limit and sink and bridge types web and broker.
func registry(t testing.TB) *actor.Registry {
	t.Helper()
	reg := &actor.Registry{}
	for _, err := range []error{
		reg.AddBehaviour(fake[routerConf]("router", nil)),
		reg.AddBehaviour(fake[struct{}]("sink", nil)),
		reg.AddBehaviour(fake[struct{}]("fraud/score", nil)),
		reg.AddBehaviour(fake("limit", func(c limitConf) error {
			if c.Burst < c.Rate {
				return errors.Join(actor.FieldError{Path: []string{"burst"}, Err: errors.New("is less than rate")}, errors.New("odd limits"))
			}
			return nil
		})),
		reg.AddBridge(fake[webConf]("web", nil)),
		reg.AddBridge(fake[brokerConf]("broker", nil)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

func fake[C any](name string, check func(C) error) actor.Factory {
	ignore := actor.Func(func(actor.Context, actor.Message) error { return nil })
	return actor.FactoryOf(actor.SchemaOf[C](name, "a fake"), func(c C) (actor.Behaviour, error) {
		if check != nil {
			return ignore, check(c)
		}
		return ignore, nil
	})
}

// checked returns the system of a text without mistakes.
func checked(t testing.TB, text string) *System {
	t.Helper()
	s, err := Check(load(t, text), registry(t))
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	return s
}

// mistakes returns those of a text, one per line.
func mistakes(t testing.TB, text string) []string {
	t.Helper()
	_, err := Check(load(t, text), registry(t))
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
