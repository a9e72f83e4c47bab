package actord_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

// Numbers of the end-to-end test.
const (
	clients = 8
	orders  = 250 // of each client
	edits   = 50
	kills   = 5
	perEdit = clients * orders / edits
)

// e2eConf is the system of the end-to-end test; edits fill in the blanks.
type e2eConf struct {
	plugin   string // the program
	capacity int
	message  string // of the audit log
	extra    bool   // an actor more
	limit    int    // amount from which an order goes to the plugin
	broken   string // appended
}

func (c e2eConf) String() string {
	extra := ""
	if c.extra {
		extra = `extra { behaviour = log, children { below { behaviour = counter } } }`
	}
	return fmt.Sprintf(`
actord {
  log { format = json, level = info }
  reload { quiet = 20ms, poll = 200ms }
  bridges.web {
    type = http-server
    listen = "127.0.0.1:0"
    in.orders { path = /orders, kind = order, to = /user/intake }
    in.count { path = /count, method = GET, to = /user/tally, kind = count, reply = ask }
  }
  plugins.fraud { command = [%q], delivery = at-most-once, restart { min = 10ms, max = 100ms, max-restarts = unlimited } }
  actors {
    intake {
      behaviour = router
      args { mode = all, rules = [
        { to = /user/tally }
        { when = "msg.amount >= %d", to = /user/fraud }
        { when = "msg.amount < %d", to = /user/worker }
      ] }
      mailbox { capacity = %d, overflow = reject }
    }
    tally { behaviour = counter }
    fraud {
      behaviour = "fraud/score"
      args { to = /user/worker }
      supervision { max-restarts = unlimited, backoff { min = 5ms, max = 50ms } }
    }
    worker {
      behaviour = chaos
      args { fail = "msg.customer == 'flaky'", to = [/user/sink, /user/audit] }
      supervision { max-restarts = unlimited, backoff { min = 1ms, max = 10ms } }
    }
    sink { behaviour = file, args.path = sink.jsonl }
    audit { behaviour = log, args { level = debug, message = %q } }
    lost { behaviour = file, args.path = lost.jsonl }
    %s
  }
  events.subscriptions = [ { to = /user/lost, events = [dead-letter, message-dropped] } ]
}
%s
`, c.plugin, c.limit, c.limit, c.capacity, c.message, extra, c.broken)
}

// invalid are edits that must change nothing.
var invalid = []string{
	"actord.actors.intake.mailbox.capacity = many",
	"actord.actors.sink.behaviuor = file",
	"actord.actors.worker.args.fail = \"msg.customer ==\"",
	"actord { actors { half",
	"actord.actors.tally.behaviour = \"fraud/scoer\"",
}

// edit is the configuration after the n-th edit, and whether it is valid.
func edit(n int) (e2eConf, bool) {
	c := e2eConf{capacity: 500 + n%7, message: "order", extra: n%4 == 1, limit: 1000}
	switch n % 5 {
	case 1:
		c.message = fmt.Sprintf("order in edit %d", n)
	case 3:
		c.limit = 900 + n
	case 4:
		c.broken = invalid[n/5%len(invalid)]
		return c, false
	}
	return c, true
}

// order is the n-th order of a client.
func order(client, n int) (id, body string) {
	id = fmt.Sprintf("%d-%03d", client, n)
	customer, amount := fmt.Sprintf("c%d", client), 10+n
	switch {
	case n%50 == 17:
		customer = "flaky"
	case n%60 == 31:
		customer, amount = "panic", 5000
	case n%3 == 2:
		amount = 2000 + n
	}
	return id, fmt.Sprintf(`{"id":%q,"client":%d,"seq":%d,"amount":%d,"customer":%q,"country":"DE"}`, id, client, n, amount, customer)
}

// traffic sends the orders of all clients, one after the other for each, each
// when it gets a go. Refused ones are sent again.
type traffic struct {
	url      string
	run      chan struct{}
	mu       sync.Mutex        // guards accepted and errs
	accepted map[string]string // trace by id
	errs     []error
}

func (tr *traffic) client(n int) {
	for i := range orders {
		<-tr.run
		id, body := order(n, i)
		for tries := 0; ; tries++ {
			status, text, err := post(tr.url+"/orders", body)
			if (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) && tries < 10_000 {
				continue
			}
			tr.note(id, status, text, err)
			break
		}
	}
}

func (tr *traffic) note(id string, status int, text string, err error) {
	var answer struct{ Trace string }
	if err == nil && status == http.StatusAccepted {
		err = json.Unmarshal([]byte(text), &answer)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if err != nil || status != http.StatusAccepted {
		tr.errs = append(tr.errs, fmt.Errorf("order %s: status %d %s: %v", id, status, text, err))
		return
	}
	tr.accepted[id] = answer.Trace
}

// number is how many orders were answered.
func (tr *traffic) number() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return len(tr.accepted) + len(tr.errs)
}

