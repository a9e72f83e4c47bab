package actord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// explain tells what a key means and, when there is a configuration, what is in
// force and where that is written.
func (a *app) explain(ctx context.Context, args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(a.err, "actord explain: want one key or path, e.g. mailbox.capacity, actors.intake.mailbox.capacity or /user/intake")
		return ExitUsage
	}
	tree, err := a.tree()
	if err != nil {
		return a.fail(err)
	}
	reg, err := a.offers(ctx)
	if err != nil {
		if reg, err = a.registry(); err != nil { // the file may be wrong in places that do not matter here
			return a.fail(err)
		}
	}
	all, err := spec.Explain(tree, reg, args[0])
	if err != nil {
		fmt.Fprintln(a.err, "actord explain:", err)
		return ExitInvalid
	}
	if strings.HasPrefix(args[0], "/") || len(all) > maxExplained {
		explainTable(a.out, all)
		return ExitOK
	}
	for i, e := range all {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		explainOne(a.out, e)
	}
	return ExitOK
}

// maxExplained is how many keys are explained at length.
const maxExplained = 6

// tree reads the configuration; nil when there is none and none is named.
func (a *app) tree() (*hocon.Tree, error) {
	file, err := a.file(nil)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); a.config == "" && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return hocon.Load(file, hocon.Options{Env: a.env, Overrides: a.overrides, Overlays: a.overlays})
}

// classes say what a reload does.
var classes = map[actor.Class]string{
	actor.Live: "applied in place", actor.Handover: "a new behaviour behind the same mailbox and address; it gets the state when it can take it",
	actor.Replace: "a graceful stop, then a start", actor.Reconnect: "a new connection", actor.Rewire: "routes are swapped, the connection stays",
	actor.Process: "needs a restart of the daemon; a reload reports it", actor.Cosmetic: "nothing to do",
}

func explainOne(w io.Writer, e spec.Explanation) {
	fmt.Fprintf(w, "%s\n    %s\n\n", e.Key, e.Field.Doc)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(tw, "    %s\t%s\n", name, text)
		}
	}
	row("type", fieldType(e.Field))
	row("default", fieldDefault(e.Field))
	row("allowed", fieldBounds(e.Field))
	row("a change", string(e.Class)+": "+classes[e.Class])
	row("value", e.Value)
	if e.Origin != "" {
		row("from", place(e))
	}
	for _, p := range e.Before {
		row("replaces", p.String())
	}
	tw.Flush()
	if e.Field.Kind == actor.ObjectField {
		fmt.Fprintln(w)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		printFields(tw, "", e.Field.Fields)
		tw.Flush()
	}
}

func place(e spec.Explanation) string {
	if e.Pos.IsZero() || strings.HasPrefix(e.Pos.File, "-D ") {
		return strings.TrimSpace(e.Origin + " " + e.Pos.String())
	}
	return e.Origin + ", " + e.Pos.String()
}

// explainTable shows many keys, a line for each.
func explainTable(w io.Writer, all []spec.Explanation) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	valued := slices.ContainsFunc(all, func(e spec.Explanation) bool { return e.Value != "" })
	for _, e := range all {
		if valued {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", e.Key, e.Value, place(e))
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", e.Key, fieldType(e.Field), fieldDefault(e.Field), e.Field.Doc)
	}
	tw.Flush()
}

// fieldBounds says what numbers are allowed, "" when all are.
func fieldBounds(f actor.Field) string {
	show := func(n float64) string {
		if f.Kind == actor.ListField {
			return fmt.Sprintf("%g", n)
		}
		return fieldDefault(actor.Field{Kind: f.Kind, Default: f.Number(n)})
	}
	text := ""
	switch {
	case f.Min != nil && f.Max != nil:
		text = show(*f.Min) + " to " + show(*f.Max)
	case f.Min != nil:
		text = "at least " + show(*f.Min)
	case f.Max != nil:
		text = "at most " + show(*f.Max)
	}
	if text != "" && f.Kind == actor.ListField {
		text += " elements"
	}
	return text
}

// schema prints the JSON Schema of a whole file.
func (a *app) schema(ctx context.Context, args []string) int {
	if len(args) > 0 {
		fmt.Fprintln(a.err, "actord schema: takes no arguments")
		return ExitUsage
	}
	reg, err := a.offers(ctx)
	if err != nil {
		fmt.Fprintln(a.err, "actord schema: what plugins offer is left out, since the configuration is wrong; see actord check")
		if reg, err = a.registry(); err != nil {
			return a.fail(err)
		}
	}
	b, err := spec.JSONSchema(reg)
	if err != nil {
		return a.fail(err)
	}
	fmt.Fprintln(a.out, string(b))
	return ExitOK
}
