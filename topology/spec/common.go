package spec

import (
	"fmt"
	"maps"
	"math"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/topology/hocon"
)

// common is what an actor's block says apart from its arguments and children.
// It depends on the texts of the block alone and neither on the actor's path nor
// on other actors, so actors that say the same share it.
type common struct {
	template   Actor // the fields that every actor with this block has
	digest     string
	saysOnFull bool
	watch      actor.Targets
}

// into gives an actor what its block says.
func (k *common) into(a *Actor) {
	path, pos := a.Path, a.Pos
	*a = k.template
	a.Path, a.Pos = path, pos
}

// maxCommonFields is how many keys an actor's block can have.
const maxCommonFields = 40

// signature tells blocks apart: the values of all keys in the order of the schema.
type signature [maxCommonFields]*value

// scalar identifies what is written as one word or text.
type scalar struct {
	kind   hocon.Kind
	quoted bool
	text   string
}

// signatureOf returns the signature of a block; false when it has an unknown key.
func (c *checker) signatureOf(v, own *value) (s signature, ok bool) {
	known := 0
	for i, f := range actorSchema.Fields {
		field := v.get(f.Name)
		if field == nil {
			continue
		}
		known++
		switch {
		case f.Name != "args":
			s[i] = c.intern(field)
		case !field.isObject():
			return s, false
		}
	}
	// A default for overflow does not need a capacity, one of the actor's own does.
	s[maxCommonFields-1] = c.intern(own.get("mailbox").get("overflow"))
	return s, known == len(v.keys())
}

// intern returns the same value for equal scalars.
func (c *checker) intern(v *value) *value {
	if v == nil || v.isObject() || v.node.Kind == hocon.Array {
		return v
	}
	key := scalar{v.node.Kind, v.node.Quoted, v.node.Text}
	if same := c.scalars[key]; same != nil {
		return same
	}
	c.forget()
	c.scalars[key] = v
	return v
}

// forget keeps what is remembered small.
func (c *checker) forget() {
	if len(c.scalars)+len(c.merges) > maxShared {
		clear(c.scalars)
		clear(c.merges)
		clear(c.commons)
	}
}

// over is merge, and returns the same value for the same two.
func (c *checker) over(under, over *value) *value {
	if under == nil || over == nil {
		return merge(under, over)
	}
	key := [2]*value{under, over}
	v := c.merges[key]
	if v == nil {
		c.forget()
		v = merge(under, over)
		c.merges[key] = v
	}
	return v
}

// maxShared bounds what is remembered for blocks that say the same.
const maxShared = 10_000

// common reads a block, or finds what it read before of the same block. What is
// wrong is read again each time, so that every mistake is shown in its place.
func (c *checker) common(v, own *value) *common {
	s, ok := c.signatureOf(v, own)
	if k := c.commons[s]; ok && k != nil {
		return k
	}
	before := c.reported
	k := c.readCommon(v, own)
	if ok && c.reported == before {
		c.commons[s] = k
	}
	return k
}

func (c *checker) readCommon(v, own *value) *common {
	k := &common{}
	a := &k.template
	values, errs := actorSchema.Decode(v.raw(actorSchema.Fields))
	a.Behaviour, _ = values["behaviour"].(string)
	c.fields(v, nil, c.misplaced(a.Behaviour, errs))
	c.fillActor(k, v, own, values, broken(errs))
	k.digest = digest(a.Settings)
	k.saysOnFull = !v.get("on-full").isNull()
	c.implicitOverflow(v, a.Mailbox)
	return k
}

// fillActor reads what every actor has.
func (c *checker) fillActor(k *common, v, own *value, values map[string]any, bad map[string]bool) {
	maps.DeleteFunc(values, func(key string, _ any) bool { return bad[key] || key == "args" || key == "children" })
	a, conf := &k.template, actor.Fill[actorConf](values)
	a.Description, a.StopTimeout, a.HandlerWarn = conf.Description, conf.StopTimeout, conf.HandlerWarn
	a.OnFull, a.StartOrder = conf.OnFull, conf.StartOrder
	a.Dispatcher = conf.Dispatcher
	a.Was = c.was(v, conf.Was)
	a.Supervision = c.strategy(v, "supervision", conf.Supervision)
	a.ChildSupervision = c.strategy(v, "child-supervision", conf.ChildSupervision)
	if !bad["pool"] {
		a.Pool = c.pool(v, conf.Pool)
	}
	a.StashCapacity, k.watch = conf.Mailbox.StashCap, conf.Watch
	a.Routine = c.routine(v, conf, values)
	if box, ok := values["mailbox"].(map[string]any); ok {
		c.mailbox(a, v, own, conf.Mailbox)
		delete(box, "overflow")
		if a.Mailbox.Capacity > 0 {
			box["overflow"] = a.Mailbox.Overflow.String()
		}
	}
	a.Settings = settings("", actor.Live, actorSchema.Fields, values)
}

// mailbox reads the queue's bounds and its priority.
func (c *checker) mailbox(a *Actor, v, own *value, conf mailboxConf) {
	at := []string{"mailbox", "overflow"}
	a.Mailbox = mailbox.Settings{
		Capacity: conf.Capacity, BlockTimeout: conf.BlockTimeout, WarnAt: conf.WarnAt, Ranked: conf.Priority != "",
	}
	if given := own.get("mailbox").get("overflow"); !given.isNull() && conf.Capacity == 0 {
		c.at(v, at, fmt.Errorf("overflow needs a capacity; without one the mailbox never overflows (add capacity = 1000)"))
		return
	}
	switch {
	case conf.Capacity == 0:
	case conf.Overflow != "":
		// The schema has checked the word.
		a.Mailbox.Overflow, _ = mailbox.ParseOverflow(conf.Overflow)
	case a.Mailbox.Ranked:
		a.Mailbox.Overflow = mailbox.Reject
	}
	if err := a.Mailbox.Check(); err != nil {
		c.at(v, at, err)
	}
	a.Priority, a.PriorityDefault = string(conf.Priority), conf.PriorityElse
	if a.PriorityDefault == math.MaxInt64 {
		a.PriorityDefault = math.Inf(1)
	}
	if p := c.compile(v, []string{"mailbox", "priority"}, actor.NumberSite, a.Priority); p != nil {
		a.Rank = p.Rank(a.PriorityDefault, nil)
	}
}
