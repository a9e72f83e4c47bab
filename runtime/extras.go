package runtime

import "github.com/actord/actord/runtime/supervise"

// extras are what an actor's turn holds beside its instance and most actors never
// need. They are owned by the turn.
type extras struct {
	afterChildren func()   // what goes on when the last child that was told to end has ended
	later         []func() // calls that wait until it is decided how the actor goes on
	timers        map[*timer]struct{}
	timersKept    int // how many timers may gather until those that are over are dropped
	watching      map[*node]struct{}
	holds         *holds            // deliveries that the incarnation keeps open; nil when there are none
	group         supervise.History // of restarts of all children together
	cause         error             // of the last failure or restart
	roles         any               // roles[T]; nil when the instance itself handles messages
	stash         any               // []envelope[T]
	keyed         map[string]*timer // those of timers that have a key
	idle          *idleness
	throttle      *bucket
	tasks         *tasks
	standing      *standing // what is in force of the routine
}

// extras returns what the turn holds, made on first use.
func (n *node) extras() *extras {
	if n.x == nil {
		n.x = &extras{}
	}
	return n.x
}
