// A plugin for the tests of the host: behaviours that work and behaviours that
// go wrong on request.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/actord/actord/plugins/sdk"
	"github.com/actord/actord/runtime/actor"
)

func main() {
	atStart(os.Getenv("TEST_MODE"))
	sdk.Serve(sdk.Plugin{Name: "testing", Version: "0.1.0"},
		actor.FactoryOf(actor.SchemaOf[echoConfig]("echo", "Passes messages on."), newEcho),
		actor.FactoryOf(actor.SchemaOf[countConfig]("count", "Counts messages."), newCount),
		actor.FactoryOf(actor.SchemaOf[struct{}]("trouble", "Goes wrong."), func(struct{}) (actor.Behaviour, error) { return &trouble{}, nil }),
		actor.FactoryOf(actor.SchemaOf[struct{}]("tools", "Uses its context."), func(struct{}) (actor.Behaviour, error) { return &tools{}, nil }),
	)
}

// atStart goes wrong before the plugin serves.
func atStart(mode string) {
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "version":
		fmt.Println("1|9|unix|/nowhere|grpc|")
		select {}
	case "silent":
		select {}
	case "deaf":
		l, err := net.Listen("unix", os.Getenv("PLUGIN_UNIX_SOCKET_DIR")+"/deaf")
		if err != nil {
			panic(err)
		}
		fmt.Printf("1|1|unix|%s|grpc|\n", l.Addr())
		select {}
	case "chatty":
		fmt.Println("hello before the handshake")
	case "child":
		// A child that holds the output open and outlives its parent unless the group is killed.
		c := exec.Command("sleep", "600")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintf(os.Stderr, "child=%d\n", c.Process.Pid)
	}
}

type echoConfig struct {
	To actor.Targets `conf:"to" doc:"Where to."`
}

type echo struct {
	config echoConfig
	to     []actor.Ref
}

func newEcho(c echoConfig) (actor.Behaviour, error) { return &echo{config: c}, nil }

func (e *echo) Start(ctx actor.Context) error {
	for _, t := range e.config.To {
		r, err := ctx.Resolve(t)
		if err != nil {
			return err
		}
		e.to = append(e.to, r)
	}
	return nil
}

func (e *echo) Receive(ctx actor.Context, m actor.Message) error {
	switch m.Kind {
	case "error":
		return errors.New("asked to")
	case "panic":
		panic("asked to")
	}
	if len(e.to) == 0 {
		return ctx.Reply(m)
	}
	for _, r := range e.to {
		if err := ctx.Tell(r, m); err != nil {
			return err
		}
	}
	return nil
}

type countConfig struct {
	Step  int    `conf:"step" default:"1" min:"1" doc:"How much a message counts."`
	Label string `conf:"label" doc:"May not be 'bad'."`
}

// count answers "get" with its number and adds the step for anything else.
type count struct {
	config countConfig
	n      int64
}

func newCount(c countConfig) (actor.Behaviour, error) {
	if c.Label == "bad" {
		return nil, errors.New("label: bad is not allowed")
	}
	return &count{config: c}, nil
}

func (c *count) Receive(ctx actor.Context, m actor.Message) error {
	switch m.Kind {
	case "get":
		return ctx.Reply(actor.Message{Kind: "count", Body: c.n})
	case "panic":
		panic("asked to")
	case "slow":
		time.Sleep(20 * time.Millisecond)
	}
	c.n += int64(c.config.Step)
	return nil
}

func (c *count) Reconfigure(_ actor.Context, next countConfig) error {
	if next.Step == 99 {
		return errors.New("99 is too much")
	}
	c.config = next
	return nil
}

func (c *count) Snapshot() (actor.State, error) {
	return actor.State{Version: 1, Data: []byte(strconv.FormatInt(c.n, 10))}, nil
}

func (c *count) Restore(s actor.State) (err error) {
	if s.Version != 1 {
		return fmt.Errorf("state version %d is unknown", s.Version)
	}
	c.n, err = strconv.ParseInt(string(s.Data), 10, 64)
	return err
}

// trouble records what it handled and goes wrong by kind.
type trouble struct{ seen []any }

