package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/topology/hocon"
)

const explained = `shared = 7s
actord {
  actor-defaults { handler-warn = 3s, mailbox.warn-at = 5 }
  templates.t { mailbox.capacity = 10, on-full = drop }
  actors {
    a { behaviour = router, use = t, args.default = /user/b, stop-timeout = ${shared}, start-order = 1, start-order = 2 }
    b { behaviour = limit, args.rate = ${RATE} }
    w { foreach = [x, y], behaviour = sink, description = "{item}" }
  }
  bridges.m { type = broker, url = "x://h", password = hunter2 }
}`

func TestExplain(t *testing.T) {
	env := func(name string) (string, bool) { return "7", name == "RATE" }
	tree, err := hocon.Parse("application.conf", []byte(explained), hocon.Options{Env: env, Overrides: []hocon.Override{{Key: "actord.actors.b.stop-timeout", Value: "9s"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ query, want string }{
		{"actors.a.mailbox.capacity", "actors.a.mailbox.capacity [live] = 10 by template t at application.conf:4:36"},
		{"actord.actors.a.mailbox.warn-at", "actors.a.mailbox.warn-at [live] = 5 by actor-defaults at application.conf:3:57"},
		{"actors.a.mailbox.priority", `actors.a.mailbox.priority [live] = "" by built-in default at `},
		{"actors.a.args.default[0]", "actors.a.args.default.0 [handover] = /user/b by the actor itself at application.conf:6:53"},
		{"actors.a.stop-timeout", "actors.a.stop-timeout [live] = 7s by the actor itself, by the substitution at application.conf:6:77 at application.conf:1:10"},
		{"actors.a.start-order", "actors.a.start-order [cosmetic] = 2 by the actor itself at application.conf:6:119 before application.conf:6:102"},
		{"actors.b.stop-timeout", "actors.b.stop-timeout [live] = 9s by the command line at -D actord.actors.b.stop-timeout=9s"},
		{"actors.b.args.rate", "actors.b.args.rate [live] = 7 by the actor itself, from the environment at application.conf:7:40"},
		{"actors.w.description", `actors.w.description [cosmetic] = x by the actor itself at application.conf:8:20`},
		{"bridges.m.password", "bridges.m.password [reconnect] = *** by the bridge itself at application.conf:10:56"},
		{"system.name", "system.name [process] = default by built-in default at "},
		{"router.rules.when", "router.rules.when [handover] = "},
		{"reload.poll", "reload.poll [live] = 5s by built-in default at "},
		{"backoff.factor", "actors.NAME.supervision.backoff.factor [live] = |actors.NAME.child-supervision.backoff.factor [live] = "},
		{"mailbox.capcity", `no key is called "mailbox.capcity"; did you mean "capacity"?`},
		{"/user/nobody", "no actor is declared at /user/nobody"},
		{"/system/bridges/x", `bridge "x" is not declared; did you mean "m"?`},
	} {
		all, err := Explain(tree, registry(t), tc.query)
		var got []string
		for _, e := range all {
			line := fmt.Sprintf("%s [%s] = %s", e.Key, e.Class, e.Value)
			if e.Origin != "" {
				line += " by " + e.Origin + " at " + e.Pos.String()
			}
			for _, p := range e.Before {
				line += " before " + p.String()
			}
			got = append(got, line)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, "|") != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.query, strings.Join(got, "|"), tc.want)
		}
	}
}

func TestExplainAPathTellsEverythingInForce(t *testing.T) {
	all, err := Explain(load(t, strings.Replace(explained, "${RATE}", "7", 1)), registry(t), "/user/w-2")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range all {
		found[e.Key] = e.Value
	}
	if found["actors.w.description"] != "y" || found["actors.w.handler-warn"] != "3s" || len(all) < 20 {
		t.Errorf("got %v", found)
	}
}

func TestExplainNeedsNoConfigurationAndNoRightOne(t *testing.T) {
	if all, err := Explain(nil, registry(t), "actor-defaults.stop-timeout"); err != nil || len(all) != 1 || all[0].Field.Doc == "" {
		t.Errorf("without a file: got %v %v", all, err)
	}
	all, err := Explain(load(t, "actord.actors.a { behaviour = none, mailbox.capacity = many, stop-timeout = 3s }"), registry(t), "actors.a.stop-timeout")
	if err != nil || len(all) != 1 || all[0].Pos.Line != 1 {
		t.Errorf("with mistakes: got %v %v", all, err)
	}
}
