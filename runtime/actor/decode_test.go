package actor

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// settings is a configuration with every kind of field.
type settings struct {
	Name   string            `conf:"name,required" doc:"who it is"`
	Count  int               `conf:"count" default:"3" min:"1" max:"10" unit:"messages"`
	Limit  int64             `conf:"limit" words:"unlimited=0"`
	Ratio  float64           `conf:"ratio" default:"0.5"`
	On     bool              `conf:"on" default:"yes"`
	Wait   time.Duration     `conf:"wait" default:"1m" min:"1s" words:"off=0"`
	Size   Size              `conf:"size" default:"1KiB"`
	Share  Percent           `conf:"share" default:"50%"`
	Mode   string            `conf:"mode" default:"fast" enum:"fast|slow"`
	To     Targets           `conf:"to"`
	When   Expr              `conf:"when" expr:"bool"`
	Listen Address           `conf:"listen"`
	Labels map[string]string `conf:"labels"`
	Inner  inner             `conf:"inner"`
	Any    any               `conf:"any"`
}

type inner struct {
	Deep int `conf:"deep" default:"7"`
}

func TestDecodingFillsDefaultsAndConvertsWhatAPersonWrites(t *testing.T) {
	got, errs := SchemaOf[settings]("x", "").Decode(map[string]any{
		"name": "n", "count": "5", "limit": "unlimited", "wait": "off", "size": "2 MB", "share": "25%", "to": "/user/a",
		"labels": map[string]any{"a": int64(1)}, "any": []any{int64(1)},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var c settings
	fill(reflect.ValueOf(&c).Elem(), got)
	want := settings{
		Name: "n", Count: 5, Ratio: 0.5, On: true, Size: 2_000_000, Share: 0.25, Mode: "fast",
		To: Targets{"/user/a"}, Labels: map[string]string{"a": "1"}, Inner: inner{Deep: 7}, Any: []any{int64(1)},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestEveryMistakeIsFoundWithItsPlace(t *testing.T) {
	tests := []struct {
		key   string
		value any
		want  string
	}{
		{"count", int64(0), "count: 0 is too small (want at least 1)"},
		{"count", "eleven", `count: "eleven" is not a number`},
		{"count", 1.5, "count: 1.5 is not a whole number"},
		{"wait", int64(5), "wait: 5 has no unit"},
		{"wait", "1ms", "wait: 1ms is too small (want at least 1s)"},
		{"size", "1XB", `size: "1XB" is not a size`},
		{"share", "half", `share: "half" is not a share`},
		{"share", "NaN%", `share: "NaN%" is not a share`},
		{"ratio", "NaN", `ratio: "NaN" is not a number`},
		{"on", "maybe", `on: "maybe" is neither on nor off`},
		{"mode", "fats", `mode: "fats" is not one of fast, slow; did you mean "fast"?`},
		{"to", []any{"/user/a", "b"}, `to.1: "b" is not a target`},
		{"when", strings.Repeat("x", 5000), "when: expression has 5000 bytes"},
		{"listen", "localhost", `listen: "localhost" is not an address`},
		{"labels", []any{}, "labels: a list is not an object"},
		{"inner", map[string]any{"deeep": int64(1)}, `inner.deeep: unknown key; did you mean "deep"?`},
		{"cuont", int64(1), `cuont: unknown key; did you mean "count"?`},
		{"any", 1, "any: body: int is not a body type"},
	}
	schema := SchemaOf[settings]("x", "")
	for _, tt := range tests {
		_, errs := schema.Decode(map[string]any{"name": "n", tt.key: tt.value})
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), tt.want) {
			t.Errorf("%s = %v: got %v, want %s", tt.key, tt.value, errs, tt.want)
		}
	}
	if _, errs := schema.Decode(map[string]any{"count": int64(0), "x": nil}); len(errs) != 3 {
		t.Errorf("three mistakes: got %v", errs)
	}
}

func TestDurationsAndSizes(t *testing.T) {
	durations := map[string]time.Duration{
		"0": 0, "5ms": 5 * time.Millisecond, "1.5 s": 1500 * time.Millisecond, "2 days": 48 * time.Hour, "1h30m": 90 * time.Minute, "1 week": 7 * 24 * time.Hour,
	}
	for text, want := range durations {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "s", "5x", "1e300d", "NaN s"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
	sizes := map[string]Size{"512": 512, "64KiB": 64 << 10, "10 MB": 10_000_000, "1M": 1 << 20, "1.5k": 1536}
	for text, want := range sizes {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "1 ZB", "1e30", "NaN"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
	for want, n := range map[string]Size{"0B": 0, "1B": 1, "2KiB": 2 << 10, "1025B": 1025, "3GiB": 3 << 30} {
		if got := FormatSize(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

// FuzzDecode holds that no value makes decoding fail otherwise than by an error,
// and that what was decoded and written plainly is decoded again.
func FuzzDecode(f *testing.F) {
	f.Add("5s", "1KiB", "50%", int64(3), 1.5)
	f.Add("NaN", "-1", "1e400", int64(-1), 0.0)
	schema := SchemaOf[settings]("x", "")
	f.Fuzz(func(t *testing.T, a, b, c string, n int64, x float64) {
		for _, v := range []any{a, b, c, n, x, nil, []any{a, n}, map[string]any{a: b, b: x}} {
			in := map[string]any{"name": a}
			for _, field := range schema.Fields[1:] {
				in[field.Name] = v
			}
			for _, field := range schema.Fields[1:] {
				one := map[string]any{"name": a, field.Name: in[field.Name]}
				out, errs := schema.Decode(one)
				if len(errs) > 0 {
					continue
				}
				fill(reflect.New(reflect.TypeFor[settings]()).Elem(), out)
			}
		}
	})
}

func TestWalkVisitsScalarsInTheOrderOfTheSchema(t *testing.T) {
	schema := SchemaOf[settings]("x", "")
	out, errs := schema.Decode(map[string]any{"name": "n", "to": []any{"/user/a", "/user/b"}, "labels": map[string]any{"k": "v"}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	schema.Walk(out, func(path []string, f Field, _ any) {
		if f.Kind == TargetField || path[0] == "labels" || path[0] == "inner" {
			got = append(got, strings.Join(path, "."))
		}
	})
	if want := []string{"to.0", "to.1", "labels.k", "inner.deep"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
