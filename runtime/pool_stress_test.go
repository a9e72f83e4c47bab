package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
	"github.com/actord/actord/runtime/supervise"
)

// tally counts what became of messages.
type tally struct{ handled, letters, drops, refused, told atomic.Int64 }

func (c *tally) watch(s *System) {
	s.Subscribe(func(e actor.Event) {
		switch e.(type) {
		case actor.DeadLetter:
			c.letters.Add(1)
		case actor.Dropped:
			c.drops.Add(1)
		}
	})
}

func (c *tally) tell(to actor.Ref, m actor.Message) {
	c.told.Add(1)
	switch err := to.Tell(context.Background(), m); {
	case errors.Is(err, actor.ErrFull), errors.Is(err, actor.ErrBlockTimeout):
		c.refused.Add(1)
	case err != nil && !errors.Is(err, actor.ErrStopped): // that makes a dead letter
		panic(err)
	}
}

func (c *tally) check(t *testing.T) {
	t.Helper()
	got := c.handled.Load() + c.letters.Load() + c.drops.Load() + c.refused.Load()
	if want := c.told.Load(); got != want {
		t.Errorf("got %d handled + %d dead letters + %d drops + %d refused = %d, want %d told",
			c.handled.Load(), c.letters.Load(), c.drops.Load(), c.refused.Load(), got, want)
	}
}

func TestEveryMessageToAPoolIsAccountedForWhateverHappensToItsRoutees(t *testing.T) {
	boxes := []mailbox.Settings{
		{}, {Capacity: 4, Overflow: mailbox.DropHead}, {Capacity: 4, Overflow: mailbox.DropNew},
		{Capacity: 4, Overflow: mailbox.Reject}, {Capacity: 4, Overflow: mailbox.Block, BlockTimeout: time.Second},
	}
	for _, strategy := range []Strategy{RoundRobin, Random, SmallestMailbox, ConsistentHash} {
		for i, box := range boxes {
			t.Run(fmt.Sprintf("%s %s %d", strategy, box.Overflow, box.Capacity), func(t *testing.T) {
				s, c := newSystem(t), &tally{}
				c.watch(s)
				pool := func(size int) *Pool[actor.Message] {
					p := &Pool[actor.Message]{Size: size, Strategy: strategy}
					if strategy == ConsistentHash {
						p.Key = byBody
					}
					return p
				}
				settings := Settings{Mailbox: box, Supervision: &supervise.Strategy{MaxRestarts: supervise.Unlimited}}
				a := spawnSpec(t, s, Spec{Name: "p", Pool: pool(3), Settings: settings, New: func() (actor.Behaviour, error) {
					return actor.Func(func(ctx actor.Context, m actor.Message) error {
						switch m.Body.(int64) % 97 {
						case 13:
							return errors.New("boom") // a dead letter
						case 14:
							panic("boom")
						case 15:
							ctx.Stop(ctx.Self())
						}
						c.handled.Add(1)
						return nil
					}), nil
				}})
				var wg sync.WaitGroup
				for sender := range 3 {
					wg.Go(func() {
						ref := a.Ref()
						for j := range 600 {
							c.tell(ref, num(sender*600+j))
						}
					})
				}
				r := rand.New(rand.NewPCG(uint64(i), uint64(strategy)))
				for range 25 {
					if err := a.Resize(t.Context(), pool(1+r.IntN(6))); err != nil && !errors.Is(err, actor.ErrStopped) {
						t.Errorf("resize: %v", err)
					}
				}
				if i%2 == 0 {
					wg.Wait() // otherwise it is stopped in the middle
				}
				if err := a.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				wg.Wait()
				c.check(t)
			})
		}
	}
}

func TestSubscribersComeAndGoWhileATopicIsPublishedTo(t *testing.T) {
	s, c := newSystem(t), &tally{}
	c.watch(s)
	_ = s.SetTopic("news", Topic{One: true})
	var wg sync.WaitGroup
	for sender := range 2 {
		wg.Go(func() {
			for j := range 2000 {
				c.tell(s.Topic("news"), num(sender*2000+j))
			}
		})
	}
	wg.Go(func() {
		for i := range 300 {
			a := spawnFunc(t, s, fmt.Sprint("a", i), func(actor.Context, actor.Message) error { c.handled.Add(1); return nil })
			if _, err := s.SubscribeTopic("news", a.Path()); err != nil {
				t.Error(err)
			}
			if i%3 > 0 {
				_ = a.Stop(t.Context())
			}
			if i%50 == 0 {
				_ = s.SetTopic("news", Topic{One: true, Subscribers: []actor.Path{"/user/a0"}})
			}
		}
	})
	wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	c.check(t)
}
