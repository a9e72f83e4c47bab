package actord

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/actord/actord/internal/control"
	"github.com/actord/actord/topology"
)

// asking is what the flags of the commands say that ask a running daemon.
type asking struct {
	wait, force, json bool
	hash              string
}

// order is what a command asks the daemon for.
type order struct {
	topology.Request
	Wait bool // until the probation is over as well
}

// outcome is what the daemon answers.
type outcome struct {
	Result   topology.Outcome  `json:"result"` // "" when the reload was only asked for
	Revision uint64            `json:"revision"`
	Hash     string            `json:"hash"`
	Took     time.Duration     `json:"took"`
	Steps    []topology.Action `json:"steps,omitempty"`
	Error    string            `json:"error,omitempty"`
	Trial    string            `json:"probation,omitempty"`
}

// control opens the socket that the commands use. A daemon without a state
// directory has none.
func (d *daemon) control(ctx context.Context) (*control.Server, error) {
	dir := d.top.StateDir()
	if dir == "" {
		return nil, nil
	}
	return control.Listen(dir, map[string]control.Verb{
		"reload": func(_ context.Context, in json.RawMessage) (any, error) {
			var o order
			if err := json.Unmarshal(in, &o); err != nil {
				return nil, err
			}
			return d.obey(ctx, o), nil // not the caller's context: a reload goes on when the caller has gone
		},
		"revisions": func(context.Context, json.RawMessage) (any, error) { return d.top.Revisions(), nil },
	})
}

func (d *daemon) obey(ctx context.Context, o order) outcome {
	if !o.Wait && !o.Rollback && o.File == "" && o.Hash == "" {
		d.top.Trigger(o.Request)
		return outcome{}
	}
	r := d.top.Do(ctx, o.Request)
	out := outcome{Result: r.Outcome, Revision: r.Revision, Hash: r.Hash, Took: r.Took, Steps: r.Actions}
	if r.Err != nil {
		out.Error = topology.Explain(r.Err)
	}
	if r.Probation == nil {
		return out
	}
	if !o.Wait {
		out.Trial = "running"
		return out
	}
	select {
	case <-r.Probation:
		d.settled(r.Revision, &out)
	case <-ctx.Done():
	}
	return out
}

// settled adds how the probation of a revision ended.
func (d *daemon) settled(number uint64, out *outcome) {
	for _, e := range d.top.Revisions() {
		if e.Kept && e.Revision == number {
			out.Result, out.Error, out.Trial = e.Outcome, e.Error, e.Probation
		}
	}
	rev, inForce := d.top.Current()
	out.Revision, out.Hash = inForce, rev.Spec.Hash
}

func (a *app) reloadFlags(fs *flag.FlagSet) {
	fs.BoolVar(&a.asking.wait, "wait", false, "wait for the result, probation included; the exit code says how it went")
	fs.BoolVar(&a.asking.force, "force", false, "also when most actors are deleted (reload.max-removed)")
	fs.BoolVar(&a.asking.json, "json", false, "print the result as JSON")
}

func (a *app) applyFlags(fs *flag.FlagSet) {
	a.reloadFlags(fs)
	fs.StringVar(&a.asking.hash, "check-hash", "", "only when what is applied has this `hash`, as actord plan shows it")
}

func (a *app) revisionsFlags(fs *flag.FlagSet) {
	fs.BoolVar(&a.asking.json, "json", false, "print them as JSON, with every step")
}

// reload asks the daemon to look at its file.
func (a *app) reload(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return a.misused("reload", "takes no file; it reloads what the daemon runs (see actord apply FILE)")
	}
	return a.order(ctx, topology.Request{By: by("actord reload"), Force: a.asking.force})
}

// apply gives the daemon another file.
func (a *app) apply(ctx context.Context, args []string) int {
	if len(args) != 1 {
		return a.misused("apply", "want one file")
	}
	return a.order(ctx, topology.Request{
		By: by("actord apply"), File: absolute(args[0]), Hash: a.asking.hash, Force: a.asking.force,
	})
}

