package mailbox

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// item is what the tests queue: a number, a rank, and whether it may be discarded.
type item struct {
	n    int
	rank float64
	keep bool
}

func (i item) String() string {
	if i.keep {
		return fmt.Sprintf("%d!", i.n)
	}
	return fmt.Sprint(i.n)
}

func newQueue(s Settings) *Queue[item] {
	return new(New(&s, &Shared[item]{Keep: func(i item) bool { return i.keep }}))
}

func rankOf(i item) float64 { return i.rank }

// model is the queue as one would write it without a thought for speed: a list in
// the order of arrival.
type model struct {
	s    Settings
	list []item
}

func (m *model) push(i item) Outcome[item] {
	if m.s.Capacity == 0 || len(m.list) < m.s.Capacity || i.keep {
		m.list = append(m.list, i)
		return Outcome[item]{}
	}
	victim := -1
	switch m.s.Overflow {
	case DropHead:
		victim = slices.IndexFunc(m.list, func(x item) bool { return !x.keep })
	case DropLowest:
		for k, x := range m.list {
			if !x.keep && urgency(x.rank) > urgency(i.rank) && (victim < 0 || urgency(x.rank) >= urgency(m.list[victim].rank)) {
				victim = k
			}
		}
	case DropNew:
	default:
		return Outcome[item]{Result: Refused}
	}
	if victim < 0 {
		return Outcome[item]{Result: Shed, Dropped: i}
	}
	old := m.list[victim]
	m.list = append(slices.Delete(m.list, victim, victim+1), i)
	return Outcome[item]{Result: Evicted, Dropped: old}
}

func (m *model) take() (item, bool) {
	if len(m.list) == 0 {
		return item{}, false
	}
	next := 0
	if m.s.Ranked {
		for k, x := range m.list {
			if urgency(x.rank) < urgency(m.list[next].rank) {
				next = k
			}
		}
	}
	i := m.list[next]
	m.list = slices.Delete(m.list, next, next+1)
	return i, true
}

// same compares outcomes; NaN is never equal to itself, so by number.
func same(a, b Outcome[item]) bool { return a.Result == b.Result && a.Dropped.n == b.Dropped.n }

// steps runs a script of bytes on a queue and its model and returns the first
// difference, "" when there is none.
func steps(script []byte) string {
	settings := []Settings{
		{}, {Capacity: 3, Overflow: DropHead}, {Capacity: 3, Overflow: DropNew}, {Capacity: 2, Overflow: Reject},
		{Capacity: 2, Overflow: Block}, {Ranked: true}, {Ranked: true, Capacity: 3, Overflow: DropLowest},
		{Ranked: true, Capacity: 4, Overflow: DropNew}, {Capacity: 70, Overflow: DropHead},
	}
	ranks := []float64{0, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1)}
	q, m, n := newQueue(settings[0]), &model{}, 0
	var chunk *Chunk[item]
	next := func() item { n++; return item{n: n} }
	for at, b := range script {
		arg := int(b >> 3)
		switch b & 7 {
		case 0, 1, 2, 3: // push; one in eight cannot be discarded
			i := next()
			i.rank, i.keep = ranks[arg%len(ranks)], arg%8 == 7
			var got Outcome[item]
			if arg%2 == 0 || !q.Append(&i) {
				got = q.Push(i, i.rank)
			}
			if want := m.push(i); !same(got, want) {
				return fmt.Sprintf("step %d: push %v: got %v, want %v", at, i, got, want)
			}
		case 4, 5:
			got, ok := q.Take()
			want, wantOK := m.take()
			if ok != wantOK || got.n != want.n {
				return fmt.Sprintf("step %d: take: got %v %v, want %v %v", at, got, ok, want, wantOK)
			}
		case 6:
			if arg%2 == 0 {
				q.Configure(new(settings[arg%len(settings)]), rankOf)
				m.s = settings[arg%len(settings)]
				break
			}
			back, r := make([]item, arg%5), make([]float64, arg%5)
			for k := range back {
				back[k] = next()
				back[k].rank, back[k].keep = ranks[(arg+k)%len(ranks)], k == 3
				r[k] = back[k].rank
			}
			q.PushFront(back, r)
			m.list = slices.Concat(back, m.list)
		case 7:
			if chunk = q.TakeChunk(chunk); chunk == nil {
				break
			}
			for got, ok := chunk.Next(); ok; got, ok = chunk.Next() {
				if want, _ := m.take(); got.n != want.n {
					return fmt.Sprintf("step %d: chunk: got %v, want %v", at, got, want)
				}
			}
		}
		if q.Len() != len(m.list) || q.HasRoom() != (m.s.Capacity == 0 || len(m.list) < m.s.Capacity) {
			return fmt.Sprintf("step %d: got length %d, want %d", at, q.Len(), len(m.list))
		}
	}
	return ""
}

