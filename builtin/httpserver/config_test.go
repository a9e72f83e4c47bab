package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func TestConfigMistakes(t *testing.T) {
	route := func(more ...any) map[string]any { return orders(more...) }
	tests := []struct {
		name   string
		routes map[string]any
		err    string
	}{
		{"no route", map[string]any{}, "in: there is no route"},
		{"a relative path", route("path", "orders"), `in.order.path: "orders" is not a path`},
		{"a path that no client sends", route("path", "/a/../b"), `in.order.path: "/a/../b" can never be asked for; did you mean "/b"?`},
		{"a reply target", route("to", "reply"), "in.order.to: nobody sent the message"},
		{"a wrong condition", route("when", "msg.a >"), "in.order.when: expression:1:7: unexpected token EOF"},
		{"a misspelled name", route("map", "{k: knd}"), `in.order.map: expression:1:5: unknown name knd; did you mean "kind"?`},
		{"two routes for one request", map[string]any{
			"a": map[string]any{"path": "/x", "to": "/user/a"}, "b": map[string]any{"path": "/x", "to": "/user/b"},
		}, "in.b.path: POST /x always goes to route a"},
		{"every mistake is told", map[string]any{
			"a": map[string]any{"path": "x", "to": "/user/a"}, "b": map[string]any{"path": "y", "to": "/user/b"},
		}, "in.b.path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config(t, map[string]any{"listen": "127.0.0.1:0", "in": tt.routes})
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
}

func TestLoopbackSuite(t *testing.T) {
	actortest.Suite(t, Factory(), actortest.Case{
		Args:     map[string]any{"listen": "127.0.0.1:0", "in": orders()},
		Messages: []actor.Message{{Kind: "any", Body: "x"}},
	})
}

func TestSchemaSaysWhatAReloadDoes(t *testing.T) {
	for name, want := range map[string]actor.Class{"listen": actor.Reconnect, "in": actor.Rewire, "body-limit": actor.Live, "stop-timeout": actor.Live} {
		if f, ok := Factory().Schema().Field(name); !ok || f.Class != want || f.Doc == "" {
			t.Errorf("%s: got %+v, want class %s and a doc", name, f, want)
		}
	}
}

func TestLoopbackStartErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct{ name, listen, to, reply, err string }{
		{"a taken address", taken.Addr().String(), "/user/orders", "accepted", "address already in use; stop what listens there or choose another port"},
		{"an address of another host", "192.0.2.1:1", "/user/orders", "accepted", "listen on 192.0.2.1:1"},
		{"a target that cannot answer", "127.0.0.1:0", "dead-letters", "ask", "in.order.reply: dead-letters cannot be asked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := config(t, map[string]any{"listen": tt.listen, "in": orders("to", tt.to, "reply", tt.reply)})
			if err != nil {
				t.Fatal(err)
			}
			b, _ := p.New()
			if err := actortest.NewRig(t, b).Start(); err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %q", err, tt.err)
			}
		})
	}
}

