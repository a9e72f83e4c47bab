package rule

import (
	"errors"
	"fmt"
)

// ErrBudget says that an evaluation was stopped because it took too long or made
// too much.
var ErrBudget = errors.New("does too much: a loop is too long or a result too large")

// What one evaluation may do. A loop's step costs stepCost, looking at one
// element of a list or map costs 1; so 50,000 steps or a million elements, some
// ten milliseconds. Texts that are made count in bytes.
const (
	maxWork     = 1_000_000
	stepCost    = 20
	maxText     = 1 << 20
	maxElements = 100_000 // that the machine may make in lists, ranges and maps
	maxDepth    = 1000    // of a result
)

// budget is what is left of an evaluation's allowance. Its methods panic with
// ErrBudget, which the library's machine turns into an error of the place.
type budget struct{ work, text int }

func (b *budget) refill() { *b = budget{work: maxWork, text: maxText} }

func (b *budget) spend(work int) {
	if b.work -= work; b.work < 0 {
		panic(ErrBudget)
	}
}

func (b *budget) make(bytes int) {
	if b.text -= bytes; b.text < 0 {
		panic(ErrBudget)
	}
}

// inspect pays for looking at all of v. Values that an expression made can
// share parts, so that a small one may unfold to an enormous tree.
func (b *budget) inspect(v any) {
	switch v := v.(type) {
	case string:
		b.spend(len(v) / 16)
	case []any:
		b.spend(1 + len(v))
		for _, e := range v {
			b.inspect(e)
		}
	case map[string]any:
		b.spend(1 + len(v))
		for _, e := range v {
			b.inspect(e)
		}
	case map[any][]any:
		b.spend(1 + len(v))
		for _, e := range v {
			b.inspect(e)
		}
	case []int:
		b.spend(len(v))
	}
}

// body turns a result into a fresh message body. It copies lists, maps and
// bytes, so the result shares nothing that could change.
func (b *budget) body(v any, depth int) any {
	b.spend(1)
	if depth > maxDepth {
		panic(ErrBudget)
	}
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v
	case int:
		return int64(v)
	case []byte:
		b.make(len(v))
		return append([]byte(nil), v...)
	case []any:
		return list(v, func(e any) any { return b.body(e, depth+1) })
	case []int:
		return list(v, func(e int) any { return b.body(e, depth+1) })
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = b.body(e, depth+1)
		}
		return out
	default:
		return b.otherBody(v, depth)
	}
}

// otherBody converts what only some functions and variables give.
func (b *budget) otherBody(v any, depth int) any {
	switch v := v.(type) {
	case []string:
		return list(v, func(e string) any { return b.body(e, depth+1) })
	case []float64:
		return list(v, func(e float64) any { return b.body(e, depth+1) })
	case map[string]string:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = b.body(e, depth+1)
		}
		return out
	case map[any][]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[text(k)] = b.body(e, depth+1)
		}
		return out
	}
	panic(fmt.Errorf("%T is not a message body", v))
}

func list[T any](in []T, convert func(T) any) []any {
	out := make([]any, len(in))
	for i, e := range in {
		out[i] = convert(e)
	}
	return out
}
