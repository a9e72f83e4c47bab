package sdk

import (
	"runtime"
	"sync"

	"github.com/actord/actord/plugins/wire"
)

// outboxLimit is how many bytes of commands may wait for the stream before
// handlers that send more have to wait.
const outboxLimit = 8 << 20

// outbox collects what goes to the host. Whoever puts something in goes on at
// once; the sender takes everything there is and sends it, so frames are as large
// as the stream is slow.
type outbox struct {
	wake chan struct{} // capacity 1

	mu     sync.Mutex // guards what follows
	room   *sync.Cond
	frames []*wire.PluginFrame
	open   *wire.Commands // the last frame, while it takes more commands
	count  int            // commands in open
	bytes  int            // of all frames
	acks   map[uint32]uint64
	spare  map[uint32]uint64
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{wake: make(chan struct{}, 1), acks: map[uint32]uint64{}, spare: map[uint32]uint64{}}
	o.room = sync.NewCond(&o.mu)
	return o
}

// sendAll sends until the outbox is closed or send fails.
func (o *outbox) sendAll(send func(*wire.PluginFrame) error) error {
	for range o.wake {
		runtime.Gosched() // whoever is at work may have more to say
		frames, acks := o.take()
		for _, f := range frames {
			if err := send(f); err != nil {
				return err
			}
		}
		// Acknowledge last: the host must have seen what the messages caused.
		var packed []byte
		for inst, seq := range acks {
			packed = wire.AppendAck(packed, inst, seq)
		}
		if len(packed) == 0 {
			continue
		}
		if err := send(&wire.PluginFrame{Frame: &wire.PluginFrame_Ack{Ack: &wire.Ack{Packed: packed}}}); err != nil {
			return err
		}
	}
	return nil
}

func (o *outbox) take() ([]*wire.PluginFrame, map[uint32]uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	frames, acks := o.frames, o.acks
	clear(o.spare)
	o.frames, o.open, o.bytes, o.acks, o.spare = nil, nil, 0, o.spare, o.acks
	o.room.Broadcast()
	return frames, acks
}

// close ends sendAll and lets nobody wait any more.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		close(o.wake)
		o.room.Broadcast()
	}
}

// nudge wakes the sender; mu is held.
func (o *outbox) nudge() {
	if o.closed {
		return
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// command appends c, and waits first while too much is under way.
func (o *outbox) command(c *wire.Command) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > outboxLimit && !o.closed {
		o.room.Wait()
	}
	if o.open == nil || o.count >= wire.MaxBatch || len(o.open.Packed) >= wire.MaxBatchBytes {
		o.open, o.count = &wire.Commands{}, 0
		o.frames = append(o.frames, &wire.PluginFrame{Frame: &wire.PluginFrame_Commands{Commands: o.open}})
	}
	before := len(o.open.Packed)
	o.open.Packed = wire.AppendCommand(o.open.Packed, c)
	o.count++
	o.bytes += len(o.open.Packed) - before
	o.nudge()
}

// ack says that inst has handled everything up to seq.
func (o *outbox) ack(inst uint32, seq uint64) {
	o.mu.Lock()
	o.acks[inst] = seq
	o.nudge()
	o.mu.Unlock()
}

func (o *outbox) result(r *wire.Result) {
	o.frame(&wire.PluginFrame{Frame: &wire.PluginFrame_Result{Result: r}})
}

func (o *outbox) failure(f *wire.Failure) {
	o.frame(&wire.PluginFrame{Frame: &wire.PluginFrame_Failure{Failure: f}})
}

// log appends a record, unless so much is under way that logging would be what
// fills the memory.
func (o *outbox) log(l *wire.Log) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes > outboxLimit {
		return
	}
	o.bytes += len(l.Message) + len(l.Attributes) + 64
	o.append(&wire.PluginFrame{Frame: &wire.PluginFrame_Log{Log: l}})
}

func (o *outbox) frame(f *wire.PluginFrame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.append(f)
}

// append adds a frame behind the commands before it; mu is held.
func (o *outbox) append(f *wire.PluginFrame) {
	o.open = nil
	o.frames = append(o.frames, f)
	o.nudge()
}
