package actord

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/hocon"
)

// draft is a configuration that is put together at random, a line for each thing
// that a mutation can touch.
type draft struct {
	rand  *rand.Rand
	lines []string
	marks map[string][]mark // what can be mutated, by kind
	names []string
}

// mark is a line with the key path that it is about.
type mark struct {
	line int // index
	path string
}

func (d *draft) add(kind, path, format string, args ...any) {
	if kind != "" {
		d.marks[kind] = append(d.marks[kind], mark{len(d.lines), path})
	}
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// newDraft makes a configuration that is right.
func newDraft(seed uint64) *draft {
	d := &draft{rand: rand.New(rand.NewPCG(seed, 7)), marks: map[string][]mark{}}
	d.add("", "", "actord {")
	d.add("name", "system.name", "system.name = s%d", seed)
	d.add("level", "log.level", "log.level = %s", d.pick("error", "warn"))
	d.add("", "", "reload.watch = off")
	d.add("", "", "templates.t {")
	d.add("template", "templates.t.stop-timeout", "stop-timeout = %s", d.pick("1s", "500 ms", "2 seconds"))
	d.add("", "", "}")
	n := 2 + d.rand.IntN(6)
	for i := range n {
		d.names = append(d.names, fmt.Sprintf("a%d", i))
	}
	d.add("", "", "actors {")
	for i, name := range d.names {
		d.actor("actors."+name, name, i)
	}
	d.add("", "", "many {")
	d.add("foreach", "actors.many.foreach", "foreach = [ { n = 5 }, { n = 6 } ]")
	d.add("", "", "behaviour = counter")
	d.add("item", "actors.many.foreach", "mailbox.capacity = \"{item.n}\"")
	d.add("", "", "}")
	d.add("", "", "}")
	d.add("subscription", "events.subscriptions[0].to", "events.subscriptions = [ { to = /user/%s, events = [dead-letter] } ]", d.names[0])
	d.add("", "", "bridges.web {")
	d.add("", "", "type = http-server")
	d.add("listen", "bridges.web.listen", "listen = \"127.0.0.1:0\"")
	d.add("in", "bridges.web.in.x.to", "in.x { path = /x, to = /user/%s }", d.pick(d.names...))
	d.add("", "", "}")
	d.add("", "", "}")
	return d
}

func (d *draft) pick(words ...string) string { return words[d.rand.IntN(len(words))] }

func (d *draft) actor(path, name string, i int) {
	d.add("actor", path, "%s {", name)
	if d.rand.IntN(2) == 0 {
		d.add("use", path+".use", "use = t")
	}
	if i > 0 && d.rand.IntN(2) == 0 {
		d.add("behaviour", path+".behaviour", "behaviour = router")
		d.add("default", path+".args.else", "args.else = /user/%s", d.names[0])
		d.add("when", path+".args.rules[0].when", "args.rules = [ { when = \"%s\", to = /user/%s } ]", d.pick("msg.n > 1", "kind == 'x'", "true"), d.names[0])
	} else {
		d.add("behaviour", path+".behaviour", "behaviour = counter")
	}
	d.add("capacity", path+".mailbox.capacity", "mailbox.capacity = %d", 1+d.rand.IntN(1000))
	switch d.rand.IntN(3) {
	case 0:
		d.add("overflow", path+".mailbox.overflow", "mailbox.overflow = %s", d.pick("drop-head", "drop-new", "reject", "block"))
	case 1:
		d.add("priority", path+".mailbox.priority", "mailbox.priority = \"%s\"", d.pick("msg.rank", "kind == 'a' ? 0 : 1", "size"))
	}
	d.add("timeout", path+".stop-timeout", "stop-timeout = %s", d.pick("1s", "100ms", "1 minute"))
	d.add("failure", path+".supervision.on-failure", "supervision.on-failure = %s", d.pick("restart", "resume", "stop", "escalate"))
	d.add("backoff", path+".supervision.backoff.min", "supervision.backoff { max = 2s, min = %s }", d.pick("0s", "10ms", "1s"))
	d.add("rules", path+".supervision.rules[0].when", "supervision.rules = [ { when = \"error contains 'x'\", then = %s } ]", d.pick("stop", "resume"))
	d.add("", "", "}")
}

// mutation is one change to one line, and what the mistake must say; "" for a
// change after which the configuration is right.
type mutation struct {
	kind, from, to, err string
	path                string // of the mistake, when it is not that of the line; $ stands for that
}

// mutations is everything that a configuration can do wrong, one of each sort.
var mutations = []mutation{
	{kind: "name", from: "= s", to: "= ${NOT_SET_ANYWHERE}", err: "NOT_SET_ANYWHERE", path: "actord.$"},
	{kind: "name", from: "= s", to: "= [s], x = ", err: "is not a string"},
	{kind: "name", from: "= s", to: `= "a/b" # `, err: "name"},
	{kind: "name", from: "system.name", to: "system.nmae", err: `unknown key; did you mean "name"?`, path: "system.nmae"},
	{kind: "name", from: "system.name", to: "sistem.name", err: `unknown key; did you mean "system"?`, path: "sistem"},
	{kind: "name", from: "= s", to: "= { } # ", err: "is not a string"},
	{kind: "level", from: "= ", to: "= very-", err: "is not one of debug, info, warn, error"},
	{kind: "template", from: "stop-timeout = ", to: "stop-timeout = 3 # ", err: "has no unit"},
	{kind: "template", from: "stop-timeout", to: "stop-timeuot", err: `unknown key; did you mean "stop-timeout"?`, path: "templates.t.stop-timeuot"},
	{kind: "foreach", from: "n = 6", to: "m = 6", err: "has no n", path: "actors.many.mailbox.capacity"},
	{kind: "foreach", from: "n = 6", to: "n = x", err: "is not a number", path: "$[1].n"},
	{kind: "foreach", from: "= [", to: "= 5 # ", err: "is neither a list nor a map"},
	{kind: "foreach", from: "foreach", to: "count = 2, foreach", err: "count and foreach exclude each other", path: "actors.many.count"},
	{kind: "foreach", from: "foreach", to: "name = same, foreach", err: "two actors would be /user/same", path: "actors.many.name"},
	{kind: "use", from: "= t", to: "= [t, tt]", err: `template "tt" is not declared`, path: "$[1]"},
	{kind: "actor", from: " {", to: " { childern.x.behaviour = counter", err: `unknown key; did you mean "children"?`, path: "$.childern"},
	{kind: "actor", from: " {", to: " { children.x = 5", err: "an actor is an object", path: "$.children.x"},
	{kind: "actor", from: " {", to: " { children.x { }", err: "is required", path: "$.children.x.behaviour"},
	{kind: "actor", from: " {", to: " { args.nonsense = 5", err: "unknown key", path: "$.args.nonsense"},
	{kind: "actor", from: " {", to: " { children.\"$x\".behaviour = counter", err: "name", path: `$.children.*`},
	{kind: "behaviour", from: "= ", to: "= x-", err: "unknown behaviour"},
	{kind: "behaviour", from: "= ", to: "= none/", err: `plugin "none" is not declared`},
	{kind: "behaviour", from: "behaviour = ", to: "behaviour = null # ", err: "is required"},
	{kind: "default", from: "/user/a0", to: "/user/nobody", err: "no actor is declared at /user/nobody", path: "$"},
	{kind: "default", from: "/user/a0", to: `"bridge:mail/x"`, err: `bridge "mail" is not declared`, path: "$"},
	{kind: "default", from: "/user/a0", to: `"topic:news"`, err: "news", path: "$"},
	{kind: "default", from: "/user/a0", to: "a0", err: "is not a target", path: "$"},
	{kind: "default", from: "/user/a0", to: "../../../x", err: "leaves the tree", path: "$"},
	{kind: "when", from: `when = "`, to: `when = "mgs.n > `, err: "unknown name mgs"},
	{kind: "when", from: `when = "`, to: `when = "1 + 1", x = "`, err: "gives a number", path: "$"},
	{kind: "when", from: `when = "`, to: `when = "(`, err: "expression"},
	{kind: "capacity", from: "= ", to: "= -", err: "is too small"},
	{kind: "capacity", from: "= ", to: "= many", err: "is not a number"},
	{kind: "capacity", from: "= ", to: "= 9999999999999", err: "is"},
	{kind: "overflow", from: "= ", to: "= maybe-", err: "is not one of"},
	{kind: "priority", from: "= ", to: "= kind, x = ", err: "a number is wanted", path: "$"},
	{kind: "timeout", from: "= ", to: "= 5 # ", err: "has no unit"},
	{kind: "timeout", from: "= ", to: "= -", err: "is too small"},
	{kind: "timeout", from: "= ", to: "= 5 lightyears # ", err: "is not a duration"},
	{kind: "failure", from: "= ", to: "= re", err: "is not one of"},
	{kind: "backoff", from: "max = 2s, min = ", to: "max = 1ms, min = 1h }#", err: "is longer than max", path: "$"},
	{kind: "rules", from: "then = ", to: "then = un", err: "is not one of", path: "*.then"},
	{kind: "rules", from: "then = ", to: "them = ", err: "is", path: "*"},
	{kind: "subscription", from: "to = /user/a0", to: "to = reply", err: "is nobody here"},
	{kind: "subscription", from: "dead-letter]", to: "dead-leter]", err: `did you mean "dead-letter"?`, path: "events.subscriptions[0].events[0]"},
	{kind: "listen", from: "127.0.0.1:0", to: "nowhere", err: "is not an address"},
	{kind: "listen", from: "\"127.0.0.1:0\"", to: "\"127.0.0.1:6553\" }, bridges.other { type = http-server, listen = \"127.0.0.1:6553\"", err: "is listened on already", path: "bridges.other.listen"},
	{kind: "in", from: "to = ", to: "to = /user/nobody, x = ", err: "no actor is declared at /user/nobody", path: "$"},
	{kind: "in", from: "path = /x", to: "path = x", err: "is not a path", path: "bridges.web.in.x.path"},

	{kind: "timeout", from: "stop-timeout = ", to: "description = "},
	{kind: "timeout", from: "= ", to: "= 1 hour # "},
	{kind: "level", from: "= ", to: "= debug # "},
	{kind: "foreach", from: "n = 6", to: "n = unlimited"},
	{kind: "foreach", from: "= [", to: "= [ ] # "},
	{kind: "failure", from: "= ", to: "= null # "},
}

// apply changes a random line of the mutation's kind; ok is false when there is none.
func (m mutation) apply(d *draft) (text string, at mark, ok bool) {
	places := d.marks[m.kind]
	if len(places) == 0 {
		return "", mark{}, false
	}
	at = places[d.rand.IntN(len(places))]
	lines := slices.Clone(d.lines)
	lines[at.line] = strings.Replace(lines[at.line], m.from, m.to, 1)
	return strings.Join(lines, "\n") + "\n", at, lines[at.line] != d.lines[at.line]
}

// TestWhatCheckAcceptsStartsAndWhatItRefusesDoesNot mutates configurations and
// compares check with a start.
func TestWhatCheckAcceptsStartsAndWhatItRefusesDoesNot(t *testing.T) {
	configurations, each := uint64(500), uint64(20) // each configuration gets every twentieth mutation
	if testing.Short() {
		configurations, each = 25, 1
	}
	a := &app{env: func(string) (string, bool) { return "", false }}
	reg, err := a.registry()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "application.conf")
	src := topology.Source{File: file, Registry: reg, Options: hocon.Options{Env: a.env}}
	done, failed := map[int]int{}, map[int]bool{}
	for seed := range configurations {
		d := newDraft(seed)
		if err := tried(t, src, strings.Join(d.lines, "\n")); err != nil {
			t.Fatalf("configuration %d is not right: %v\n%s", seed, err, strings.Join(d.lines, "\n"))
		}
		for i, m := range mutations {
			if (uint64(i)+seed)%each != 0 {
				continue
			}
			text, at, ok := m.apply(d)
			if !ok {
				continue
			}
			done[i]++
			if problem := m.wrong(tried(t, src, text), at); problem != "" && !failed[i] {
				failed[i] = true // one of each sort tells enough
				t.Errorf("configuration %d, %q for %q in line %d: %s", seed, m.to, m.from, at.line+1, problem)
			}
		}
	}
	for i, m := range mutations {
		if done[i] == 0 {
			t.Errorf("%q for %q was never tried", m.to, m.from)
		}
	}
}

