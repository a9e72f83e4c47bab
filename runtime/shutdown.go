package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/phase"
)

// Task is something to do in a phase of the shutdown. ctx ends with the time for
// the phase; a task that goes on is left behind and named.
type Task func(ctx context.Context) error

// PhaseReport says how a phase went.
type PhaseReport struct {
	Phase   string
	Took    time.Duration
	Tasks   []TaskReport // in the order they were registered
	Skipped string       // why the phase did not run; "" when it did
}

// TaskReport says how a task went.
type TaskReport struct {
	Name       string
	Took       time.Duration
	Err        error // also of one that did not finish
	Unfinished bool
}

// shutdownPlan is what is done when the system ends.
type shutdownPlan struct {
	mu       sync.Mutex // guards what follows
	settings phase.Settings
	tasks    map[string][]*shutdownTask // by phase
	run      *shutdownRun               // nil until it begins
}

type shutdownTask struct {
	name string
	f    Task
	own  bool // the engine's: it returns when ctx ends
}

// shutdownRun is the one shutdown of a system.
type shutdownRun struct {
	done chan struct{} // closed when all phases are through

	mu      sync.Mutex // guards what follows
	report  []PhaseReport
	waiting []string // phase and tasks that are waited for
	errs    []error  // of tasks
	halted  bool
}

// WithShutdown sets how the system is shut down; phase.Default otherwise. New panics
// when the settings are wrong.
func WithShutdown(set phase.Settings) Option {
	return func(s *System) {
		if err := s.SetShutdown(set); err != nil {
			panic(err)
		}
	}
}

// SetShutdown changes how the system will be shut down; a shutdown that has begun
// goes on as it was. Errors: those of Check, and a phase that is to go while it has
// tasks.
func (s *System) SetShutdown(set phase.Settings) error {
	phases, err := set.Order()
	if err != nil {
		return err
	}
	p := &s.plan
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, tasks := range p.tasks {
		if len(tasks) > 0 && !slices.ContainsFunc(phases, func(ph phase.Phase) bool { return ph.Name == name }) {
			return &phase.Error{Phase: name, Err: fmt.Errorf("it has the task %s and cannot be removed", tasks[0].name)}
		}
	}
	p.settings = set
	return nil
}

// OnShutdown makes a task run in a phase of the shutdown. remove takes it back; it
// may be called more than once. Errors: an unknown phase, actor.ErrNameTaken when
// the phase has a task of that name, actor.ErrTerminating when the phase is over.
func (s *System) OnShutdown(in, name string, f Task) (remove func(), err error) {
	p := &s.plan
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.accepts(in, name); err != nil {
		return nil, fmt.Errorf("shutdown task %s: %w", name, err)
	}
	if p.tasks == nil {
		p.tasks = map[string][]*shutdownTask{}
	}
	t := &shutdownTask{name: name, f: f}
	p.tasks[in] = append(p.tasks[in], t)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tasks[in] = slices.DeleteFunc(slices.Clone(p.tasks[in]), func(x *shutdownTask) bool { return x == t })
	}, nil
}

// accepts reports why a task cannot be added. mu is held.
func (p *shutdownPlan) accepts(in, name string) error {
	phases, _ := p.settings.Order() // they were checked
	var names []string
	for _, ph := range phases {
		names = append(names, ph.Name)
	}
	switch {
	case !slices.Contains(names, in):
		return fmt.Errorf("there is no phase %q%s", in, actor.DidYouMean(in, names))
	case slices.ContainsFunc(p.tasks[in], func(t *shutdownTask) bool { return t.name == name }):
		return fmt.Errorf("phase %s: %w", in, actor.ErrNameTaken)
	case p.run.past(in):
		return fmt.Errorf("phase %s is over: %w", in, actor.ErrTerminating)
	}
	return nil
}

// past reports whether the phase has begun.
func (r *shutdownRun) past(name string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.report, func(p PhaseReport) bool { return p.Phase == name })
}

