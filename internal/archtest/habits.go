package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
)

// Limit bounds the length of files and functions, in lines.
type Limit struct{ File, Func int }

// Comments returns the packages that have no package comment.
func Comments(t *Tree) []string {
	has := map[string]bool{}
	for _, f := range t.Files {
		if !f.Test {
			has[f.Folder()] = has[f.Folder()] || f.Syntax.Doc != nil
		}
	}
	var bad []string
	for _, folder := range slices.Sorted(maps.Keys(has)) {
		if !has[folder] {
			bad = append(bad, fmt.Sprintf("%s: no package comment; say what the package is for, promises and leaves to others", folder))
		}
	}
	return bad
}

// Inits returns the init functions of written code, which act before main can decide.
func Inits(t *Tree) []string {
	var bad []string
	for f, fn := range t.functions() {
		if fn.Recv == nil && fn.Name.Name == "init" {
			bad = append(bad, fmt.Sprintf("%s:%d: init function; call it from where it is needed", f.Path, t.line(fn)))
		}
	}
	return bad
}

// Sleeps returns the calls of time.Sleep in tests whose file does not mention synctest: outside a bubble a sleep is a
// guess about the machine.
func Sleeps(t *Tree) []string {
	var bad []string
	for _, f := range t.Files {
		if !f.Test || f.mentions("synctest") {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if isSleep(n) {
				bad = append(bad, fmt.Sprintf("%s:%d: time.Sleep in a test; wait for the event, or use a synctest bubble", f.Path, t.line(n)))
			}
			return true
		})
	}
	return bad
}

func isSleep(n ast.Node) bool {
	s, ok := n.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Sleep" {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "time"
}

// Lengths returns the files and functions of written code that are longer than they may be.
func Lengths(t *Tree, code, test Limit) []string {
	limit := func(f *File) Limit {
		if f.Test {
			return test
		}
		return code
	}
	var bad []string
	for _, f := range t.Files {
		if most := limit(f).File; !f.Generated && f.Lines > most {
			bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d; split it by thought", f.Path, f.Lines, most))
		}
	}
	for f, fn := range t.functions() {
		lines := t.fset.Position(fn.End()).Line - t.line(fn.Type) + 1
		if most := limit(f).Func; lines > most {
			bad = append(bad, fmt.Sprintf("%s:%d: %s has %d lines, at most %d; name its parts", f.Path, t.line(fn.Type), fn.Name.Name, lines, most))
		}
	}
	return bad
}

// functions yields every function and method of written code, with its file.
func (t *Tree) functions() func(yield func(*File, *ast.FuncDecl) bool) {
	return func(yield func(*File, *ast.FuncDecl) bool) {
		for _, f := range t.Files {
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && !f.Generated && !yield(f, fn) {
					return
				}
			}
		}
	}
}
