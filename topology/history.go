package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/topology/hocon"
)

// Entry is one reload in the history of a daemon.
type Entry struct {
	Revision  uint64        `json:"revision"` // its number; of one that was not applied, the one that stayed in force
	Hash      string        `json:"hash"`     // of what was in force afterwards
	By        string        `json:"by"`
	At        time.Time     `json:"at"`
	Outcome   Outcome       `json:"result"`
	Took      time.Duration `json:"took"` // in nanoseconds
	Actions   []Action      `json:"actions,omitempty"`
	Error     string        `json:"error,omitempty"`
	Probation string        `json:"probation,omitempty"` // running, passed, failed, superseded; "" without one
	Kept      bool          `json:"kept,omitempty"`      // it was applied, so one can go back to it
}

// The words of Entry.Probation.
const (
	onProbation  = "running"
	passed       = "passed"
	failed       = "failed"
	supersededBy = "superseded"
)

// maxActions bounds the actions that the history keeps of one reload.
const maxActions = 100

// history is what Revisions shows. Topology.mu guards it.
type history struct {
	entries []Entry
	configs map[uint64]json.RawMessage // of the kept ones while there is no state directory
	warned  bool
}

// Revisions returns the history, the oldest first, those of earlier runs included.
func (t *Topology) Revisions() []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.history.entries)
}

// note adds a reload to the history. That nothing changed is worth a line only
// when a person asked.
func (t *Topology) note(q Request, r Result) {
	if q.By == byFile && (r.Outcome == Unchanged || r.Outcome == Rejected && Explain(r.Err) == t.rejected) {
		return
	}
	e := Entry{
		Revision: r.Revision, Hash: r.Hash, By: r.By, At: r.At, Outcome: r.Outcome, Took: r.Took,
		Actions: r.Actions[:min(len(r.Actions), maxActions)], Kept: r.Outcome == Applied,
	}
	if r.Err != nil {
		e.Error = Explain(r.Err)
	}
	if e.Kept && r.Probation != nil {
		for i := range t.history.entries {
			if t.history.entries[i].Probation == onProbation {
				t.history.entries[i].Probation = supersededBy
			}
		}
		e.Probation = onProbation
	}
	t.history.entries = append(t.history.entries, e)
	t.trim()
	t.saveHistory()
}

// trim forgets what is more than keep-revisions, but never what is in force or
// what a way back leads to.
func (t *Topology) trim() {
	keep := t.current.Spec.Reload.KeepRevisions
	for i := 0; len(t.history.entries) > keep && i < len(t.history.entries); {
		e := t.history.entries[i]
		if e.Kept && (e.Revision == t.revision || e.Revision == t.goodNumber) {
			i++
			continue
		}
		t.history.entries = slices.Delete(t.history.entries, i, i+1)
		if e.Kept {
			delete(t.history.configs, e.Revision)
			t.warn(t.state.drop(e.Revision))
		}
	}
}

// settle notes how a probation ended.
func (t *Topology) settle(number uint64, outcome Outcome, err error) {
	for i := range t.history.entries {
		e := &t.history.entries[i]
		if e.Revision != number || !e.Kept {
			continue
		}
		e.Outcome, e.Probation = outcome, passed
		if err != nil {
			e.Probation, e.Error = failed, Explain(err)
		}
	}
	t.saveHistory()
}

// Explain is an error for people, with source lines where there are some.
func Explain(err error) string {
	if _, ok := errors.AsType[hocon.Errors](err); ok {
		return strings.TrimSuffix(hocon.Format(err), "\n")
	}
	return err.Error()
}

// save keeps the configuration that is in force, for plan and for a rollback.
func (t *Topology) save() {
	if t.state == nil {
		if t.history.configs == nil {
			t.history.configs = map[uint64]json.RawMessage{}
		}
		t.history.configs[t.revision] = t.current.Tree.Root.JSON()
		return
	}
	t.warn(t.state.save(AppliedConfig{Revision: t.revision, Hash: t.current.Spec.Hash, Config: t.current.Tree.Root.JSON()}))
}

func (t *Topology) saveHistory() { t.warn(t.state.saveHistory(t.history.entries)) }

// warn reports once that the state directory cannot be written.
func (t *Topology) warn(err error) {
	if err != nil && !t.history.warned {
		t.history.warned = true
		t.log.Warn("the state directory cannot be written; plan and rollback do not see what changes from now on", "err", err)
	}
}

// past loads a revision of the history, 0 is the one before.
func (t *Topology) past(ctx context.Context, number uint64) (*Revision, error) {
	if number == 0 {
		var err error
		if number, err = t.before(); err != nil {
			return nil, err
		}
	}
	config := t.history.configs[number]
	if t.state != nil {
		kept, err := t.state.read(number)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("revision %d is not kept (see actord revisions)", number)
		}
		if err != nil {
			return nil, err
		}
		config = kept.Config
	}
	if config == nil {
		return nil, fmt.Errorf("revision %d is not kept (see actord revisions)", number)
	}
	ctx, cancel := t.limited(ctx)
	defer cancel()
	return t.src.parse(ctx, fmt.Sprintf("revision %d", number), config, t.current)
}

// before is the last revision that was applied, is not known to be bad, and is
// another configuration than the one in force.
func (t *Topology) before() (uint64, error) {
	for _, e := range slices.Backward(t.history.entries) {
		if e.Kept && e.Outcome == Applied && e.Revision < t.revision && e.Hash != t.current.Spec.Hash {
			return e.Revision, nil
		}
	}
	return 0, errors.New("there is no revision before this one to go back to (see actord revisions)")
}

// historyFile holds the entries of the history, newest last.
const historyFile = "revisions.json"

func (s *State) saveHistory(entries []Entry) error {
	if s == nil {
		return nil
	}
	text, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return fmt.Errorf("save the history: %w", err)
	}
	return s.write(historyFile, text)
}

// ReadHistory returns the reloads of the daemon whose state directory is dir, also
// when it does not run; none when there is no history.
func ReadHistory(dir string) ([]Entry, error) {
	text, err := os.ReadFile(filepath.Join(dir, historyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	var entries []Entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, historyFile), err)
	}
	return entries, nil
}

// lastGood is the newest revision of a history that did not turn out to be bad.
func lastGood(entries []Entry) (uint64, bool) {
	for _, probation := range []string{passed, ""} {
		for _, e := range slices.Backward(entries) {
			if e.Kept && e.Outcome == Applied && (e.Probation == probation || probation == "") {
				return e.Revision, true
			}
		}
	}
	return 0, false
}
