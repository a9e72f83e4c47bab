package runtime

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// kept is a system that keeps dead letters.
func kept(t *testing.T, change func(*DeadLetterSettings)) *System {
	t.Helper()
	set := DefaultDeadLetters()
	set.Store = LettersKept
	if change != nil {
		change(&set)
	}
	return newSystem(t, WithDeadLetters(set))
}

// lose tells to nobody.
func lose(t *testing.T, s *System, path actor.Path, kinds ...string) {
	t.Helper()
	for _, k := range kinds {
		if err := s.Lookup(path).Tell(t.Context(), actor.Message{Kind: k}); !errors.Is(err, actor.ErrStopped) {
			t.Fatalf("tell %s: got %v, want ErrStopped", path, err)
		}
	}
}

// wantLetters compares the kinds that are listed.
func wantLetters(t *testing.T, s *System, q LetterQuery, want ...string) {
	t.Helper()
	var got []string
	for _, l := range s.DeadLetters().List(q) {
		got = append(got, l.Message.Kind)
	}
	if !slices.Equal(got, want) {
		t.Errorf("list %+v: got %q, want %q", q, got, want)
	}
}

func TestDeadLettersAreListedByPathSubtreeAndTimeTheLatestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kept(t, nil)
		begin := time.Now()
		lose(t, s, "/user/a", "1")
		time.Sleep(time.Minute)
		lose(t, s, "/user/a/b", "2")
		time.Sleep(time.Minute)
		lose(t, s, "/user/ab", "3")
		for _, tc := range []struct {
			q    LetterQuery
			want []string
		}{
			{LetterQuery{}, []string{"3", "2", "1"}},
			{LetterQuery{Path: "/user/a"}, []string{"1"}},
			{LetterQuery{Under: "/user/a"}, []string{"2", "1"}},
			{LetterQuery{Since: begin.Add(time.Minute)}, []string{"3", "2"}},
			{LetterQuery{Until: begin.Add(time.Minute)}, []string{"1"}},
			{LetterQuery{Limit: 2}, []string{"3", "2"}},
		} {
			wantLetters(t, s, tc.q, tc.want...)
		}
		l := s.DeadLetters().List(LetterQuery{Path: "/user/a"})[0]
		if got, ok := s.DeadLetters().Show(l.ID); !ok || !reflect.DeepEqual(got, l) {
			t.Errorf("show: got %+v, %v; want %+v", got, ok, l)
		}
		if got := s.DeadLetters().Purge(LetterQuery{Under: "/user/a"}); got != 2 {
			t.Errorf("purge: got %d, want 2", got)
		}
		wantLetters(t, s, LetterQuery{}, "3")
	})
}

func TestDeadLettersAreBoundedByNumberAndAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kept(t, func(set *DeadLetterSettings) { set.MaxEntries, set.Retention = 3, time.Hour })
		lose(t, s, "/user/a", "1", "2", "3", "4")
		wantLetters(t, s, LetterQuery{}, "4", "3", "2")
		time.Sleep(30 * time.Minute)
		lose(t, s, "/user/a", "5")
		time.Sleep(31 * time.Minute)
		wantLetters(t, s, LetterQuery{}, "5")
	})
}

func TestWhatIsRememberedOfDeadLettersChangesLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		d := s.DeadLetters()
		lose(t, s, "/user/a", "1")
		wantLetters(t, s, LetterQuery{})
		set := d.Settings()
		set.Store = LettersKept
		d.Configure(set)
		lose(t, s, "/user/a", "2", "3")
		wantLetters(t, s, LetterQuery{}, "3", "2")
		set.MaxEntries = 1
		d.Configure(set)
		wantLetters(t, s, LetterQuery{}, "3")
		if got, want := d.Counts(), []LetterCount{{"/user/a", "stopped", 3}}; !slices.Equal(got, want) {
			t.Errorf("counts: got %v, want %v", got, want)
		}
		set.Store = LettersOff
		d.Configure(set)
		lose(t, s, "/user/a", "4")
		wantLetters(t, s, LetterQuery{})
		if got := d.Counts(); len(got) != 0 {
			t.Errorf("off: got %v, want no counts", got)
		}
	})
}

func TestCountsOfDeadLettersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		for i := range maxCounted + 500 {
			lose(t, s, actor.User.Child(fmt.Sprint("a", i)), "x")
		}
		lose(t, s, "/user/a7", "x")
		for i := range 100 {
			lose(t, s, actor.Temp.Child(fmt.Sprint("$ask-", i)), "x")
		}
		counts := s.DeadLetters().Counts()
		if got, want := len(counts), maxCounted+1; got != want {
			t.Errorf("got %d counts, want %d", got, want)
		}
		if got, want := counts[0], (LetterCount{"", "stopped", 600}); got != want {
			t.Errorf("the rest: got %v, want %v", got, want)
		}
		if got, want := counts[1], (LetterCount{"/user/a7", "stopped", 2}); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestTheDetailOfAReasonIsNotCountedByItself(t *testing.T) {
	for reason, want := range map[string]string{
		"failed: boom": "failed", "removed in revision 7": "removed", "stopped": "stopped", "full": "full",
		"fullness": "fullness", "my own: detail": "my own",
	} {
		if got := classOf(reason); got != want {
			t.Errorf("%q: got %q, want %q", reason, got, want)
		}
	}
}

