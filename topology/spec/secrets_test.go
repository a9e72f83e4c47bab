package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

type vaultConf struct {
	Password actor.Secret            `conf:"password" default:"" doc:"of the user"`
	Keys     []actor.Secret          `conf:"keys" doc:"more of them"`
	Tokens   map[string]actor.Secret `conf:"tokens" doc:"and more"`
	Auth     struct {
		Token actor.Secret `conf:"token" default:"" doc:"of the client"`
	} `conf:"auth" doc:"who"`
	Limit int `conf:"limit" default:"1" max:"9" doc:"a number"`
}

// vault returns the registry with a behaviour and a bridge that have secrets; what
// they get is stored in got, and fail, when not nil, is what they say of it.
func vault(t testing.TB, got *vaultConf, fail func(vaultConf) error) *actor.Registry {
	reg := registry(t)
	check := func(c vaultConf) error {
		*got = c
		if fail != nil {
			return fail(c)
		}
		return nil
	}
	if err := errors.Join(reg.AddBehaviour(fake("vault", check)), reg.AddBridge(fake("vault", check))); err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestSecretsComeFromWhereTheyAreKept(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key.txt")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `actord.actors.a { behaviour = vault, args {
  password { env = PASSWORD }
  keys = [ { file = key.txt }, { command = [echo, from-command] }, 12345 ]
  tokens { a { file = "` + file + `" }, b = plain-token }
  auth.token = ${TOKEN}
} }`
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PASSWORD": "from-env", "TOKEN": "substituted"}[name]
		return v, ok
	}
	tree, err := hocon.Parse(filepath.Join(dir, "application.conf"), []byte(text), hocon.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	var got vaultConf
	s, err := Options{Secrets: &Secrets{Env: env}, Lint: true}.Check(tree, vault(t, &got, nil))
	if err != nil {
		t.Fatal(hocon.Format(err))
	}
	var texts []string
	for _, s := range slices.Concat([]actor.Secret{got.Password, got.Auth.Token, got.Tokens["a"], got.Tokens["b"]}, got.Keys) {
		texts = append(texts, s.Reveal())
	}
	if want := []string{"from-env", "substituted", "from-file", "plain-token", "from-file", "from-command", "12345"}; !slices.Equal(texts, want) {
		t.Errorf("got %v, want %v", texts, want)
	}
	if want := []string{file}; !slices.Equal(s.Files, want) {
		t.Errorf("files to watch: got %v, want %v", s.Files, want)
	}
	if n := len(byRule(s.Warnings, rulePlainSecret)); n != 2 {
		t.Errorf("got %d warnings of a secret in the file, want those of 12345 and plain-token: %v", n, s.Warnings)
	}
}

func byRule(all hocon.Errors, rule string) (out []string) {
	for _, e := range all {
		if e.Rule == rule {
			out = append(out, e.Error())
		}
	}
	return out
}

func TestMistakesInSecrets(t *testing.T) {
	for text, want := range map[string]string{
		`{ env = NOT_SET }`:               `the environment variable NOT_SET is not set`,
		`{ file = /nowhere/x }`:           `the secret cannot be read from /nowhere/x: no such file or directory`,
		`{ file = "/" }`:                  `/ is a folder, not a file with a secret`,
		`{ command = [false] }`:           `the command false failed: exit status 1`,
		`{ command = [/nowhere/x] }`:      `the command /nowhere/x failed: `,
		`{ command = echo }`:              `command is no list of texts (want [PROGRAM, ARGUMENT, …])`,
		`{ env = A, file = B }`:           `a secret has one source, not 2 (want { env = NAME }, { file = PATH } or { command = [ … ] })`,
		`{ evn = A }`:                     `a secret cannot come from "evn"; did you mean "env"?`,
		`[a]`:                             `a list is not a secret (want { env = NAME }, { file = PATH }, { command = [ … ] } or a text)`,
		`{ command = [sh, -c, "yes x"] }`: `the command sh printed more than 65536 bytes`,
	} {
		if strings.Contains(text, "yes x") {
			text = `{ command = [sh, -c, "yes x | head -c 70000"] }`
		}
		var got vaultConf
		none := func(string) (string, bool) { return "", false }
		tree := load(t, "actord.actors.a { behaviour = vault, args.password = "+text+" }")
		_, err := Options{Secrets: &Secrets{Env: none}}.Check(tree, vault(t, &got, nil))
		if err == nil || !strings.Contains(err.Error(), "application.conf:1:38: actors.a.args.password: "+want) && !strings.Contains(err.Error(), "application.conf:1:54: actors.a.args.password: "+want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestCommandsAreNotRunWhenThatIsNotWanted(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	var got vaultConf
	tree := load(t, `actord.actors.a { behaviour = vault, args.password { command = [touch, "`+mark+`"] } }`)
	if _, err := (Options{Secrets: &Secrets{NoExec: true}}).Check(tree, vault(t, &got, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command was run")
	}
}

func TestAChangedSecretChangesTheHash(t *testing.T) {
	value := "one"
	env := func(string) (string, bool) { return value, true }
	reg, tree := vault(t, &vaultConf{}, nil), load(t, "actord.actors.a { behaviour = vault, args.password { env = X } }")
	before, err := Options{Secrets: &Secrets{Env: env}}.Check(tree, reg)
	if err != nil {
		t.Fatal(err)
	}
	same, err := Options{Before: before, Secrets: &Secrets{Env: env}}.Check(tree, reg)
	if err != nil || same.Hash != before.Hash {
		t.Errorf("the same secret: got %v, want the same hash", err)
	}
	value = "two"
	after, err := Options{Before: before, Secrets: &Secrets{Env: env}}.Check(tree, reg)
	if err != nil || after.Hash == before.Hash {
		t.Errorf("another secret in the same file: got %v and the same hash", err)
	}
}

// TestNothingThatACheckMakesShowsASecret puts one wherever one may stand and looks
// for it in all that can be printed.
func TestNothingThatACheckMakesShowsASecret(t *testing.T) {
	const canary = "canary-hunter2"
	const text = `actord {
  actors.a { behaviour = vault, args {
    password = canary-hunter2, limit = LIMIT
    keys = [canary-hunter2], tokens { x { env = C } }, auth.token { command = [echo, "canary-hunter2"] } } }
  bridges.b { type = vault, password = "canary-hunter2", auth { token = canary-hunter2 }, limit = LIMIT }
  bridges.c { type = broker, url = "x://me:canary-hunter2@host", password = canary-hunter2 }
  plugins.p { command = [x], env { DEBUG = canary-hunter2, B { env = C } } }
}`
	env := func(string) (string, bool) { return canary, true }
	fail := func(c vaultConf) error { return fmt.Errorf("cannot use %s at all", c.Password.Reveal()) }
	for _, tc := range []struct {
		name, limit string
		fail        func(vaultConf) error
	}{
		{name: "what is right", limit: "1"},
		{name: "a wrong value beside it", limit: "100"},
		{name: "a word beside it", limit: "many"},
		{name: "an unknown key beside it", limit: "1, limt = 3"},
		{name: "a factory that says it", limit: "1", fail: fail},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := load(t, strings.ReplaceAll(text, "LIMIT", tc.limit))
			var got vaultConf
			reg := vault(t, &got, tc.fail)
			s, err := Options{Secrets: &Secrets{Env: env}, Lint: true}.Check(tree, reg)
			var out strings.Builder
			if err != nil {
				fmt.Fprint(&out, hocon.Format(err), err)
			} else {
				printed(t, &out, s)
			}
			for line := range strings.Lines(out.String()) {
				if strings.Contains(line, canary) {
					t.Errorf("it is in: %s", line)
				}
			}
		})
	}
}

func printed(t *testing.T, out *strings.Builder, s *System) {
	fmt.Fprint(out, hocon.Format(s.Warnings))
	show := func(settings []Setting) {
		for _, set := range settings {
			fmt.Fprintf(out, "%s = %s\n", set.Key, set.Shown())
		}
	}
	for a := range s.All() {
		show(a.ArgSettings)
		b, err := json.Marshal(a.Args)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "%s\n%v\n%#v\n", b, a.Args, a.Args)
	}
	for _, b := range s.Bridges {
		show(b.Settings)
	}
	for _, p := range s.Plugins {
		show(p.Settings)
		fmt.Fprintf(out, "%v\n%+v\n", p.Env, *p)
	}
}
