package runtime

import (
	"context"
	"fmt"
	gort "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// watchdog finds handlers and hooks that run for very long. It looks at all actors
// from time to time, while any of them works: who is at work and has made no
// progress since the last look is in the same handler still. A message costs
// nothing for it, a wake-up one atomic load, and an idle system is left alone.
type watchdog struct {
	sys   *System
	state atomic.Int32 // a watch

	mu     sync.Mutex // guards what follows
	warn   time.Duration
	timer  *timer
	seen   map[*node]sighting // replaced, never changed
	slowed time.Duration      // least time between two looks, so that they cost little
}

// The states of a watchdog.
const (
	watchOff   int32 = iota // nobody wants it
	watchIdle               // the next wake-up arms it
	watchArmed              // a look is coming
)

// sighting is an actor at work.
type sighting struct {
	progress uint64
	since    time.Time // when it was first seen without further progress
	reported time.Duration
}

// slow is a handler to report.
type slow struct {
	node    *node
	running time.Duration
}

func (w *watchdog) init(s *System) { w.sys = s }

// awake is called when an actor begins to work.
func (w *watchdog) awake() {
	if w.state.Load() == watchIdle {
		w.arm()
	}
}

func (w *watchdog) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.CompareAndSwap(watchIdle, watchArmed) {
		w.timer = w.sys.timers.after(w.pause(), 0, w.look)
	}
}

// pause is the time between two looks: a quarter of the shortest warning. mu is held.
func (w *watchdog) pause() time.Duration { return max(w.warn/4, time.Millisecond, w.slowed) }

// expect makes sure that a warning after d is possible.
func (w *watchdog) expect(d time.Duration) {
	if d <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warn > 0 && w.warn <= d {
		return
	}
	w.warn = d
	if w.state.Load() == watchArmed && !w.sys.timers.stop(w.timer) {
		return // it is looking right now and will arm itself again
	}
	w.state.Store(watchArmed)
	w.timer = w.sys.timers.after(w.pause(), 0, w.look)
}

// look compares who is at work with what the last look saw. It runs on the timer
// goroutine.
func (w *watchdog) look() {
	began := time.Now()
	w.state.Store(watchIdle) // first: whoever wakes up during the look arms it again
	w.mu.Lock()
	before := w.seen
	w.mu.Unlock()
	seen, found, shortest := map[*node]sighting{}, []slow(nil), time.Duration(0)
	w.sys.registry.each(func(n *node) {
		warn := n.settings.Load().HandlerWarn
		if warn <= 0 {
			return
		}
		if shortest == 0 || warn < shortest {
			shortest = warn
		}
		if progress, active := n.progress(); active {
			s := before[n].next(progress, began)
			if running := began.Sub(s.since); running >= max(warn, 2*s.reported) {
				s.reported = running
				found = append(found, slow{n, running})
			}
			seen[n] = s
		}
	})
	w.mu.Lock()
	w.seen = seen
	if shortest > 0 {
		w.warn = shortest
	}
	w.slowed = 50 * time.Since(began)
	w.mu.Unlock()
	if len(seen) > 0 {
		w.arm()
	}
	for _, f := range found {
		f.node.log().Warn("a handler is slow", "running", f.running.Round(time.Millisecond))
		w.sys.Publish(actor.SlowHandler{Path: f.node.path, Running: f.running})
	}
}

// next is the sighting of an actor at work that has come to progress.
func (s sighting) next(progress uint64, now time.Time) sighting {
	if s.since.IsZero() || s.progress != progress {
		return sighting{progress: progress, since: now}
	}
	return s
}

// whoIsLeft describes what a shutdown waits for: who is in a handler first, since
// the others wait for them.
func (w *watchdog) whoIsLeft() string {
	var busy, waiting []string
	w.mu.Lock()
	w.sys.registry.each(func(n *node) {
		_, active := n.progress()
		switch s := w.seen[n]; {
		case n.guardian:
		case !active:
			waiting = append(waiting, string(n.path))
		case s.since.IsZero():
			busy = append(busy, string(n.path))
		default:
			busy = append(busy, fmt.Sprintf("%s (for %v)", n.path, time.Since(s.since).Round(time.Millisecond)))
		}
	})
	w.mu.Unlock()
	return fmt.Sprintf("in a handler: %s; still there: %s", list(busy), list(waiting))
}

// list writes at most 16 names.
func list(names []string) string {
	slices.Sort(names)
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > 16:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:16], ", "), n-16)
	}
	return strings.Join(names, ", ")
}

// inTurn tells whether the caller is code that the system waits for when it ends: a
// handler or hook, or what a timer runs. The stack says so. It does not say of which
// system; ctx may, and one without any actor at work is another one.
func (s *System) inTurn(ctx context.Context) bool {
	pcs := make([]uintptr, 256)
	frames := gort.CallersFrames(pcs[:gort.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, enginePackage+".(*cell[") && strings.HasSuffix(f.Function, ".turn") {
			if n, ok := originNode(ctx); ok {
				return n.sys == s
			}
			return s.anyActive()
		}
		if f.Function == enginePackage+".(*timers).run" {
			return true
		}
		if !more {
			return false
		}
	}
}

const enginePackage = "github.com/actord/actord/runtime"

func originNode(ctx context.Context) (*node, bool) {
	sender, _ := originOf(ctx)
	n, ok := sender.(*node)
	return n, ok
}

func (s *System) anyActive() (active bool) {
	s.registry.each(func(n *node) {
		_, a := n.progress()
		active = active || a
	})
	return active
}
