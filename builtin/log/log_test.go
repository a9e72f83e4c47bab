package log_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/actord/actord/builtin/log"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/actortest"
)

var order = actor.Message{
	Kind:    "order",
	Body:    map[string]any{"amount": int64(7), "customer": map[string]any{"name": "Ada"}},
	Headers: actor.Headers{"topic": "shop"},
}

func TestOneRecordPerMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		config log.Config
		want   string
	}{
		{
			name:   "without fields the whole body is written",
			config: log.Config{Level: "info", Message: "order seen"},
			want:   `level=INFO msg="order seen" actor=/user/subject trace=T kind=order body="map[amount:7 customer:map[name:Ada]]"` + "\n",
		},
		{
			name:   "fields choose parts of the body, headers and the sender",
			config: log.Config{Level: "warn", Message: "m", Fields: []string{"customer.name", "headers.topic", "sender"}},
			want:   "level=WARN msg=m actor=/user/subject trace=T kind=order customer.name=Ada headers.topic=shop sender=/user/shop\n",
		},
		{
			name:   "a field that the message lacks is left out",
			config: log.Config{Level: "debug", Message: "m", Fields: []string{"amount", "customer.age", "price"}},
			want:   "level=DEBUG msg=m actor=/user/subject trace=T kind=order amount=7\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := actortest.NewRig(t, must(log.New(c.config))).MustStart()
			if err := rig.TellFrom("/user/shop", order); err != nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`trace=[0-9a-f]{32}`).ReplaceAllString(rig.Logs(), "trace=T")
			if got != c.want {
				t.Errorf("record\n got: %swant: %s", got, c.want)
			}
		})
	}
}

func TestMessagesGoOnUnchanged(t *testing.T) {
	rig := actortest.NewRig(t, must(log.New(log.Config{Level: "info", To: actor.Targets{"/user/next"}}))).MustStart()
	rig.Tell(order)
	if sent := rig.Sent(); len(sent) != 1 || sent[0].To != "/user/next" || sent[0].Message.Kind != "order" {
		t.Errorf("sent: got %+v, want the order to /user/next", sent)
	}
}

func TestANewConfigurationIsTakenInPlace(t *testing.T) {
	l := must(log.New(log.Config{Level: "info", Message: "old"}))
	rig := actortest.NewRig(t, l).MustStart()
	reconfigure := func(c log.Config) error {
		return rig.Do(func(ctx actor.Context) error { return l.Reconfigure(ctx, c) })
	}
	if err := reconfigure(log.Config{Level: "info", Message: "bad", To: actor.Targets{"?"}}); err == nil {
		t.Error("a wrong target: got no error, want one")
	}
	if err := reconfigure(log.Config{Level: "info", Message: "new"}); err != nil {
		t.Fatal(err)
	}
	rig.Tell(actor.Message{Kind: "x"})
	if got := rig.Logs(); !regexp.MustCompile(`msg=new `).MatchString(got) {
		t.Errorf("record: got %s, want one with msg=new", got)
	}
}

func TestWrongConfigurationIsFoundByPrepare(t *testing.T) {
	_, err := log.Factory().Prepare(map[string]any{"level": "info", "fields": []any{"a", ""}})
	if err == nil || err.Error() != "fields[1] is empty; name a field of the body, headers or sender" {
		t.Errorf("got error %v, want one about fields[1]", err)
	}
}

func Example() {
	args, _ := log.Factory().Schema().Decode(nil)
	fmt.Println(args["level"], args["message"])
	// Output: info message
}

func BenchmarkReceive(b *testing.B) {
	rig := actortest.NewRig(b, must(log.New(log.Config{Level: "info", Message: "m"}))).MustStart()
	for b.Loop() {
		rig.Tell(order)
		rig.Logs()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
