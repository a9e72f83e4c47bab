package runtime

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/actord/actord/runtime/actor"
)

// Strategy says who of several receivers gets a message.
type Strategy uint8

// The strategies of pools and groups.
const (
	RoundRobin      Strategy = iota // one after the other
	Random                          // any one
	SmallestMailbox                 // the one with the least to do; equals take turns
	Broadcast                       // all of them
	ConsistentHash                  // always the same one for a key
	ScatterGather                   // all of them; the first answer is the answer
)

var strategyNames = []string{
	"round-robin", "random", "smallest-mailbox", "broadcast", "consistent-hash", "scatter-gather",
}

// String returns the strategy's name in configuration.
func (s Strategy) String() string { return strategyNames[s] }

// ParseStrategy returns the strategy called name.
func ParseStrategy(name string) (Strategy, error) {
	if i := slices.Index(strategyNames, name); i >= 0 {
		return Strategy(i), nil
	}
	return 0, fmt.Errorf("unknown strategy %q%s", name, actor.DidYouMean(name, strategyNames))
}

// candidates are the receivers that a strategy picks from.
type candidates interface {
	// depth is how much the receiver i has to do, below 0 when it takes nothing
	// because it is missing, stopping or stopped.
	depth(i int) int
	// weight is how much the receiver i wants the key with this hash.
	weight(i int, hash uint64) uint64
}

// pick returns who of the n > 0 receivers is asked first; when that one takes
// nothing, those behind it follow. turn counts the messages, hash is that of the
// message's key. Broadcast and ScatterGather pick nobody: they mean all.
func pick[C candidates](s Strategy, c C, n int, turn, hash uint64) int {
	start := int(turn % uint64(n))
	switch s {
	case Random:
		return rand.IntN(n)
	case SmallestMailbox:
		return smallest(c, n, start)
	case ConsistentHash:
		i, _ := heaviest(c, n, hash, -1, 0)
		return i
	default:
		return start
	}
}

// smallest returns the receiver with the least to do, the first one from start
// among equals, and start when none takes anything.
func smallest[C candidates](c C, n, start int) int {
	best, least := start, -1
	for k := range n {
		i := (start + k) % n
		d := c.depth(i)
		if d < 0 || (least >= 0 && d >= least) {
			continue
		}
		best, least = i, d
		if d == 0 {
			break
		}
	}
	return best
}

// heaviest returns the receiver with the highest weight below that of the one
// called after, which is -1 for the very highest; -1 when there is none left. In
// this order a receiver that goes hands its keys to many others, and all other
// keys stay where they are.
func heaviest[C candidates](c C, n int, hash uint64, after int, below uint64) (best int, most uint64) {
	best = -1
	for i := range n {
		w := c.weight(i, hash)
		if after >= 0 && (w > below || w == below && i <= after) {
			continue
		}
		if best < 0 || w > most {
			best, most = i, w
		}
	}
	return best, most
}

// hashText is FNV-1a with a finish that spreads similar texts. It is the same in
// every process, so that a key finds its receiver again after a restart.
func hashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

// mix spreads every bit of h over all bits.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
