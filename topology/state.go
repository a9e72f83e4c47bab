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
	Hash     string          `json:"hash"`
	Config   json.RawMessage `json:"config"` // resolved
}

const appliedFile = "applied.json"

func (s *State) applied() string { return filepath.Join(s.dir, appliedFile) }

func revisionFile(number uint64) string { return fmt.Sprintf("revision-%d.json", number) }

// save keeps the applied configuration under its number and as the applied one.
func (s *State) save(a AppliedConfig) error {
	if s == nil {
		return nil
	}
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("save the applied configuration: %w", err)
	}
	name := revisionFile(a.Revision)
	if err := s.write(name, text); err != nil {
		return err
	}
	tmp := s.applied() + ".new"
	_ = os.Remove(tmp)
	if err := os.Link(filepath.Join(s.dir, name), tmp); err != nil {
		return s.write(appliedFile, text) // a file system without links
	}
	return os.Rename(tmp, s.applied())
}

// write replaces a file, whole or not at all.
func (s *State) write(name string, text []byte) error {
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	return nil
}

// read returns a revision that is kept.
func (s *State) read(number uint64) (AppliedConfig, error) {
	return readConfig(filepath.Join(s.dir, revisionFile(number)))
}

func readConfig(file string) (a AppliedConfig, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return a, fmt.Errorf("state directory: %w", err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// drop forgets a revision.
func (s *State) drop(number uint64) error {
	if s == nil {
		return nil
	}
	err := os.Remove(filepath.Join(s.dir, revisionFile(number)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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
	a, err := readConfig(filepath.Join(dir, appliedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return AppliedConfig{}, false, nil
	}
	return a, err == nil, err
}
