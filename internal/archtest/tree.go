// Package archtest keeps the shape of this repository: which package may import which, where each foreign module is
// known, how long files and functions get, and a few habits that reviews would otherwise have to catch.
//
// A rule takes a Tree, the parsed source, and returns what breaks it, each with its place and the remedy. The tables
// that the rules are held against stand in the tests of this package, where a new package or module gets its line.
package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// File is one Go source file.
type File struct {
	Path      string // from the root of the tree, with slashes
	Test      bool
	Generated bool
	Foreign   bool // of a module below the root, which has its own go.mod
	Lines     int
	Imports   []Import
	Syntax    *ast.File
	mentions  func(word string) bool
}

// Import is one import of a file.
type Import struct {
	Path string
	Line int
}

// Folder is where the file is, "." for the root.
func (f *File) Folder() string { return path.Dir(f.Path) }

// Tree is the parsed source of a module.
type Tree struct {
	Module   string   // the module's path
	Requires []string // the paths of the modules it requires
	Files    []*File  // sorted by path
	fset     *token.FileSet
}

// Load parses every Go file below fsys, whose root holds go.mod. It leaves out what the go command ignores (testdata,
// names that start with a dot or an underscore) and fails on a file that does not parse.
func Load(fsys fs.FS) (*Tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, fmt.Errorf("read the module's root: %w", err)
	}
	t := &Tree{fset: token.NewFileSet()}
	t.Module, t.Requires = parseMod(string(mod))
	foreign := map[string]bool{} // folders of other modules
	var errs []error
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if ignored(d.Name()) {
				return fs.SkipDir
			}
			foreign[name] = foreign[path.Dir(name)] || name != "." && exists(fsys, path.Join(name, "go.mod"))
			return nil
		case path.Ext(name) != ".go" || ignored(d.Name()):
			return nil
		}
		f, err := t.parse(fsys, name)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		f.Foreign = foreign[f.Folder()]
		t.Files = append(t.Files, f)
		return nil
	})
	return t, errors.Join(append(errs, err)...)
}

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// ignored reports whether the go command passes over a name.
func ignored(name string) bool {
	return name == "testdata" || name == "vendor" || len(name) > 1 && (name[0] == '.' || name[0] == '_')
}

func (t *Tree) parse(fsys fs.FS, name string) (*File, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &File{
		Path:      name,
		Test:      strings.HasSuffix(name, "_test.go"),
		Generated: ast.IsGenerated(syntax),
		Lines:     bytes.Count(text, []byte("\n")),
		Syntax:    syntax,
		mentions:  func(word string) bool { return bytes.Contains(text, []byte(word)) },
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		f.Imports = append(f.Imports, Import{Path: imported, Line: t.line(spec)})
	}
	return f, nil
}

func (t *Tree) line(n ast.Node) int { return t.fset.Position(n.Pos()).Line }

// parseMod reads the module's path and those of the modules it requires.
func parseMod(text string) (module string, requires []string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "module":
			module = fields[1]
		case len(fields) >= 3 && fields[0] == "require":
			requires = append(requires, fields[1])
		case len(fields) >= 2 && strings.HasPrefix(line, "\t") && strings.HasPrefix(fields[1], "v"):
			requires = append(requires, fields[0])
		}
	}
	return module, requires
}
