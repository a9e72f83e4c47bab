package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/plan"
)

// Outcome is how a reload ended.
type Outcome string

// The outcomes.
const (
	Applied    Outcome = "applied"
	Unchanged  Outcome = "unchanged"
	Rejected   Outcome = "rejected"    // the file is wrong, or somebody forbade the change; nothing was touched
	RolledBack Outcome = "rolled-back" // a step or the probation failed; what had been done was undone
	Degraded   Outcome = "degraded"    // a step or the probation failed, and so did undoing a step
)

// Request asks for a reload.
type Request struct {
	By       string // who asks, for people
	File     string // a file in place of the topology's own; "" is the own
	Hash     string // what must be applied; "" is anything
	Force    bool   // past the guard against files that delete many actors
	Rollback bool   // in place of a file: revision To, or the one before when that is 0
	To       uint64
}

// byFile is who asks when the file changed.
const byFile = "file"

// Result is what a reload did.
type Result struct {
	Outcome  Outcome
	Revision uint64 // in force now
	Hash     string // of what is applied now
	By       string
	At       time.Time
	Took     time.Duration
	Plan     plan.Plan
	Actions  []Action
	Err      error
	// Probation is closed when the revision has passed or failed its probation, or
	// another one took its place. It is nil when there is none to wait for.
	Probation <-chan struct{}
}

// Action is one step that was done.
type Action struct {
	Step string        `json:"step"` // as a plan shows it
	Path actor.Path    `json:"path,omitempty"`
	Took time.Duration `json:"took"`           // in nanoseconds; starts that were done together share it
	Left int           `json:"left,omitempty"` // messages that a removed actor left and that became dead letters
	Note string        `json:"note,omitempty"` // e.g. what was lost
}

// Reload loads the file again and applies what changed. It never ends what runs
// because of a mistake in the file.
func (t *Topology) Reload(ctx context.Context, who string) Result {
	return t.Do(ctx, Request{By: who})
}

// Do carries out a request; see Reload. Requests are served one after the other.
func (t *Topology) Do(ctx context.Context, q Request) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return Result{Outcome: Rejected, Err: fmt.Errorf("reload: %w", actor.ErrTerminating)}
	}
	begun := time.Now()
	r := t.reload(ctx, q)
	r.By, r.At, r.Took = q.By, begun, time.Since(begun)
	r.Revision, r.Hash = t.revision, t.current.Spec.Hash
	t.note(q, r)
	t.report(r)
	return r
}

func (t *Topology) reload(ctx context.Context, q Request) Result {
	if err := t.expect(q.Hash); err != nil {
		return Result{Outcome: Rejected, Err: err}
	}
	next, err := t.next(ctx, q)
	if err != nil {
		return Result{Outcome: Rejected, Err: err}
	}
	p := diff(t.current, next)
	if q.By != byFile {
		p = t.withEnded(p, next)
	}
	switch {
	case p.Empty():
		return Result{Outcome: Unchanged, Err: t.retire(ctx, next)}
	case q.By == byFile && next.Spec.Hash == t.failed:
		err := fmt.Errorf("this configuration has failed its probation; change it, or ask for it with actord reload")
		return Result{Outcome: Rejected, Plan: p, Err: errors.Join(err, t.retire(ctx, next))}
	}
	return t.change(ctx, next, p)
}

// limited bounds what applying may take.
func (t *Topology) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := t.current.Spec.Reload.Deadline
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("reload.deadline = %s is over", limit))
}

// patient is limited for what must be done although the time is over.
func (t *Topology) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if t.current == nil { // a start that failed
		return context.WithTimeout(ctx, graceOfAbandon)
	}
	return t.limited(ctx)
}

// expect refuses a change of something else than what its author saw.
func (t *Topology) expect(hash string) error {
	if is := t.current.Spec.Hash; hash != "" && (len(hash) < 8 || !strings.HasPrefix(is, hash)) {
		return fmt.Errorf("what is applied has the hash %s, not %s: it changed since you looked (see actord plan)", is, hash)
	}
	return nil
}

