package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// session is the conversation with the daemon: it hands frames to instances and
// what they do to the stream.
type session struct {
	server *server
	ctx    context.Context
	out    *outbox
	level  slog.LevelVar
	broken func(error) // called when nothing can be sent any more

	mu        sync.Mutex // guards what follows
	instances map[uint32]*instance
	idle      chan struct{} // closed when the last instance is gone, while stopAll waits
	calls     map[uint64]chan *wire.Result
	lastCall  uint64
	busy      atomic.Int32
}

func newSession(s *server, ctx context.Context) *session {
	return &session{
		server: s, ctx: ctx, out: newOutbox(), broken: func(error) {},
		instances: map[uint32]*instance{}, calls: map[uint64]chan *wire.Result{},
	}
}

// run reads until the stream ends. Instances may still run when it returns: the
// process ends next.
func (s *session) run(stream grpc.BidiStreamingServer[wire.HostFrame, wire.PluginFrame]) error {
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.out.sendAll(stream.Send); err != nil {
			s.broken(err)
		}
	})
	defer wg.Wait()
	defer s.out.close()
	for {
		f, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.take(f); err != nil {
			return err
		}
	}
}

// take hands one frame on. It does not block.
func (s *session) take(f *wire.HostFrame) error {
	switch f := f.Frame.(type) {
	case *wire.HostFrame_Hello:
		s.level.Set(slog.Level(f.Hello.LogLevel))
	case *wire.HostFrame_Deliver:
		return s.deliver(f.Deliver.Packed)
	case *wire.HostFrame_Spawn:
		s.spawn(f.Spawn)
	case *wire.HostFrame_Start:
		s.push(f.Start.Inst, item{kind: itemStart, order: &order{call: f.Start.Call, text: f.Start.Path}})
	case *wire.HostFrame_Stop:
		s.push(f.Stop.Inst, item{kind: itemStop, order: &order{call: f.Stop.Call}})
	case *wire.HostFrame_Snapshot:
		s.push(f.Snapshot.Inst, item{kind: itemSnapshot, order: &order{call: f.Snapshot.Call}})
	case *wire.HostFrame_Reconfigure:
		s.push(f.Reconfigure.Inst, item{kind: itemReconfigure, order: &order{call: f.Reconfigure.Call, data: f.Reconfigure.Args}})
	case *wire.HostFrame_Resume:
		s.push(f.Resume.Inst, item{kind: itemResume, order: &order{}})
	case *wire.HostFrame_Result:
		s.answer(f.Result)
	}
	return nil
}

func (s *session) deliver(packed []byte) error {
	var last *instance
	for len(packed) > 0 {
		var d wire.Delivery
		rest, err := wire.NextDelivery(packed, &d)
		if err != nil {
			return fmt.Errorf("deliver: %w", err)
		}
		packed = rest
		if last == nil || last.id != d.Inst {
			last = s.find(d.Inst)
		}
		if last != nil {
			last.push(item{kind: itemMessage, delivery: d})
		}
	}
	return nil
}

func (s *session) find(id uint32) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instances[id]
}

func (s *session) push(id uint32, it item) {
	if in := s.find(id); in != nil {
		in.push(it)
		return
	}
	if it.call != 0 {
		s.out.result(&wire.Result{Call: it.call, Error: fmt.Sprintf("plugin %s has no instance %d", s.server.plugin.Name, id)})
	}
}

func (s *session) spawn(f *wire.Spawn) {
	in := newInstance(s, f.Inst)
	s.mu.Lock()
	s.instances[f.Inst] = in
	s.mu.Unlock()
	in.push(item{kind: itemSpawn, order: &order{call: f.Call, text: f.Behaviour, data: f.Args, state: f.State}})
}

// forget ends an instance's membership.
func (s *session) forget(id uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, id)
	if len(s.instances) == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// stopAll stops every instance behind what it has, waits for at most grace, and
// returns how many have not ended.
func (s *session) stopAll(grace time.Duration) int {
	s.mu.Lock()
	idle := make(chan struct{})
	if s.idle = idle; len(s.instances) == 0 {
		close(idle)
		s.idle = nil
	}
	for _, in := range s.instances {
		in.push(item{kind: itemStop, order: &order{}})
	}
	s.mu.Unlock()
	limit := time.NewTimer(grace)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.instances)
}

func (s *session) health() *wire.HealthResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &wire.HealthResponse{Instances: uint32(len(s.instances)), Busy: uint32(s.busy.Load())}
}

// call registers a call to the host; answer, or the end of the session, settles
// it.
func (s *session) call() (id uint64, result chan *wire.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastCall++
	result = make(chan *wire.Result, 1)
	s.calls[s.lastCall] = result
	return s.lastCall, result
}

func (s *session) dropCall(id uint64) {
	s.mu.Lock()
	delete(s.calls, id)
	s.mu.Unlock()
}

func (s *session) answer(r *wire.Result) {
	s.mu.Lock()
	ch := s.calls[r.Call]
	delete(s.calls, r.Call)
	s.mu.Unlock()
	if ch != nil {
		ch <- r
	}
}

// unsupported is the error of what a plugin process cannot do.
func (s *session) unsupported(what, remedy string) error {
	return fmt.Errorf("plugin %s: %s is not available in a plugin process; %s: %w", s.server.plugin.Name, what, remedy, actor.ErrUnsupported)
}
