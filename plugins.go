package actord

import (
	"context"
	"errors"
	"log/slog"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/spec"
)

func openPlugin(log *slog.Logger, publish func(actor.Event)) topology.OpenPlugin {
	return func(context.Context, *spec.Plugin) (topology.PluginHost, error) {
		return nil, errors.New("no host yet")
	}
}
