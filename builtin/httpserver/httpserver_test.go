package httpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
	"github.com/actord/actord/runtime/mailbox"
)

const patience = 10 * time.Second

// world is a system with a bridge in it.
type world struct {
	t      *testing.T
	sys    *runtime.System
	probe  *actortest.Probe // lives at /user/orders
	bridge *runtime.Actor
	server *Server // the last instance
	events chan actor.Event
	client *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	w := &world{
		t: t, sys: runtime.New("test", runtime.WithLogger(log)), probe: actortest.NewProbe(t, "/user/orders"),
		events: make(chan actor.Event, 100), client: &http.Client{Transport: &http.Transport{}, Timeout: patience},
	}
	cancel := w.sys.Subscribe(func(e actor.Event) {
		switch e.(type) {
		case actor.BridgeConnected, actor.BridgeDisconnected, actor.Restarted:
			w.events <- e
		}
	})
	t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), patience)
		defer done()
		w.client.CloseIdleConnections()
		if err := w.sys.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	w.spawn("orders", w.probe.Producer(), runtime.DefaultSettings())
	return w
}

func (w *world) spawn(name string, p actor.Producer, s runtime.Settings) *runtime.Actor {
	w.t.Helper()
	a, err := w.sys.SpawnActor(actor.User, runtime.Spec{Name: name, New: p, Settings: s})
	if err != nil {
		w.t.Fatal(err)
	}
	w.started(a)
	return a
}

