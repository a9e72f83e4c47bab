package actord

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

// attach makes the log tell what happens in the system.
func (d *daemon) attach(sys *runtime.System) {
	d.losses = newLosses(d.log, time.Minute)
	sys.Subscribe(func(e actor.Event) {
		switch e := e.(type) {
		case actor.DeadLetter:
			d.losses.add("dead letter", e.Recipient, e.Reason, e.Message.Kind, e.Trace)
		case actor.Dropped:
			d.losses.add("message dropped", e.Path, e.Policy, e.Message.Kind, e.Trace)
		case actor.Started:
			d.log.Debug("started", "actor", string(e.Path))
		case actor.Restarted:
			d.log.Info("restarted", "actor", string(e.Path), "restarts", e.Restarts)
		case actor.Stopped:
			d.log.Debug("stopped", "actor", string(e.Path))
		case actor.BridgeConnected:
			d.log.Info("bridge is up", "actor", string(e.Path), "endpoint", e.Endpoint)
		case actor.BridgeDisconnected:
			d.bridgeDown(e)
		}
	})
}

func (d *daemon) bridgeDown(e actor.BridgeDisconnected) {
	if e.Cause != nil {
		d.log.Warn("bridge is down", "actor", string(e.Path), "endpoint", e.Endpoint, "err", e.Cause)
		return
	}
	d.log.Info("bridge is down", "actor", string(e.Path), "endpoint", e.Endpoint)
}

// losses logs lost messages: the first for a recipient at once, the others of
// the same minute as one record with their number.
type losses struct {
	log   *slog.Logger
	every time.Duration

	mu   sync.Mutex // guards seen
	seen map[lossKey]*loss
}

type lossKey struct {
	what string
	path actor.Path
}

type loss struct {
	since   time.Time
	more    int
	reasons map[string]int
}

func newLosses(log *slog.Logger, every time.Duration) *losses {
	return &losses{log: log, every: every, seen: map[lossKey]*loss{}}
}

func (l *losses) add(what string, path actor.Path, reason, kind string, trace actor.TraceID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, now := lossKey{what, path}, time.Now()
	if s := l.seen[key]; s != nil && now.Sub(s.since) < l.every {
		s.more++
		s.reasons[reason]++
		return
	}
	l.flush(now)
	l.seen[key] = &loss{since: now, reasons: map[string]int{}}
	l.log.Warn(what, "actor", string(path), "reason", reason, "kind", kind, "trace", trace.String())
}

// flush reports and forgets the minutes that are over; mu is held.
func (l *losses) flush(now time.Time) {
	for key, s := range l.seen {
		if now.Sub(s.since) >= l.every {
			l.report(key, s)
			delete(l.seen, key)
		}
	}
}

func (l *losses) report(key lossKey, s *loss) {
	if s.more == 0 {
		return
	}
	var why []string
	for _, r := range slices.Sorted(maps.Keys(s.reasons)) {
		why = append(why, fmt.Sprintf("%s (%d)", r, s.reasons[r]))
	}
	if len(why) > 5 {
		why = append(why[:5], "…")
	}
	l.log.Warn(key.what+": more since", "actor", string(key.path), "number", s.more, "reasons", strings.Join(why, ", "))
}

// close reports what has not been reported.
func (l *losses) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, s := range l.seen {
		l.report(key, s)
	}
	clear(l.seen)
}

// greet says what runs, where the configuration is and how to send a message.
func (d *daemon) greet(begun time.Time) {
	rev, n := d.top.Current()
	s := rev.Spec
	d.log.Info("running", "system", s.Name, "what", summary(s), "config", absolute(d.file), "revision", n, "took", time.Since(begun).Round(time.Millisecond))
	for a := range s.All() {
		d.log.Info("runs "+a.Behaviour, "actor", string(a.Path))
	}
	for _, b := range s.Bridges {
		d.log.Info("runs "+b.Type, "actor", string(b.Path))
	}
	for _, b := range s.Bridges {
		for _, line := range firstMessages(b) {
			d.log.Info("send a first message: "+line, "actor", string(b.Path))
		}
	}
}

// firstMessages are commands that send a message through a bridge.
func firstMessages(b *spec.Bridge) []string {
	listen, _ := b.Args["listen"].(string)
	routes, _ := b.Args["in"].(map[string]any)
	if b.Type != "http-server" || listen == "" {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		route, _ := routes[name].(map[string]any)
		if route["method"] == "GET" || route["method"] == "DELETE" {
			out = append(out, fmt.Sprintf("curl -X %v http://%s%v", route["method"], listen, route["path"]))
			continue
		}
		out = append(out, fmt.Sprintf("curl -i -X %v http://%s%v -H 'content-type: application/json' -d '%v'", route["method"], listen, route["path"], route["example"]))
	}
	return out
}
