package actord

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// render prints the resolved configuration with the place that each value comes
// from. Includes, substitutions, profiles and overrides are resolved; templates
// and defaults stand where they are written. Secrets are masked.
func (a *app) render(ctx context.Context, args []string) int {
	_, rev, err := a.load(ctx, args)
	if err != nil {
		return a.fail(err)
	}
	r := &renderer{w: a.out, secret: secretKeys(rev)}
	if wd, err := filepath.Abs("."); err == nil {
		r.base = wd + string(filepath.Separator)
	}
	root := rev.Tree.Lookup("actord")
	fmt.Fprintln(a.out, "actord {")
	for n := range root.Kids() {
		r.field(n, 1)
	}
	fmt.Fprintln(a.out, "}")
	return ExitOK
}

// secretKeys are the names of the keys whose values the schemas call secret,
// wherever they stand: a template may hold what an actor takes over.
func secretKeys(rev *topology.Revision) map[string]bool {
	out := map[string]bool{}
	add := func(list []spec.Setting) {
		for _, s := range list {
			if s.Shown() == actor.Masked {
				out[s.Key[strings.LastIndexByte(s.Key, '.')+1:]] = true
			}
		}
	}
	add(rev.Spec.Settings)
	for a := range rev.Spec.All() {
		add(a.ArgSettings)
	}
	for _, b := range rev.Spec.Bridges {
		add(b.Settings)
	}
	for _, p := range rev.Spec.Plugins {
		add(p.Settings)
	}
	return out
}

// renderer writes nodes as HOCON with their places in comments.
type renderer struct {
	w      io.Writer
	base   string // is left out of places
	secret map[string]bool
}

func (r *renderer) field(n *hocon.Node, depth int) {
	fmt.Fprintf(r.w, "%s%s", strings.Repeat("  ", depth), key(n.Key()))
	switch n.Kind {
	case hocon.Object:
		r.block(n, depth, " {", "}", func(kid *hocon.Node) { r.field(kid, depth+1) })
	case hocon.Array:
		r.list(n, depth)
	default:
		fmt.Fprintf(r.w, " = %s%s\n", r.text(n), r.place(n))
	}
}

func (r *renderer) block(n *hocon.Node, depth int, open, closed string, each func(*hocon.Node)) {
	if n.Len() == 0 {
		fmt.Fprintf(r.w, "%s %s%s\n", open, closed, r.place(n))
		return
	}
	fmt.Fprintln(r.w, open)
	if n.Kind == hocon.Array {
		for _, e := range n.Elems() {
			each(e)
		}
	} else {
		for kid := range n.Kids() {
			each(kid)
		}
	}
	fmt.Fprintf(r.w, "%s%s\n", strings.Repeat("  ", depth), closed)
}

func (r *renderer) list(n *hocon.Node, depth int) {
	r.block(n, depth, " = [", "]", func(e *hocon.Node) { r.element(e, depth+1) })
}

func (r *renderer) element(e *hocon.Node, depth int) {
	indent := strings.Repeat("  ", depth)
	fmt.Fprint(r.w, indent)
	switch e.Kind {
	case hocon.Object:
		r.block(e, depth, "{", "}", func(kid *hocon.Node) { r.field(kid, depth+1) })
	case hocon.Array:
		r.block(e, depth, "[", "]", func(kid *hocon.Node) { r.element(kid, depth+1) })
	default:
		fmt.Fprintf(r.w, "%s%s\n", r.text(e), r.place(e))
	}
}

// text is a scalar as HOCON takes it.
func (r *renderer) text(n *hocon.Node) string {
	named := n
	for named.Key() == "" && named.Parent() != nil {
		named = named.Parent() // an element is as secret as its list
	}
	// {env = …} and {file = …} name where a secret is; they are none themselves.
	refers := r.secret[named.Parent().Key()] && (named.Key() == "env" || named.Key() == "file")
	if r.secret[named.Key()] && !refers {
		return strconv.Quote(actor.Masked)
	}
	text := n.Text
	if n.Kind == hocon.String {
		text = strconv.Quote(text)
	}
	return spec.Setting{Key: strings.TrimPrefix(named.Path(), "actord."), Text: text}.Shown()
}

func (r *renderer) place(n *hocon.Node) string {
	if n.Pos.IsZero() {
		return ""
	}
	return "  # " + strings.TrimPrefix(n.Pos.String(), r.base)
}

// key is a key as HOCON takes it.
func key(k string) string {
	plain := k != "" && !strings.ContainsFunc(k, func(c rune) bool {
		return !(c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	})
	if plain {
		return k
	}
	return strconv.Quote(k)
}
