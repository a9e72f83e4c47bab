package topology

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// crowd writes n actors and one that stands apart.
func crowd(n int, word string) string {
	var b strings.Builder
	b.WriteString("actord { reload { watch = off, probation = off }, log.level = error, system.shutdown-drain-timeout = 0, actors {\n")
	fmt.Fprintf(&b, "a { count = %d, behaviour = sink, mailbox.capacity = 100 }\n", n)
	fmt.Fprintf(&b, "apart { behaviour = sink, args.word = %s }\n} }\n", word)
	return b.String()
}

type sinkConf struct {
	Word string `conf:"word" default:"" doc:"anything"`
}

func crowdSource(b *testing.B, n int) Source {
	b.Helper()
	reg := &actor.Registry{}
	idle := actor.Func(func(actor.Context, actor.Message) error { return nil })
	if err := reg.AddBehaviour(actor.FactoryOf(actor.SchemaOf[sinkConf]("sink", "takes all"), func(sinkConf) (actor.Behaviour, error) { return idle, nil })); err != nil {
		b.Fatal(err)
	}
	src := Source{File: filepath.Join(b.TempDir(), "application.conf"), Registry: reg}
	if err := os.WriteFile(src.File, []byte(crowd(n, "w")), 0o600); err != nil {
		b.Fatal(err)
	}
	return src
}

func crowdOptions(b *testing.B) Options {
	dir := b.TempDir()
	return Options{
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Env: func(name string) (string, bool) { return dir, name == "XDG_STATE_HOME" },
	}
}

// BenchmarkStart measures from the file to the last actor that has started.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src, o := crowdSource(b, n), crowdOptions(b)
			var memory uint64
			for b.Loop() {
				before := heap()
				top, err := Start(b.Context(), src, o)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				memory = heap() - before
				if err := top.Stop(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(memory)/float64(n), "B/actor")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkEditOne measures a reload that changes one actor of many, and the part
// of it that is not parsing and checking.
func BenchmarkEditOne(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := crowdSource(b, n)
			top, err := Start(b.Context(), src, crowdOptions(b))
			if err != nil {
				b.Fatal(err)
			}
			texts := [][]byte{[]byte(crowd(n, "one")), []byte(crowd(n, "two"))}
			var steps time.Duration
			i := 0
			for b.Loop() {
				if err := os.WriteFile(src.File, texts[i%2], 0o600); err != nil {
					b.Fatal(err)
				}
				i++
				r := top.Reload(b.Context(), "benchmark")
				if r.Outcome != Applied || len(r.Actions) != 1 {
					b.Fatalf("got %s %v, %d steps, want one applied", r.Outcome, r.Err, len(r.Actions))
				}
				steps += r.Actions[0].Took
			}
			b.ReportMetric(float64(steps.Microseconds())/float64(i), "µs-steps/op")
			if err := top.Stop(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
