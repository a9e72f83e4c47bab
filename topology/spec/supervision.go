package spec

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// strategy reads the supervision at a key of v.
func (c *checker) strategy(v *value, key string, conf supervisionConf) supervise.Strategy {
	s := supervise.Strategy{
		AllForOne: conf.Scope == "all-for-one", MaxRestarts: conf.MaxRestarts, Within: conf.Within,
		Backoff: supervise.Backoff{
			Min: conf.Backoff.Min, Max: conf.Backoff.Max, Factor: conf.Backoff.Factor,
			Jitter: float64(conf.Backoff.Jitter), ResetAfter: conf.Backoff.ResetAfter,
		},
		KeepChildren: conf.KeepChildren,
	}
	// The schema has checked the words.
	s.OnFailure, _ = supervise.ParseDirective(conf.OnFailure)
	s.OnExhausted, _ = supervise.ParseDirective(conf.OnExhausted)
	c.backoff(v, []string{key, "backoff", "min"}, s.Backoff)
	for i, r := range conf.Rules {
		then, _ := supervise.ParseDirective(r.Then)
		if p := c.compile(v, []string{key, "rules", strconv.Itoa(i), "when"}, actor.BoolSite, string(r.When)); p != nil {
			s.Rules = append(s.Rules, supervise.Rule{When: errorCondition(p), Then: then})
		}
	}
	return s
}

// backoff checks that the first delay is not above the longest.
func (c *checker) backoff(v *value, at []string, b supervise.Backoff) {
	if b.Max > 0 && b.Min > b.Max {
		c.at(v, at, fmt.Errorf("min %s is longer than max %s", duration(b.Min), duration(b.Max)))
	}
}

// compile compiles an expression; nil when there is none or it is wrong.
func (c *checker) compile(v *value, at []string, site, src string) *rule.Program {
	if src == "" {
		return nil
	}
	key := site + " " + src
	if p := c.programs[key]; p != nil {
		return p
	}
	p, err := rule.Compile(site, src)
	if err != nil {
		c.expr(v, at, err)
		return nil
	}
	if c.programs == nil || len(c.programs) > maxShared {
		c.programs = map[string]*rule.Program{}
	}
	c.programs[key] = p
	return p
}

// errorCondition makes a condition on an error of p. It may be called from many
// goroutines, so each call borrows an evaluator. A condition that fails does not
// hold.
func errorCondition(p *rule.Program) func(error) bool {
	holds := condition(p)
	return func(err error) bool { return holds(&rule.Input{Error: err.Error()}) }
}

// eventCondition compiles the condition of a subscription; nil when there is none.
func (c *checker) eventCondition(v *value, at []string, src string) func(actor.Message) bool {
	p := c.compile(v, at, actor.BoolSite, src)
	if p == nil {
		return nil
	}
	holds := condition(p)
	return func(m actor.Message) bool { return holds(&rule.Input{Message: m}) }
}

func condition(p *rule.Program) func(*rule.Input) bool {
	pool := sync.Pool{New: func() any { return p.Evaluator() }}
	return func(in *rule.Input) bool {
		e := pool.Get().(*rule.Evaluator)
		defer pool.Put(e)
		ok, err := e.Bool(in)
		return err == nil && ok
	}
}
