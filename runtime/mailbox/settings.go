// Package mailbox holds the queues that actors read from, as plain data: a Queue
// starts no goroutine and takes no lock, so whoever owns it guards it. Bounds,
// overflow policies and priority are decided here; waiting is not.
package mailbox

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Overflow says what happens to a message that meets a full queue.
type Overflow uint8

// The overflow policies.
const (
	DropHead   Overflow = iota // the oldest message makes room
	DropNew                    // the new message is discarded
	Reject                     // the sender gets an error
	Block                      // the sender waits for room, up to BlockTimeout
	DropLowest                 // ranked queues: the least urgent message makes room
)

var overflowNames = []string{"drop-head", "drop-new", "reject", "block", "drop-lowest"}

// OverflowNames lists the policies as configuration writes them.
func OverflowNames() []string { return slices.Clone(overflowNames) }

// String returns the policy as configuration writes it.
func (o Overflow) String() string { return overflowNames[o] }

// ParseOverflow reads a policy's name.
func ParseOverflow(name string) (Overflow, error) {
	if i := slices.Index(overflowNames, name); i >= 0 {
		return Overflow(i), nil
	}
	return 0, fmt.Errorf("%q is not an overflow policy (want one of %s)", name, strings.Join(overflowNames, ", "))
}

// Settings bound a queue. The zero value is an unlimited FIFO queue.
type Settings struct {
	Capacity     int           // messages; 0 means unlimited
	Overflow     Overflow      // needs a Capacity
	BlockTimeout time.Duration // how long Block waits
	Ranked       bool          // lower ranks first, FIFO among equals
	WarnAt       int           // depth of the first warning, then at every doubling; 0 means never
}

// Check reports settings that contradict each other.
func (s Settings) Check() error {
	switch {
	case s.Capacity < 0:
		return fmt.Errorf("capacity %d is negative", s.Capacity)
	case s.Ranked && s.Overflow == DropHead && s.Capacity > 0:
		return fmt.Errorf("overflow drop-head would discard the most urgent message of a priority mailbox; use drop-lowest, drop-new or reject")
	case s.Ranked && s.Overflow == Block && s.Capacity > 0:
		return fmt.Errorf("overflow block is for mailboxes without priority; use drop-lowest, drop-new or reject")
	case !s.Ranked && s.Overflow == DropLowest:
		return fmt.Errorf("overflow drop-lowest needs a priority; use drop-head, drop-new, reject or block")
	}
	return nil
}
