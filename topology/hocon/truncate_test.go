package hocon

import (
	"os"
	"testing"
	"time"
)

// within fails the test if f takes longer than a text of its kind ever should.
func within(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s: no answer within %v", what, limit)
	}
}

func TestEveryBeginningOfAFileEndsInAValueOrAMistake(t *testing.T) {
	text, err := os.ReadFile("testdata/application.conf")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("application.conf", text, Options{Env: noEnv}); err != nil {
		t.Fatal(Format(err))
	}
	within(t, time.Minute, "all beginnings", func() {
		for n := range text {
			tree, err := Parse("application.conf", text[:n], Options{Env: noEnv})
			if (tree == nil) == (err == nil) {
				t.Errorf("%d bytes: got tree %v and error %v, want one of them", n, tree, err)
			}
		}
	})
}

func TestEveryLineLeftOutEndsInAValueOrAMistake(t *testing.T) {
	text, err := os.ReadFile("testdata/application.conf")
	if err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "all gaps", func() {
		for from := 0; from < len(text); from += 3 {
			to := min(len(text), from+37)
			cut := string(text[:from]) + string(text[to:])
			tree, err := Parse("application.conf", []byte(cut), Options{Env: noEnv})
			if (tree == nil) == (err == nil) {
				t.Errorf("without bytes %d to %d: got tree %v and error %v, want one of them", from, to, tree, err)
			}
		}
	})
}
