package host

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

func TestLoopbackManifest(t *testing.T) {
	m, err := Describe(t.Context(), testConfig("plugin"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range m.Behaviours {
		names = append(names, s.Name)
	}
	want := []string{"testing/echo", "testing/count", "testing/trouble", "testing/tools"}
	if !reflect.DeepEqual(names, want) || m.Name != "testing" || m.Version != "0.1.0" || m.SDK != "go/1" {
		t.Errorf("got %s %s %s %v; want testing 0.1.0 go/1 %v", m.Name, m.Version, m.SDK, names, want)
	}
	step, _ := m.Behaviours[1].Field("step")
	if step.Kind != actor.IntField || step.Default != int64(1) || step.Doc != "How much a message counts." {
		t.Errorf("got %+v; want the field as the plugin declares it", step)
	}
}

func TestLoopbackBodiesSurvive(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("echo", "echo", nil, nil)
	for _, body := range []any{
		nil, true, int64(math.MinInt64), 3.0, "text", []byte{0, 255}, []any{int64(1), 1.0, "a", nil},
		map[string]any{"amount": 12.5, "items": []any{map[string]any{"n": int64(1)}}, "sig": []byte("x")},
	} {
		if got := r.ask("/user/echo", "any", body); got.Kind != "any" || !reflect.DeepEqual(got.Body, body) {
			t.Errorf("got %q %#v; want %#v", got.Kind, got.Body, body)
		}
	}
	m := actor.Message{Kind: "k", Headers: actor.Headers{"topic": "orders"}}
	if got, err := r.sys.Lookup("/user/echo").(actor.Asker).Ask(t.Context(), m); err != nil || got.Headers["topic"] != "orders" {
		t.Errorf("got %+v, %v; want the headers", got, err)
	}
}

func TestLoopbackOrderSenderAndTrace(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("echo", "echo", map[string]any{"to": "/user/probe"}, nil)
	const n = 5000
	for i := range n {
		r.tell("/user/echo", "n", int64(i))
	}
	for i := range n {
		if got := r.probe(); got.Body != int64(i) {
			t.Fatalf("got %v; want %d: messages are out of order", got.Body, i)
		}
	}
	r.spawn("tools", "tools", nil, nil)
	trace := actor.NewTraceID()
	got, err := r.sys.Lookup("/user/tools").(actor.Asker).Ask(actor.WithTrace(t.Context(), trace), actor.Message{Kind: "trace"})
	if err != nil || got.Body != trace.String() {
		t.Errorf("got %v, %v; want the trace %s", got.Body, err, trace)
	}
}

func TestLoopbackContext(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("tools", "tools", nil, nil)
	r.spawn("echo", "echo", nil, nil)
	for _, tc := range []struct {
		name, kind string
		body       any
		want       string
	}{
		{"a reply to an ask", "ask", "/user/echo", "<nil>"},
		{"an ask without reply", "ask", "/user/probe", "true ask /user/probe: no reply in time"},
		{"an ask to nobody", "ask", "/user/nobody", "stopped"},
		{"an ask to itself", "ask", "/user/tools", "cannot wait for itself"},
		{"no children", "spawn", nil, "true plugin testing: Spawn is not available"},
		{"a cancelled timer", "after", nil, "true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := r.ask("/user/tools", tc.kind, tc.body)
			if text := strings.TrimSpace(sprint(got.Body)); !strings.Contains(text, tc.want) {
				t.Errorf("got %s; want %q", text, tc.want)
			}
		})
	}
	for len(r.probed) > 0 {
		<-r.probed
	}
	r.tellAsProbe("/user/tools", "after")
	if got := r.probe(); got.Kind != "armed" {
		t.Errorf("got %s; want armed", got.Kind)
	}
	if got := r.probe(); got.Kind != "ticked" {
		t.Errorf("got %s; want ticked", got.Kind)
	}
	r.tell("/user/tools", "every", nil)
	eventually(t, "the timer ticks", func() bool { return r.ask("/user/tools", "ticks", nil).Body.(int64) > 2 })
	r.tellAsProbe("/user/tools", "later")
	if got := r.probe(); got.Kind != "late" {
		t.Errorf("got %s; want late", got.Kind)
	}
	r.tell("/user/tools", "publish", nil)
	eventually(t, "the event is published", func() bool { return len(seen[remoteEvent](r)) == 1 })
	r.tell("/user/tools", "fail-later", nil)
	eventually(t, "the actor fails", func() bool { return len(seen[actor.Failed](r)) == 1 })
	eventually(t, "timers end with the incarnation", func() bool { return r.ask("/user/tools", "ticks", nil).Body == int64(0) })
	r.tell("/user/tools", "stop", nil)
	eventually(t, "the actor stops", func() bool { _, ok := r.sys.Find("/user/tools"); return !ok })
}

func TestLoopbackLettersGivenBackReturnToTheMailbox(t *testing.T) {
	for _, kind := range []string{"give-back", "fail-back"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t, nil)
			r.spawn("tools", "tools", nil, nil)
			answer := make(chan actor.Message, 1)
			go func() {
				if m, err := r.tryAsk("/user/tools", "keep", "letter"); err == nil {
					answer <- m
				}
			}()
			eventually(t, "the letter is there", func() bool { return r.plugin.sentAll(1) })
			r.tell("/user/tools", kind, nil)
			select {
			case m := <-answer:
				if m.Kind != "kept again" || m.Body != "letter" {
					t.Errorf("got %v; want the letter a second time", m)
				}
			case <-time.After(patience):
				t.Error("got no answer; want the letter a second time, with its sender")
			}
		})
	}
}

