package actor

import (
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scalar converts a value as configuration holds it (string, int64, float64,
// bool, nil) to the field's Go type and checks its bounds.
func (f Field) scalar(v any) (any, error) {
	if s, ok := v.(string); ok {
		if n, ok := f.Words[s]; ok {
			return f.fromNumber(n), nil
		}
	}
	out, err := f.convert(v)
	if err != nil {
		return nil, err
	}
	return out, f.inBounds(v, asFloat(out))
}

// Number returns a plain number, as Min, Max and Words hold it, as the decoded value
// of the field's kind.
func (f Field) Number(n float64) any {
	if f.Kind == FloatField || f.Kind == PercentField {
		return n
	}
	return f.fromNumber(int64(n))
}

func (f Field) fromNumber(n int64) any {
	switch f.Kind {
	case DurationField:
		return time.Duration(n)
	case SizeField:
		return Size(n)
	case FloatField, PercentField:
		return float64(n)
	default:
		return n
	}
}

func (f Field) convert(v any) (any, error) {
	switch f.Kind {
	case IntField:
		return f.toInt(v)
	case FloatField:
		return f.toFloat(v)
	case BoolField:
		return toBool(v)
	case DurationField:
		return f.toDuration(v)
	case SizeField:
		return f.toSize(v)
	case PercentField:
		return toPercent(v)
	case AnyField:
		return v, CheckBody(v)
	}
	s, ok := toText(v)
	switch {
	case !ok && f.Kind == SecretField:
		return nil, fmt.Errorf("%s is not a secret (want { env = NAME }, { file = PATH }, { command = [ … ] } or a text)", show(v))
	case !ok:
		return nil, fmt.Errorf("%s is not a %s", show(v), f.Kind)
	case f.Kind == SecretField:
		return Secret(s), nil
	}
	return s, f.checkText(s)
}

// deepBase is where the form of relative targets is checked from: deeper than any
// of them leads up, since it is not known here who uses them.
var deepBase = User + Path(strings.Repeat("/x", 64))

// checkText checks the fields whose Go type is string.
func (f Field) checkText(s string) error {
	switch f.Kind {
	case EnumField:
		if !slices.Contains(f.Enum, s) {
			return fmt.Errorf("%q is not one of %s%s", s, strings.Join(f.Enum, ", "), DidYouMean(s, f.Enum))
		}
	case TargetField:
		_, _, err := Target(s).Parse(deepBase)
		return err
	case AddressField:
		_, port, err := net.SplitHostPort(s)
		if err != nil || port == "" {
			return fmt.Errorf("%q is not an address (want host:port, e.g. 127.0.0.1:8080)", s)
		}
		if n, err := strconv.Atoi(port); err == nil && (n < 0 || n > 65535) {
			return fmt.Errorf("%q has no port that there is (want 0 to 65535)", s)
		}
	case ExprField:
		if len(s) > 4096 {
			return fmt.Errorf("expression has %d bytes; at most 4096 are allowed", len(s))
		}
	}
	return nil
}

func (f Field) toInt(v any) (any, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
		return nil, fmt.Errorf("%v is not a whole number", v)
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s is not a number (want %s)", show(v), f.example("1000"))
}

func (f Field) toFloat(v any) (any, error) {
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s is not a number (want %s)", show(v), f.example("0.5"))
}

func (f Field) example(e string) string {
	what := "a count"
	if f.Unit != "" {
		what = "a number of " + f.Unit
	}
	for _, w := range slices.Sorted(maps.Keys(f.Words)) {
		what += " or " + w
	}
	return what + ", e.g. " + e
}

func toBool(v any) (any, error) {
	switch v {
	case true, "true", "on", "yes":
		return true, nil
	case false, "false", "off", "no":
		return false, nil
	}
	return nil, fmt.Errorf("%s is neither on nor off", show(v))
}

func (f Field) toDuration(v any) (any, error) {
	switch v := v.(type) {
	case time.Duration:
		return v, nil
	case int64:
		if v == 0 {
			return time.Duration(0), nil
		}
		return nil, fmt.Errorf("%d has no unit (want a duration, e.g. %dms or %ds)", v, v, v)
	case float64:
		return nil, fmt.Errorf("%v has no unit (want a duration, e.g. %vs)", v, v)
	case string:
		d, err := ParseDuration(v)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
	return nil, fmt.Errorf("%s is not a duration (want a number with a unit, e.g. 500ms, 10s, 5m)", show(v))
}

var durationUnits = map[string]time.Duration{
	"ns": 1, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	"nanos": 1, "micros": time.Microsecond, "millis": time.Millisecond,
	"nanosecond": 1, "microsecond": time.Microsecond, "millisecond": time.Millisecond,
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	"seconds": time.Second, "minutes": time.Minute, "hours": time.Hour, "days": 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
	"nanoseconds": 1, "microseconds": time.Microsecond, "milliseconds": time.Millisecond,
}

// ParseDuration reads a number with a unit, e.g. "500ms", "1.5 s", "2 days"; "0"
// needs none. Units are those of HOCON: ns us ms s m h d w and their long names.
// Go's composed form ("1h30m") is read too.
func ParseDuration(s string) (time.Duration, error) {
	num, unit := splitUnit(s)
	n, err := strconv.ParseFloat(num, 64)
	switch u, ok := durationUnits[unit]; {
	case err == nil && ok && math.Abs(n*float64(u)) < math.MaxInt64:
		return time.Duration(math.Round(n * float64(u))), nil
	case err == nil && unit == "" && n == 0:
		return 0, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not a duration (want a number with a unit, e.g. 500ms, 10s, 5m)", s)
}

func splitUnit(s string) (num, unit string) {
	s = strings.TrimSpace(s)
	i := strings.IndexFunc(s, func(r rune) bool { return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || r == 'µ' })
	if i < 0 {
		return s, ""
	}
	return strings.TrimSpace(s[:i]), s[i:]
}

var sizeUnits = map[string]int64{
	"": 1, "B": 1, "b": 1, "byte": 1, "bytes": 1,
	"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"K": 1 << 10, "k": 1 << 10, "KiB": 1 << 10, "Ki": 1 << 10,
	"M": 1 << 20, "m": 1 << 20, "MiB": 1 << 20, "Mi": 1 << 20,
	"G": 1 << 30, "g": 1 << 30, "GiB": 1 << 30, "Gi": 1 << 30,
	"T": 1 << 40, "t": 1 << 40, "TiB": 1 << 40, "Ti": 1 << 40,
}

// ParseSize reads bytes, e.g. "64KiB", "10 MB" (decimal), "1M" (binary, as
// HOCON has it), "512".
func ParseSize(s string) (Size, error) {
	num, unit := splitUnit(s)
	n, err := strconv.ParseFloat(num, 64)
	u, ok := sizeUnits[unit]
	if err != nil || !ok || math.Abs(n*float64(u)) >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size (want bytes, e.g. 64KiB, 10MB)", s)
	}
	return Size(n * float64(u)), nil
}

func (f Field) toSize(v any) (any, error) {
	switch v := v.(type) {
	case int64:
		return Size(v), nil
	case Size:
		return v, nil
	case string:
		n, err := ParseSize(v)
		if err != nil {
			return nil, err
		}
		return n, nil
	}
	return nil, fmt.Errorf("%s is not a size (want bytes, e.g. 64KiB, 10MB)", show(v))
}

func toPercent(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case string:
		num, hundredths := strings.CutSuffix(v, "%")
		n, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
		switch {
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0): // no bound would hold for these
		case hundredths:
			return n / 100, nil
		default:
			return n, nil
		}
	}
	return nil, fmt.Errorf("%s is not a share (want 50%% or 0.5)", show(v))
}

// toText accepts every scalar, since configuration need not quote its texts.
func toText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64, bool, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

func (f Field) inBounds(written any, n float64) error {
	if f.Min != nil && n < *f.Min {
		return fmt.Errorf("%v is too small (want at least %s)", written, f.bound(*f.Min))
	}
	if f.Max != nil && n > *f.Max {
		return fmt.Errorf("%v is too large (want at most %s)", written, f.bound(*f.Max))
	}
	return nil
}

func (f Field) bound(n float64) string {
	switch f.Kind {
	case DurationField:
		return time.Duration(n).String()
	case SizeField:
		return FormatSize(Size(n))
	default:
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
}

// FormatSize writes n with the largest binary unit that divides it.
func FormatSize(n Size) string {
	for _, u := range []struct {
		name string
		size Size
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n != 0 && n%u.size == 0 {
			return fmt.Sprintf("%d%s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}

func asFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case time.Duration:
		return float64(v)
	case Size:
		return float64(v)
	}
	return 0
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return fmt.Sprint(v)
	}
}
