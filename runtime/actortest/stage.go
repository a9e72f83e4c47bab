package actortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
)

// stage is a running system with the behaviour under test in it, and with a
// probe at each of its targets below /user.
type stage struct {
	c        Case
	prepared actor.Prepared
	sys      *runtime.System
	subject  *runtime.Actor
	targets  []*runtime.Actor
	calls    chan call

	mu       sync.Mutex             // guards what follows
	handled  map[actor.TraceID]bool // messages, by their trace, failed ones included
	problems []error
	failures map[string]failure // by their text
	restarts int
	changed  chan struct{} // closed when one of the above changes
}

// call is work for the actor's turn, with the instance that is current then.
type call func(ctx actor.Context, b actor.Behaviour) error

// command is the kind of the message that makes the subject take a call.
const command = "$actortest"

var errOnPurpose = errors.New("failed on purpose by the test")

// newStage starts everything.
func newStage(f actor.Factory, c Case) (*stage, error) {
	args, prepared, err := prepare(f, c)
	if err != nil {
		return nil, err
	}
	s := &stage{
		c: c, prepared: prepared, calls: make(chan call, 1),
		handled: map[actor.TraceID]bool{}, failures: map[string]failure{}, changed: make(chan struct{}),
	}
	s.sys = runtime.New("actortest", runtime.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))), runtime.WithDrainTimeout(0))
	s.sys.Subscribe(s.observe)
	if err := s.spawnTargets(f.Schema(), args); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func prepare(f actor.Factory, c Case) (map[string]any, actor.Prepared, error) {
	args, err := decode(f, c)
	if err != nil {
		return nil, actor.Prepared{}, err
	}
	p, err := f.Prepare(args)
	if err != nil {
		return nil, p, fmt.Errorf("prepare: %w", err)
	}
	return args, p, nil
}

func decode(f actor.Factory, c Case) (map[string]any, error) {
	args, wrong := f.Schema().Decode(c.Args)
	var errs []error
	for _, e := range wrong {
		errs = append(errs, fmt.Errorf("the case's args: %w", e))
	}
	return args, errors.Join(errs...)
}

func (s *stage) spawnTargets(schema actor.Schema, args map[string]any) error {
	var errs []error
	schema.Walk(args, func(_ []string, f actor.Field, v any) {
		if f.Kind != actor.TargetField {
			return
		}
		kind, path, err := actor.Target(v.(string)).Parse(Self)
		if err != nil || kind != actor.PathTarget || path.Parent() != actor.User || path == Self {
			return
		}
		switch a, err := s.sys.SpawnActor(actor.User, runtime.Spec{Name: path.Name(), New: newProbe(s, path).Producer()}); {
		case err == nil:
			s.targets = append(s.targets, a)
		case !errors.Is(err, actor.ErrNameTaken): // two fields may name one target
			errs = append(errs, err)
		}
	})
	return errors.Join(errs...)
}

// start spawns the subject and waits until it has started.
func (s *stage) start() (err error) {
	s.subject, err = s.sys.SpawnActor(actor.User, runtime.Spec{Name: Self.Name(), Behaviour: "subject", New: s.producer()})
	if err != nil {
		return err
	}
	ctx, cancel := s.limit()
	defer cancel()
	return s.subject.Started(ctx)
}

func (s *stage) limit() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), s.c.timeout())
}

// producer makes instances in a shell, which counts and takes calls.
func (s *stage) producer() actor.Producer {
	return func() (actor.Behaviour, error) {
		b, err := s.prepared.New()
		if err != nil {
			return nil, err
		}
		if snap, ok := b.(actor.Snapshotter); ok {
			return &statefulShell{shell{s, b}, snap}, nil
		}
		return &shell{s, b}, nil
	}
}

// tell sends m to the subject, and to an actor that reads the body meanwhile so
// that the race detector sees a write to it.
func (s *stage) tell(m actor.Message, trace actor.TraceID) error {
	ctx := actor.WithTrace(context.Background(), trace)
	if s.c.unread {
		return s.sys.Lookup(Self).Tell(ctx, m)
	}
	return errors.Join(s.sys.Lookup(Self).Tell(ctx, m), s.reader().Tell(ctx, m))
}

func (s *stage) reader() actor.Ref {
	path := actor.User.Child("reader")
	if _, there := s.sys.Find(path); !there {
		_, err := s.sys.SpawnActor(actor.User, runtime.Spec{Name: path.Name(), New: func() (actor.Behaviour, error) {
			return actor.Func(func(_ actor.Context, m actor.Message) error { actor.CopyBody(m.Body); return nil }), nil
		}})
		if err != nil {
			s.Errorf("start a reader: %v", err)
		}
	}
	return s.sys.Lookup(path)
}

// handleAll tells the messages one by one and waits for each to be handled.
func (s *stage) handleAll(messages []actor.Message) error {
	for _, m := range messages {
		trace := actor.NewTraceID()
		if err := s.tell(m, trace); err != nil {
			return fmt.Errorf("tell a %q: %w", m.Kind, err)
		}
		if err := s.until(func() bool { return s.handled[trace] }); err != nil {
			return fmt.Errorf("handling a %q: %w", m.Kind, err)
		}
	}
	return nil
}

