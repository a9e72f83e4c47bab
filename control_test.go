package actord_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// still is small without watching, so that only commands reload.
var still = strings.Replace(small, "log.format = json", "log.format = json, reload { watch = off, probation = off }", 1)

func TestLoopbackCommandsReachTheDaemon(t *testing.T) {
	dir := configured(t, still)
	d := start(t, dir)
	d.waitMsg(0, "running")
	other := filepath.Join(dir, "other.conf")
	if err := os.WriteFile(other, []byte(strings.Replace(still, "= 100", "= 300", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	hash := ""
	steps := []struct {
		name string
		file string // what is written before; "" leaves the file alone
		args []string
		code int
		want string // in what is printed; a regular expression
	}{
		{"nothing changed", "", []string{"reload", "--wait"}, 0, `unchanged: revision 1, hash \w{32}`},
		{"a change is applied", strings.Replace(still, "= 100", "= 200", 1), []string{"reload", "--wait"}, 0, `~ /user/audit  update mailbox.capacity 100 → 200  .*\napplied: revision 2,`},
		{"a mistake is rejected", strings.Replace(still, "= 100", "= many", 1), []string{"reload", "--wait"}, 1, `"many" is not a number`},
		{"the way back by hand", "", []string{"rollback"}, 0, `mailbox.capacity 200 → 100.*\napplied: revision 3,`},
		{"to a number", "", []string{"rollback", "2"}, 0, `mailbox.capacity 100 → 200.*\napplied: revision 4,`},
		{"to a revision that is not there", "", []string{"rollback", "77"}, 1, `revision 77 is not kept`},
		{"to no number", "", []string{"rollback", "x"}, 64, `"x" is not the number of a revision`},
		{"another file with the wrong hash", "", []string{"apply", "other.conf", "--check-hash", "0123456789abcdef"}, 1, `what is applied has the hash`},
		{"another file with the right hash", "", []string{"apply", "other.conf", "--check-hash", "HASH"}, 0, `mailbox.capacity 200 → 300.*\napplied: revision 5,`},
		{"a missing file", "", []string{"apply", "nowhere.conf"}, 1, `nowhere.conf`},
		{"the history", "", []string{"revisions"}, 0, `(?s)REVISION.*1 +applied.*-  +rejected.*"many" is not a number.*5 +applied.*actord apply`},
		{"the file again", still, []string{"reload", "--wait", "--json"}, 0, `(?s)"result": "applied",\s+"revision": 6`},
	}
	for _, s := range steps {
		if s.file != "" {
			d.write(s.file)
		}
		for i, a := range s.args {
			if a == "HASH" {
				s.args[i] = hash
			}
		}
		out, errs, code := command(t, dir, s.args...)
		if code != s.code || !regexp.MustCompile(s.want).MatchString(out+errs) {
			t.Errorf("%s: got %d\n%s%s\nwant %d, %s", s.name, code, out, errs, s.code, s.want)
		}
		if m := regexp.MustCompile(`applied: revision \d+, hash (\w+)`).FindStringSubmatch(out); m != nil {
			hash = m[1]
		}
	}
	mark := d.mark()
	d.write(strings.Replace(still, "= 100", "= 400", 1))
	if out, _, code := command(t, dir, "reload"); code != 0 || !strings.Contains(out, "the daemon reloads") {
		t.Errorf("without waiting: got %d %s", code, out)
	}
	d.waitMsg(mark, "reload applied")
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if _, errs, code := command(t, dir, "reload"); code != 1 || !strings.Contains(errs, "no daemon runs this configuration") {
		t.Errorf("without a daemon: got %d %s", code, errs)
	}
}

func TestLoopbackAFailedProbationIsAnExitCode(t *testing.T) {
	const conf = `
actord {
  log.format = json
  reload { watch = off, probation = 300ms, healthy = "HEALTHY" }
  actors.audit { behaviour = log, mailbox.capacity = 100 }
}`
	dir := configured(t, strings.Replace(conf, "HEALTHY", "true", 1))
	d := start(t, dir)
	d.waitMsg(0, "running")
	d.write(strings.Replace(conf, "HEALTHY", "false", 1))
	out, errs, code := command(t, dir, "reload", "--wait")
	if code != 3 || !strings.Contains(out, "rolled-back: revision 1,") || !strings.Contains(errs, "reload.healthy is false") {
		t.Errorf("got %d %s%s, want 3 and the way back", code, out, errs)
	}
	out, _, _ = command(t, dir, "revisions", "--json")
	var entries []struct{ Revision, Result, Probation any }
	if err := json.Unmarshal([]byte(out), &entries); err != nil || len(entries) != 2 || entries[1].Result != "rolled-back" || entries[1].Probation != "failed" {
		t.Errorf("history: got %s %v, want the failed probation", out, err)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}

func TestLoopbackABrokenFileResumesOnlyWhenAsked(t *testing.T) {
	dir := configured(t, still)
	d := start(t, dir)
	d.waitMsg(0, "running")
	d.stop()
	d.write("actord { actors { half")
	if _, errs, code := command(t, dir, "run"); code != 1 || !strings.Contains(errs, "application.conf:1") {
		t.Errorf("not asked: got %d %s, want the mistake", code, errs)
	}
	d = start(t, dir, "--resume")
	if r := d.waitMsg(0, "the configuration is wrong; the last good revision runs until it is right"); r["revision"] != 1.0 {
		t.Errorf("got %v, want revision 1", r)
	}
	d.waitMsg(0, "running")
	d.write(strings.Replace(still, "= 100", "= 200", 1))
	if out, errs, code := command(t, dir, "reload", "--wait"); code != 0 || !strings.Contains(out, "mailbox.capacity 100 → 200") {
		t.Errorf("a file that is right again: got %d %s%s", code, out, errs)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}
