package watch

import (
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// disk is what the loop needs of a file system. The real one is notifier.
type disk interface {
	watch(files []string) watched // arms the notifications for files, and for nothing else
	read(files []string) snapshot
	events() <-chan fsnotify.Event
	errors() <-chan error
	close() error
}

// watched says what is being watched.
type watched struct {
	names map[string]bool // the directory entries that matter
	slow  bool            // notifications may be missing, so poll more often
}

// notifier is the file system of this machine.
type notifier struct {
	log    *slog.Logger
	fs     *fsnotify.Watcher      // nil when the machine has no notifications left
	dirs   map[string]fs.FileInfo // the watched directories, by the name they were found under
	warned map[string]bool        // what was logged, so that it is logged once
}

func openDisk(log *slog.Logger) *notifier {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("no file notifications, the configuration is polled", "err", err)
	}
	return &notifier{log: log, fs: w, dirs: map[string]fs.FileInfo{}, warned: map[string]bool{}}
}

func (n *notifier) events() <-chan fsnotify.Event {
	if n.fs == nil {
		return nil
	}
	return n.fs.Events
}

func (n *notifier) errors() <-chan error {
	if n.fs == nil {
		return nil
	}
	return n.fs.Errors
}

func (n *notifier) close() error {
	if n.fs == nil {
		return nil
	}
	return n.fs.Close()
}

func (n *notifier) read(files []string) snapshot {
	s := make(snapshot, 0, len(files))
	for _, name := range files {
		s = append(s, readFile(name))
	}
	return s
}

func (n *notifier) watch(files []string) watched {
	w := watched{names: map[string]bool{}, slow: n.fs == nil}
	mounts, dirs := readMounts(), map[string]bool{}
	for _, name := range files {
		c := resolve(name)
		for _, entry := range c.entries {
			w.names[entry] = true
			dirs[filepath.Dir(entry)] = true
		}
		w.slow = n.judge(name, mounts.of(c.end)) || w.slow
	}
	w.slow = !n.arm(dirs) || w.slow
	return w
}

// judge says whether changes of a file on m may come without notification, and warns when they may never be seen.
func (n *notifier) judge(name string, m mount) bool {
	if m.file {
		n.warn("watched file is a mount of its own: a replaced file is never seen; mount its directory", "file", name)
	}
	return m.file || m.remote
}

// arm watches exactly dirs. It reports false when one that exists cannot be watched.
func (n *notifier) arm(dirs map[string]bool) bool {
	if n.fs == nil {
		return false
	}
	complete, found := true, map[string]fs.FileInfo{}
	for dir := range dirs {
		if info, err := os.Stat(dir); err == nil {
			found[dir] = info
		}
	}
	// Let go first: a directory that was renamed would keep its old name for as long as it is watched.
	for dir, old := range n.dirs {
		if now, ok := found[dir]; !ok || !os.SameFile(old, now) {
			n.fs.Remove(dir) // fails when the notifications have let go of it already
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if err := n.fs.Add(dir); err != nil {
			n.warn("directory is not watched, its files are polled", "dir", dir, "err", err)
			complete = false
		}
	}
	n.dirs = found
	return complete
}

// warn logs a message once for each thing it is about.
func (n *notifier) warn(msg string, key, about string, attrs ...any) {
	if id := msg + about; !n.warned[id] {
		n.warned[id] = true
		n.log.Warn(msg, append([]any{key, about}, attrs...)...)
	}
}
