package actord_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const small = `
actord {
  log.format = json
  bridges.web { type = http-server, listen = "127.0.0.1:0", in.orders { path = /orders, to = /user/audit } }
  actors.audit { behaviour = log, mailbox.capacity = 100 }
}
`

func TestLoopbackCommands(t *testing.T) {
	dir := configured(t, small)
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("bad.conf", strings.Replace(strings.Replace(small, "= 100", "= many", 1), "= log", "= lgo", 1))
	write("any.conf", "a { b = 1, c = ${a.b}0s }\nd = [x y, true, null]")
	write("broken.conf", "a = [1\nb = }")
	tests := []struct {
		name string
		args []string
		code int
		out  []string // in what is printed, on either stream
	}{
		{"check says what is right", []string{"check"}, 0, []string{"application.conf is right: 1 actor, 1 bridge, 0 plugins"}},
		{"check finds all mistakes", []string{"check", "bad.conf"}, 1, []string{
			`bad.conf:5:`, `actors.audit.mailbox.capacity: "many" is not a number`, `unknown behaviour "lgo"; did you mean "log"?`, "^"}},
		{"a flag may follow the file", []string{"check", "bad.conf", "-D", "actord.actors.audit.mailbox.capacity=5", "-D", "actord.actors.audit.behaviour=log"}, 0, []string{"is right"}},
		{"a missing file is named", []string{"check", "--config", "nowhere.conf"}, 1, []string{"nowhere.conf is not there"}},
		{"plan without a daemon shows the start", []string{"plan"}, 2, []string{"no actord runs application.conf", "+ /user/audit  start (log)"}},
		{"hocon resolves any file", []string{"hocon", "any.conf"}, 0, []string{`"c": "10s"`, `"x y"`}},
		{"hocon places errors", []string{"hocon", "broken.conf"}, 1, []string{"broken.conf:"}},
		{"list shows arguments", []string{"list", "router"}, 0, []string{"router", "rules", "first|all"}},
		{"list suggests", []string{"list", "roter"}, 1, []string{`did you mean "router"?`}},
		{"version", []string{"version"}, 0, []string{"actord "}},
		{"an unknown command is answered", []string{"rum"}, 64, []string{`unknown command "rum"; did you mean "run"?`}},
		{"run with a wrong file does not start", []string{"run", "--config", "bad.conf"}, 1, []string{`"many" is not a number`}},
		{"run with a missing plugin says which", []string{"run", "-D", `actord.plugins.p.command=["./nothing"]`}, 1, []string{"plugins.p", "nothing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, errs, code := command(t, dir, tt.args...)
			if code != tt.code {
				t.Errorf("exit code: got %d, want %d", code, tt.code)
			}
			for _, want := range tt.out {
				if !strings.Contains(out+errs, want) {
					t.Errorf("got\n%s%s\nwant it to hold %q", out, errs, want)
				}
			}
		})
	}
}

func TestLoopbackPlanComparesWithTheRunningDaemon(t *testing.T) {
	dir := configured(t, small)
	d := start(t, dir)
	d.waitMsg(0, "running")
	if out, errs, code := command(t, dir, "plan"); code != 0 || !strings.Contains(out, "nothing to do") {
		t.Errorf("the same file: got %d %s%s, want nothing to do", code, out, errs)
	}
	next := filepath.Join(dir, "next.conf")
	if err := os.WriteFile(next, []byte(strings.Replace(small, "= 100", "= 200", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := command(t, dir, "plan", "next.conf")
	if want := "~ /user/audit  update mailbox.capacity 100 → 200"; code != 2 || !strings.Contains(out, want) {
		t.Errorf("another file: got %d %s%s, want %q", code, out, errs, want)
	}
	if _, errs, code := command(t, dir, "run"); code != 1 || !strings.Contains(errs, "another actord") {
		t.Errorf("a second daemon: got %d %s, want it refused", code, errs)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}
