package topology

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// State is a daemon's folder for what outlives a run or is read by other
// commands: which configuration is applied, and by which process. Its files are
// readable by their owner only, since a resolved configuration holds secrets.
type State struct {
	dir  string
	lock *os.File
}

// StateDir returns the folder of the daemon that runs file: dir when that is
// given, else one below the user's state directory, named after the file.
func StateDir(dir, file string, env func(string) (string, bool)) (string, error) {
	if dir != "" {
		return dir, nil
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("state directory of %s: %w", file, err)
	}
	sum := sha256.Sum256([]byte(abs))
	name := strings.TrimSuffix(filepath.Base(abs), filepath.Ext(abs)) + "-" + hex.EncodeToString(sum[:6])
	if base, ok := env("XDG_STATE_HOME"); ok && base != "" {
		return filepath.Join(base, "actord", name), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("state directory of %s: %w; set actord.system.state-dir", file, err)
	}
	return filepath.Join(home, ".local", "state", "actord", name), nil
}

// ErrRunning says that another daemon holds the state directory.
var ErrRunning = errors.New("another actord runs with this state directory")

// OpenState takes the folder for this process; Close gives it back. The error is
// ErrRunning with the other's process id when it is taken.
func OpenState(dir string) (*State, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		pid := make([]byte, 16)
		n, _ := f.ReadAt(pid, 0)
		f.Close()
		return nil, fmt.Errorf("%s (process %s): %w", dir, strings.TrimSpace(string(pid[:n])), ErrRunning)
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return &State{dir: dir, lock: f}, nil
}

// Close gives the folder back.
func (s *State) Close() error {
	if s == nil {
		return nil
	}
	_ = os.Remove(s.applied())
	return s.lock.Close()
}

// AppliedConfig is what a daemon has applied.
type AppliedConfig struct {
	Revision uint64          `json:"revision"`
	Config   json.RawMessage `json:"config"` // resolved
}

func (s *State) applied() string { return filepath.Join(s.dir, "applied.json") }

// save notes the applied configuration, whole or not at all.
func (s *State) save(a AppliedConfig) error {
	if s == nil {
		return nil
	}
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("save the applied configuration: %w", err)
	}
	tmp := s.applied() + ".new"
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return fmt.Errorf("save the applied configuration: %w", err)
	}
	return os.Rename(tmp, s.applied())
}

// ReadApplied returns what the daemon that holds dir has applied; false when no
// daemon does.
func ReadApplied(dir string) (AppliedConfig, bool, error) {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return AppliedConfig{}, false, nil
	}
	if err != nil {
		return AppliedConfig{}, false, fmt.Errorf("state directory: %w", err)
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return AppliedConfig{}, false, nil // nobody holds it
	}
	text, err := os.ReadFile(filepath.Join(dir, "applied.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return AppliedConfig{}, false, nil
	}
	if err != nil {
		return AppliedConfig{}, false, fmt.Errorf("state directory: %w", err)
	}
	var a AppliedConfig
	if err := json.Unmarshal(text, &a); err != nil {
		return AppliedConfig{}, false, fmt.Errorf("%s: %w", filepath.Join(dir, "applied.json"), err)
	}
	return a, true, nil
}