// next loads what is asked for.
func (t *Topology) next(ctx context.Context, q Request) (*Revision, error) {
	if q.Rollback {
		return t.past(ctx, q.To)
	}
	next, err := t.load(ctx, q.File)
	if err != nil || q.Force {
		return next, err
	}
	for {
		hash := next.Spec.Hash
		why := t.guard(next)
		if why == nil {
			return next, nil
		}
		if next, err = t.held(ctx, q, next, why); err != nil || next.Spec.Hash == hash {
			return next, err
		}
	}
}

// load reads a file, "" is the topology's own.
func (t *Topology) load(ctx context.Context, file string) (*Revision, error) {
	ctx, cancel := t.limited(ctx)
	defer cancel()
	src := t.src
	if file != "" {
		src.File = file
	}
	next, err := src.Load(ctx, t.current)
	if next != nil && file == "" {
		t.files = watched(next)
		if t.watcher != nil {
			t.watcher.Set(t.files)
		}
	}
	if err == nil {
		if err = t.whole(next); err != nil {
			err = errors.Join(err, t.retire(ctx, next))
		}
	}
	return next, err
}

// change applies a plan and puts the new revision on probation.
func (t *Topology) change(ctx context.Context, next *Revision, p plan.Plan) Result {
	tr := t.arm(p)
	limited, cancel := t.limited(ctx)
	defer cancel()
	tx := t.transaction(t.current, next, p)
	tx.trial = tr
	if err := tx.apply(limited); err != nil {
		t.disarm(tr)
		outcome := RolledBack
		if errors.Is(err, errGoingBack) {
			outcome = Degraded
		}
		closing := t.retire(context.WithoutCancel(ctx), next)
		return Result{Outcome: outcome, Plan: p, Actions: tx.actions, Err: errors.Join(err, closing)}
	}
	old := t.current
	t.commit(next)
	t.try(tr)
	r := Result{Outcome: Applied, Plan: p, Actions: tx.actions, Err: t.retire(ctx, old)}
	if t.trial != nil {
		r.Probation = t.trial.over
	}
	return r
}

// commit makes a revision the one in force; its actors run already.
func (t *Topology) commit(r *Revision) {
	t.current, t.rejected, t.failed = r, "", ""
	t.number++
	t.revision = t.number
	t.save()
}

// retire ends the plugins of a revision that nothing uses any more.
func (t *Topology) retire(ctx context.Context, r *Revision) error {
	if r == nil || r == t.current || r == t.good {
		return nil
	}
	return r.Close(ctx, t.current, t.good)
}

// report says in the log what a reload did, a line for each step.
func (t *Topology) report(r Result) {
	log := t.log.With("by", r.By, "revision", r.Revision)
	switch r.Outcome {
	case Unchanged:
		switch {
		case t.rejected != "":
			t.rejected = ""
			log.Info("reload: the file is right again; nothing to do")
		case r.By != byFile:
			log.Info("reload: nothing to do")
		default:
			log.Debug("reload: nothing to do")
		}
	case Rejected:
		if text := Explain(r.Err); text != t.rejected || r.By != byFile {
			t.rejected = text
			log.Error("reload rejected; nothing was touched", "err", text)
		}
	case Applied:
		for _, a := range r.Actions {
			log.Info("reload: "+a.Step, a.attrs()...)
		}
		log.Info("reload applied", "steps", len(r.Plan.Steps), "took", r.Took.Round(time.Microsecond), "hash", r.Hash)
	default:
		log.Error("reload failed; went back to the revision before", "outcome", string(r.Outcome), "err", r.Err)
	}
	t.sys.Publish(actor.Reloaded{Revision: r.Revision, Result: string(r.Outcome), Cause: r.Err})
}

func (a Action) attrs() []any {
	out := []any{"took", a.Took.Round(time.Microsecond)}
	if a.Left > 0 {
		out = append(out, "dead-letters", a.Left)
	}
	if a.Note != "" {
		out = append(out, "note", a.Note)
	}
	return out
}
