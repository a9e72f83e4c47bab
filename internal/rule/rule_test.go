package rule

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

var order = Input{
	Message: actor.Message{
		Kind: "order",
		Body: map[string]any{
			"kind": "urgent", "amount": int64(1500), "price": 2.5, "vip": true, "note": "a rush job", "raw": []byte("xyz"),
			"items":    []any{map[string]any{"n": int64(3), "sku": "a"}, map[string]any{"n": int64(4), "sku": "b"}},
			"customer": map[string]any{"id": int64(7), "country": "DE"},
			"nan":      math.NaN(), "inf": math.Inf(1), "none": nil, "huge": 1e300, "zero": int64(0),
		},
		Headers: actor.Headers{"topic": "orders/new", "x-retry": "2"},
	},
	Sender: "/user/intake", Path: "/user/store", Attempt: 2, Age: 1500 * time.Millisecond, Error: "dial: timeout",
}

func compile(t testing.TB, site, src string) *Program {
	t.Helper()
	p, err := Compile(site, src)
	if err != nil {
		t.Fatalf("Compile(%s, %q): got %v, want a program", site, src, err)
	}
	return p
}

var conditions = []struct {
	src  string
	want bool
}{
	{"kind == 'order'", true},
	{"kind != 'order'", false},
	{"msg.kind == 'urgent' and msg.amount > 1000", true},
	{"msg.amount > 1000.5", true},
	{"msg.amount == 1500.0", true},
	{"msg.vip", true},
	{"not msg.vip", false},
	{"msg.missing", false},
	{"!msg.missing", true},
	{"msg.missing or msg.vip", true},
	{"msg.missing > 5", false},
	{"msg.missing <= 5", false},
	{"5 < msg.missing", false},
	{"msg.missing == nil", true},
	{"msg.missing != 'a'", true},
	{"msg.none == nil", true},
	{"msg.items == nil", false},
	{"msg.customer.country == 'DE'", true},
	{"msg['customer']['id'] == 7", true},
	{"msg?.customer?.id == 7", true},
	{"msg.missing.deeper.still == 'x'", false},
	{"msg.note.field == nil", true},
	{"msg.items[0].n == 3", true},
	{"msg.items[-1].n == 4", true},
	{"msg.items[9].n == 4", false},
	{"msg.items[0:1][0].sku == 'a'", true},
	{"msg.note contains 'rush'", true},
	{"msg.missing contains 'rush'", false},
	{"msg.note startsWith 'a ' and msg.note endsWith 'job'", true},
	{"msg.note matches '^a .* job$'", true},
	{"msg.missing matches '^a'", false},
	{"msg.note matches ('^' + 'a')", true},
	{"msg.kind in ['urgent', 'normal']", true},
	{"msg.kind not in ['urgent', 'normal']", false},
	{"msg.amount in [1, 2, 1500]", true},
	{"msg.missing in [1, 2]", false},
	{"msg.amount in 1..2000", true},
	{"'vip' in msg", true},
	{"7 in msg", false},
	{"'topic' in headers", true},
	{"headers.topic startsWith 'orders/'", true},
	{"headers['x-retry'] == '2'", true},
	{"headers.missing == nil", true},
	{"sender == '/user/intake' && path == '/user/store'", true},
	{"attempt > 1 and age > 1.4 and age < 1.6", true},
	{"size == 13", true},
	{"error contains 'timeout'", true},
	{"any(msg.items, .n > 3)", true},
	{"all(msg.items, {.n > 3})", false},
	{"none(msg.items, .n > 30)", true},
	{"one(msg.items, .missing)", false},
	{"any(msg.missing, # > 3)", false},
	{"len(msg.items) == 2 and len(msg.missing) == 0 and len('äö') == 2", true},
	{"count(msg.items, .n > 0) == 2", true},
	{"sum(msg.items, .n) == 7", true},
	{"lower('ABC') == 'abc' and upper(msg.missing) == nil", true},
	{"let a = msg.amount; a > 1 ? a < 2000 : false", true},
	{"if msg.vip { true } else { false }", true},
	{"(msg.missing ?? 'x') == 'x'", true},
	{"(msg.vip ? nil : 'x') == 'x'", false},
	{"let a = msg.vip ? nil : 'x'; a == 'x' or a < 'y'", false},
	{"(msg.vip ? nil : true) and true", false},
	{"any(msg.vip ? nil : [1], true)", false},
	{"msg.amount / 2 == 750 and -msg.amount < 0 and msg.amount - 1 == 1499 and msg.amount * 2 == 3000", true},
	{"msg.amount % 7 == 2", true},
	{"msg.zero == 0 and msg.price + 1 == 3.5", true},
	{"int(headers['x-retry']) == attempt and float('1.5') == 1.5", true},
	{"keys(msg.customer) == ['country', 'id'] and values(msg.customer) == ['DE', 7]", true},
	{"split('a,b', ',') == ['a', 'b'] and join(['a', 1], '-') == 'a-1'", true},
	{"msg.items == msg.items", true},
	{"hasPrefix(kind, 'or') and not hasSuffix(msg.missing, 'er')", true},
	{"indexOf(msg.note, 'rush') == 2 and lastIndexOf(msg.missing, 'x') == -1", true},
	{"first(msg.missing) == nil and len(sort(msg.missing)) == 0 and len(take(msg.missing, 2)) == 0", true},
	{"msg.raw matches '^x'", true},
	{"msg.items | map(.sku) | last() == 'b'", true},
}

