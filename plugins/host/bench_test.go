package host

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/mailbox"
)

// BenchmarkPluginTell tells an actor whose behaviour runs in a plugin, as fast as
// its mailbox takes the messages, until all of them are handled there.
func BenchmarkPluginTell(b *testing.B) {
	for _, actors := range []int{1, 100} {
		b.Run(fmt.Sprintf("actors-%d", actors), func(b *testing.B) { benchTell(b, actors) })
	}
}

func benchTell(b *testing.B, actors int) {
	sys := runtime.New("bench", runtime.WithLogger(slog.New(slog.DiscardHandler)))
	cfg := testConfig("plugin")
	cfg.Lookup = sys.Lookup
	p, err := Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(context.Background())
	defer sys.Shutdown(context.Background())
	prepared, err := prepare(p, "count", nil)
	if err != nil {
		b.Fatal(err)
	}
	s := runtime.DefaultSettings()
	s.Mailbox = mailbox.Settings{Capacity: 4096, Overflow: mailbox.Block, BlockTimeout: patience}
	refs := make([]actor.Ref, actors)
	for i := range refs {
		a, err := sys.SpawnActor(actor.User, runtime.Spec{Name: fmt.Sprint("a", i), New: prepared.New, Settings: s})
		if err == nil {
			err = a.Started(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		refs[i] = a.Ref()
	}
	m := actor.Message{Kind: "order", Body: map[string]any{"id": int64(7), "amount": 12.5, "country": "FI"}}
	ctx := b.Context()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := refs[n%actors].Tell(ctx, m); err != nil {
			b.Fatal(err)
		}
		n++
	}
	for _, r := range refs {
		if _, err := r.(actor.Asker).Ask(ctx, actor.Message{Kind: "get"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "msg/s")
}

// BenchmarkPluginAsk is the way there and back of one message at a time.
func BenchmarkPluginAsk(b *testing.B) {
	sys := runtime.New("bench", runtime.WithLogger(slog.New(slog.DiscardHandler)))
	cfg := testConfig("plugin")
	cfg.Lookup = sys.Lookup
	p, err := Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(context.Background())
	defer sys.Shutdown(context.Background())
	prepared, err := prepare(p, "echo", nil)
	if err != nil {
		b.Fatal(err)
	}
	a, err := sys.SpawnActor(actor.User, runtime.Spec{Name: "echo", New: prepared.New, Settings: runtime.DefaultSettings()})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := a.Ref().(actor.Asker).Ask(b.Context(), actor.Message{Kind: "x"}); err != nil {
			b.Fatal(err)
		}
	}
}
