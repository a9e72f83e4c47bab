package runtime

import (
	"context"
	"fmt"
	gort "runtime"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// window is how many messages a benchmark keeps on their way, so that what is
// measured is a flow and not the growth of a backlog.
const window = 1000

// benchSystem starts a system that ends with the benchmark.
func benchSystem(b *testing.B) *System {
	s := New("bench", WithLogger(quiet), WithDrainTimeout(0))
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			b.Error(err)
		}
	})
	return s
}

// receive makes a receiver of a function.
type receive[T any] func(*Context[T], T) error

func (f receive[T]) Receive(ctx *Context[T], m T) error { return f(ctx, m) }

func benchActor[T any](b *testing.B, s *System, name string, settings Settings, f receive[T]) *PID[T] {
	p, err := Spawn(s, name, &Props[T]{New: func() (Receiver[T], error) { return f, nil }, Settings: settings})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// sink counts messages and gives the sender leave for another window.
type sink struct {
	n     int
	leave chan struct{}
}

func newSink() *sink { return &sink{leave: make(chan struct{}, 8)} }

func (s *sink) Receive(*Context[int], int) error {
	if s.n++; s.n%(window/2) == 0 {
		s.leave <- struct{}{}
	}
	return nil
}

// flow tells n messages with at most a window of them on their way, and waits
// until all are handled.
func (s *sink) flow(n int, tell func(int)) {
	n = (n + window - 1) / window * window
	for i := range n {
		if i >= window && i%(window/2) == 0 {
			<-s.leave
		}
		tell(i)
	}
	for range min(n, window) / (window / 2) {
		<-s.leave
	}
}

func BenchmarkTell1to1(b *testing.B) {
	s, to := benchSystem(b), newSink()
	p := benchActor(b, s, "sink", Settings{}, to.Receive)
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	to.flow(b.N, func(i int) { _ = p.Tell(ctx, i) })
}

// BenchmarkTell1to1Chan is what a plain channel does with the same flow.
func BenchmarkTell1to1Chan(b *testing.B) {
	ch, to := make(chan int, window), newSink()
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range ch {
			_ = to.Receive(nil, m)
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	to.flow(b.N, func(i int) { ch <- i })
	b.StopTimer()
	close(ch)
	wg.Wait()
}

// BenchmarkTellMessage1to1 is the flow of a declared system.
func BenchmarkTellMessage1to1(b *testing.B) {
	s, to := benchSystem(b), newSink()
	a := spawnFunc(b, s, "sink", func(actor.Context, actor.Message) error { return to.Receive(nil, 0) })
	ctx, ref, m := context.Background(), a.Ref(), actor.Message{Kind: "n", Body: int64(1)}
	b.ReportAllocs()
	b.ResetTimer()
	to.flow(b.N, func(int) { _ = ref.Tell(ctx, m) })
}

func BenchmarkTell4to1(b *testing.B) {
	s, all := benchSystem(b), make(chan struct{})
	const senders = 4
	each := b.N/senders + 1
	n := 0
	p := benchActor(b, s, "sink", Settings{}, func(*Context[int], int) error {
		if n++; n == senders*each {
			close(all)
		}
		return nil
	})
	b.ReportAllocs()
	b.ResetTimer()
	for range senders {
		go func() {
			for i := range each {
				_ = p.Tell(context.Background(), i)
			}
		}()
	}
	<-all
}

// pingPong plays b.N hops between pairs of actors and waits for the last.
func pingPong(b *testing.B, pairs int) {
	s := benchSystem(b)
	var wg sync.WaitGroup
	hops := max(b.N/pairs, 1)
	starts := make([]*PID[int], pairs)
	for i := range pairs {
		var other [2]*PID[int]
		play := func(me int) receive[int] {
			return func(ctx *Context[int], left int) error {
				if left == 0 {
					wg.Done()
					return nil
				}
				return other[1-me].Tell(ctx, left-1)
			}
		}
		for me := range other {
			other[me] = benchActor(b, s, fmt.Sprintf("%d-%d", i, me), Settings{}, play(me))
		}
		starts[i] = other[0]
	}
	wg.Add(pairs)
	b.ReportAllocs()
	b.ResetTimer()
	for _, p := range starts {
		_ = p.Tell(context.Background(), hops)
	}
	wg.Wait()
}

func BenchmarkPingPong(b *testing.B) { pingPong(b, 1) }

func BenchmarkPairs1000(b *testing.B) { pingPong(b, 1000) }

// BenchmarkPingPongChan is what two goroutines and two channels do.
func BenchmarkPingPongChan(b *testing.B) {
	there, back := make(chan int, 1), make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for m := range there {
			back <- m
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		there <- 1
		<-back
	}
	close(there)
	wg.Wait()
}

func BenchmarkAskRoundTrip(b *testing.B) {
	s := benchSystem(b)
	p := benchActor(b, s, "echo", Settings{}, func(_ *Context[count], m count) error {
		m.total.Reply(m.add)
		return nil
	})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if n, err := Ask(ctx, p, func(r ReplyTo[int]) count { return count{1, r} }); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkSpawnIdle spawns actors that never get a message. Its memory is that
// of heap and stacks together.
func BenchmarkSpawnIdle(b *testing.B) {
	s := benchSystem(b)
	props := &Props[int]{New: func() (Receiver[int], error) { return idle[int]{}, nil }}
	names := make([]string, b.N)
	for i := range names {
		names[i] = fmt.Sprintf("a%d", i)
	}
	before := inUse()
	b.ReportAllocs()
	b.ResetTimer()
	for _, name := range names {
		if _, err := Spawn(s, name, props); err != nil {
			b.Fatal(err)
		}
	}
	s.awaitQuiet(context.Background(), time.Minute)
	b.StopTimer()
	if b.N > 1000 {
		b.ReportMetric(float64(inUse()-before)/float64(b.N), "bytes/actor")
	}
	gort.KeepAlive(names)
}

func inUse() int64 {
	var m gort.MemStats
	gort.GC()
	gort.GC()
	gort.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// skynet is a tree of actors in which each inner one has ten children; the leaves
// tell their number and the others the sum.
type skynet struct {
	size, first int
	up          ReplyTo[int]
	to          *PID[int]
	left, sum   int
}

func (a *skynet) Receive(ctx *Context[int], m int) error {
	if a.left == 0 { // the word to begin
		if a.size == 1 {
			return a.done(ctx, a.first)
		}
		a.left = 10
		for i := range 10 {
			child := &skynet{size: a.size / 10, first: a.first + i*a.size/10, to: ctx.Self()}
			p, err := SpawnChild(ctx, fmt.Sprint(i), &Props[int]{New: func() (Receiver[int], error) { return child, nil }})
			if err != nil {
				return err
			}
			_ = p.Tell(ctx, 0)
		}
		return nil
	}
	a.sum += m
	if a.left--; a.left == 0 {
		return a.done(ctx, a.sum)
	}
	return nil
}

func (a *skynet) done(ctx *Context[int], sum int) error {
	ctx.Stop(ctx.Path())
	if a.to == nil {
		a.up.Reply(sum)
		return nil
	}
	return a.to.Tell(ctx, sum)
}

func BenchmarkSkynet(b *testing.B) {
	const size = 10_000
	s, n := benchSystem(b), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		f := newFuture[int](s)
		root := &skynet{size: size, up: ReplyTo[int]{f}}
		p := benchActor(b, s, fmt.Sprint("skynet", n), Settings{}, root.Receive)
		_ = p.Tell(context.Background(), 0)
		if got := (<-f.answer).value; got != size*(size-1)/2 {
			b.Fatalf("got %d, want %d", got, size*(size-1)/2)
		}
	}
}

func BenchmarkRing(b *testing.B) {
	const members = 10_000
	s, done := benchSystem(b), make(chan struct{})
	ring := make([]*PID[int], members)
	for i := range ring {
		ring[i] = benchActor(b, s, fmt.Sprint(i), Settings{}, func(ctx *Context[int], left int) error {
			if left == 0 {
				close(done)
				return nil
			}
			return ring[(i+1)%members].Tell(ctx, left-1)
		})
	}
	s.awaitQuiet(context.Background(), time.Minute)
	b.ReportAllocs()
	b.ResetTimer()
	_ = ring[0].Tell(context.Background(), b.N)
	<-done
}

func BenchmarkPriorityTell(b *testing.B) {
	s, to := benchSystem(b), newSink()
	p, err := Spawn(s, "sink", &Props[int]{
		New:      func() (Receiver[int], error) { return receive[int](to.Receive), nil },
		Priority: func(m int, _ actor.Ref) float64 { return float64(m % 7) },
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	to.flow(b.N, func(i int) { _ = p.Tell(ctx, i) })
}

func BenchmarkBoundedDropHead(b *testing.B) {
	s, to := benchSystem(b), newSink()
	p := benchActor(b, s, "sink", Settings{Mailbox: mailbox.Settings{Capacity: 2 * window, Overflow: mailbox.DropHead}}, to.Receive)
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	to.flow(b.N, func(i int) { _ = p.Tell(ctx, i) })
}

// fromActor is the flow of messages that one actor tells another while it handles
// the message that ctx comes with.
func fromActor(b *testing.B, ctx context.Context) {
	s, to, done := benchSystem(b), newSink(), make(chan struct{})
	sink := benchActor(b, s, "sink", Settings{}, to.Receive)
	source := benchActor(b, s, "source", Settings{}, func(ctx *Context[int], n int) error {
		to.flow(n, func(i int) { _ = sink.Tell(ctx, i) })
		close(done)
		return nil
	})
	b.ReportAllocs()
	b.ResetTimer()
	_ = source.Tell(ctx, b.N)
	<-done
}

// BenchmarkTrackedTell is a flow of which each message joins a delivery.
func BenchmarkTrackedTell(b *testing.B) {
	d := actor.NewDelivery(0, func(error) {})
	fromActor(b, actor.Track(context.Background(), d))
	d.Done(nil)
}

// BenchmarkUntrackedTell is the same flow without the delivery.
func BenchmarkUntrackedTell(b *testing.B) { fromActor(b, context.Background()) }

// BenchmarkBacklog is what messages behind an actor that is busy cost, and what they
// take and leave of memory.
func BenchmarkBacklog(b *testing.B) {
	for _, depth := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) { backlog(b, depth) })
	}
}

func backlog(b *testing.B, depth int) {
	s, n, gate, through := benchSystem(b), 0, make(chan struct{}), make(chan struct{})
	p := benchActor(b, s, "busy", Settings{}, func(_ *Context[*int], m *int) error {
		switch {
		case m == nil:
			<-gate
		default:
			if n++; n%depth == 0 {
				through <- struct{}{}
			}
		}
		return nil
	})
	ctx, m, before, live := context.Background(), new(int), inUse(), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Tell(ctx, nil)
		for range depth {
			_ = p.Tell(ctx, m)
		}
		b.StopTimer()
		live = inUse() - before
		b.StartTimer()
		gate <- struct{}{}
		<-through
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/message")
	if depth > 100_000 {
		b.ReportMetric(float64(live)/float64(depth), "bytes/message")
		b.ReportMetric(float64(inUse()-before)/1e6, "MB-kept")
	}
	gort.KeepAlive(p)
}

// TestNothingIsAllocatedPerTellAndPerWakeUp measures what the benchmarks report.
func TestNothingIsAllocatedPerTellAndPerWakeUp(t *testing.T) {
	s, handled := newSystem(t), make(chan struct{}, 1)
	p, err := Spawn(s, "a", &Props[int]{New: func() (Receiver[int], error) {
		return receive[int](func(*Context[int], int) error { handled <- struct{}{}; return nil }), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if got := testing.AllocsPerRun(1000, func() { _ = p.Tell(ctx, 1); <-handled }); got >= 1 {
		t.Errorf("a tell with its wake-up: got %v allocations, want 0", got)
	}
}
