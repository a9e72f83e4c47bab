package host

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
)

func TestRestartGrowsAndEnds(t *testing.T) {
	r := Restart{Min: time.Second, Max: 5 * time.Second, Factor: 2, MaxRestarts: 4, Within: time.Minute}
	now := time.Unix(0, 0)
	var h history
	for i, tc := range []struct {
		after, up, want time.Duration
		ok              bool
	}{
		{0, time.Second, time.Second, true},
		{time.Second, 0, 2 * time.Second, true},
		{time.Second, 0, 4 * time.Second, true},
		{time.Second, 0, 5 * time.Second, true},
		{time.Second, 0, 0, false},
		{2 * time.Minute, 2 * time.Minute, time.Second, true}, // it was stable
	} {
		now = now.Add(tc.after)
		if got, ok := r.next(&h, now, tc.up, 0.5); got != tc.want || ok != tc.ok {
			t.Errorf("death %d: got %s, %t; want %s, %t", i+1, got, ok, tc.want, tc.ok)
		}
	}
	r.Jitter = 0.5
	if low, _ := r.next(&history{}, now, 0, 0); low != 500*time.Millisecond {
		t.Errorf("the lowest dice: got %s; want 500ms", low)
	}
}

// fakeHandle records what became of letters.
type fakeHandle struct {
	actor.Handle
	done, dead []string
}

func (h *fakeHandle) Done(l actor.Letter) { h.done = append(h.done, l.Message().Kind) }
func (h *fakeHandle) DeadLetter(l actor.Letter, _ string) {
	h.dead = append(h.dead, l.Message().Kind)
}
func (h *fakeHandle) Fail(error, ...actor.Letter) bool { return true }

func fakeSession(w Window, instances int) (*session, []*instance) {
	cfg, err := Config{Name: "p", Command: []string{"p"}, Window: w, Log: slog.New(slog.DiscardHandler)}.complete()
	if err != nil {
		panic(err)
	}
	s := newSession(cfg, &sync.WaitGroup{}, &suspects{})
	var out []*instance
	for i := range instances {
		in := &instance{session: s, id: uint32(i + 1), handle: &fakeHandle{}}
		s.instances[in.id] = in
		out = append(out, in)
	}
	return s, out
}

func send(ctx context.Context, in *instance, kind string, size int) bool {
	m := actor.Message{Kind: kind}
	return in.deliver(ctx, &wire.Delivery{Kind: kind, Body: make([]byte, size)}, &remoteLetter{m: m})
}

func TestTheWindowLetsMessagesInInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := fakeSession(Window{Messages: 8, Bytes: 1000}, 6)
		var mu sync.Mutex // guards order
		var order []string
		start := func(i int, size int) {
			go func() {
				if send(t.Context(), in[i], fmt.Sprint(i), size) {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, fmt.Sprint(i))
				}
			}()
			synctest.Wait()
		}
		start(0, 400)
		start(0, 400)
		start(0, 1) // beyond its share of two
		start(1, 300)
		start(2, 10) // would fit, but behind instance 1
		if got := strings.Join(order, ""); got != "00" {
			t.Fatalf("got %s let in; want 00", got)
		}
		s.take()
		s.mu.Lock()
		in[0].acked(1, nil)
		s.mu.Unlock()
		synctest.Wait()
		if got := strings.Join(order, ""); len(got) != 5 || s.inflight != 4 || s.bytes != 711 {
			t.Errorf("got %s let in, %d messages with %d bytes; want all, 4 with 711", got, s.inflight, s.bytes)
		}
	})
}

func TestAMessageBeyondTheWindowGoesAlone(t *testing.T) {
	s, in := fakeSession(Window{Messages: 8, Bytes: 100}, 1)
	if !send(t.Context(), in[0], "large", 1000) || s.bytes != 1000 {
		t.Errorf("got %d bytes under way; want 1000", s.bytes)
	}
}

func TestAWaitingHandlerIsLetGo(t *testing.T) {
	for _, tc := range []struct {
		name string
		then func(s *session, in *instance, cancel func())
	}{
		{"when its actor is told to stop", func(_ *session, _ *instance, cancel func()) { cancel() }},
		{"when the instance fails", func(_ *session, in *instance, _ func()) { in.fail(&wire.Failure{Inst: 1, Seq: 1, Error: "x"}, nil) }},
		{"when the process dies", func(s *session, _ *instance, _ func()) { s.finish(context.Canceled) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, in := fakeSession(Window{Messages: 1, Bytes: 1000}, 1)
				in[0].self = s.cfg.lookupNothing()
				send(t.Context(), in[0], "first", 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				sent := make(chan bool, 1)
				go func() { sent <- send(ctx, in[0], "second", 1) }()
				synctest.Wait()
				tc.then(s, in[0], cancel)
				synctest.Wait()
				if <-sent {
					t.Error("got it sent; want it given back")
				}
				if len(in[0].back) == 0 || in[0].back[len(in[0].back)-1].Message().Kind != "second" || len(s.waiters) != 0 {
					t.Errorf("got %d letters to give back and %d waiting; want the second one and none", len(in[0].back), len(s.waiters))
				}
			})
		})
	}
}

// lookupNothing is an address where nobody lives.
func (c Config) lookupNothing() actor.Ref {
	return runtime.New("nothing", runtime.WithLogger(c.Log)).Lookup("/user/nobody")
}

func TestWhatHadNotLeftGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := fakeSession(Window{}, 1)
		h := in[0].handle.(*fakeHandle)
		in[0].self = s.cfg.lookupNothing()
		send(t.Context(), in[0], "handled", 1)
		send(t.Context(), in[0], "left", 1)
		s.take()
		send(t.Context(), in[0], "queued", 1)
		if err := s.acks(wire.AppendAck(nil, 1, 1)); err != nil {
			t.Fatal(err)
		}
		if unacked := s.finish(context.Canceled); unacked != 2 {
			t.Errorf("got %d not acknowledged; want 2", unacked)
		}
		synctest.Wait()
		if fmt.Sprint(h.done, h.dead) != "[handled] [left]" || len(in[0].back) != 1 || in[0].back[0].Message().Kind != "queued" {
			t.Errorf("got done %v, dead %v, back %d; want handled, left and queued", h.done, h.dead, len(in[0].back))
		}
	})
}

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"lines", "a\nb\r\n\nc", "[a 0][b 0][ 0][c 0]"},
		{"a long line is cut", "a\n" + long + "\nb\n", fmt.Sprintf("[a 0][%s %d][b 0]", long[:maxLine], 100_001-maxLine)},
		{"a long line without end", long, fmt.Sprintf("[%s %d]", long[:maxLine], 100_000-maxLine)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got strings.Builder
			eachLine(strings.NewReader(tc.in), func(line string, cut int) { fmt.Fprintf(&got, "[%s %d]", line, cut) })
			if got.String() != tc.want {
				t.Errorf("got %.200s; want %.200s", got.String(), tc.want)
			}
		})
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Setenv("ACTORD_TEST_SEEN", "1")
	t.Setenv("ACTORD_TEST_HIDDEN", "1")
	c, err := Config{Name: "p", Command: []string{"p"}, EnvAllow: []string{"ACTORD_TEST_SEEN", "ACTORD_TEST_MISSING"}, Env: map[string]string{"A": "b"}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if d := DefaultConfig(); c.Window != d.Window || c.Restart != d.Restart || c.StopTimeout != d.StopTimeout {
		t.Errorf("got %+v; want the defaults", c)
	}
	if got := fmt.Sprint(c.env()); got != "[ACTORD_TEST_SEEN=1 A=b]" {
		t.Errorf("got environment %s; want the allowed and the own", got)
	}
}

func TestSweepRemovesWhatDeadDaemonsLeft(t *testing.T) {
	dir := t.TempDir()
	dead, live := dir+"/actord-999999999-x", fmt.Sprintf("%s/actord-%d-x", dir, os.Getpid())
	for _, d := range []string{dead, live, dir + "/actord-other-x"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("got %v, %v left; want that of the live process and the foreign one", left, err)
	}
}

// Whatever a plugin says, the session refuses it or goes on.
func FuzzReceive(f *testing.F) {
	cmd := wire.AppendCommand(nil, &wire.Command{Op: wire.OpReply, Inst: 1, Cause: 1, Body: []byte{0xf6}})
	for _, p := range []*wire.PluginFrame{
		{Frame: &wire.PluginFrame_Ack{Ack: &wire.Ack{Packed: wire.AppendAck(nil, 1, 1)}}},
		{Frame: &wire.PluginFrame_Commands{Commands: &wire.Commands{Packed: cmd}}},
		{Frame: &wire.PluginFrame_Failure{Failure: &wire.Failure{Inst: 1, Seq: 1}}},
		{Frame: &wire.PluginFrame_Result{Result: &wire.Result{Call: 1}}},
		{Frame: &wire.PluginFrame_Log{Log: &wire.Log{Inst: 1, Attributes: []byte{0x81, 0x01}}}},
	} {
		b, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	nobody := runtime.New("nothing", runtime.WithLogger(slog.New(slog.DiscardHandler)), runtime.WithDrainTimeout(0))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p wire.PluginFrame
		if proto.Unmarshal(b, &p) != nil {
			return
		}
		s, in := fakeSession(Window{}, 2)
		s.cfg.Lookup = nobody.Lookup
		in[0].handle, in[0].self = &deafHandle{}, nobody.Lookup("/user/a")
		in[1].handle = nil // not started
		send(t.Context(), in[0], "x", 1)
		s.take()
		_ = s.receive(&p)
		_ = s.receive(&p)
		in[0].quiesce(time.After(patience))
		s.finish(context.Canceled)
		in[0].quiesce(time.After(patience))
	})
}

// deafHandle takes everything.
type deafHandle struct{ actor.Handle }

func (*deafHandle) Done(actor.Letter)                                 {}
func (*deafHandle) DeadLetter(actor.Letter, string)                   {}
func (*deafHandle) Fail(error, ...actor.Letter) bool                  { return true }
func (*deafHandle) Tell(actor.Ref, actor.Message, actor.Letter) error { return nil }

func ExampleOpen() {
	sys := runtime.New("orders")
	p, err := Open(context.Background(), Config{
		Name: "fraud", Command: []string{"./bin/fraud"}, Lookup: sys.Lookup, Publish: sys.Publish,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close(context.Background())
	for _, f := range p.Factories() {
		fmt.Println(f.Schema().Name)
	}
}

// Lines and what was cut off are all of the input but the line ends.
func FuzzEachLine(f *testing.F) {
	f.Add("a\nb\r\n", 3)
	f.Add(strings.Repeat("x", maxLine), 2)
	f.Fuzz(func(t *testing.T, in string, times int) {
		in = strings.Repeat(in, max(1, min(times, 2000)))
		total := 0
		eachLine(strings.NewReader(in), func(line string, cut int) {
			if len(line) > maxLine || strings.Contains(line, "\n") {
				t.Fatalf("got a line of %d bytes; want one line of at most %d", len(line), maxLine)
			}
			total += len(line) + cut
		})
		if total > len(in) || total < len(in)-strings.Count(in, "\n")-strings.Count(in, "\r") {
			t.Errorf("got %d bytes of %d", total, len(in))
		}
	})
}
