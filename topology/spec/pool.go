package spec

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Pool says how many actors share an address and how messages are spread over
// them.
type Pool struct {
	Size     int
	Strategy string
	Key      string // expression; "" unless the strategy is consistent-hash
	KeyOf    KeyOf  // what Key computes; nil when there is none
}

// KeyOf gives a message its key, "" when the expression fails. It is safe for
// concurrent use.
type KeyOf = func(m actor.Message, sender actor.Ref) string

type poolConf struct {
	Size     int        `conf:"size" default:"1" min:"1" max:"10000" unit:"actors" doc:"how many actors share the address, each with an instance and a mailbox of its own"`
	Strategy string     `conf:"strategy" default:"round-robin" enum:"round-robin|random|smallest-mailbox|broadcast|consistent-hash|scatter-gather" doc:"who of them gets a message"`
	Key      actor.Expr `conf:"key" default:"" expr:"string" doc:"for consistent-hash: messages with the same key meet the same actor"`
}

const consistentHash = "consistent-hash"

// pool reads the pool of an actor.
func (c *checker) pool(v *value, conf poolConf) Pool {
	at := []string{"pool", "key"}
	switch {
	case conf.Strategy == consistentHash && conf.Key == "":
		c.at(v, []string{"pool", "strategy"}, fmt.Errorf("%s needs a key (e.g. key = \"msg.id\")", consistentHash))
	case conf.Strategy != consistentHash && conf.Key != "":
		c.at(v, at, fmt.Errorf("a key is only for strategy = %s, not for %s", consistentHash, conf.Strategy))
	}
	p := Pool{Size: conf.Size, Strategy: conf.Strategy, Key: string(conf.Key)}
	if program := c.compile(v, at, actor.StringSite, p.Key); program != nil {
		p.KeyOf = keyOf(program)
	}
	return p
}

// keyed evaluates keys.
type keyed struct {
	eval *rule.Evaluator
	in   rule.Input
}

// keyOf borrows an evaluator for each call, since senders compute keys on their
// own goroutines.
func keyOf(p *rule.Program) KeyOf {
	pool := sync.Pool{New: func() any { return &keyed{eval: p.Evaluator()} }}
	return func(m actor.Message, sender actor.Ref) string {
		k := pool.Get().(*keyed)
		k.in.Message = m
		if sender != nil {
			k.in.Sender = sender.Path()
		}
		key, err := k.eval.String(&k.in)
		k.in = rule.Input{}
		pool.Put(k)
		if err != nil {
			return ""
		}
		return key
	}
}

var routeeName = regexp.MustCompile(`^routee-[0-9]+$`)

// routeeNames finds children whose names belong to the actors of a pool.
func (c *checker) routeeNames(s *System) {
	for a := range s.All() {
		if a.Pool.Size < 2 {
			continue
		}
		for _, child := range a.Children {
			if name := child.Path.Name(); routeeName.MatchString(name) {
				c.add(child.Pos, keyPath(child.Path), fmt.Errorf("%s is the name of an actor of the pool %s; give the child another one", name, a.Path))
			}
		}
	}
}

// keyPath is where a declared actor stands in the file.
func keyPath(p actor.Path) string {
	names := strings.Split(strings.TrimPrefix(string(p), string(actor.User)+"/"), "/")
	return "actors." + strings.Join(names, ".children.")
}
