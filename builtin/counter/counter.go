// Package counter is the behaviour that counts messages and tells the numbers to
// whoever asks. The numbers survive a reload; a restart after a failure begins
// at zero, as every restart does.
package counter

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	Key     actor.Expr    `conf:"key" expr:"string" class:"live" doc:"what messages are counted by; empty counts by kind"`
	MaxKeys int64         `conf:"max-keys" default:"1000" min:"1" unit:"keys" class:"live" doc:"how many keys are counted apart; further ones are counted together as other"`
	OnError route.OnError `conf:"on-error" default:"skip" enum:"dead-letter|skip|fail" class:"live" doc:"what becomes of a message on which key fails; skip counts it in the total only"`
	To      actor.Targets `conf:"to" class:"live" doc:"where counted messages go on to, unchanged"`
}

// Kinds that ask for the numbers. They are answered and not counted.
const (
	Get   = "get"   // answered with the numbers
	Count = "count" // the same
	Reset = "reset" // answered with the numbers, which then are zero
)

// Other is the key of the messages beyond max-keys.
const Other = "other"

// Factory makes counters.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("counter",
		"Counts messages by kind or by a key. Answers the kinds get and count with { total, counts }, and reset likewise before it sets all to zero.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a counter at zero.
func New(c Config) (*Counter, error) {
	key, err := route.Compile("key", actor.StringSite, c.Key)
	if err != nil {
		return nil, err
	}
	return &Counter{config: c, key: key, numbers: numbers{Counts: map[string]int64{}}}, nil
}

// Counter counts messages.
type Counter struct {
	config  Config
	key     *rule.Evaluator // nil counts by kind
	to      route.Targets
	numbers numbers
}

// numbers are what was counted, in the form of a snapshot.
type numbers struct {
	Total  int64            `json:"total"`
	Counts map[string]int64 `json:"counts"`
}

// Receive counts m, or answers it when it asks for the numbers.
func (n *Counter) Receive(ctx actor.Context, m actor.Message) error {
	switch m.Kind {
	case Get, Count:
		return ctx.Reply(n.answer(m.Kind))
	case Reset:
		answer := n.answer(m.Kind)
		n.numbers = numbers{Counts: map[string]int64{}}
		return ctx.Reply(answer)
	}
	key, err := n.keyOf(ctx, m)
	if err != nil {
		if skip, failure := n.config.OnError.Failed(ctx, err); !skip {
			return failure
		}
	} else {
		n.count(key)
	}
	n.numbers.Total++
	n.to.Tell(ctx, m)
	return nil
}

func (n *Counter) keyOf(ctx actor.Context, m actor.Message) (string, error) {
	if n.key == nil {
		return m.Kind, nil
	}
	key, err := n.key.String(route.Input(ctx, m))
	if err != nil {
		return "", fmt.Errorf("key: %w", err)
	}
	return key, nil
}

// count counts key, which leaves the process as text whatever it holds.
func (n *Counter) count(key string) {
	key = strings.ToValidUTF8(key, "\uFFFD")
	counts := n.numbers.Counts
	if _, known := counts[key]; !known && int64(len(counts)) >= n.config.MaxKeys {
		key = Other
	}
	counts[key]++
}

// answer copies the numbers, since a message is shared.
func (n *Counter) answer(kind string) actor.Message {
	counts := make(map[string]any, len(n.numbers.Counts))
	for key, c := range n.numbers.Counts {
		counts[key] = c
	}
	return actor.Message{Kind: kind, Body: map[string]any{"total": n.numbers.Total, "counts": counts}}
}

// Start resolves the targets.
func (n *Counter) Start(ctx actor.Context) (err error) {
	n.to, err = route.Resolve(ctx, n.config.To)
	return err
}

// Reconfigure takes a new configuration in place and goes on counting.
func (n *Counter) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil {
		return err
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	next.numbers = n.numbers
	*n = *next
	return nil
}

// Snapshot returns the numbers.
func (n *Counter) Snapshot() (actor.State, error) {
	data, err := json.Marshal(n.numbers)
	return actor.State{Version: 1, Data: data}, err
}

// Restore goes on from the numbers of a snapshot.
func (n *Counter) Restore(s actor.State) error {
	if s.Version != 1 {
		return fmt.Errorf("counter state has version %d (want 1)", s.Version)
	}
	var from numbers
	if err := json.Unmarshal(s.Data, &from); err != nil {
		return fmt.Errorf("counter state: %w", err)
	}
	n.numbers = numbers{Total: from.Total, Counts: map[string]int64{}}
	maps.Copy(n.numbers.Counts, from.Counts)
	return nil
}
