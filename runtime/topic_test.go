package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// listeners spawns /user/NAME for each name; they note what they get.
func listeners(t testing.TB, s *System, r *record, names ...string) {
	t.Helper()
	for _, name := range names {
		spawnFunc(t, s, name, func(ctx actor.Context, m actor.Message) error {
			switch m.Kind {
			case "subscribe":
				return ctx.Subscribe("news")
			case "unsubscribe":
				ctx.Unsubscribe("news")
				return nil
			case "stop":
				ctx.Stop(ctx.Self())
				return nil
			case "fail":
				return errors.New("boom")
			}
			r.add(fmt.Sprintf("%s %v", name, m.Body))
			return nil
		})
	}
}

// letters notes every dead letter.
func letters(s *System) *record {
	r := &record{}
	s.Subscribe(func(e actor.Event) {
		if d, ok := e.(actor.DeadLetter); ok {
			r.add(string(d.Recipient) + " " + d.Reason)
		}
	})
	return r
}

// sorted returns what was noted in order.
func (r *record) sorted() []string {
	var out []string
	for _, v := range r.all() {
		out = append(out, v.(string))
	}
	slices.Sort(out)
	return out
}

func (r *record) wantSorted(t *testing.T, want ...string) {
	t.Helper()
	if got := r.sorted(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestATopicReachesItsSubscribers(t *testing.T) {
	ab := []actor.Path{"/user/a", "/user/b"}
	tests := []struct {
		name    string
		topic   Topic
		join    []string
		got     []string
		letters []string
	}{
		{"all declared", Topic{Subscribers: ab}, nil, []string{"a 0", "a 1", "a 2", "a 3", "b 0", "b 1", "b 2", "b 3"}, nil},
		{"all who subscribed", Topic{}, []string{"a", "c"}, []string{"a 0", "a 1", "a 2", "a 3", "c 0", "c 1", "c 2", "c 3"}, nil},
		{"once who is declared and subscribed twice", Topic{Subscribers: ab[:1]}, []string{"a", "a"}, []string{"a 0", "a 1", "a 2", "a 3"}, nil},
		{"one in turn", Topic{Subscribers: ab, One: true}, []string{"c"}, []string{"a 0", "a 3", "b 1", "c 2"}, nil},
		{"nobody", Topic{}, nil, nil, slices.Repeat([]string{"/system/topics/news unrouted"}, 4)},
		{"nobody, and dropped", Topic{DropUnrouted: true}, nil, nil, nil},
		{"one of all who is missing has dead letters", Topic{Subscribers: []actor.Path{"/user/a", "/user/x"}}, nil,
			[]string{"a 0", "a 1", "a 2", "a 3"}, slices.Repeat([]string{"/user/x stopped"}, 4)},
		{"one of a turn who is missing is passed over", Topic{Subscribers: []actor.Path{"/user/a", "/user/x"}, One: true}, nil,
			[]string{"a 0", "a 1", "a 2", "a 3"}, nil},
		{"one in turn, and all are missing", Topic{Subscribers: []actor.Path{"/user/x"}, One: true}, nil,
			nil, slices.Repeat([]string{"/system/topics/news unrouted"}, 4)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := newSystem(t), &record{}
				dead := letters(s)
				if err := s.SetTopic("news", tt.topic); err != nil {
					t.Fatal(err)
				}
				listeners(t, s, r, "a", "b", "c")
				for _, name := range tt.join {
					_ = s.Lookup(actor.User.Child(name)).Tell(t.Context(), actor.Message{Kind: "subscribe"})
				}
				synctest.Wait()
				for i := range 4 {
					if err := s.Topic("news").Tell(t.Context(), num(i)); err != nil {
						t.Errorf("publish: %v", err)
					}
				}
				synctest.Wait()
				r.wantSorted(t, tt.got...)
				dead.wantSorted(t, tt.letters...)
			})
		})
	}
}

func TestAHandlerPublishesAsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		_ = s.SetTopic("news", Topic{Subscribers: []actor.Path{"/user/a"}})
		spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			r.add(fmt.Sprintf("%s %v %s", ctx.Sender().Path(), m.Body, ctx.Trace()))
			return nil
		})
		trace := actor.NewTraceID()
		b := spawnFunc(t, s, "b", func(ctx actor.Context, m actor.Message) error {
			ref, err := ctx.Resolve("topic:news")
			if err != nil {
				return err
			}
			_ = ctx.Tell(ref, m)
			if err := ctx.PublishTo("nevs", m); !errors.Is(err, actor.ErrNotFound) || !strings.Contains(err.Error(), `did you mean "news"`) {
				t.Errorf("an unknown topic: got %v, want ErrNotFound with a suggestion", err)
			}
			return ctx.PublishTo("news", m)
		})
		_ = b.Ref().Tell(actor.WithTrace(t.Context(), trace), num(1))
		synctest.Wait()
		want := "/user/b 1 " + trace.String()
		r.want(t, want, want)
	})
}

func TestAStoppedSubscriberIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		dead := letters(s)
		_ = s.SetTopic("news", Topic{})
		listeners(t, s, r, "a", "b")
		tell := func(path actor.Path, kind string) {
			_ = s.Lookup(path).Tell(t.Context(), actor.Message{Kind: kind})
			synctest.Wait()
		}
		tell("/user/a", "subscribe")
		tell("/user/b", "subscribe")
		tell("/user/b", "fail") // a restart ends no subscription
		dead.want(t, "/user/b failed: boom")
		tell("/user/a", "stop")
		listeners(t, s, r, "a") // another one, who has not subscribed
		synctest.Wait()
		if got := s.TopicSubscribers("news"); !slices.Equal(got, []actor.Path{"/user/b"}) {
			t.Errorf("subscribers: got %v, want [/user/b]", got)
		}
		_ = s.Topic("news").Tell(t.Context(), num(1))
		synctest.Wait()
		r.want(t, "b 1")
		tell("/user/b", "unsubscribe")
		if got := s.TopicSubscribers("news"); len(got) != 0 {
			t.Errorf("subscribers afterwards: got %v, want none", got)
		}
	})
}

func TestAFullSubscriberHidesNobodyElse(t *testing.T) {
	for _, overflow := range []mailbox.Overflow{mailbox.Reject, mailbox.Block, mailbox.DropHead, mailbox.DropNew} {
		t.Run(overflow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r, gate := newSystem(t), &record{}, make(chan struct{})
				dead := letters(s)
				_ = s.SetTopic("news", Topic{Subscribers: []actor.Path{"/user/slow", "/user/a"}})
				box := Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: overflow, BlockTimeout: time.Minute}}
				spawnSpec(t, s, Spec{Name: "slow", Settings: box, New: func() (actor.Behaviour, error) {
					return actor.Func(func(actor.Context, actor.Message) error { <-gate; return nil }), nil
				}})
				listeners(t, s, r, "a")
				go func() {
					for i := range 3 {
						if err := s.Topic("news").Tell(context.Background(), num(i)); err != nil {
							t.Errorf("publish: %v", err)
						}
						synctest.Wait()
					}
				}()
				time.Sleep(time.Second)
				want := []any{"a 0", "a 1", "a 2"}
				r.want(t, want...)
				if overflow == mailbox.Reject {
					dead.want(t, "/user/slow full")
				}
				close(gate)
			})
		})
	}
}

func TestAPublishersOnFullHoldsForEachSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		_ = s.SetTopic("news", Topic{Subscribers: []actor.Path{"/user/slow", "/user/a"}})
		box := Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.Reject}}
		spawnSpec(t, s, Spec{Name: "slow", Settings: box, New: func() (actor.Behaviour, error) {
			return actor.Func(func(_ actor.Context, m actor.Message) error {
				<-gate
				r.add(fmt.Sprint("slow ", m.Body))
				return nil
			}), nil
		}})
		listeners(t, s, r, "a")
		pub := spawnSpec(t, s, Spec{Name: "pub", Settings: Settings{OnFull: Retry}, New: func() (actor.Behaviour, error) {
			return actor.Func(func(ctx actor.Context, m actor.Message) error { return ctx.PublishTo("news", m) }), nil
		}})
		for i := range 3 {
			_ = pub.Ref().Tell(t.Context(), num(i))
			synctest.Wait()
		}
		r.want(t, "a 0", "a 1", "a 2")
		close(gate)
		time.Sleep(10 * time.Second)
		r.want(t, "a 0", "a 1", "a 2", "slow 0", "slow 1", "slow 2")
	})
}

func TestATopicThatIsAskedGivesTheFirstAnswer(t *testing.T) {
	for _, one := range []bool{false, true} {
		t.Run(fmt.Sprint("one ", one), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				_ = s.SetTopic("q", Topic{Subscribers: []actor.Path{"/user/a"}, One: one})
				spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error { return ctx.Reply(m) })
				m, err := s.Topic("q").(actor.Asker).Ask(t.Context(), num(7))
				if err != nil || m.Body != int64(7) {
					t.Errorf("got %v, %v; want 7", m.Body, err)
				}
				if _, err := s.Topic("none").(actor.Asker).Ask(t.Context(), num(7)); !errors.Is(err, actor.ErrStopped) {
					t.Errorf("no such topic: got %v, want ErrStopped", err)
				}
			})
		})
	}
}

func TestATopicIsChangedAndRemovedWhileItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		dead, news := letters(s), s.Topic("news")
		listeners(t, s, r, "a", "b")
		_ = s.SetTopic("news", Topic{})
		if _, err := s.SubscribeTopic("news", "/user/a"); err != nil {
			t.Fatal(err)
		}
		_ = s.SetTopic("news", Topic{Subscribers: []actor.Path{"/user/b"}})
		_ = news.Tell(t.Context(), num(1))
		synctest.Wait()
		r.wantSorted(t, "a 1", "b 1")
		s.RemoveTopic("news")
		if err := news.Tell(t.Context(), num(2)); err != nil {
			t.Errorf("publish to a removed topic: got %v, want nil and a dead letter", err)
		}
		dead.want(t, "/system/topics/news unrouted")
	})
}

