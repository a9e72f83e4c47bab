package builtin_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/actord/actord/builtin"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

type args = map[string]any

var orders = []actor.Message{
	{Kind: "order", Body: args{"amount": int64(5000), "card": args{"number": "4711"}, "items": []any{"a", []byte{1}}}, Headers: actor.Headers{"topic": "shop"}},
	{Kind: "order", Body: args{"amount": 1.5}},
	{Kind: "ping"},
}

// cases has the behaviours in configurations that use what they have.
func cases(t *testing.T) map[string]actortest.Case {
	return map[string]actortest.Case{
		"chaos": {Args: args{"fail": "kind == 'fail'", "panic-every": "1000", "delay": "1ms", "to": "/user/next"}, Messages: orders},
		"counter": {
			Args:     args{"key": "kind + string(msg.amount ?? '')", "to": "/user/next"},
			Messages: append([]actor.Message{{Kind: "get"}, {Kind: "reset"}, {Kind: "count"}}, orders...),
		},
		"file": {
			Args:     args{"path": filepath.Join(t.TempDir(), "sub", "lines"), "include": []any{"headers", "sender"}, "flush": "1ms", "fsync": "5ms", "max-size": "1KiB", "max-files": "2"},
			Messages: orders,
		},
		"filter": {Args: args{"when": "msg.amount > 1000", "to": "/user/pass", "else": "/user/rest"}, Messages: orders},
		"log":    {Args: args{"fields": []any{"amount", "headers", "sender"}, "to": "/user/next"}, Messages: orders},
		"router": {
			Args: args{"mode": "all", "rules": []any{
				args{"when": "msg.amount > 1000", "to": []any{"/user/a", "../b"}, "kind": "big"}, args{"to": "reply"},
			}},
			Messages: orders,
		},
		"timer": {Args: args{"every": "1ms", "body": args{"n": int64(1)}, "to": []any{"/user/a", "/user/b"}}, Messages: orders},
		"transform": {
			Args: args{
				"set": args{"card.number": "'****'", "copy": "msg.items", "double": "(msg.amount ?? 0) * 2"}, "remove": []any{"items"},
				"kind-expr": "kind + '-done'", "headers": args{"topic": "x"}, "headers-expr": args{"was": "kind"}, "to": "/user/next",
			},
			Messages: orders,
		},
		"http-server": {
			Args:     args{"listen": "127.0.0.1:0", "in": args{"orders": args{"path": "/orders", "to": "/user/intake", "when": "msg.amount > 0"}}},
			Messages: orders,
		},
	}
}

func TestEveryBehaviourKeepsItsPromises(t *testing.T) {
	cases := cases(t)
	for name, f := range factories(t) {
		c, ok := cases[name]
		if !ok {
			t.Errorf("%s has no case here; add one", name)
			continue
		}
		t.Run(name, func(t *testing.T) { actortest.Suite(t, f, c) })
	}
}

func TestEverySchemaSaysWhatItsFieldsAreFor(t *testing.T) {
	for name, f := range factories(t) {
		schema := f.Schema()
		if schema.Name != name || schema.Doc == "" {
			t.Errorf("%s: got name %q and doc %q, want the name and a sentence", name, schema.Name, schema.Doc)
		}
		documented(t, name, schema.Fields)
	}
}

func documented(t *testing.T, place string, fields []actor.Field) {
	for _, f := range fields {
		if f.Doc == "" {
			t.Errorf("%s.%s: the field has no doc", place, f.Name)
		}
		documented(t, place+"."+f.Name, f.Fields)
		if f.Elem != nil {
			documented(t, place+"."+f.Name, f.Elem.Fields)
		}
	}
}

func TestNamesAreTakenOnce(t *testing.T) {
	if err := builtin.AddTo(registry(t)); err == nil {
		t.Error("adding twice: got no error, want one for each name")
	}
}

func registry(t testing.TB) *actor.Registry {
	t.Helper()
	r := &actor.Registry{}
	if err := builtin.AddTo(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// factories returns everything that is built in, behaviours and bridges.
func factories(t testing.TB) map[string]actor.Factory {
	t.Helper()
	r, all := registry(t), map[string]actor.Factory{}
	for _, name := range r.Behaviours() {
		all[name], _ = r.Behaviour(name)
	}
	for _, name := range r.Bridges() {
		all[name], _ = r.Bridge(name)
	}
	return all
}

func ExampleAddTo() {
	var r actor.Registry
	if err := builtin.AddTo(&r); err != nil {
		fmt.Println(err)
	}
	fmt.Println(r.Behaviours(), r.Bridges())
	// Output: [chaos counter file filter log router timer transform] [http-server]
}
