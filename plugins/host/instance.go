package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// Failure is the error of a handler or a hook in a plugin.
type Failure struct {
	Plugin string
	Text   string
	Stack  string // of a panic, "" otherwise
}

// Error returns what the plugin said, without the stack.
func (f *Failure) Error() string { return "plugin " + f.Plugin + ": " + f.Text }

// instance is one actor's behaviour in a process, seen from here. Its fields are
// guarded by the session's mu; what it does to other actors happens on a
// goroutine of its own, which exists while there is work, so that a receiver that
// makes its sender wait holds up this actor alone.
type instance struct {
	session *session
	id      uint32

	// Set before the first message.
	path    actor.Path
	handle  actor.Handle
	self    actor.Ref
	targets map[string]actor.Ref

	pending  []entry   // messages that are not acknowledged, oldest first
	since    time.Time // when the oldest of them became the oldest
	inflight int       // pending, and room that a waiting handler was given
	asking   int       // answers that the instance waits for

	askers askers // whom a late reply may go to

	todo    []work
	working bool          // a goroutine does todo
	idle    chan struct{} // closed when working ends; nil unless someone waits

	failed   bool           // takes no messages until it is resumed
	crashed  bool           // its process is gone
	reported bool           // the actor was told of the failure
	flushed  bool           // and got back what the instance could not handle
	back     []actor.Letter // what the actor gets back, in order
	ending   bool           // wants to be stopped
}

// entry is a message that the plugin has.
type entry struct {
	seq    uint64
	size   int
	letter actor.Letter
}

// work is one thing that the plugin said about an instance.
type work struct {
	ack     uint64
	command *wire.Command
	body    any
	failure *wire.Failure
	back    []actor.Letter // of a failure
	result  *wire.Result
	crash   error
}

// fits tells whether the instance may have one more message, a quarter of the
// window being its share.
func (in *instance) fits(w Window) bool { return in.inflight < max(1, w.Messages/4) }

// do puts work behind what there is; the session's mu is held.
func (in *instance) do(w work) {
	in.todo = append(in.todo, w)
	in.session.backlog++
	if !in.working {
		in.working = true
		in.session.workers.Go(in.work)
	}
}

func (in *instance) work() {
	for {
		in.session.mu.Lock()
		todo := in.todo
		in.todo = nil
		if len(todo) == 0 {
			in.working = false
			if in.idle != nil {
				close(in.idle)
				in.idle = nil
			}
			in.session.mu.Unlock()
			return
		}
		in.session.mu.Unlock()
		for _, w := range todo {
			in.one(w)
		}
		in.session.done(len(todo))
	}
}

func (in *instance) one(w work) {
	switch {
	case w.command != nil:
		in.obey(w.command, w.body)
	case w.failure != nil:
		in.fail(w.failure, w.back)
	case w.crash != nil:
		in.crash()
	default:
		var out []finished
		in.session.mu.Lock()
		if w.result != nil {
			in.session.settle(w.result)
		} else {
			out = in.acked(w.ack, nil)
		}
		in.session.mu.Unlock()
		for _, f := range out {
			f.done()
		}
	}
}

// quiesce waits until everything that the plugin said so far was done.
func (in *instance) quiesce(limit <-chan time.Time) {
	in.session.mu.Lock()
	if !in.working {
		in.session.mu.Unlock()
		return
	}
	if in.idle == nil {
		in.idle = make(chan struct{})
	}
	idle := in.idle
	in.session.mu.Unlock()
	select {
	case <-idle:
	case <-limit:
	}
}

// deliver hands a message to the plugin, waiting for room. When the instance has
// failed, or ctx ends while it waits, the letter joins what goes back; ok is
// false then.
func (in *instance) deliver(ctx context.Context, d *wire.Delivery, l actor.Letter) (ok bool) {
	s := in.session
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Inst = in.id
	size := len(d.Body)
	if !in.failed && (len(s.waiters) > 0 || !s.fits(in, size)) {
		if !in.await(ctx, size) {
			in.back = append(in.back, l)
			return false
		}
	} else if !in.failed {
		s.reserve(in, size)
	}
	if in.failed {
		in.back = append(in.back, l)
		return false
	}
	s.pack(d)
	if strings.HasPrefix(d.Sender, tempPrefix) {
		in.askers.add(d.Sender, l.Sender())
	}
	if len(in.pending) == 0 {
		in.since = time.Now()
	}
	in.pending = append(in.pending, entry{d.Seq, size, l})
	return true
}

// await waits for room; mu is held, but not meanwhile. It returns false without
// room when ctx ended or the instance failed.
func (in *instance) await(ctx context.Context, size int) bool {
	s := in.session
	w := &waiter{in: in, size: size, ready: make(chan struct{})}
	s.waiters = append(s.waiters, w)
	s.release(in, 0, 0) // there may be room for this one and not for those before it
	s.mu.Unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	s.mu.Lock()
	granted := w.granted || s.leave(w)
	if granted && (in.failed || ctx.Err() != nil) {
		s.release(in, 1, size)
		return false
	}
	return granted
}

// acked forgets the messages up to seq and appends them to out; mu is held.
func (in *instance) acked(seq uint64, out []finished) []finished {
	n, bytes := 0, 0
	for n < len(in.pending) && in.pending[n].seq <= seq {
		bytes += in.pending[n].size
		out = append(out, finished{in.handle, in.pending[n].letter})
		if in.session.cfg.AtLeastOnce {
			in.session.poison.clear(in.suspect(in.pending[n].letter))
		}
		n++
	}
	if n == 0 {
		return out
	}
	clear(in.pending[:n]) // so that the letters can be collected
	if in.pending = in.pending[n:]; len(in.pending) == 0 {
		in.pending = nil
	}
	in.since = time.Now()
	in.session.release(in, n, bytes)
	return out
}

