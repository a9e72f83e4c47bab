package spec

import (
	"strings"
	"testing"

	"github.com/actord/actord/topology/hocon"
)

func TestWarnings(t *testing.T) {
	for _, tc := range []struct{ name, text, rule, want string }{
		{
			"a bridge that fills a mailbox without capacity",
			"bridges.w { type = web, listen = \":80\", in.x.to = /user/a }, actors.a.behaviour = sink",
			ruleOutsideCapacity, "application.conf:1:60: bridges.w.in.x.to: /user/a has no mailbox.capacity, so what comes in here can fill the memory",
		},
		{
			"a capacity without a word on what happens",
			"actors.a { behaviour = sink, mailbox.capacity = 5 }",
			ruleImplicitOverflow, "application.conf:1:58: actors.a.mailbox.capacity: a full mailbox drops the oldest message (write overflow = drop-head if that is meant)",
		},
		{"a capacity with one", "actors.a { behaviour = sink, mailbox { capacity = 5, overflow = drop-head } }", ruleImplicitOverflow, ""},
		{
			"a key that is given twice",
			"actors.a { behaviour = sink, stop-timeout = 1s, stop-timeout = 2s }",
			ruleOverridden, "application.conf:1:73: actors.a.stop-timeout: this replaces the value at application.conf:1:54 in the same file",
		},
		{
			"an actor that nobody sends to",
			"actors { a { behaviour = router, args.default = /user/b }, b.behaviour = sink }",
			ruleUnreachable, "application.conf:1:19: actors.a: nothing that is declared sends to /user/a",
		},
		{"an actor that a subscription names", "actors.a.behaviour = sink, events.subscriptions = [{ to = /user/a, events = [dead-letter] }]", ruleUnreachable, ""},
		{
			"a sender to a mailbox that rejects",
			"actors { a { behaviour = router, args.default = /user/b }, b { behaviour = sink, mailbox { capacity = 1, overflow = reject } } }",
			ruleReject, "application.conf:1:19: actors.a: /user/a sends to /user/b, which rejects when it is full, and has no on-full (such messages become dead letters)",
		},
		{"a sender that says what becomes of it", "actors { a { behaviour = router, on-full = drop, args.default = /user/b }, b { behaviour = sink, mailbox { capacity = 1, overflow = reject } } }", ruleReject, ""},
		{"a template that nobody uses", "templates.t { on-full = drop }", ruleUnusedTemplate, "application.conf:1:10: templates.t: nothing uses this template"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := load(t, "actord { "+tc.text+" }")
			s, err := Options{Lint: true}.Check(tree, registry(t))
			if err != nil {
				t.Fatal(hocon.Format(err))
			}
			if got := strings.Join(byRule(s.Warnings, tc.rule), "\n"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if tc.want == "" {
				return
			}
			if _, err := (Options{Strict: true}).Check(tree, registry(t)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("strict: got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestEveryRuleIsDescribed(t *testing.T) {
	for _, rule := range []string{ruleOutsideCapacity, ruleImplicitOverflow, ruleOverridden, ruleUnreachable, ruleReject, rulePlainSecret, ruleUnusedTemplate, ruleOutside} {
		if Rules()[rule] == "" {
			t.Errorf("%s has no description", rule)
		}
	}
	if n := len(Rules()); n != 8 {
		t.Errorf("got %d rules, want 8", n)
	}
}

func TestASectionOutsideIsWarnedOf(t *testing.T) {
	tree := load(t, "actord.actors.a.behaviour = sink\nplugins.p { command = [x] }\nout = out\nactors = 5")
	s, err := Options{Lint: true}.Check(tree, registry(t))
	if err != nil {
		t.Fatal(err)
	}
	want := "application.conf:2:1: plugins: nothing reads this; sections stand inside actord { }, as actord.plugins"
	if got := strings.Join(byRule(s.Warnings, ruleOutside), "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
