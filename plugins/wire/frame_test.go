package wire

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

var order = Delivery{
	Seq: 1 << 40, Inst: 7, Trace: [16]byte{1, 15: 2}, Sender: "/user/intake", Kind: "order",
	Headers: map[string]string{"topic": "orders", "": ""}, Body: []byte{0xf6},
}

var reply = Command{
	Op: OpAsk, Inst: 7, Cause: 12, Call: 13, Timeout: 1e9, Trace: [16]byte{9}, Target: "/user/store", Reason: "why",
	Kind: "scored", Headers: map[string]string{"a": "b"}, Body: []byte{0xf5},
}

func TestFramesRoundTrip(t *testing.T) {
	b := AppendDelivery(AppendDelivery(nil, &order), &Delivery{})
	var first, second Delivery
	rest, err := NextDelivery(b, &first)
	if err == nil {
		rest, err = NextDelivery(rest, &second)
	}
	if err != nil || len(rest) != 0 || !reflect.DeepEqual(first, order) {
		t.Errorf("got %+v, %d bytes left, %v; want %+v", first, len(rest), err, order)
	}
	if second.Kind != "" || second.Headers != nil || len(second.Body) != 0 {
		t.Errorf("got %+v; want an empty delivery", second)
	}
	var c Command
	rest, err = NextCommand(AppendCommand(nil, &reply), &c)
	if err != nil || len(rest) != 0 || !reflect.DeepEqual(c, reply) {
		t.Errorf("got %+v, %d bytes left, %v; want %+v", c, len(rest), err, reply)
	}
	inst, seq, rest, err := NextAck(AppendAck(AppendAck(nil, 3, 99), 4, 100))
	if inst != 3 || seq != 99 || len(rest) == 0 || err != nil {
		t.Errorf("got instance %d, seq %d, %v; want 3, 99", inst, seq, err)
	}
}

func TestEveryCutOffFrameIsAnError(t *testing.T) {
	b, c := AppendDelivery(nil, &order), AppendCommand(nil, &reply)
	for i := range len(b) {
		if _, err := NextDelivery(b[:i], new(Delivery)); !errors.Is(err, ErrFrame) {
			t.Errorf("a delivery cut at %d of %d: got %v; want ErrFrame", i, len(b), err)
		}
	}
	for i := range len(c) {
		if _, err := NextCommand(c[:i], new(Command)); !errors.Is(err, ErrFrame) {
			t.Errorf("a command cut at %d of %d: got %v; want ErrFrame", i, len(c), err)
		}
	}
	c[0] = 0xff
	if _, err := NextCommand(c, new(Command)); !errors.Is(err, ErrFrame) {
		t.Errorf("an unknown command: got %v; want ErrFrame", err)
	}
}

// A frame is read to its end or refused; reading always makes progress.
func FuzzFrames(f *testing.F) {
	f.Add(AppendDelivery(nil, &order))
	f.Add(AppendCommand(nil, &reply))
	f.Add(AppendAck(nil, 1, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		drain(t, b, func(b []byte) ([]byte, error) {
			var d Delivery
			rest, err := NextDelivery(b, &d)
			if err == nil {
				var again Delivery
				if _, err := NextDelivery(AppendDelivery(nil, &d), &again); err != nil || !reflect.DeepEqual(d, again) {
					t.Fatalf("got %+v, %v; want %+v", again, err, d)
				}
			}
			return rest, err
		})
		drain(t, b, func(b []byte) ([]byte, error) { return NextCommand(b, new(Command)) })
		drain(t, b, func(b []byte) ([]byte, error) { _, _, rest, err := NextAck(b); return rest, err })
	})
}

func drain(t *testing.T, b []byte, next func([]byte) ([]byte, error)) {
	for len(b) > 0 {
		rest, err := next(b)
		if err != nil {
			return
		}
		if len(rest) >= len(b) {
			t.Fatalf("no progress on %d bytes", len(b))
		}
		b = rest
	}
}

func BenchmarkPack(b *testing.B) {
	body := map[string]any{"id": int64(1), "amount": 12.5, "country": "FI"}
	var frame, scratch []byte
	b.ReportAllocs()
	for b.Loop() {
		scratch, _ = AppendBody(scratch[:0], body)
		frame = AppendDelivery(frame[:0], &Delivery{Seq: 1, Inst: 1, Kind: "order", Body: scratch})
	}
}

func BenchmarkUnpack(b *testing.B) {
	body, _ := AppendBody(nil, map[string]any{"id": int64(1), "amount": 12.5, "country": "FI"})
	frame := AppendDelivery(nil, &Delivery{Seq: 1, Inst: 1, Kind: "order", Body: body})
	var dec Decoder
	b.ReportAllocs()
	for b.Loop() {
		var d Delivery
		if _, err := NextDelivery(frame, &d); err != nil {
			b.Fatal(err)
		}
		if _, err := dec.Decode(d.Body); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleAppendDelivery() {
	body, _ := AppendBody(nil, map[string]any{"amount": 12.5})
	frame := AppendDelivery(nil, &Delivery{Seq: 1, Inst: 1, Kind: "order", Body: body})

	var d Delivery
	rest, err := NextDelivery(frame, &d)
	v, _ := DecodeBody(d.Body)
	fmt.Println(d.Kind, v, len(rest), err)
	// Output: order map[amount:12.5] 0 <nil>
}
