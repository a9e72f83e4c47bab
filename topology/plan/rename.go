package plan

import (
	"slices"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// renames finds the actors that get another path: the new one says where it was,
// or the old one says that it was where it goes back to. Those above them must stay,
// since what comes or goes with its parent is started or stopped with it, and the
// behaviour must be the same.
func (d *differ) renames(old, new *spec.System) {
	if len(d.moved) == 0 && !renaming(old) && !renaming(new) {
		return
	}
	d.from, d.renamed = map[actor.Path]*spec.Actor{}, map[actor.Path]bool{}
	before, after := byPath(old), byPath(new)
	goesTo := map[actor.Path]*spec.Actor{}
	for a := range old.All() {
		if a.Was != "" {
			goesTo[a.Was] = a
		}
	}
	for a := range new.All() {
		if before[a.Path] != nil {
			continue
		}
		for _, o := range []*spec.Actor{before[d.moved[a.Path]], before[a.Was], goesTo[a.Path]} {
			if o == nil || after[o.Path] != nil || d.renamed[o.Path] || o.Behaviour != a.Behaviour {
				continue
			}
			if stays(before, after, a.Path.Parent()) && stays(before, after, o.Path.Parent()) {
				d.from[a.Path], d.renamed[o.Path] = o, true
				break
			}
		}
	}
}

// renaming reports whether an actor says that it was elsewhere.
func renaming(s *spec.System) bool {
	for a := range s.All() {
		if a.Was != "" {
			return true
		}
	}
	return false
}

func byPath(s *spec.System) map[actor.Path]*spec.Actor {
	out := map[actor.Path]*spec.Actor{}
	for a := range s.All() {
		out[a.Path] = a
	}
	return out
}

// stays reports whether an actor and all above it are there before and after, and
// none of them is replaced.
func stays(before, after map[actor.Path]*spec.Actor, p actor.Path) bool {
	for ; p != actor.User; p = p.Parent() {
		old, new := before[p], after[p]
		if old == nil || new == nil || replaces(old, new) {
			return false
		}
	}
	return true
}

func (d *differ) move(old, new *spec.Actor) {
	reasons := relevant(slices.Concat(compare(old.Settings, new.Settings), compare(old.ArgSettings, new.ArgSettings)))
	d.moves = append(d.moves, Step{Kind: Rename, Path: new.Path, Reasons: reasons, Actor: Change[spec.Actor]{Old: old, New: new}})
}
