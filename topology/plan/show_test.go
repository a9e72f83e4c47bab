package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestATreeShowsWhatIsAboveAStep(t *testing.T) {
	p := Diff(
		system(t, `actord { log.level = info, actors { z.behaviour = sink, a { behaviour = router, children { k { behaviour = router, children.l.behaviour = sink }, m.behaviour = sink } } }, bridges.w { type = web, listen = "h:1" } }`),
		system(t, `actord { log.level = warn, actors { z { behaviour = sink, on-full = drop }, a { behaviour = router, children { k { behaviour = router, children.l { behaviour = sink, on-full = drop } }, n.behaviour = sink } } }, bridges.w { type = web, listen = "h:2" } }`),
	)
	var got strings.Builder
	for _, l := range p.Tree() {
		fmt.Fprintf(&got, "%s%s\n", strings.Repeat("  ", l.Depth), l.Text)
	}
	want := `~ system  configure log.level info → warn
~ /system/bridges/w  reconnect listen h:1 → h:2
  /user/a
    /user/a/k
    ~ /user/a/k/l  update on-full dead-letter → drop
  - /user/a/m  stop
  + /user/a/n  start (sink)
~ /user/z  update on-full dead-letter → drop
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

func TestAPlanForTools(t *testing.T) {
	p := Diff(
		system(t, `actord.actors { a { behaviour = router, args.token = hunter2 }, b.behaviour = sink }`),
		system(t, `actord.actors { a { behaviour = router, args.token = swordfish }, c { behaviour = sink, was = /user/b } }`),
	)
	text, err := json.Marshal(p.Steps)
	want := `[{"mark":"»","action":"rename","subject":"/user/b → /user/c","path":"/user/c","was":"/user/b"},` +
		`{"mark":"~","action":"reconfigure","subject":"/user/a","path":"/user/a","reasons":[{"key":"args.token","from":"***","to":"***","class":"handover"}]}]`
	if err != nil || string(text) != want {
		t.Errorf("got %s %v\nwant %s", text, err, want)
	}
}

func TestRenames(t *testing.T) {
	const a = "a { behaviour = sink, children.k.behaviour = sink }"
	tests := []struct{ name, before, after, want string }{
		{"the new one says where it was", a, "z { behaviour = sink, was = /user/a, children.k.behaviour = sink }", "» /user/a → /user/z  rename (with 1 below it)\n"},
		{"the old one said where it goes back to", "z { behaviour = sink, was = /user/a }", "a.behaviour = sink", "» /user/z → /user/a  rename\n"},
		{"below a parent that stays", "p { behaviour = router, children.a.behaviour = sink }", "p { behaviour = router, children.z { behaviour = sink, was = /user/p/a } }", "» /user/p/a → /user/p/z  rename\n"},
		{"what was renamed long ago is nothing", "z { behaviour = sink, was = /user/a }", "z { behaviour = sink, was = /user/a }", ""},
		{"a name that is still in use is none", "a.behaviour = sink", "a.behaviour = sink\nz { behaviour = sink, was = /user/a }", "+ /user/z  start (sink)\n"},
		{"another behaviour is no rename", "a.behaviour = sink", "z { behaviour = router, was = /user/a }", "+ /user/z  start (router)\n- /user/a  stop\n"},
		{"a parent that comes brings its own", "a.behaviour = sink", "p { behaviour = router, children.z { behaviour = sink, was = /user/a } }", "+ /user/p  start (router, with 1 below it)\n- /user/a  stop\n"},
		{"a parent that goes takes its own", "p { behaviour = router, children.a.behaviour = sink }", "z { behaviour = sink, was = /user/p/a }", "+ /user/z  start (sink)\n- /user/p  stop (with 1 below it)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Diff(system(t, "actord.actors {\n"+tt.before+"\n}"), system(t, "actord.actors {\n"+tt.after+"\n}"))
			if got := p.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
