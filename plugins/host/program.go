package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program finds the plugin's program, makes sure that it can be run, and that it
// is the one that was pinned.
func (c Config) program() (string, error) {
	path := c.Command[0]
	if !strings.ContainsRune(path, filepath.Separator) {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("plugin %s: no program %q in PATH; install it or give its path in command", c.Name, path)
		}
		path = found
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("plugin %s: %s: %w", c.Name, path, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("plugin %s: there is no file %s; build it or correct command", c.Name, path)
	case err != nil:
		return "", fmt.Errorf("plugin %s: %w", c.Name, err)
	case info.IsDir():
		return "", fmt.Errorf("plugin %s: %s is a directory; command must name a program", c.Name, path)
	case info.Mode()&0o111 == 0:
		return "", fmt.Errorf("plugin %s: %s is not executable; run chmod +x %s", c.Name, path, path)
	}
	return path, c.checkSum(path)
}

func (c Config) checkSum(path string) error {
	if c.SHA256 == "" {
		return nil
	}
	want, err := hex.DecodeString(c.SHA256)
	if err != nil || len(want) != sha256.Size {
		return fmt.Errorf("plugin %s: sha256 %q is not a checksum (want 64 hexadecimal digits, as sha256sum prints)", c.Name, c.SHA256)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("plugin %s: sha256: %w", c.Name, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("plugin %s: sha256: %w", c.Name, err)
	}
	if got := h.Sum(nil); string(got) != string(want) {
		return fmt.Errorf("plugin %s: %s has sha256 %x, but %s is configured; if the new file is the right one, change sha256", c.Name, path, got, c.SHA256)
	}
	return nil
}

// env is the environment of the process, without what the handshake adds.
func (c Config) env() []string {
	var out []string
	for _, k := range c.EnvAllow {
		if v, ok := os.LookupEnv(k); ok {
			out = append(out, k+"="+v)
		}
	}
	for k, v := range c.Env {
		out = append(out, k+"="+v)
	}
	return out
}
