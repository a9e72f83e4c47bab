package spec

import (
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

// TestTargets resolves targets from /user/a/from, beside which other actors and a
// bridge are declared.
func TestTargets(t *testing.T) {
	const text = `actord {
  actors {
    a { behaviour = sink, children {
      from { behaviour = router, args.default = "TARGET", children.kid.behaviour = sink }
      sister.behaviour = sink
    } }
    store.behaviour = sink
  }
  topics.news { }
  bridges {
    mail { type = broker, url = x, out.orders { } }
    web { type = web, listen = "h:0" }
  }
}`
	for _, tc := range []struct{ target, want string }{
		{"/user/store", ""},
		{"./kid", ""},
		{"../sister", ""},
		{"../../store", ""},
		{".", ""},
		{"..", ""},
		{"reply", ""},
		{"dead-letters", ""},
		{"/deadLetters", ""},
		{"bridge:mail/orders", ""},
		{"bridge:web/any", ""},
		{"/system/bridges/mail", ""},
		{"/system/watchdog", ""},
		{"/user/store/session-7", ""},
		{"/user/store/a/b", ""},
		{"/user/stor", `no actor is declared at /user/stor; did you mean "/user/store"?`},
		{"/user/a/store", `no actor is declared at /user/a/store; did you mean "/user/store"?`},
		{"/user/a/other", `no actor is declared at /user/a/other`},
		{"/user/a/from/kidd", `no actor is declared at /user/a/from/kidd; did you mean "/user/a/from/kid"?`},
		{"./nobody", `target "./nobody" of /user/a/from: no actor is declared at /user/a/from/nobody`},
		{"../../../..", `"../../../.." leaves the tree from /user/a/from`},
		{"bridge:mial/orders", `bridge "mial" is not declared; did you mean "mail"?`},
		{"bridge:mail/order", `bridge "mail" has no out "order"; did you mean "orders"?`},
		{"/system/bridges/webb", `bridge "webb" is not declared; did you mean "web"?`},
		{"topic:news", ""},
		{"topic:nevs", `topic "nevs" is not declared; did you mean "news"?`},
		{"topic:x/y", `name "x/y" holds '/'; a name is one path segment without '/', '\' and control characters`},
		{"/user/a/routee-2", ""},
		{"/user", `/user is no actor's path (want /user/NAME); did you mean "/user/a"?`},
		{"/temp/x", `/temp/x is no actor's path (want /user/NAME)`},
		{"/store", `/store is no actor's path (want /user/NAME); did you mean "/user/store"?`},
		{"store", `"store" is not a target (want /user/NAME, ./CHILD, ../SIBLING, bridge:NAME/OUT, topic:NAME, reply or dead-letters)`},
	} {
		t.Run(tc.target, func(t *testing.T) {
			got := strings.Join(mistakes(t, strings.Replace(text, "TARGET", tc.target, 1)), "\n")
			want := tc.want
			if want != "" {
				want = "application.conf:4:49: actors.a.children.from.args.default: " + want
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestCollidingAddresses(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"127.0.0.1:80", "127.0.0.1:80", true},
		{"localhost:80", "127.0.0.1:80", true},
		{":80", "10.0.0.1:80", true},
		{"[::]:80", "10.0.0.1:80", true},
		{"10.0.0.1:80", "10.0.0.2:80", false},
		{"10.0.0.1:80", "10.0.0.1:81", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
		{"Example:80", "example:80", true},
	} {
		if got := collide(tc.a, tc.b); got != tc.want {
			t.Errorf("%s and %s: got %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestAnUDPAddressMayEqualATCPAddress(t *testing.T) {
	if got, want := network("udp"), "udp"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := network("tcp-server"), "tcp"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestATargetOfABridgeStartsAtItsActor(t *testing.T) {
	got := mistakes(t, `actord { bridges.w { type = web, listen = "h:1", in.x.to = "../other" } }`)
	want := `application.conf:1:60: bridges.w.in.x.to: target "../other" of /system/bridges/w: bridge "other" is not declared (known are w)`
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestAllVisitsParentsFirst(t *testing.T) {
	s := checked(t, `actord.actors {
  b { behaviour = sink, start-order = 1, children { d.behaviour = sink, c { behaviour = sink, start-order = -1 } } }
  a { behaviour = sink, start-order = 2 }
  z { behaviour = sink }
}`)
	var got []string
	for a := range s.All() {
		got = append(got, string(a.Path))
	}
	if want := "/user/z /user/b /user/b/c /user/b/d /user/a"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	for a := range s.All() {
		if a.Path == actor.User.Child("b") {
			break // the rest is not visited
		}
	}
}