// Shutdown ends the system, phase by phase (see phase.Names). In the last one,
// phase.Terminate, it waits for /user to become quiet (at most the drain timeout),
// stops /user from the leaves up, then /system, then closes the extensions, then the
// timers. What is still queued becomes dead letters. It returns when everything has
// ended, with the errors of tasks, or an error that names what has not ended when
// ctx or the time of the phase is over.
//
// There is one shutdown: whoever calls while it runs waits for it too, each at most
// until its own ctx ends, and whoever calls afterwards waits for actors that had not
// ended in time. The ctx of the first call ends the phases. A handler cannot wait for
// its own end, nor a task: there it does nothing and returns actor.ErrWouldDeadlock;
// see BeginShutdown.
func (s *System) Shutdown(ctx context.Context) error {
	if s.inTurn(ctx) {
		return fmt.Errorf("shutdown from a handler: %w", actor.ErrWouldDeadlock)
	}
	if ctx.Value(taskKey{}) == s {
		return fmt.Errorf("shutdown from a task of the shutdown: %w", actor.ErrWouldDeadlock)
	}
	run, first := s.begin(ctx)
	late := false
	select {
	case <-run.done:
		late = true
	default:
	}
	limit := ctx.Done()
	if first {
		limit = nil // its phases end with ctx
	}
	select {
	case <-run.done:
	case <-limit:
		return fmt.Errorf("shutdown: %w; in %s; %s", context.Cause(ctx), run.waitsFor(), s.watchdog.whoIsLeft())
	}
	return s.outcome(ctx, run, late)
}

// BeginShutdown starts a shutdown and does not wait for it, so a handler may call it.
// ended is closed when all phases are through.
func (s *System) BeginShutdown() (ended <-chan struct{}) {
	run, _ := s.begin(context.Background())
	return run.done
}

// Ended is closed when every actor has ended and the system is closed.
func (s *System) Ended() <-chan struct{} { return s.ended }

// ShutdownReport says how the phases went that have begun; nil before a shutdown.
func (s *System) ShutdownReport() []PhaseReport {
	s.plan.mu.Lock()
	run := s.plan.run
	s.plan.mu.Unlock()
	if run == nil {
		return nil
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	return slices.Clone(run.report)
}

func (s *System) begin(ctx context.Context) (run *shutdownRun, first bool) {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	if s.plan.run == nil {
		first = true
		s.plan.run = &shutdownRun{done: make(chan struct{})}
		go s.runPhases(ctx, s.plan.run) // owned by done
	}
	return s.plan.run, first
}

// outcome is what a call of Shutdown returns when the phases are through.
func (s *System) outcome(ctx context.Context, run *shutdownRun, late bool) error {
	run.mu.Lock()
	errs, halted := slices.Clone(run.errs), run.halted
	run.mu.Unlock()
	if late && !halted {
		select {
		case <-s.ended:
		case <-ctx.Done():
			errs = append(errs, fmt.Errorf("%w; %s", context.Cause(ctx), s.watchdog.whoIsLeft()))
		}
		errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, errStillThere) })
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("shutdown: %w", err)
	}
	return nil
}

func (s *System) runPhases(ctx context.Context, run *shutdownRun) {
	defer close(run.done)
	s.plan.mu.Lock()
	phases, _ := s.plan.settings.Order() // they were checked
	s.plan.mu.Unlock()
	for _, p := range phases {
		switch {
		case run.halted:
			run.skip(p, "a phase before it failed and is not to be passed over")
		case p.Name != phase.Terminate && ctx.Err() != nil:
			run.skip(p, "the time for the shutdown was over")
		default:
			s.runPhase(ctx, run, p)
		}
	}
}

func (r *shutdownRun) skip(p phase.Phase, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = append(r.report, PhaseReport{Phase: p.Name, Skipped: why})
}

func (r *shutdownRun) waitsFor() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.waiting, ", ")
}

// taskKey marks the context of a task with its system.
type taskKey struct{}

