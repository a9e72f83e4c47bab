package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// gatherTimeout is how long ScatterGather waits for an answer when the question
// has no deadline.
const gatherTimeout = 5 * time.Second

// GatherError is the failure of a question to several receivers: what each of
// them said. It is actor.ErrAskTimeout when one of them did not answer in time,
// and each of its failures.
type GatherError struct {
	Path     actor.Path // of the whole
	Failures []error    // one for each receiver, in the order in which they failed
}

// Error lists the failures.
func (e *GatherError) Error() string {
	text := fmt.Sprintf("none of the %d answered", len(e.Failures))
	for i, f := range e.Failures {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += sep + f.Error()
	}
	return text
}

// Unwrap returns the failures.
func (e *GatherError) Unwrap() []error { return e.Failures }

// gather is one question to several receivers.
type gather struct {
	sys   *System
	path  actor.Path
	asker actor.Ref
	m     actor.Message
	meta  *meta

	mu       sync.Mutex // guards what follows
	open     map[*share]struct{}
	failures []error
	limit    *timer
}

// share is the asker as one of the receivers sees it.
type share struct {
	g    *gather
	of   actor.Path
	node *node // that was asked; guarded by the gather's mu
}

// Path returns the asker's path.
func (s *share) Path() actor.Path { return s.g.asker.Path() }

// Tell answers the question; the first answer counts.
func (s *share) Tell(ctx context.Context, m actor.Message) error {
	if !s.g.settle(s) {
		return nil
	}
	defer s.g.meta.track().Done(nil)
	return s.g.asker.Tell(ctx, m)
}

// release is the failure of one receiver, terminated its end.
func (s *share) release(err error)  { s.g.failed(s, err) }
func (s *share) terminated(n *node) { s.g.failed(s, actor.ErrStopped) }

// scatter asks everybody at once. Whoever is full or gone has failed; nobody is
// waited for here. A delivery depends on the answer, not on each copy.
func (f *fan[T]) scatter(ctx context.Context, env envelope[T]) error {
	m, ok := any(env.msg).(actor.Message)
	if !ok {
		return f.all(ctx, env) // the first answer counts by the nature of ReplyTo
	}
	if env.sender == nil {
		f.sys.deadLetter(f.path, nil, m, actor.ReasonNoSender, env.meta)
		env.meta.track().Done(nil)
		return nil
	}
	g := &gather{sys: f.sys, path: f.path, asker: env.sender, m: m, meta: env.meta, open: map[*share]struct{}{}}
	shares := make([]*share, len(f.to))
	for i, p := range f.to {
		shares[i] = &share{g: g, of: p.path}
		g.open[shares[i]] = struct{}{}
	}
	g.arm(ctx)
	if env.meta.track() != nil {
		env.meta = &meta{trace: env.meta.trace, event: env.meta.event}
	}
	for i, p := range f.to {
		env.sender = shares[i]
		to, res := p.offer(ctx, env)
		switch {
		case res != actor.Accepted:
			g.failed(shares[i], offerError(res))
		case to != nil:
			g.watch(shares[i], &to.node)
		}
	}
	return nil
}

// arm makes the question end strictly before the asker gives up, so that the
// asker learns what the receivers said.
func (g *gather) arm(ctx context.Context) {
	limit := gatherTimeout
	if at, ok := ctx.Deadline(); ok {
		limit = max(time.Until(at), 0)
	}
	limit -= limit / 10
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = g.sys.timers.after(limit, 0, g.timeout)
}

// watch makes the end of a receiver its failure.
func (g *gather) watch(s *share, n *node) {
	g.mu.Lock()
	_, open := g.open[s]
	s.node = n
	g.mu.Unlock()
	if open && !n.watch(s) {
		g.failed(s, actor.ErrStopped)
	}
}

// settle claims the answer for s.
func (g *gather) settle(s *share) bool {
	g.mu.Lock()
	_, open := g.open[s]
	var rest []*share
	if open {
		rest = g.end()
	}
	g.mu.Unlock()
	unwatch(rest)
	return open
}

// end closes the question and returns whose answers are not wanted any more; mu is
// held.
func (g *gather) end() []*share {
	rest := slices.Collect(maps.Keys(g.open))
	clear(g.open)
	g.sys.timers.stop(g.limit)
	return rest
}

// unwatch forgets receivers. One that is only now being watched stays so until it
// ends, which nobody minds.
func unwatch(shares []*share) {
	for _, s := range shares {
		s.g.mu.Lock()
		n := s.node
		s.g.mu.Unlock()
		if n != nil {
			n.unwatch(s)
		}
	}
}

func (g *gather) failed(s *share, err error) {
	g.mu.Lock()
	_, open := g.open[s]
	if open {
		delete(g.open, s)
		g.failures = append(g.failures, fmt.Errorf("%s: %w", s.of, err))
	}
	over := open && len(g.open) == 0
	if over {
		g.end()
	}
	g.mu.Unlock()
	if open {
		unwatch([]*share{s})
	}
	if over {
		g.giveUp()
	}
}

func (g *gather) timeout() {
	g.mu.Lock()
	rest := g.end()
	slices.SortFunc(rest, func(a, b *share) int { return strings.Compare(string(a.of), string(b.of)) })
	for _, s := range rest {
		g.failures = append(g.failures, fmt.Errorf("%s: %w", s.of, actor.ErrAskTimeout))
	}
	g.mu.Unlock()
	if len(rest) > 0 {
		unwatch(rest)
		g.giveUp()
	}
}

// giveUp tells the asker all failures at once. For an asker that waits for no
// answer the question becomes a dead letter.
func (g *gather) giveUp() {
	err := &GatherError{Path: g.path, Failures: g.failures}
	defer g.meta.track().Done(err)
	if f, ok := g.asker.(interface{ release(error) }); ok {
		f.release(err)
		return
	}
	g.sys.deadLetter(g.path, g.asker, g.m, actor.ReasonFailed+": "+err.Error(), g.meta)
}
