package plan

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
)

// Mark returns the sign of a kind of step: + for what comes, - for what goes, ±
// for what is made anew, » for what moves, ~ for what changes in place, ! for what
// is only reported.
func (k Kind) Mark() string { return kinds[k].mark }

// Subject returns what the step is about: a path, or "system", "plugin NAME" and
// the like.
func (s Step) Subject() string { return s.subject() }

// MarshalJSON writes the step for tools; secrets are masked.
func (s Step) MarshalJSON() ([]byte, error) {
	out := struct {
		Mark    string     `json:"mark"`
		Action  string     `json:"action"`
		Subject string     `json:"subject"`
		Path    actor.Path `json:"path,omitempty"`
		Was     actor.Path `json:"was,omitempty"`
		Below   int        `json:"below,omitempty"`
		Reasons []Reason   `json:"reasons,omitempty"`
	}{Mark: s.Kind.Mark(), Action: strings.TrimSuffix(s.Kind.String(), ":"), Subject: s.subject(), Path: s.Path, Reasons: s.Reasons}
	if s.Kind == Rename {
		out.Was = s.Actor.Old.Path
	}
	if a := cmp.Or(s.Actor.New, s.Actor.Old); a != nil && s.Kind != Update && s.Kind != Reconfigure {
		out.Below = below(a)
	}
	return json.Marshal(out)
}

// MarshalJSON writes the reason for tools.
func (r Reason) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Key   string      `json:"key"`
		From  string      `json:"from,omitempty"`
		To    string      `json:"to,omitempty"`
		Class actor.Class `json:"class"`
	}{r.Key, r.From, r.To, r.Class})
}

// Line is one line of a plan as a tree: a step, or an actor that no step touches
// and that has one below it.
type Line struct {
	Depth int
	Text  string
	Kind  Kind
	Step  bool // false: it is only there for the tree
}

// Tree returns the steps in the order of the tree that they change, those of the
// system, the plugins and the topics first. It is not the order in which they are
// done; see Plan.Steps.
func (p Plan) Tree() []Line {
	var lines []Line
	var rest []Step
	for _, s := range p.Steps {
		if s.Path == "" {
			lines = append(lines, Line{Text: s.String(), Kind: s.Kind, Step: true})
		} else {
			rest = append(rest, s)
		}
	}
	slices.SortStableFunc(rest, func(a, b Step) int { return comparePaths(a.Path, b.Path) })
	var shown actor.Path
	for _, s := range rest {
		for _, above := range missing(shown, s.Path.Parent()) {
			lines = append(lines, Line{Depth: depth(above), Text: "  " + string(above)})
		}
		lines = append(lines, Line{Depth: depth(s.Path), Text: s.String(), Kind: s.Kind, Step: true})
		shown = s.Path
	}
	return lines
}

// comparePaths sorts by segments, so that all of a tree stand together.
func comparePaths(a, b actor.Path) int {
	return slices.Compare(strings.Split(string(a), "/"), strings.Split(string(b), "/"))
}

// missing are the ancestors of a line, from the top, that the line before is not
// in, without /user and /system/bridges.
func missing(before, parent actor.Path) []actor.Path {
	var out []actor.Path
	for p := parent; depth(p) >= 0 && p != actor.Root && !before.Under(p); p = p.Parent() {
		out = append(out, p)
	}
	slices.Reverse(out)
	return out
}

// depth counts from the actors at the top and from the bridges, which have 0.
func depth(p actor.Path) int {
	n := strings.Count(string(p), "/") - 2
	if p.Under(actor.System) {
		n--
	}
	return n
}
