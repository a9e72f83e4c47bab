package plan

import (
	"fmt"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// Kind is what a step does.
type Kind uint8

// The kinds of steps.
const (
	Configure   Kind = iota // system: takes settings of system, log and reload
	Subscribe               // system: the subscriptions to events become those of the new system
	Start                   // actor with all below it, or bridge: is started
	Rename                  // actor with all below it: lives at another path, with its mailbox and its state
	Stop                    // actor with all below it, or bridge: is stopped
	Replace                 // actor with all below it, or bridge: is stopped and started anew
	Update                  // actor or bridge: takes settings that are not arguments, in place
	Reconfigure             // actor or bridge: takes arguments, in place or by handover
	Rewire                  // bridge: takes routes, the connection stays; topic: takes subscribers
	Reconnect               // bridge: gets a new connection
	Open                    // plugin: is made known, and started if it is eager; topic: is made known
	Swap                    // plugin: a new process takes over
	Close                   // plugin: its process ends; topic: is forgotten
	Process                 // nothing: a restart of the daemon is needed
)

var kinds = [...]struct{ mark, name string }{
	{"~", "configure"}, {"~", "subscribe"}, {"+", "start"}, {"»", "rename"}, {"-", "stop"}, {"±", "replace"}, {"~", "update"},
	{"~", "reconfigure"}, {"~", "rewire"}, {"~", "reconnect"}, {"+", "open"}, {"±", "swap"}, {"-", "close"},
	{"!", "needs a restart of the daemon:"},
}

// String returns the kind as a plan shows it.
func (k Kind) String() string { return kinds[k].name }

// Change is what something was and what it becomes; nil where it is not there.
type Change[T any] struct{ Old, New *T }

// Step is one thing to do. One of Actor, Bridge, Plugin and Topic is set, none for what
// concerns the system as a whole.
type Step struct {
	Kind    Kind
	Path    actor.Path // of the actor or the bridge, else ""; after a rename the new one
	Reasons []Reason   // the settings that differ; none for what comes or goes

	Actor  Change[spec.Actor]
	Bridge Change[spec.Bridge]
	Plugin Change[spec.Plugin]
	Topic  Change[spec.Topic]
}

// Reason is a setting that differs. Texts are for people, secrets are masked; ""
// means that the setting is not there.
type Reason struct {
	Key, From, To string
	Class         actor.Class
}

// String returns the key with both texts.
func (r Reason) String() string {
	switch {
	case r.From == "":
		return "+" + r.Key + " " + r.To
	case r.To == "":
		return "-" + r.Key + " " + r.From
	case r.From == r.To:
		return r.Key + " changed"
	}
	return r.Key + " " + r.From + " → " + r.To
}

// Plan is the way from one system to another: the steps in the order in which
// they are done.
type Plan struct {
	Steps     []Step
	Unchanged int // actors and bridges that no step touches
}

// Empty reports whether there is nothing to do and nothing to report.
func (p Plan) Empty() bool { return len(p.Steps) == 0 }

// String returns one line per step; "" for an empty plan.
func (p Plan) String() string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// maxReasons is how many reasons a line shows.
const maxReasons = 4

// String returns the step as a line: "~ /user/intake  update mailbox.capacity 100 → 200".
func (s Step) String() string {
	line := kinds[s.Kind].mark + " " + s.subject() + "  " + s.Kind.String()
	for i, r := range s.Reasons {
		switch {
		case i == maxReasons:
			return line + fmt.Sprintf(" and %d more", len(s.Reasons)-i) + s.detail()
		case i > 0:
			line += ","
		}
		line += " " + r.String()
	}
	return line + s.detail()
}

func (s Step) subject() string {
	switch {
	case s.Kind == Rename:
		return string(s.Actor.Old.Path + " → " + s.Path)
	case s.Path != "":
		return string(s.Path)
	case s.Plugin.New != nil:
		return "plugin " + s.Plugin.New.Name
	case s.Plugin.Old != nil:
		return "plugin " + s.Plugin.Old.Name
	case s.Topic.New != nil:
		return "topic " + s.Topic.New.Name
	case s.Topic.Old != nil:
		return "topic " + s.Topic.Old.Name
	}
	return "system"
}

// detail says what is started and how much is below an actor that comes, goes or
// is replaced.
func (s Step) detail() string {
	var words []string
	a := s.Actor.New
	switch {
	case s.Kind == Start && a != nil:
		words = append(words, a.Behaviour)
	case s.Kind == Start:
		words = append(words, s.Bridge.New.Type)
	case s.Kind == Stop:
		a = s.Actor.Old
	case s.Kind != Replace && s.Kind != Rename:
		return ""
	}
	if n := below(a); n > 0 {
		words = append(words, fmt.Sprintf("with %d below it", n))
	}
	if words == nil {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// below counts the actors below a.
func below(a *spec.Actor) int {
	n := 0
	if a != nil {
		for range a.All() {
			n++
		}
		n--
	}
	return n
}
