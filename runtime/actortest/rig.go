package actortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Self is the path of the behaviour on a Rig.
const Self actor.Path = "/user/subject"

// Sent is one message that the behaviour on a Rig told.
type Sent struct {
	To      actor.Path
	Message actor.Message
	Trace   actor.TraceID
}

// Failure is one call of Handle.Fail: its cause and what was given back.
type Failure struct {
	Err  error
	Back []actor.Message
}

// Rig runs one behaviour on a fake engine. Nothing happens by itself: Tell
// handles one message and returns when that is done, Advance lets time pass for
// the behaviour's timers. What the behaviour did is read from Sent and its
// siblings. A Rig may be read from any goroutine; Start, Tell, Advance and Stop
// belong to the test's.
type Rig struct {
	// Answer answers Ask. Without it every Ask ends with ErrAskTimeout.
	Answer func(to actor.Path, m actor.Message) (actor.Message, error)

	tb      testing.TB
	b       actor.Behaviour
	life    context.Context
	end     context.CancelFunc
	log     *slog.Logger
	logged  lockedBuffer
	elapsed time.Duration // how far Advance went
	conduct conduct

	mu       sync.Mutex // guards what follows
	refused  map[actor.Path]error
	sent     []Sent
	dead     []actor.DeadLetter
	failures []Failure
	events   []actor.Event
	children map[string]actor.Producer
	stopped  []actor.Path
	watched  []actor.Path
	topics   []string
	timers   []*timer
}

// NewRig puts b on a rig. It calls nothing; see Start.
func NewRig(t testing.TB, b actor.Behaviour) *Rig {
	r := &Rig{tb: t, b: b, refused: map[actor.Path]error{}, children: map[string]actor.Producer{}}
	r.life, r.end = context.WithCancel(context.Background())
	t.Cleanup(r.end)
	r.log = slog.New(slog.NewTextHandler(&r.logged, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	return r
}

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Start runs the behaviour's Start, if it has one, and returns its error.
func (r *Rig) Start() error {
	return r.Do(func(ctx actor.Context) error {
		if s, ok := r.b.(actor.Starter); ok {
			return s.Start(ctx)
		}
		return nil
	})
}

// MustStart is Start for tests that need it to succeed.
func (r *Rig) MustStart() *Rig {
	r.tb.Helper()
	if err := r.Start(); err != nil {
		r.tb.Fatalf("start: got error %v, want none", err)
	}
	return r
}

// Tell handles m, which nobody sent, and returns the behaviour's error.
func (r *Rig) Tell(m actor.Message) error { return r.TellFrom("", m) }

// TellFrom handles m as sent by the actor at from and returns the behaviour's
// error.
func (r *Rig) TellFrom(from actor.Path, m actor.Message) error {
	r.tb.Helper()
	l := &letter{message: m, trace: actor.NewTraceID()}
	if from != "" {
		l.sender = ref{r, from}
	}
	r.listen()
	return r.handle(l)
}

// handle handles one message, and what it leaves to do.
func (r *Rig) handle(l *letter) error {
	r.tb.Helper()
	m := l.message
	before := actor.CopyBody(m.Body)
	err := r.call(l, func(ctx actor.Context) error { return r.acting().Receive(ctx, m) })
	if !sameBody(before, m.Body) {
		r.tb.Errorf("the body of a %q was changed in place\n got: %v\nwant: %v", m.Kind, m.Body, before)
	}
	return r.follow(l, err)
}

// Do runs f with a context of the behaviour, as between two messages, e.g. to
// call Reconfigure.
func (r *Rig) Do(f func(ctx actor.Context) error) error { return r.call(&letter{}, f) }

func (r *Rig) call(l *letter, f func(actor.Context) error) error {
	c := &fakeContext{Context: r.life, rig: r, letter: l}
	defer c.ended.Store(true)
	return f(c)
}

// Stop ends the rig's life and runs the behaviour's Stop, if it has one.
func (r *Rig) Stop() error {
	r.mu.Lock()
	r.timers = nil
	r.mu.Unlock()
	defer r.end()
	return r.Do(func(ctx actor.Context) error {
		if s, ok := r.b.(actor.Stopper); ok {
			return s.Stop(ctx)
		}
		return nil
	})
}

// Refuse makes every Tell to path return err from now on; nil ends that.
func (r *Rig) Refuse(path actor.Path, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused[path] = err
}

// Sent returns what was told since the last call.
func (r *Rig) Sent() []Sent { return take(r, &r.sent) }

// DeadLetters returns the dead letters since the last call.
func (r *Rig) DeadLetters() []actor.DeadLetter { return take(r, &r.dead) }

// Failures returns the calls of Handle.Fail since the last call.
func (r *Rig) Failures() []Failure { return take(r, &r.failures) }

// Events returns what was published since the last call.
func (r *Rig) Events() []actor.Event { return take(r, &r.events) }

// Stopped returns the paths given to Context.Stop since the last call.
func (r *Rig) Stopped() []actor.Path { return take(r, &r.stopped) }

// Watched returns the paths that are watched.
func (r *Rig) Watched() []actor.Path {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.watched)
}

// Topics returns the topics that are subscribed to, in the order of subscribing.
func (r *Rig) Topics() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.topics)
}

// Child returns the producer that was spawned under name, nil if there is none.
func (r *Rig) Child(name string) actor.Producer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.children[name]
}

// Logs returns the records since the last call, one line of text each, without
// their time.
func (r *Rig) Logs() string { return r.logged.take() }

func take[T any](r *Rig, list *[]T) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := *list
	*list = nil
	return out
}

// tell records m for to, or returns why to refuses it.
func (r *Rig) tell(to actor.Path, m actor.Message, trace actor.TraceID) error {
	r.tb.Helper()
	if err := actor.CheckBody(m.Body); err != nil {
		r.tb.Errorf("told %s a %q with an illegal body: %v", to, m.Kind, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.refused[to]; err != nil {
		return fmt.Errorf("tell %s: %w", to, err)
	}
	if to == actor.DeadLetters {
		r.dead = append(r.dead, actor.DeadLetter{Recipient: to, Sender: Self, Message: m, Reason: actor.ReasonExplicit, Trace: trace})
		return nil
	}
	r.sent = append(r.sent, Sent{To: to, Message: m, Trace: trace})
	return nil
}

func (r *Rig) deadLetter(l actor.Letter, reason string) {
	d := actor.DeadLetter{Recipient: Self, Message: l.Message(), Reason: reason, Trace: l.Trace()}
	if s := l.Sender(); s != nil {
		d.Sender = s.Path()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = append(r.dead, d)
}

func (r *Rig) spawn(name string, p actor.Producer) (actor.Ref, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" {
		name = fmt.Sprintf("$anonymous-%d-%012x", len(r.children)+1, rand.Uint64()&(1<<48-1))
	} else if err := actor.CheckName(name); err != nil {
		return nil, err
	}
	if r.children[name] != nil {
		return nil, fmt.Errorf("spawn %s: %w", Self.Child(name), actor.ErrNameTaken)
	}
	if p == nil {
		return nil, errors.New("spawn without a producer")
	}
	r.children[name] = p
	return ref{r, Self.Child(name)}, nil
}

// lockedBuffer is a buffer for log records from any goroutine.
type lockedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.buf.String()
	b.buf.Reset()
	return s
}
