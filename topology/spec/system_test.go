package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/phase"
)

func TestMistakesInTheSystemsSections(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a phase that follows an unknown one", `shutdown.phases.flush { after = [service-stopp] }`,
			`shutdown.phases.flush.after: it follows a phase that does not exist: "service-stopp"; did you mean "service-stop"?`},
		{"phases in a circle", `shutdown.phases { a { after = [b] }, b { after = [a] } }`,
			`shutdown.phases.a.after: phases follow each other in a circle: a follows b follows a`},
		{"a phase with a bad name", `shutdown.phases."a/b" { timeout = 1s }`, `shutdown.phases.a/b: name "a/b" holds '/'`},
		{"a drain that does not fit its phase", `shutdown.phases.actor-system-terminate.timeout = 2s`,
			`shutdown.phases.actor-system-terminate.timeout: the drain does not fit: its timeout of 2s must be longer than the 2s`},
		{"a drain that is too long", `system.shutdown-drain-timeout = 10s`,
			`system.shutdown-drain-timeout: the drain does not fit: its timeout of 5s must be longer than the 10s for which a shutdown waits for the actors to become quiet; raise shutdown.phases.actor-system-terminate.timeout or lower system.shutdown-drain-timeout`},
		{"a drain that does not fit the default", `shutdown.default-phase-timeout = 1s`, `shutdown.default-phase-timeout: the drain does not fit`},
		{"an unknown key of a phase", `shutdown.phases.flush { timeoutt = 1s }`, `shutdown.phases.flush.timeoutt: unknown key; did you mean "timeout"?`},
		{"an unknown store", `dead-letters.store = memry`, `dead-letters.store: "memry" is not one of off, metrics, memory; did you mean "memory"?`},
		{"no room for dead letters", `dead-letters.max-entries = 0`, `dead-letters.max-entries: 0 is too small (want at least 1)`},
		{"threads for the default dispatcher", `dispatchers.default.threads = 2`, `dispatchers.default.threads: the default dispatcher cannot have threads of its own`},
		{"an unknown key of a dispatcher", `dispatchers.own { thread = 2 }`, `dispatchers.own.thread: unknown key; did you mean "threads"?`},
		{"a dispatcher that is no object", `dispatchers.own = 2`, `dispatchers.own: `},
		{"a dispatcher that is not declared", `dispatchers.own { threads = 2 }, actors.a { behaviour = sink, children.b { behaviour = sink, dispatcher = pined } }`,
			`actors.a.children.b.dispatcher: dispatcher "pined" is not declared; did you mean "pinned"?`},
		{"a dispatcher that no default declares", `actor-defaults.dispatcher = blocking, actors.a.behaviour = sink`,
			`actors.a.dispatcher: dispatcher "blocking" is not declared (known are default, pinned)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := mistakes(t, "actord { "+tc.text+" }")
			if len(got) != 1 || !strings.Contains(got[0], ": "+tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheSystemsSectionsAreRead(t *testing.T) {
	s := checked(t, `actord {
		shutdown { default-phase-timeout = 7s, phases { flush { after = [service-stop], recover = off }, actor-system-terminate.timeout = 1m } }
		dead-letters { store = memory, max-entries = 5, retention = 0s, max-replays = 0, include-drops = on }
		dispatchers { default.throughput = 9, io { threads = 4, time-slice = unlimited } }
		actors { a { behaviour = sink, dispatcher = io }, b.behaviour = sink }
	}`)
	if want := (phase.Settings{DefaultTimeout: 7 * time.Second, Phases: []phase.Phase{
		{Name: "flush", After: []string{"service-stop"}, Halt: true}, {Name: phase.Terminate, Timeout: time.Minute},
	}}); !reflect.DeepEqual(s.Shutdown, want) {
		t.Errorf("shutdown: got %+v, want %+v", s.Shutdown, want)
	}
	if want := (DeadLetters{"memory", 5, 0, 0, true}); s.DeadLetters != want {
		t.Errorf("dead letters: got %+v, want %+v", s.DeadLetters, want)
	}
	want := map[string]Dispatcher{
		"default": {9, 10 * time.Millisecond, 0}, "pinned": {256, 10 * time.Millisecond, 1}, "io": {256, -1, 4},
	}
	if !maps.Equal(s.Dispatchers, want) {
		t.Errorf("dispatchers: got %v, want %v", s.Dispatchers, want)
	}
	if got := s.Actors[0].Dispatcher + " " + s.Actors[1].Dispatcher; got != "io default" {
		t.Errorf("actors: got %s, want io default", got)
	}
}

func TestAnActorIsCheckedAgainWhenItsDispatcherIsGone(t *testing.T) {
	text := "actord { actors.a { behaviour = sink, dispatcher = own }, %s }"
	reg := registry(t)
	before, err := Check(load(t, strings.Replace(text, "%s", "dispatchers.own.threads = 1", 1)), reg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Options{Before: before}.Check(load(t, strings.Replace(text, "%s", "", 1)), reg)
	if err == nil || !strings.Contains(err.Error(), `dispatcher "own" is not declared`) {
		t.Errorf("got %v, want the dispatcher that is gone", err)
	}
}

func TestABridgeThatListensSaysSo(t *testing.T) {
	s := checked(t, `actord.bridges { b { type = broker, url = x }, w { type = web, listen = ":80" } }`)
	if got, want := []bool{s.Bridges[0].Listens, s.Bridges[1].Listens}, []bool{false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
