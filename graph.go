package actord

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/plan"
	"github.com/actord/actord/topology/spec"
)

// drawing is what the flags of graph say.
type drawing struct {
	format string
	plan   bool
}

func (a *app) graphFlags(fs *flag.FlagSet) {
	fs.StringVar(&a.drawing.format, "format", "mermaid", "dot, mermaid or json")
	fs.BoolVar(&a.drawing.plan, "plan", false, "colour what a reload would start, change and stop")
}

// graph is who supervises whom and who sends to whom.
type graph struct {
	Nodes []node `json:"nodes"`
	Edges []edge `json:"edges"`
}

type node struct {
	ID     string `json:"id"` // a path, or a target that is no actor
	Kind   string `json:"kind"`
	What   string `json:"what,omitempty"`   // behaviour or type
	Action string `json:"action,omitempty"` // of the plan: start, stop, replace …
	mark   string
}

type edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"` // supervises or sends
	Key  string `json:"key,omitempty"`
}

// graph prints the actors and bridges of a configuration as a picture.
func (a *app) graph(ctx context.Context, args []string) int {
	draw, ok := map[string]func(io.Writer, graph){"dot": drawDot, "mermaid": drawMermaid, "json": nil}[a.drawing.format]
	if !ok {
		return a.misused("graph", fmt.Sprintf("unknown format %q (want one of dot, mermaid, json)", a.drawing.format))
	}
	candidates := []string{a.config}
	if len(args) == 1 {
		candidates, a.config = []string{args[0], a.config}, ""
	}
	src, rev, err := a.load(ctx, args)
	if err != nil {
		return a.fail(err)
	}
	reg, err := src.Offers(ctx)
	if err != nil {
		return a.fail(err)
	}
	g := graphOf(rev.Spec, reg)
	if a.drawing.plan {
		fallback, err := a.file(nil)
		if err != nil {
			return a.fail(err)
		}
		applied, _, err := a.appliedBy(ctx, src, rev.Spec, append(candidates, fallback))
		if err != nil {
			return a.fail(err)
		}
		if applied != nil {
			g.colour(plan.Diff(applied, rev.Spec))
		}
	}
	if draw == nil {
		return a.printJSON(g, ExitOK)
	}
	draw(a.out, g)
	return ExitOK
}

func graphOf(s *spec.System, reg *actor.Registry) graph {
	g := graph{Nodes: []node{}, Edges: []edge{}}
	for a := range s.All() {
		g.Nodes = append(g.Nodes, node{ID: string(a.Path), Kind: "actor", What: a.Behaviour})
		if p := a.Path.Parent(); p != actor.User {
			g.Edges = append(g.Edges, edge{From: string(p), To: string(a.Path), Kind: "supervises"})
		}
		if f, ok := reg.Behaviour(a.Behaviour); ok {
			g.sends(a.Path, f.Schema().Fields, a.Args)
		}
	}
	for _, b := range s.Bridges {
		g.Nodes = append(g.Nodes, node{ID: string(b.Path), Kind: "bridge", What: b.Type})
		if f, ok := reg.Bridge(b.Type); ok {
			g.sends(b.Path, f.Schema().Fields, b.Args)
		}
	}
	for _, sub := range s.Subscriptions {
		g.send("events", "events.subscriptions", sub.To, actor.User)
	}
	return g
}

// sends adds an edge for each target in the arguments.
func (g *graph) sends(from actor.Path, fields []actor.Field, values map[string]any) {
	for _, f := range fields {
		g.values(from, f.Name, &f, values[f.Name])
	}
}

func (g *graph) values(from actor.Path, key string, f *actor.Field, v any) {
	switch v := v.(type) {
	case string:
		if f.Kind == actor.TargetField && v != "" {
			g.send(string(from), key, actor.Target(v), from)
		}
	case []any:
		for _, e := range v {
			if f.Elem != nil {
				g.values(from, key, f.Elem, e)
			}
		}
	case map[string]any:
		if f.Kind == actor.MapField && f.Elem != nil {
			for k, e := range v {
				g.values(from, key+"."+k, f.Elem, e)
			}
			return
		}
		for _, sub := range f.Fields {
			g.values(from, key+"."+sub.Name, &sub, v[sub.Name])
		}
	}
}

