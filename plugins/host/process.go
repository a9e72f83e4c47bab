package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	goplugin "github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/actord/actord/plugins/wire"
)

// process is one running plugin process with its connection.
type process struct {
	cfg      Config
	runner   *runner
	client   *plugin.Client
	conn     *grpc.ClientConn
	rpc      wire.ActorPluginClient
	manifest *wire.Manifest
	dir      string // holds the socket; only this user may enter
	kill     sync.Once
}

// startProcess starts the plugin and reads its manifest. It fails with an error
// that names the program, what is wrong and what would help; then nothing is
// left running.
func startProcess(ctx context.Context, cfg Config) (*process, error) {
	path, err := cfg.program()
	if err != nil {
		return nil, err
	}
	p := &process{cfg: cfg}
	if p.dir, err = socketDir(); err != nil {
		return nil, fmt.Errorf("plugin %s: socket directory: %w", cfg.Name, err)
	}
	cmd := exec.Command(path, cfg.Command[1:]...)
	cmd.Dir, cmd.Env = cfg.Dir, cfg.env()
	p.runner = newRunner(cmd, cfg.Log)
	p.client = plugin.NewClient(p.clientConfig(cmd))

	ctx, cancel := context.WithTimeoutCause(ctx, cfg.StartTimeout, errors.New("it did not get ready within "+cfg.StartTimeout.String()))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { p.runner.signal(syscall.SIGKILL) })
	err = p.connect(ctx)
	if stop() && err == nil {
		return p, nil
	}
	if err == nil || ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	p.end(0)
	return nil, p.startError(path, err)
}

func (p *process) clientConfig(cmd *exec.Cmd) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{wire.ProtocolVersion: {wire.ServiceSet: service{}}},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		StartTimeout:     p.cfg.StartTimeout + time.Second, // ours comes first and says more
		SkipHostEnv:      true,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: p.dir},
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(wire.MaxFrame), grpc.MaxCallSendMsgSize(wire.MaxFrame))},
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (goplugin.Runner, error) {
			cmd.Env = append(cmd.Env, spec.Env...)
			return p.runner, nil
		},
	}
}

// service gives the client of our service on go-plugin's connection.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	plugin.GRPCPlugin
}

func (service) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

func (p *process) connect(ctx context.Context) error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense(wire.ServiceSet)
	if err != nil {
		return err
	}
	p.conn = raw.(*grpc.ClientConn)
	p.rpc = wire.NewActorPluginClient(p.conn)
	p.manifest, err = p.rpc.Describe(ctx, &wire.DescribeRequest{})
	return err
}

// socketDir makes a directory that only this user may enter. Its path is short,
// because a socket's path has some hundred bytes at most.
func socketDir() (string, error) {
	base := os.TempDir()
	if len(base) > 40 {
		base = "/tmp"
	}
	sweep(base)
	return os.MkdirTemp(base, "actord-"+strconv.Itoa(os.Getpid())+"-")
}

// sweep removes what daemons left that were killed.
func sweep(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, "actord-*-*")) // the pattern is well formed
	for _, d := range dirs {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(d), "-")[1])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(d)
		}
	}
}

// startError says why the start failed and what would help.
func (p *process) startError(path string, err error) error {
	line, tail := p.runner.said()
	if tail != "" {
		tail = "; its last output:\n  " + tail
	}
	parts := strings.Split(line, "|")
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC), p.runner.ID() == "":
		return fmt.Errorf("plugin %s: %s cannot be run: %w; is it built for this machine?", p.cfg.Name, path, err)
	case line == "" && p.runner.exit() != "" && !errors.Is(err, context.Canceled) && !strings.HasPrefix(err.Error(), "it did not"):
		return fmt.Errorf("plugin %s: %s ended (%s) before it was ready; is it a plugin for actord?%s", p.cfg.Name, path, p.runner.exit(), tail)
	case line != "" && parts[1] != strconv.Itoa(wire.ProtocolVersion):
		return fmt.Errorf("plugin %s: %s speaks version %s of the plugin protocol and this daemon version %d; rebuild the plugin with the SDK of this daemon's release",
			p.cfg.Name, path, parts[1], wire.ProtocolVersion)
	default:
		return fmt.Errorf("plugin %s: start %s: %w%s", p.cfg.Name, path, err, tail)
	}
}