// finished is a message that the plugin has no longer.
type finished struct {
	handle actor.Handle
	letter actor.Letter
}

func (f finished) done()              { f.handle.Done(f.letter) }
func (f finished) dead(reason string) { f.handle.DeadLetter(f.letter, reason) }

// letter returns the message seq, nil when it is none of the pending ones.
func (in *instance) letter(seq uint64) actor.Letter {
	if seq == 0 {
		return nil
	}
	in.session.mu.Lock()
	defer in.session.mu.Unlock()
	i, ok := in.find(seq)
	if !ok {
		return nil
	}
	return in.pending[i].letter
}

// find returns where the message seq is, or would be, in pending; mu is held.
func (in *instance) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(in.pending, seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
}

// fail carries out a failure that the plugin reported: the message it failed on
// becomes a dead letter, what came behind goes back, the actor fails. Without an
// error the plugin only gives messages back, and the instance goes on.
func (in *instance) fail(f *wire.Failure, back []actor.Letter) {
	s := in.session
	s.mu.Lock()
	if in.failed || f.Error == "" {
		in.back = append(back, in.back...)
		s.mu.Unlock()
		in.wake()
		return
	}
	in.failed = true
	handled := in.acked(f.Handled, nil)
	var lost []finished
	if len(in.pending) > 0 && in.pending[0].seq == f.Seq {
		lost = in.acked(f.Seq, nil)
	}
	in.takeBack(0)
	in.back = append(back, in.back...)
	s.mu.Unlock()
	for _, h := range handled {
		h.done()
	}
	for _, l := range lost {
		l.dead(actor.ReasonFailed + ": " + f.Error)
	}
	err := &Failure{Plugin: s.cfg.Name, Text: f.Error, Stack: f.Stack}
	if f.Stack != "" {
		s.cfg.Log.Error("actor panicked in its plugin", "actor", string(in.path), "panic", f.Error, "stack", f.Stack)
	}
	in.report(err)
}

// takeBack moves what is pending behind seq to what goes back; mu is held.
func (in *instance) takeBack(seq uint64) {
	var back []actor.Letter
	bytes := 0
	i, _ := in.find(seq + 1)
	for _, e := range in.pending[i:] {
		back = append(back, e.letter)
		bytes += e.size
	}
	in.pending = in.pending[:i:i]
	in.back = append(back, in.back...)
	in.session.abort(in)
	in.session.release(in, len(back), bytes)
}

// report makes err the failure of the actor. What goes back follows from within
// the actor's turn (flush), because a message may be on its way to this instance
// just now and must not be overtaken. A restart or a stop flushes; wakeUp is for
// an actor that goes on and may get no more messages.
func (in *instance) report(err error) {
	if in.handle == nil {
		return
	}
	in.handle.Fail(err)
	in.session.mu.Lock()
	in.reported = true
	back := len(in.back)
	in.session.mu.Unlock()
	if back > 0 {
		in.wake()
	}
}

// wake gives the actor a turn. A full mailbox is as good: there will be turns.
func (in *instance) wake() { actor.Offer(context.Background(), in.self, wakeUp) }

// crash fails the instance because its process is gone. What had not left for it
// goes back; what had becomes dead letters, or goes back as well.
func (in *instance) crash() {
	s := in.session
	s.mu.Lock()
	in.failed = true
	fate := s.sent // up to here messages are lost
	if s.cfg.AtLeastOnce {
		fate = in.poisoned()
	}
	in.takeBack(fate)
	lost := in.acked(fate, nil)
	err, known := s.crashed(), in.reported
	s.mu.Unlock()
	for _, l := range lost {
		l.dead(actor.ReasonCrashed)
	}
	if !known {
		in.report(err)
	}
}

// poisoned returns the message that was being handled when it saw two processes
// die, 0 when there is none; mu is held.
func (in *instance) poisoned() uint64 {
	if len(in.pending) == 0 {
		return 0
	}
	first := in.pending[0]
	if first.seq > in.session.sent || !in.session.poison.again(in.suspect(first.letter)) {
		return 0
	}
	return first.seq
}

func (in *instance) suspect(l actor.Letter) suspect {
	return suspect{in.path, l.Trace(), l.Message().Kind}
}

// flush gives back what the instance could not handle, but not before the actor
// knows of its failure: until then more may come that belongs behind it. It is
// called on the actor's turn.
func (in *instance) flush() {
	in.session.mu.Lock()
	if in.failed && !in.reported {
		in.session.mu.Unlock()
		return
	}
	back := in.back
	in.back, in.flushed = nil, in.failed
	in.session.mu.Unlock()
	if len(back) > 0 {
		in.handle.Fail(nil, back...)
	}
}

// forget ends the instance here and returns what it had and did not finish.
func (in *instance) forget() (unfinished []finished) {
	s := in.session
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, in.id)
	in.failed, in.reported = true, true
	return in.acked(s.seq, nil)
}

// wakeUp makes an actor's turn look at its instance. Its body is of no body type,
// so no other message is mistaken for it.
var wakeUp = actor.Message{Kind: "plugin-wake-up", Body: wakeUpBody{}}

type wakeUpBody struct{}