// runPhase runs the tasks that the phase has now; one that comes later is too late.
func (s *System) runPhase(ctx context.Context, run *shutdownRun, p phase.Phase) {
	tasks := s.enter(run, p)
	if len(tasks) == 0 {
		return
	}
	ctx = context.WithValue(ctx, taskKey{}, s)
	if p.Timeout > 0 {
		over := fmt.Errorf("phase %s took longer than %v: %w", p.Name, p.Timeout, context.DeadlineExceeded)
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, over)
		defer cancel()
	}
	begun := time.Now()
	reports := make(chan finished, len(tasks))
	for i, t := range tasks {
		// It ends with the task, which nobody waits for much longer than ctx.
		go t.run(ctx, func(r TaskReport) { reports <- finished{i, r} })
	}
	out := collect(ctx, tasks, reports, func(left []string) { run.waits(p.Name, left) })
	run.note(s, p, PhaseReport{Phase: p.Name, Took: time.Since(begun), Tasks: out})
}

// enter takes down that the phase has begun, so that no task comes too late unseen.
func (s *System) enter(run *shutdownRun, p phase.Phase) []*shutdownTask {
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	run.mu.Lock()
	run.report = append(run.report, PhaseReport{Phase: p.Name})
	run.mu.Unlock()
	tasks := slices.Clone(s.plan.tasks[p.Name])
	if p.Name == phase.Terminate {
		tasks = append(tasks, &shutdownTask{name: "actors", f: s.terminate, own: true})
	}
	return tasks
}

func (r *shutdownRun) waits(name string, left []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append([]string{"phase " + name}, left...)
}

// note keeps how a phase went.
func (r *shutdownRun) note(s *System, p phase.Phase, rep PhaseReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report[len(r.report)-1] = rep
	for _, t := range rep.Tasks {
		if t.Err == nil {
			continue
		}
		r.errs = append(r.errs, fmt.Errorf("phase %s: %s: %w", p.Name, t.Name, t.Err))
		r.halted = r.halted || p.Halt
		s.log.Warn("a task of the shutdown failed", "phase", p.Name, "task", t.Name, "took", t.Took.Round(time.Millisecond), "unfinished", t.Unfinished, "err", t.Err)
	}
	s.log.Debug("a phase of the shutdown is through", "phase", p.Name, "took", rep.Took.Round(time.Millisecond))
}

type finished struct {
	index  int
	report TaskReport
}

// graceOfTasks is for tasks that notice that their time is over.
const graceOfTasks = 100 * time.Millisecond

// collect waits for the tasks until ctx ends, and a little longer. say is called
// with those that are left.
func collect(ctx context.Context, tasks []*shutdownTask, reports <-chan finished, say func([]string)) []TaskReport {
	begun, end, over := time.Now(), ctx.Done(), (<-chan time.Time)(nil)
	out, left := make([]TaskReport, len(tasks)), map[int]*shutdownTask{}
	for i, t := range tasks {
		out[i], left[i] = TaskReport{Name: t.name, Unfinished: true}, t
	}
	for len(left) > 0 {
		say(unfinished(out))
		select {
		case f := <-reports:
			out[f.index] = f.report
			delete(left, f.index)
		case <-end:
			end, over = nil, time.After(graceOfTasks)
		case <-over:
			maps.DeleteFunc(left, func(i int, t *shutdownTask) bool {
				if !t.own {
					out[i].Took, out[i].Err = time.Since(begun), fmt.Errorf("it did not finish: %w", context.Cause(ctx))
				}
				return !t.own
			})
		}
	}
	return out
}

func unfinished(all []TaskReport) (names []string) {
	for _, t := range all {
		if t.Unfinished {
			names = append(names, t.Name)
		}
	}
	return names
}

// run runs the task and reports, whatever it does.
func (t *shutdownTask) run(ctx context.Context, report func(TaskReport)) {
	begun, err := time.Now(), ErrGoexit
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		report(TaskReport{Name: t.name, Took: time.Since(begun), Err: err, Unfinished: errors.Is(err, errStillThere)})
	}()
	err = t.f(ctx)
}

// errStillThere says that actors have not ended in time; they may have later.
var errStillThere = errors.New("actors are still there")

// terminate is the task of phase.Terminate.
func (s *System) terminate(ctx context.Context) error {
	s.closing.Store(true)
	go s.close(ctx) // owned by ended
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w; %s", errStillThere, context.Cause(ctx), s.watchdog.whoIsLeft())
	}
}
