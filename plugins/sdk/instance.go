package sdk

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

type itemKind uint8

const (
	itemMessage itemKind = iota
	itemTick
	itemSpawn
	itemStart
	itemStop
	itemSnapshot
	itemReconfigure
	itemResume
	itemFail
)

// item is one thing for an instance to do: a message, or an order. Queues are
// made of items, so they are small.
type item struct {
	kind     itemKind
	delivery wire.Delivery // of itemMessage
	*order                 // of the others
}

type order struct {
	timer *timer // itemTick
	call  uint64 // to be answered
	text  string // the behaviour's name, or the path
	data  []byte // arguments
	state *wire.State
	err   error // itemFail, nil when letters are only given back
	back  []actor.Letter
}

// instance is one actor's behaviour in this process. It has a goroutine only
// while it has something to do.
type instance struct {
	session *session
	id      uint32
	ctx     context.Context // ends with the instance
	cancel  context.CancelFunc

	mu      sync.Mutex // guards what follows
	queue   []item
	spare   []item // the memory of the batch, for the next queue
	running bool
	timers  map[*timer]struct{}
	ended   bool

	// Owned by the goroutine that runs the instance.
	batch    []item
	name     string
	path     actor.Path
	behavior actor.Behaviour
	lent     callContext
	decoder  wire.Decoder
	handled  uint64 // the last message of the host that is done
	failed   bool   // discards messages until the host says resume
	started  bool
}

func newInstance(s *session, id uint32) *instance {
	in := &instance{session: s, id: id, timers: map[*timer]struct{}{}}
	in.ctx, in.cancel = context.WithCancel(s.ctx)
	in.lent = callContext{Context: in.ctx, in: in}
	return in
}

func (in *instance) push(it item) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return
	}
	in.queue = append(in.queue, it)
	if !in.running {
		in.running = true
		in.session.busy.Add(1)
		go in.run()
	}
}

// run handles what there is, then ends. A handler that ends its goroutine
// (runtime.Goexit) is a failure, and the rest is handled by another goroutine.
func (in *instance) run() {
	clean := false
	defer func() {
		if !clean {
			in.fail(in.lent.seq, errors.New("the handler ended its goroutine (runtime.Goexit)"), "")
			go in.run()
		}
	}()
	for in.next() {
		it := in.batch[0]
		in.batch[0] = item{}
		in.batch = in.batch[1:]
		in.do(it)
	}
	clean = true
}

