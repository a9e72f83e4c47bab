package actord

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

func (a *app) planFlags(fs *flag.FlagSet) {
	fs.BoolVar(&a.asking.json, "json", false, "print the steps as JSON, in the order in which they are done")
}

// planned is what plan found out.
type planned struct {
	file     string
	revision uint64 // that the daemon runs; 0: no daemon does
	applied  string // its hash
	next     *spec.System
	plan     plan.Plan
}

func (a *app) showPlan(p planned) int {
	code := ExitChanges
	if p.plan.Empty() {
		code = ExitOK
	}
	if a.asking.json {
		steps := p.plan.Steps
		if steps == nil {
			steps = []plan.Step{}
		}
		return a.printJSON(struct {
			Revision  uint64      `json:"revision"`
			Hash      string      `json:"hash"`
			Next      string      `json:"next"`
			Steps     []plan.Step `json:"steps"`
			Unchanged int         `json:"unchanged"`
		}{p.revision, p.applied, p.next.Hash, steps, p.plan.Unchanged}, code)
	}
	switch {
	case p.revision == 0:
		fmt.Fprintf(a.out, "no actord runs %s; a start would do this:\n", p.file)
	case p.plan.Empty():
		fmt.Fprintf(a.out, "nothing to do: revision %d is what %s says\n", p.revision, p.file)
		return code
	default:
		fmt.Fprintf(a.out, "a reload of revision %d (hash %s) would do this:\n", p.revision, p.applied)
	}
	paint := painter(a.out, a.env)
	for _, l := range p.plan.Tree() {
		fmt.Fprintln(a.out, strings.Repeat("  ", l.Depth)+paint(l))
	}
	fmt.Fprintf(a.out, "%s, %d unchanged\n", count(len(p.plan.Steps), "step"), p.plan.Unchanged)
	return code
}

// colours by the mark of a step.
var colours = map[string]string{"+": "32", "-": "31", "±": "35", "»": "36", "~": "33", "!": "1;33"}

// painter colours lines of a plan on a terminal, unless $NO_COLOR is set.
func painter(w io.Writer, env func(string) (string, bool)) func(plan.Line) string {
	if v, set := env("NO_COLOR"); (set && v != "") || !isTerminal(w) {
		return func(l plan.Line) string { return l.Text }
	}
	return paint
}

func paint(l plan.Line) string {
	if !l.Step {
		return "\x1b[2m" + l.Text + "\x1b[0m"
	}
	return "\x1b[" + colours[l.Kind.Mark()] + "m" + l.Text + "\x1b[0m"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// planOf compares a checked configuration with what a daemon has applied.
func planOf(src topology.Source, applied, next *spec.System, revision uint64) planned {
	p := planned{file: src.File, revision: revision, next: next, plan: plan.Diff(applied, next)}
	if applied != nil {
		p.applied = applied.Hash
	}
	return p
}