func TestAnOfferToATopicNeedsRoomAtAllSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, gate := newSystem(t), &record{}, make(chan struct{})
		_ = s.SetTopic("news", Topic{Subscribers: []actor.Path{"/user/slow", "/user/a"}})
		if got := actor.Offer(t.Context(), s.Topic("news"), num(0)); got != actor.Closed {
			t.Errorf("nobody there: got %v, want Closed", got)
		}
		box := Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: mailbox.DropHead}}
		spawnSpec(t, s, Spec{Name: "slow", Settings: box, New: func() (actor.Behaviour, error) {
			return actor.Func(func(actor.Context, actor.Message) error { <-gate; return nil }), nil
		}})
		listeners(t, s, r, "a")
		synctest.Wait()
		for i, want := range []actor.OfferResult{actor.Accepted, actor.Accepted, actor.Full} {
			if got := actor.Offer(t.Context(), s.Topic("news"), num(i)); got != want {
				t.Errorf("offer %d: got %v, want %v", i, got, want)
			}
			synctest.Wait()
		}
		r.want(t, "a 0", "a 1")
		close(gate)
	})
}

func TestADeliveryOfATopicEndsWithAllItsCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate, settled := newSystem(t), make(chan struct{}), make(chan error, 1)
		_ = s.SetTopic("news", Topic{Subscribers: []actor.Path{"/user/a", "/user/b"}})
		for _, name := range []string{"a", "b"} {
			spawnFunc(t, s, name, func(actor.Context, actor.Message) error {
				if name == "b" {
					<-gate
				}
				return nil
			})
		}
		d := actor.NewDelivery(0, func(err error) { settled <- err })
		_ = s.Topic("news").Tell(actor.Track(t.Context(), d), num(1))
		d.Done(nil)
		synctest.Wait()
		if d.Settled() {
			t.Error("settled: got it before the second subscriber was done, want it after")
		}
		close(gate)
		if err := <-settled; err != nil {
			t.Errorf("settled: got %v, want nil", err)
		}
	})
}

func TestAnActorHearsTheEventsItWantsUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		spawnFunc(t, s, "ear", func(ctx actor.Context, m actor.Message) error {
			if m.Kind == "stop" {
				ctx.Stop(ctx.Self())
				return nil
			}
			r.add(m.Kind + " " + fmt.Sprint(m.Body.(map[string]any)["path"]))
			return nil
		})
		synctest.Wait()
		if _, err := s.SubscribeActor("/user/ear", Interest{Kinds: []string{"actor-startet"}}); err == nil || !strings.Contains(err.Error(), "actor-started") {
			t.Errorf("unknown kind: got %v, want an error with a suggestion", err)
		}
		if _, err := s.SubscribeActor("/user/nobody", Interest{}); !errors.Is(err, actor.ErrNotFound) {
			t.Errorf("nobody there: got %v, want ErrNotFound", err)
		}
		_, err := s.SubscribeActor("/user/ear", Interest{Kinds: []string{"actor-started"}, When: func(e actor.Event) bool {
			if e.(actor.Started).Path == "/user/bad" {
				panic("a condition of somebody else")
			}
			return e.(actor.Started).Path != "/user/b"
		}})
		if err != nil {
			t.Fatal(err)
		}
		cancel, _ := s.SubscribeActor("/user/ear", Interest{Kinds: []string{"actor-stopped"}})
		cancel()
		for _, name := range []string{"a", "b", "bad", "c"} {
			spawnFunc(t, s, name, func(actor.Context, actor.Message) error { return nil })
			synctest.Wait()
		}
		r.want(t, "actor-started /user/a", "actor-started /user/c")
		_ = s.Lookup("/user/ear").Tell(t.Context(), actor.Message{Kind: "stop"})
		synctest.Wait()
		if got := len(s.stream.list()); got != 0 {
			t.Errorf("subscriptions after its end: got %d, want 0", got)
		}
	})
}

func TestAnEventIsPublishedToATopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		_ = s.SetTopic("alarms", Topic{Subscribers: []actor.Path{"/user/a"}})
		spawnFunc(t, s, "a", func(_ actor.Context, m actor.Message) error { r.add(m.Kind); return nil })
		synctest.Wait()
		s.TellEvent(TopicPath("alarms"), actor.Stopped{Path: "/user/x"})
		s.TellEvent(TopicPath("none"), actor.Stopped{Path: "/user/x"})
		synctest.Wait()
		r.want(t, "actor-stopped")
	})
}

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprintf("%d subscribers", n), func(b *testing.B) {
			s := newSystem(b)
			var to []actor.Path
			for i := range n {
				to = append(to, spawnFunc(b, s, fmt.Sprint("a", i), func(actor.Context, actor.Message) error { return nil }).Path())
			}
			_ = s.SetTopic("news", Topic{Subscribers: to})
			ref, m, ctx := s.Topic("news"), actor.Message{Kind: "n"}, context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_ = ref.Tell(ctx, m)
			}
		})
	}
}