func TestLoopbackAHandlerThatAsksIsNotHung(t *testing.T) {
	r := newRig(t, func(c *Config) { c.HandlerTimeout = 100 * time.Millisecond })
	r.spawn("tools", "tools", nil, nil)
	r.mustSpawn(runtime.Spec{Name: "slow", Settings: runtime.DefaultSettings(), New: func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			<-time.After(400 * time.Millisecond)
			return ctx.Reply(actor.Message{Kind: "done", Body: "at last"})
		}), nil
	}})
	if got := r.ask("/user/tools", "patient-ask", nil); got.Body != "at last" {
		t.Errorf("got %v; want the answer", got)
	}
	if n := len(seen[actor.PluginExited](r)); n != 0 {
		t.Errorf("got %d exits; want none", n)
	}
}

func TestLoopbackATimersTraceGoesOn(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("tools", "tools", nil, nil)
	trace := make(chan string, 1)
	r.mustSpawn(runtime.Spec{Name: "tracer", Settings: runtime.DefaultSettings(), New: func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			if m.Kind == "traced" {
				trace <- m.Body.(string) + " " + ctx.Trace().String()
				return nil
			}
			return ctx.Tell(ctx.Lookup("/user/tools"), actor.Message{Kind: "tick-trace"})
		}), nil
	}})
	r.tell("/user/tracer", "go", nil)
	select {
	case got := <-trace:
		if in, out, _ := strings.Cut(got, " "); in != out || in == "" {
			t.Errorf("got %s behind the timer's %s; want the same trace", out, in)
		}
	case <-time.After(patience):
		t.Error("got nothing from the timer")
	}
}

func TestLoopbackPublishesToATopic(t *testing.T) {
	r := newRig(t, func(c *Config) {
		lookup := c.Lookup
		c.Topic = func(name string) actor.Ref {
			if name != "news" {
				t.Errorf("got topic %q; want news", name)
			}
			return lookup("/user/probe")
		}
	})
	r.spawn("tools", "tools", nil, nil)
	r.tell("/user/tools", "topic", "hello")
	if got := r.probe(); got.Kind != "topic" || got.Body != "hello" {
		t.Errorf("got %v; want the message", got)
	}
}

func TestLoopbackLogs(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("tools", "tools", nil, nil)
	r.ask("/user/tools", "log", nil)
	eventually(t, "the plugin's print is logged", func() bool { return strings.Contains(r.log.String(), "printed by the plugin") })
	eventually(t, "the plugin's record is logged", func() bool { return strings.Contains(r.log.String(), "from the plugin") })
	for _, want := range []string{"plugin=testing", "actor=/user/tools", "trace=", "a=1", "g.b=two"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("got no %q in the log; want it", want)
		}
	}
}

func TestLoopbackArguments(t *testing.T) {
	r := newRig(t, nil)
	for _, tc := range []struct {
		name string
		args map[string]any
		want string
	}{
		{"the schema refuses", map[string]any{"step": int64(0)}, "too small"},
		{"an unknown key", map[string]any{"stp": int64(1)}, "unknown key"},
		{"the behaviour refuses", map[string]any{"label": "bad"}, "label: bad is not allowed"},
		{"good ones", map[string]any{"step": int64(2)}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := prepare(r.plugin, "count", tc.args)
			if got := sprint(err); (err == nil) != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %v; want %q", err, tc.want)
			}
		})
	}
}

