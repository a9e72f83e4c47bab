package hocon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExcerptsMaskWhatLooksLikeASecret(t *testing.T) {
	for line, want := range map[string]string{
		`password = hunter2, x = 1`:          `password = ***, x = 1`,
		`db.Password: "hunter2", x = 1`:      `db.Password: ***, x = 1`,
		`api-key = hun ter2 # why`:           `api-key = ***# why`,
		`"my_token" += """hunter2""", x = 1`: `"my_token" += ***, x = 1`,
		`url = "nats://me:hunter2@host/x"`:   `url = "nats://***@host/x"`,
		`secret = "hunter2`:                  `secret = ***`,
		`password { env = DB_PASSWORD }`:     `password { env = DB_PASSWORD }`,
		`password = ${DB_PASSWORD}`:          `password = ${DB_PASSWORD}`,
		`passage = 3, x = 1`:                 `passage = 3, x = 1`,
	} {
		if got, _ := maskLine(line, 0); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestTheCaretFollowsTheMask(t *testing.T) {
	_, err := Parse("a.conf", []byte(`a { password = "a-long-password", x = ] }`), Options{})
	want := "a.conf:1:39: a.x: unexpected ']' (a value is wanted)\n    a { password = ***, x = ] }\n                            ^\n"
	if got := Format(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := MaskExcerpt("a = hunter2, b = x\n                 ^", []string{"hunter2"}), "a = ***, b = x\n             ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func FuzzMaskExcerpt(f *testing.F) {
	f.Add("a = hunter2, b = x", 5, "hunter2", "***x")
	f.Add("****", 2, "*", "")
	f.Fuzz(func(t *testing.T, line string, at int, a, b string) {
		if strings.Contains(line, "\n") || at < 0 || at > 100 {
			return
		}
		got := MaskExcerpt(line+"\n"+strings.Repeat(" ", at)+"^", []string{a, b})
		if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "^") {
			t.Errorf("got %q, want a line and a caret below it", got)
		}
	})
}

func TestOverridesMaskSecrets(t *testing.T) {
	for _, o := range []Override{{"a.password", "hunter2"}, {"a.url", "x://me:hunter2@host"}, {"a.b", `{ token = hunter2 }`}} {
		if got := o.String(); strings.Contains(got, "hunter2") {
			t.Errorf("got %s", got)
		}
	}
	if got := (Override{"a.b", "5"}).String(); got != "-D a.b=5" {
		t.Errorf("got %s", got)
	}
}

func TestIncludesStayInTheFolderOfTheRootFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	secret := write("outside/secret.conf", "found = yes")
	write("in/sub/part.conf", "found = yes")
	write("real/other.conf", "found = yes")
	link(secret, "in/link.conf")
	link("../outside", "in/folder")
	link("sub/part.conf", "in/fine.conf")
	for _, tc := range []struct {
		name, include, err string
		anywhere           bool
	}{
		{name: "a file below it", include: `"sub/part.conf"`},
		{name: "a link that stays inside", include: `"fine.conf"`},
		{name: "a way up", include: `"../outside/secret.conf"`, err: "is outside of the folder of the root file"},
		{name: "an absolute name", include: `file("` + secret + `")`, err: "is outside of the folder of the root file"},
		{name: "a link that leads out", include: `"link.conf"`, err: "is outside of the folder of the root file"},
		{name: "a folder that is a link out", include: `"folder/secret"`, err: "is outside of the folder of the root file"},
		{name: "a missing file outside", include: `"../nothing.conf"`, err: "is outside of the folder of the root file"},
		{name: "anywhere when asked for", include: `"../outside/secret.conf"`, anywhere: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := Load(write("in/main.conf", "include "+tc.include), Options{Anywhere: tc.anywhere})
			switch {
			case tc.err == "" && (err != nil || tree.Lookup("found") == nil):
				t.Errorf("got %v, want it read", err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("got %v, want %q", err, tc.err)
			}
		})
	}
	t.Run("a root file that is a link may include what is beside the file it leads to", func(t *testing.T) {
		write("real/main.conf", `include "`+filepath.Join(dir, "real/other.conf")+`"`)
		link("../real/main.conf", "in/linked.conf")
		write("real/main.conf", `include file("`+filepath.Join(dir, "real/other.conf")+`")`)
		if _, err := Load(filepath.Join(dir, "in/linked.conf"), Options{}); err != nil {
			t.Error(err)
		}
	})
}

func TestAReportNamesTheIncludes(t *testing.T) {
	files := map[string]string{"/e/main.conf": "\ninclude \"a\"", "/e/a.conf": "include \"b\"", "/e/b.conf": "x = ]"}
	_, err := Load("/e/main.conf", Options{ReadFile: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}})
	want := "/e/b.conf:1:5: x: unexpected ']' (a value is wanted)\n    x = ]\n        ^\n    included at /e/a.conf:1:9, /e/main.conf:2:9\n"
	if got := Format(err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheEnvironmentIsReadAfterParsingAndOnce(t *testing.T) {
	env := map[string]string{"V": `${W} { a = 1 } # "x"`, "W": "wrong", "LIST.0": "a", "LIST.1": "b, c"}
	tree, err := Parse("a.conf", []byte("a = ${V}\n# ${MISSING}\nb = \"${V}\"\nc = ${LIST}\nd = ${?NOT}\n"), Options{
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := tree.Lookup("a"); got.Kind != String || got.Text != env["V"] {
		t.Errorf("a value from the environment: got %s, want it as it is", got.JSON())
	}
	if got := tree.Lookup("b").Text; got != "${V}" {
		t.Errorf("in quotes: got %s, want it as written", got)
	}
	if got := string(tree.Lookup("c").JSON()); got != `["a","b, c"]` {
		t.Errorf("a list: got %s", got)
	}
}
