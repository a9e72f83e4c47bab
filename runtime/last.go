package runtime

import (
	"slices"

	"github.com/actord/actord/runtime/actor"
)

// EndLast names the actors that a shutdown ends after the others below /user, and
// after they have worked off what the end of the others gave them (at most the
// drain timeout once more). It is for those who write down what became of
// messages. Those above and below them end with them. A later call replaces an
// earlier one.
func (s *System) EndLast(paths ...actor.Path) { s.last.Store(&paths) }

// endOthers ends the top-level actors that are nobody's reason to stay, and tells
// whether there is somebody who stays.
func (s *System) endOthers() bool {
	last := s.last.Load()
	if last == nil || len(*last) == 0 {
		return false
	}
	var ending []*node
	for _, n := range s.user.children() {
		if !slices.ContainsFunc(*last, func(p actor.Path) bool { return p.Under(n.path) }) {
			n.signal(signal{kind: sigStopNow})
			ending = append(ending, n)
		}
	}
	for _, n := range ending {
		<-n.doneChan()
	}
	return true
}
