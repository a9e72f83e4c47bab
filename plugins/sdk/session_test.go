package sdk

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// fakeHost is the other end of a session, without a process and without gRPC.
type fakeHost struct {
	grpc.ServerStream
	t   *testing.T
	ctx context.Context
	in  chan *wire.HostFrame
	out chan *wire.PluginFrame
	seq uint64
}

func (h *fakeHost) Context() context.Context       { return h.ctx }
func (h *fakeHost) Send(f *wire.PluginFrame) error { h.out <- f; return nil }
func (h *fakeHost) Recv() (*wire.HostFrame, error) {
	f, ok := <-h.in
	if !ok {
		return nil, io.EOF
	}
	return f, nil
}

// newHost starts a session of a plugin with one behaviour that does what handle
// does, and instance 1 of it at /user/a.
func newHost(t *testing.T, handle func(ctx actor.Context, m actor.Message) error) *fakeHost {
	t.Helper()
	f := actor.FactoryOf(actor.Schema{Name: "x"}, func(struct{}) (actor.Behaviour, error) { return actor.Func(handle), nil })
	ctx, cancel := context.WithCancel(t.Context())
	h := &fakeHost{t: t, ctx: ctx, in: make(chan *wire.HostFrame, 100), out: make(chan *wire.PluginFrame, 100)}
	s := newSession(newServer(Plugin{Name: "p"}, []actor.Factory{f}, os.Stdout, os.Stderr), ctx)
	done := make(chan error, 1)
	go func() { done <- s.run(h) }()
	t.Cleanup(func() {
		cancel()
		close(h.in)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Hello{Hello: &wire.Hello{LogLevel: int32(slog.LevelInfo)}}}
	h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Spawn{Spawn: &wire.Spawn{Inst: 1, Call: 1, Behaviour: "x", Args: []byte("{}")}}}
	h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Start{Start: &wire.Start{Inst: 1, Call: 2, Path: "/user/a"}}}
	for range 2 {
		if r := h.next().GetResult(); r == nil || r.Error != "" {
			t.Fatalf("got %v; want success", r)
		}
	}
	return h
}

func (h *fakeHost) next() *wire.PluginFrame {
	h.t.Helper()
	select {
	case f := <-h.out:
		return f
	case <-time.After(20 * time.Second):
		h.t.Fatal("the plugin said nothing")
		return nil
	}
}

func (h *fakeHost) deliver(kinds ...string) {
	h.t.Helper()
	var packed []byte
	for _, k := range kinds {
		h.seq++
		body, err := wire.AppendBody(nil, int64(h.seq))
		if err != nil {
			h.t.Fatal(err)
		}
		packed = wire.AppendDelivery(packed, &wire.Delivery{Seq: h.seq, Inst: 1, Sender: "/user/s", Kind: k, Body: body})
	}
	h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Deliver{Deliver: &wire.Deliver{Packed: packed}}}
}

// commands unpacks a frame of commands.
func (h *fakeHost) commands(f *wire.PluginFrame) (out []wire.Command) {
	h.t.Helper()
	packed := f.GetCommands().GetPacked()
	for len(packed) > 0 {
		var c wire.Command
		rest, err := wire.NextCommand(packed, &c)
		if err != nil {
			h.t.Fatal(err)
		}
		out, packed = append(out, c), rest
	}
	return out
}

// ackedTo reads frames until instance 1 is acknowledged up to seq, and returns
// the commands before that.
func (h *fakeHost) ackedTo(seq uint64) (out []wire.Command) {
	h.t.Helper()
	for {
		f := h.next()
		out = append(out, h.commands(f)...)
		if f.GetAck() == nil {
			continue
		}
		if _, got, _, err := wire.NextAck(f.GetAck().Packed); err != nil || got >= seq {
			return out
		}
	}
}

func TestWhatAMessageCausedComesBeforeItsAck(t *testing.T) {
	h := newHost(t, func(ctx actor.Context, m actor.Message) error {
		if err := ctx.Tell(ctx.Lookup("/user/b"), actor.Message{Kind: "seen", Body: m.Body}); err != nil {
			return err
		}
		return ctx.Reply(m)
	})
	h.deliver("a", "b", "c")
	got := h.ackedTo(3)
	if len(got) != 6 {
		t.Fatalf("got %d commands before the ack; want 6", len(got))
	}
	for i, c := range got {
		op, cause := wire.OpTell, uint64(i/2+1)
		if i%2 == 1 {
			op = wire.OpReply
		}
		if c.Op != op || c.Cause != cause {
			t.Errorf("command %d: got op %d caused by %d; want op %d caused by %d", i, c.Op, c.Cause, op, cause)
		}
	}
}