// wrong says what is wrong with the answer to a mutation; "" when nothing is.
func (m mutation) wrong(err error, at mark) string {
	switch {
	case m.err == "" && err != nil:
		return fmt.Sprintf("got %v, want no mistake", err)
	case m.err == "":
		return ""
	case err == nil:
		return "got no mistake"
	}
	path := strings.ReplaceAll(m.path, "$", at.path)
	if path == "" {
		path = at.path
	}
	for line := range strings.Lines(err.Error()) {
		place, what, ok := strings.Cut(line, ": ")
		path, any := strings.CutPrefix(path, "*")
		path, prefix := strings.CutSuffix(path, "*")
		rightPath := strings.HasPrefix(what, path+": ") || any && strings.Contains(what, path+": ") || prefix && strings.HasPrefix(what, path)
		rightLine := strings.HasPrefix(place, fmt.Sprintf("application.conf:%d:", at.line+1)) || m.kind == "foreach" && strings.HasPrefix(place, "application.conf:")
		if ok && rightPath && rightLine && strings.Contains(what, m.err) {
			return ""
		}
	}
	return fmt.Sprintf("got\n%v\nwant line %d, %s: … %s", err, at.line+1, path, m.err)
}

// tried checks and starts a configuration and returns the mistake; the two must agree.
func tried(t *testing.T, src topology.Source, text string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := os.WriteFile(src.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(src.File)
	short := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	rev, err := src.Load(ctx, nil)
	if err == nil {
		err = rev.Close(ctx, nil)
	}
	env := func(name string) (string, bool) { return filepath.Join(dir, "state"), name == "XDG_STATE_HOME" }
	top, started := topology.Start(ctx, src, topology.Options{Log: slog.New(slog.DiscardHandler), Env: env})
	if started == nil {
		if err := top.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if (err == nil) != (started == nil) || err != nil && err.Error() != started.Error() {
		t.Fatalf("check says %v, start says %v\n%s", err, started, text)
	}
	return short(err)
}