func TestDecodeJSON(t *testing.T) {
	tests := []struct {
		name, text string
		want       any
		err        string
		line, col  int
	}{
		{name: "null", text: " null ", want: nil},
		{name: "numbers", text: "[1, -1, 1.0, 1e2, 9223372036854775807]", want: []any{int64(1), int64(-1), 1.0, 100.0, int64(9223372036854775807)}},
		{name: "texts", text: `"ä\u00e4"`, want: "ää"},
		{name: "empty values", text: `{"a":{},"b":[]}`, want: map[string]any{"a": map[string]any{}, "b": []any{}}},
		{name: "escapes", text: `"\u00e4\n\"\ud83d\ude00"`, want: "ä\n\"😀"},
		{name: "a large whole number", text: "[1, 9223372036854775808]", err: "9223372036854775808 does not fit into 64 bits; write it as a text", line: 1, col: 5},
		{name: "a large number", text: "1e999", err: "1e999 is too large for a number", line: 1, col: 1},
		{name: "a leading zero", text: "[-01]", err: "a number starts with a needless 0", line: 1, col: 2},
		{name: "a number without an end", text: "[1.]", err: "']' stands where a digit is wanted", line: 1, col: 4},
		{name: "a double key", text: "{\"a\":1,\n\"a\":2}", err: `key "a" is there twice`, line: 2, col: 4},
		{name: "a key without quotes", text: `{a: 1}`, err: "'a' stands where a key in double quotes is wanted", line: 1, col: 2},
		{name: "no colon", text: `{"a" 1}`, err: "'1' stands where ':' is wanted", line: 1, col: 6},
		{name: "a comma at the end", text: `[1,]`, err: "']' stands where a value is wanted", line: 1, col: 4},
		{name: "deep nesting", text: strings.Repeat("[", 5000), err: "it is nested deeper than 100", line: 1, col: 101},
		{name: "the deepest nesting", text: strings.Repeat("[", 100) + strings.Repeat("]", 100), want: nested(100)},
		{name: "more behind", text: `{} {}`, err: "there is more behind the value", line: 1, col: 4},
		{name: "a wrong word", text: "[\n  \"ä\", tru]", err: "'t' stands where a value is wanted", line: 2, col: 8},
		{name: "an early end", text: `{"a":`, err: "it ends where a value is wanted", line: 1, col: 6},
		{name: "a text without an end", text: `{"a": "b`, err: "it ends inside a text", line: 1, col: 9},
		{name: "no comma", text: `[1 2]`, err: "'2' stands where ',' or ']' is wanted", line: 1, col: 4},
		{name: "a control character", text: "\"a\nb\"", err: "a text holds the control character '\\n'; write it as an escape", line: 1, col: 3},
		{name: "a wrong escape", text: `["\x"]`, err: "a text has a wrong escape: invalid character 'x' in string escape code", line: 1, col: 2},
		{name: "broken UTF-8", text: "\"\xff\"", err: "it is not UTF-8", line: 1, col: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeJSON([]byte(tt.text))
			if tt.err == "" {
				if err != nil || !reflect.DeepEqual(got, tt.want) {
					t.Errorf("got %#v, %v; want %#v", got, err, tt.want)
				}
				return
			}
			e, ok := errors.AsType[*bodyError](err)
			if !ok || e.Error() != tt.err {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if line, col := e.place([]byte(tt.text)); line != tt.line || col != tt.col {
				t.Errorf("got place %d:%d, want %d:%d", line, col, tt.line, tt.col)
			}
		})
	}
}

func nested(depth int) any {
	v := []any{}
	for range depth - 1 {
		v = []any{v}
	}
	return v
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x\n",null,true]}`, `[1`, `{"a":1,"a":2}`, "1e999", "-0.1E-2", "\"\xff\"", "{} {}", `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeJSON(text)
		if err != nil {
			e, ok := errors.AsType[*bodyError](err)
			if !ok || e.offset < 0 || e.offset > len(text) {
				t.Errorf("got %#v, want a bodyError inside the text", err)
			}
			return
		}
		// What is accepted means the same to the standard library.
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("got %v, which is no JSON: %v", got, err)
		}
		if g := floats(got); !reflect.DeepEqual(g, want) {
			t.Errorf("got %#v, want %#v", g, want)
		}
	})
}

// floats turns whole numbers into floats, as the standard library has them.
func floats(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case []any:
		for i, e := range v {
			v[i] = floats(e)
		}
	case map[string]any:
		for k, e := range v {
			v[k] = floats(e)
		}
	}
	return v
}

func BenchmarkDecodeJSON(b *testing.B) {
	text := []byte(`{"kind":"order","id":12345,"customer":{"id":7,"country":"DE"},"items":[{"sku":"a","n":3},{"sku":"b","n":4}],"price":12.5}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeJSON(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkServeHTTP(b *testing.B) {
	s, err := New(Config{Listen: "127.0.0.1:0", BodyLimit: 1 << 20, MaxConnections: 1, In: map[string]Route{
		"order": {Path: "/orders", Method: "POST", To: "/user/orders", When: "msg.id > 0"},
	}})
	if err != nil {
		b.Fatal(err)
	}
	s.first.paths["/orders"]["POST"][0].ref = nowhere{}
	s.table.Store(s.first)
	body := strings.NewReader("")
	r := httptest.NewRequest("POST", "/orders", body)
	r.Header.Set("Content-Type", "application/json")
	b.ReportAllocs()
	for b.Loop() {
		body.Reset(`{"id":12345,"customer":{"id":7,"country":"DE"}}`)
		r.Body = io.NopCloser(body)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusAccepted {
			b.Fatalf("got %d %s, want 202", w.Code, w.Body)
		}
	}
}

// nowhere takes every message and keeps none.
type nowhere struct{}

func (nowhere) Path() actor.Path                          { return "/user/orders" }
func (nowhere) Tell(context.Context, actor.Message) error { return nil }

func ExampleFactory() {
	f := Factory()
	args, mistakes := f.Schema().Decode(map[string]any{
		"listen": "127.0.0.1:8080",
		"in":     map[string]any{"order": map[string]any{"path": "/orders", "to": "/user/intake", "when": "msg.amount > 0"}},
	})
	prepared, err := f.Prepare(args)
	fmt.Println(len(mistakes), err, prepared.New != nil)
	// Output: 0 <nil> true
}
