package topology

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
)

var update = flag.Bool("update", false, "rewrite the plans and events in testdata/reloads")

// TestReloads runs the files in testdata/reloads: what they say before the first
// section is for people, then come before.conf, after.conf, the plan, and the
// events: what the actors did, how often each has been told something by then
// (twice before the reload and once after it), and how it ended.
func TestReloads(t *testing.T) {
	files, err := filepath.Glob("testdata/reloads/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			comment, part := readSections(t, name)
			plan, events := runScenario(t, part["before.conf"], part["after.conf"])
			if *update {
				text := comment + "-- before.conf --\n" + part["before.conf"] + "-- after.conf --\n" + part["after.conf"] +
					"-- plan --\n" + plan + "-- events --\n" + events
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if plan != part["plan"] {
				t.Errorf("%splan: got\n%swant\n%s", comment, plan, part["plan"])
			}
			if events != part["events"] {
				t.Errorf("%sevents: got\n%swant\n%s", comment, events, part["events"])
			}
		})
	}
}

func runScenario(t *testing.T, before, after string) (plan, events string) {
	b := newBench(t, before)
	told := map[actor.Path]bool{}
	tell := func() (lines []string) {
		for a := range b.top.current.Spec.All() {
			if a.Args["fail"] != "receive" {
				told[a.Path] = true
				lines = append(lines, fmt.Sprintf("%s has been told %v", a.Path, b.count(a.Path)))
			}
		}
		return lines
	}
	tell()
	tell()
	b.took()
	b.write(after)
	r := b.top.Reload(t.Context(), "scenario")
	if r.Probation != nil {
		for a := range b.top.current.Spec.All() {
			if a.Args["fail"] == "receive" {
				b.tell(a.Path)
			}
		}
		<-r.Probation
	}
	lines := append(b.took(), tell()...)
	outcome := r.Outcome
	for _, e := range b.top.Revisions() {
		if r.Probation != nil && e.Kept && e.Revision == r.Revision {
			outcome = e.Outcome
		}
	}
	_, number := b.top.Current()
	lines = append(lines, fmt.Sprintf("%s, revision %d", outcome, number))
	return r.Plan.String(), strings.ReplaceAll(strings.Join(lines, "\n"), " \n", "\n") + "\n"
}

// readSections reads a file of sections, each after a line "-- NAME --".
func readSections(t *testing.T, name string) (comment string, part map[string]string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	part = map[string]string{}
	section := ""
	for line := range strings.Lines(string(text)) {
		head, ok := strings.CutPrefix(line, "-- ")
		if title, is := strings.CutSuffix(head, " --\n"); ok && is {
			section = title
			continue
		}
		part[section] += line
	}
	return part[""], part
}
