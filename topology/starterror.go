package topology

import (
	"errors"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// startError says that an actor or a bridge did not start.
type startError struct {
	path actor.Path
	err  error
}

// Error returns the path and why.
func (e *startError) Error() string { return string(e.path) + ": " + e.err.Error() }

// Unwrap returns why.
func (e *startError) Unwrap() error { return e.err }

// placed gives the place in the file to what says which actors or bridges did not
// start. Other errors stay as they are.
func (r *Revision) placed(err error) error {
	var places hocon.Errors
	var others []error
	for _, e := range flat(err) {
		s, ok := errors.AsType[*startError](e)
		if !ok {
			others = append(others, e)
			continue
		}
		pos := r.place(s.path)
		places = append(places, &hocon.Error{Pos: pos, Path: keyOf(s.path), Msg: "it does not start: " + strings.TrimPrefix(s.err.Error(), "start: "), Err: s.err, Excerpt: r.Tree.Excerpt(pos)})
	}
	if len(places) == 0 {
		return err
	}
	return errors.Join(append([]error{places}, others...)...)
}

// flat returns what was joined into err, however deep.
func flat(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flat(e)...)
	}
	return all
}

// place is where the file names what lives at path, or the actor above it.
func (r *Revision) place(path actor.Path) hocon.Pos {
	for _, b := range r.Spec.Bridges {
		if b.Path == path {
			return b.Pos
		}
	}
	var found *spec.Actor
	for a := range r.Spec.All() {
		if path.Under(a.Path) {
			found = a
		}
	}
	if found == nil {
		return hocon.Pos{}
	}
	return found.Pos
}

// keyOf is the key that names what lives at path.
func keyOf(path actor.Path) string {
	if name, ok := strings.CutPrefix(string(path), "/system/bridges/"); ok {
		return "bridges." + name
	}
	names := strings.TrimPrefix(string(path), "/user/")
	return "actors." + strings.ReplaceAll(names, "/", ".children.")
}
