package actor

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// TraceID names one causal chain of messages, from the entry of the first one
// to the handling of the last. It has the form of a W3C trace id; the zero value
// means none. IDs are for correlation and are not secret.
type TraceID [16]byte

// NewTraceID returns a random id.
func NewTraceID() TraceID {
	var t TraceID
	for i := range 2 {
		v := rand.Uint64()
		for j := range 8 {
			t[i*8+j] = byte(v >> (8 * j))
		}
	}
	return t
}

// IsZero reports whether t names no trace.
func (t TraceID) IsZero() bool { return t == TraceID{} }

// String returns 32 hexadecimal digits, "" for the zero id.
func (t TraceID) String() string {
	if t.IsZero() {
		return ""
	}
	return hex.EncodeToString(t[:])
}

// ParseTraceID reads 32 hexadecimal digits or a W3C traceparent header
// (version-traceid-parentid-flags). It returns false for anything else.
func ParseTraceID(s string) (TraceID, bool) {
	if parts := strings.Split(s, "-"); len(parts) >= 4 {
		s = parts[1]
	}
	var t TraceID
	if len(s) != 32 {
		return t, false
	}
	if _, err := hex.Decode(t[:], []byte(s)); err != nil {
		return TraceID{}, false
	}
	return t, !t.IsZero()
}

// Tracer is a context that knows its trace without a value lookup.
type Tracer interface{ Trace() TraceID }

// TraceOf returns the trace that ctx carries, zero when there is none.
func TraceOf(ctx context.Context) TraceID {
	if t, ok := ctx.(Tracer); ok {
		return t.Trace()
	}
	t, _ := EntryOf(ctx)
	return t
}
