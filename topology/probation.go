package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/plan"
)

// trial is the probation of a revision: for some time after the commit, what the
// reload touched must do well; else the last revision that passed comes back. A
// further reload does not wait for it: its own trial covers what both touched.
type trial struct {
	number  uint64 // of the revision
	touched map[actor.Path]*touched
	bridges map[actor.Path]bool
	names   map[actor.Path]actor.Path // what renamed actors were called in the last good revision
	begun   time.Time
	counts  counts
	bad     chan error    // capacity 1: why it has failed
	stop    chan struct{} // closed when another trial took its place
	over    chan struct{} // closed when it is decided
	inForce atomic.Bool   // from the commit on; before, a step that fails leads back anyway
	mu      sync.Mutex    // guards held
	held    map[actor.Path]bool
}

// touched is what is remembered of an actor for the way back.
type touched struct {
	state    *actor.State // that the last good revision's behaviour had; nil: it had none to give
	restarts uint64       // at the commit
}

// counts are what an expression for reload.healthy sees.
type counts struct{ failures, restarts, stopped, letters, dropped atomic.Int64 }

// arm makes the trial of a plan before its first step, so that nothing that fails
// early is missed.
func (t *Topology) arm(p plan.Plan) *trial {
	tr := &trial{
		touched: map[actor.Path]*touched{}, bridges: map[actor.Path]bool{}, held: map[actor.Path]bool{},
		names: map[actor.Path]actor.Path{},
		bad:   make(chan error, 1), stop: make(chan struct{}), over: make(chan struct{}),
	}
	if old := t.trial; old != nil {
		maps.Copy(tr.touched, old.touched)
		maps.Copy(tr.bridges, old.bridges)
		maps.Copy(tr.names, old.names)
		old.release(t.sys) // what it holds gets another chance under the new revision
	}
	for _, s := range p.Steps {
		tr.touch(s)
	}
	t.watched.Store(tr)
	return tr
}

func (tr *trial) touch(s plan.Step) {
	if s.Kind == plan.Rename {
		was := s.Actor.Old.Path
		tr.names[s.Path] = cmp.Or(tr.names[was], was)
		delete(tr.names, was)
	}
	switch {
	case s.Bridge.New != nil:
		tr.bridges[s.Path] = true
	case s.Bridge.Old != nil:
		delete(tr.bridges, s.Path)
	case s.Kind == plan.Stop:
		for p := range tr.touched {
			if p.Under(s.Path) {
				delete(tr.touched, p)
			}
		}
	case s.Actor.New == nil:
	case s.Kind == plan.Start || s.Kind == plan.Replace || s.Kind == plan.Rename:
		for a := range s.Actor.New.All() {
			tr.remember(a.Path)
		}
	default:
		tr.remember(s.Path)
	}
}

func (tr *trial) remember(p actor.Path) *touched {
	if tr.touched[p] == nil {
		tr.touched[p] = &touched{}
	}
	return tr.touched[p]
}

// disarm takes back what arm did: the trial before, if any, goes on.
func (t *Topology) disarm(tr *trial) {
	t.watched.Store(t.trial)
	tr.release(t.sys)
}

// try begins the probation of the revision that was just committed.
func (t *Topology) try(tr *trial) {
	if t.trial != nil {
		close(t.trial.stop)
		t.trial = nil
	}
	limits := t.current.Spec.Reload
	if limits.Probation == 0 || t.current.Spec.Hash == t.good.Spec.Hash && diff(t.good, t.current).Empty() {
		t.watched.Store(nil)
		tr.release(t.sys)
		t.pass()
		return
	}
	tr.number, tr.begun = t.revision, time.Now()
	for p, w := range tr.touched {
		if a, ok := t.sys.Find(p); ok {
			w.restarts = a.Info().Restarts
		}
	}
	tr.inForce.Store(true)
	t.trial = tr
	if err := tr.early(); err != nil {
		tr.fail(err)
	}
	t.wg.Go(func() { t.watch(tr, limits.Probation, limits.Healthy) })
}

// early is why the trial has failed before it began.
func (tr *trial) early() error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for p := range tr.held {
		return fmt.Errorf("%s failed too often", p)
	}
	return nil
}

// pass makes the current revision the one that a way back leads to.
func (t *Topology) pass() {
	old := t.good
	t.good, t.goodNumber = t.current, t.revision
	if err := t.retire(context.Background(), old); err != nil {
		t.log.Warn("a plugin did not end", "err", err)
	}
}

// looks is how often the state of things is looked at during a probation.
const looks = 10

// watch waits for the end of the trial.
func (t *Topology) watch(tr *trial, limit time.Duration, healthy func(actor.Message) bool) {
	defer close(tr.over)
	clock := time.NewTimer(limit)
	defer clock.Stop()
	tick := time.NewTicker(max(limit/looks, time.Millisecond))
	defer tick.Stop()
	for {
		var err error
		select {
		case <-tr.stop:
			return
		case err = <-tr.bad:
		case <-clock.C:
			if err = t.examine(tr); err == nil && healthy != nil && !healthy(t.facts(tr)) {
				err = errNotHealthy
			}
		case <-tick.C:
			if healthy == nil || healthy(t.facts(tr)) {
				continue
			}
			err = errNotHealthy
		}
		t.judge(tr, err)
		return
	}
}

var errNotHealthy = errors.New("reload.healthy is false")