// FuzzQueueIsItsModel compares the queue with the model, also when its settings
// change under way.
func FuzzQueueIsItsModel(f *testing.F) {
	f.Add([]byte{0, 8, 16, 24, 4, 4, 4, 4})
	f.Add([]byte{6 | 8<<3, 0, 1, 2, 3, 0, 8, 16, 4, 4, 4})
	f.Add([]byte{6 | 6<<3, 24, 8, 16, 0, 56, 56, 0, 4, 6, 4, 4, 4, 4})
	f.Fuzz(func(t *testing.T, script []byte) {
		if diff := steps(script); diff != "" {
			t.Error(diff)
		}
	})
}

func TestQueueIsItsModelOverLongScripts(t *testing.T) {
	// A multiplicative generator: the same scripts in every run, long enough for
	// backlogs of several chunks.
	x := uint32(1)
	for range 300 {
		script := make([]byte, 600)
		for i := range script {
			x = x*1664525 + 1013904223
			script[i] = byte(x >> 24)
			if x>>23&1 == 0 && script[i]&7 == 4 {
				script[i] &= 0xf8 // more pushes than takes
			}
		}
		if diff := steps(script); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestWhatMustNotBeDiscardedSurvivesEveryPolicyInEveryPlace(t *testing.T) {
	const capacity = 4
	for _, s := range []Settings{
		{Overflow: DropHead}, {Overflow: DropNew}, {Overflow: Reject}, {Overflow: Block},
		{Overflow: DropLowest, Ranked: true}, {Overflow: DropNew, Ranked: true}, {Overflow: Reject, Ranked: true},
	} {
		for place := range capacity + 1 {
			t.Run(fmt.Sprintf("%s ranked %v at %d", s.Overflow, s.Ranked, place), func(t *testing.T) {
				s.Capacity = capacity
				q := newQueue(s)
				for n := range 3 * capacity {
					if n == place {
						if got := q.Push(item{n: -1, rank: math.Inf(1), keep: true}, math.Inf(1)); got.Result != Queued {
							t.Fatalf("the one to keep: got %v, want it queued", got)
						}
					}
					if got := q.Push(item{n: n}, float64(-n)); got.Dropped.keep {
						t.Fatalf("push %d discarded the one to keep", n)
					}
				}
				found := 0
				for i, ok := q.Take(); ok; i, ok = q.Take() {
					if i.keep {
						found++
					}
				}
				if found != 1 {
					t.Errorf("got it %d times, want once", found)
				}
			})
		}
	}
}

func TestAFullQueueOfKeptItemsShedsTheNewcomer(t *testing.T) {
	for _, s := range []Settings{{Capacity: 2, Overflow: DropHead}, {Capacity: 2, Overflow: DropLowest, Ranked: true}} {
		q := newQueue(s)
		for n := range 5 {
			q.Push(item{n: n, keep: true}, 0)
		}
		got := q.Push(item{n: 9}, -1)
		if got.Result != Shed || got.Dropped.n != 9 || q.Len() != 5 {
			t.Errorf("%s: got %v with %d queued, want the newcomer shed and 5 queued", s.Overflow, got, q.Len())
		}
	}
}

func TestConfigureDiscardsNothingAndKeepsTheOrderOfArrivalAmongEquals(t *testing.T) {
	q := newQueue(Settings{})
	for n, r := range []float64{2, 1, 2, 1, math.NaN(), 0} {
		q.Push(item{n: n, rank: r}, r)
	}
	order := func() (got []int) {
		var all []item
		for i, ok := q.Take(); ok; i, ok = q.Take() {
			got, all = append(got, i.n), append(all, i)
		}
		slices.SortFunc(all, func(a, b item) int { return a.n - b.n })
		for _, i := range all {
			q.Push(i, i.rank)
		}
		return got
	}
	steps := []struct {
		s    Settings
		want []int
	}{
		{Settings{Ranked: true, Capacity: 2, Overflow: Reject}, []int{5, 1, 3, 0, 2, 4}},
		{Settings{Ranked: true}, []int{5, 1, 3, 0, 2, 4}},
		{Settings{}, []int{0, 1, 2, 3, 4, 5}},
	}
	for _, s := range steps {
		q.Configure(&s.s, rankOf)
		if s.s.Capacity > 0 {
			if q.Len() != 6 || q.HasRoom() {
				t.Errorf("below a smaller bound: got %d queued, want 6 and no room", q.Len())
			}
			continue
		}
		if got := order(); !slices.Equal(got, s.want) {
			t.Errorf("under %+v: got %v, want %v", s.s, got, s.want)
		}
	}
}

func TestWarningMarksDoubleAndFallBackWhenTheQueueEmpties(t *testing.T) {
	q := newQueue(Settings{WarnAt: 2})
	fill := func() (marks []int) {
		for n := range 9 {
			q.Push(item{n: n}, 0)
			if q.HighWater() {
				marks = append(marks, q.Len())
			}
		}
		return marks
	}
	for range 2 {
		if got, want := fill(), []int{2, 4, 8}; !slices.Equal(got, want) {
			t.Errorf("marks: got %v, want %v", got, want)
		}
		for _, ok := q.Take(); ok; _, ok = q.Take() {
		}
	}
}

func TestChunksAreUsedAgain(t *testing.T) {
	q := newQueue(Settings{})
	var chunk *Chunk[item]
	round := func(n int) {
		for k := range n {
			q.Push(item{n: k}, 0)
		}
		for chunk = q.TakeChunk(chunk); chunk != nil; chunk = q.TakeChunk(chunk) {
			for _, ok := chunk.Next(); ok; _, ok = chunk.Next() {
			}
		}
	}
	round(smallChunk)
	if got := testing.AllocsPerRun(100, func() { round(smallChunk) }); got != 0 {
		t.Errorf("a queue that stays short: got %v allocations a round, want 0", got)
	}
	round(3 * largeChunk)
	if got := testing.AllocsPerRun(100, func() { round(3 * largeChunk) }); got > 4 { // a pool may lose some, most of all under the race detector
		t.Errorf("a queue with backlogs: got %v allocations a round, want the pool to serve it", got)
	}
}

func TestSettingsThatContradictEachOther(t *testing.T) {
	tests := []struct {
		s    Settings
		good bool
	}{
		{Settings{}, true},
		{Settings{Capacity: -1}, false},
		{Settings{Capacity: 1, Overflow: DropHead, Ranked: true}, false},
		{Settings{Capacity: 1, Overflow: Block, Ranked: true}, false},
		{Settings{Capacity: 1, Overflow: DropLowest, Ranked: true}, true},
		{Settings{Capacity: 1, Overflow: DropLowest}, false},
	}
	for _, tt := range tests {
		if err := tt.s.Check(); (err == nil) != tt.good {
			t.Errorf("%+v: got %v, want good %v", tt.s, err, tt.good)
		}
	}
	for _, name := range OverflowNames() {
		if o, err := ParseOverflow(name); err != nil || o.String() != name {
			t.Errorf("%s: got %s, %v", name, o, err)
		}
	}
	if _, err := ParseOverflow("drop-all"); err == nil {
		t.Error("drop-all: got no error")
	}
}

func ExampleQueue() {
	s := Settings{Capacity: 2, Overflow: DropHead}
	q := New(&s, &Shared[string]{Keep: func(string) bool { return false }})
	q.Push("a", 0)
	q.Push("b", 0)
	fmt.Println(q.Push("c", 0).Dropped, "makes room")
	next, _ := q.Take()
	fmt.Println(next, "is next")
	// Output:
	// a makes room
	// b is next
}

func BenchmarkPushTake(b *testing.B) {
	for _, s := range []Settings{{}, {Capacity: 100, Overflow: DropHead}, {Ranked: true}} {
		b.Run(fmt.Sprintf("capacity %d ranked %v", s.Capacity, s.Ranked), func(b *testing.B) {
			q, n := newQueue(s), 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				q.Push(item{n: n}, float64(n%7))
				q.Take()
			}
		})
	}
}

func BenchmarkDropLowestInAFullQueue(b *testing.B) {
	for _, capacity := range []int{100, 100_000} {
		b.Run(fmt.Sprint(capacity), func(b *testing.B) {
			q, x := newQueue(Settings{Ranked: true, Capacity: capacity, Overflow: DropLowest}), uint32(1)
			for range capacity {
				q.Push(item{}, math.MaxFloat64)
			}
			b.ReportAllocs()
			for b.Loop() {
				x = x*1664525 + 1013904223
				q.Push(item{}, -float64(x))
			}
		})
	}
}
