package plan

import (
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// Diff returns the steps from old to new. Old may be nil: then everything
// starts, and the settings of system, log and reload are no step, since whoever
// makes a system gives it those.
func Diff(old, new *spec.System) Plan { return Between(old, new, nil) }

// Between is Diff with a word on renames that the two do not speak of themselves,
// because there were others in between: moved holds old paths by new ones.
func Between(old, new *spec.System, moved map[actor.Path]actor.Path) Plan {
	d := differ{moved: moved}
	if old == nil {
		old = &spec.System{}
		d.subscribe(compare(nil, events(new)))
	} else {
		d.system(old, new)
	}
	d.renames(old, new)
	d.actors(old.Actors, new.Actors)
	d.bridges(old.Bridges, new.Bridges)
	d.plugins(old.Plugins, new.Plugins)
	d.topics(old.Topics, new.Topics)
	return Plan{Steps: d.ordered(), Unchanged: d.unchanged}
}

// differ collects steps by when they are done; see the package comment.
type differ struct {
	configure, bridgeStops, plugin, starts, moves, replaces, updates, reconfigures []Step
	openTopics, topicChanges, closeTopics                                          []Step
	subscriptions, bridgeChanges, bridgeStarts, stops, closes, process             []Step

	unchanged int
	moved     map[actor.Path]actor.Path  // see Between
	from      map[actor.Path]*spec.Actor // by its new path, what is renamed
	renamed   map[actor.Path]bool        // by its old path
}

func (d *differ) ordered() []Step {
	slices.Reverse(d.bridgeStops)
	slices.Reverse(d.stops)
	slices.Reverse(d.closes)
	return slices.Concat(
		d.configure, d.bridgeStops, d.plugin, d.openTopics, d.starts, d.moves, d.replaces, d.updates, d.reconfigures,
		d.topicChanges, d.subscriptions, d.bridgeChanges, d.bridgeStarts, d.stops, d.closes, d.closeTopics, d.process,
	)
}

// system compares what concerns the system as a whole.
func (d *differ) system(old, new *spec.System) {
	var configure, subscribe, process []Reason
	for _, r := range compare(old.Settings, new.Settings) {
		switch {
		case r.Class == actor.Cosmetic:
		case r.Class == actor.Process:
			process = append(process, r)
		case strings.HasPrefix(r.Key, eventsPrefix):
			subscribe = append(subscribe, r)
		default:
			configure = append(configure, r)
		}
	}
	d.configure = step(d.configure, Step{Kind: Configure, Reasons: configure})
	d.process = step(d.process, Step{Kind: Process, Reasons: process})
	d.subscribe(subscribe)
}

const eventsPrefix = "events."

// events are the settings of the subscriptions.
func events(s *spec.System) []spec.Setting {
	var out []spec.Setting
	for _, e := range s.Settings {
		if strings.HasPrefix(e.Key, eventsPrefix) {
			out = append(out, e)
		}
	}
	return out
}

func (d *differ) subscribe(reasons []Reason) {
	d.subscriptions = step(d.subscriptions, Step{Kind: Subscribe, Reasons: reasons})
}

// step appends a step that has a reason.
func step(to []Step, s Step) []Step {
	if len(s.Reasons) == 0 {
		return to
	}
	return append(to, s)
}

// actors compares the actors below one parent.
func (d *differ) actors(old, new []*spec.Actor) {
	old, new = d.differing(old, new)
	before := index(old, func(a *spec.Actor) actor.Path { return a.Path })
	for _, a := range new {
		was := before[a.Path]
		delete(before, a.Path)
		switch {
		case d.from[a.Path] != nil:
			d.move(d.from[a.Path], a)
		case was == nil:
			d.starts = append(d.starts, Step{Kind: Start, Path: a.Path, Actor: Change[spec.Actor]{New: a}})
		case was.Hash == a.Hash:
			d.unchanged += 1 + below(a)
		default:
			d.actor(was, a)
		}
	}
	for _, a := range old {
		if before[a.Path] != nil && !d.renamed[a.Path] {
			d.stops = append(d.stops, Step{Kind: Stop, Path: a.Path, Actor: Change[spec.Actor]{Old: a}})
		}
	}
}

// differing passes over the actors that stand the same at the beginning and at the
// end of both, so that a change of one among very many costs little.
func (d *differ) differing(old, new []*spec.Actor) (restOld, restNew []*spec.Actor) {
	same := func(o, n *spec.Actor) bool {
		return (o == n || o.Path == n.Path && o.Hash == n.Hash) && d.from[n.Path] == nil && !d.renamed[o.Path]
	}
	for len(old) > 0 && len(new) > 0 && same(old[0], new[0]) {
		d.unchanged += 1 + below(new[0])
		old, new = old[1:], new[1:]
	}
	for len(old) > 0 && len(new) > 0 && same(old[len(old)-1], new[len(new)-1]) {
		d.unchanged += 1 + below(new[len(new)-1])
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	return old, new
}

// actor compares an actor that stays. Replacing it makes all below it anew, so
// they have no steps of their own.
func (d *differ) actor(old, new *spec.Actor) {
	s := Step{Path: new.Path, Actor: Change[spec.Actor]{Old: old, New: new}}
	own, args := compare(old.Settings, new.Settings), compare(old.ArgSettings, new.ArgSettings)
	if all := slices.Concat(own, args); slices.ContainsFunc(all, isClass(actor.Replace)) {
		s.Kind, s.Reasons = Replace, relevant(all)
		if old.Behaviour != new.Behaviour {
			s.Reasons = relevant(own) // arguments of two behaviours do not compare
		}
		d.replaces = append(d.replaces, s)
		return
	}
	update, reconfigure, process := s, s, s
	update.Kind, update.Reasons = Update, applied(own)
	reconfigure.Kind, reconfigure.Reasons = Reconfigure, applied(args)
	process.Kind, process.Reasons = Process, ofClass(slices.Concat(own, args), actor.Process)
	if len(update.Reasons)+len(reconfigure.Reasons) == 0 {
		d.unchanged++
	}
	d.updates = step(d.updates, update)
	d.reconfigures = step(d.reconfigures, reconfigure)
	d.process = step(d.process, process)
	d.actors(old.Children, new.Children)
}

// replaces reports whether a setting differs that makes an actor anew.
func replaces(old, new *spec.Actor) bool {
	return slices.ContainsFunc(compare(old.Settings, new.Settings), isClass(actor.Replace)) ||
		slices.ContainsFunc(compare(old.ArgSettings, new.ArgSettings), isClass(actor.Replace))
}

func (d *differ) bridges(old, new []*spec.Bridge) {
	before := index(old, func(b *spec.Bridge) actor.Path { return b.Path })
	for _, b := range new {
		was := before[b.Path]
		delete(before, b.Path)
		switch {
		case was == nil:
			d.bridgeStarts = append(d.bridgeStarts, Step{Kind: Start, Path: b.Path, Bridge: Change[spec.Bridge]{New: b}})
		case was.Hash == b.Hash:
			d.unchanged++
		default:
			d.bridge(was, b)
		}
	}
	for _, b := range old {
		if before[b.Path] != nil {
			d.bridgeStops = append(d.bridgeStops, Step{Kind: Stop, Path: b.Path, Bridge: Change[spec.Bridge]{Old: b}})
		}
	}
}

// bridge gives a bridge that stays one step, which is the strongest that a
// setting wants, with all that differs.
func (d *differ) bridge(old, new *spec.Bridge) {
	all := compare(old.Settings, new.Settings)
	s := Step{Path: new.Path, Bridge: Change[spec.Bridge]{Old: old, New: new}, Reasons: applied(all)}
	process := s
	process.Kind, process.Reasons = Process, ofClass(all, actor.Process)
	d.process = step(d.process, process)
	if len(s.Reasons) == 0 {
		d.unchanged++
		return
	}
	has := func(c actor.Class) bool { return slices.ContainsFunc(all, isClass(c)) }
	switch {
	case has(actor.Replace):
		s.Kind = Replace
		if old.Type != new.Type {
			s.Reasons = ofClass(all, actor.Replace)
		}
	case has(actor.Reconnect):
		s.Kind = Reconnect
	case has(actor.Rewire):
		s.Kind = Rewire
	default:
		s.Kind = Reconfigure
	}
	d.bridgeChanges = append(d.bridgeChanges, s)
}

func (d *differ) plugins(old, new []*spec.Plugin) {
	before := index(old, func(p *spec.Plugin) string { return p.Name })
	for _, p := range new {
		was := before[p.Name]
		delete(before, p.Name)
		switch {
		case was == nil:
			d.plugin = append(d.plugin, Step{Kind: Open, Plugin: Change[spec.Plugin]{New: p}})
		case was.Hash != p.Hash:
			change := Change[spec.Plugin]{Old: was, New: p}
			d.plugin = step(d.plugin, Step{Kind: Swap, Plugin: change, Reasons: relevant(compare(was.Settings, p.Settings))})
		}
	}
	for _, p := range old {
		if before[p.Name] != nil {
			d.closes = append(d.closes, Step{Kind: Close, Plugin: Change[spec.Plugin]{Old: p}})
		}
	}
}

func index[K comparable, T any](list []*T, key func(*T) K) map[K]*T {
	out := make(map[K]*T, len(list))
	for _, e := range list {
		out[key(e)] = e
	}
	return out
}

// compare returns what differs, in the order of the new settings, then what is gone.
func compare(old, new []spec.Setting) []Reason {
	before := make(map[string]spec.Setting, len(old))
	for _, s := range old {
		before[s.Key] = s
	}
	var out []Reason
	for _, s := range new {
		was, ok := before[s.Key]
		delete(before, s.Key)
		switch {
		case !ok:
			out = append(out, Reason{Key: s.Key, To: s.Shown(), Class: s.Class})
		case was.Text != s.Text:
			out = append(out, Reason{Key: s.Key, From: was.Shown(), To: s.Shown(), Class: s.Class})
		}
	}
	for _, s := range old {
		if _, gone := before[s.Key]; gone {
			out = append(out, Reason{Key: s.Key, From: s.Shown(), Class: s.Class})
		}
	}
	return out
}

func isClass(c actor.Class) func(Reason) bool { return func(r Reason) bool { return r.Class == c } }

func ofClass(all []Reason, c actor.Class) []Reason {
	return slices.DeleteFunc(slices.Clone(all), func(r Reason) bool { return r.Class != c })
}

// relevant leaves out what makes no difference.
func relevant(all []Reason) []Reason {
	return slices.DeleteFunc(slices.Clone(all), isClass(actor.Cosmetic))
}

// applied leaves out what makes no difference and what a reload cannot change.
func applied(all []Reason) []Reason { return slices.DeleteFunc(relevant(all), isClass(actor.Process)) }
