package host

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// sysProcAttr gives the process a group of its own, and has the kernel kill it
// when the daemon is gone, however that happened.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// await waits for the end of the process and ends what it left in its group. The
// group is killed before the process is waited for, while its number cannot mean
// another one.
func (r *runner) await() {
	pid := r.process()
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = r.cmd.Wait() // ProcessState says what there is to know
}
