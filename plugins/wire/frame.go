package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFrame is wrapped by every error about bytes that are not a packed frame.
var ErrFrame = errors.New("not a packed frame")

// Delivery is a message on its way to an instance.
type Delivery struct {
	Seq     uint64 // counts the messages of a session from 1
	Inst    uint32
	Trace   [16]byte // zero means none
	Sender  string   // path, "" when nobody sent it
	Kind    string
	Headers map[string]string
	Body    []byte // see AppendBody; shares the frame's memory after decoding
}

// Op is what an instance asks the host to do.
type Op uint8

// The commands of an instance.
const (
	OpTell       Op = iota + 1 // send to Target as this actor
	OpSend                     // send to Target without a sender
	OpReply                    // send to the sender of message Cause
	OpAsk                      // send to Target and answer Call; Timeout bounds it
	OpDeadLetter               // give up on the message that Target sent; Reason says why
	OpPublish                  // an event: Kind and Body
	OpStop                     // end this actor
)

// Command is one thing that an instance does. Kind, Headers, Body and Trace are
// those of the message it sends.
type Command struct {
	Op      Op
	Inst    uint32
	Cause   uint64 // the message being handled, 0 when none is
	Call    uint64
	Timeout int64 // nanoseconds
	Trace   [16]byte
	Target  string // a target as configuration writes it, absolute where it is a path
	Reason  string
	Kind    string
	Headers map[string]string
	Body    []byte
}

// AppendDelivery appends d to a packed frame: in this order seq, inst (uvarint),
// trace (16 bytes), sender, kind (uvarint length, bytes), the number of headers
// (uvarint) with key and value each, and the body (uvarint length, bytes).
func AppendDelivery(dst []byte, d *Delivery) []byte {
	dst = binary.AppendUvarint(dst, d.Seq)
	dst = binary.AppendUvarint(dst, uint64(d.Inst))
	dst = append(dst, d.Trace[:]...)
	dst = appendString(dst, d.Sender)
	return appendMessage(dst, d.Kind, d.Headers, d.Body)
}

// NextDelivery reads the first delivery of a packed frame into d and returns the
// rest of the frame.
func NextDelivery(b []byte, d *Delivery) (rest []byte, err error) {
	r := reader{rest: b}
	d.Seq, d.Inst = r.uvarint(), r.uint32()
	copy(d.Trace[:], r.take(16))
	d.Sender = r.string()
	d.Kind, d.Headers, d.Body = r.message()
	return r.end()
}

// AppendCommand appends c to a packed frame: in this order op (one byte), inst,
// cause, call, timeout (uvarint), trace (16 bytes), target, reason, and the
// message as in AppendDelivery.
func AppendCommand(dst []byte, c *Command) []byte {
	dst = append(dst, byte(c.Op))
	dst = binary.AppendUvarint(dst, uint64(c.Inst))
	dst = binary.AppendUvarint(dst, c.Cause)
	dst = binary.AppendUvarint(dst, c.Call)
	dst = binary.AppendUvarint(dst, uint64(c.Timeout))
	dst = append(dst, c.Trace[:]...)
	dst = appendString(dst, c.Target)
	dst = appendString(dst, c.Reason)
	return appendMessage(dst, c.Kind, c.Headers, c.Body)
}

// NextCommand reads the first command of a packed frame into c and returns the
// rest of the frame.
func NextCommand(b []byte, c *Command) (rest []byte, err error) {
	r := reader{rest: b}
	c.Op = Op(r.byte())
	c.Inst, c.Cause, c.Call, c.Timeout = r.uint32(), r.uvarint(), r.uvarint(), int64(r.uvarint())
	copy(c.Trace[:], r.take(16))
	c.Target, c.Reason = r.string(), r.string()
	c.Kind, c.Headers, c.Body = r.message()
	if r.err == nil && (c.Op < OpTell || c.Op > OpStop) {
		return nil, fmt.Errorf("%w: unknown command %d", ErrFrame, c.Op)
	}
	return r.end()
}

// AppendAck appends to a packed frame that inst has handled every message up to
// seq.
func AppendAck(dst []byte, inst uint32, seq uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(inst)), seq)
}

// NextAck reads the first acknowledgement of a packed frame.
func NextAck(b []byte) (inst uint32, seq uint64, rest []byte, err error) {
	r := reader{rest: b}
	inst, seq = r.uint32(), r.uvarint()
	rest, err = r.end()
	return inst, seq, rest, err
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendMessage(dst []byte, kind string, headers map[string]string, body []byte) []byte {
	dst = appendString(dst, kind)
	dst = binary.AppendUvarint(dst, uint64(len(headers)))
	for k, v := range headers {
		dst = appendString(appendString(dst, k), v)
	}
	return append(binary.AppendUvarint(dst, uint64(len(body))), body...)
}

// reader takes a frame apart and remembers the first error.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrFrame, what)
	}
	r.rest = nil
}

func (r *reader) end() ([]byte, error) { return r.rest, r.err }

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail("it ends too early")
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail("a number is cut off or too large")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) uint32() uint32 {
	v := r.uvarint()
	if v > 1<<32-1 {
		r.fail("an instance number is too large")
	}
	return uint32(v)
}

func (r *reader) string() string { return string(r.take(r.uvarint())) }

func (r *reader) message() (kind string, headers map[string]string, body []byte) {
	kind = r.string()
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.fail("it ends too early")
		return
	}
	if n > 0 {
		headers = make(map[string]string, min(n, 64))
	}
	for range n {
		k := r.string()
		headers[k] = r.string()
	}
	return kind, headers, r.take(r.uvarint())
}
