package runtime_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/actord/actord/runtime"
	"github.com/actord/actord/runtime/actor"
)

// A pool is one address for several actors; resizing it leaves those that stay
// alone.
func ExampleActor_Resize() {
	sys := runtime.New("example", runtime.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	ctx := context.Background()
	defer sys.Shutdown(ctx)
	workers, err := sys.SpawnActor(actor.User, runtime.Spec{
		Name: "workers",
		Pool: &runtime.Pool[actor.Message]{Size: 2},
		New: func() (actor.Behaviour, error) {
			return actor.Func(func(ctx actor.Context, m actor.Message) error {
				return ctx.Reply(actor.Message{Kind: ctx.Self().Path().Name()})
			}), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := workers.Resize(ctx, &runtime.Pool[actor.Message]{Size: 3}); err != nil {
		fmt.Println(err)
	}
	answers := map[string]int{}
	for range 6 {
		m, err := workers.Ref().(actor.Asker).Ask(ctx, actor.Message{Kind: "work"})
		if err != nil {
			fmt.Println(err)
		}
		answers[m.Kind]++
	}
	fmt.Println(answers)
	// Output: map[routee-1:2 routee-2:2 routee-3:2]
}

// A topic is a name to publish to.
func ExampleSystem_SetTopic() {
	sys := runtime.New("example", runtime.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	ctx := context.Background()
	defer sys.Shutdown(ctx)
	got := make(chan string)
	_, err := sys.SpawnActor(actor.User, runtime.Spec{Name: "a", New: func() (actor.Behaviour, error) {
		return actor.Func(func(_ actor.Context, m actor.Message) error {
			got <- m.Kind
			return nil
		}), nil
	}})
	if err == nil {
		err = sys.SetTopic("news", runtime.Topic{Subscribers: []actor.Path{"/user/a"}})
	}
	if err == nil {
		err = sys.Topic("news").Tell(ctx, actor.Message{Kind: "hello"})
	}
	fmt.Println(<-got, err)
	// Output: hello <nil>
}
