package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Layer is one line of the import table. Folders are named from the root; "builtin/*" stands for each folder directly
// below builtin, "examples/**" for each at any depth.
type Layer struct {
	Folder string
	May    string // the folders it may import, separated by spaces; "**" stands for all
}

// Library is a foreign module and the folders that know it, separated by spaces.
type Library struct {
	Module string
	Known  string
}

// Layers returns the imports between packages of this module that the table has no place for, and the packages that the
// table does not list. The last line that matches a folder counts.
func Layers(t *Tree, table []Layer) []string {
	var bad []string
	reported := map[string]bool{}
	for _, f := range t.code() {
		layer, ok := find(table, f.Folder())
		if !ok {
			if !reported[f.Folder()] {
				bad = append(bad, fmt.Sprintf("%s: the package has no line in the import table; add one", f.Folder()))
			}
			reported[f.Folder()] = true
			continue
		}
		for _, i := range f.Imports {
			if to, ours := t.own(i.Path); ours && !allows(layer, to) {
				bad = append(bad, fmt.Sprintf("%s:%d: %s may not import %s; its line allows: %s",
					f.Path, i.Line, f.Folder(), to, orNone(layer.May)))
			}
		}
	}
	return bad
}

// Libraries returns the imports of foreign modules by packages that are not listed to know them, and the foreign
// modules that are not listed.
func Libraries(t *Tree, table []Library) []string {
	var bad []string
	for _, f := range t.code() {
		for _, i := range f.Imports {
			if _, ours := t.own(i.Path); ours || !foreign(i.Path) {
				continue
			}
			at, module := fmt.Sprintf("%s:%d", f.Path, i.Line), t.moduleOf(i.Path)
			n := slices.IndexFunc(table, func(l Library) bool { return l.Module == module })
			switch {
			case n < 0:
				bad = append(bad, fmt.Sprintf("%s: module %s has no line in the library table; add one", at, module))
			case !matchAny(table[n].Known, f.Folder()):
				bad = append(bad, fmt.Sprintf("%s: %s may not import %s; that is for: %s", at, f.Folder(), i.Path, table[n].Known))
			}
		}
	}
	return bad
}

// code returns the files of this module that are not tests.
func (t *Tree) code() []*File {
	return slices.DeleteFunc(slices.Clone(t.Files), func(f *File) bool { return f.Test || f.Foreign })
}

// own returns the folder of an imported package of this module.
func (t *Tree) own(imported string) (folder string, ok bool) {
	if imported == t.Module {
		return ".", true
	}
	return strings.CutPrefix(imported, t.Module+"/")
}

// moduleOf returns the required module that a foreign package is part of, or the package when none is.
func (t *Tree) moduleOf(imported string) string {
	module := ""
	for _, m := range t.Requires {
		if (imported == m || strings.HasPrefix(imported, m+"/")) && len(m) > len(module) {
			module = m
		}
	}
	if module == "" {
		return imported
	}
	return module
}

// foreign reports whether an imported package is outside the standard library, whose first segment has no dot.
func foreign(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}

// find returns the last line that matches folder.
func find(table []Layer, folder string) (Layer, bool) {
	for _, l := range slices.Backward(table) {
		if match(l.Folder, folder) {
			return l, true
		}
	}
	return Layer{}, false
}

func allows(l Layer, to string) bool { return matchAny(l.May, to) }

func matchAny(patterns, folder string) bool {
	return slices.ContainsFunc(strings.Fields(patterns), func(p string) bool { return match(p, folder) })
}

// match compares a folder with a pattern of the tables.
func match(pattern, folder string) bool {
	if pattern == "**" {
		return true
	}
	if below, ok := strings.CutSuffix(pattern, "/**"); ok {
		return strings.HasPrefix(folder, below+"/")
	}
	ok, err := path.Match(pattern, folder)
	return ok && err == nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
