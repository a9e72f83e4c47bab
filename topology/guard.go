package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// A file that is just being written is often a valid smaller one. What follows
// keeps such a file from stopping actors.

// guard says why next must not be applied at once; nil when it may be.
func (t *Topology) guard(next *Revision) error {
	limits, gone := t.current.Spec.Reload, 0
	for _, s := range plan.Diff(t.current.Spec, next.Spec).Steps {
		switch old := s.Actor.Old; {
		case old == nil:
		case s.Kind == plan.Stop:
			gone += size(old)
		case s.Kind == plan.Rename || s.Kind == plan.Replace:
			gone += max(0, size(old)-size(s.Actor.New))
		}
	}
	if gone == 0 {
		return nil
	}
	all := 0
	for range t.current.Spec.All() {
		all++
	}
	if float64(gone) > limits.MaxRemoved*float64(all) {
		return fmt.Errorf("it would delete %d of %d actors, more than reload.max-removed = %g%%", gone, all, limits.MaxRemoved*100)
	}
	return nil
}

// size counts an actor and those below it.
func size(a *spec.Actor) (n int) {
	for range a.All() {
		n++
	}
	return n
}

// held waits for removed-hold and loads again. The result is the same when the
// file stayed the same.
func (t *Topology) held(ctx context.Context, q Request, next *Revision, why error) (*Revision, error) {
	hold := t.current.Spec.Reload.RemovedHold
	t.log.Warn("reload held; it is applied when the file stays the same", "why", why, "hold", hold, "by", q.By)
	if err := t.retire(ctx, next); err != nil {
		return next, err
	}
	clock := time.NewTimer(hold)
	defer clock.Stop()
	select {
	case <-clock.C:
		return t.load(ctx, q.File)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w (force it with SIGHUP or actord reload --force): %w", why, context.Cause(ctx))
	}
}

// whole checks the end marker where one is required, by what is applied or by the
// file itself.
func (t *Topology) whole(next *Revision) error {
	if !next.Spec.Reload.RequireEOF && (t.current == nil || !t.current.Spec.Reload.RequireEOF) {
		return nil
	}
	mark := next.Tree.Lookup("actord", "eof")
	if mark == nil || mark.Pos.File != next.Tree.Root.Pos.File || (mark.Text != "true" && mark.Text != "on") {
		return errors.New(`the end marker is missing (reload.require-eof wants "actord.eof = true" as the last line); is the file still being written?`)
	}
	if after := below(next.Tree.Root, mark.Pos); after != nil {
		return fmt.Errorf("%s: something follows the end marker at %s; actord.eof = true must be the last line", after.Pos, mark.Pos)
	}
	return nil
}

// below finds a value in the same file on a later line.
func below(n *hocon.Node, p hocon.Pos) *hocon.Node {
	if n.Pos.File == p.File && n.Pos.Line > p.Line {
		return n
	}
	for _, e := range n.Elems() {
		if f := below(e, p); f != nil {
			return f
		}
	}
	for _, f := range n.Fields() {
		if at := below(f.Value, p); at != nil {
			return at
		}
	}
	return nil
}
