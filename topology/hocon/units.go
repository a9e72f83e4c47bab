package hocon

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// durations are the units of time, each with all of its names.
var durations = []struct {
	names string
	unit  time.Duration
}{
	{"ns nano nanos nanosecond nanoseconds", time.Nanosecond},
	{"us micro micros microsecond microseconds", time.Microsecond},
	{"ms milli millis millisecond milliseconds", time.Millisecond},
	{"s second seconds", time.Second},
	{"m minute minutes", time.Minute},
	{"h hour hours", time.Hour},
	{"d day days", 24 * time.Hour},
	{"w week weeks", 7 * 24 * time.Hour},
}

// Duration returns a time with a unit, as in 10s, 1.5 hours or 250ms. Zero needs
// no unit. A bare number is an error, because it could mean anything.
func (n *Node) Duration() (time.Duration, error) {
	const hint = "want a number and ns, us, ms, s, m, h, d or w, e.g. 10s"
	text, err := n.text("a duration", hint)
	if err != nil {
		return 0, err
	}
	number, unit := splitUnit(text)
	if !isNumber(number) {
		return 0, mistake(hint, n.says()+" is not a duration")
	}
	if unit == "" {
		if f, err := strconv.ParseFloat(number, 64); err == nil && f == 0 {
			return 0, nil
		}
		return 0, mistake("write "+number+"s for seconds, "+number+"ms for milliseconds", n.says()+" has no unit of time")
	}
	var names []string
	for _, d := range durations {
		all := strings.Fields(d.names)
		names = append(names, all...)
		if !slices.Contains(all, unit) {
			continue
		}
		v, ok := scale(number, int64(d.unit))
		if !ok {
			return 0, mistake("want at most 292 years", n.says()+" is too long")
		}
		return time.Duration(v), nil
	}
	return 0, unknownUnit(n, unit, names, hint, "time")
}

// sizes returns how many bytes a unit stands for, 0 if there is no such unit.
func sizes(unit string) int64 {
	switch unit {
	case "", "B", "b", "byte", "bytes":
		return 1
	case "kB", "KB":
		return 1000
	}
	for i, prefix := range []string{"kilo", "mega", "giga", "tera", "peta", "exa"} {
		ten, two := int64(1), int64(1)
		for range i + 1 {
			ten, two = ten*1000, two*1024
		}
		letter := strings.ToUpper(prefix[:1])
		switch unit {
		case letter + "B", prefix + "byte", prefix + "bytes":
			return ten
		case letter, strings.ToLower(letter), letter + "i", letter + "iB", prefix[:2] + "bibyte", prefix[:2] + "bibytes":
			return two
		}
	}
	return 0
}

var sizeNames = strings.Fields("B bytes kB MB GB TB PB EB KiB MiB GiB TiB PiB EiB")

// Size returns a number of bytes, as in 512, 64KiB, 1.5 GB. K, M, G alone and with
// i count by 1024, kB, MB, GB by 1000.
func (n *Node) Size() (int64, error) {
	const hint = "want a number and B, kB, MB, GB, KiB, MiB or GiB, e.g. 64MiB"
	text, err := n.text("a size", hint)
	if err != nil {
		return 0, err
	}
	number, unit := splitUnit(text)
	if !isNumber(number) {
		return 0, mistake(hint, n.says()+" is not a size")
	}
	factor := sizes(unit)
	if factor == 0 {
		return 0, unknownUnit(n, unit, sizeNames, hint, "size")
	}
	v, ok := scale(number, factor)
	switch {
	case !ok:
		return 0, mistake("want less than 8 EiB", n.says()+" is too large")
	case v < 0 || strings.HasPrefix(number, "-"):
		return 0, mistake(hint, n.says()+" is less than nothing")
	}
	return v, nil
}

// splitUnit cuts "10 s" in number and unit.
func splitUnit(text string) (number, unit string) {
	text = strings.TrimFunc(text, isSpace)
	end := len(text)
	for end > 0 && isLetter(text[end-1]) {
		end--
	}
	return strings.TrimRightFunc(text[:end], isSpace), text[end:]
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// scale multiplies exactly where it can; ok is false when the result does not fit.
func scale(number string, unit int64) (v int64, ok bool) {
	if whole, err := strconv.ParseInt(number, 10, 64); err == nil {
		v = whole * unit
		return v, v/unit == whole
	}
	f, err := strconv.ParseFloat(number, 64)
	f = math.Round(f * float64(unit))
	return int64(f), err == nil && math.Abs(f) < 1<<63
}

func unknownUnit(n *Node, unit string, known []string, hint, what string) error {
	if word := Suggest(unit, known); word != "" {
		hint = "did you mean " + strconv.Quote(word) + "?"
	}
	return mistake(hint, n.says()+": "+strconv.Quote(unit)+" is no unit of "+what)
}
