package actord_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestLoopbackSighupReloadsWithoutWatching(t *testing.T) {
	still := strings.Replace(small, "log.format = json", "log.format = json, reload.watch = off", 1)
	d := start(t, configured(t, still))
	d.waitMsg(0, "running")
	mark := d.mark()
	d.write(strings.Replace(still, "= 100", "= 200", 1))
	_ = d.cmd.Process.Signal(syscall.SIGHUP)
	if r := d.waitMsg(mark, "reload applied"); r["by"] != "SIGHUP" || r["revision"] != 2.0 {
		t.Errorf("got %v, want revision 2 by SIGHUP", r)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}

func TestLoopbackRunTakesTheFileThatItIsGiven(t *testing.T) {
	dir := configured(t, small)
	other := strings.Replace(small, "log.format", "system.name = other, log.format", 1)
	if err := os.WriteFile(filepath.Join(dir, "other.conf"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	d := start(t, dir, "other.conf")
	if r := d.waitMsg(0, "running"); r["system"] != "other" || !strings.HasSuffix(r.text("config"), "other.conf") {
		t.Errorf("got %v, want the system of other.conf", r)
	}
	if took := d.waitMsg(0, "running").text("took"); !strings.HasSuffix(took, "s") {
		t.Errorf("took: got %q, want a duration with a unit", took)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}

// stuck is a system with a handler that takes longer than anybody waits.
const stuck = `
actord {
  log.format = json
  bridges.web { type = http-server, listen = "127.0.0.1:0", in.orders { path = /orders, to = /user/slow } }
  actors.slow { behaviour = chaos, args.delay = 1h }
}
`

func TestLoopbackASecondSignalForces(t *testing.T) {
	d := start(t, configured(t, stuck))
	if status, text, err := post(d.url()+"/orders", "{}"); err != nil || status != http.StatusAccepted {
		t.Fatalf("got %d %s %v, want 202", status, text, err)
	}
	mark := d.mark()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	d.waitMsg(mark, "shutting down")
	eventually(t, "a second signal is taken for one", func() bool { // not for an echo of the first
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.done:
			return true
		default:
			return false
		}
	})
	if code := d.ended(); code != 71 {
		t.Errorf("exit code: got %d, want 71", code)
	}
}

func TestLoopbackAnEscalationPastTheTopEndsTheDaemon(t *testing.T) {
	d := start(t, configured(t, `
actord {
  log.format = json
  bridges.web { type = http-server, listen = "127.0.0.1:0", in.orders { path = /orders, to = /user/worker } }
  actors.worker { behaviour = chaos, args.fail = "true", supervision.on-failure = escalate }
}`))
	if _, _, err := post(d.url()+"/orders", "{}"); err != nil {
		t.Fatal(err)
	}
	if code := d.ended(); code != 70 {
		t.Errorf("exit code: got %d, want 70", code)
	}
}

func TestLoopbackNoPluginOutlivesTheDaemon(t *testing.T) {
	conf := fmt.Sprintf(`
actord {
  log.format = json
  plugins.fraud { command = [%q] }
  actors { fraud { behaviour = "fraud/score", args.to = /user/sink }, sink { behaviour = log } }
}`, program(t, "fraud"))
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			d := start(t, configured(t, conf))
			d.waitMsg(0, "running")
			plugin := pluginPID(d.waitMsg(0, "plugin started"))
			if !alive(plugin) {
				t.Fatalf("plugin process %d: got gone, want alive", plugin)
			}
			_ = d.cmd.Process.Signal(how)
			d.ended()
			eventually(t, "the plugin has ended", func() bool { return !alive(plugin) })
		})
	}
}

func TestLoopbackAKilledPluginIsSupervised(t *testing.T) {
	dir := configured(t, fmt.Sprintf(`
actord {
  log.format = json
  bridges.web { type = http-server, listen = "127.0.0.1:0", in.orders { path = /orders, to = /user/fraud } }
  plugins.fraud { command = [%q], restart.min = 10ms }
  actors { fraud { behaviour = "fraud/score", args.to = /user/sink }, sink { behaviour = file, args { path = sink.jsonl, flush = every } } }
}`, program(t, "fraud")))
	d := start(t, dir)
	url := d.url()
	plugin := pluginPID(d.waitMsg(0, "plugin started"))
	mark := d.mark()
	if err := syscall.Kill(plugin, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.waitMsg(mark, "plugin process died")
	d.waitMsg(mark, "plugin started")
	if status, text, err := post(url+"/orders", `{"id":"1","customer":"ann","amount":10}`); err != nil || status != http.StatusAccepted {
		t.Fatalf("got %d %s %v, want 202", status, text, err)
	}
	eventually(t, "the order is scored", func() bool { return len(lines(t, dir+"/sink.jsonl")) == 1 })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
}
