package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestMistakes(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"a word where a count belongs", `
actord.actors.intake {
  behaviour = sink
  mailbox.capacity = many
}`, []string{`application.conf:4:22: actors.intake.mailbox.capacity: "many" is not a number (want a number of messages or unlimited, e.g. 1000)`}},
		{"an unknown key at its place", `
actord.actors.a {
  behaviour = sink
  mailbox { capcity = 3 }
}`, []string{`application.conf:4:13: actors.a.mailbox.capcity: unknown key; did you mean "capacity"?`}},
		{"a key of the mailbox outside of it", "actord.actors.a { behaviour = sink, capacity = 3 }", []string{`application.conf:1:37: actors.a.capacity: unknown key; it belongs in mailbox { }`}},
		{"an argument outside of args", "actord.actors.a { behaviour = limit, burst = 30 }", []string{`application.conf:1:38: actors.a.burst: unknown key; it belongs in args { }`}},
		{"an unknown section", "actord { aktors { } }", []string{`application.conf:1:10: aktors: unknown key; did you mean "actors"?`}},
		{"an unknown behaviour", "actord.actors.a { behaviour = rooter }", []string{`application.conf:1:31: actors.a.behaviour: unknown behaviour "rooter"; did you mean "router"?`}},
		{"an unknown behaviour without a like", "actord.actors.a { behaviour = teleporter }", []string{`application.conf:1:31: actors.a.behaviour: unknown behaviour "teleporter" (known are fraud/score, limit, router, sink)`}},
		{"a behaviour of no plugin", "actord.actors.a { behaviour = \"geo/find\" }", []string{`application.conf:1:31: actors.a.behaviour: plugin "geo" is not declared (add plugins { geo { command = [ … ] } })`}},
		{"a behaviour that its plugin lacks", "actord { plugins.fraud.command = [x], actors.a { behaviour = \"fraud/detect\" } }", []string{`application.conf:1:62: actors.a.behaviour: plugin "fraud" has no behaviour "detect" (it has score)`}},
		{"an actor without a behaviour", "actord.actors.a { }", []string{`application.conf:1:1: actors.a.behaviour: is required (what the actor does: router or PLUGIN/BEHAVIOUR)`}},
		{"an actor that is no object", "actord.actors.a = router", []string{`application.conf:1:19: actors.a: an actor is an object (want a { behaviour = … })`}},
		{"a bad name", `actord.actors."a/b".behaviour = sink`, []string{`application.conf:1:1: actors.a/b: name "a/b" holds '/'; a name is one path segment without '/', '\' and control characters`}},
		{"an overflow without a capacity", "actord.actors.a { behaviour = sink, mailbox.overflow = reject }", []string{`application.conf:1:56: actors.a.mailbox.overflow: overflow needs a capacity; without one the mailbox never overflows (add capacity = 1000)`}},
		{"drop-head with a priority", "actord.actors.a { behaviour = sink, mailbox { capacity = 3, priority = size, overflow = drop-head } }", []string{`application.conf:1:89: actors.a.mailbox.overflow: overflow drop-head would discard the most urgent message of a priority mailbox; use drop-lowest, drop-new or reject`}},
		{"an unknown policy", "actord.actors.a { behaviour = sink, mailbox { capacity = 3, overflow = drop-heat } }", []string{`application.conf:1:72: actors.a.mailbox.overflow: "drop-heat" is not one of drop-head, drop-new, reject, block, drop-lowest; did you mean "drop-head"?`}},
		{"a number out of bounds", "actord.actors.a { behaviour = limit, args { rate = 0 } }", []string{`application.conf:1:52: actors.a.args.rate: 0 is too small (want at least 1)`}},
		{"what the factory finds, at its place", "actord.actors.a { behaviour = limit, args { rate = 20 } }", []string{
			`application.conf:1:38: actors.a.args.burst: is less than rate`, `application.conf:1:43: actors.a.args: odd limits`}},
		{"an expression, at its place in the text", `
actord.actors.a {
  behaviour = router
  args.rules = [ { when = "msg.amount > amount", to = /user/a } ]
}`, []string{`application.conf:4:41: actors.a.args.rules[0].when: expression: unknown name amount; did you mean "count"?`}},
		{"an expression over several lines", "actord.actors.a { behaviour = sink, mailbox.priority = \"\"\"size +\n  sise\"\"\" }",
			[]string{`application.conf:2:3: actors.a.mailbox.priority: expression: unknown name sise; did you mean "size"?`}},
		{"an unquoted expression", "actord.actors.a { behaviour = sink, mailbox.priority = kin }", []string{`application.conf:1:56: actors.a.mailbox.priority: expression: unknown name kin; did you mean "kind"?`}},
		{"a condition of a supervision", "actord.actors.a { behaviour = sink, supervision.rules = [ { when = \"1 + 2\", then = stop } ] }",
			[]string{`application.conf:1:69: actors.a.supervision.rules[0].when: expression: gives a number; a condition (true or false) is wanted`}},
		{"a mistake in defaults once, where it is", `
actord {
  actor-defaults.mailbox.capacity = 0
  actors { a.behaviour = sink, b.behaviour = sink }
}`, []string{`application.conf:3:37: actor-defaults.mailbox.capacity: 0 is too small (want at least 1)`}},
		{"a mistake in child-supervision once, where it is", `
actord.actors.a {
  behaviour = sink, child-supervision.max-restarts = -3
  children { b.behaviour = sink, c.behaviour = sink }
}`, []string{`application.conf:3:54: actors.a.child-supervision.max-restarts: -3 is too small (want at least 0)`}},
		{"children as a default", "actord { actor-defaults.children { } }", []string{`application.conf:1:10: actor-defaults.children: children cannot be a default; write them where they belong`}},
		{"a back-off upside down", "actord.actors.a { behaviour = sink, supervision.backoff { min = 1m, max = 1s } }", []string{`application.conf:1:65: actors.a.supervision.backoff.min: min 1m is longer than max 1s`}},
		{"an unknown bridge type", "actord.bridges.w { type = webb }", []string{`application.conf:1:27: bridges.w.type: unknown bridge type "webb"; did you mean "web"?`}},
		{"a bridge without a type", "actord.bridges.w { }", []string{`application.conf:1:1: bridges.w.type: is required (one of broker, web)`}},
		{"a key that a bridge type lacks", "actord.bridges.w { type = web, listen = \"h:1\", listne = 2 }", []string{`application.conf:1:48: bridges.w.listne: unknown key; did you mean "listen"?`}},
		{"a default that no bridge type knows", "actord.bridge-defaults { idle-timeut = 3s, web.codec = x, in.codec = jsn }", []string{
			`application.conf:1:26: bridge-defaults.idle-timeut: no type of bridge has this key; did you mean "idle-timeout"?`,
			`application.conf:1:44: bridge-defaults.web.codec: unknown key`,
			`application.conf:1:70: bridge-defaults.in.codec: "jsn" is not one of json, text; did you mean "json"?`}},
		{"two listeners on one address", `
actord.bridges {
  a { type = web, listen = "127.0.0.1:80" }
  b { type = web, listen = "0.0.0.0:80" }
}`, []string{`application.conf:4:28: bridges.b.listen: 0.0.0.0:80 is listened on already, by bridges.a.listen (application.conf:3:28)`}},
		{"an event that does not exist", "actord { actors.a.behaviour = sink, events.subscriptions = [ { to = /user/a, events = [dead-leter] } ] }",
			[]string{`application.conf:1:88: events.subscriptions[0].events[0]: unknown event "dead-leter"; did you mean "dead-letter"?`}},
		{"events to whoever sent them", "actord { events.subscriptions = [ { to = reply, events = [dead-letter] } ] }",
			[]string{`application.conf:1:42: events.subscriptions[0].to: "reply" is nobody here, since an event has no sender`}},
		{"a level of nobody", `actord { actors.orders.behaviour = sink, log.levels { "/user/order" = debug } }`,
			[]string{`application.conf:1:55: log.levels./user/order: no actor is declared at /user/order; did you mean "/user/orders"?`}},
		{"a level that does not exist", `actord { log.levels { "/user" = loud } }`,
			[]string{`application.conf:1:33: log.levels./user: "loud" is not a level (want one of debug, info, warn, error)`}},
		{"a hash that is none", "actord.plugins.p { command = [./p], sha256 = abc }", []string{`application.conf:1:46: plugins.p.sha256: "abc" is not a SHA-256 hash (want 64 hex digits, as sha256sum prints them)`}},
		{"a plugin without a program", "actord.plugins.p { command = [] }", []string{`application.conf:1:30: plugins.p.command: a list of 0 is too small (want at least 1)`}},
		{"a command as a default", "actord.plugin-defaults { command = [x] }", []string{`application.conf:1:26: plugin-defaults.command: unknown key`}},
		{"no actord block", "actrod { actors { } }", []string{`application.conf:1:1: actrod: there is no actord { … } in this file; did you mean "actord"?`}},
		{"an empty file", "", []string{`application.conf:1:1: there is no actord { … } in this file; only what is inside it is read`}},
		{"a unit that is missing", "actord.reload.quiet = 100", []string{`application.conf:1:23: reload.quiet: 100 has no unit (want a duration, e.g. 100ms or 100s)`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := mistakes(t, tc.text); !slices.Equal(got, tc.want) {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}