func TestALetterThatIsLostAgainIsTheSameEntryUntilItIsInQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := kept(t, func(set *DeadLetterSettings) { set.MaxReplays = 2 }), &record{}
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok {
				r.add(d.Message.Kind)
			}
		})
		spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			ctx.Log() // makes nothing that hides the replay
			return errors.New("boom")
		})
		tellAt(t, s, "/user/a", "poison")
		id := s.DeadLetters().List(LetterQuery{})[0].ID
		for n := 1; n <= 2; n++ {
			if res := s.DeadLetters().Replay(t.Context(), id, ""); res.Outcome != Replayed {
				t.Fatalf("replay %d: got %v", n, res)
			}
			synctest.Wait()
			all := s.DeadLetters().List(LetterQuery{})
			if len(all) != 1 || all[0].ID != id || all[0].Replays != n {
				t.Errorf("replay %d: got %+v, want entry %d with %d replays", n, all, id, n)
			}
		}
		if res := s.DeadLetters().Replay(t.Context(), id, ""); res.Outcome != InQuarantine || res.Err == nil {
			t.Errorf("got %v, want quarantine", res)
		}
		r.want(t, "poison", "poison", "poison")
	})
}

func tellAt(t *testing.T, s *System, path actor.Path, kind string) {
	t.Helper()
	_ = s.Lookup(path).Tell(t.Context(), actor.Message{Kind: kind})
	synctest.Wait()
}

func TestAReplayResolvesTheAddressAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := kept(t, nil), &record{}
		lose(t, s, "/user/a", "1", "2")
		d := s.DeadLetters()
		all := d.List(LetterQuery{})
		for _, tc := range []struct {
			id   uint64
			to   actor.Path
			want ReplayOutcome
		}{{99, "", UnknownLetter}, {all[0].ID, "", UnresolvedRecipient}, {all[0].ID, "/user/other", UnresolvedRecipient}} {
			if res := d.Replay(t.Context(), tc.id, tc.to); res.Outcome != tc.want || res.Err == nil {
				t.Errorf("%d to %q: got %v, want %v", tc.id, tc.to, res, tc.want)
			}
		}
		f := func(ctx actor.Context, m actor.Message) error {
			r.add(string(ctx.Self().Path()) + " " + m.Kind)
			return nil
		}
		spawnFunc(t, s, "a", f)
		spawnFunc(t, s, "b", f)
		d.Replay(t.Context(), all[1].ID, "")
		synctest.Wait()
		d.Replay(t.Context(), all[0].ID, "/user/b")
		synctest.Wait()
		r.want(t, "/user/a 1", "/user/b 2")
		wantLetters(t, s, LetterQuery{})
	})
}

func TestAMessageThatAReplayCausesIsAnEntryOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kept(t, nil)
		lose(t, s, "/user/a", "first")
		id := s.DeadLetters().List(LetterQuery{})[0].ID
		spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			if m.Kind == "first" {
				_ = ctx.Tell(ctx.Self(), actor.Message{Kind: "to itself"})
				return ctx.Tell(ctx.Lookup("/user/nobody"), actor.Message{Kind: "to nobody"})
			}
			return errors.New("boom")
		})
		s.DeadLetters().Replay(t.Context(), id, "")
		synctest.Wait()
		for _, l := range s.DeadLetters().List(LetterQuery{}) {
			if l.ID == id || l.Replays != 0 {
				t.Errorf("%s: got entry %d with %d replays, want one of its own", l.Message.Kind, l.ID, l.Replays)
			}
		}
		wantLetters(t, s, LetterQuery{}, "to itself", "to nobody")
	})
}

func TestALetterThatAFullMailboxRefusesIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for overflow, want := range map[mailbox.Overflow]ReplayOutcome{mailbox.Reject: NotTaken, mailbox.DropNew: Replayed} {
			s, gate := kept(t, nil), make(chan struct{})
			lose(t, s, "/user/a", "x")
			spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Mailbox: mailbox.Settings{Capacity: 1, Overflow: overflow}}, New: make1(&hooked{
				receive: func(actor.Context, actor.Message) error { <-gate; return nil },
			})})
			tellAt(t, s, "/user/a", "handled")
			tellAt(t, s, "/user/a", "queued")
			id := s.DeadLetters().List(LetterQuery{})[0].ID
			if res := s.DeadLetters().Replay(t.Context(), id, ""); res.Outcome != want {
				t.Errorf("%v: got %v, want %v", overflow, res, want)
			}
			if l, ok := s.DeadLetters().Show(id); !ok || l.Message.Kind != "x" {
				t.Errorf("%v: got %+v, %v; want it kept", overflow, l, ok)
			}
			close(gate)
		}
	})
}

