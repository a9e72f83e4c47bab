package actord_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/actord/actord/topology/hocon"
)

// TestLoopbackTheDefaultConfiguration takes the tour of the README: the system of
// application.conf, but for the port.
func TestLoopbackTheDefaultConfiguration(t *testing.T) {
	text, err := os.ReadFile("application.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir := configured(t, string(text))
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program(t, "fraud"), filepath.Join(dir, "bin", "fraud")); err != nil {
		t.Fatal(err)
	}
	d := start(t, dir, "-D", "actord.bridges.web.listen=127.0.0.1:0", "-D", "actord.log.format=json")
	url := d.url() + "/orders"
	send := func(body string) string {
		t.Helper()
		var answer struct{ Trace string }
		status, text, err := post(url, body)
		if err == nil {
			err = json.Unmarshal([]byte(text), &answer)
		}
		if err != nil || status != http.StatusAccepted {
			t.Fatalf("%s: got %d %s %v, want 202", body, status, text, err)
		}
		return answer.Trace
	}
	traces := map[string]string{
		"large": send(`{"id": "large", "kind": "urgent", "customer": "ann", "amount": 1200}`),
		"small": send(`{"id": "small", "customer": "bob", "amount": 50}`),
		"flaky": send(`{"id": "flaky", "customer": "flaky", "amount": 50}`),
		"panic": send(`{"id": "panic", "customer": "panic", "amount": 5000}`),
	}
	d.wait(0, "the audit with the trace of the large order", func(r record) bool {
		return r.msg() == "order done" && r.text("id") == "large" && r.text("trace") == traces["large"]
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	done := map[string]record{}
	for _, l := range lines(t, filepath.Join(dir, "out", "orders.jsonl")) {
		done[l["body"].(map[string]any)["id"].(string)] = l
	}
	for _, id := range []string{"large", "small"} {
		if got := done[id].text("trace"); got != traces[id] {
			t.Errorf("%s in the sink: got trace %q, want %q", id, got, traces[id])
		}
	}
	if done["large"]["body"].(map[string]any)["verdict"] != "accept" || len(done) != 2 {
		t.Errorf("got %v, want the large order scored and two orders in all", done)
	}
	lost := map[string]string{}
	for _, l := range lines(t, filepath.Join(dir, "out", "dead-letters.jsonl")) {
		lost[l.text("trace")] = l["body"].(map[string]any)["reason"].(string)
	}
	for _, id := range []string{"flaky", "panic"} {
		if !strings.HasPrefix(lost[traces[id]], "failed: ") {
			t.Errorf("%s: got dead letters %v, want one that failed", id, lost)
		}
	}
}

func TestEveryPrefixOfTheExamplesIsAValueOrAnError(t *testing.T) {
	for _, file := range []string{"application.conf", "starter.conf", "topology/spec/reference.conf"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n := range text {
			tree, err := hocon.Parse(file, text[:n], hocon.Options{})
			if (tree == nil) == (err == nil) {
				t.Fatalf("the first %d bytes of %s: got %v and %v, want one of them", n, file, tree, err)
			}
		}
	}
}
