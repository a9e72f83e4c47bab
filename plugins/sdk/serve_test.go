package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

type limitConfig struct {
	Rate int `conf:"rate,required" min:"1" doc:"Per second."`
}

var limit = actor.FactoryOf(actor.SchemaOf[limitConfig]("limit", "Limits."), func(c limitConfig) (actor.Behaviour, error) {
	switch c.Rate {
	case 13:
		return nil, errors.New("13 is bad luck")
	case 99:
		panic("a bug")
	}
	return actor.Func(func(actor.Context, actor.Message) error { return nil }), nil
})

func TestDescribePrintsTheManifest(t *testing.T) {
	var out bytes.Buffer
	if err := describe(&out, Plugin{Name: "p", Version: "1.2"}, []actor.Factory{limit}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name, Version, SDK string
		Protocol           int
		Behaviours         []struct {
			Name string
			Args json.RawMessage
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "p" || got.Version != "1.2" || got.Protocol != wire.ProtocolVersion || len(got.Behaviours) != 1 {
		t.Fatalf("got %s; want p 1.2 with one behaviour", out.String())
	}
	s, err := actor.SchemaFromJSON("limit", "", got.Behaviours[0].Args)
	if err != nil || len(s.Fields) != 1 || !s.Fields[0].Required {
		t.Errorf("got %+v, %v; want the required field rate", s, err)
	}
}

func TestUsageSaysWhatToDo(t *testing.T) {
	var out bytes.Buffer
	usage(&out, Plugin{Name: "fraud", Version: "1.2"}, []actor.Factory{limit})
	for _, want := range []string{"fraud 1.2", "application.conf", "plugins.fraud", `"fraud/limit"`, "--describe"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q; want %q in it", out.String(), want)
		}
	}
}

func TestAPluginThatCannotBe(t *testing.T) {
	for _, tc := range []struct {
		name      string
		plugin    Plugin
		factories []actor.Factory
		want      string
	}{
		{"without a name", Plugin{}, nil, "must not be empty"},
		{"with a behaviour twice", Plugin{Name: "p"}, []actor.Factory{limit, limit}, "given twice"},
		{"with a path as a name", Plugin{Name: "a/b"}, nil, "path segment"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := check(tc.plugin, tc.factories); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v; want %q", err, tc.want)
			}
		})
	}
}

func TestCheckBuildsTheBehaviour(t *testing.T) {
	s := newServer(Plugin{Name: "p"}, []actor.Factory{limit}, nil, nil)
	for _, tc := range []struct{ name, behaviour, args, want string }{
		{"good arguments", "limit", `{"rate": 5}`, ""},
		{"the schema refuses", "limit", `{"rate": 0}`, "too small"},
		{"a required one is missing", "limit", `{}`, "is required"},
		{"the behaviour refuses", "limit", `{"rate": 13}`, "bad luck"},
		{"the behaviour panics", "limit", `{"rate": 99}`, "panic: a bug"},
		{"another behaviour", "limt", `{}`, `did you mean "limit"`},
		{"no JSON", "limit", `[`, "not a JSON object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res, err := s.Check(context.Background(), &wire.CheckRequest{Behaviour: tc.behaviour, Args: []byte(tc.args)})
			if err != nil || (res.Error == "") != (tc.want == "") || !strings.Contains(res.Error, tc.want) {
				t.Errorf("got %q, %v; want %q", res.GetError(), err, tc.want)
			}
		})
	}
}

func ExampleServe() {
	type config struct {
		To actor.Targets `conf:"to,required" doc:"Where to."`
	}
	forward := actor.FactoryOf(actor.SchemaOf[config]("forward", "Passes messages on."), func(c config) (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			for _, t := range c.To {
				to, err := ctx.Resolve(t)
				if err != nil {
					return err
				}
				if err := ctx.Tell(to, m); err != nil {
					return err
				}
			}
			return nil
		}), nil
	})
	Serve(Plugin{Name: "example", Version: "1.0.0"}, forward)
}