func TestConditions(t *testing.T) {
	for _, c := range conditions {
		t.Run(c.src, func(t *testing.T) {
			got, err := compile(t, actor.BoolSite, c.src).Evaluator().Bool(&order)
			if err != nil || got != c.want {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestClosuresAgreeWithTheMachine(t *testing.T) {
	bodies := []any{
		nil, "text", int64(3), 2.5, true, []byte("b"), []any{int64(1)}, map[string]any(nil),
		map[string]any{"a": int64(1), "b": 2.0, "c": "x"}, map[string]any{"a": "x", "b": nil, "c": []any{}},
		map[string]any{"a": true, "b": false, "c": math.NaN()}, map[string]any{"a": map[string]any{"b": "x"}, "b": int64(1), "c": 1.0},
	}
	operands := []string{"msg", "msg.a", "msg.b", "msg.c", "msg.a.b", "kind", "1", "2.0", "'x'", "nil", "true", "headers.h", "age"}
	operators := []string{"==", "!=", "<", "<=", ">", ">=", "and", "or", "contains", "startsWith", "endsWith", "+", "-", "*", "/", "??"}
	compared := 0
	for _, l := range operands {
		sources := []string{"not " + l, "-" + l, l + " in [1, 'x', nil, 2.5]", l + " matches 'x'", l + " ? 1 : 2"}
		for _, r := range operands {
			for _, op := range operators {
				sources = append(sources, "("+l+") "+op+" ("+r+")")
			}
		}
		for _, src := range sources {
			p, err := Compile(actor.ValueSite, src)
			if err != nil {
				continue // a mismatch of types that the checker sees
			}
			compared += compareFast(t, p, bodies)
		}
	}
	if compared < 5000 {
		t.Errorf("compared %d evaluations; the closures give up too often", compared)
	}
}

// compareFast evaluates p both ways over bodies and says how often the closures
// did not give up.
func compareFast(t *testing.T, p *Program, bodies []any) (n int) {
	t.Helper()
	root, _, err := check(p.site, p.src)
	if err != nil {
		t.Fatal(err)
	}
	fast := fastOf(root)
	if fast == nil {
		return 0
	}
	e := p.Evaluator()
	for _, b := range bodies {
		in := Input{Message: actor.Message{Kind: "x", Body: b, Headers: actor.Headers{"h": "x"}}, Age: time.Second}
		got := fast(&in)
		if got.tag == giveUp || got.tag == other {
			continue
		}
		n++
		want, err := e.run(&in)
		if w := ofAny(plainInt(want)); err != nil || w.tag != got.tag || w.s != got.s || w.n != got.n {
			t.Errorf("%s with %v: closures give %+v, the machine %v, %v", p.src, b, got, want, err)
		}
	}
	return n
}

func plainInt(v any) any {
	if i, ok := v.(int); ok {
		return int64(i)
	}
	return v
}

func TestNumbers(t *testing.T) {
	tests := []struct {
		name, src, err string
		want           float64
	}{
		{name: "a choice ranks by kind", src: "msg.kind == 'urgent' ? 0 : msg.kind == 'normal' ? 5 : 10", want: 0},
		{name: "fractions stay", src: "2.99", want: 2.99},
		{name: "negative fractions stay", src: "-0.5", want: -0.5},
		{name: "huge numbers stay", src: "msg.huge", want: 1e300},
		{name: "a field is a number", src: "-msg.amount", want: -1500},
		{name: "functions of numbers", src: "max(1, msg.amount, 3) + abs(-1) + floor(2.5)", want: 1503},
		{name: "NaN is no rank", src: "msg.nan", err: "gives NaN; a number is wanted"},
		{name: "infinity is no rank", src: "msg.inf", err: "gives +Inf; a number is wanted"},
		{name: "division by zero is no rank", src: "1 / msg.zero", err: "gives +Inf; a number is wanted"},
		{name: "remainder by zero is an error", src: "1 % msg.zero", err: "divide by zero"},
		{name: "nothing is no rank", src: "msg.missing", err: "gives nothing; a number is wanted"},
		{name: "a text is no rank", src: "msg.kind", err: `gives the text "urgent"; a number is wanted`},
		{name: "a condition is no rank", src: "msg.vip", err: "gives true; a number is wanted"},
		{name: "a choice of two types is checked when it runs", src: "msg.vip ? 'x' : 3", err: `gives the text "x"`},
		{name: "arithmetic with nothing is an error", src: "msg.missing + 1", err: "expression:1:13: invalid operation: <nil> + int"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := compile(t, actor.NumberSite, tt.src).Evaluator().Number(&order)
			checkError(t, err, tt.err)
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Fatalf("got error %v, want %q", err, want)
	}
	if _, ok := errors.AsType[*Error](err); err != nil && !ok {
		t.Fatalf("got a %T, want *Error", err)
	}
}

func TestStrings(t *testing.T) {
	for src, want := range map[string]string{
		"msg.kind": "urgent", "kind + '/' + msg.customer.country": "order/DE", "msg.customer.id": "7", "msg.vip": "true",
		"msg.price": "2.5", "attempt": "2", "trim(' a ')": "a", "replace('a-b', '-', '+')": "a+b", "string(msg.amount)": "1500",
		"trimPrefix(headers.topic, 'orders/')": "new", "msg.raw": "xyz",
	} {
		if got, err := compile(t, actor.StringSite, src).Evaluator().String(&order); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", src, got, err, want)
		}
	}
	for src, want := range map[string]string{
		"msg.amount contains '1'": "expression:1:1: 1500 is not a text", "msg.items matches 'x'": "a list is not a text",
		"msg.missing": "gives nothing; a text is wanted", "msg.items": "gives a list", "msg": "gives a map", "lower(5)": "5 is not a text",
	} {
		_, err := compile(t, actor.StringSite, src).Evaluator().String(&order)
		checkError(t, err, want)
	}
}

func TestValues(t *testing.T) {
	tests := []struct {
		name, src string
		want      any
	}{
		{name: "the body as it is", src: "msg.customer", want: map[string]any{"id": int64(7), "country": "DE"}},
		{name: "whole numbers are int64", src: "{n: 1 + 1, a: attempt, s: size}", want: map[string]any{"n": int64(2), "a": int64(2), "s": int64(13)}},
		{name: "a range is a list", src: "1..3", want: []any{int64(1), int64(2), int64(3)}},
		{name: "headers are a map", src: "headers", want: map[string]any{"topic": "orders/new", "x-retry": "2"}},
		{name: "lists are transformed", src: "map(filter(msg.items, .n > 3), ({sku: upper(.sku)}))", want: []any{map[string]any{"sku": "B"}}},
		{name: "groups are a map of lists", src: "groupBy([1, 2, 3], # % 2 == 0 ? 'even' : 'odd')", want: map[string]any{"even": []any{int64(2)}, "odd": []any{int64(1), int64(3)}}},
		{name: "reduce has an accumulator", src: "reduce(msg.items, #acc + .n, 0)", want: int64(7)},
		{name: "sorted and reversed", src: "reverse(sort([2, 3, 1]))", want: []any{int64(3), int64(2), int64(1)}},
		{name: "concatenated", src: "concat([1], ['a'], msg.missing)", want: []any{int64(1), "a"}},
		{name: "nothing", src: "msg.missing", want: nil},
		{name: "nothing in a map", src: "{a: msg.missing}", want: map[string]any{"a": nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := compile(t, actor.ValueSite, tt.src).Evaluator().Value(&order)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, %v; want %#v", got, err, tt.want)
			}
			if err := actor.CheckBody(got); err != nil {
				t.Errorf("got a result that is no body: %v", err)
			}
		})
	}
}

func TestValueSharesNothingWithTheInput(t *testing.T) {
	in := Input{Message: actor.Message{Body: map[string]any{"list": []any{int64(1)}, "raw": []byte("abc")}}}
	e := compile(t, actor.ValueSite, "{all: msg, list: msg.list, raw: msg.raw}").Evaluator()
	got, err := e.Value(&in)
	if err != nil {
		t.Fatal(err)
	}
	m := got.(map[string]any)
	m["list"].([]any)[0] = "changed"
	m["raw"].([]byte)[0] = 'X'
	m["all"].(map[string]any)["list"] = nil
	want := map[string]any{"list": []any{int64(1)}, "raw": []byte("abc")}
	if !reflect.DeepEqual(in.Message.Body, want) {
		t.Errorf("got the input changed to %v, want %v", in.Message.Body, want)
	}
	if again, err := e.Value(&in); err != nil || reflect.DeepEqual(again, got) {
		t.Errorf("got the changed result again: %v, %v", again, err)
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct{ name, site, src, err string }{
		{"empty source", actor.BoolSite, "  ", "expression: is empty"},
		{"a misspelled name", actor.BoolSite, "knd == 'a'", `expression:1:1: unknown name knd; did you mean "kind"?`},
		{"a place on another line", actor.BoolSite, "kind == 'ä'\n  and sendr == 'b'", `expression:2:7: unknown name sendr; did you mean "sender"?`},
		{"a text without quotes", actor.BoolSite, "kind == urgent", "expression:1:9: unknown name urgent (known are kind, msg"},
		{"a misspelled function", actor.BoolSite, "lowr(kind) == 'a'", `unknown name lowr; did you mean "lower"?`},
		{"no clock", actor.NumberSite, "now().Unix()", "function now is not available here"},
		{"no repeat", actor.ValueSite, "repeat('a', 100)", "function repeat is not available here"},
		{"no environment", actor.ValueSite, "$env", "unknown name $env"},
		{"no hidden functions", actor.ValueSite, "__get(msg, 'a')", "unknown name __get"},
		{"no hidden variables", actor.ValueSite, "let __true = 1; __true", "kept for internal use"},
		{"no methods", actor.ValueSite, "msg.close()", "values have no methods"},
		{"a syntax error", actor.BoolSite, "kind ==", "expression:1:7: unexpected token EOF"},
		{"a text as a number", actor.NumberSite, "'abc'", "gives a text; a number is wanted"},
		{"a condition as a number", actor.NumberSite, "kind == 'a'", "gives true or false; a number is wanted"},
		{"a number as a condition", actor.BoolSite, "1", "gives a number; a condition"},
		{"a list as a text", actor.StringSite, "[1]", "gives a list; a text is wanted"},
		{"a function as a value", actor.ValueSite, "len", "gives a function"},
		{"types that never match", actor.BoolSite, "kind > 5", "invalid operation: > (mismatched types string and int)"},
		{"a bad pattern", actor.BoolSite, "kind matches '('", "missing closing )"},
		{"an unknown site", "other", "1", `unknown site "other"`},
		{"too long", actor.BoolSite, strings.Repeat(" ", MaxSource) + "1", "at most 4096 are allowed"},
		{"not UTF-8", actor.BoolSite, "'\xff'", "not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compile(tt.site, tt.src)
			checkError(t, err, tt.err)
		})
	}
}

func TestErrorShowsThePlace(t *testing.T) {
	_, err := Compile(actor.BoolSite, "true and\n\tknd == 1")
	e, ok := errors.AsType[*Error](err)
	if want := " knd == 1\n ^"; !ok || e.Snippet != want || e.Line != 2 || e.Col != 2 {
		t.Errorf("got %d:%d %q, want 2:2 %q", e.Line, e.Col, e.Snippet, want)
	}
}

func TestHostileSourcesEndQuickly(t *testing.T) {
	doubling := func(step string) string {
		src := "let a = 'aaaaaaaaaaaaaaaa'; let b0 = a; "
		for i := range 40 {
			from, to := string(rune('b'+i%20))+string(rune('0'+i/20)), string(rune('b'+(i+1)%20))+string(rune('0'+(i+1)/20))
			src += "let " + to + " = " + strings.ReplaceAll(step, "X", from) + "; "
		}
		return src + "b2"
	}
	tests := []struct{ name, src, err string }{
		{"a million parentheses", strings.Repeat("(", 1e6), "at most 4096"},
		{"a million brackets", strings.Repeat("[", 1e6), "at most 4096"},
		{"as many parentheses as fit", strings.Repeat("(", MaxSource), "unexpected token EOF"},
		{"as many negations as fit", strings.Repeat("!", MaxSource-1) + "1", "exceeds maximum allowed nodes"},
		{"as many minus signs as fit", strings.Repeat("-", MaxSource-1) + "1", "exceeds maximum allowed nodes"},
		{"too many terms", "1" + strings.Repeat("+1", 2000), "exceeds maximum allowed nodes"},
		{"a loop in a loop", "all(msg.big, all(msg.big, true))", "does too much"},
		{"a huge range", "len(1..1000000000) > 1", "does too much"},
		{"a hundred large ranges", strings.Repeat("1..90000;", 100) + "true", "does too much"},
		{"a loop over a loop's result", "count(map(1..9000, map(1..9000, #)), true) > 1", "does too much"},
		{"texts that double", doubling("X + X"), "does too much"},
		{"joined texts that double", doubling("join([X, X])"), "does too much"},
		{"replaced texts that double", doubling("replace(X, 'a', 'aa')"), "does too much"},
		{"lists that double", doubling("[X, X]"), "does too much"},
		{"compared lists that double", doubling("[X, X]") + " == c1", "does too much"},
		{"concatenated lists that double", doubling("concat([X], [X], split(string(X == X ? a : a), ''))"), "does too much"},
		{"lists that double, flattened by max", strings.Replace(doubling("[X, X]"), "; b2", "; max(b2)", 1), "does too much"},
		{"a nest by reduce", "reduce(1..90000, [#acc], 1)", "does too much"},
		{"a list sorted in a loop", "all(1..5000, len(sort(msg.big)) > 0)", "does too much"},
	}
	big := make([]any, 50_000)
	for i := range big {
		big[i] = int64(i)
	}
	in := Input{Message: actor.Message{Body: map[string]any{"big": big}}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			p, err := Compile(actor.ValueSite, tt.src)
			if err == nil {
				_, err = p.Evaluator().Value(&in)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v, want less than 2s", took)
			}
			checkError(t, err, tt.err)
		})
	}
}

func TestEvaluatorRecoversFromABudgetError(t *testing.T) {
	e := compile(t, actor.BoolSite, "all(msg, all(1..20000, true))").Evaluator()
	_, err := e.Bool(&Input{Message: actor.Message{Body: []any{true, true, true}}})
	if !errors.Is(err, ErrBudget) {
		t.Fatalf("got %v, want %v", err, ErrBudget)
	}
	if got, err := e.Bool(&Input{Message: actor.Message{Body: []any{true}}}); err != nil || !got {
		t.Errorf("got %v, %v afterwards; want true", got, err)
	}
}

func TestEvaluatorKeepsNoMessage(t *testing.T) {
	e := compile(t, actor.ValueSite, "let a = msg; map(a, #)").Evaluator()
	if _, err := e.Value(&Input{Message: actor.Message{Body: []any{"x"}}}); err != nil {
		t.Fatal(err)
	}
	if e.env["msg"] != nil || e.vm.Variables[0] != nil {
		t.Errorf("got %v and %v kept, want nothing", e.env["msg"], e.vm.Variables[0])
	}
}

type fixedRef actor.Path

func (r fixedRef) Path() actor.Path { return actor.Path(r) }

func TestRank(t *testing.T) {
	var failures []error
	rank := compile(t, actor.NumberSite, "sender == '/user/vip' ? 0 : msg.rank").Rank(99, func(err error) { failures = append(failures, err) })
	for _, tt := range []struct {
		name   string
		body   any
		sender actor.Ref
		want   float64
	}{
		{"the sender decides", nil, stubRef{fixedRef("/user/vip")}, 0},
		{"the body decides", map[string]any{"rank": int64(3)}, nil, 3},
		{"an unrankable message gets the default", "text", nil, 99},
	} {
		if got := rank(actor.Message{Body: tt.body}, tt.sender); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	if len(failures) != 1 {
		t.Errorf("got %d failures %v, want 1", len(failures), failures)
	}
	if got := compile(t, actor.NumberSite, "msg.x").Rank(7, nil)(actor.Message{}, nil); got != 7 {
		t.Errorf("without onError: got %v, want 7", got)
	}
}

func TestRankIsSafeForConcurrentUse(t *testing.T) {
	rank := compile(t, actor.NumberSite, "sum(msg.items, # + 0) + len(kind)").Rank(-1, func(err error) { t.Error(err) })
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			m := actor.Message{Kind: "ab", Body: map[string]any{"items": []any{int64(g), int64(g)}}}
			for range 200 {
				if got, want := rank(m, nil), float64(2*g+2); got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
}
