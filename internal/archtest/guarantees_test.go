package archtest

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guarantees is the document that names a test for each promise.
const guarantees = "docs/guarantees.md"

// named matches a test as that document names it: `folder: TestName`.
var named = regexp.MustCompile("`([^`: ]+): ((?:Test|Fuzz|Benchmark|Example)[^`]*)`")

// testsOf returns the tests of every folder as "folder: TestName".
func testsOf(source *Tree) map[string]bool {
	all := map[string]bool{}
	for _, f := range source.Files {
		if !f.Test {
			continue
		}
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				all[f.Folder()+": "+fn.Name.Name] = true
			}
		}
	}
	return all
}

// unheld returns the rows of the text that name no test, and the tests that it names and that do not exist.
func unheld(text string, tests map[string]bool) []string {
	var bad []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| Promise |") || strings.HasPrefix(line, "|-") {
			continue
		}
		cells, found := strings.Split(strings.TrimSpace(line), "|"), named.FindAllStringSubmatch(line, -1)
		if len(found) == 0 || len(cells) != 4 {
			bad = append(bad, strings.TrimSpace(cells[1])+": want one cell with the promise and one with tests, as `folder: TestName`")
		}
		for _, m := range found {
			if name := m[1] + ": " + m[2]; !tests[name] {
				bad = append(bad, name+": there is no such test; name the one that holds the promise now")
			}
		}
	}
	return bad
}

func TestEveryGuaranteeIsHeldByATest(t *testing.T) {
	source, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path.Join(root, guarantees))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(named.FindAllString(string(text), -1)); got < 100 {
		t.Errorf("%s: got %d tests named, want 100 at least: has its form changed?", guarantees, got)
	}
	for _, b := range unheld(string(text), testsOf(source)) {
		t.Errorf("%s: %s", guarantees, b)
	}
}

func TestAGuaranteeWithoutATestIsFound(t *testing.T) {
	text := "| Promise | Test |\n|---|---|\n| a | `x: TestA` |\n| b | `x: TestGone` |\n| c | none |\n"
	got := unheld(text, map[string]bool{"x: TestA": true})
	if len(got) != 2 || !strings.HasPrefix(got[0], "x: TestGone:") || !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "c:") }) {
		t.Errorf("got %q, want the test that is gone and the row without one", got)
	}
}