func TestLoopbackFailureIsTheActorsAlone(t *testing.T) {
	for _, tc := range []struct {
		kind, want string
		directive  supervise.Directive
		seen       []any
	}{
		{"error", "did not like it", supervise.Restart, []any{int64(2), int64(3)}},
		{"panic", "panic: asked to", supervise.Restart, []any{int64(2), int64(3)}},
		{"goexit", "Goexit", supervise.Restart, []any{int64(2), int64(3)}},
		{"error", "did not like it", supervise.Resume, []any{int64(1), int64(2), int64(3)}},
	} {
		t.Run(tc.kind+" then "+tc.directive.String(), func(t *testing.T) {
			r := newRig(t, nil)
			policy := func(s *runtime.Settings) {
				s.Supervision = &supervise.Strategy{OnFailure: tc.directive, MaxRestarts: supervise.Unlimited}
			}
			r.spawn("trouble", "trouble", nil, policy)
			r.spawn("echo", "echo", nil, nil)
			pid := r.plugin.PID()
			r.tell("/user/trouble", "ok", int64(1))
			r.tell("/user/trouble", "slow", int64(1))
			r.ask("/user/trouble", "seen", nil)
			r.tell("/user/trouble", tc.kind, "lost")
			r.tell("/user/trouble", "ok", int64(2))
			r.tell("/user/trouble", "ok", int64(3))
			want := tc.seen
			if tc.directive == supervise.Resume {
				want = append([]any{int64(1)}, want...)
			}
			if got := r.ask("/user/trouble", "seen", nil).Body; !reflect.DeepEqual(got, want) {
				t.Errorf("got %v; want %v: the failed message is skipped, the rest is handled once and in order", got, want)
			}
			failures := seen[actor.Failed](r)
			if len(failures) != 1 || !strings.Contains(failures[0].Cause.Error(), tc.want) {
				t.Errorf("got failures %v; want one with %q", failures, tc.want)
			}
			if got := r.lettered(actor.ReasonFailed); !reflect.DeepEqual(got, []any{"lost"}) {
				t.Errorf("got dead letters %v; want the message it failed on", got)
			}
			r.ask("/user/echo", "x", nil)
			if r.plugin.PID() != pid {
				t.Errorf("got process %d; want %d still", r.plugin.PID(), pid)
			}
		})
	}
}

func TestLoopbackAskOfAFailingHandlerEndsAtOnce(t *testing.T) {
	r := newRig(t, nil)
	r.spawn("trouble", "trouble", nil, nil)
	begin := time.Now()
	_, err := r.tryAsk("/user/trouble", "panic", nil)
	if err == nil || !strings.Contains(err.Error(), actor.ErrActorFailed.Error()) || time.Since(begin) > patience/2 {
		t.Errorf("got %v after %s; want ErrActorFailed at once", err, time.Since(begin))
	}
}

func TestLoopbackReconfigureAndHandOver(t *testing.T) {
	r := newRig(t, nil)
	a := r.spawn("count", "count", nil, nil)
	for range 3 {
		r.tell("/user/count", "add", nil)
	}
	r.ask("/user/count", "get", nil) // a swap overtakes what waits in the mailbox
	next, err := prepare(r.plugin, "count", map[string]any{"step": int64(10)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Swap(t.Context(), next.New, next.Reconfigure); err != nil {
		t.Fatal(err)
	}
	r.tell("/user/count", "add", nil)
	if got := r.ask("/user/count", "get", nil).Body; got != int64(13) {
		t.Errorf("in place: got %v; want 13", got)
	}
	if next, err = prepare(r.plugin, "count", map[string]any{"step": int64(99)}); err != nil {
		t.Fatal(err)
	}
	if err := a.Swap(t.Context(), next.New, next.Reconfigure); err == nil || !strings.Contains(err.Error(), "99 is too much") {
		t.Errorf("refused: got %v; want the plugin's error", err)
	}

	other, err := Open(t.Context(), r.plugin.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	moved, err := prepare(other, "count", map[string]any{"step": int64(100)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Swap(t.Context(), moved.New, moved.Reconfigure); err != nil {
		t.Fatal(err)
	}
	r.tell("/user/count", "add", nil)
	if got := r.ask("/user/count", "get", nil).Body; got != int64(113) {
		t.Errorf("in another process: got %v; want 113", got)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
