package actortest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Received is one message that a Probe got. Sender is "" when nobody sent it or
// when the probe was told as a plain Ref.
type Received struct {
	Message actor.Message
	Sender  actor.Path
	Trace   actor.TraceID
}

// Probe keeps what it gets. It is a Ref for code that tells one, and Producer
// makes it an actor that a running system has at a path. It is safe for
// concurrent use; its expectations belong to the test's goroutine.
type Probe struct {
	tb   reporter
	path actor.Path

	mu    sync.Mutex // guards what follows
	all   []Received
	seen  int           // how many of all were expected
	fresh chan struct{} // closed at the next message
}

// reporter is the part of testing.TB that a probe needs.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// NewProbe returns a probe that calls itself path.
func NewProbe(t testing.TB, path actor.Path) *Probe { return newProbe(t, path) }

func newProbe(t reporter, path actor.Path) *Probe {
	return &Probe{tb: t, path: path, fresh: make(chan struct{})}
}

// Path returns the path given to NewProbe.
func (p *Probe) Path() actor.Path { return p.path }

// Tell keeps m.
func (p *Probe) Tell(ctx context.Context, m actor.Message) error {
	p.keep(Received{Message: m, Trace: actor.TraceOf(ctx)})
	return nil
}

// Producer returns a producer whose instances keep what they receive in p.
func (p *Probe) Producer() actor.Producer {
	return func() (actor.Behaviour, error) {
		return actor.Func(func(ctx actor.Context, m actor.Message) error {
			r := Received{Message: m, Trace: ctx.Trace()}
			if s := ctx.Sender(); s != nil {
				r.Sender = s.Path()
			}
			p.keep(r)
			return nil
		}), nil
	}
}

func (p *Probe) keep(r Received) {
	if err := actor.CheckBody(r.Message.Body); err != nil {
		p.tb.Errorf("%s got a %q with an illegal body: %v", p.path, r.Message.Kind, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, r)
	close(p.fresh)
	p.fresh = make(chan struct{})
}

// Expect returns the next message, which must be of this kind and come within
// timeout; otherwise the test ends.
func (p *Probe) Expect(kind string, timeout time.Duration) Received {
	p.tb.Helper()
	r, ok := p.next(timeout)
	switch {
	case !ok:
		p.tb.Fatalf("%s: got no message in %v, want a %q", p.path, timeout, kind)
	case r.Message.Kind != kind:
		p.tb.Fatalf("%s: got a %q with body %v, want a %q", p.path, r.Message.Kind, r.Message.Body, kind)
	}
	return r
}

// ExpectNone ends the test when a message comes within d, or came before
// without being expected. Time is that of package time, so in a synctest bubble
// it takes none.
func (p *Probe) ExpectNone(d time.Duration) {
	p.tb.Helper()
	if r, ok := p.next(d); ok {
		p.tb.Fatalf("%s: got a %q with body %v, want nothing for %v", p.path, r.Message.Kind, r.Message.Body, d)
	}
}

// All returns every message so far, expected or not.
func (p *Probe) All() []Received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// Wait waits until the probe has got n messages in all and returns them; when
// they do not come within timeout the test ends.
func (p *Probe) Wait(n int, timeout time.Duration) []Received {
	p.tb.Helper()
	if !p.waitFor(n, timeout) {
		p.tb.Fatalf("%s: got %d messages in %v, want %d", p.path, len(p.All()), timeout, n)
	}
	return p.All()
}

// next takes the first message that no expectation took yet.
func (p *Probe) next(timeout time.Duration) (Received, bool) {
	p.mu.Lock()
	want := p.seen + 1
	p.mu.Unlock()
	if !p.waitFor(want, timeout) {
		return Received{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = want
	return p.all[want-1], true
}

func (p *Probe) waitFor(n int, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		p.mu.Lock()
		got, fresh := len(p.all), p.fresh
		p.mu.Unlock()
		if got >= n {
			return true
		}
		select {
		case <-fresh:
		case <-timer.C:
			return false
		}
	}
}