func (w *world) started(a *runtime.Actor) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := a.Started(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// config decodes what a person would write, so that defaults and checks apply.
func config(t *testing.T, args map[string]any) (actor.Prepared, error) {
	t.Helper()
	f := Factory()
	decoded, errs := f.Schema().Decode(args)
	for _, err := range errs {
		t.Fatal(err)
	}
	return f.Prepare(decoded)
}

func (w *world) prepare(args map[string]any) actor.Prepared {
	w.t.Helper()
	p, err := config(w.t, args)
	if err != nil {
		w.t.Fatal(err)
	}
	produce := p.New
	p.New = func() (actor.Behaviour, error) {
		b, err := produce()
		if err == nil {
			w.server = b.(*Server)
		}
		return b, err
	}
	return p
}

// serve starts the bridge on a free port with these routes.
func (w *world) serve(routes map[string]any, more ...any) *world {
	w.t.Helper()
	args := map[string]any{"listen": "127.0.0.1:0", "in": routes}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	a, err := w.sys.SpawnActor("/system/bridges", runtime.Spec{Name: "web", New: w.prepare(args).New, Settings: runtime.DefaultSettings()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.started(a)
	w.bridge = a
	return w
}

func (w *world) reload(args map[string]any) error {
	w.t.Helper()
	p := w.prepare(args)
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	return w.bridge.Swap(ctx, p.New, p.Reconfigure)
}

func (w *world) event() actor.Event {
	w.t.Helper()
	select {
	case e := <-w.events:
		return e
	case <-time.After(patience):
		w.t.Fatal("got no event")
		return nil
	}
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   any
}

func (w *world) post(path, body string) answer {
	w.t.Helper()
	return w.do("POST", path, "application/json", body)
}

func (w *world) do(method, path, contentType, body string) answer {
	w.t.Helper()
	return w.send(w.request(method, w.server.Addr(), path, contentType, body))
}

func (w *world) request(method, addr, path, contentType, body string) *http.Request {
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		panic(err) // the test's own mistake
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req
}

// send may be called from any goroutine.
func (w *world) send(req *http.Request) (a answer) {
	w.t.Helper()
	res, err := w.client.Do(req)
	if err != nil {
		w.t.Error(err)
		return a
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	if err := json.NewDecoder(res.Body).Decode(&a.body); err != nil {
		w.t.Errorf("got an answer that is no JSON: %v", err)
	}
	return a
}

func (a answer) field(name string) string {
	m, _ := a.body.(map[string]any)
	return fmt.Sprint(m[name])
}

func orders(more ...any) map[string]any {
	r := map[string]any{"path": "/orders", "to": "/user/orders"}
	for i := 0; i < len(more); i += 2 {
		r[more[i].(string)] = more[i+1]
	}
	return map[string]any{"order": r}
}

func TestLoopbackAcceptedMessage(t *testing.T) {
	w := newWorld(t).serve(orders())
	req := w.request("POST", w.server.Addr(), "/orders?shop=7&shop=8", "application/json; charset=utf-8",
		`{"id": 9007199254740993, "price": 2.5, "tags": ["a", null, true], "n": 1e3}`)
	req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	a := w.send(req)

	got := w.probe.Expect("order", patience)
	wantBody := map[string]any{"id": int64(9007199254740993), "price": 2.5, "tags": []any{"a", nil, true}, "n": 1000.0}
	if !reflect.DeepEqual(got.Message.Body, wantBody) {
		t.Errorf("body\n got: %#v\nwant: %#v", got.Message.Body, wantBody)
	}
	remote := got.Message.Headers["remote"]
	wantHeaders := actor.Headers{"method": "POST", "path": "/orders", "query.shop": "7", "content-type": "application/json; charset=utf-8", "remote": remote}
	if !maps.Equal(got.Message.Headers, wantHeaders) || !strings.HasPrefix(remote, "127.0.0.1:") {
		t.Errorf("headers\n got: %v\nwant: %v", got.Message.Headers, wantHeaders)
	}
	const trace = "0af7651916cd43dd8448eb211c80319c"
	if a.status != 202 || a.field("trace") != trace || got.Trace.String() != trace || !strings.HasPrefix(a.header.Get("Traceresponse"), "00-"+trace+"-") {
		t.Errorf("got %d %v, message trace %s, traceresponse %s; want 202 with trace %s", a.status, a.body, got.Trace, a.header.Get("Traceresponse"), trace)
	}
	if got.Sender != "" {
		t.Errorf("got sender %q, want none", got.Sender)
	}
}

func TestLoopbackAnswers(t *testing.T) {
	w := newWorld(t)
	busy, release := make(chan struct{}, 2), make(chan struct{})
	blocked := w.spawn("full", func() (actor.Behaviour, error) {
		return actor.Func(func(actor.Context, actor.Message) error { busy <- struct{}{}; <-release; return nil }), nil
	}, runtime.Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.Reject}})
	t.Cleanup(func() { close(release) })
	_ = blocked.Ref().Tell(t.Context(), actor.Message{})
	<-busy
	_ = blocked.Ref().Tell(t.Context(), actor.Message{}) // it waits and fills the mailbox
	w.spawn("echo", func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			switch m.Kind {
			case "fail":
				return errors.New("broken")
			case "silent":
				return nil
			}
			return ctx.Reply(actor.Message{Kind: "echo", Body: m.Body})
		}), nil
	}, runtime.DefaultSettings())
	w.serve(map[string]any{
		"order":  map[string]any{"path": "/orders", "to": "/user/orders"},
		"ping":   map[string]any{"path": "/orders", "method": "GET", "to": "/user/orders"},
		"full":   map[string]any{"path": "/full", "to": "/user/full"},
		"asked":  map[string]any{"path": "/full", "to": "/user/full", "method": "PUT", "reply": "ask"},
		"gone":   map[string]any{"path": "/gone", "to": "/user/nobody"},
		"wanted": map[string]any{"path": "/gone", "to": "/user/nobody", "method": "PUT", "reply": "ask"},
		"echo":   map[string]any{"path": "/echo", "to": "/user/echo", "reply": "ask", "timeout": "200ms"},
		"when":   map[string]any{"path": "/when", "to": "/user/orders", "when": "msg.amount > 10"},
		"bad":    map[string]any{"path": "/bad", "to": "/user/orders", "when": "msg.amount > 10", "map": "msg.amount + msg.missing"},
	}, "body-limit", "100B")

	const js = "application/json"
	tests := []struct {
		name, method, path, contentType, body string
		status                                int
		field, want                           string
		header, value                         string
	}{
		{name: "a reply is the answer", method: "POST", path: "/echo", contentType: js, body: `{"a":1}`, status: 200, field: "a", want: "1"},
		{name: "a +json type is JSON", method: "POST", path: "/echo", contentType: "application/cloudevents+json", body: `{"a":2}`, status: 200, field: "a", want: "2"},
		{name: "GET needs no body", method: "GET", path: "/orders", status: 202, field: "trace"},
		{name: "no such path", method: "POST", path: "/order", contentType: js, body: "{}", status: 404, field: "detail", want: "known paths are /bad, /echo, /full, /gone, /orders, /when"},
		{name: "no such method", method: "DELETE", path: "/orders", status: 405, field: "error", want: "method not allowed", header: "Allow", value: "GET, POST"},
		{name: "malformed JSON", method: "POST", path: "/orders", contentType: js, body: "{\n \"a\": tru }", status: 400, field: "line", want: "2"},
		{name: "an empty body", method: "POST", path: "/orders", contentType: js, status: 400, field: "detail", want: "it ends where a value is wanted"},
		{name: "a form", method: "POST", path: "/orders", contentType: "application/x-www-form-urlencoded", body: "a=1", status: 415, field: "error", want: "unsupported content type"},
		{name: "no content type", method: "POST", path: "/orders", body: "{}", status: 415, field: "detail", want: `Content-Type "" is not JSON; send Content-Type: application/json`},
		{name: "another charset", method: "POST", path: "/orders", contentType: js + "; charset=latin1", body: "{}", status: 415, field: "detail", want: `charset "latin1" is not supported; send UTF-8`},
		{name: "a large body", method: "POST", path: "/orders", contentType: js, body: `"` + strings.Repeat("x", 100) + `"`, status: 413, field: "detail", want: "at most 100B are allowed"},
		{name: "a full mailbox", method: "POST", path: "/full", contentType: js, body: "{}", status: 429, field: "error", want: "too many messages", header: "Retry-After", value: "1"},
		{name: "a full mailbox that is asked", method: "PUT", path: "/full", contentType: js, body: "{}", status: 429, field: "error", want: "too many messages", header: "Retry-After", value: "1"},
		{name: "nobody there", method: "POST", path: "/gone", contentType: js, body: "{}", status: 503, field: "error", want: "unavailable"},
		{name: "nobody there to be asked", method: "PUT", path: "/gone", contentType: js, body: "{}", status: 503, field: "error", want: "unavailable"},
		{name: "no reply in time", method: "POST", path: "/echo", contentType: js, body: `{"kind":"silent"}`, status: 504, field: "detail", want: "the actor did not reply within 200ms"},
		{name: "the actor fails", method: "POST", path: "/echo", contentType: js, body: `{"kind":"fail"}`, status: 500, field: "error", want: "the actor failed"},
		{name: "the condition is false", method: "POST", path: "/when", contentType: js, body: `{"amount":1}`, status: 422, field: "error", want: "no route takes this message"},
		{name: "the condition is true", method: "POST", path: "/when", contentType: js, body: `{"amount":11}`, status: 202, field: "trace"},
		{name: "an expression fails", method: "POST", path: "/bad", contentType: js, body: `{"amount":11}`, status: 422, field: "error", want: "an expression fails on this body"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := w.do(tt.method, tt.path, tt.contentType, tt.body)
			got := a.field(tt.field)
			if a.status != tt.status || tt.want != "" && got != tt.want || got == "" {
				t.Errorf("got %d %v, want %d with %s = %s", a.status, a.body, tt.status, tt.field, tt.want)
			}
			if got := a.header.Get(tt.header); tt.header != "" && got != tt.value {
				t.Errorf("got %s: %q, want %q", tt.header, got, tt.value)
			}
			if ct := a.header.Get("Content-Type"); ct != "application/json" || a.header.Get("Traceresponse") == "" {
				t.Errorf("got content type %q and traceresponse %q, want JSON with a trace", ct, a.header.Get("Traceresponse"))
			}
		})
	}
}

