// Command fraud is a plugin for actord: it scores orders. Build it with
//
//	go build -o bin/fraud ./examples/orders/fraud
//
// and name it in application.conf:
//
//	plugins.fraud { command = ["./bin/fraud"] }
//	actors.fraud { behaviour = "fraud/score", args { threshold = 0.8, to = /user/worker } }
//
// An order of the customer "panic" makes it panic, to show that this is the
// failure of one actor and of no other.
package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/actord/actord/plugins/sdk"
	"github.com/actord/actord/runtime/actor"
)

func main() {
	sdk.Serve(sdk.Plugin{Name: "fraud", Version: "1.0.0"}, Score)
}

// Config configures score.
type Config struct {
	To        actor.Targets `conf:"to,required" doc:"Where the scored orders go."`
	Threshold float64       `conf:"threshold" default:"0.8" min:"0" max:"1" class:"live" doc:"Orders with this score or more get the verdict review."`
	Large     float64       `conf:"large" default:"5000" min:"1" class:"live" doc:"An amount that alone makes most of the score."`
	Risky     []string      `conf:"risky" class:"live" doc:"Countries that raise the score."`
	Window    int           `conf:"window" default:"100" min:"1" max:"100000" unit:"orders" class:"live" doc:"How many orders are remembered, to see customers that come often."`
}

// Score is the behaviour fraud/score. It adds score (0 to 1) and verdict (accept
// or review) to every order.
var Score = actor.FactoryOf(actor.SchemaOf[Config]("score", "Scores orders by amount, country and how often their customer comes."),
	func(c Config) (actor.Behaviour, error) { return &score{config: c}, nil })

type score struct {
	config Config
	to     []actor.Ref
	recent []string // customers of the last orders, oldest first
}

// Start finds the targets.
func (s *score) Start(ctx actor.Context) error { return s.resolve(ctx, s.config) }

// Reconfigure takes new arguments and keeps what is remembered.
func (s *score) Reconfigure(ctx actor.Context, next Config) error { return s.resolve(ctx, next) }

func (s *score) resolve(ctx actor.Context, c Config) error {
	to := make([]actor.Ref, len(c.To))
	for i, t := range c.To {
		ref, err := ctx.Resolve(t)
		if err != nil {
			return err
		}
		to[i] = ref
	}
	s.config, s.to = c, to
	return nil
}

// Receive scores one order and passes a copy on.
func (s *score) Receive(ctx actor.Context, m actor.Message) error {
	order, ok := actor.CopyBody(m.Body).(map[string]any)
	if !ok {
		return fmt.Errorf("an order is an object with amount, country and customer, not %T", m.Body)
	}
	customer := fmt.Sprint(order["customer"])
	if customer == "panic" {
		panic("an order of the customer \"panic\"")
	}
	order["score"] = s.rate(order, customer)
	order["verdict"] = "accept"
	if order["score"].(float64) >= s.config.Threshold {
		order["verdict"] = "review"
		ctx.Log().Info("order needs a review", "id", order["id"], "score", order["score"])
	}
	s.remember(customer)
	m.Body = order
	for _, to := range s.to {
		if err := ctx.Tell(to, m); err != nil {
			return err
		}
	}
	return nil
}

// rate adds up 0.6 for a large amount, 0.3 for a risky country and 0.1 for each
// earlier order of the customer, at most 0.3; the sum is at most 1.
func (s *score) rate(order map[string]any, customer string) float64 {
	points := 60 * min(max(number(order["amount"])/s.config.Large, 0), 1)
	if slices.Contains(s.config.Risky, fmt.Sprint(order["country"])) {
		points += 30
	}
	again := 0
	for _, c := range s.recent {
		if c == customer && again < 3 {
			again++
		}
	}
	return min(points+10*float64(again), 100) / 100
}

func (s *score) remember(customer string) {
	s.recent = append(s.recent, customer)
	s.recent = s.recent[max(0, len(s.recent)-s.config.Window):]
}

func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// Snapshot hands over who came lately.
func (s *score) Snapshot() (actor.State, error) {
	b, err := json.Marshal(s.recent)
	return actor.State{Version: 1, Data: b}, err
}

// Restore takes it.
func (s *score) Restore(state actor.State) error {
	if state.Version != 1 {
		return fmt.Errorf("the state has version %d; this plugin reads version 1", state.Version)
	}
	return json.Unmarshal(state.Data, &s.recent)
}
