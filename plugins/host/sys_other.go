//go:build unix && !linux

package host

import "syscall"

// sysProcAttr gives the process a group of its own. A process whose daemon was
// killed ends when it notices that the session is gone.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// await waits for the end of the process and ends what it left in its group.
func (r *runner) await() {
	_ = r.cmd.Wait() // ProcessState says what there is to know
	_ = syscall.Kill(-r.process(), syscall.SIGKILL)
}
