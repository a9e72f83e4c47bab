package archtest

import (
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// layers is the import table: packages import downwards only. Tests may import what they like.
var layers = []Layer{
	// The contract, and plain data and arithmetic.
	{"runtime/actor", ""},
	{"runtime/mailbox", ""},
	{"runtime/supervise", ""},
	{"runtime/phase", "runtime/actor"},

	// The engine and what stands beside it.
	{"runtime", "runtime/actor runtime/mailbox runtime/supervise runtime/phase"},
	{"internal/rule", "runtime/actor"},
	{"internal/codec", "runtime/actor"},
	{"internal/cron", ""},
	{"runtime/bridge", "runtime/actor runtime/supervise internal/rule internal/codec"},
	{"runtime/actortest", "runtime/actor runtime"},

	// From a file to a running tree.
	{"topology/hocon", ""},
	{"topology/spec", "runtime/actor runtime/mailbox runtime/supervise runtime/phase topology/hocon internal/rule internal/cron"},
	{"topology/plan", "runtime/actor topology/spec"},
	{"topology/watch", ""},
	{"topology", "runtime runtime/actor runtime/phase topology/hocon topology/spec topology/plan topology/watch"},

	// Behaviours and bridges: one per folder, what several of them share, and their list.
	{"builtin/internal/*", "runtime/actor internal/rule"},
	{"builtin/*", "builtin/internal/* runtime/actor runtime/bridge internal/rule internal/codec"},
	{"builtin", "builtin/* runtime/actor runtime/bridge internal/rule internal/codec"},

	// Plugins.
	{"plugins/wire", ""},
	{"plugins/sdk", "runtime/actor plugins/wire"},
	{"plugins/host", "runtime/actor plugins/wire"},
	{"plugins/sdktest", "plugins/sdk plugins/host runtime/actortest"},

	// Operation.
	{"internal/telemetry", "runtime/actor runtime"},
	{"internal/store", "runtime/actor"},
	{"internal/scenario", "runtime/actor runtime topology"},
	{"internal/admin", "runtime/actor runtime topology"},
	{"internal/control", ""},
	{"internal/archtest", ""},

	// Wiring, and what is built from it.
	{".", "**"},
	{"cmd/actord", "."},
	{"examples/**", "runtime/actor plugins/sdk ."},
}

// libraries says where each foreign module is known. One package is the rule; more are exceptions that share a protocol.
var libraries = []Library{
	{"github.com/expr-lang/expr", "internal/rule"},
	{"github.com/gurkankaymak/hocon", "topology/hocon"},
	{"github.com/fsnotify/fsnotify", "topology/watch"},
	{"github.com/robfig/cron/v3", "internal/cron"},
	{"github.com/hashicorp/go-plugin", "plugins/sdk plugins/host"},
	{"github.com/hashicorp/go-hclog", "plugins/sdk plugins/host"},
	{"google.golang.org/grpc", "plugins/wire plugins/sdk plugins/host"},
	{"google.golang.org/protobuf", "plugins/wire plugins/sdk plugins/host"},
	{"golang.org/x/sys", "plugins/host"},
}

var (
	code = Limit{File: 500, Func: 60}
	test = Limit{File: 1000, Func: 150} // tables make tests long
)

// machine matches paths that exist on one machine only. The brackets keep this file from matching itself.
var machine = regexp.MustCompile(`(^|[^\w./-])/([w]ork|[U]sers|tmp/[b]rief|root/[g]o)(/|\b)|[g]o/pkg/mod/`)

const root = "../.."

// tree is the source of this repository, parsed once for all tests.
var tree = sync.OnceValues(func() (*Tree, error) { return Load(os.DirFS(root)) })

// hold fails the test with everything that breaks a rule.
func hold(t *testing.T, rule func(*Tree) []string) {
	t.Helper()
	source, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	if len(source.Files) == 0 {
		t.Fatal("the tree has no Go files: got 0, want this file at least")
	}
	for _, violation := range rule(source) {
		t.Error(violation)
	}
}

func TestPackagesImportDownwards(t *testing.T) {
	hold(t, func(s *Tree) []string { return Layers(s, layers) })
}

func TestEachLibraryIsKnownInOnePlace(t *testing.T) {
	hold(t, func(s *Tree) []string { return Libraries(s, libraries) })
}

func TestEveryPackageHasAComment(t *testing.T) { hold(t, Comments) }

func TestNothingActsBeforeMain(t *testing.T) { hold(t, Inits) }

func TestNoTestSleeps(t *testing.T) { hold(t, Sleeps) }

func TestFilesAndFunctionsAreShort(t *testing.T) {
	hold(t, func(s *Tree) []string { return Lengths(s, code, test) })
}

func TestNoFileNamesAPathOfOneMachine(t *testing.T) {
	out, err := exec.Command("git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("the list of tracked files needs git and a checkout: %v", err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for _, violation := range Texts(os.DirFS(root), names, machine) {
		t.Error(violation)
	}
}

func TestTheTablesNameWhatExistsOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range layers {
		if seen[l.Folder] {
			t.Errorf("%s has two lines in the import table, want one", l.Folder)
		}
		seen[l.Folder] = true
	}
	mod, err := fs.ReadFile(os.DirFS(root), "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		if !strings.Contains(string(mod), "\t"+l.Module+" v") {
			t.Errorf("library table: module %s is not in go.mod; remove its line", l.Module)
		}
	}
}
