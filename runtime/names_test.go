package runtime

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/actord/actord/runtime/actor"
)

type echo struct{}

func (echo) Receive(*Context[string], string) error { return nil }

func echoProps(behaviour string) *Props[string] {
	return &Props[string]{New: func() (Receiver[string], error) { return echo{}, nil }, Behaviour: behaviour}
}

func TestASpawnWithoutANameGetsOneThatNobodyCanGuess(t *testing.T) {
	for _, tc := range []struct{ name, behaviour, want string }{
		{"an actor without a behaviour's name is anonymous", "", `^/user/\$anonymous-\d+-[0-9a-f]{12}$`},
		{"a behaviour gives its name", "router", `^/user/\$router-\d+-[0-9a-f]{12}$`},
		{"a plugin's behaviour stays one segment", "fraud/score", `^/user/\$fraud-score-\d+-[0-9a-f]{12}$`},
		{"a name that cannot be one is not used", "a\x00b", `^/user/\$anonymous-\d+-[0-9a-f]{12}$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t)
				first, err := Spawn(s, "", echoProps(tc.behaviour))
				if err != nil {
					t.Fatal(err)
				}
				second, err := s.SpawnActor(actor.User, Spec{Behaviour: tc.behaviour, New: make1(&hooked{})})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range []actor.Path{first.Path(), second.Path()} {
					if !regexp.MustCompile(tc.want).MatchString(string(p)) {
						t.Errorf("got %s, want %s", p, tc.want)
					}
				}
				a, b := string(first.Path()), string(second.Path())
				if a[len(a)-12:] == b[len(b)-12:] {
					t.Errorf("got the random part %s twice", a[len(a)-12:])
				}
			})
		})
	}
}

func TestAChildWithoutANameGetsOneToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, got := newSystem(t), actor.Path("")
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			child, err := ctx.Spawn("", make1(&hooked{}))
			if err == nil {
				got = child.Path()
			}
			return err
		})
		tellKind(t, a, "x")
		synctest.Wait()
		if !strings.HasPrefix(string(got), "/user/a/$anonymous-1-") {
			t.Errorf("got %q, want a generated name below /user/a", got)
		}
		if _, err := s.SpawnActor(actor.User, Spec{Name: got.Name(), New: make1(&hooked{})}); err == nil {
			t.Errorf("spawn %s: got no error, though '$' is kept for generated names", got.Name())
		}
		if _, err := actor.ParsePath(string(got)); err != nil {
			t.Errorf("parse %s: %v", got, err)
		}
	})
}

func TestWhatIsToldToDeadLettersIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newSystem(t), &record{}
		s.Subscribe(func(e actor.Event) {
			if d, ok := e.(actor.DeadLetter); ok {
				r.add(string(d.Recipient) + " " + d.Reason + " " + d.Message.Kind)
			}
		})
		typed, err := Lookup[string](s, actor.DeadLetters)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			s.Lookup(actor.DeadLetters).Tell(t.Context(), actor.Message{Kind: "k"}),
			typed.Tell(t.Context(), "text"),
		} {
			if err != nil {
				t.Errorf("tell: got %v", err)
			}
		}
		if _, err := typed.Ask(t.Context(), "question"); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("ask: got %v, want ErrStopped", err)
		}
		r.want(t, "/deadLetters dead-letters k", "/deadLetters dead-letters string", "/deadLetters dead-letters string")
	})
}

func TestAnAnswerMayGoToTheAddressOfAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, later := newSystem(t), actor.Path("")
		a := spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error {
			later = ctx.Sender().Path()
			return ctx.Tell(ctx.Lookup(later), actor.Message{Kind: "answer"})
		})
		got, err := s.Lookup(a.Path()).(actor.Asker).Ask(t.Context(), actor.Message{Kind: "question"})
		if err != nil || got.Kind != "answer" {
			t.Errorf("got %v, %v; want the answer", got.Kind, err)
		}
		if later.Parent() != actor.Temp {
			t.Errorf("got the address %s, want one below /temp", later)
		}
		if err := s.Lookup(later).Tell(t.Context(), actor.Message{}); !errors.Is(err, actor.ErrStopped) {
			t.Errorf("a second answer: got %v, want ErrStopped", err)
		}
		s.temps.byPath.Range(func(k, _ any) bool { t.Errorf("%v is still there", k); return true })
	})
}

func TestAQuestionThatIsOverKeepsNoAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		var sender actor.Ref
		spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error { sender = ctx.Sender(); return nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = s.Lookup("/user/a").(actor.Asker).Ask(ctx, actor.Message{})
		_ = sender.Path()
		s.temps.byPath.Range(func(k, _ any) bool { t.Errorf("%v is still there", k); return true })
	})
}

func TestNobodyIsSpawnedWhereOnlyAddressesAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		for _, p := range []actor.Path{actor.Temp, actor.DeadLetters, actor.Root} {
			if _, err := s.SpawnActor(p, Spec{Name: "a", New: make1(&hooked{})}); !errors.Is(err, actor.ErrNotFound) {
				t.Errorf("below %s: got %v, want ErrNotFound", p, err)
			}
		}
		for _, p := range []actor.Path{actor.User, actor.System} {
			if _, ok := s.Find(p); !ok {
				t.Errorf("%s is not there", p)
			}
		}
	})
}

func TestTwoSystemsWithTheSamePathsDoNotSeeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, r := newSystem(t), newSystem(t), &record{}
		for i, s := range []*System{one, two} {
			spawnFunc(t, s, "a", func(ctx actor.Context, m actor.Message) error { r.add(i*10 + int(m.Body.(int64))); return nil })
			s.Subscribe(func(e actor.Event) {
				if d, ok := e.(actor.DeadLetter); ok {
					r.add(string(d.Recipient))
				}
			})
		}
		_ = one.Lookup("/user/a").Tell(t.Context(), num(1))
		synctest.Wait()
		_ = two.Lookup("/user/a").Tell(t.Context(), num(2))
		synctest.Wait()
		if err := one.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = one.Lookup("/user/a").Tell(t.Context(), num(3))
		_ = two.Lookup("/user/a").Tell(t.Context(), num(4))
		synctest.Wait()
		r.want(t, 1, 12, "/user/a", 14)
	})
}

// closing is an extension that says when it is closed.
type closing struct {
	name string
	r    *record
}

func (c *closing) Close() error { c.r.add("close " + c.name); return nil }

func TestExtensionsAreMadeOnceWhenNeededAndClosedInReverse(t *testing.T) {
	r := &record{}
	base := NewExtension("base", func(*System) *closing { r.add("make base"); return &closing{"base", r} })
	upper := NewExtension("upper", func(s *System) *closing {
		Extension(s, base)
		r.add("make upper")
		return &closing{"upper", r}
	})
	never := NewExtension("never", func(*System) *closing { r.add("make never"); return nil })
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet))
		var wg sync.WaitGroup
		seen := make([]*closing, 16)
		for i := range seen {
			wg.Go(func() { seen[i] = Extension(s, upper) })
		}
		wg.Wait()
		if slices.ContainsFunc(seen, func(c *closing) bool { return c == nil || c != seen[0] }) {
			t.Error("got several instances, want one")
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.want(t, "make base", "make upper", "close upper", "close base")
		Extension(s, never)
	})
}

func TestAnExtensionCanBeReplacedInATest(t *testing.T) {
	id := NewExtension("clock", func(*System) string { return "real" })
	synctest.Test(t, func(t *testing.T) {
		s, other := newSystem(t, WithExtension(id, func(*System) string { return "fake" })), newSystem(t)
		if got, want := Extension(s, id)+" "+Extension(other, id), "fake real"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestAnExtensionThatPanicsIsTriedAgain(t *testing.T) {
	tries := 0
	id := NewExtension("x", func(*System) int {
		if tries++; tries == 1 {
			panic("not yet")
		}
		return tries
	})
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		func() {
			defer func() { _ = recover() }()
			Extension(s, id)
		}()
		if got := Extension(s, id); got != 2 {
			t.Errorf("got %d, want 2", got)
		}
	})
}

func TestAnExtensionThatComesAfterTheEndIsClosedAtOnce(t *testing.T) {
	r := &record{}
	id := NewExtension("late", func(*System) *closing { return &closing{"late", r} })
	synctest.Test(t, func(t *testing.T) {
		s := New("test", WithLogger(quiet))
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		Extension(s, id)
		r.want(t, "close late")
	})
}
