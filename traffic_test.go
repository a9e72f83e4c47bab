package actord_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// served is a system behind HTTP after n changes, and what a reload makes of it.
func served(n int) (text, result string) {
	capacity, word, second, third, extra := 50_000+n/7, n/7, fmt.Sprintf("two%d", (n+4)/7), "log", ""
	was, result := "", "applied"
	switch n % 7 {
	case 1:
		word++
	case 2:
		third = "counter"
	case 3:
		extra = fmt.Sprintf("extra%d { behaviour = log }", n)
		was = fmt.Sprintf("was = /user/two%d,", (n+4)/7-1)
	case 4:
		extra = "broken { behaviour = lgo }"
		result = "rejected"
	case 5:
		capacity++
	}
	args := fmt.Sprintf("args.message = m%d", word)
	if third == "counter" {
		args = ""
	}
	return fmt.Sprintf(`
actord {
  log { format = json, level = warn }
  reload { watch = off, probation = 50ms }
  bridges.web { type = http-server, listen = "127.0.0.1:0", in.orders { path = /orders, to = /user/one } }
  actors {
    one { behaviour = router, args.rules = [ { to = /user/%s } ], mailbox { capacity = %d, overflow = reject } }
    %s { %s behaviour = router, args.rules = [ { to = /user/three } ] }
    three { behaviour = %s, %s }
    %s
  }
}`, second, capacity, second, was, third, args, extra), result
}

func TestLoopbackNoRequestFailsWhileTheConfigurationChanges(t *testing.T) {
	text, _ := served(0)
	dir := configured(t, strings.Replace(text, "level = warn", "level = info", 1))
	d := start(t, dir)
	url := d.url() + "/orders"
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var mu sync.Mutex
	requests := 0
	for who := range 3 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				status, answer, err := post(url, fmt.Sprintf(`{"id":"%d-%d"}`, who, n))
				if err != nil || status != http.StatusAccepted {
					t.Errorf("request %d-%d: got %d %s %v, want 202", who, n, status, answer, err)
				}
				mu.Lock()
				requests++
				mu.Unlock()
			}
		})
	}
	for n := 1; n <= 21; n++ {
		text, want := served(n)
		d.write(text)
		out, errs, _ := command(t, dir, "reload", "--wait", "--force")
		if got := out + errs; want == "applied" && !strings.Contains(got, "applied: revision") && !strings.Contains(got, "unchanged: revision") || want == "rejected" && !strings.Contains(got, "rejected: revision") {
			t.Errorf("change %d: got\n%swant %s", n, got, want)
		}
	}
	close(stop)
	clients.Wait()
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d requests", requests)
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if strings.Contains(d.raw.String(), "dead letter") {
		t.Error("got dead letters, want none")
	}
}