func TestLoopbackKindAndMap(t *testing.T) {
	w := newWorld(t).serve(map[string]any{
		"constant": map[string]any{"path": "/constant", "to": "/user/orders", "kind": "fixed"},
		"named":    map[string]any{"path": "/named", "to": "/user/orders"},
		"mapped":   map[string]any{"path": "/mapped", "to": "/user/orders", "map": "{kind: 'made', n: msg.n + 1, q: headers['query.x']}"},
		"a-urgent": map[string]any{"path": "/two", "to": "/user/orders", "when": "msg.kind == 'urgent'", "kind": "first"},
		"b-other":  map[string]any{"path": "/two", "to": "/user/orders"},
	})
	for _, tt := range []struct {
		name, path, body, kind string
		want                   any
	}{
		{"the route's kind wins", "/constant", `{"kind":"body"}`, "fixed", map[string]any{"kind": "body"}},
		{"the body's kind comes next", "/named", `{"kind":"body"}`, "body", map[string]any{"kind": "body"}},
		{"the route's name is last", "/named", `[1]`, "named", []any{int64(1)}},
		{"map gives the body and its kind", "/mapped?x=y", `{"n":1}`, "made", map[string]any{"kind": "made", "n": int64(2), "q": "y"}},
		{"the first route that takes it", "/two", `{"kind":"urgent"}`, "first", map[string]any{"kind": "urgent"}},
		{"the route without a condition takes the rest", "/two", `{}`, "b-other", map[string]any{}},
	} {
		if a := w.post(tt.path, tt.body); a.status != 202 {
			t.Fatalf("%s: got %d %v, want 202", tt.name, a.status, a.body)
		}
		if got := w.probe.Expect(tt.kind, patience); !reflect.DeepEqual(got.Message.Body, tt.want) {
			t.Errorf("%s: got %#v, want %#v", tt.name, got.Message.Body, tt.want)
		}
	}
}

