//go:build unix

package file

import (
	"errors"
	"os"
	"syscall"
)

// lock makes this process's f the only writer of its file. The lock ends with
// the file's closing, and with the process.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another actor or another process writes it; give each its own path")
	}
	return err
}
