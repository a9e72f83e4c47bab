package topology

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/actord/actord/topology/hocon"
)

// first is the revision to start with.
func (t *Topology) first(ctx context.Context) (*Revision, error) {
	first, err := t.src.Load(ctx, nil)
	if err == nil {
		err = t.whole(first)
	}
	if err == nil || !t.options.Resume {
		return first, err
	}
	if first != nil {
		err = errors.Join(err, first.Close(context.WithoutCancel(ctx)))
	}
	kept, number, notKept := t.lastGood(ctx)
	if notKept != nil {
		return nil, errors.Join(err, fmt.Errorf("resume: %w", notKept))
	}
	t.log.Error("the configuration is wrong; the last good revision runs until it is right", "revision", number, "err", "\n"+Explain(err))
	return kept, nil
}

// lastGood loads the revision to resume with, before the state directory is this
// daemon's.
func (t *Topology) lastGood(ctx context.Context) (*Revision, uint64, error) {
	dir, err := t.src.StateDir(t.options.Env)
	if err != nil {
		return nil, 0, err
	}
	entries, err := ReadHistory(dir)
	if err != nil {
		return nil, 0, err
	}
	number, ok := lastGood(entries)
	if !ok {
		return nil, 0, fmt.Errorf("%s holds no revision", dir)
	}
	kept, err := (&State{dir: dir}).read(number)
	if err != nil {
		return nil, 0, err
	}
	rev, err := t.src.parse(ctx, fmt.Sprintf("revision %d", number), kept.Config, nil)
	return rev, number, err
}

// StateDir is the state directory of the daemon that runs the file, which may be
// wrong by now; env is where variables come from.
func (s Source) StateDir(env func(string) (string, bool)) (string, error) {
	written := ""
	if tree, err := hocon.Load(s.File, s.Options); err == nil {
		if n := tree.Lookup("actord", "system", "state-dir"); n != nil {
			written = n.Text
		}
	}
	return StateDir(written, s.File, env)
}

// remember takes over the history of earlier runs.
func (t *Topology) remember(dir string) {
	if t.state == nil {
		return
	}
	entries, err := ReadHistory(dir)
	t.warn(err)
	t.history.entries = entries
	for _, e := range entries {
		t.number = max(t.number, e.Revision)
	}
}

// StateDir is the folder that this daemon holds, "" when it has none.
func (t *Topology) StateDir() string {
	if t.state == nil {
		return ""
	}
	return t.state.dir
}

func absolute(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		return abs
	}
	return file
}
