package actord_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoopbackExplainSchemaAndExpr(t *testing.T) {
	dir := configured(t, `actord {
  templates.t { mailbox { capacity = 10, overflow = reject } }
  actors { audit { behaviour = log, use = t }, wrong.behaviour = nothing }
}
`)
	empty := t.TempDir()
	tests := []struct {
		name, dir string
		args      []string
		code      int
		want      []string
	}{
		{"a key in general", empty, []string{"explain", "mailbox.capacity"}, 0, []string{"actors.NAME.mailbox.capacity\n    bound of the queue", "default   unlimited", "allowed   1 to 1000000000", "live: applied in place"}},
		{"a key of the file, though it has mistakes", dir, []string{"explain", "actors.audit.mailbox.capacity"}, 0, []string{"value     10", "from      template t, application.conf:2:38"}},
		{"all of an actor", dir, []string{"explain", "/user/audit"}, 0, []string{"actors.audit.mailbox.overflow", "reject", "template t, application.conf:2:53", "built-in default"}},
		{"a key that is overridden", dir, []string{"explain", "actors.audit.stop-timeout", "-D", "actord.actors.audit.stop-timeout=9s"}, 0, []string{"value     9s", "the command line -D"}},
		{"a key of a behaviour", empty, []string{"explain", "router.mode"}, 0, []string{"first|all", "default   first"}},
		{"a key that is none", empty, []string{"explain", "mailbox.capcity"}, 1, []string{`no key is called "mailbox.capcity"; did you mean "capacity"?`}},
		{"explain wants a key", empty, []string{"explain"}, 64, []string{"want one key or path"}},
		{"schema", empty, []string{"schema"}, 0, []string{`"args of router"`, `"bridge http-server"`}},
		{"schema without what is wrong", dir, []string{"schema"}, 0, []string{`"args of router"`}},
		{"an expression", empty, []string{"expr", "msg.a + 1", "--message", `{"a": 2}`}, 0, []string{"3\n"}},
		{"kind, headers and the like", empty, []string{"expr", `kind + headers.x + sender + path + error`, "--kind", "k", "--header", "x=h", "--sender", "/user/s", "--path", "/user/p", "--error", "e"}, 0, []string{`"kh/user/s/user/pe"`}},
		{"a kind in the body", empty, []string{"expr", "kind == 'urgent' ? 0 : 5", "--message", `{"kind": "urgent"}`, "--site", "number"}, 0, []string{"0\n"}},
		{"a wrong name", empty, []string{"expr", "1 + mgs.a"}, 1, []string{"expression:1:5: unknown name mgs; did you mean \"msg\"?\n    1 + mgs.a\n        ^"}},
		{"a failure", empty, []string{"expr", "msg.a + 1", "--message", `{"a": "x"}`}, 1, []string{"    msg.a + 1\n"}},
		{"a wrong type", empty, []string{"expr", "1 + 1", "--site", "bool"}, 1, []string{"gives a number; a condition"}},
		{"a message that is none", empty, []string{"expr", "1", "--message", "{"}, 1, []string{"the message is no JSON"}},
		{"a site that is none", empty, []string{"expr", "1", "--site", "x"}, 64, []string{`unknown site "x"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, errs, code := command(t, tt.dir, tt.args...)
			if code != tt.code {
				t.Errorf("exit code: got %d, want %d", code, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(out+errs, want) {
					t.Errorf("got\n%.2000s%s\nwant it to hold %q", out, errs, want)
				}
			}
			if tt.args[0] == "schema" && !json.Valid([]byte(out)) {
				t.Error("the schema is no JSON")
			}
		})
	}
}

// TestLoopbackNoCommandShowsASecret puts one wherever a file can hold one and
// looks for it in what commands print, right and wrong.
func TestLoopbackNoCommandShowsASecret(t *testing.T) {
	const canary = "canary-hunter2"
	const text = `actord {
  system.name = orders
  plugins.p { command = ["/nowhere/x"], env { PASSWORD = canary-hunter2, TOKEN { command = [cat, secret.txt] }, DEBUG = WORD }, MORE }
  actors.a { behaviour = log, EXTRA }
}
`
	for _, tc := range []struct{ more, extra string }{
		{"", ""},
		{"env.SECRET = canary-hunter2, stop-timeout = many", "mailbox.capacity = 0"},
		{"password = \"canary-hunter2\", x = ]", ""},
		{"token = canary-hunter2, version = { a = 1 }", "args.url = \"x://me:canary-hunter2@host\", on-full = odd"},
		{"sha256 = \"x://me:canary-hunter2@h\"", ""},
	} {
		word := canary // of a variable whose name speaks of no secret: only a file that can be read says that it is one
		if strings.Contains(tc.more, "]") {
			word = "x"
		}
		dir := configured(t, strings.NewReplacer("MORE", tc.more, "EXTRA", tc.extra, "WORD }", word+" }").Replace(text))
		if err := os.WriteFile(filepath.Join(dir, "secret.txt"), []byte(canary+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"check"}, {"check", "--strict"}, {"check", "--format", "json"}, {"check", "--format", "sarif"}, {"check", "--no-exec"},
			{"plan"}, {"run"}, {"explain", "plugins.p.env"}, {"explain", "plugins.p.env.PASSWORD"}, {"explain", "/user/a"}, {"list"}, {"schema"},
			{"check", "-D", "actord.plugins.p.env.API_TOKEN=canary-hunter2", "-D", "actord.plugins.p.env.password=[canary-hunter2"},
		} {
			out, errs, _ := command(t, dir, args...)
			for line := range strings.Lines(out + errs) {
				if strings.Contains(line, canary) {
					t.Errorf("%v with %q %q shows it: %s", args, tc.more, tc.extra, line)
				}
			}
		}
	}
}
