package runtime

import (
	"fmt"
	"log/slog"
	"math"
	"sync"

	"github.com/actord/actord/runtime/actor"
)

// ranker is what senders go by: an actor's priority and, for a pool, its routees.
// A nil ranker ranks everything alike.
type ranker[T any] struct {
	rank func(m T, sender actor.Ref) float64 // nil ranks everything alike
	pool *pool[T]                            // nil for most; messages are for its routees
	own  *ownBox[T]                          // the mailbox that the actor brought; nil for most
	once sync.Once                           // a priority that panics is reported once
	log  func() *slog.Logger
}

// of asks the priority, which is code of the behaviour's author and runs on the
// sender's goroutine. What it does wrong is not the sender's problem: the message
// gets the lowest urgency.
func (r *ranker[T]) of(e envelope[T]) (rank float64) {
	if r == nil || r.rank == nil {
		return 0
	}
	defer func() {
		if p := recover(); p != nil {
			r.once.Do(func() { r.log().Error("the priority panicked; such messages are served last", "panic", fmt.Sprint(p)) })
			rank = math.Inf(1)
		}
	}()
	return r.rank(e.msg, e.sender)
}
