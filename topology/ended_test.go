package topology

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

func TestAReloadOnRequestStartsWhatSupervisionGaveUp(t *testing.T) {
	text := "actord.actors { a { behaviour = noter, args.word = x, children { k { behaviour = noter } } }, b { behaviour = noter } }"
	b := newBench(t, text)
	end := func(path actor.Path) {
		a, ok := b.top.System().Find(path)
		if !ok {
			t.Fatalf("%s is not there", path)
		}
		if err := a.StopNow(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	end("/user/a")
	b.took()
	if r := b.top.Reload(t.Context(), byFile); r.Outcome != Unchanged {
		t.Errorf("a look at the file: got %s %v, want unchanged", r.Outcome, r.Err)
	}
	r := b.top.Reload(t.Context(), "test")
	if got, want := r.Plan.String(), "+ /user/a  start (noter, with 1 below it)\n"; r.Outcome != Applied || got != want {
		t.Errorf("on request: got %s %q, want %q", r.Outcome, got, want)
	}
	if got, want := b.took(), []string{"start /user/a x", "start /user/a/k "}; !slices.Equal(got, want) {
		t.Errorf("happened: got %q, want %q", got, want)
	}
	end("/user/a/k")
	if got, want := b.top.Reload(t.Context(), "test").Plan.String(), "+ /user/a/k  start (noter)\n"; got != want {
		t.Errorf("a child: got %q, want %q", got, want)
	}
}

func TestWhatDoesNotStartIsShownWhereItIsWritten(t *testing.T) {
	b := &bench{t: t, file: filepath.Join(t.TempDir(), "application.conf")}
	b.write("actord.actors {\n  a { behaviour = noter, args.fail = start }\n  b { behaviour = noter, children { k { behaviour = noter, args.fail = start } } }\n}")
	_, err := Start(t.Context(), b.source(nil), b.options())
	for _, want := range []string{
		"application.conf:3:3: actors.a: it does not start: it is told to fail",
		"application.conf:4:37: actors.b.children.k: it does not start: it is told to fail",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to hold %q", err, want)
		}
	}
}
