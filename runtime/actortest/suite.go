package actortest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	gort "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Case is what Suite needs to know of a behaviour.
type Case struct {
	// Args are the behaviour's arguments as configuration writes them. The
	// behaviour is the actor Self; Suite puts an actor at every target of the
	// form /user/NAME.
	Args map[string]any
	// Messages are handled without a failure, in this order.
	Messages []actor.Message
	// Timeout is how long any step may take; 0 means 5s.
	Timeout time.Duration

	unread bool // nobody else reads the messages meanwhile, for tests of this package
}

func (c Case) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return 5 * time.Second
}

// check is one promise and how to find out whether a behaviour keeps it.
type check struct {
	name string
	run  func(f actor.Factory, c Case) error
}

var checks = []check{
	{"preparing it touches nothing", preparesOnly},
	{"it handles its messages and changes none", onStage(handlesMessages)},
	{"it takes whatever comes without a panic", takesAnything},
	{"it works on after a restart", onStage(survivesRestart)},
	{"it works on after an equal configuration", onStage(takesEqualConfiguration)},
	{"it works on after being swapped for its like", onStage(survivesSwap)},
	{"its state can be handed over", onStage(handsStateOver)},
	{"it stops in time and can be started again", onStage(startsAgain)},
	{"it leaves no goroutine behind", leavesNothing},
}

// Suite checks that the behaviours of f keep the promises of package actor, on
// the real engine: they leave messages as they are, send only legal bodies,
// survive a restart, stop in time, leave no goroutine behind, panic on nothing,
// hand their state over and take an equal configuration; and preparing them has
// no side effect. Run it with the race detector. It must not run in parallel
// with other tests of its process, since it counts goroutines.
func Suite(t *testing.T, f actor.Factory, c Case) {
	t.Helper()
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			if err := check.run(f, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// onStage runs a check on a running system.
func onStage(run func(*stage) error) func(actor.Factory, Case) error {
	return func(f actor.Factory, c Case) error {
		s, err := newStage(f, c)
		if err != nil {
			return err
		}
		err = run(s)
		return errors.Join(err, s.close())
	}
}

// preparesOnly checks that Prepare and New neither make files nor listen nor
// start goroutines: those belong to Start.
func preparesOnly(f actor.Factory, c Case) error {
	args, err := decode(f, c)
	if err != nil {
		return err
	}
	untouched := files(f.Schema(), args)
	before := goroutines()
	_, prepared, err := prepare(f, c)
	if err != nil {
		return err
	}
	for range 2 {
		if b, err := prepared.New(); err != nil || b == nil {
			return fmt.Errorf("new: got %v and error %v, want an instance", b, err)
		}
	}
	err = before.stillAll(c.timeout())
	for _, path := range untouched {
		if _, e := os.Lstat(path); e == nil {
			err = errors.Join(err, fmt.Errorf("file %s was made before Start", path))
		}
	}
	return errors.Join(err, free(f.Schema(), args))
}

// files returns the files of the configuration that do not exist.
func files(schema actor.Schema, args map[string]any) (missing []string) {
	schema.Walk(args, func(_ []string, f actor.Field, v any) {
		path, ok := v.(string)
		if !ok || f.Kind != actor.FileField || path == "" {
			return
		}
		if _, err := os.Lstat(path); err != nil {
			missing = append(missing, path)
		}
	})
	return missing
}

// free checks that the addresses of the configuration can be listened on.
func free(schema actor.Schema, args map[string]any) (err error) {
	schema.Walk(args, func(_ []string, f actor.Field, v any) {
		address, ok := v.(string)
		if !ok || f.Kind != actor.AddressField || address == "" {
			return
		}
		l, e := net.Listen("tcp", address)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("before Start: %w", e))
			return
		}
		err = errors.Join(err, l.Close())
	})
	return err
}

func handlesMessages(s *stage) error {
	err := s.handleAll(s.c.Messages)
	return errors.Join(err, s.unwanted(false))
}

// takesAnything checks that no message makes the behaviour panic. Failing is
// allowed, so each system gets fewer messages than an actor may be restarted.
func takesAnything(f actor.Factory, c Case) error {
	for some := range slices.Chunk(anything(c), 9) {
		err := onStage(func(s *stage) error {
			err := s.handleAll(some)
			return errors.Join(err, s.unwanted(true))
		})(f, c)
		if err != nil {
			return err
		}
	}
	return nil
}