func TestLoopbackEndToEnd(t *testing.T) {
	conf, _ := edit(0)
	conf.plugin = program(t, "fraud")
	dir := configured(t, conf.String())
	d := start(t, dir)
	tr := &traffic{url: d.url(), run: make(chan struct{}, clients*orders), accepted: map[string]string{}}
	var sending sync.WaitGroup
	for n := range clients {
		sending.Go(func() { tr.client(n) })
	}

	revision := 1.0
	plugin := pluginPID(d.waitMsg(0, "plugin started"))
	var dead []int
	for n := 1; n <= edits; n++ {
		kill := n%(edits/kills) == 0
		if kill { // it takes its orders and acknowledges none, until it is killed
			stop(t, plugin, syscall.SIGSTOP)
		}
		for range perEdit {
			tr.run <- struct{}{}
		}
		if kill {
			eventually(t, "its orders are accepted", func() bool { return tr.number() == n*perEdit })
			mark := d.mark()
			stop(t, plugin, syscall.SIGKILL)
			dead = append(dead, plugin)
			plugin = pluginPID(d.waitMsg(mark, "plugin started"))
		}
		mark := d.mark()
		c, valid := edit(n)
		c.plugin = conf.plugin
		d.write(c.String())
		r := d.wait(mark, "how the reload went", isOutcome)
		switch {
		case valid && r.msg() != "reload applied", !valid && r.msg() == "reload applied":
			t.Fatalf("edit %d (valid: %v): got %v", n, valid, r)
		case valid:
			revision++
		}
		if r["revision"] != revision {
			t.Errorf("edit %d (valid: %v): got revision %v, want %v", n, valid, r["revision"], revision)
		}
	}
	sending.Wait()
	for _, err := range tr.errs {
		t.Error(err)
	}
	// What /user/tally counted, it counted in one life: it was never touched.
	eventually(t, "every order was counted", func() bool {
		return strings.Contains(get(t, tr.url+"/count"), fmt.Sprintf(`"total":%d`, len(tr.accepted)))
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	for _, pid := range append(dead, plugin) {
		if alive(pid) {
			t.Errorf("plugin process %d: got alive, want gone with actord", pid)
		}
	}
	checkOrders(t, dir, tr.accepted)
}

// stop sends a signal to a process that this test started.
func stop(t *testing.T, pid int, how syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, how); err != nil {
		t.Fatalf("%v for process %d: %v", how, pid, err)
	}
}

// isOutcome accepts the record that ends a reload.
func isOutcome(r record) bool {
	return r.msg() == "reload applied" || strings.HasPrefix(r.msg(), "reload rejected") || strings.HasPrefix(r.msg(), "reload failed")
}

func pluginPID(r record) int { pid, _ := r["pid"].(float64); return int(pid) }

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkOrders holds the files against what was accepted: each order is in one of
// them, once, and those of a client that went the same way are in order.
func checkOrders(t *testing.T, dir string, accepted map[string]string) {
	t.Helper()
	where := map[string]string{}
	put := func(id, place string) {
		if before, twice := where[id]; twice {
			t.Errorf("order %s: got it twice, %s and %s", id, before, place)
		}
		where[id] = place
		if _, ok := accepted[id]; !ok {
			t.Errorf("order %s: got it %s, want only accepted orders", id, place)
		}
	}
	last := map[string]float64{}
	for _, l := range lines(t, filepath.Join(dir, "sink.jsonl")) {
		body := l["body"].(map[string]any)
		id := body["id"].(string)
		put(id, "in the sink")
		if trace := accepted[id]; l.text("trace") != trace {
			t.Errorf("order %s: got trace %v in the sink, want %s as answered", id, l["trace"], trace)
		}
		_, scored := body["verdict"]
		way := fmt.Sprintf("client %v, scored %v", body["client"], scored)
		if seq := body["seq"].(float64); seq < last[way] {
			t.Errorf("%s: got order %v after %v", way, seq, last[way])
		} else {
			last[way] = seq
		}
	}
	reasons := map[string]int{}
	for _, l := range lines(t, filepath.Join(dir, "lost.jsonl")) {
		body := l["body"].(map[string]any)
		reason, _ := body["reason"].(string)
		if reason == "" {
			t.Errorf("got %v, want a reason", l)
		}
		reasons[strings.SplitN(reason, ":", 2)[0]]++
		put(body["body"].(map[string]any)["id"].(string), "lost: "+reason)
	}
	for id := range accepted {
		if where[id] == "" {
			t.Errorf("order %s: got it nowhere", id)
		}
	}
	if reasons[actor.ReasonCrashed] == 0 || reasons[actor.ReasonFailed] == 0 {
		t.Errorf("lost by reason: got %v, want some that crashed and some that failed", reasons)
	}
	t.Logf("%d orders accepted, %d in the sink, lost by reason: %v", len(accepted), len(where)-sum(reasons), reasons)
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}