// next makes sure that the batch holds something; false ends the goroutine.
func (in *instance) next() bool {
	if len(in.batch) > 0 {
		return true
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 || in.ended {
		in.running = false
		in.queue, in.spare = nil, nil // an idle instance keeps nothing
		in.session.busy.Add(-1)
		return false
	}
	in.batch, in.queue, in.spare = in.queue, in.spare[:0], in.queue[:0]
	return true
}

func (in *instance) do(it item) {
	switch it.kind {
	case itemMessage:
		in.receive(&it.delivery)
	case itemTick:
		in.tick(it.timer)
	case itemResume:
		in.failed = false
	case itemFail:
		in.giveBack(it)
	default:
		in.serve(it)
	}
}

// serve does what the host waits for.
func (in *instance) serve(it item) {
	res := &wire.Result{Call: it.call}
	err := guard(func() error {
		switch it.kind {
		case itemSpawn:
			return in.spawn(it)
		case itemStart:
			return in.start(it)
		case itemStop:
			return in.stop()
		case itemSnapshot:
			return in.snapshot(res)
		default:
			return in.reconfigure(it, res)
		}
	})
	in.lent.leave()
	if err != nil {
		res.Error, res.Stack = err.Error(), stackOf(err)
	}
	if it.call != 0 {
		in.session.out.result(res)
	}
	if it.kind == itemStop || it.kind == itemSpawn && err != nil {
		in.end()
	}
}

func (in *instance) spawn(it item) error {
	p, err := in.session.server.prepare(it.text, it.data)
	if err != nil {
		return err
	}
	in.name = it.text
	if in.behavior, err = p.New(); err != nil {
		return err
	}
	if it.state == nil {
		return nil
	}
	s, ok := in.behavior.(actor.Snapshotter)
	if !ok {
		return fmt.Errorf("behaviour %s takes no state: %w", in.name, actor.ErrUnsupported)
	}
	return s.Restore(actor.State{Version: int(it.state.Version), Data: it.state.Data})
}

func (in *instance) start(it item) error {
	in.path, in.started = actor.Path(it.text), true
	if s, ok := in.behavior.(actor.Starter); ok {
		in.lent.enter(nil)
		return s.Start(&in.lent)
	}
	return nil
}

func (in *instance) stop() error {
	in.stopTimers()
	if s, ok := in.behavior.(actor.Stopper); ok && in.started {
		in.lent.enter(nil)
		return s.Stop(&in.lent)
	}
	return nil
}

func (in *instance) snapshot(res *wire.Result) error {
	s, ok := in.behavior.(actor.Snapshotter)
	if res.Unsupported = !ok; !ok {
		return nil
	}
	if in.failed {
		return errors.New("the instance has failed; its state is not handed over")
	}
	state, err := s.Snapshot()
	if err == nil && len(state.Data) > wire.MaxBody {
		return fmt.Errorf("the state has %d bytes; at most %d are handed over", len(state.Data), wire.MaxBody)
	}
	res.State = &wire.State{Version: int64(state.Version), Data: state.Data}
	return err
}

func (in *instance) reconfigure(it item, res *wire.Result) error {
	p, err := in.session.server.prepare(in.name, it.data)
	if err != nil {
		return err
	}
	if p.Reconfigure == nil {
		res.Unsupported = true
		return nil
	}
	in.lent.enter(nil)
	taken, err := p.Reconfigure(&in.lent, in.behavior)
	res.Unsupported = !taken
	return err
}

// receive handles one message of the host.
func (in *instance) receive(d *wire.Delivery) {
	if in.failed {
		return // the host takes it back
	}
	body, err := in.decoder.Decode(d.Body)
	if err != nil {
		in.fail(d.Seq, fmt.Errorf("message %q: %w", d.Kind, err), "")
		return
	}
	in.lent.enter(&letter{
		msg:    actor.Message{Kind: d.Kind, Body: body, Headers: d.Headers},
		sender: d.Sender, trace: d.Trace, in: in,
	})
	in.lent.seq = d.Seq
	if in.handle() {
		in.handled = d.Seq
		in.session.out.ack(in.id, d.Seq)
	}
}

func (in *instance) tick(t *timer) {
	if t.cancelled() || in.failed {
		t.again()
		return
	}
	in.lent.enter(&letter{msg: t.msg, sender: t.sender, trace: t.trace, in: in})
	in.handle()
	t.again()
}

// handle runs the handler on the current message and reports a failure.
func (in *instance) handle() bool {
	seq := in.lent.seq
	err := guard(func() error { return in.acting().Receive(&in.lent, in.lent.letter.msg) })
	in.lent.leave()
	if err != nil {
		in.fail(seq, err, stackOf(err))
	}
	return err == nil
}

// fail reports a failure: seq is the message it failed on, 0 when it was none of
// the host's.
func (in *instance) fail(seq uint64, err error, stack string) {
	if in.failed {
		return
	}
	in.lent.leave()
	in.failed = true
	in.session.out.failure(&wire.Failure{Inst: in.id, Handled: in.handled, Seq: seq, Error: err.Error(), Stack: stack})
	in.handled = max(in.handled, seq)
}

// giveBack sends letters to the front of the actor's mailbox and, with an error,
// fails.
func (in *instance) giveBack(it item) {
	f := &wire.Failure{Inst: in.id, Handled: in.handled}
	for _, l := range it.back {
		m := l.Message()
		d := wire.Delivery{Trace: l.Trace(), Kind: m.Kind, Headers: m.Headers}
		if s := l.Sender(); s != nil {
			d.Sender = string(s.Path())
		}
		d.Body, _ = wire.AppendBody(nil, m.Body) // it came from the host, so it can go there
		f.Back = wire.AppendDelivery(f.Back, &d)
	}
	if it.err != nil && !in.failed {
		in.failed = true
		f.Error = it.err.Error()
	}
	in.session.out.failure(f)
}

// end forgets the instance.
func (in *instance) end() {
	in.cancel()
	in.stopTimers()
	in.mu.Lock()
	in.ended, in.queue = true, nil
	in.mu.Unlock()
	in.batch = nil
	in.session.forget(in.id)
}

// panicked is a panic as an error.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func stackOf(err error) string {
	if p, ok := errors.AsType[*panicked](err); ok {
		return p.stack
	}
	return ""
}

// guard turns a panic of f into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			err = &panicked{r, string(stack[:min(len(stack), 16<<10)])}
		}
	}()
	return f()
}