// anything returns messages of known and unknown kinds with all sorts of bodies.
func anything(c Case) (all []actor.Message) {
	bodies := []any{
		nil, true, int64(math.MinInt64), math.Inf(1), math.NaN(), "", "\xff", []byte{}, []byte{0}, []any{}, []any{nil, []any{}},
		map[string]any{}, map[string]any{"": nil, "a": map[string]any{"b": []any{int64(1)}}},
	}
	kinds := []string{"", "no such kind", actor.KindTerminated}
	for _, m := range c.Messages {
		if !slices.Contains(kinds, m.Kind) {
			kinds = append(kinds, m.Kind)
		}
	}
	for _, kind := range kinds {
		for _, body := range bodies {
			all = append(all, actor.Message{Kind: kind, Body: body})
		}
	}
	return all
}

func survivesRestart(s *stage) error {
	if err := s.handleAll(s.c.Messages); err != nil {
		return err
	}
	if err := s.do(func(actor.Context, actor.Behaviour) error { return errOnPurpose }); !errors.Is(err, errOnPurpose) {
		return err
	}
	if err := s.until(func() bool { return s.restarts > 0 }); err != nil {
		return fmt.Errorf("the restart: %w", err)
	}
	return handlesMessages(s)
}

func takesEqualConfiguration(s *stage) error {
	if err := s.handleAll(s.c.Messages); err != nil {
		return err
	}
	err := s.do(func(ctx actor.Context, b actor.Behaviour) error {
		if s.prepared.Reconfigure == nil {
			return nil
		}
		_, err := s.prepared.Reconfigure(ctx, b)
		return err
	})
	if err != nil {
		return fmt.Errorf("reconfigure: %w", err)
	}
	return handlesMessages(s)
}

func survivesSwap(s *stage) error {
	if err := s.handleAll(s.c.Messages); err != nil {
		return err
	}
	ctx, cancel := s.limit()
	defer cancel()
	if err := s.subject.Swap(ctx, s.producer(), nil); err != nil {
		return err
	}
	return handlesMessages(s)
}

// handsStateOver checks that an instance with another's state has the same
// state, and that a state of an unknown version is refused.
func handsStateOver(s *stage) error {
	if err := s.handleAll(s.c.Messages); err != nil {
		return err
	}
	return s.do(func(_ actor.Context, b actor.Behaviour) error {
		from, ok := b.(actor.Snapshotter)
		if !ok {
			return nil
		}
		state, err := from.Snapshot()
		switch {
		case errors.Is(err, actor.ErrUnsupported): // it stands for a behaviour elsewhere that has none
			return nil
		case err != nil:
			return fmt.Errorf("snapshot: %w", err)
		}
		next, err := s.prepared.New()
		if err != nil {
			return err
		}
		to, ok := next.(actor.Snapshotter)
		if !ok {
			return fmt.Errorf("another instance is a %T, which takes no state", next)
		}
		return sameState(to, state)
	})
}

func sameState(next actor.Snapshotter, state actor.State) error {
	if err := next.Restore(state); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	again, err := next.Snapshot()
	switch {
	case err != nil:
		return fmt.Errorf("snapshot of the restored instance: %w", err)
	case again.Version != state.Version || !bytes.Equal(again.Data, state.Data):
		return fmt.Errorf("the restored instance has another state\n got: version %d, %q\nwant: version %d, %q",
			again.Version, again.Data, state.Version, state.Data)
	case next.Restore(actor.State{Version: state.Version + 1_000_000, Data: state.Data}) == nil:
		return errors.New("restore of a version from the future: got no error, want one")
	}
	return nil
}

func startsAgain(s *stage) error {
	for range 2 {
		if err := s.handleAll(s.c.Messages); err != nil {
			return err
		}
		if err := s.stop(); err != nil {
			return err
		}
		if err := s.start(); err != nil {
			return fmt.Errorf("starting again: %w", err)
		}
	}
	return s.unwanted(false)
}

// leavesNothing runs the behaviour's whole life twice: what the first one
// started for good, such as a shared plugin process, the second one must not.
func leavesNothing(f actor.Factory, c Case) error {
	life := onStage(func(s *stage) error { return errors.Join(s.handleAll(c.Messages), s.stop()) })
	if err := life(f, c); err != nil {
		return err
	}
	before := goroutines()
	return errors.Join(life(f, c), before.stillAll(c.timeout()))
}

// goroutineSet holds goroutines with their stacks, by the line that names them.
type goroutineSet map[string]string

func goroutines() goroutineSet {
	buf := make([]byte, 1<<20)
	for {
		n := gort.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	set := goroutineSet{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		id, _, _ := strings.Cut(stack, " [")
		set[id] = stack
	}
	return set
}

// stillAll waits until there are no goroutines but those of the set, and returns
// an error with the others' stacks when that takes too long.
func (before goroutineSet) stillAll(timeout time.Duration) error {
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		var more []string
		for id, stack := range goroutines() {
			if _, ok := before[id]; !ok {
				more = append(more, stack)
			}
		}
		if len(more) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return fmt.Errorf("%d goroutines are left after %v:\n%s", len(more), timeout, strings.Join(more, "\n\n"))
		}
	}
}
