package wire

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestBody(t *testing.T) {
	deep := any("x")
	for range maxDepth - 1 {
		deep = []any{deep}
	}
	for _, tc := range []struct {
		name string
		body any
	}{
		{"nothing", nil}, {"yes", true}, {"no", false},
		{"a whole number stays one", int64(3)},
		{"a float without fraction stays one", float64(3)},
		{"the smallest int64", int64(math.MinInt64)}, {"the largest int64", int64(math.MaxInt64)},
		{"each length of head", []any{int64(23), int64(24), int64(255), int64(256), int64(65535), int64(65536), int64(1) << 32, int64(-25)}},
		{"infinity", math.Inf(-1)},
		{"negative zero", math.Copysign(0, -1)},
		{"text that is not UTF-8", "a\xffb"}, {"a long text", strings.Repeat("x", 70000)},
		{"bytes are not a text", []byte("text")}, {"no bytes", []byte{}},
		{"an empty list", []any{}}, {"an empty object", map[string]any{}},
		{"an order", map[string]any{"id": int64(7), "amount": 12.5, "items": []any{map[string]any{"sku": "a"}, nil}, "sig": []byte{0, 1}}},
		{"nested as deep as allowed", deep},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := AppendBody(nil, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeBody(b)
			if err != nil || !reflect.DeepEqual(got, tc.body) {
				t.Errorf("got %#v, %v; want %#v", got, err, tc.body)
			}
		})
	}
}

func TestADecoderKeepsNothingOfABody(t *testing.T) {
	var d Decoder
	for i := range int64(2000) {
		want := map[string]any{"id": i, strings.Repeat("k", int(i)%100): []any{i}}
		b, err := AppendBody(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Decode(b)
		clear(b)
		if err != nil || !reflect.DeepEqual(got, any(want)) {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	}
	if len(d.keys) > maxKeys {
		t.Errorf("got %d remembered keys; want at most %d", len(d.keys), maxKeys)
	}
}

func TestBodyNaN(t *testing.T) {
	b, err := AppendBody(nil, math.NaN())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeBody(b); err != nil || !math.IsNaN(got.(float64)) {
		t.Errorf("got %v, %v; want NaN", got, err)
	}
}

func TestDecodeBodyReadsWhatOthersWrite(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   string
		want any
	}{
		{"a half float", "\xf9\x3c\x00", 1.0},
		{"a half float below one", "\xf9\x38\x00", 0.5},
		{"the smallest half float", "\xf9\x00\x01", 5.960464477539063e-08},
		{"negative half infinity", "\xf9\xfc\x00", math.Inf(-1)},
		{"a single float", "\xfa\x47\xc3\x50\x00", 100000.0},
		{"a number longer than needed", "\x1b\x00\x00\x00\x00\x00\x00\x00\x05", int64(5)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := DecodeBody([]byte(tc.in)); err != nil || got != tc.want {
				t.Errorf("got %v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

func TestBodyErrors(t *testing.T) {
	if _, err := AppendBody(nil, map[string]any{"n": 3}); err == nil || !strings.Contains(err.Error(), "int cannot be sent") {
		t.Errorf("encoding an int: got %v; want an error that names the type", err)
	}
	var cyclic []any
	cyclic = append(cyclic, nil)
	cyclic[0] = cyclic
	if _, err := AppendBody(nil, cyclic); !errors.Is(err, ErrBody) {
		t.Errorf("encoding a cycle: got %v; want ErrBody", err)
	}
	for _, tc := range []struct{ name, in, want string }{
		{"nothing at all", "", "ends too early"},
		{"a text longer than the frame", "\x7a\xff\xff\xff\xff", "ends too early"},
		{"a list longer than the frame", "\x9b\x00\xff\xff\xff\xff\xff\xff\xff", "ends too early"},
		{"a map longer than the frame", "\xbb\x00\xff\xff\xff\xff\xff\xff\xff", "ends too early"},
		{"an integer above int64", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "does not fit"},
		{"a key that is a number", "\xa1\x01\x02", "not a text"},
		{"an indefinite length", "\x9f\xff", "indefinite"},
		{"a tag", "\xc1\x00", "tag 1"},
		{"undefined", "\xf7", "0xf7"},
		{"bytes behind the value", "\xf6\xf6", "1 bytes follow"},
		{"nested too deep", strings.Repeat("\x81", maxDepth) + "\xf6", "deeper"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if v, err := DecodeBody([]byte(tc.in)); !errors.Is(err, ErrBody) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error with %q", v, err, tc.want)
			}
		})
	}
}

// Whatever DecodeBody accepts is a body that AppendBody writes and that reads
// back equal.
func FuzzDecodeBody(f *testing.F) {
	for _, body := range []any{nil, int64(-1), 1.5, "a", []byte{1}, []any{true}, map[string]any{"k": []any{}}} {
		b, _ := AppendBody(nil, body)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeBody(b)
		if err != nil {
			return
		}
		again, err := AppendBody(nil, v)
		if err != nil {
			t.Fatalf("decoded %#v cannot be encoded: %v", v, err)
		}
		w, err := DecodeBody(again)
		if err != nil {
			t.Fatalf("encoded %#v cannot be decoded: %v", v, err)
		}
		if third, _ := AppendBody(nil, w); len(third) != len(again) {
			t.Fatalf("got %#v; want %#v", w, v)
		}
	})
}
