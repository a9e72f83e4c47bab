package spec

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// Check reads a tree against the behaviours and bridge types of reg. The error
// is hocon.Errors with every mistake. Check starts and opens nothing; Prepare of
// the factories is called. It may be called from any goroutine as long as reg
// does not change.
func Check(t *hocon.Tree, reg *actor.Registry) (*System, error) {
	return Options{}.Check(t, reg)
}

// Options say how to check. The zero value is what Check does.
type Options struct {
	// Before is the result of an earlier check, usually of what is applied. Actors
	// that did not change since then are taken over as they are. May be nil.
	Before *System
	// Secrets reads what secret fields refer to; a zero one when nil.
	Secrets *Secrets
	// MaxActors bounds what foreach and count make; 500,000 when 0.
	MaxActors int
	// Lint looks for what is likely wrong but works; see System.Warnings.
	Lint bool
	// Strict makes mistakes of such warnings.
	Strict bool
}

// Check is the function of the same name with options.
func (o Options) Check(t *hocon.Tree, reg *actor.Registry) (*System, error) {
	c := newChecker(t, reg, o)
	s := c.file()
	if s != nil && (o.Lint || o.Strict) {
		c.lint(s)
	}
	if o.Strict {
		c.errs, c.warnings = append(c.errs, c.warnings...), nil
	}
	if err := c.result(); err != nil {
		return nil, err
	}
	if o.Lint {
		s.Warnings = c.sorted(c.warnings)
	}
	s.Files = c.secrets.Files()
	s.memory = c.memory(valueOf(t.Lookup(root)))
	return s, nil
}

func newChecker(t *hocon.Tree, reg *actor.Registry, o Options) *checker {
	c := &checker{
		problems: problems{tree: t}, reg: reg,
		commons: map[signature]*common{}, scalars: map[scalar]*value{}, merges: map[[2]*value]*value{},
		secrets: cmp.Or(o.Secrets, &Secrets{}), maxActors: cmp.Or(o.MaxActors, maxActors),
	}
	if o.Before != nil {
		c.before = o.Before.memory
	}
	return c
}

// Plugins reads the plugins section alone. The error is hocon.Errors with the
// mistakes of that section. A tree without actord has no plugins; Check reports
// that.
func Plugins(t *hocon.Tree) ([]*Plugin, error) { return Options{}.Plugins(t) }

// Plugins is the function of the same name with options.
func (o Options) Plugins(t *hocon.Tree) ([]*Plugin, error) {
	c := &checker{problems: problems{tree: t}, secrets: cmp.Or(o.Secrets, &Secrets{})}
	file := valueOf(t.Lookup(root))
	plugins := c.plugins(file.get("plugin-defaults"), file.get("plugins"))
	if err := c.result(); err != nil {
		return nil, err
	}
	return plugins, nil
}

// checker is one run of Check.
type checker struct {
	problems
	reg       *actor.Registry
	templates map[string]*template
	groups    []*group            // the actors that are declared
	declared  map[actor.Path]bool // all of them; true where children are declared below
	bridge    map[string]*value   // by name
	topic     map[string]bool     // the names of all
	listeners []listener
	wires     []wire // targets that stand outside of actors
	maxActors int
	made      int // actors that foreach and count make

	commons map[signature]*common
	scalars map[scalar]*value
	merges  map[[2]*value]*value

	programs map[string]*rule.Program // by site and source

	secrets      *Secrets
	secretFields map[*actor.Field]bool // whether a secret is among the fields of which this is the first

	before       *memory // of the check before; nil when there was none
	number       int     // of actors
	equalTop     bool    // actor-defaults and templates are those of the check before
	equalNames   bool    // so are the paths of all actors
	equalBridges bool
	equalTopics  bool
}

// memory is what a check leaves for the next one.
type memory struct {
	groups                               []*group
	declared                             map[actor.Path]bool
	topic                                map[string]bool
	defaults, templates, bridges, topics *value
}

// memory makes that of this check, without what only the check itself needs.
func (c *checker) memory(file *value) *memory {
	trim(c.groups)
	fresh := func(key string) *value {
		if v := file.get(key); v != nil {
			return valueOf(v.node)
		}
		return nil
	}
	return &memory{groups: c.groups, declared: c.declared, topic: c.topic, defaults: fresh("actor-defaults"), templates: fresh("templates"), bridges: fresh("bridges"), topics: fresh("topics")}
}

func trim(groups []*group) {
	for _, g := range groups {
		g.stencil = nil
		if !g.block.made {
			whole := g.body == g.block
			g.block = valueOf(g.block.node)
			if whole {
				g.body = g.block
			}
		}
		for _, e := range g.entries {
			trim(e.kids)
		}
	}
}

// file reads everything in actord { }.
func (c *checker) file() *System {
	n := c.tree.Lookup(root)
	if n == nil || n.Kind != hocon.Object {
		c.noRoot(n)
		return nil
	}
	file := valueOf(n)
	values, errs := fileSchema.Decode(c.sections(file))
	c.fields(file, nil, errs)
	c.declare(file)

	s := &System{}
	c.system(s, file, values, errs)
	s.Plugins = c.plugins(file.get("plugin-defaults"), file.get("plugins"))
	s.Actors = c.actors(file)
	s.Bridges = c.bridges(file)
	s.Topics = c.topics(file.get("topics"))
	c.routeeNames(s)
	c.knownDispatchers(file, s)
	c.checkListeners()
	s.Hash = systemHash(s, sumOf(c.groups))
	return s
}

