package actortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

type config struct {
	To   actor.Targets `conf:"to"`
	File actor.File    `conf:"file"`
}

func factoryOf(build func(config) (actor.Behaviour, error)) actor.Factory {
	return actor.FactoryOf(actor.SchemaOf[config]("test", "A behaviour for tests."), build)
}

// each makes a factory whose instances are what build returns.
func each(build func() actor.Behaviour) actor.Factory {
	return factoryOf(func(config) (actor.Behaviour, error) { return build(), nil })
}

// receive makes a factory of a plain function.
func receive(f actor.Func) actor.Factory {
	return each(func() actor.Behaviour { return f })
}

// good keeps all promises: it counts, passes on, has state, resources and timers.
type good struct {
	config config
	n      int
	to     actor.Ref
	stop   context.CancelFunc
	done   chan struct{}
}

func (g *good) Receive(ctx actor.Context, m actor.Message) error {
	g.n++
	return ctx.Tell(g.to, actor.Message{Kind: m.Kind, Body: map[string]any{"was": m.Body}})
}

func (g *good) Start(ctx actor.Context) (err error) {
	if g.to, err = ctx.Resolve(g.config.To[0]); err != nil {
		return err
	}
	var life context.Context
	life, g.stop = context.WithCancel(context.Background())
	g.done = make(chan struct{})
	go func() { <-life.Done(); close(g.done) }()
	ctx.Every(time.Millisecond, actor.Message{Kind: "tick"})
	return nil
}

func (g *good) Stop(actor.Context) error {
	if g.stop != nil {
		g.stop()
		<-g.done
	}
	return nil
}

func (g *good) Reconfigure(_ actor.Context, c config) error { g.config = c; return nil }

func (g *good) Snapshot() (actor.State, error) {
	data, err := json.Marshal(g.n)
	return actor.State{Version: 1, Data: data}, err
}

func (g *good) Restore(s actor.State) error {
	if s.Version != 1 {
		return errors.New("unknown version")
	}
	return json.Unmarshal(s.Data, &g.n)
}

var order = actor.Message{Kind: "order", Body: map[string]any{"n": int64(1), "items": []any{"a"}}, Headers: actor.Headers{"a": "b"}}

func TestAGoodBehaviourPasses(t *testing.T) {
	Suite(t, factoryOf(func(c config) (actor.Behaviour, error) { return &good{config: c}, nil }), Case{
		Args:     map[string]any{"to": "/user/next"},
		Messages: []actor.Message{order, {Kind: "ping"}},
	})
}

// bad behaviours break one promise each.
type (
	keepsResource struct{ taken *bool }
	forgetful     struct{ n int }
	unmovable     struct{ actor.Func }
)

func (k keepsResource) Receive(actor.Context, actor.Message) error { return nil }
func (k keepsResource) Start(actor.Context) error {
	if *k.taken {
		return errors.New("the port is taken")
	}
	*k.taken = true
	return nil
}

func (f *forgetful) Receive(actor.Context, actor.Message) error { f.n++; return nil }
func (f *forgetful) Snapshot() (actor.State, error) {
	return actor.State{Version: 1, Data: fmt.Append(nil, f.n)}, nil
}
func (f *forgetful) Restore(actor.State) error { return nil }

func (u unmovable) Reconfigure(actor.Context, config) error { return errors.New("cannot change") }

func TestBrokenPromisesAreFound(t *testing.T) {
	leak := make(chan struct{})
	defer close(leak)
	path := filepath.Join(t.TempDir(), "early")
	port := false
	for _, c := range []struct {
		name, check string
		f           actor.Factory
		want        string
		timeout     time.Duration // where it passes; 0 means the default
	}{
		{
			name: "a file that Prepare makes", check: "preparing it touches nothing",
			f: factoryOf(func(c config) (actor.Behaviour, error) {
				err := os.WriteFile(string(c.File)+"", nil, 0o600)
				return &forgetful{}, err
			}),
			want: "was made before Start",
		},
		{
			name: "a body that is changed in place", check: "it handles its messages and changes none",
			f: receive(func(_ actor.Context, m actor.Message) error {
				m.Body.(map[string]any)["items"].([]any)[0] = "b"
				return nil
			}),
			want: `the body of a "order" was changed in place`,
		},
		{
			name: "headers that are changed in place", check: "it handles its messages and changes none",
			f:    receive(func(_ actor.Context, m actor.Message) error { m.Headers["a"] = "c"; return nil }),
			want: `the headers of a "order" were changed in place`,
		},
		{
			name: "an illegal body", check: "it handles its messages and changes none",
			f: receive(func(ctx actor.Context, m actor.Message) error {
				return ctx.Tell(ctx.Lookup("/user/next"), actor.Message{Kind: "x", Body: []any{1}})
			}),
			want: `/user/next got a "x" with an illegal body: body[0]: int is not a body type`,
		},
		{
			name: "a failure on an ordinary message", check: "it handles its messages and changes none",
			f:    receive(func(actor.Context, actor.Message) error { return errors.New("no") }),
			want: `it failed on a "order": no`,
		},
		{
			name: "a handler that does not come back", check: "it handles its messages and changes none",
			f:       receive(func(ctx actor.Context, _ actor.Message) error { <-ctx.Done(); return nil }),
			want:    `handling a "order": it takes longer than`,
			timeout: 200 * time.Millisecond,
		},
		{
			name: "a panic on a message without a body", check: "it takes whatever comes without a panic",
			f: receive(func(_ actor.Context, m actor.Message) error {
				_ = m.Body.(map[string]any)
				return nil
			}),
			want: "it panicked on a \"\": panic: interface conversion",
		},
		{
			name: "a resource that a restart does not give back", check: "it works on after a restart",
			f:       each(func() actor.Behaviour { return keepsResource{&port} }),
			want:    "the restart: it takes longer than",
			timeout: 200 * time.Millisecond,
		},
		{
			name: "an equal configuration that is refused", check: "it works on after an equal configuration",
			f:    each(func() actor.Behaviour { return unmovable{func(actor.Context, actor.Message) error { return nil }} }),
			want: "reconfigure: cannot change",
		},
		{
			name: "a state that is not taken over", check: "its state can be handed over",
			f:    each(func() actor.Behaviour { return &forgetful{} }),
			want: "the restored instance has another state",
		},
		{
			name: "a goroutine that stays", check: "it leaves no goroutine behind",
			f: receive(func(actor.Context, actor.Message) error {
				go func() { <-leak }()
				return nil
			}),
			want:    "1 goroutines are left",
			timeout: 200 * time.Millisecond,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			port = false
			err := checkCalled(c.check)(c.f, Case{
				Args:     map[string]any{"to": "/user/next", "file": path},
				Messages: []actor.Message{{Kind: "order", Body: actor.CopyBody(order.Body), Headers: order.Headers.With("a", "b")}},
				Timeout:  c.timeout,
				unread:   true, // the race detector would speak up first
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error\n%v\nwant one with: %s", err, c.want)
			}
		})
	}
}

func checkCalled(name string) func(actor.Factory, Case) error {
	for _, c := range checks {
		if c.name == name {
			return c.run
		}
	}
	return func(actor.Factory, Case) error { return fmt.Errorf("there is no check %q", name) }
}

func TestWrongArgumentsAreReported(t *testing.T) {
	err := onStage(handlesMessages)(each(func() actor.Behaviour { return &forgetful{} }), Case{Args: map[string]any{"too": "/user/a"}})
	if want := `the case's args: too: unknown key; did you mean "to"?`; err == nil || err.Error() != want {
		t.Errorf("got error %v, want: %s", err, want)
	}
}