// do runs f on the subject's turn and returns what it returned.
func (s *stage) do(f call) error {
	result := make(chan error, 1)
	s.calls <- func(ctx actor.Context, b actor.Behaviour) error {
		err := f(ctx, b)
		result <- err
		if errors.Is(err, errOnPurpose) {
			return err
		}
		return nil
	}
	if err := s.sys.Lookup(Self).Tell(context.Background(), actor.Message{Kind: command}); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-time.After(s.c.timeout()):
		return fmt.Errorf("the behaviour did not come to its next message in %v", s.c.timeout())
	}
}

// until waits for a condition, which is asked with mu held.
func (s *stage) until(condition func() bool) error {
	limit := time.NewTimer(s.c.timeout())
	defer limit.Stop()
	for {
		s.mu.Lock()
		ok, changed := condition(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-limit.C:
			return fmt.Errorf("it takes longer than %v", s.c.timeout())
		}
	}
}

// stop ends the subject and reports when that takes too long.
func (s *stage) stop() error {
	ctx, cancel := s.limit()
	defer cancel()
	if err := s.subject.Stop(ctx); err != nil {
		return fmt.Errorf("it did not stop within %v: %w", s.c.timeout(), err)
	}
	return nil
}

// close ends the system, the targets after they have seen all that was told
// them, and returns the problems that were noticed on the way.
func (s *stage) close() error {
	ctx, cancel := s.limit()
	defer cancel()
	if s.subject != nil {
		_ = s.subject.Stop(ctx) // Shutdown names it when it does not stop
	}
	for _, a := range s.targets {
		_ = a.Stop(ctx)
	}
	err := s.sys.Shutdown(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(append(s.problems, err)...)
}

// change does f with mu held and wakes who waits.
func (s *stage) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// failure is one failure of the subject that the test did not want.
type failure struct {
	err   error
	panic bool
}

// observe notes failures that no handler returned, restarts, and what did not
// reach a target.
func (s *stage) observe(e actor.Event) {
	switch e := e.(type) {
	case actor.Failed:
		if e.Path == Self && !errors.Is(e.Cause, errOnPurpose) {
			s.failed(e.Message, e.Cause, e.Panic)
		}
	case actor.Restarted:
		if e.Path == Self {
			s.change(func() { s.restarts++ })
		}
	case actor.DeadLetter:
		if err := actor.CheckBody(e.Message.Body); err != nil && e.Sender == Self {
			s.Errorf("told %s a %q with an illegal body: %v", e.Recipient, e.Message.Kind, err)
		}
	}
}

// failed notes a failure, once for the handler and the event that tell of it.
func (s *stage) failed(kind string, err error, panicked bool) {
	how := "failed"
	if panicked {
		how = "panicked"
	}
	err = fmt.Errorf("it %s on a %q: %w", how, kind, err)
	s.change(func() { s.failures[err.Error()] = failure{err, panicked} })
}

// unwanted returns the failures as one error, or only the panics.
func (s *stage) unwanted(onlyPanics bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, text := range slices.Sorted(maps.Keys(s.failures)) {
		if f := s.failures[text]; f.panic || !onlyPanics {
			errs = append(errs, f.err)
		}
	}
	return errors.Join(errs...)
}

// Helper makes a stage a reporter for its probes.
func (s *stage) Helper() {}

// Errorf keeps a problem.
func (s *stage) Errorf(format string, args ...any) {
	s.change(func() { s.problems = append(s.problems, fmt.Errorf(format, args...)) })
}

// Fatalf keeps a problem.
func (s *stage) Fatalf(format string, args ...any) { s.Errorf(format, args...) }

// shell is the behaviour that the engine sees: the one under test, watched.
type shell struct {
	s *stage
	b actor.Behaviour
}

// Receive takes a call or lets the behaviour handle m, and checks that m stays
// as it is.
func (h *shell) Receive(ctx actor.Context, m actor.Message) error {
	if m.Kind == command {
		return (<-h.s.calls)(ctx, h.b)
	}
	trace, before := ctx.Trace(), actor.Message{Body: actor.CopyBody(m.Body), Headers: m.Headers.With("", "")}
	defer h.s.change(func() { h.s.handled[trace] = true })
	defer h.unchanged(m, before)
	defer h.notePanic(m)
	err := h.b.Receive(ctx, m)
	if err != nil {
		h.s.failed(m.Kind, err, false)
	}
	return err
}

// notePanic notes a panic and goes on with it.
func (h *shell) notePanic(m actor.Message) {
	if r := recover(); r != nil {
		h.s.failed(m.Kind, fmt.Errorf("panic: %v", r), true)
		panic(r)
	}
}

func (h *shell) unchanged(m, before actor.Message) {
	if !sameBody(before.Body, m.Body) {
		h.s.Errorf("the body of a %q was changed in place\n got: %v\nwant: %v", m.Kind, m.Body, before.Body)
	}
	if got, want := fmt.Sprint(m.Headers.With("", "")), fmt.Sprint(before.Headers); got != want {
		h.s.Errorf("the headers of a %q were changed in place\n got: %s\nwant: %s", m.Kind, got, want)
	}
}

// Start starts the behaviour.
func (h *shell) Start(ctx actor.Context) error {
	if s, ok := h.b.(actor.Starter); ok {
		return s.Start(ctx)
	}
	return nil
}

// Stop stops the behaviour.
func (h *shell) Stop(ctx actor.Context) error {
	if s, ok := h.b.(actor.Stopper); ok {
		return s.Stop(ctx)
	}
	return nil
}

// statefulShell is the shell of a Snapshotter.
type statefulShell struct {
	shell
	actor.Snapshotter
}
