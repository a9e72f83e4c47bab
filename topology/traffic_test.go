package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

// relay sends on what it gets.
type relay struct {
	conf  relayConf
	count int64
	out   *ledger // of the last one
}

type relayConf struct {
	To   actor.Target `conf:"to" default:"dead-letters" doc:"the next one; the last has none"`
	Word string       `conf:"word" default:"" doc:"anything"`
	Fail string       `conf:"fail" default:"" doc:"start fails"`
}

func (r *relay) Start(actor.Context) error {
	if r.conf.Fail == "start" {
		return errors.New("it is told to fail")
	}
	return nil
}

func (r *relay) Receive(ctx actor.Context, m actor.Message) error {
	r.count++
	if r.conf.To == actor.ToDeadLetters {
		r.out.note(m.Body.(int64))
		return nil
	}
	to, err := ctx.Resolve(r.conf.To)
	if err != nil {
		return err
	}
	return ctx.Tell(to, m)
}

func (r *relay) Snapshot() (actor.State, error) {
	return actor.State{Version: 1, Data: strconv.AppendInt(nil, r.count, 10)}, nil
}

func (r *relay) Restore(s actor.State) (err error) {
	r.count, err = strconv.ParseInt(string(s.Data), 10, 64)
	return err
}

// ledger checks what comes out of the chain.
type ledger struct {
	each int64 // messages of a sender
	mu   sync.Mutex
	next map[int64]int64 // by sender, the message that is due
	all  int64
	errs []string
	done chan struct{} // closed when all have come
}

func (l *ledger) note(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	who, i := n/l.each, n%l.each
	if want := l.next[who]; i != want && len(l.errs) < 10 {
		l.errs = append(l.errs, fmt.Sprintf("sender %d: got message %d, want %d", who, i, want))
	}
	l.next[who] = i + 1
	if l.all++; l.all == l.each*senders {
		close(l.done)
	}
}

const senders = 4

// chained is a chain of five actors in a state of change n.
type chained struct {
	capacity, word  int
	second          string // name of the second actor
	was             string
	kind            string // behaviour of the third
	extra           bool
	fail, unhealthy bool
}

func (c chained) String() string {
	healthy := "true"
	if c.unhealthy {
		healthy = "false"
	}
	extra := ""
	if c.extra {
		extra = "extra { behaviour = relay, args.to = /user/five }\n"
	}
	if c.fail {
		extra += "broken { behaviour = relay, args.fail = start }\n"
	}
	was := ""
	if c.was != "" {
		was = "was = /user/" + c.was + ", "
	}
	return fmt.Sprintf(`actord { reload { probation = 2ms, healthy = %q }, actors {
  one { behaviour = relay, args.to = /user/%s }
  %s { %sbehaviour = relay, args.to = /user/three, mailbox { capacity = %d, overflow = block, block-timeout = 1m } }
  three { behaviour = %s, args { to = /user/four, word = w%d } }
  four { behaviour = relay, args { to = /user/five, word = w%d } }
  five { behaviour = relay }
  %s} }`, healthy, c.second, c.second, was, c.capacity, c.kind, c.word, c.word/3, extra)
}

// change is the configuration after one more change, and what becomes of it.
func (c chained) change(n int) (next chained, text string, outcome Outcome) {
	c.was = ""
	switch n % 9 {
	case 0:
		c.capacity = 64 + n%100
	case 1:
		c.word++
	case 2:
		c.kind = map[string]string{"relay": "relay2", "relay2": "relay"}[c.kind]
	case 3, 4:
		c.extra = !c.extra
	case 5:
		c.second, c.was = fmt.Sprintf("two%d", n), c.second
	case 6:
		return c, c.String()[:100], Rejected
	case 7:
		bad := c
		bad.fail, bad.word, bad.capacity = true, c.word+1, 10
		return c, bad.String(), RolledBack
	default:
		bad := c
		bad.unhealthy, bad.word, bad.second, bad.was = true, c.word+7, c.second+"x", c.second
		return c, bad.String(), Applied // and taken back by its probation
	}
	return c, c.String(), Applied
}

func TestNoMessageIsLostWhileTheConfigurationChanges(t *testing.T) {
	l := &ledger{each: messagesPerSender(), next: map[int64]int64{}, done: make(chan struct{})}
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf")}
	src := b.source(nil)
	for _, name := range []string{"relay", "relay2"} {
		f := actor.FactoryOf(actor.SchemaOf[relayConf](name, "sends on"), func(c relayConf) (actor.Behaviour, error) { return &relay{conf: c, out: l}, nil })
		if err := src.Registry.AddBehaviour(f); err != nil {
			t.Fatal(err)
		}
	}
	c := chained{capacity: 100, second: "two", kind: "relay"}
	b.write(c.String())
	var err error
	if b.top, err = Start(t.Context(), src, b.options()); err != nil {
		t.Fatal(err)
	}
	var letters atomic.Int64
	b.top.System().Subscribe(func(e actor.Event) {
		if d, ok := e.(actor.DeadLetter); ok {
			letters.Add(1)
			t.Logf("dead letter to %s: %s", d.Recipient, d.Reason)
		}
	})
	var sending sync.WaitGroup
	for who := range int64(senders) {
		sending.Go(func() {
			ref := b.top.System().Lookup("/user/one")
			for i := range l.each {
				if err := ref.Tell(context.Background(), actor.Message{Kind: "n", Body: who*l.each + i}); err != nil {
					t.Errorf("sender %d: %v", who, err)
					return
				}
			}
		})
	}
	changes := 0
	var trial <-chan struct{}
	for running := true; running; changes++ {
		next, text, want := c.change(changes)
		failing := strings.Contains(text, `healthy = "false"`)
		if failing && trial != nil {
			<-trial // so that the way back leads to c, which the next change starts from
		}
		b.write(text)
		r := b.top.Reload(t.Context(), "test")
		if r.Outcome != want && !(r.Outcome == Unchanged && changes%9 == 0) {
			t.Errorf("change %d: got %s %v, want %s", changes, r.Outcome, r.Err, want)
		}
		if failing && r.Probation != nil {
			<-r.Probation
		} else if r.Outcome == Applied {
			trial = r.Probation
		}
		c = next
		select {
		case <-l.done:
			running = changes < 2*9
		default:
			running = !t.Failed()
		}
	}
	sending.Wait()
	for _, e := range l.errs {
		t.Error(e)
	}
	if l.all != l.each*senders || letters.Load() > 0 {
		t.Errorf("got %d messages and %d dead letters, want %d and none", l.all, letters.Load(), l.each*senders)
	}
	t.Logf("%d messages through %d changes", l.all, changes)
	if err := b.top.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// messagesPerSender is small unless ACTORD_TRAFFIC says how many messages there
// are to be in all, e.g. 1000000.
func messagesPerSender() int64 {
	if n, err := strconv.ParseInt(os.Getenv("ACTORD_TRAFFIC"), 10, 64); err == nil {
		return n / senders
	}
	if testing.Short() {
		return 2_000
	}
	return 25_000
}
