package hocon

import (
	"fmt"
	"strings"
	"testing"

	library "github.com/gurkankaymak/hocon"
)

// manyKeys is a document of 100,000 keys that the library reads right, too.
func manyKeys() string {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "actor%d {\n", i)
		for j := range 9 {
			fmt.Fprintf(&b, "  field%d = \"value %d\"\n", j, i*j)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func BenchmarkHundredThousandKeys(b *testing.B) {
	text := manyKeys()
	b.Run("this package", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse("x.conf", []byte(text), Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("the library", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := library.ParseString(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkInheritance(b *testing.B) {
	var text strings.Builder
	text.WriteString("base { mailbox { capacity = 1000, overflow = drop-head }, args { level = info } }\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "actors.a%d = ${base} { mailbox.capacity = %d, name = actor-${base.args.level}-%d }\n", i, i, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("x.conf", []byte(text.String()), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	tree, err := Parse("x.conf", []byte(manyKeys()), Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tree.Root.Hash()
	}
}