func (g *graph) send(from, key string, t actor.Target, base actor.Path) {
	to := string(t)
	if kind, p, err := t.Parse(base); err == nil && (kind == actor.PathTarget || kind == actor.BridgeTarget) {
		to = string(p)
	}
	for _, id := range []string{from, to} {
		if !slices.ContainsFunc(g.Nodes, func(n node) bool { return n.ID == id }) && !strings.HasPrefix(id, "/user/") && !strings.HasPrefix(id, "/system/") {
			g.Nodes = append(g.Nodes, node{ID: id, Kind: "other"})
		}
	}
	e := edge{From: from, To: to, Kind: "sends", Key: key}
	if !slices.Contains(g.Edges, e) {
		g.Edges = append(g.Edges, e)
	}
}

// colour marks what the steps of a plan touch; what goes is added.
func (g *graph) colour(p plan.Plan) {
	for _, s := range p.Steps {
		if s.Path == "" {
			continue
		}
		at := slices.IndexFunc(g.Nodes, func(n node) bool { return n.ID == string(s.Path) })
		if at < 0 {
			g.Nodes = append(g.Nodes, node{ID: string(s.Path), Kind: "gone"})
			at = len(g.Nodes) - 1
		}
		g.Nodes[at].Action, g.Nodes[at].mark = s.Kind.String(), s.Kind.Mark()
	}
}

// fills by the mark of a step, for pictures.
var fills = map[string]string{"+": "#c8e6c9", "-": "#ffcdd2", "±": "#e1bee7", "»": "#b2ebf2", "~": "#fff9c4"}

func drawDot(w io.Writer, g graph) {
	fmt.Fprintln(w, "digraph actord {\n  rankdir = LR\n  node [shape = box, fontname = sans]")
	for _, n := range g.Nodes {
		attrs := fmt.Sprintf("label = %q", label(n, "\n"))
		switch n.Kind {
		case "bridge":
			attrs += ", shape = cds"
		case "other":
			attrs += ", shape = ellipse"
		}
		if fill := fills[n.mark]; fill != "" {
			attrs += fmt.Sprintf(", style = filled, fillcolor = %q", fill)
		}
		fmt.Fprintf(w, "  %q [%s]\n", n.ID, attrs)
	}
	for _, e := range g.Edges {
		style := fmt.Sprintf("label = %q", e.Key)
		if e.Kind == "supervises" {
			style = "style = dashed, arrowhead = none"
		}
		fmt.Fprintf(w, "  %q -> %q [%s]\n", e.From, e.To, style)
	}
	fmt.Fprintln(w, "}")
}

func drawMermaid(w io.Writer, g graph) {
	fmt.Fprintln(w, "flowchart LR")
	ids := map[string]string{}
	id := func(s string) string {
		if ids[s] == "" {
			ids[s] = fmt.Sprintf("n%d", len(ids)+1)
		}
		return ids[s]
	}
	shapes := map[string][2]string{"actor": {"[", "]"}, "bridge": {"[/", "/]"}, "gone": {"[", "]"}, "other": {"([", "])"}}
	for _, n := range g.Nodes {
		s := shapes[n.Kind]
		fmt.Fprintf(w, "  %s%s\"%s\"%s\n", id(n.ID), s[0], strings.ReplaceAll(label(n, "<br>"), `"`, "#quot;"), s[1])
		if fill := fills[n.mark]; fill != "" {
			fmt.Fprintf(w, "  style %s fill:%s\n", id(n.ID), fill)
		}
	}
	for _, e := range g.Edges {
		if e.Kind == "supervises" {
			fmt.Fprintf(w, "  %s -.- %s\n", id(e.From), id(e.To))
		} else {
			fmt.Fprintf(w, "  %s -- \"%s\" --> %s\n", id(e.From), strings.ReplaceAll(e.Key, `"`, "#quot;"), id(e.To))
		}
	}
}

func label(n node, sep string) string {
	out := n.ID
	if n.What != "" {
		out += sep + n.What
	}
	if n.Action != "" {
		out += sep + n.Action
	}
	return out
}
