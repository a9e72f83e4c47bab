package actord

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/spec"
)

// describeLimit is how long the plugins may take to say what they offer.
const describeLimit = 30 * time.Second

// load checks a configuration, plugins included, and ends what it opened.
func (a *app) load(ctx context.Context, args []string) (topology.Source, *topology.Revision, error) {
	src, err := a.source(args, &plugins{log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return src, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	rev, err := src.Load(ctx, nil)
	if err != nil {
		return src, nil, err
	}
	return src, rev, rev.Close(context.WithoutCancel(ctx))
}

func summary(s *spec.System) string {
	actors := 0
	for range s.All() {
		actors++
	}
	return count(actors, "actor") + ", " + count(len(s.Bridges), "bridge") + ", " + count(len(s.Plugins), "plugin")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// plan shows what a reload with the file would do to the daemon that runs, or
// what a start would do when none does. The daemon is the one that runs the file
// itself, else the one that runs --config, $ACTORD_CONFIG or ./application.conf.
func (a *app) plan(ctx context.Context, args []string) int {
	candidates := []string{a.config}
	if len(args) == 1 {
		candidates, a.config = []string{args[0], a.config}, ""
	}
	src, rev, err := a.load(ctx, args)
	if err != nil {
		return a.fail(err)
	}
	fallback, err := a.file(nil)
	if err != nil {
		return a.fail(err)
	}
	applied, revision, err := a.appliedBy(ctx, src, rev.Spec, append(candidates, fallback))
	if err != nil {
		return a.fail(err)
	}
	return a.showPlan(planOf(src, applied, rev.Spec, revision))
}

// appliedBy is the configuration that is applied by the first daemon found that
// runs one of files; nil when none runs.
func (a *app) appliedBy(ctx context.Context, src topology.Source, s *spec.System, files []string) (*spec.System, uint64, error) {
	for _, file := range files {
		if file == "" {
			continue
		}
		dir, err := topology.StateDir(s.StateDir, file, a.env)
		if err != nil {
			return nil, 0, err
		}
		applied, running, err := topology.ReadApplied(dir)
		if err != nil {
			return nil, 0, err
		}
		if !running {
			continue
		}
		rev, err := src.Parse(ctx, fmt.Sprintf("revision %d", applied.Revision), applied.Config)
		if err != nil {
			return nil, 0, fmt.Errorf("the applied revision %d cannot be read with this program's behaviours: %w", applied.Revision, err)
		}
		return rev.Spec, applied.Revision, rev.Close(ctx)
	}
	return nil, 0, nil
}
