package runtime

import (
	"container/heap"
	"sync"
	"time"
)

// timers runs all timed work of a system on one goroutine, which exists while
// something is armed.
type timers struct {
	mu      sync.Mutex // guards what follows
	queue   timerHeap
	seq     uint64
	running bool
	closed  bool
	wake    chan struct{}
	done    sync.WaitGroup
}

// timer is one piece of timed work. fire, every and lost are never changed; the
// rest is guarded by timers.mu.
type timer struct {
	at    time.Time
	seq   uint64
	index int           // in the heap, -1 when not armed
	every time.Duration // 0 for a single shot
	rate  bool          // every counts from when it should have fired, not from when it did
	again bool          // fire arms it anew
	plan  *almanac      // when it does so; owned by fire
	key   string        // by which its owner knows it; may be ""
	fire  func()        // runs on the timer goroutine; must not block
	lost  func()        // runs instead when the system ends first; may be nil
	over  bool          // cancelled, or a single shot that was delivered
}

func (t *timers) init() { t.wake = make(chan struct{}, 1) }

// after arms f to run once after d, or again and again when every > 0.
func (t *timers) after(d, every time.Duration, f func()) *timer {
	e := &timer{every: every, fire: f}
	t.start(e, d)
	return e
}

// start arms e, a fresh timer or one that has fired.
func (t *timers) start(e *timer, d time.Duration) {
	e.at, e.index = time.Now().Add(max(d, 0)), -1
	t.mu.Lock()
	if t.closed {
		e.over = true
		t.mu.Unlock()
		if e.lost != nil {
			e.lost()
		}
		return
	}
	defer t.mu.Unlock()
	t.arm(e)
	if !t.running {
		t.running = true
		t.done.Go(t.run)
	} else if e.index == 0 {
		t.nudge()
	}
}

func (t *timers) arm(e *timer) {
	t.seq++
	e.seq = t.seq
	heap.Push(&t.queue, e)
}

func (t *timers) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// stop disarms e and reports whether that prevented a delivery.
func (t *timers) stop(e *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.over {
		return false
	}
	e.over = true
	if e.index >= 0 {
		heap.Remove(&t.queue, e.index)
	}
	return true
}

// deliver claims the delivery of a tick that e has put into a mailbox; false
// means that e was cancelled meanwhile.
func (t *timers) deliver(e *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.over {
		return false
	}
	e.over = e.single()
	return true
}

func (t *timers) run() {
	clock := time.NewTimer(time.Hour)
	defer clock.Stop()
	for {
		f, wait, ok := t.next(time.Now())
		switch {
		case !ok:
			return
		case f != nil:
			f()
		default:
			clock.Reset(wait)
			select {
			case <-clock.C:
			case <-t.wake:
			}
		}
	}
}

// next takes the work that is due, or says how long to wait. ok is false when
// nothing is armed any more: the goroutine ends.
func (t *timers) next(now time.Time) (f func(), wait time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 || t.closed {
		t.running = false
		return nil, 0, false
	}
	e := t.queue[0]
	if wait = e.at.Sub(now); wait > 0 {
		return nil, wait, true
	}
	heap.Pop(&t.queue)
	if e.every > 0 {
		e.at = e.following(now)
		t.arm(e)
	}
	return e.fire, 0, true
}

// close disarms everything and waits for the goroutine.
func (t *timers) close() {
	t.mu.Lock()
	rest := t.queue
	t.closed, t.queue = true, nil
	t.mu.Unlock()
	t.nudge()
	t.done.Wait()
	for _, e := range rest {
		if e.lost != nil {
			e.lost()
		}
	}
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].seq < h[j].seq
	}
	return h[i].at.Before(h[j].at)
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	e := x.(*timer)
	e.index = len(*h)
	*h = append(*h, e)
}
func (h *timerHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}

// waits reports whether e may still deliver something.
func (t *timers) waits(e *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !e.over
}
