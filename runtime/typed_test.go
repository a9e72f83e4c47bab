package runtime

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// request is the message of the typed tests.
type request struct {
	do    string
	reply ReplyTo[string]
}

// server answers requests; what it is told to do is in them.
type server struct{ gate chan struct{} }

func (s server) Receive(ctx *Context[request], m request) error {
	switch m.do {
	case "answer":
		m.reply.Reply("yes")
		m.reply.Reply("again") // nobody waits any more, and it must not block
	case "fail":
		return errors.New("boom")
	case "panic":
		panic("boom")
	case "stop":
		ctx.Stop(ctx.Path())
	case "hold":
		<-s.gate
	case "self":
		_, err := Ask(ctx, ctx.Self(), func(r ReplyTo[string]) request { return request{"answer", r} })
		m.reply.Reply(fmt.Sprint(errors.Is(err, actor.ErrWouldDeadlock)))
	}
	return nil
}

func TestATypedAskIsReleasedHoweverItsQuestionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSystem(t), make(chan struct{})
		props := &Props[request]{New: func() (Receiver[request], error) { return server{gate}, nil }}
		props.Settings.Mailbox = mailbox.Settings{Capacity: 1, Overflow: mailbox.DropHead}
		pid, err := Spawn(s, "a", props)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(do string) (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return Ask(ctx, pid, func(r ReplyTo[string]) request { return request{do, r} })
		}
		for _, tt := range []struct {
			do, answer string
			err        error
		}{
			{"answer", "yes", nil}, {"self", "true", nil}, {"fail", "", actor.ErrActorFailed},
			{"panic", "", actor.ErrActorFailed}, {"nothing", "", actor.ErrAskTimeout},
		} {
			if got, err := ask(tt.do); got != tt.answer || !errors.Is(err, tt.err) {
				t.Errorf("%s: got %q, %v; want %q, %v", tt.do, got, err, tt.answer, tt.err)
			}
		}
		_ = pid.Tell(t.Context(), request{do: "hold"})
		synctest.Wait()
		began, dropped := time.Now(), make(chan error, 1)
		go func() { _, err := ask("answer"); dropped <- err }()
		synctest.Wait()
		_ = pid.Tell(t.Context(), request{do: "stop"}) // makes room for itself
		if err := <-dropped; !errors.Is(err, actor.ErrFull) || time.Since(began) > 0 {
			t.Errorf("dropped: got %v after %v, want ErrFull at once", err, time.Since(began))
		}
		close(gate)
		synctest.Wait()
		for _, want := range []error{actor.ErrStopped} {
			if _, err := ask("answer"); !errors.Is(err, want) {
				t.Errorf("nobody there: got %v, want %v", err, want)
			}
		}
		if _, err := Ask(t.Context(), (*PID[request])(nil), func(r ReplyTo[string]) request { return request{} }); !errors.Is(err, actor.ErrNotFound) {
			t.Errorf("nil PID: got %v, want ErrNotFound", err)
		}
	})
}

func TestAnAskEndsWithTheActorThatGotIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		pid, err := Spawn(s, "a", &Props[request]{New: func() (Receiver[request], error) { return server{}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := Ask(t.Context(), pid, func(r ReplyTo[string]) request { return request{"nothing", r} })
			done <- err
		}()
		synctest.Wait()
		_ = pid.Tell(t.Context(), request{do: "stop"})
		if err := <-done; !errors.Is(err, actor.ErrStopped) {
			t.Errorf("got %v, want ErrStopped", err)
		}
	})
}

func TestAnAddressIsOfOneType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		if _, err := Spawn(s, "a", &Props[int]{New: func() (Receiver[int], error) { return idle[int]{}, nil }}); err != nil {
			t.Fatal(err)
		}
		if _, err := Lookup[string](s, "/user/a"); !errors.Is(err, actor.ErrWrongType) {
			t.Errorf("another type: got %v, want ErrWrongType", err)
		}
		if _, err := Lookup[int](s, "/user/b"); !errors.Is(err, actor.ErrNotFound) {
			t.Errorf("nobody: got %v, want ErrNotFound", err)
		}
		if err := s.Lookup("/user/a").Tell(t.Context(), num(0)); !errors.Is(err, actor.ErrWrongType) {
			t.Errorf("a Message for an int: got %v, want ErrWrongType", err)
		}
		var none *PID[int]
		if err := none.Tell(t.Context(), 1); !errors.Is(err, actor.ErrNotFound) || none.Path() != "" {
			t.Errorf("nil PID: got %v, want ErrNotFound", err)
		}
	})
}

// counter is the actor of the example: it counts and answers with its count.
type counter struct{ n int }

// count is what a counter understands.
type count struct {
	add   int
	total ReplyTo[int]
}

func (c *counter) Receive(_ *Context[count], m count) error {
	c.n += m.add
	m.total.Reply(c.n)
	return nil
}

// Example_typed runs an actor of its own message type.
func Example_typed() {
	sys := New("example")
	defer func() { _ = sys.Shutdown(context.Background()) }()

	pid, err := Spawn(sys, "counter", &Props[count]{New: func() (Receiver[count], error) { return &counter{}, nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = pid.Tell(ctx, count{add: 40})
	total, err := Ask(ctx, pid, func(r ReplyTo[int]) count { return count{add: 2, total: r} })
	fmt.Println(pid, total, err)
	// Output: /user/counter 42 <nil>
}

// Example_declared runs a behaviour under an address, as a configuration does.
func Example_declared() {
	sys := New("example")
	defer func() { _ = sys.Shutdown(context.Background()) }()

	a, err := sys.SpawnActor(actor.User, Spec{Name: "echo", Settings: DefaultSettings(), New: func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error { return ctx.Reply(m) }), nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := a.Started(ctx); err != nil {
		fmt.Println(err)
		return
	}
	m, err := a.Ref().(actor.Asker).Ask(ctx, actor.Message{Kind: "greeting", Body: "hello"})
	fmt.Println(a.Path(), m.Body, err)
	// Output: /user/echo hello <nil>
}