func TestDroppedMessagesAreRememberedWhereThatIsWanted(t *testing.T) {
	for _, include := range []bool{false, true} {
		t.Run(fmt.Sprint(include), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, gate := kept(t, func(set *DeadLetterSettings) { set.IncludeDrops = include }), make(chan struct{})
				spawnSpec(t, s, Spec{Name: "a", Settings: Settings{Mailbox: mailbox.Settings{Capacity: 1}}, New: make1(&hooked{
					receive: func(actor.Context, actor.Message) error { <-gate; return nil },
				})})
				for _, k := range []string{"1", "2", "3"} {
					tellAt(t, s, "/user/a", k)
				}
				close(gate)
				if include {
					wantLetters(t, s, LetterQuery{}, "2")
					if l := s.DeadLetters().List(LetterQuery{})[0]; !l.Dropped || l.Reason != "dropped: drop-head" {
						t.Errorf("got %+v, want it marked as dropped by drop-head", l)
					}
				} else {
					wantLetters(t, s, LetterQuery{})
				}
			})
		})
	}
}

func TestALetterOfATypedActorIsToldAgainAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := kept(t, nil), &record{}
		p, err := Spawn(s, "a", echoProps(""))
		if err != nil {
			t.Fatal(err)
		}
		stop := func(path actor.Path) {
			a, _ := s.Find(path)
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		stop("/user/a")
		_ = p.Tell(t.Context(), "text")
		l := s.DeadLetters().List(LetterQuery{})[0]
		spawnFunc(t, s, "other", func(actor.Context, actor.Message) error { return nil })
		if res := s.DeadLetters().Replay(t.Context(), l.ID, "/user/other"); res.Outcome != WrongRecipient {
			t.Errorf("got %v, want wrong-recipient", res)
		}
		if _, err := Spawn(s, "a", &Props[string]{New: func() (Receiver[string], error) { return noting{r}, nil }}); err != nil {
			t.Fatal(err)
		}
		if res := s.DeadLetters().Replay(t.Context(), l.ID, ""); res.Outcome != Replayed {
			t.Errorf("got %v, want replayed", res)
		}
		synctest.Wait()
		r.want(t, "text")
	})
}

type noting struct{ r *record }

func (n noting) Receive(_ *Context[string], m string) error { n.r.add(m); return nil }

func TestADeadLetterOfADeadLetterDoesNotGoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := kept(t, nil)
		a := spawnFunc(t, s, "alarm", func(actor.Context, actor.Message) error { return nil })
		s.Subscribe(func(e actor.Event) { s.TellEvent("/user/alarm", e) })
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok {
				s.TellEvent("/user/failing", d)
			}
		})
		spawnFunc(t, s, "failing", func(actor.Context, actor.Message) error { return errors.New("boom") })
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		lose(t, s, "/user/alarm", "x")
		synctest.Wait()
		wantLetters(t, s, LetterQuery{}, "x")
		want := []LetterCount{{"/user/alarm", "stopped", 1}, {"/user/failing", "failed", 1}}
		if got := s.DeadLetters().Counts(); !slices.Equal(got, want) {
			t.Errorf("counts: got %v, want %v", got, want)
		}
	})
}

func TestManySendersAndReadersOfDeadLettersAgree(t *testing.T) {
	s := kept(t, func(set *DeadLetterSettings) { set.MaxEntries = 50 })
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				_ = s.Lookup(actor.User.Child(fmt.Sprint("n", g))).Tell(t.Context(), num(i))
				if i%50 == 0 {
					for _, l := range s.DeadLetters().List(LetterQuery{Limit: 5}) {
						s.DeadLetters().Replay(t.Context(), l.ID, "")
					}
				}
			}
		})
	}
	wg.Wait()
	var all uint64
	for _, c := range s.DeadLetters().Counts() {
		all += c.Count
	}
	if all != 2000 {
		t.Errorf("got %d, want 2000", all)
	}
	if got := len(s.DeadLetters().List(LetterQuery{})); got != 50 {
		t.Errorf("got %d entries, want 50", got)
	}
}

func ExampleDeadLetters() {
	set := DefaultDeadLetters()
	set.Store = LettersKept
	s := New("orders", WithDeadLetters(set), WithLogger(quiet))
	_ = s.Lookup("/user/gone").Tell(noWait(), actor.Message{Kind: "order"})
	for _, l := range s.DeadLetters().List(LetterQuery{Under: actor.User}) {
		fmt.Println(l.ID, l.Recipient, l.Message.Kind, l.Reason)
		fmt.Println(s.DeadLetters().Replay(noWait(), l.ID, "").Outcome)
	}
	// Output:
	// 1 /user/gone order stopped
	// unresolved-recipient
}
