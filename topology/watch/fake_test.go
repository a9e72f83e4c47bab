package watch

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// fakeDisk is a file system in memory. A file that is not in it is missing.
type fakeDisk struct {
	notify   chan fsnotify.Event
	failures chan error
	slow     bool

	mu    sync.Mutex // guards what follows
	texts map[string]string
	times map[string]time.Time
	looks int
}

func newFakeDisk(texts map[string]string) *fakeDisk {
	d := &fakeDisk{notify: make(chan fsnotify.Event), failures: make(chan error), times: map[string]time.Time{}}
	d.texts = map[string]string{}
	for name, text := range texts {
		d.put(name, text)
	}
	return d
}

// put writes without a notification; the text "-" removes the file.
func (d *fakeDisk) put(name, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if text == "-" {
		delete(d.texts, name)
		return
	}
	d.texts[name], d.times[name] = text, time.Now()
}

func (d *fakeDisk) looked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.looks
}

func (d *fakeDisk) watch(files []string) watched {
	names := map[string]bool{}
	for _, f := range files {
		names[f] = true
	}
	return watched{names: names, slow: d.slow}
}

func (d *fakeDisk) read(files []string) snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks++
	var s snapshot
	for _, name := range files {
		text, ok := d.texts[name]
		f := file{name: name, presence: missing}
		switch {
		case ok && text == "":
			f.presence = empty
		case ok:
			f = file{name: name, presence: filled, digest: sha256.Sum256([]byte(text)), modified: d.times[name]}
		}
		s = append(s, f)
	}
	return s
}

func (d *fakeDisk) events() <-chan fsnotify.Event { return d.notify }
func (d *fakeDisk) errors() <-chan error          { return d.failures }
func (d *fakeDisk) close() error                  { return nil }
