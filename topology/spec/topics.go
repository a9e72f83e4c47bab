package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// Topic is a declared topic: who gets what is published to it.
type Topic struct {
	Name        string
	Subscribers []actor.Path
	Delivery    string // all or one
	Unrouted    string // dead-letters or drop: what becomes of messages that nobody takes

	Settings []Setting
	Hash     string
	Pos      hocon.Pos // of its name
}

type topicConf struct {
	Subscribers []string `conf:"subscribers" doc:"paths of the actors that get the messages; others subscribe while they run" class:"rewire"`
	Delivery    string   `conf:"delivery" default:"all" enum:"all|one" doc:"all: every subscriber gets a message; one: each message goes to one of them, in turn" class:"rewire"`
	Unrouted    string   `conf:"unrouted" default:"dead-letters" enum:"dead-letters|drop" doc:"what becomes of a message that no subscriber takes" class:"rewire"`
}

var topicSchema = oneOrMore(actor.SchemaOf[topicConf]("topic", "A topic."), "subscribers")

// topicTarget reports why a topic is not there.
func (c *checker) topicTarget(t actor.Target) error {
	name := strings.TrimPrefix(string(t), "topic:")
	if c.topic[name] {
		return nil
	}
	if len(c.topic) == 0 {
		return fmt.Errorf("topic %q is not declared (add topics { %s { subscribers = [ … ] } })", name, name)
	}
	return fmt.Errorf("topic %q is not declared%s", name, didYouMeanOr(name, slices.Sorted(maps.Keys(c.topic))))
}

// declareTopics notes which topics there are.
func (c *checker) declareTopics(file *value) {
	c.topic = map[string]bool{}
	for name := range entries(file.get("topics")) {
		c.topic[name] = true
	}
}

// topics reads the topics section.
func (c *checker) topics(block *value) []*Topic {
	var out []*Topic
	for name, own := range entries(block) {
		if err := actor.CheckName(name); err != nil {
			c.atKey(block, []string{name}, err)
			continue
		}
		if !own.isObject() {
			c.at(own, nil, fmt.Errorf("a topic is an object (want %s { subscribers = [ … ] })", name))
			continue
		}
		out = append(out, c.oneTopic(name, own))
	}
	return out
}

func (c *checker) oneTopic(name string, own *value) *Topic {
	values, errs := topicSchema.Decode(own.raw(topicSchema.Fields))
	c.fields(own, nil, errs)
	for key := range broken(errs) {
		delete(values, key)
	}
	conf := actor.Fill[topicConf](values)
	t := &Topic{Name: name, Delivery: conf.Delivery, Unrouted: conf.Unrouted, Pos: own.node.KeyPos}
	for i, s := range conf.Subscribers {
		at := []string{"subscribers", strconv.Itoa(i)}
		path, err := actor.ParsePath(s)
		if err == nil {
			err = c.known(path, false)
		}
		if err == nil && slices.Contains(t.Subscribers, path) {
			err = fmt.Errorf("%s is a subscriber already", path)
		}
		if err != nil {
			c.at(own, at, err)
			continue
		}
		t.Subscribers = append(t.Subscribers, path)
	}
	t.Settings = settings("", actor.Rewire, topicSchema.Fields, values)
	t.Hash = digest(t.Settings)
	return t
}
