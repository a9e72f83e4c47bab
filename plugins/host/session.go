package host

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// session is the conversation with one process, on behalf of a plugin whose
// workers do what instances ask for. It owns the window, the frames
// that wait to be sent and the instances.
type session struct {
	cfg    Config
	cancel context.CancelCauseFunc
	wake   chan struct{} // capacity 1: there is something to send
	ended  chan struct{} // closed when the session is over and err is set

	mu        sync.Mutex // guards what follows, and the instances' fields
	err       error
	instances map[uint32]*instance
	lastInst  uint32
	calls     map[uint64]call
	lastCall  uint64

	frames []frame
	open   *wire.Deliver // the last frame, while it takes more messages
	count  int           // messages in open
	seq    uint64        // of the last message
	sent   uint64        // the last message that may have left

	inflight, bytes int // messages that are not acknowledged
	waiters         []*waiter

	backlog int        // work that the plugin gave and that is not done
	drained *sync.Cond // told when backlog shrinks
	workers *sync.WaitGroup
	poison  *suspects

	finished []finished   // scratch of the reader
	decoder  wire.Decoder // of the reader
}

// call waits for an answer of the plugin about an instance.
type call struct {
	in *instance
	ch chan answer // capacity 1
}

type answer struct {
	result *wire.Result
	err    error // the session ended
}

// frame is a frame to send; last is the last message in it.
type frame struct {
	f    *wire.HostFrame
	last uint64
}

// stream is the session's stream as the host sees it.
type stream = grpc.BidiStreamingClient[wire.HostFrame, wire.PluginFrame]

func newSession(cfg Config, workers *sync.WaitGroup, poison *suspects) *session {
	s := &session{
		cfg: cfg, workers: workers, poison: poison, wake: make(chan struct{}, 1), ended: make(chan struct{}),
		instances: map[uint32]*instance{}, calls: map[uint64]call{},
	}
	s.drained = sync.NewCond(&s.mu)
	return s
}

// run talks to the process until the stream breaks, the process breaks the
// protocol, or watch finds it hung. It returns why.
func (s *session) run(ctx context.Context, p *process) error {
	ctx, s.cancel = context.WithCancelCause(ctx)
	st, err := p.rpc.Session(ctx)
	if err != nil {
		s.cancel(err)
		return err
	}
	s.send(&wire.HostFrame{Frame: &wire.HostFrame_Hello{Hello: &wire.Hello{Plugin: s.cfg.Name, LogLevel: int32(s.logLevel())}}})
	var wg sync.WaitGroup
	wg.Go(func() { s.cancel(s.sendAll(ctx, st)) })
	wg.Go(func() { s.cancel(s.receiveAll(ctx, st)) })
	var found error
	wg.Go(func() {
		if found = p.watch(ctx, s.hung); found != nil {
			s.cancel(found)
		}
	})
	wg.Wait()
	if found != nil {
		return found // its dump may have ended the process before
	}
	return context.Cause(ctx)
}

// logLevel is the lowest level that the host's log takes.
func (s *session) logLevel() slog.Level {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if s.cfg.Log.Enabled(context.Background(), l) {
			return l
		}
	}
	return slog.LevelError
}

func (s *session) sendAll(ctx context.Context, st stream) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.wake:
		}
		runtime.Gosched() // senders that are at work may have more
		for _, f := range s.take() {
			if st.Send(f.f) != nil {
				<-ctx.Done() // receiveAll learns why
				return context.Cause(ctx)
			}
		}
	}
}

// take takes everything there is to send. From here on a message counts as sent.
func (s *session) take() []frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	frames := s.frames
	s.frames, s.open = nil, nil
	if n := len(frames); n > 0 {
		s.sent = max(s.sent, frames[n-1].last)
	}
	return frames
}

// send queues a frame behind everything before it.
func (s *session) send(f *wire.HostFrame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue(f)
}

// queue is send; mu is held.
func (s *session) queue(f *wire.HostFrame) {
	s.open = nil
	s.frames = append(s.frames, frame{f, s.seq})
	s.nudge()
}

func (s *session) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pack puts a message into the last frame; mu is held.
func (s *session) pack(d *wire.Delivery) {
	if s.open == nil || s.count >= wire.MaxBatch || len(s.open.Packed) >= wire.MaxBatchBytes {
		s.open, s.count = &wire.Deliver{Packed: make([]byte, 0, 1024)}, 0
		s.frames = append(s.frames, frame{f: &wire.HostFrame{Frame: &wire.HostFrame_Deliver{Deliver: s.open}}})
	}
	s.seq++
	d.Seq = s.seq
	s.open.Packed = wire.AppendDelivery(s.open.Packed, d)
	s.frames[len(s.frames)-1].last = s.seq
	s.count++
	s.nudge()
}

// hung returns an error when a handler has been running for too long.
func (s *session) hung(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.instances {
		if len(in.pending) > 0 && !in.failed && in.asking == 0 && now.Sub(in.since) > s.cfg.HandlerTimeout {
			return fmt.Errorf("%s did not finish a message of kind %q within %s (handler-timeout)",
				in.path, in.pending[0].letter.Message().Kind, s.cfg.HandlerTimeout)
		}
	}
	return nil
}

// finish ends the session for err: every instance fails at once. It returns how
// many messages were not acknowledged.
func (s *session) finish(err error) (unacked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	for _, in := range s.instances {
		unacked += in.inflight
		in.failed, in.crashed = true, true
		s.abort(in)
		in.do(work{crash: err})
	}
	for id, c := range s.calls {
		delete(s.calls, id)
		c.ch <- answer{err: s.crashed()}
	}
	close(s.ended)
	return unacked
}

// ask sends a frame for in and waits for the answer, at most limit.
func (s *session) ask(in *instance, limit time.Duration, done <-chan struct{}, frame func(call uint64) *wire.HostFrame) (*wire.Result, error) {
	ch := make(chan answer, 1)
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return nil, s.crashed()
	}
	s.lastCall++
	id := s.lastCall
	s.calls[id] = call{in, ch}
	s.queue(frame(id))
	s.mu.Unlock()
	clock := time.NewTimer(limit)
	defer clock.Stop()
	var err error
	select {
	case a := <-ch:
		if a.err == nil && a.result.Error != "" {
			a.err = &Failure{Plugin: s.cfg.Name, Text: a.result.Error, Stack: a.result.Stack}
		}
		return a.result, a.err
	case <-clock.C:
		err = fmt.Errorf("plugin %s did not answer within %s", s.cfg.Name, limit)
	case <-done:
		err = fmt.Errorf("plugin %s: %w", s.cfg.Name, actor.ErrStopped)
	}
	s.mu.Lock()
	delete(s.calls, id)
	s.mu.Unlock()
	return nil, err
}

// crashed is the failure of everything that needs the session; err is set.
func (s *session) crashed() error {
	return fmt.Errorf("plugin %s: %w: %w", s.cfg.Name, ErrCrashed, s.err)
}
