package rule

import (
	"context"
	"fmt"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

// stubRef is an address that nobody lives at.
type stubRef struct{ fixedRef }

func (stubRef) Tell(context.Context, actor.Message) error { return actor.ErrStopped }

func ExampleCompile() {
	p, err := Compile(actor.NumberSite, "kind == 'urgent' ? 0 : msg.amount > 1000 ? 5 : 10")
	if err != nil {
		fmt.Println(err)
		return
	}
	rank := p.Rank(100, nil)
	fmt.Println(rank(actor.Message{Kind: "urgent"}, nil))
	fmt.Println(rank(actor.Message{Kind: "order", Body: map[string]any{"amount": int64(2000)}}, nil))

	_, err = Compile(actor.BoolSite, "knd == 'urgent'")
	fmt.Println(err)
	// Output:
	// 0
	// 5
	// expression:1:1: unknown name knd; did you mean "kind"?
}

func FuzzCompile(f *testing.F) {
	for _, c := range conditions {
		f.Add(c.src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, site := range []string{actor.BoolSite, actor.NumberSite, actor.ValueSite, actor.StringSite} {
			p, err := Compile(site, src)
			if err != nil {
				continue
			}
			compareFast(t, p, []any{nil, "x", int64(1), order.Message.Body})
			e := p.Evaluator()
			for range 2 {
				if v, err := e.Value(&order); err == nil && actor.CheckBody(v) != nil {
					t.Errorf("%q gives %v, which is no body", src, v)
				}
				_, _ = e.Bool(&order)
				_, _ = e.Number(&order)
				_, _ = e.String(&order)
			}
		}
	})
}

var benchmarks = []struct{ name, site, src string }{
	{"kind", actor.NumberSite, "kind == 'urgent' ? 0 : kind == 'normal' ? 5 : 10"},
	{"field", actor.NumberSite, "msg.kind == 'a' ? 0 : msg.kind == 'normal' ? 5 : 10"},
	{"predicate", actor.BoolSite, "msg.amount > 5 and msg.kind in ['normal', 'urgent'] and not (msg.note startsWith 'x')"},
	{"machine", actor.NumberSite, "len(msg.note) > 3 ? 0 : 1"},
	{"loop", actor.BoolSite, "any(msg.items, .n > 3)"},
}

func BenchmarkEvaluator(b *testing.B) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			e := compile(b, bm.site, bm.src).Evaluator()
			b.ReportAllocs()
			for b.Loop() {
				if bm.site == actor.NumberSite {
					_, _ = e.Number(&order)
				} else {
					_, _ = e.Bool(&order)
				}
			}
		})
	}
}

func BenchmarkRank(b *testing.B) {
	rank := compile(b, actor.NumberSite, benchmarks[1].src).Rank(100, nil)
	b.ReportAllocs()
	for b.Loop() {
		rank(order.Message, nil)
	}
}

func BenchmarkTransform(b *testing.B) {
	e := compile(b, actor.ValueSite, "{id: msg.customer.id, amount: msg.amount, kind: kind}").Evaluator()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = e.Value(&order)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compile(b, actor.NumberSite, benchmarks[0].src)
	}
}