func (t *trouble) Receive(ctx actor.Context, m actor.Message) error {
	switch m.Kind {
	case "seen":
		return ctx.Reply(actor.Message{Kind: "seen", Body: append([]any(nil), t.seen...)})
	case "error":
		return errors.New("did not like it")
	case "panic":
		panic("asked to")
	case "goexit":
		runtime.Goexit()
	case "exit":
		os.Exit(7)
	case "crash":
		go panic("in a goroutine")
		select {}
	case "hang":
		select {}
	case "slow":
		time.Sleep(50 * time.Millisecond)
	case "stderr":
		fmt.Fprintln(os.Stderr, `{"@message":5,"@level":{},"@timestamp":[]}`)
		fmt.Fprintln(os.Stderr, `{"@level":"error","@message":"x","@timestamp":5}`)
		line := make([]byte, 100_000)
		for i := range line {
			line[i] = 'x'
		}
		for range 40 {
			fmt.Fprintf(os.Stdout, "%s\n", line)
			fmt.Fprintf(os.Stderr, "%s\n", line)
		}
	}
	t.seen = append(t.seen, m.Body)
	return nil
}

// tools does one thing with its context per kind and tells the sender.
type tools struct {
	ticks int64
	kept  actor.Letter
}

// kept counts how often a letter was kept, over all incarnations.
var kept atomic.Int64

func (t *tools) Receive(ctx actor.Context, m actor.Message) error {
	tell := func(kind string, body any) error { return ctx.Reply(actor.Message{Kind: kind, Body: body}) }
	switch m.Kind {
	case "trace":
		return tell("trace", ctx.Trace().String())
	case "log":
		ctx.Log().With("a", 1).WithGroup("g").Info("from the plugin", "b", "two")
		fmt.Println("printed by the plugin")
		return tell("logged", nil)
	case "after":
		to := ctx.Sender()
		ctx.After(time.Millisecond, actor.Message{Kind: "tick", Body: string(to.Path())})
		cancelled := ctx.After(time.Hour, actor.Message{Kind: "never"})()
		return tell("armed", cancelled)
	case "tick":
		return ctx.Tell(ctx.Lookup(actor.Path(m.Body.(string))), actor.Message{Kind: "ticked"})
	case "every":
		ctx.Every(time.Millisecond, actor.Message{Kind: "count"})
		return nil
	case "count":
		t.ticks++
		return nil
	case "ticks":
		return tell("ticks", t.ticks)
	case "ask":
		reply, err := ctx.Ask(ctx.Lookup(actor.Path(m.Body.(string))), actor.Message{Kind: "question"}, 50*time.Millisecond)
		if err != nil {
			return tell("ask-error", fmt.Sprint(errors.Is(err, actor.ErrAskTimeout), " ", err))
		}
		return tell("asked", reply.Body)
	case "spawn":
		_, err := ctx.Spawn("child", nil)
		return tell("spawn", fmt.Sprint(errors.Is(err, actor.ErrUnsupported), " ", err))
	case "stop":
		ctx.Stop(ctx.Self())
		return nil
	case "publish":
		ctx.Publish(actor.Stopped{Path: "/user/x"})
		return nil
	case "later":
		h, l := ctx.Handle(), ctx.Letter()
		go func() { _ = h.Tell(l.Sender(), actor.Message{Kind: "late", Body: l.Message().Body}, l) }()
		return nil
	case "keep":
		if kept.Add(1) > 1 {
			return tell("kept again", m.Body)
		}
		t.kept = ctx.Letter()
	case "give-back":
		ctx.Handle().Fail(nil, t.kept)
	case "fail-back":
		ctx.Handle().Fail(errors.New("gives back"), t.kept)
	case "patient-ask":
		reply, err := ctx.Ask(ctx.Lookup("/user/slow"), actor.Message{Kind: "slow"}, time.Minute)
		if err != nil {
			return err
		}
		return tell("patient", reply.Body)
	case "tick-trace":
		to := ctx.Sender()
		ctx.After(time.Millisecond, actor.Message{Kind: "traced-tick", Body: string(to.Path())})
	case "traced-tick":
		return ctx.Tell(ctx.Lookup(actor.Path(m.Body.(string))), actor.Message{Kind: "traced", Body: ctx.Trace().String()})
	case "topic":
		return ctx.PublishTo("news", m)
	case "fail-later":
		h := ctx.Handle()
		go h.Fail(errors.New("failed elsewhere"))
		return nil
	}
	return nil
}
