package hocon

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// included is what an include statement asks for.
type included struct {
	at       place
	name     string
	form     string // "", file, url, classpath or package
	required bool
}

// include reads the rest of an include statement and merges what it names into o.
func (p *parser) include(o *object) {
	at := p.at(p.off - len("include"))
	p.lines()
	inc := included{at: at}
	closers := 0
	for p.err == nil && p.peek() != '"' {
		word := p.includeWord()
		if word == "required" && closers == 0 {
			inc.required = true
		} else if slices.Contains([]string{"file", "url", "classpath", "package"}, word) && inc.form == "" {
			inc.form = word
		} else {
			p.badInclude(word)
			return
		}
		closers++
		p.spaces()
	}
	inc.at = p.at(p.off)
	inc.name = p.quoted()
	for range closers {
		p.spaces()
		if !p.take(')') {
			p.unexpected("close the parenthesis of the include")
			return
		}
	}
	if p.err != nil {
		return
	}
	mark := p.off
	p.spaces()
	if !p.valueEnds() {
		p.fail(p.off, "an include stands alone, with one name", "text after an include")
		return
	}
	p.off = mark
	p.load.include(p, o, inc)
}

// includeWord reads required( or file( and the like and returns the word.
func (p *parser) includeWord() string {
	start := p.off
	for p.off < len(p.text) && p.text[p.off] >= 'a' && p.text[p.off] <= 'z' {
		p.off++
	}
	word := p.text[start:p.off]
	if !p.take('(') {
		p.off = start
		return ""
	}
	return word
}

func (p *parser) badInclude(word string) {
	const forms = `include "name", include required("name"), include file("/name"); as a key write "include"`
	switch {
	case word != "":
		p.fail(p.off-1-len(word), forms, "there is no include form %s(…)", word)
	case p.peek() == '=' || p.peek() == ':' || p.peek() == '{':
		p.fail(p.off, forms, "include is no key")
	default:
		p.fail(p.off, forms, "the name in an include must be in quotes")
	}
}

// include reads the files that a statement names and merges them into o.
func (l *loader) include(p *parser, o *object, inc included) {
	fail := func(hint, format string, args ...any) {
		l.errs = append(l.errs, errorAt(inc.at, joinPath(p.path), hint, format, args...))
	}
	switch {
	case inc.form == "file" && !filepath.IsAbs(inc.name):
		fail(`write include "name", which is relative to the including file`, "file(…) wants an absolute name, not %q", inc.name)
		return
	case inc.form != "" && inc.form != "file", strings.Contains(inc.name, "://"):
		fail("only files can be included", "include of %q by %s is not supported", inc.name, cmpOr(inc.form, "url"))
		return
	case inc.name == "":
		fail("", "the include names no file")
		return
	case l.reads > l.limits.Files:
		return // reported already
	case len(l.chain) >= l.limits.Includes:
		fail("", "more than %d files include one another in a row", l.limits.Includes)
		return
	}
	found := false
	for _, name := range candidates(p.src.name, inc.name) {
		ok, err := l.includeFile(p, o, name, inc)
		if err != nil {
			fail("", "the included file %s cannot be read: %s", name, reason(err))
			return
		}
		found = found || ok
	}
	if exact := relativeTo(p.src.name, inc.name); !found && len(candidates(p.src.name, inc.name)) > 1 {
		ok, err := l.includeFile(p, o, exact, inc)
		if err != nil {
			fail("", "the included file %s cannot be read: %s", exact, reason(err))
			return
		}
		found = ok
	}
	if inc.required && !found {
		fail("leave out required(…) if it may be missing", "the required file %s does not exist", relativeTo(p.src.name, inc.name))
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// candidates are the files that a name stands for, in the order of merging.
func candidates(from, name string) []string {
	name = relativeTo(from, name)
	switch filepath.Ext(name) {
	case ".conf", ".json", ".properties":
		return []string{name}
	}
	return []string{name + ".properties", name + ".json", name + ".conf"}
}

func relativeTo(from, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(from), name)
}

// includeFile merges one file into o; it is false when there is none.
func (l *loader) includeFile(p *parser, o *object, name string, inc included) (bool, error) {
	abs := absolute(name)
	if i := slices.Index(l.chain, abs); i >= 0 {
		loop := append(slices.Clone(l.chain[i:]), abs)
		l.errs = append(l.errs, errorAt(inc.at, joinPath(p.path), "", "the files include one another without end: %s", strings.Join(loop, " includes ")))
		return true, nil
	}
	if !l.confined(abs) {
		l.errs = append(l.errs, errorAt(inc.at, joinPath(p.path), "move it there; a link must stay inside as well", "%s is outside of the folder of the root file, %s", name, l.roots[0]))
		return true, nil
	}
	if l.reads++; l.reads > l.limits.Files {
		return false, fmt.Errorf("more than %d files are included", l.limits.Files)
	}
	text, err := l.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		l.missing = appendNew(l.missing, abs)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.files = appendNew(l.files, abs)
	src := &source{name: name, text: string(text), from: inc.at}
	var root raw
	if filepath.Ext(name) == ".properties" {
		root = l.parseProperties(src)
	} else {
		root = l.parse(src, abs, p)
	}
	if fields, ok := root.(*object); ok {
		o.merge(fields)
	} else {
		l.errs = append(l.errs, errorAt(inc.at, joinPath(p.path), "", "the included file %s holds an array, not fields", name))
	}
	return true, nil
}

// confine notes the folders that includes must stay in: that of the root file,
// and that of what it is a link to.
func (l *loader) confine(root string) {
	if l.opts.Anywhere {
		return
	}
	abs := absolute(root)
	l.roots = []string{resolved(filepath.Dir(abs)), filepath.Dir(resolved(abs))}
}

// confined reports whether a file is in one of these folders, links resolved.
func (l *loader) confined(abs string) bool {
	if l.roots == nil {
		return true
	}
	file := resolved(abs)
	return slices.ContainsFunc(l.roots, func(root string) bool {
		rel, err := filepath.Rel(root, file)
		return err == nil && filepath.IsLocal(rel)
	})
}

// resolved resolves the links in the name of a file, of which the last parts need not exist.
func resolved(abs string) string {
	if file, err := filepath.EvalSymlinks(abs); err == nil {
		return file
	}
	if dir := filepath.Dir(abs); dir != abs {
		return filepath.Join(resolved(dir), filepath.Base(abs))
	}
	return abs
}

func appendNew(all []string, s string) []string {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}
