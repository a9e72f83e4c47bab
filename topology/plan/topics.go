package plan

import "github.com/actord/actord/topology/spec"

// topics compares topics by name.
func (d *differ) topics(old, new []*spec.Topic) {
	before := index(old, func(t *spec.Topic) string { return t.Name })
	for _, t := range new {
		was := before[t.Name]
		delete(before, t.Name)
		switch {
		case was == nil:
			d.openTopics = append(d.openTopics, Step{Kind: Open, Topic: Change[spec.Topic]{New: t}})
		case was.Hash != t.Hash:
			change := Change[spec.Topic]{Old: was, New: t}
			d.topicChanges = step(d.topicChanges, Step{Kind: Rewire, Topic: change, Reasons: relevant(compare(was.Settings, t.Settings))})
		}
	}
	for _, t := range old {
		if before[t.Name] != nil {
			d.closeTopics = append(d.closeTopics, Step{Kind: Close, Topic: Change[spec.Topic]{Old: t}})
		}
	}
}
