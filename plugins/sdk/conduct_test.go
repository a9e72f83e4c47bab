package sdk

import (
	"context"
	"errors"
	"fmt"
	gort "runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// notes collects what a behaviour saw.
type notes struct {
	mu  sync.Mutex // guards got
	got []string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got = append(n.got, fmt.Sprintf(format, args...))
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.got, ", ")
}

func TestConductInAPlugin(t *testing.T) {
	told := func(k string) actor.Message { return actor.Message{Kind: k} }
	timer := func(s actor.Schedule) func(ctx actor.Context) {
		return func(ctx actor.Context) {
			if err := ctx.Timer("k", s, told("t")); err != nil {
				panic(err)
			}
		}
	}
	work := func(f func() (actor.Message, error)) func(ctx actor.Context) {
		return func(ctx actor.Context) { ctx.Go(func(context.Context) (actor.Message, error) { return f() }) }
	}
	for _, tt := range []struct {
		name, kinds string
		do          func(n *notes) map[string]func(ctx actor.Context)
		want        string
	}{
		{"a role handles messages until it goes", "on x off x", func(n *notes) map[string]func(actor.Context) {
			role := actor.Func(func(ctx actor.Context, m actor.Message) error {
				n.add("role %s", m.Kind)
				if m.Kind == "off" {
					ctx.Unbecome()
				}
				return nil
			})
			return map[string]func(actor.Context){"on": func(ctx actor.Context) { ctx.BecomeStacked(role) }}
		}, "on@0s, role x, role off, x@0s"},
		{"a timer of the same key is replaced", "long short", func(*notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){
				"long": timer(actor.Schedule{Every: 2 * time.Second}), "short": timer(actor.Schedule{After: 5 * time.Second}),
			}
		}, "long@0s, short@0s, t@5s"},
		{"a fixed rate keeps its phase over a slow handler", "set", func(*notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){
				"set": timer(actor.Schedule{Every: 3 * time.Second}), "t": func(actor.Context) { time.Sleep(time.Second) },
			}
		}, "set@0s, t@3s, t@6s, t@9s"},
		{"a plan is followed", "set", func(*notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){"set": timer(actor.Schedule{Next: func(now time.Time) time.Time {
				return now.Truncate(4 * time.Second).Add(4 * time.Second)
			}})}
		}, "set@0s, t@4s, t@8s"},
		{"a cancelled timer does not come", "set cancel", func(n *notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){
				"set":    timer(actor.Schedule{After: time.Second}),
				"cancel": func(ctx actor.Context) { n.add("%v %v", ctx.CancelTimer("k"), ctx.CancelTimer("k")) },
			}
		}, "set@0s, cancel@0s, true false"},
		{"a result is told with its sender", "go", func(n *notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){
				"go":   work(func() (actor.Message, error) { return told("done"), nil }),
				"done": func(ctx actor.Context) { n.add("for %s", ctx.Sender().Path()) },
			}
		}, "go@0s, done@0s, for /user/s"},
		{"an error is told", "go", func(*notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){"go": work(func() (actor.Message, error) { return told("x"), errors.New("boom") })}
		}, "go@0s, failed map[error:boom panic:false]@0s"},
		{"a panic is told", "go", func(*notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){"go": work(func() (actor.Message, error) { panic("boom") })}
		}, "go@0s, failed map[error:panic: boom panic:true]@0s"},
		{"the end of the goroutine is told", "go", func(*notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){"go": work(func() (actor.Message, error) { gort.Goexit(); return told("x"), nil })}
		}, "go@0s, failed map[error:it ended its goroutine (runtime.Goexit) panic:false]@0s"},
		{"what only the host can do is refused", "all", func(n *notes) map[string]func(actor.Context) {
			return map[string]func(actor.Context){"all": func(ctx actor.Context) {
				ctx.Unstash()
				for _, err := range []error{ctx.Stash(), ctx.SetReceiveTimeout(time.Second), ctx.Throttle(actor.Throttle{})} {
					n.add("%v", errors.Is(err, actor.ErrUnsupported))
				}
			}}
		}, "all@0s, true, true, true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, t0 := &notes{}, time.Now()
				do := tt.do(n)
				h := newHost(t, func(ctx actor.Context, m actor.Message) error {
					text := m.Kind
					if m.Kind == actor.KindFailed {
						text += fmt.Sprint(" ", m.Body)
					}
					n.add("%s@%v", text, time.Since(t0))
					if f := do[m.Kind]; f != nil {
						f(ctx)
					}
					return nil
				})
				h.deliver(strings.Fields(tt.kinds)...)
				time.Sleep(10500 * time.Millisecond)
				h.in <- &wire.HostFrame{Frame: &wire.HostFrame_Stop{Stop: &wire.Stop{Inst: 1, Call: 9}}}
				time.Sleep(time.Minute)
				synctest.Wait()
				if got := n.String(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestAPluginsActorCanKillItself(t *testing.T) {
	h := newHost(t, func(ctx actor.Context, _ actor.Message) error {
		ctx.Kill(ctx.Sender()) // only the log hears of it
		ctx.Kill(ctx.Self())
		return nil
	})
	h.deliver("x")
	for {
		if f := h.next().GetFailure(); f != nil {
			if f.Error != actor.ErrKilled.Error() {
				t.Errorf("got %q, want %q", f.Error, actor.ErrKilled)
			}
			return
		}
	}
}
