package actord_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const drawn = `
actord {
  log.format = json
  reload.watch = off
  bridges.web { type = http-server, listen = "127.0.0.1:0", in.orders { path = /orders, to = /user/front } }
  actors {
    front { behaviour = router, args.rules = [ { to = "./audit" } ], children.audit { behaviour = log, mailbox.capacity = 100 } }
  }
  plugins { }
}
`

func TestLoopbackVerbsOnAFile(t *testing.T) {
	dir := configured(t, drawn)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("messy.conf", "actord{actors{\n a{behaviour=log} # one\n}}")
	write("part.conf", "actord.actors.b { behaviour = log, args.message = ${?HOME} }\n")
	write("secrets.conf", "include \"part.conf\"\nactord.templates.t.token = hunter2\nactord.actors.a { behaviour = log, args.message = x }\n")
	tests := []struct {
		name string
		args []string
		code int
		out  []string // in what is printed, on either stream
	}{
		{"plan is a tree", []string{"plan"}, 2, []string{"+ /user/front  start (router, with 1 below it)\n", "+ /system/bridges/web  start (http-server)"}},
		{"plan as JSON", []string{"plan", "--json"}, 2, []string{`"mark": "+"`, `"action": "start"`, `"path": "/user/front"`, `"below": 1`, `"revision": 0`}},
		{"render says where values come from", []string{"render", "secrets.conf"}, 1, []string{"secrets.conf"}},
		{"render follows includes", []string{"render", "part.conf"}, 0, []string{"behaviour = \"log\"  # part.conf:1:", "message = "}},
		{"render of blocks in lists", []string{"render"}, 0, []string{"rules = [\n", "to = \"./audit\"  # application.conf:7:", "capacity = 100  # application.conf:7:"}},
		{"fmt lists what would change", []string{"fmt", "--check", "messy.conf"}, 1, []string{"messy.conf\n"}},
		{"fmt rewrites", []string{"fmt", "messy.conf"}, 0, []string{"messy.conf\n"}},
		{"fmt is done then", []string{"fmt", "--check", "messy.conf"}, 0, nil},
		{"fmt names mistakes", []string{"fmt", "nowhere.conf"}, 1, []string{"nowhere.conf"}},
		{"graph for mermaid", []string{"graph"}, 0, []string{"flowchart LR", `["/user/front<br>router"]`, `[/"/system/bridges/web<br>http-server"/]`, "-.-", `-- "rules.to" -->`, `-- "in.orders.to" -->`}},
		{"graph for dot", []string{"graph", "--format", "dot"}, 0, []string{"digraph actord {", `"/system/bridges/web" -> "/user/front" [label = "in.orders.to"]`, `"/user/front" -> "/user/front/audit" [style = dashed`}},
		{"graph as JSON", []string{"graph", "--format", "json"}, 0, []string{`"from": "/user/front"`, `"kind": "supervises"`}},
		{"graph knows its formats", []string{"graph", "--format", "svg"}, 64, []string{`unknown format "svg"`}},
		{"init never overwrites", []string{"init"}, 1, []string{"application.conf is there already and stays as it is"}},
		{"init writes a file", []string{"init", "new.conf"}, 0, []string{"wrote new.conf"}},
		{"what init writes is right", []string{"check", "--strict", "new.conf"}, 0, []string{"new.conf is right: 3 actors, 1 bridge"}},
		{"what init writes is in the usual layout", []string{"fmt", "--check", "new.conf"}, 0, nil},
		{"completion knows its shells", []string{"completion", "cmd"}, 64, []string{`"cmd" is not a shell it knows`}},
		{"completion for fish", []string{"completion", "fish"}, 0, []string{"complete -c actord -n __fish_use_subcommand -a reload", "-l check-hash"}},
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
			if strings.Contains(out+errs, "\x1b[") || strings.Contains(out+errs, "hunter2") {
				t.Errorf("got\n%s%s\nwant no colours, since this is no terminal, and no secrets", out, errs)
			}
		})
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "messy.conf")); string(text) != "actord {actors {\n    a {behaviour = log}  # one\n}}\n" {
		t.Errorf("fmt: got\n%s", text)
	}
}

func TestLoopbackRenderMasksSecrets(t *testing.T) {
	dir := configured(t, `
actord {
  log.format = json
  actors.a { behaviour = log }
  bridges.web {
    type = http-server, listen = "127.0.0.1:0"
    in.orders { path = /orders, to = /user/a }
  }
  templates.t { description = "postgres://ann:hunter2@db/x" }
  plugins { }
}
some.password = hunter2
`)
	out, errs, code := command(t, dir, "render")
	if code != 0 || strings.Contains(out, "hunter2") || !strings.Contains(out, "***@db/x") {
		t.Errorf("got %d\n%s%s\nwant the password masked", code, out, errs)
	}
}

func TestLoopbackCompletionScriptsAreScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		script, _, code := command(t, t.TempDir(), "completion", shell)
		check := exec.CommandContext(t.Context(), path, "-n")
		check.Stdin = strings.NewReader(script)
		if text, err := check.CombinedOutput(); code != 0 || err != nil {
			t.Errorf("%s: got %d, %v: %s", shell, code, err, text)
		}
	}
}

func TestLoopbackThePlanOfARunningDaemon(t *testing.T) {
	dir := configured(t, drawn)
	d := start(t, dir)
	d.waitMsg(0, "running")
	next := strings.Replace(drawn, "= 100", "= 200", 1)
	if err := os.WriteFile(filepath.Join(dir, "next.conf"), []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := command(t, dir, "plan", "next.conf")
	if want := "  /user/front\n  ~ /user/front/audit  update mailbox.capacity 100 → 200\n1 step, 2 unchanged\n"; code != 2 || !strings.HasSuffix(out, want) {
		t.Errorf("got %d\n%s\nwant it to end in\n%s", code, out, want)
	}
	out, _, _ = command(t, dir, "plan", "next.conf", "--json")
	var p struct {
		Revision   int
		Hash, Next string
		Steps      []struct {
			Reasons []struct{ Key, From, To, Class string }
		}
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil || p.Revision != 1 || len(p.Hash) != 32 || p.Hash == p.Next ||
		len(p.Steps) != 1 || p.Steps[0].Reasons[0].Key != "mailbox.capacity" || p.Steps[0].Reasons[0].Class != "live" {
		t.Errorf("as JSON: got %s %v", out, err)
	}
	out, _, _ = command(t, dir, "graph", "next.conf", "--plan")
	if !strings.Contains(out, "style n2 fill:#fff9c4") {
		t.Errorf("graph: got\n%s\nwant the change coloured", out)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}
