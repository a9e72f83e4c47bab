package actord_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoopbackCheck(t *testing.T) {
	dir := configured(t, `actord {
  actors { audit { behaviour = log, mailbox.capacity = 100 } }
  profiles { broken { actors.audit.mailbox.capacity = many }, ranked { actors.audit.mailbox.priority = "kind == 'x' ? 0 : 1" } }
}
`)
	for name, text := range map[string]string{
		"secret.conf": `actord { plugins.p { command = [x], env { PASSWORD { command = [sh, -c, "touch ran; echo x"] } } } }`,
		"env.conf":    "actord.system.name = ${SYSTEM_NAME_FOR_TEST}",
		"vars.env":    "# names\nexport SYSTEM_NAME_FOR_TEST=\"orders\"\n",
		"bad.env":     "A=1\nno value\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"warnings do not fail", []string{"check"}, 0, []string{"warning[implicit-overflow]: application.conf:2:56: actors.audit.mailbox.capacity: a full mailbox drops", "is right: 1 actor, 0 bridges, 0 plugins, 2 warnings"}},
		{"strict makes mistakes of them", []string{"check", "--strict"}, 1, []string{"application.conf:2:56: actors.audit.mailbox.capacity: a full mailbox drops", "^"}},
		{"a profile lies over the file", []string{"check", "--profile", "broken"}, 1, []string{`application.conf:3:55: actors.audit.mailbox.capacity: "many" is not a number`}},
		{"a profile that is not there", []string{"check", "--profile", "staging"}, 1, []string{"actord.profiles.staging is not there (there are broken, ranked)"}},
		{"json", []string{"check", "--format", "json", "--profile", "broken"}, 1, []string{`"valid": false`, `"line": 3`, `"path": "actors.audit.mailbox.capacity"`}},
		{"sarif", []string{"check", "--format=sarif"}, 0, []string{`"version": "2.1.0"`, `"ruleId": "implicit-overflow"`, `"startLine": 2`}},
		{"an unknown format", []string{"check", "--format", "xml"}, 64, []string{`unknown format "xml" (want one of text, json, sarif)`}},
		{"variables of a file", []string{"check", "env.conf", "--env-file", "vars.env"}, 0, []string{"env.conf is right"}},
		{"without them", []string{"check", "env.conf"}, 1, []string{"SYSTEM_NAME_FOR_TEST"}},
		{"a file that holds none", []string{"check", "--env-file", "bad.env"}, 64, []string{"bad.env:2: want NAME=value"}},
		{"no-exec runs no command", []string{"check", "--no-exec", "secret.conf"}, 1, []string{`plugins.p: exec: "x"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, errs, code := command(t, dir, tc.args...)
			if code != tc.code {
				t.Errorf("exit code: got %d, want %d", code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(out+errs, want) {
					t.Errorf("got\n%s%s\nwant it to hold %q", out, errs, want)
				}
			}
			if strings.Contains(tc.name, "json") || strings.Contains(tc.name, "sarif") {
				var any map[string]any
				if err := json.Unmarshal([]byte(out), &any); err != nil {
					t.Errorf("it is no JSON: %v", err)
				}
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the command of a secret was run")
	}
}

func TestLoopbackCheckRemembersPlugins(t *testing.T) {
	dir := configured(t, `actord {
  plugins.fraud { command = ["`+program(t, "fraud")+`"] }
  actors { score { behaviour = "fraud/score", on-full = drop, args { SETTING } } }
}
`)
	file := filepath.Join(dir, "application.conf")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := func(setting string) {
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), "SETTING", setting, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set("nonsense = 1")
	_, errs, code := command(t, dir, "check", "--no-exec")
	if code != 1 || !strings.Contains(errs, "check once without --no-exec") {
		t.Errorf("at first: got %d %s, want nothing remembered", code, errs)
	}
	if _, errs, code = command(t, dir, "check"); code != 1 || !strings.Contains(errs, "args.nonsense: unknown key") {
		t.Errorf("with the plugin: got %d %s, want the unknown key", code, errs)
	}
	if _, errs, code = command(t, dir, "check", "--no-exec"); code != 1 || !strings.Contains(errs, "args.nonsense: unknown key") {
		t.Errorf("from memory: got %d %s, want the unknown key", code, errs)
	}
}