func TestLoopbackOtherTargets(t *testing.T) {
	w := newWorld(t)
	letters := make(chan actor.DeadLetter, 1)
	cancel := w.sys.Subscribe(func(e actor.Event) {
		if d, ok := e.(actor.DeadLetter); ok {
			letters <- d
		}
	})
	defer cancel()
	w.serve(map[string]any{
		"dead":     map[string]any{"path": "/dead", "to": "dead-letters"},
		"relative": map[string]any{"path": "/relative", "to": "../../../user/orders"},
	})
	if a := w.post("/relative", `1`); a.status != 202 {
		t.Errorf("relative: got %d %v, want 202", a.status, a.body)
	}
	w.probe.Expect("relative", patience)
	if a := w.post("/dead", `"x"`); a.status != 202 {
		t.Errorf("dead letters: got %d %v, want 202", a.status, a.body)
	}
	select {
	case d := <-letters:
		if d.Message.Body != "x" || d.Trace.IsZero() {
			t.Errorf("got dead letter %+v, want the body x with a trace", d)
		}
	case <-time.After(patience):
		t.Error("got no dead letter")
	}
}

func TestLoopbackReloadKeepsConnections(t *testing.T) {
	w := newWorld(t).serve(orders())
	w.post("/orders", "1")
	addr := w.server.Addr()
	conns := dialed(w)
	err := w.reload(map[string]any{
		"listen": "127.0.0.1:0", "body-limit": "5B", "max-connections": int64(1),
		"in": map[string]any{"new": map[string]any{"path": "/new", "to": "/user/orders"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := w.at(addr, "/new", "2"); a.status != 202 {
		t.Errorf("the new route: got %d %v, want 202", a.status, a.body)
	}
	if a := w.at(addr, "/orders", "2"); a.status != 404 {
		t.Errorf("the old route: got %d %v, want 404", a.status, a.body)
	}
	if a := w.at(addr, "/new", `"long"`); a.status != 413 {
		t.Errorf("the new limit: got %d %v, want 413", a.status, a.body)
	}
	if n := conns(); n != 0 {
		t.Errorf("got %d connections after the reload, want the old one kept", n)
	}
	if got := w.bridge.Info().Restarts; got != 0 {
		t.Errorf("got %d restarts, want 0", got)
	}
}

// dialed counts the connections that the client makes from now on.
func dialed(w *world) func() int {
	n := 0
	transport := w.client.Transport.(*http.Transport)
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		n++
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	return func() int { return n }
}

// at posts to an address, whatever the instance says.
func (w *world) at(addr, path, body string) answer {
	w.t.Helper()
	return w.send(w.request("POST", addr, path, "application/json", body))
}

func TestLoopbackReloadThatCannotBeAppliedChangesNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	w := newWorld(t).serve(orders())
	server, addr := w.server, w.server.Addr()
	for name, args := range map[string]map[string]any{
		"the address is taken":   {"listen": taken.Addr().String(), "in": orders("path", "/new")},
		"the target is no actor": {"listen": "127.0.0.1:0", "in": orders("path", "/new", "to", "dead-letters", "reply", "ask")},
	} {
		if err := w.reload(args); err == nil {
			t.Errorf("%s: got no error", name)
		}
		if a := w.at(addr, "/orders", "1"); a.status != 202 || server.Addr() != addr {
			t.Errorf("%s: got %d at %s, want 202 at %s", name, a.status, server.Addr(), addr)
		}
	}
}

func TestLoopbackReloadMovesToAnotherAddress(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	asked := make(chan struct{})
	w.spawn("slow", func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			close(asked)
			<-release
			return ctx.Reply(m)
		}), nil
	}, runtime.DefaultSettings())
	w.serve(orders("to", "/user/slow", "reply", "ask"))
	server, old := w.server, w.server.Addr()
	running := make(chan answer, 1)
	go func() { running <- w.at(old, "/orders", `"slow"`) }()
	<-asked
	_, port, _ := net.SplitHostPort(old)
	if err := w.reload(map[string]any{"listen": "0.0.0.0:" + port, "in": orders()}); err != nil {
		t.Fatal(err)
	}
	if got, want := server.Addr(), ":"+port; !strings.HasSuffix(got, want) || got == old {
		t.Errorf("got address %s, want all of port %s", got, port)
	}
	if a := w.at("127.0.0.1:"+port, "/orders", "1"); a.status != 202 {
		t.Errorf("the new address: got %d %v, want 202", a.status, a.body)
	}
	close(release)
	if a := <-running; a.status != 200 || a.body != "slow" {
		t.Errorf("the running request: got %d %v, want 200 slow", a.status, a.body)
	}
	if err := w.reload(map[string]any{"listen": "localhost:0", "in": orders()}); err != nil {
		t.Fatal(err)
	}
	if a := w.at(server.Addr(), "/orders", "1"); a.status != 202 {
		t.Errorf("the third address: got %d %v, want 202", a.status, a.body)
	}
	if _, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
		t.Error("the second address is still bound, want it free")
	}
	var kinds []string
	for range 5 {
		kinds = append(kinds, w.event().Kind())
	}
	want := []string{"bridge-connected", "bridge-disconnected", "bridge-connected", "bridge-disconnected", "bridge-connected"}
	if !slices.Equal(kinds, want) {
		t.Errorf("events\n got: %v\nwant: %v", kinds, want)
	}
}

