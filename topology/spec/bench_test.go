package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/actord/actord/topology/hocon"
)

// manyActors are the ways of writing 100,000 actors; the text of each holds EDIT
// once, which stands for what is edited.
var manyActors = []struct {
	name string
	text func() string
}{
	{"Foreach", func() string {
		var b strings.Builder
		b.WriteString("actord.actors.worker {\n  behaviour = limit, args { rate = \"{item.rate}\", burst = 1000 }\n  foreach = [\n")
		for i := range 100_000 {
			rate := fmt.Sprint(i%100 + 1)
			if i == 50_000 {
				rate = "EDIT"
			}
			fmt.Fprintf(&b, "    { rate = %s }\n", rate)
		}
		b.WriteString("  ]\n}\n")
		return b.String()
	}},
	{"Count", func() string {
		return "actord.actors { w { count = 100000, behaviour = router, args.default = /user/sink }, sink { behaviour = limit, args { rate = EDIT, burst = 1000 } } }"
	}},
	{"Written", func() string {
		var b strings.Builder
		b.WriteString("actord.actors {\n")
		for i := range 100_000 {
			rate := fmt.Sprint(i%100 + 1)
			if i == 50_000 {
				rate = "EDIT"
			}
			fmt.Fprintf(&b, "  a%d { behaviour = limit, args.rate = %s, args.burst = 1000 }\n", i, rate)
		}
		b.WriteString("}\n")
		return b.String()
	}},
}

func parse100k(b *testing.B, text string) *hocon.Tree {
	tree, err := hocon.Parse("application.conf", []byte(text), hocon.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return tree
}

// BenchmarkParse100k is the part of a load that is not checking.
func BenchmarkParse100k(b *testing.B) {
	for _, many := range manyActors {
		text := strings.Replace(many.text(), "EDIT", "7", 1)
		b.Run(many.name, func(b *testing.B) {
			for b.Loop() {
				parse100k(b, text)
			}
		})
	}
}

// BenchmarkCheck100k checks 100,000 actors that nothing is known of.
func BenchmarkCheck100k(b *testing.B) {
	for _, many := range manyActors {
		b.Run(many.name, func(b *testing.B) {
			tree, reg := parse100k(b, strings.Replace(many.text(), "EDIT", "7", 1)), registry(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Check(tree, reg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecheck100k checks them after an edit of one.
func BenchmarkRecheck100k(b *testing.B) {
	for _, many := range manyActors {
		b.Run(many.name, func(b *testing.B) {
			reg := registry(b)
			before, err := Check(parse100k(b, strings.Replace(many.text(), "EDIT", "7", 1)), reg)
			if err != nil {
				b.Fatal(err)
			}
			tree := parse100k(b, strings.Replace(many.text(), "EDIT", "8", 1))
			b.ReportAllocs()
			for b.Loop() {
				s, err := Options{Before: before}.Check(tree, reg)
				if err != nil {
					b.Fatal(err)
				}
				if s.Hash == before.Hash {
					b.Fatal("the edit was not seen")
				}
			}
		})
	}
}