// rollback asks the daemon to go back to an earlier revision.
func (a *app) rollback(ctx context.Context, args []string) int {
	q := topology.Request{By: by("actord rollback"), Rollback: true}
	if len(args) > 1 {
		return a.misused("rollback", "want one revision, or none for the one before")
	}
	if len(args) == 1 {
		n, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil || n == 0 {
			return a.misused("rollback", fmt.Sprintf("%q is not the number of a revision (see actord revisions)", args[0]))
		}
		q.To = n
	}
	return a.order(ctx, q)
}

func (a *app) misused(command, what string) int {
	fmt.Fprintf(a.err, "actord %s: %s\n", command, what)
	return ExitUsage
}

// by is who asks, for the log and the history.
func by(command string) string {
	if name := os.Getenv("USER"); name != "" {
		return command + " by " + name
	}
	return command
}

func (a *app) order(ctx context.Context, q topology.Request) int {
	dir, err := a.stateDir()
	if err != nil {
		return a.fail(err)
	}
	var out outcome
	if err := control.Call(ctx, dir, "reload", order{q, a.asking.wait}, &out); err != nil {
		return a.notReached(err)
	}
	if a.asking.json {
		return a.printJSON(out, out.code())
	}
	a.show(out)
	return out.code()
}

func (a *app) notReached(err error) int {
	if errors.Is(err, control.ErrNoDaemon) {
		err = fmt.Errorf("%w (no daemon runs this configuration; name it with --config FILE)", err)
	}
	return a.fail(err)
}

func (a *app) printJSON(v any, code int) int {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return a.fail(err)
	}
	return code
}

// code is the exit code of a result.
func (o outcome) code() int {
	switch o.Result {
	case topology.Rejected:
		return ExitInvalid
	case topology.RolledBack:
		return ExitRolledBack
	case topology.Degraded:
		return ExitDegraded
	}
	return ExitOK
}

func (a *app) show(o outcome) {
	if o.Result == "" {
		fmt.Fprintln(a.out, "the daemon reloads; its log and actord revisions say how it went (or use --wait)")
		return
	}
	for _, s := range o.Steps {
		line := s.Step
		if s.Left > 0 {
			line += fmt.Sprintf(" (%s left, now dead letters)", count(s.Left, "message"))
		}
		if s.Note != "" {
			line += " (" + s.Note + ")"
		}
		fmt.Fprintf(a.out, "%s  %s\n", line, s.Took.Round(time.Microsecond))
	}
	if o.Error != "" {
		fmt.Fprintln(a.err, o.Error)
	}
	fmt.Fprintf(a.out, "%s: revision %d, hash %s, %s", o.Result, o.Revision, o.Hash, o.Took.Round(time.Microsecond))
	if o.Trial != "" {
		fmt.Fprintf(a.out, ", probation %s", o.Trial)
	}
	fmt.Fprintln(a.out)
}

// revisions prints the history of a daemon, also of one that does not run.
func (a *app) revisions(_ context.Context, args []string) int {
	if len(args) > 0 {
		return a.misused("revisions", "takes no arguments")
	}
	dir, err := a.stateDir()
	if err != nil {
		return a.fail(err)
	}
	entries, err := topology.ReadHistory(dir)
	if err != nil {
		return a.fail(err)
	}
	if a.asking.json {
		return a.printJSON(entries, ExitOK)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "REVISION\tRESULT\tPROBATION\tWHEN\tTOOK\tSTEPS\tHASH\tBY")
	for _, e := range entries {
		number := "-"
		if e.Kept {
			number = strconv.FormatUint(e.Revision, 10)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", number, e.Outcome, dash(e.Probation),
			e.At.Format(time.DateTime), e.Took.Round(time.Microsecond), len(e.Actions), e.Hash[:min(12, len(e.Hash))], e.By)
		if e.Error != "" {
			first, _, _ := strings.Cut(e.Error, "\n")
			fmt.Fprintf(w, "\t%s\n", first)
		}
	}
	if err := w.Flush(); err != nil {
		return a.fail(err)
	}
	return ExitOK
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// stateDir is the folder of the daemon that runs the configuration, which may be
// wrong by now.
func (a *app) stateDir() (string, error) {
	src, err := a.source(nil, &plugins{})
	if err != nil {
		return "", err
	}
	return src.StateDir(a.env)
}