func (p *process) pid() int { return p.runner.process() }

// end ends the process within bounds: it may finish what it has for grace, then it
// is asked, then it is killed, with all of its group. It returns when nothing is
// left, and may be called again.
func (p *process) end(grace time.Duration) {
	p.kill.Do(func() {
		if grace > 0 {
			p.shutdown(grace)
		}
		p.runner.signal(syscall.SIGKILL)
		if p.runner.process() != 0 && !p.exitedWithin(10*time.Second) {
			p.log().Error("plugin process cannot be killed; the kernel holds it") // Kill would wait for it
			return
		}
		p.client.Kill() // it is dead: this only cleans up
		_ = os.RemoveAll(p.dir)
	})
}

// shutdown asks the plugin to end, more firmly each time.
func (p *process) shutdown(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace+time.Second)
	defer cancel()
	res, err := p.rpc.Shutdown(ctx, &wire.ShutdownRequest{GraceMs: uint32(grace / time.Millisecond)})
	if err == nil && res.Unfinished > 0 {
		p.cfg.Log.Warn("plugin instances did not stop in time", "instances", res.Unfinished)
	}
	_ = p.conn.Close() // the process ends when it has lost its host
	if err == nil && p.exitedWithin(time.Second) {
		return
	}
	p.runner.signal(syscall.SIGTERM)
	p.exitedWithin(500 * time.Millisecond)
}

func (p *process) exitedWithin(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.runner.exited:
		return true
	case <-limit.C:
		return false
	}
}

// watch asks the process for its health, and for hung handlers, until ctx ends.
// What it returns is why the process should be killed, nil when ctx ended.
func (p *process) watch(ctx context.Context, hung func(time.Time) error) error {
	tick := time.NewTicker(max(min(p.cfg.HealthEvery, p.cfg.HandlerTimeout/4), time.Millisecond))
	defer tick.Stop()
	asked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := hung(time.Now()); err != nil {
			p.dump() // before the session ends, because the process goes with it
			return &verdict{err}
		}
		if time.Since(asked) < p.cfg.HealthEvery {
			continue
		}
		if err := p.healthy(ctx); err != nil && ctx.Err() == nil {
			return &verdict{err}
		}
		asked = time.Now()
	}
}

func (p *process) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.HealthTimeout)
	defer cancel()
	if _, err := p.rpc.Health(ctx, &wire.HealthRequest{}); err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it did not answer a health check within %s", p.cfg.HealthTimeout)
	}
	return nil // a broken connection shows in the session
}

// verdict is why the host ends a process itself.
type verdict struct{ err error }

func (v *verdict) Error() string { return v.err.Error() }
func (v *verdict) Unwrap() error { return v.err }

// dump has a Go plugin print the stacks of its goroutines, which appear in the
// log, so that one sees where it hangs.
func (p *process) dump() {
	_ = syscall.Kill(p.pid(), syscall.SIGQUIT)
	p.exitedWithin(time.Second)
}

// cause says why the session ended: with the exit status, when that comes soon.
func (p *process) cause(err error) error {
	if _, ok := errors.AsType[*verdict](err); ok || !p.exitedWithin(50*time.Millisecond) {
		return err
	}
	_, tail := p.runner.said()
	if i := strings.Index(tail, "panic: "); i >= 0 {
		first, _, _ := strings.Cut(tail[i:], "\n")
		return fmt.Errorf("%s: %s", p.runner.exit(), first)
	}
	return errors.New(p.runner.exit())
}

// logger of a process's own records.
func (p *process) log() *slog.Logger { return p.cfg.Log.With("pid", p.pid()) }
