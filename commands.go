package actord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	gort "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// hocon prints any HOCON file as JSON.
func (a *app) hocon(_ context.Context, args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(a.err, "actord hocon: want one file, or - for standard input")
		return ExitUsage
	}
	tree, err := a.loadAny(args[0])
	if err != nil {
		return a.fail(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, tree.Root.JSON(), "", "  "); err != nil {
		return a.fail(err)
	}
	fmt.Fprintln(a.out, pretty.String())
	return ExitOK
}

func (a *app) loadAny(file string) (*hocon.Tree, error) {
	o := hocon.Options{Env: a.env, Overrides: a.overrides, Overlays: a.overlays, Anywhere: true}
	if file != "-" {
		return hocon.Load(file, o)
	}
	text, err := io.ReadAll(a.in)
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return hocon.Parse("standard input", text, o)
}

// version prints what was built, and from what.
func (a *app) version(context.Context, []string) int {
	fmt.Fprintf(a.out, "actord %s %s %s/%s\n", version(), gort.Version(), gort.GOOS, gort.GOARCH)
	return ExitOK
}

// version is the module's version and, for a build from a checkout, its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v, dirty := info.Main.Version, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && (v == "" || v == "(devel)") && len(s.Value) >= 12:
			v = "commit " + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", changed"
		}
	}
	if v == "" {
		v = "(devel)"
	}
	if strings.HasPrefix(v, "commit ") {
		v += dirty
	}
	return v
}

// list prints the behaviours and bridges that configuration may name: all of
// them with a sentence each, or one with all its arguments.
func (a *app) list(ctx context.Context, args []string) int {
	reg, err := a.offers(ctx)
	if err != nil {
		return a.fail(err)
	}
	if len(args) == 0 {
		a.listAll(reg)
		return ExitOK
	}
	for _, name := range args {
		f, ok := reg.Behaviour(name)
		if !ok {
			f, ok = reg.Bridge(name)
		}
		if !ok {
			known := append(reg.Behaviours(), reg.Bridges()...)
			fmt.Fprintf(a.err, "actord list: no behaviour or bridge %q%s\n", name, actor.DidYouMean(name, known))
			return ExitInvalid
		}
		printSchema(a.out, f.Schema())
	}
	return ExitOK
}

// offers is what is compiled in and, when there is a configuration, what its
// plugins bring.
func (a *app) offers(ctx context.Context) (*actor.Registry, error) {
	file, err := a.file(nil)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); a.config == "" && errors.Is(err, os.ErrNotExist) {
		return a.registry()
	}
	src, err := a.source(nil, &plugins{log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	return src.Offers(ctx)
}

func (a *app) listAll(reg *actor.Registry) {
	fmt.Fprintln(a.out, "Behaviours (behaviour = NAME, args { … }):")
	for _, name := range reg.Behaviours() {
		f, _ := reg.Behaviour(name)
		printSchema(a.out, f.Schema())
	}
	fmt.Fprintln(a.out, "Bridges (type = NAME):")
	for _, name := range reg.Bridges() {
		f, _ := reg.Bridge(name)
		printSchema(a.out, f.Schema())
	}
}

// printSchema prints a behaviour with its arguments, their types, defaults and
// meaning.
func printSchema(w io.Writer, s actor.Schema) {
	fmt.Fprintf(w, "\n  %s\n      %s\n", s.Name, s.Doc)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printFields(tw, "", s.Fields)
	tw.Flush()
}

func printFields(w io.Writer, prefix string, fields []actor.Field) {
	for _, f := range fields {
		fmt.Fprintf(w, "      %s\t%s\t%s\t%s\n", prefix+f.Name, fieldType(f), fieldDefault(f), f.Doc)
		switch {
		case f.Kind == actor.ObjectField:
			printFields(w, prefix+f.Name+".", f.Fields)
		case f.Elem != nil && f.Elem.Kind == actor.ObjectField && f.Kind == actor.ListField:
			printFields(w, prefix+f.Name+"[].", f.Elem.Fields)
		case f.Elem != nil && f.Elem.Kind == actor.ObjectField:
			printFields(w, prefix+f.Name+".NAME.", f.Elem.Fields)
		}
	}
}

func fieldType(f actor.Field) string {
	switch f.Kind {
	case actor.EnumField:
		return strings.Join(f.Enum, "|")
	case actor.ListField:
		return "list of " + fieldType(*f.Elem)
	case actor.MapField:
		return "map of " + fieldType(*f.Elem)
	case actor.ExprField:
		return f.Site + " expr"
	}
	return strings.Join(append([]string{f.Kind.String()}, slices.Sorted(maps.Keys(f.Words))...), "|")
}

func fieldDefault(f actor.Field) string {
	switch {
	case f.Required:
		return "required"
	case f.Default == nil:
		return "-"
	}
	if f.Kind == actor.BoolField {
		return map[bool]string{true: "on", false: "off"}[f.Default == true]
	}
	text := fmt.Sprint(f.Plain(f.Default))
	if text == "" {
		return `""`
	}
	return text
}
