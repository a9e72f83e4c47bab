package sdk

import (
	"os"
	"testing"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// BenchmarkReceive is the plugin's part of a tell, without the stream: a frame of
// messages is unpacked, handled and acknowledged.
func BenchmarkReceive(b *testing.B) {
	f := actor.FactoryOf(actor.Schema{Name: "x"}, func(struct{}) (actor.Behaviour, error) {
		return actor.Func(func(actor.Context, actor.Message) error { return nil }), nil
	})
	s := newSession(newServer(Plugin{Name: "p"}, []actor.Factory{f}, os.Stdout, os.Stderr), b.Context())
	acked := make(chan uint64, 1000)
	go s.out.sendAll(func(f *wire.PluginFrame) error {
		if f.GetAck() != nil {
			_, seq, _, err := wire.NextAck(f.GetAck().Packed)
			acked <- seq
			return err
		}
		return nil
	})
	defer s.out.close()
	s.spawn(&wire.Spawn{Inst: 1, Behaviour: "x"})
	body, err := wire.AppendBody(nil, map[string]any{"id": int64(7), "amount": 12.5, "country": "FI"})
	if err != nil {
		b.Fatal(err)
	}
	const batch = 256
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		var packed []byte
		for range batch {
			seq++
			packed = wire.AppendDelivery(packed, &wire.Delivery{Seq: seq, Inst: 1, Trace: [16]byte{1}, Kind: "order", Body: body})
		}
		if err := s.deliver(packed); err != nil {
			b.Fatal(err)
		}
		for got := uint64(0); got < seq; got = <-acked {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(seq), "ns/message")
}