// examine looks at everything that was touched when the time is over.
func (t *Topology) examine(tr *trial) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(tr.touched)) {
		if a, ok := t.sys.Find(p); ok && a.Info().State != "running" {
			return fmt.Errorf("%s did not come back: it is %s after %s", p, a.Info().State, a.Info().LastError)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(tr.bridges)) {
		a, ok := t.sys.Find(p)
		switch {
		case !ok:
			return fmt.Errorf("%s has ended", p)
		case a.Info().State != "running":
			return fmt.Errorf("%s did not come back: it is %s after %s", p, a.Info().State, a.Info().LastError)
		case t.links.down(p):
			return fmt.Errorf("%s is not connected", p)
		}
	}
	return nil
}

// facts is what reload.healthy is asked about.
func (t *Topology) facts(tr *trial) actor.Message {
	c := &tr.counts
	return actor.Message{Kind: "probation", Body: map[string]any{
		"failures": c.failures.Load(), "restarts": c.restarts.Load(), "stopped": c.stopped.Load(),
		"dead_letters": c.letters.Load(), "dropped": c.dropped.Load(),
		"bridges_down": int64(t.links.number()), "seconds": time.Since(tr.begun).Seconds(),
	}}
}

// judge ends the trial: err says why it failed.
func (t *Topology) judge(tr *trial, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trial != tr || t.stopped {
		return
	}
	if err == nil {
		t.trial = nil
		t.watched.Store(nil)
		t.pass()
		t.settle(tr.number, Applied, nil)
		t.log.Info("the revision has passed its probation", "revision", tr.number)
		return
	}
	t.goBack(tr, fmt.Errorf("probation of revision %d: %w", tr.number, err))
}

// goBack applies the last good revision again, with the state handed back.
func (t *Topology) goBack(tr *trial, cause error) {
	ctx, cancel := t.limited(context.Background())
	defer cancel()
	t.trial = nil
	t.watched.Store(nil)
	bad, outcome := t.current, RolledBack
	moved := map[actor.Path]actor.Path{}
	for now, then := range tr.names {
		moved[then] = now
	}
	tx := t.transaction(bad, t.good, diffMoved(bad, t.good, moved))
	tx.back = tr
	if err := tx.apply(ctx); err != nil {
		outcome, cause = Degraded, errors.Join(cause, err)
	} else {
		t.current, t.revision, t.failed = t.good, t.goodNumber, bad.Spec.Hash
		t.save()
	}
	tr.release(t.sys)
	if err := t.retire(ctx, bad); err != nil {
		cause = errors.Join(cause, err)
	}
	t.settle(tr.number, outcome, cause)
	t.log.Error("the revision failed its probation", "revision", tr.number, "outcome", string(outcome), "err", cause, "in-force", t.revision)
	for _, a := range tx.actions {
		t.log.Info("back: "+a.Step, a.attrs()...)
	}
	t.sys.Publish(actor.Reloaded{Revision: t.revision, Result: string(outcome), Cause: cause})
}

// hand says with what state the last good behaviour of an actor goes on.
func (tr *trial) hand(sys *runtime.System, p actor.Path) hand {
	h := hand{release: true}
	w := tr.touched[p]
	if w == nil {
		return h
	}
	h.reserve = w.state
	tr.mu.Lock()
	failed := tr.held[p]
	tr.mu.Unlock()
	if a, ok := sys.Find(p); !ok || failed || a.Info().State != "running" || a.Info().Restarts != w.restarts {
		h.state = w.state
	}
	return h
}

func (tr *trial) fail(err error) {
	select {
	case tr.bad <- err:
	default:
	}
}

// hold says whether supervision must leave an actor as it is, since the revision
// before may come back. It runs on the turn of the actor's parent.
func (t *Topology) hold(p actor.Path, cause error) bool {
	tr := t.watched.Load()
	if tr == nil {
		return false
	}
	ours := tr.touched[p] != nil || tr.bridges[p]
	routee := strings.HasPrefix(p.Name(), "routee-") && tr.touched[p.Parent()] != nil
	if !ours && !routee {
		return false
	}
	if ours { // before the question whether it is in force, which early asks the other way round
		tr.mu.Lock()
		tr.held[p] = true
		tr.mu.Unlock()
	}
	if tr.inForce.Load() {
		tr.fail(fmt.Errorf("%s failed too often: %w", p, cause))
	}
	return ours
}

// release lets go on what was held.
func (tr *trial) release(sys *runtime.System) {
	tr.mu.Lock()
	held := tr.held
	tr.held = map[actor.Path]bool{}
	tr.mu.Unlock()
	for p := range held {
		if a, ok := sys.Find(p); ok {
			a.Release()
		}
	}
}

// observe counts what happens during a probation. It runs where events are
// published.
func (t *Topology) observe(e actor.Event) {
	switch e := e.(type) {
	case actor.BridgeConnected:
		t.links.set(e.Path, true)
	case actor.BridgeDisconnected:
		t.links.set(e.Path, false)
	}
	tr := t.watched.Load()
	if tr == nil {
		return
	}
	switch e.(type) {
	case actor.Failed:
		tr.counts.failures.Add(1)
	case actor.Restarted:
		tr.counts.restarts.Add(1)
	case actor.Stopped:
		tr.counts.stopped.Add(1)
	case actor.DeadLetter:
		tr.counts.letters.Add(1)
	case actor.Dropped:
		tr.counts.dropped.Add(1)
	}
}

// links are the bridges that have lost their connection.
type links struct {
	mu   sync.Mutex // guards lost
	lost map[actor.Path]bool
}

func (l *links) set(p actor.Path, up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		l.lost = map[actor.Path]bool{}
	}
	if delete(l.lost, p); !up {
		l.lost[p] = true
	}
}

func (l *links) down(p actor.Path) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost[p]
}

func (l *links) number() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lost)
}
