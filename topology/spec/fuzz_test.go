package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/topology/hocon"
)

// FuzzCheck checks any text that is HOCON: it gives a system or mistakes that all
// have a place, and the same text gives the same result twice.
func FuzzCheck(f *testing.F) {
	f.Add(Reference())
	f.Add(`actord.actors.a { behaviour = router, args.rules = [ { when = "size > 1", to = [reply, ./b] } ], children.b.behaviour = sink }`)
	f.Add(`actord { bridge-defaults { in.codec = text, web.in = 3 }, bridges.w { type = web, listen = ":1", in { x = 3, y.to = /user } } }`)
	f.Add(`actord { actor-defaults = 3, actors = [1], plugins.p = { command = null, env { "=" = 1 } }, log.levels = { x = y } }`)
	f.Add(`actord.actors.a { supervision.rules = [ 1, {}, { when = "(", then = 7 } ], mailbox = null, args = 3 }`)
	f.Add(`actord.events.subscriptions = [ { to = reply, events = [] }, 4 ]`)
	f.Add(`actord { templates { t { use = u, count = 2 }, u.behaviour = sink }, actors { a.use = [t], b { foreach { x { n = 1 } }, use = u, name = "{key}-{index}", mailbox.capacity = "{item.n}" } } }`)
	f.Add(`actord.actors.a { foreach = [[1, {a = 2}]], behaviour = sink, description = "{item}{key}", children.k { count = 2, behaviour = sink, description = "{parent.item.x}" } }`)
	f.Add(`actord { plugins.p { command = [x], env { A { env = B }, B { command = [x] }, C = plain } } }`)
	reg := registry(f)
	f.Fuzz(func(t *testing.T, text string) {
		none := func(string) (string, bool) { return "", false }
		noFile := func(string) ([]byte, error) { return nil, errors.New("there are no files") }
		tree, err := hocon.Parse("application.conf", []byte(text), hocon.Options{Env: none, ReadFile: noFile})
		if err != nil {
			return
		}
		o := Options{Secrets: &Secrets{Env: none, NoExec: true}, Lint: true, MaxActors: 500}
		_, _ = o.Plugins(tree)
		s, err := o.Check(tree, reg)
		o.Before = s
		again, errAgain := o.Check(tree, reg)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) || err == nil && s.Hash != again.Hash {
			t.Fatalf("got %v, then %v", err, errAgain)
		}
		if all, ok := errors.AsType[hocon.Errors](err); err != nil && !ok {
			t.Fatalf("got %T, want hocon.Errors", err)
		} else {
			for _, e := range all {
				if e.Pos.Line == 0 || strings.HasPrefix(e.Path, root+".") {
					t.Errorf("got %+v, want a place and a path without actord", e)
				}
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "a%d { behaviour = router, args.default = /user/a%d, mailbox.capacity = 100 }\n", i, (i+1)%1000)
	}
	tree, reg := load(b, "actord.actors {"+text.String()+"}"), registry(b)
	for b.Loop() {
		if _, err := Check(tree, reg); err != nil {
			b.Fatal(err)
		}
	}
}
