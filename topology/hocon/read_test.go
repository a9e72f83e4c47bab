package hocon

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// readTest reads one value and wants either a value or a message.
type readTest[T any] struct {
	value string
	want  T
	err   string
}

func testRead[T comparable](t *testing.T, read func(*Node) (T, error), tests []readTest[T]) {
	t.Helper()
	for _, test := range tests {
		got, err := read(mustParse(t, "v = "+test.value).Lookup("v"))
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got != test.want || message != test.err {
			t.Errorf("%s: got %v, %q, want %v, %q", test.value, got, message, test.want, test.err)
		}
	}
}

func TestInt(t *testing.T) {
	testRead(t, (*Node).Int, []readTest[int64]{
		{value: "0"}, {value: "-7", want: -7}, {value: "1e3", want: 1000}, {value: "2.0", want: 2},
		{value: "9223372036854775807", want: 9223372036854775807},
		{value: `"7100"`, want: 7100},
		{value: "many", err: `"many" is not a number (want a count, e.g. 1000)`},
		{value: "2.5", err: `"2.5" is not a whole number (want a count, e.g. 1000)`},
		{value: "9223372036854775808", err: `"9223372036854775808" is too large (want a count up to 9223372036854775807)`},
		{value: "1e999", err: `"1e999" is too large (want a count up to 9223372036854775807)`},
		{value: `"+5"`, err: `"+5" is not a number (want a count, e.g. 1000)`},
		{value: `""`, err: `"" is not a number (want a count, e.g. 1000)`},
		{value: "0x1F", err: `"0x1F" is not a number (want a count, e.g. 1000)`},
		{value: "[1]", err: "an array is not a number (want a count, e.g. 1000)"},
		{value: "{}", err: "an object is not a number (want a count, e.g. 1000)"},
		{value: "null", err: "null is not a number (want a count, e.g. 1000)"},
	})
}

func TestFloat(t *testing.T) {
	testRead(t, (*Node).Float, []readTest[float64]{
		{value: "0.25", want: 0.25}, {value: "-1.5E-2", want: -0.015}, {value: `"3"`, want: 3},
		{value: "NaN", err: `"NaN" is not a number (want a number, e.g. 0.5)`},
		{value: "1e999", err: `"1e999" is too large for a number`},
		{value: ".5", err: `".5" is not a number (want a number, e.g. 0.5)`},
	})
}

func TestBool(t *testing.T) {
	testRead(t, (*Node).Bool, []readTest[bool]{
		{value: "true", want: true}, {value: "yes", want: true}, {value: "on", want: true}, {value: `"on"`, want: true},
		{value: "false"}, {value: "no"}, {value: "off"},
		{value: "On", err: `"On" is not a switch (want on or off)`},
		{value: "1", err: `"1" is not a switch (want on or off)`},
	})
}

func TestDuration(t *testing.T) {
	const hint = " (want a number and ns, us, ms, s, m, h, d or w, e.g. 10s)"
	testRead(t, (*Node).Duration, []readTest[time.Duration]{
		{value: "10s", want: 10 * time.Second}, {value: "10 s", want: 10 * time.Second}, {value: "1.5 hours", want: 90 * time.Minute},
		{value: "250ms", want: 250 * time.Millisecond}, {value: "3 micros", want: 3 * time.Microsecond}, {value: "7nanoseconds", want: 7},
		{value: "2 d", want: 48 * time.Hour}, {value: "1 week", want: 168 * time.Hour}, {value: "5 minutes", want: 5 * time.Minute},
		{value: "-1s", want: -time.Second}, {value: "0"}, {value: "0.0"}, {value: "0s"},
		{value: `" 4 us "`, want: 4 * time.Microsecond},
		{value: "10", err: `"10" has no unit of time (write 10s for seconds, 10ms for milliseconds)`},
		{value: "10 sec", err: `"10 sec": "sec" is no unit of time (did you mean "second"?)`},
		{value: "10 lightyears", err: `"10 lightyears": "lightyears" is no unit of time` + hint},
		{value: "soon", err: `"soon" is not a duration` + hint},
		{value: "1h30m", err: `"1h30m" is not a duration` + hint},
		{value: "300000 d", err: `"300000 d" is too long (want at most 292 years)`},
		{value: "1e30s", err: `"1e30s" is too long (want at most 292 years)`},
		{value: "[]", err: "an array is not a duration" + hint},
	})
}

