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

// timer is one armed piece of work. Its fields are guarded by timers.mu.
type timer struct {
	at     time.Time
	seq    uint64
	index  int           // in the heap, -1 when not armed
	every  time.Duration // 0 for a single shot
	fire   func()        // runs on the timer goroutine; must not block
	fired  bool
	cancel bool
}

func (t *timers) init() { t.wake = make(chan struct{}, 1) }

// after arms f to run once after d, or again and again when every > 0.
func (t *timers) after(d, every time.Duration, f func()) *timer {
	e := &timer{at: time.Now().Add(max(d, 0)), every: every, fire: f, index: -1}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		e.cancel = true
		return e
	}
	t.arm(e)
	if !t.running {
		t.running = true
		t.done.Go(t.run)
	} else if e.index == 0 {
		t.nudge()
	}
	return e
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

// stop disarms e and reports whether that prevented a fire.
func (t *timers) stop(e *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.cancel {
		return false
	}
	e.cancel = true
	if e.index < 0 {
		return false
	}
	heap.Remove(&t.queue, e.index)
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
	e.fired = true
	if e.every > 0 {
		e.at = now.Add(e.every)
		t.arm(e)
	}
	return e.fire, 0, true
}

// close disarms everything and waits for the goroutine.
func (t *timers) close() {
	t.mu.Lock()
	t.closed, t.queue = true, nil
	t.mu.Unlock()
	t.nudge()
	t.done.Wait()
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

// void reports whether a tick that is in the mailbox must not be delivered any
// more, because its timer was cancelled.
func (t *timers) void(e *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return e.cancel
}

// over reports whether e will not fire again.
func (t *timers) over(e *timer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return e.cancel || (e.fired && e.every == 0)
}
