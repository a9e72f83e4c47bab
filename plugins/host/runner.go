package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runner is one operating system process, as go-plugin wants to see it. It leads
// a process group of its own, dies with the daemon, and its output is read here:
// go-plugin sees the handshake line and nothing else.
type runner struct {
	cmd    *exec.Cmd
	log    *slog.Logger
	ready  chan string   // the handshake line; closed when output ends
	exited chan struct{} // closed when the process has been waited for

	mu   sync.Mutex // guards what follows
	pid  int        // 0 until it has started
	line string     // the handshake line that was seen
	tail []string   // the last lines of output, for errors
}

func newRunner(cmd *exec.Cmd, log *slog.Logger) *runner {
	cmd.Stdin = nil
	cmd.SysProcAttr = sysProcAttr()
	return &runner{cmd: cmd, log: log, ready: make(chan string, 1), exited: make(chan struct{})}
}

// forks runs what starts processes on one thread that never ends: the kernel's
// parent-death signal fires when the starting thread ends, not the process.
var forks = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Start starts the process and the readers of its output.
func (r *runner) Start(context.Context) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	r.cmd.Stdout, r.cmd.Stderr = outW, errW
	started := make(chan error)
	forks() <- func() { started <- r.cmd.Start() }
	err = <-started
	_ = outW.Close() // the process has its own
	_ = errW.Close()
	if err != nil {
		return errors.Join(err, outR.Close(), errR.Close())
	}
	var readers sync.WaitGroup
	r.mu.Lock()
	r.pid = r.cmd.Process.Pid
	r.mu.Unlock()
	readers.Go(func() { r.pump(outR, "stdout") })
	readers.Go(func() { r.pump(errR, "stderr") })
	go r.reap(&readers, outR, errR) // ends with the process; exited tells
	return nil
}

// reap waits for the process, ends what it left behind in its group, and stops
// reading even when somebody outside the group still holds the pipes.
func (r *runner) reap(readers *sync.WaitGroup, pipes ...*os.File) {
	r.await()
	read := make(chan struct{})
	go func() { readers.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(time.Second):
	}
	for _, p := range pipes {
		_ = p.Close()
	}
	<-read
	close(r.exited)
}

// signal sends sig to the process group, unless the process is gone.
func (r *runner) signal(sig syscall.Signal) {
	select {
	case <-r.exited:
		return
	default:
	}
	if pid := r.process(); pid != 0 {
		_ = syscall.Kill(-pid, sig)
	}
}

// process returns the process's number, 0 before it has started.
func (r *runner) process() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pid
}

// Wait waits for the end of the process.
func (r *runner) Wait(ctx context.Context) error {
	select {
	case <-r.exited:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kill ends the process group at once and waits for it.
func (r *runner) Kill(ctx context.Context) error {
	if r.process() == 0 {
		return nil
	}
	r.signal(syscall.SIGKILL)
	return r.Wait(ctx)
}

// ID returns the process's number, "" when it did not start.
func (r *runner) ID() string {
	if pid := r.process(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// Name returns the program.
func (r *runner) Name() string { return r.cmd.Path }

// Diagnose has nothing to add: startError says it better.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin have nothing to translate.
func (r *runner) PluginToHost(network, addr string) (string, string, error) {
	if network != "unix" {
		return "", "", fmt.Errorf("it listens on %s %s; only unix sockets are allowed", network, addr)
	}
	return network, addr, nil
}

// HostToPlugin returns the address unchanged.
func (r *runner) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

// Stdout gives the handshake line and ends.
func (r *runner) Stdout() io.ReadCloser { return io.NopCloser(&handshake{ready: r.ready}) }

// Stderr is empty: the pump reads the real one.
func (r *runner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// handshake is a reader of the one line that go-plugin waits for.
type handshake struct {
	ready <-chan string
	rest  *strings.Reader
}

func (h *handshake) Read(p []byte) (int, error) {
	if h.rest == nil {
		line, ok := <-h.ready
		if !ok {
			return 0, io.EOF
		}
		h.rest = strings.NewReader(line + "\n")
	}
	return h.rest.Read(p)
}

// exit describes how the process ended, "" while it has not.
func (r *runner) exit() string {
	select {
	case <-r.exited:
		return r.cmd.ProcessState.String()
	default:
		return ""
	}
}