// sections returns what is in actord { } for its schema. Sections with names of
// the author's choice are read elsewhere; here it counts that they are objects.
func (c *checker) sections(v *value) map[string]any {
	named := v.only(func(key string) bool {
		f, ok := fileSchema.Field(key)
		return ok && f.Kind == actor.MapField && f.Elem.Kind == actor.AnyField && v.get(key).isObject()
	})
	out := c.reveal(v.without(named.keys()...), fileSchema.Fields).raw(fileSchema.Fields)
	for _, key := range named.keys() {
		out[key] = map[string]any{}
	}
	return out
}

// noRoot says that there is nothing to read.
func (c *checker) noRoot(n *hocon.Node) {
	if n != nil {
		c.add(n.Pos, root, fmt.Errorf("a %s is not an object (want actord { … })", n.Kind))
		return
	}
	for _, f := range c.tree.Root.Fields() {
		if actor.Suggest(f.Key, []string{root}) != "" {
			c.add(f.KeyPos, f.Key, fmt.Errorf("there is no actord { … } in this file; did you mean %q?", root))
			return
		}
	}
	c.add(c.tree.Root.Pos, "", fmt.Errorf("there is no actord { … } in this file; only what is inside it is read"))
}

// system reads the sections that have no names of the author's choice.
func (c *checker) system(s *System, file *value, values map[string]any, errs []actor.FieldError) {
	known, bad := map[string]any{}, broken(errs)
	for _, name := range []string{"system", "log", "reload", "shutdown", "dead-letters", "dispatchers", "events", "eof"} {
		if !bad[name] {
			known[name] = values[name]
		}
	}
	given, ok := known["dispatchers"].(map[string]any)
	if !ok {
		given = map[string]any{}
		known["dispatchers"] = given
	}
	s.Dispatchers = c.dispatchersOf(file, given)
	conf := actor.Fill[fileConf](known)
	s.DeadLetters = DeadLetters(conf.DeadLetters)
	if !bad["shutdown"] && !bad["system"] {
		s.Shutdown = c.phases(file, conf.Shutdown, conf.System.DrainTimeout)
	}
	s.Settings = settings("", actor.Live, fileSchema.Fields, known)
	s.StateDir = string(conf.System.StateDir)
	s.Name, s.DrainTimeout, s.RootFailure = conf.System.Name, conf.System.DrainTimeout, conf.System.RootFailure
	s.Reload = c.reload(file, conf.Reload)
	if err := actor.CheckName(s.Name); err != nil && !bad["system"] {
		c.at(file, []string{"system", "name"}, err)
	}
	s.Log = c.log(file, conf.Log)
	s.Subscriptions = c.subscriptions(file, conf.Events.Subscriptions)
}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

var levelNames = []string{"debug", "info", "warn", "error"}

func (c *checker) log(file *value, conf logConf) Log {
	l := Log{Level: levels[conf.Level], Format: conf.Format, Levels: map[actor.Path]slog.Level{}}
	at := []string{"log", "levels"}
	for key, name := range conf.Levels {
		place := append(slices.Clip(at), key)
		level, ok := levels[name]
		if !ok {
			c.at(file, place, fmt.Errorf("%q is not a level (want one of debug, info, warn, error)%s", name, actor.DidYouMean(name, levelNames)))
		}
		path, err := actor.ParsePath(key)
		if err == nil {
			err = c.known(path, true)
		}
		if err != nil {
			c.atKey(file, place, err)
		}
		l.Levels[path] = level
	}
	return l
}

func (c *checker) subscriptions(file *value, confs []subscriptionConf) []Subscription {
	var out []Subscription
	for i, conf := range confs {
		at := []string{"events", "subscriptions", strconv.Itoa(i)}
		sub := Subscription{To: conf.To, Events: conf.Events}
		n, _ := file.find(at)
		sub.Pos = n.Pos
		c.wire("", actor.User, conf.To, file, append(slices.Clip(at), "to"))
		if err := c.target(actor.User, conf.To); err != nil {
			c.at(file, append(slices.Clip(at), "to"), err)
		} else if conf.To == actor.ToReply {
			c.at(file, append(slices.Clip(at), "to"), fmt.Errorf("%q is nobody here, since an event has no sender", conf.To))
		}
		for j, kind := range conf.Events {
			if !slices.Contains(actor.EventKinds, kind) {
				err := fmt.Errorf("unknown event %q%s", kind, didYouMeanOr(kind, actor.EventKinds))
				c.at(file, append(slices.Clip(at), "events", strconv.Itoa(j)), err)
			}
		}
		sub.When = c.eventCondition(file, append(slices.Clip(at), "when"), string(conf.When))
		out = append(out, sub)
	}
	return out
}

func (c *checker) reload(file *value, conf reloadConf) Reload {
	return Reload{
		Watch: conf.Watch, Quiet: conf.Quiet, Poll: conf.Poll, Deadline: conf.Deadline,
		Probation: conf.Probation, Healthy: c.eventCondition(file, []string{"reload", "healthy"}, string(conf.Healthy)),
		KeepRevisions: conf.KeepRevisions, MaxRemoved: float64(conf.MaxRemoved), RemovedHold: conf.RemovedHold,
		RequireEOF: conf.RequireEOF,
	}
}

// was reads where an actor was before it got another name.
func (c *checker) was(v *value, text string) actor.Path {
	if text == "" {
		return ""
	}
	p, err := actor.ParsePath(text)
	if err == nil && (p == actor.User || !p.Under(actor.User)) {
		err = fmt.Errorf("no declared actor can have been at %s (want a path below /user)", p)
	}
	if err != nil {
		c.at(v, []string{"was"}, err)
	}
	return p
}

// didYouMeanOr suggests the word that was meant, or lists those there are.
func didYouMeanOr(word string, known []string) string {
	if s := actor.DidYouMean(word, known); s != "" {
		return s
	}
	return list("known are ", known)
}
