// Package chaos is the behaviour that goes wrong on purpose: it fails, panics or
// is slow where configuration says so and passes everything else on. It shows
// what a supervision does before a real failure has to.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	Fail       actor.Expr    `conf:"fail" expr:"bool" class:"live" doc:"condition on which the actor fails"`
	Panic      actor.Expr    `conf:"panic" expr:"bool" class:"live" doc:"condition on which the actor panics"`
	FailEvery  int64         `conf:"fail-every" default:"off" words:"off=0" min:"1" unit:"messages" class:"live" doc:"fail on every n-th message of an incarnation"`
	PanicEvery int64         `conf:"panic-every" default:"off" words:"off=0" min:"1" unit:"messages" class:"live" doc:"panic on every n-th message of an incarnation"`
	FailStart  bool          `conf:"fail-start" default:"off" doc:"fail before the first message, at every start"`
	Delay      time.Duration `conf:"delay" default:"0s" min:"0s" class:"live" doc:"how long every message takes; nothing else is handled meanwhile"`
	To         actor.Targets `conf:"to" class:"live" doc:"where messages go on to, unchanged"`
}

// ErrOnPurpose is what every failure of this behaviour wraps.
var ErrOnPurpose = errors.New("failed on purpose")

// Factory makes behaviours that fail on purpose.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("chaos", "Fails, panics or is slow on purpose, to try out a supervision; passes everything else on.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a behaviour that fails on purpose.
func New(c Config) (*Chaos, error) {
	fail, errFail := route.Compile("fail", actor.BoolSite, c.Fail)
	panics, errPanic := route.Compile("panic", actor.BoolSite, c.Panic)
	if err := errors.Join(errFail, errPanic); err != nil {
		return nil, err
	}
	return &Chaos{config: c, fail: fail, panics: panics}, nil
}

// Chaos goes wrong on purpose.
type Chaos struct {
	config       Config
	fail, panics *rule.Evaluator // nil where there is no condition
	to           route.Targets
	handled      int64
}

// Receive takes its time, goes wrong if it is to, and passes m on otherwise. A
// condition that cannot be evaluated is a failure as well.
func (c *Chaos) Receive(ctx actor.Context, m actor.Message) error {
	c.handled++
	if err := pause(ctx, c.config.Delay); err != nil {
		return err
	}
	in := route.Input(ctx, m)
	switch wrong, err := c.due("panic", c.panics, c.config.PanicEvery, in); {
	case err != nil:
		return err
	case wrong:
		panic(fmt.Sprintf("panicked on purpose on a %q", m.Kind))
	}
	switch wrong, err := c.due("fail", c.fail, c.config.FailEvery, in); {
	case err != nil:
		return err
	case wrong:
		return fmt.Errorf("%w on a %q", ErrOnPurpose, m.Kind)
	}
	c.to.Tell(ctx, m)
	return nil
}

func (c *Chaos) due(place string, when *rule.Evaluator, every int64, in *rule.Input) (bool, error) {
	if every > 0 && c.handled%every == 0 {
		return true, nil
	}
	if when == nil {
		return false, nil
	}
	wrong, err := when.Bool(in)
	if err != nil {
		return false, fmt.Errorf("%s: %w", place, err)
	}
	return wrong, nil
}

// pause waits for d, but not longer than the actor may go on.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Start fails if it is to and resolves the targets otherwise.
func (c *Chaos) Start(ctx actor.Context) (err error) {
	if c.config.FailStart {
		return fmt.Errorf("%w at the start", ErrOnPurpose)
	}
	c.to, err = route.Resolve(ctx, c.config.To)
	return err
}

// Reconfigure takes a new configuration in place and goes on counting.
func (c *Chaos) Reconfigure(ctx actor.Context, config Config) error {
	next, err := New(config)
	if err != nil {
		return err
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	next.handled = c.handled
	*c = *next
	return nil
}