func TestSize(t *testing.T) {
	const hint = " (want a number and B, kB, MB, GB, KiB, MiB or GiB, e.g. 64MiB)"
	testRead(t, (*Node).Size, []readTest[int64]{
		{value: "512", want: 512}, {value: "512B", want: 512}, {value: "1 byte", want: 1}, {value: "64KiB", want: 64 << 10},
		{value: "8k", want: 8 << 10}, {value: "8K", want: 8 << 10}, {value: "8Ki", want: 8 << 10},
		{value: "10 MB", want: 10_000_000}, {value: "10 megabytes", want: 10_000_000}, {value: "10 mebibytes", want: 10 << 20},
		{value: "1kB", want: 1000}, {value: "1KB", want: 1000}, {value: "1.5 GiB", want: 3 << 29}, {value: "2T", want: 2 << 40},
		{value: "7E", want: 7 << 60}, {value: "1 PB", want: 1e15}, {value: "0"},
		{value: "8E", err: `"8E" is too large (want less than 8 EiB)`},
		{value: "-1kB", err: `"-1kB" is less than nothing` + hint},
		{value: "1 MIB", err: `"1 MIB": "MIB" is no unit of size (did you mean "MiB"?)`},
		{value: "big", err: `"big" is not a size` + hint},
	})
}

func TestStr(t *testing.T) {
	testRead(t, (*Node).Str, []readTest[string]{
		{value: "two words", want: "two words"}, {value: "1.10", want: "1.10"}, {value: "true", want: "true"},
		{value: "[]", err: "an array is not text (want one word, or text in quotes)"},
		{value: "null", err: "null is not text (want one word, or text in quotes)"},
	})
}

func TestTypedReadsOfNothing(t *testing.T) {
	var n *Node
	reads := map[string]func() error{
		"Int":      func() error { _, err := n.Int(); return err },
		"Duration": func() error { _, err := n.Duration(); return err },
		"List":     func() error { _, err := n.List(); return err },
		"Str":      func() error { _, err := n.Str(); return err },
	}
	for name, read := range reads {
		if err := read(); err == nil || !strings.HasPrefix(err.Error(), "nothing is not") {
			t.Errorf("%s: got %v, want an error that says nothing is not …", name, err)
		}
	}
}

func TestList(t *testing.T) {
	tests := []struct{ name, text, want, err string }{
		{name: "an array", text: "v = [a, 1]", want: "[a 1]"},
		{name: "numbers as keys, in their order", text: "v.10 = c\nv.2 = b\nv.0 = a", want: "[a b c]"},
		{name: "an empty array", text: "v = []", want: "[]"},
		{name: "an object", text: "v.x = 1", err: `an object with the key "x" is not a list (want a list, e.g. [a, b])`},
		{name: "an empty object", text: "v {}", err: `an object is not a list (want a list, e.g. [a, b])`},
		{name: "a word", text: "v = x", err: `"x" is not a list (want a list, e.g. [a, b])`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			elems, err := mustParse(t, test.text).Lookup("v").List()
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			var texts []string
			for _, e := range elems {
				texts = append(texts, e.Text)
			}
			if got := "[" + strings.Join(texts, " ") + "]"; got != test.want || err != nil {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestAny(t *testing.T) {
	got := mustParse(t, "a = 1\nb = 1.5\nc = null\nd = [x, true]\ne { f = \"1\" }\ng = 1e400").Root.Any()
	want := map[string]any{
		"a": int64(1), "b": 1.5, "c": nil, "d": []any{"x", true}, "e": map[string]any{"f": "1"},
		"g": math.Inf(1),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
