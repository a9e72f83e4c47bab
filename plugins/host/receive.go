package host

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// maxBacklog is how much of what a plugin said may wait to be done before nothing
// more is read from it.
const maxBacklog = 16 << 10

func (s *session) receiveAll(ctx context.Context, st stream) error {
	defer context.AfterFunc(ctx, s.drained.Broadcast)()
	for {
		s.awaitBacklog(ctx)
		f, err := st.Recv()
		if err != nil {
			return err
		}
		if err := s.receive(f); err != nil {
			return &verdict{fmt.Errorf("it broke the protocol: %w", err)}
		}
	}
}

// awaitBacklog waits until what was read is done, so that a plugin that says more
// than its receivers take has to wait itself.
func (s *session) awaitBacklog(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.backlog > maxBacklog && ctx.Err() == nil {
		s.drained.Wait()
	}
}

func (s *session) done(n int) {
	s.mu.Lock()
	s.backlog -= n
	s.mu.Unlock()
	s.drained.Signal()
}

// receive sorts one frame. It does not block.
func (s *session) receive(f *wire.PluginFrame) error {
	switch f := f.Frame.(type) {
	case *wire.PluginFrame_Ack:
		return s.acks(f.Ack.Packed)
	case *wire.PluginFrame_Commands:
		return s.commands(f.Commands.Packed)
	case *wire.PluginFrame_Failure:
		return s.failure(f.Failure)
	case *wire.PluginFrame_Result:
		s.result(f.Result)
	case *wire.PluginFrame_Log:
		s.record(f.Log)
	default:
		return fmt.Errorf("an empty frame, or one of a later version")
	}
	return nil
}

func (s *session) acks(packed []byte) error {
	out, err := s.sortAcks(packed, s.finished[:0])
	for _, f := range out {
		f.done()
	}
	clear(out)
	s.finished = out
	return err
}

func (s *session) sortAcks(packed []byte, out []finished) ([]finished, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(packed) > 0 {
		id, seq, rest, err := wire.NextAck(packed)
		if err != nil {
			return out, err
		}
		packed = rest
		if seq > s.sent {
			return out, fmt.Errorf("message %d is acknowledged and was never sent", seq)
		}
		in := s.instances[id]
		switch {
		case in == nil: // it was stopped meanwhile
		case in.working:
			in.do(work{ack: seq})
		default:
			out = in.acked(seq, out)
		}
	}
	return out, nil
}

func (s *session) commands(packed []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(packed) > 0 {
		c := &wire.Command{}
		rest, err := wire.NextCommand(packed, c)
		if err != nil {
			return err
		}
		body, err := s.decoder.Decode(c.Body)
		if err != nil {
			return fmt.Errorf("the body of a command: %w", err)
		}
		packed = rest
		if in := s.instances[c.Inst]; in != nil {
			if in.handle == nil {
				return fmt.Errorf("instance %d acts before it was started", c.Inst)
			}
			in.do(work{command: c, body: body})
		}
	}
	return nil
}

func (s *session) failure(f *wire.Failure) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if max(f.Seq, f.Handled) > s.sent {
		return fmt.Errorf("message %d failed and was never sent", max(f.Seq, f.Handled))
	}
	in := s.instances[f.Inst]
	if in == nil || in.handle == nil {
		return nil
	}
	back, err := in.letters(f.Back)
	if err != nil {
		return fmt.Errorf("a message that is given back: %w", err)
	}
	in.do(work{failure: f, back: back})
	return nil
}

// result answers a call, behind what the same instance did before.
func (s *session) result(r *wire.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.calls[r.Call]
	switch {
	case !ok: // nobody waits any more
	case c.in.working:
		c.in.do(work{result: r})
	default:
		s.settle(r)
	}
}

func (s *session) settle(r *wire.Result) {
	if c, ok := s.calls[r.Call]; ok {
		delete(s.calls, r.Call)
		c.ch <- answer{result: r}
	}
}

// record logs what a behaviour logged.
func (s *session) record(l *wire.Log) {
	ctx, level := context.Background(), slog.Level(l.Level)
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	var attrs []any
	if path := s.path(l.Inst); path != "" {
		attrs = append(attrs, "actor", string(path))
	}
	if l.Trace != "" {
		attrs = append(attrs, "trace", l.Trace)
	}
	if body, err := wire.DecodeBody(l.Attributes); err == nil {
		list, _ := body.([]any)
		for i := 0; i+1 < len(list); i += 2 {
			attrs = append(attrs, slog.Any(fmt.Sprint(list[i]), list[i+1]))
		}
	}
	h := s.cfg.Log.With(attrs...).Handler()
	_ = h.Handle(ctx, slog.NewRecord(time.Unix(0, l.UnixNanos), level, l.Message, 0)) // nobody to tell
}

// path returns where an instance lives, "" when there is no such instance.
func (s *session) path(id uint32) actor.Path {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.instances[id]; in != nil {
		return in.path
	}
	return ""
}
