// Package builtin lists the behaviours and bridges that come with actord. Each
// has a folder of its own below this one.
package builtin

import (
	"errors"

	"github.com/actord/actord/builtin/chaos"
	"github.com/actord/actord/builtin/counter"
	"github.com/actord/actord/builtin/file"
	"github.com/actord/actord/builtin/filter"
	"github.com/actord/actord/builtin/httpserver"
	"github.com/actord/actord/builtin/log"
	"github.com/actord/actord/builtin/router"
	"github.com/actord/actord/builtin/timer"
	"github.com/actord/actord/builtin/transform"
	"github.com/actord/actord/runtime/actor"
)

// AddTo registers everything that is built in. It fails only where r has one of
// the names already.
func AddTo(r *actor.Registry) error {
	return errors.Join(
		r.AddBehaviour(chaos.Factory()),
		r.AddBehaviour(counter.Factory()),
		r.AddBehaviour(file.Factory()),
		r.AddBehaviour(filter.Factory()),
		r.AddBehaviour(log.Factory()),
		r.AddBehaviour(router.Factory()),
		r.AddBehaviour(timer.Factory()),
		r.AddBehaviour(transform.Factory()),

		r.AddBridge(httpserver.Factory()),
	)
}