func TestAfterAFailureMessagesAreDiscardedUntilResume(t *testing.T) {
	var handled []string
	h := newHost(t, func(_ actor.Context, m actor.Message) error {
		handled = append(handled, m.Kind)
		switch m.Kind {
		case "error":
			return errors.New("no good")
		case "panic":
			panic("oh")
		case "goexit":
			runtime.Goexit()
		}
		return nil
	})
	for i, kind := range []string{"error", "panic", "goexit"} {
		h.deliver("ok", kind, "discarded")
		var f *wire.Failure
		for f == nil {
			f = h.next().GetFailure()
		}
		want := uint64(3*i + 2)
		if f.Seq != want || f.Handled != want-1 {
			t.Errorf("%s: got message %d after %d; want %d after %d", kind, f.Seq, f.Handled, want, want-1)
		}
		if (f.Stack != "") != (kind == "panic") {
			t.Errorf("%s: got stack %q; want one for a panic only", kind, f.Stack)
		}
		h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Resume{Resume: &wire.Resume{Inst: 1}}}
	}
	h.deliver("last")
	h.ackedTo(10)
	want := []string{"ok", "error", "ok", "panic", "ok", "goexit", "last"}
	if !reflect.DeepEqual(handled, want) {
		t.Errorf("got %v; want %v", handled, want)
	}
}

func TestWhatTheContextRefuses(t *testing.T) {
	result := make(chan error, 10)
	h := newHost(t, func(ctx actor.Context, m actor.Message) error {
		_, err := ctx.Spawn("c", nil)
		result <- err
		result <- ctx.Watch(ctx.Sender())
		_, err = ctx.Ask(ctx.Self(), m, time.Second)
		result <- err
		result <- ctx.Tell(ctx.Sender(), actor.Message{Kind: "bad", Body: 1})
		_, err = ctx.Resolve("nonsense")
		result <- err
		return nil
	})
	h.deliver("x")
	for _, want := range []error{actor.ErrUnsupported, actor.ErrUnsupported, actor.ErrWouldDeadlock, wire.ErrBody, nil} {
		if got := <-result; got == nil || (want != nil && !errors.Is(got, want)) {
			t.Errorf("got %v; want %v", got, want)
		}
	}
}

func TestAnAskIsAnswered(t *testing.T) {
	reply := make(chan any, 1)
	h := newHost(t, func(ctx actor.Context, m actor.Message) error {
		got, err := ctx.Ask(ctx.Sender(), m, time.Minute)
		if err != nil {
			reply <- err
		} else {
			reply <- got.Body
		}
		return nil
	})
	for _, tc := range []struct {
		result *wire.Result
		want   error
	}{
		{&wire.Result{Packed: wire.AppendDelivery(nil, &wire.Delivery{Kind: "yes", Body: []byte{0xf5}})}, nil},
		{&wire.Result{Error: "ask /user/s: " + actor.ErrStopped.Error(), Code: actor.ErrStopped.Error()}, actor.ErrStopped},
	} {
		h.deliver("question")
		var c []wire.Command
		for len(c) == 0 {
			c = h.commands(h.next())
		}
		tc.result.Call = c[0].Call
		h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Result{Result: tc.result}}
		got := <-reply
		if err, ok := got.(error); ok != (tc.want != nil) || (ok && !errors.Is(err, tc.want)) || (!ok && got != true) {
			t.Errorf("got %v; want true or %v", got, tc.want)
		}
	}
}

func TestTimersFireInOrderAndEndWithTheInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		h := newHost(t, func(ctx actor.Context, m actor.Message) error {
			if m.Kind == "arm" {
				ctx.After(3*time.Second, actor.Message{Kind: "after"})
				ctx.Every(2*time.Second, actor.Message{Kind: "every"})
				cancel := ctx.After(time.Second, actor.Message{Kind: "cancelled"})
				if !cancel() || cancel() {
					t.Error("cancel: got no or two prevented deliveries; want one")
				}
				return nil
			}
			got = append(got, m.Kind)
			return nil
		})
		h.deliver("arm")
		time.Sleep(7 * time.Second)
		h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Stop{Stop: &wire.Stop{Inst: 1, Call: 9}}}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"every", "after", "every", "every"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v; want %v", got, want)
		}
	})
}

func TestShutdownStopsEveryInstance(t *testing.T) {
	s := newSession(newServer(Plugin{}, nil, nil, nil), t.Context())
	if left := s.stopAll(time.Second); left != 0 {
		t.Errorf("without instances: got %d left; want 0", left)
	}
	in := newInstance(s, 1)
	s.instances[1] = in
	if left := s.stopAll(20 * time.Second); left != 0 {
		t.Errorf("got %d left; want 0", left)
	}
}

func TestCallsOfUnknownInstancesAreAnswered(t *testing.T) {
	h := newHost(t, func(actor.Context, actor.Message) error { return nil })
	h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Snapshot{Snapshot: &wire.Snapshot{Inst: 7, Call: 9}}}
	if r := h.next().GetResult(); r.GetCall() != 9 || !strings.Contains(r.GetError(), "no instance 7") {
		t.Errorf("got %v; want an error for call 9", r)
	}
}

func TestHandlersWaitWhileTooMuchIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutbox()
		sent := 0
		go func() {
			for range 20 {
				o.command(&wire.Command{Op: wire.OpTell, Body: make([]byte, 1<<20)})
				sent++
			}
		}()
		synctest.Wait()
		if sent != 8 {
			t.Errorf("got %d MiB accepted; want 8, the limit", sent)
		}
		for sent < 20 {
			o.take()
			synctest.Wait()
		}
		o.close()
	})
}
