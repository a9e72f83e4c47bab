package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/actord/actord/internal/cron"
	"github.com/actord/actord/runtime/actor"
)

// Routine is what the runtime does for an actor by itself.
type Routine struct {
	ReceiveTimeout time.Duration // silence that is made known to the actor; 0 means none
	StopWhenIdle   bool          // the actor ends after it instead of being told
	Throttle       actor.Throttle
	Timers         map[string]Timer
	Watch          []actor.Path // actors whose end it is told
}

// Timer tells an actor a message again and again, or once.
type Timer struct {
	When    actor.Schedule
	Message actor.Message
	Mark    string // equal for timers that were written alike
}

type throttleConf struct {
	Rate     string `conf:"rate" default:"off" doc:"how many messages are handled, e.g. 500/s or 30/m; or off"`
	Burst    int    `conf:"burst" default:"0" min:"0" max:"1000000000" unit:"messages" doc:"how many of them at once; 0 means those of one second"`
	OnExcess string `conf:"on-excess" default:"pause" enum:"pause|drop" doc:"what happens to the rest: it waits in the mailbox, or it is discarded"`
}

type timerConf struct {
	Every   time.Duration `conf:"every" min:"1ms" doc:"again and again, at a fixed rate"`
	After   time.Duration `conf:"after" min:"0s" doc:"once; with every, the first time"`
	Cron    string        `conf:"cron" doc:"a plan of five fields: minute hour day month weekday"`
	Zone    string        `conf:"zone" doc:"whose time the plan is in, e.g. Europe/Berlin; UTC when not given"`
	Message messageConf   `conf:"message" doc:"what the actor is told"`
}

type messageConf struct {
	Kind string `conf:"kind,required" doc:"kind of the message"`
	Body any    `conf:"body" doc:"its body"`
}

// routine reads what an actor does by itself; nil when there is nothing. Values are
// the decoded ones, which get their canonical form.
func (c *checker) routine(v *value, conf actorConf, values map[string]any) *Routine {
	r := &Routine{ReceiveTimeout: conf.ReceiveTimeout, StopWhenIdle: conf.OnReceiveTimeout == "stop"}
	if limit, ok := values["throttle"].(map[string]any); ok {
		r.Throttle = c.throttle(v, conf.Throttle)
		limit["rate"] = rateText(conf.Throttle.Rate)
	}
	given, _ := values["timers"].(map[string]any)
	for name, t := range conf.Timers {
		at := []string{"timers", name}
		set, _ := given[name].(map[string]any)
		if when, ok := c.schedule(v, at, t, set); ok {
			if r.Timers == nil {
				r.Timers = map[string]Timer{}
			}
			mark := digest(settings("", actor.Live, timerSchema.Fields, set))
			r.Timers[name] = Timer{when, actor.Message{Kind: t.Message.Kind, Body: t.Message.Body}, mark}
		}
	}
	if r.ReceiveTimeout == 0 && !r.Throttle.On() && len(r.Timers) == 0 {
		return nil
	}
	return r
}

var timerSchema = actor.SchemaOf[timerConf]("timer", "A timer.")

// schedule reads when a timer fires.
func (c *checker) schedule(v *value, at []string, t timerConf, set map[string]any) (s actor.Schedule, ok bool) {
	after := set["after"] != nil
	switch {
	case t.Cron != "" && (after || t.Every > 0):
		c.at(v, slices.Concat(at, []string{"cron"}), fmt.Errorf("a plan says when the timer fires, so every and after cannot"))
	case t.Cron != "":
		p, err := cron.Parse(t.Cron, cmp.Or(t.Zone, "UTC"))
		if err != nil {
			key := "cron"
			if strings.HasPrefix(err.Error(), "zone") {
				key = "zone"
			}
			c.at(v, slices.Concat(at, []string{key}), err)
			return s, false
		}
		return actor.Schedule{Next: p.Next}, true
	case t.Zone != "":
		c.at(v, slices.Concat(at, []string{"zone"}), fmt.Errorf("a zone is for a plan; every and after need none"))
	case after || t.Every > 0:
		if after && t.Every > 0 {
			t.After = max(t.After, 1) // 0 would mean after every
		}
		return actor.Schedule{After: t.After, Every: t.Every}, true
	default:
		c.at(v, at, fmt.Errorf("a timer needs every, after or cron (e.g. every = 5s)"))
	}
	return s, false
}

var perUnit = map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}

// throttle reads how many messages are handled.
func (c *checker) throttle(v *value, conf throttleConf) actor.Throttle {
	rate, err := parseRate(conf.Rate)
	if err != nil {
		c.at(v, []string{"throttle", "rate"}, err)
		return actor.Throttle{}
	}
	if rate == 0 {
		return actor.Throttle{}
	}
	return actor.Throttle{Rate: rate, Burst: conf.Burst, Drop: conf.OnExcess == "drop"}
}

// parseRate returns messages a second, 0 for off.
func parseRate(text string) (float64, error) {
	if text == "off" {
		return 0, nil
	}
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	per := perUnit[strings.TrimSpace(unit)]
	if err != nil || per == 0 || !(n > 0 && n <= 1e9) {
		return 0, fmt.Errorf("%q is not a rate (want a number above 0 and a unit, e.g. 500/s, 30/m, 2/h; or off)", text)
	}
	return n / per, nil
}

// rateText writes a rate in one form, whatever spaces and digits it has.
func rateText(text string) string {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(n, 'g', -1, 64) + "/" + strings.TrimSpace(unit)
}

// watch reads whose end an actor is told. It depends on where the actor is.
func (c *checker) watch(a *Actor, v *value, targets actor.Targets) {
	if len(targets) == 0 {
		return
	}
	r := *cmp.Or(a.Routine, &Routine{})
	for i, t := range targets {
		path, err := c.watched(a.Path, t)
		if err != nil {
			c.at(v, []string{"watch", strconv.Itoa(i)}, err)
			continue
		}
		r.Watch = append(r.Watch, path)
	}
	a.Routine = &r
}

func (c *checker) watched(self actor.Path, t actor.Target) (actor.Path, error) {
	kind, path, err := t.Parse(self)
	switch {
	case err != nil:
		return "", err
	case kind != actor.PathTarget:
		return "", fmt.Errorf("target %q is no actor, so nothing of it can be watched", t)
	case path == self:
		return "", fmt.Errorf("an actor cannot watch itself")
	}
	if c.user != nil {
		c.user.uses = append(c.user.uses, use{base: self, target: t, watched: true})
	}
	return path, c.leads(self, t)
}
