package sdktest_test

import (
	"testing"

	"github.com/actord/actord/plugins/sdktest"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

func TestLoopbackSuite(t *testing.T) {
	sdktest.Suite(t, "github.com/actord/actord/examples/orders/fraud", map[string]actortest.Case{
		"score": {
			Args:     map[string]any{"to": "/user/worker"},
			Messages: []actor.Message{{Kind: "order", Body: map[string]any{"customer": "ann", "amount": int64(10)}}},
		},
	})
}

func ExampleSuite() {
	_ = func(t *testing.T) { // TestPlugin
		sdktest.Suite(t, ".", map[string]actortest.Case{
			"score": {
				Args:     map[string]any{"to": "/user/worker"},
				Messages: []actor.Message{{Kind: "order", Body: map[string]any{"amount": 12.5}}},
			},
		})
	}
}
