package spec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// problems collects all mistakes of a file.
type problems struct {
	tree     *hocon.Tree
	errs     hocon.Errors
	seen     map[string]*noted
	warnings hocon.Errors
	warned   map[string]bool
	reported int    // all that was added, repetitions counted
	user     *entry // the actor that is read; nil when it is none
}

// noted is a mistake and how many actors have it.
type noted struct {
	err   *hocon.Error
	users int
	first *entry
}

// add notes a mistake once, however many sections it was merged into.
func (p *problems) add(pos hocon.Pos, path string, err error) {
	p.note(&hocon.Error{Pos: pos, Path: path, Err: err}, nil)
}

// note notes a mistake. User is the actor that has it by way of a template or a
// foreach; nil when the mistake stands in the actor's own block.
func (p *problems) note(e *hocon.Error, user *entry) {
	p.reported++
	if p.seen == nil {
		p.seen = map[string]*noted{}
	}
	text := e.Error()
	n := p.seen[text]
	if n == nil && len(p.errs) >= maxMistakes {
		return
	}
	if n == nil {
		n = &noted{err: e, first: user}
		e.Excerpt = p.tree.Excerpt(e.Pos)
		p.seen[text] = n
		p.errs = append(p.errs, e)
	}
	if user == nil {
		return
	}
	if n.first == nil {
		n.first = user // until now it was seen in the template alone
	}
	n.users++
	pos := n.first.pos()
	rel := hocon.Related{Pos: pos, Msg: "used by " + string(n.first.path), Excerpt: p.tree.Excerpt(pos)}
	if n.users > 1 {
		rel.Msg += fmt.Sprintf(" and %d more", n.users-1)
	}
	n.err.Related = []hocon.Related{rel}
}

// maxMistakes is how many mistakes, and how many warnings, are told at once.
const maxMistakes = 1000

// place notes a mistake at or below a node.
func (p *problems) place(pos hocon.Pos, n *hocon.Node, rest []string, err error) {
	e := &hocon.Error{Pos: pos, Path: shown(n, rest), Err: err}
	if p.user != nil && (p.user.group.many || strings.HasPrefix(e.Path, "templates.")) {
		p.note(e, p.user)
		return
	}
	p.note(e, nil)
}

// at notes a mistake in the value at a path below v. For a value that is not
// there it is shown at the key that should hold it.
func (p *problems) at(v *value, path []string, err error) {
	n, rest := v.find(path)
	pos := n.Pos
	if len(rest) > 0 && !n.KeyPos.IsZero() {
		pos = n.KeyPos
	}
	p.place(pos, n, rest, err)
}

// atKey notes a mistake in the key at a path below v.
func (p *problems) atKey(v *value, path []string, err error) {
	n, rest := v.find(path)
	pos := n.KeyPos
	if pos.IsZero() {
		pos = n.Pos
	}
	p.place(pos, n, rest, err)
}

// fields notes what Schema.Decode found in the value at a path below v.
func (p *problems) fields(v *value, at []string, errs []actor.FieldError) {
	for _, e := range errs {
		path := slices.Concat(at, e.Path)
		if e.Key {
			p.atKey(v, path, e.Err)
			continue
		}
		p.at(v, path, e.Err)
	}
}

// prepare notes what Factory.Prepare found. A FieldError says where.
func (p *problems) prepare(v *value, at []string, err error) {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			p.prepare(v, at, one)
		}
		return
	}
	if e, ok := errors.AsType[actor.FieldError](err); ok {
		p.fields(v, at, []actor.FieldError{e})
		return
	}
	if key, rest, ok := strings.Cut(err.Error(), ": "); ok && !strings.ContainsAny(key, " \"") {
		path := slices.Concat(at, splitKey(key)) // many begin with the key that they are about
		if _, missing := v.find(path); len(missing) == 0 {
			p.at(v, path, errors.New(rest))
			return
		}
	}
	p.at(v, at, err)
}

// expr notes a mistake in an expression, at its place inside the text where the
// text stands in the file as it is.
func (p *problems) expr(v *value, path []string, err error) {
	e, ok := errors.AsType[*rule.Error](err)
	if !ok {
		p.at(v, path, err)
		return
	}
	n, rest := v.find(path)
	p.place(p.inside(n, e), n, rest, fmt.Errorf("expression: %s", e.Msg))
}

// inside returns the place of e, counted from where its text begins in the file.
func (p *problems) inside(n *hocon.Node, e *rule.Error) hocon.Pos {
	pos := n.Pos
	line, caret, ok := strings.Cut(p.tree.Excerpt(pos), "\n")
	if !ok || e.Line == 0 {
		return pos
	}
	written := string([]rune(line)[min(utf8.RuneCountInString(caret)-1, utf8.RuneCountInString(line)):])
	first, _, more := strings.Cut(n.Text, "\n")
	open := 0
	switch {
	case strings.HasPrefix(written, `"""`+first):
		open = 3
	case more:
		return pos
	case strings.HasPrefix(written, `"`+first):
		open = 1
	case !strings.HasPrefix(written, first):
		return pos
	}
	if e.Line > 1 {
		return hocon.Pos{File: pos.File, Line: pos.Line + e.Line - 1, Col: e.Col}
	}
	pos.Col += open + e.Col - 1
	return pos
}

// result returns all mistakes in reading order, the main file first; nil when
// there are none.
func (p *problems) result() error {
	if len(p.errs) == 0 {
		return nil
	}
	return p.sorted(p.errs)
}

// sorted puts mistakes in reading order, the main file first, and takes secrets
// out of them.
func (p *problems) sorted(errs hocon.Errors) hocon.Errors {
	main := p.tree.Root.Pos.File
	for _, e := range errs {
		p.mask(e)
		e.Included = p.tree.Included(e.Pos.File)
	}
	slices.SortStableFunc(errs, func(a, b *hocon.Error) int {
		return cmp.Or(
			compareBool(b.Pos.File == main, a.Pos.File == main),
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col),
		)
	})
	return errs
}

// mask takes the texts of secrets out of a mistake.
func (p *problems) mask(e *hocon.Error) {
	for _, text := range p.tree.Hidden() {
		if e.Msg == "" && e.Err != nil && strings.Contains(e.Err.Error(), text) {
			e.Msg = e.Err.Error()
		}
		if strings.Contains(e.Msg, text) {
			e.Msg, e.Err = strings.ReplaceAll(e.Msg, text, masked), nil
		}
		e.Excerpt = hocon.MaskExcerpt(e.Excerpt, []string{text})
		for i := range e.Related {
			e.Related[i].Excerpt = hocon.MaskExcerpt(e.Related[i].Excerpt, []string{text})
		}
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