func TestLoopbackReloadTakesItsAddressBack(t *testing.T) {
	w := newWorld(t).serve(orders())
	server, addr := w.server, w.server.Addr()
	_, port, _ := net.SplitHostPort(addr)
	neighbour, err := net.Listen("tcp", "127.0.0.2:"+port) // it is in the way of 0.0.0.0, as the bridge itself is
	if err != nil {
		t.Skipf("the host has no second loopback address: %v", err)
	}
	defer neighbour.Close()
	if err := w.reload(map[string]any{"listen": "0.0.0.0:" + port, "in": orders("path", "/new")}); err == nil {
		t.Error("got no error, want that the address is in use")
	}
	if a := w.at(addr, "/orders", "1"); a.status != 202 || server.Addr() != addr {
		t.Errorf("got %d at %s, want 202 at %s", a.status, server.Addr(), addr)
	}
	if i := w.bridge.Info(); i.Restarts != 0 || i.Failed != 0 {
		t.Errorf("got %d restarts and %d failures, want none", i.Restarts, i.Failed)
	}
}

func TestLoopbackStopFinishesRunningRequestsAndUnbinds(t *testing.T) {
	w := newWorld(t)
	release, asked := make(chan struct{}), make(chan struct{})
	w.spawn("slow", func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			close(asked)
			<-release
			return ctx.Reply(m)
		}), nil
	}, runtime.DefaultSettings())
	w.serve(orders("to", "/user/slow", "reply", "ask"))
	addr := w.server.Addr()
	idle, err := net.Dial("tcp", addr) // it sends nothing and must not hold up the stop
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	running, stopped := make(chan answer, 1), make(chan error, 1)
	go func() { running <- w.at(addr, "/orders", `"slow"`) }()
	<-asked
	go func() { stopped <- w.bridge.Stop(context.Background()) }()
	waitUntil(t, "the address to be free", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	select {
	case err := <-stopped:
		t.Fatalf("the bridge stopped (%v) while a request ran", err)
	default:
	}
	close(release)
	if a := <-running; a.status != 200 || a.body != "slow" {
		t.Errorf("the running request: got %d %v, want 200 slow", a.status, a.body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: got %v, want nil", err)
	}
}

func TestLoopbackStopCutsOffWhatTakesTooLong(t *testing.T) {
	w := newWorld(t)
	asked := make(chan struct{})
	w.spawn("silent", func() (actor.Behaviour, error) {
		return actor.Func(func(actor.Context, actor.Message) error { close(asked); return nil }), nil
	}, runtime.DefaultSettings())
	w.serve(orders("to", "/user/silent", "reply", "ask", "timeout", "1h"), "stop-timeout", "10ms")
	cut := make(chan error, 1)
	go func() {
		res, err := w.client.Post("http://"+w.server.Addr()+"/orders", "application/json", strings.NewReader("1"))
		if err == nil {
			res.Body.Close()
		}
		cut <- err
	}()
	<-asked
	if err := w.bridge.Stop(context.Background()); err != nil {
		t.Errorf("stop: got %v, want nil", err)
	}
	if err := <-cut; err == nil {
		t.Error("the request: got an answer, want it cut off")
	}
}

func TestLoopbackServerThatDiesFailsTheActor(t *testing.T) {
	w := newWorld(t).serve(orders())
	first := w.server
	first.site.limit.Listener.Close() // behind the server's back
	kinds := []string{w.event().Kind(), w.event().Kind(), w.event().Kind(), w.event().Kind()}
	slices.Sort(kinds)
	want := []string{"actor-restarted", "bridge-connected", "bridge-connected", "bridge-disconnected"}
	if !slices.Equal(kinds, want) {
		t.Fatalf("events\n got: %v\nwant: %v", kinds, want)
	}
	if a := w.post("/orders", "1"); a.status != 202 || w.server == first {
		t.Errorf("after the restart: got %d %v, want 202 from another instance", a.status, a.body)
	}
}

func TestLoopbackSlowBodyTimesOut(t *testing.T) {
	w := newWorld(t).serve(orders(), "read-timeout", "30ms")
	c, err := net.Dial("tcp", w.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
	var text bytes.Buffer
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(&text, c); err != nil || !strings.HasPrefix(text.String(), "HTTP/1.1 408 ") {
		t.Errorf("got %v %q, want 408 and the end", err, text.String())
	}
}

func TestLoopbackAskMayTakeLongerThanReadingAndWriting(t *testing.T) {
	w := newWorld(t)
	w.spawn("slow", func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			<-time.After(100 * time.Millisecond)
			return ctx.Reply(m)
		}), nil
	}, runtime.DefaultSettings())
	w.serve(orders("to", "/user/slow", "reply", "ask"), "read-timeout", "50ms", "write-timeout", "50ms")
	for range 2 { // the second one finds the deadlines of the first on its connection
		if a := w.post("/orders", `"x"`); a.status != 200 || a.body != "x" {
			t.Errorf("got %d %v, want 200 x", a.status, a.body)
		}
	}
}

func TestLoopbackReplyThatIsNoJSON(t *testing.T) {
	w := newWorld(t)
	w.spawn("odd", func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, _ actor.Message) error {
			return ctx.Reply(actor.Message{Body: math.NaN()})
		}), nil
	}, runtime.DefaultSettings())
	w.serve(orders("to", "/user/odd", "reply", "ask"))
	if a := w.post("/orders", "1"); a.status != 500 || a.field("error") != "the reply is no JSON" {
		t.Errorf("got %d %v, want 500 that says so", a.status, a.body)
	}
}

func TestLoopbackConnectionsAreLimited(t *testing.T) {
	w := newWorld(t).serve(orders(), "max-connections", int64(1))
	first, err := net.Dial("tcp", w.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second := make(chan answer, 1)
	go func() { second <- w.post("/orders", "1") }()
	w.probe.ExpectNone(50 * time.Millisecond)
	first.Close()
	if a := <-second; a.status != 202 {
		t.Errorf("got %d %v, want 202 when the first connection is gone", a.status, a.body)
	}
}

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}
