package watch

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options are the settings of a Watcher. The zero value is ready to use.
type Options struct {
	Quiet time.Duration // how long the files must be left alone before they are read; 100ms when not positive
	Poll  time.Duration // how often they are read without a notification; 5s when not positive
	Log   *slog.Logger  // receives what keeps the watcher from noticing at once; nil discards it
}

// Change says that the content of the set differs from what was reported before it.
type Change struct {
	Hash  [32]byte // the SHA-256 of the whole set: names, presence and content
	Files []string // the files whose content, or presence, changed, sorted, as they were named to New or Set
}

// Watcher watches a set of files. Its methods may be called from any goroutine.
type Watcher struct {
	changes chan Change
	calls   chan func() // run by the loop, so that it alone touches what follows
	cancel  context.CancelFunc
	stopped chan struct{} // closed when the loop has ended
	close   func() error  // closes disk, once

	log    *slog.Logger
	disk   disk
	names  map[string]bool // the directory entries that decide what the files are
	files  []string        // sorted, each once
	settle settler
	poll   time.Duration
	slow   bool              // notifications may be missing
	unread map[string]string // the files that could not be read, by reason, so that each is logged once
}

// New starts watching files; what they hold now is the content that a change is measured against, so create the watcher
// before the first load. A file may be missing. It fails when no file is named; a machine without notifications left is
// no error: the files are polled and the log says so.
func New(files []string, o Options) (*Watcher, error) {
	if len(files) == 0 {
		return nil, errors.New("watch: no file to watch; name at least one")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return start(files, o, openDisk(o.Log)), nil
}

// start is New with the file system to use.
func start(files []string, o Options, d disk) *Watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{
		changes: make(chan Change, 1),
		calls:   make(chan func()),
		cancel:  cancel,
		stopped: make(chan struct{}),
		close:   sync.OnceValue(d.close),
		log:     o.Log,
		disk:    d,
		files:   unique(files),
	}
	w.tune(o.Quiet, o.Poll)
	w.settle.begin(w.look(), time.Now())
	go func() {
		defer close(w.stopped)
		w.run(ctx)
	}()
	return w
}

// Changes returns the channel that carries changes. It holds one: a change that nobody has taken yet is replaced by the
// next one, which then names the files of both. It is never closed.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Set replaces the files to watch, usually by everything the last load tried to read, optional files that are missing
// included. Files that stay keep the content they are measured against. A file that joins is measured against what it
// holds now; when it was written after the last report it counts as changed, since the load may have read what it held
// before. Set returns when the new files are watched. An empty set is ignored, and so is a call after Close.
func (w *Watcher) Set(files []string) {
	if len(files) == 0 {
		return
	}
	w.call(func() { w.replace(unique(files)) })
}

// Update changes the quiet time and the poll interval of a running watcher; a value that is not positive means its
// default.
func (w *Watcher) Update(quiet, poll time.Duration) {
	w.call(func() {
		w.tune(quiet, poll)
		w.settle.tuned(time.Now())
	})
}

// Close stops watching and waits until the watcher's goroutine has ended. It may be called more than once.
func (w *Watcher) Close() error {
	w.cancel()
	<-w.stopped
	return w.close()
}

// call runs f between two turns of the loop and waits for it.
func (w *Watcher) call(f func()) {
	done := make(chan struct{})
	select {
	case w.calls <- func() { defer close(done); f() }:
		<-done
	case <-w.stopped:
	}
}

// run takes notifications, time and calls one after the other until ctx ends.
func (w *Watcher) run(ctx context.Context) {
	timer := time.NewTimer(time.Until(w.settle.due))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-w.calls:
			f()
		case e := <-w.disk.events():
			if w.names[filepath.Clean(e.Name)] {
				w.settle.event(time.Now())
			}
		case err := <-w.disk.errors():
			w.trouble(err)
		case <-timer.C:
			w.turn()
		}
		timer.Reset(time.Until(w.settle.due))
	}
}

// turn looks at the files and reports what has settled.
func (w *Watcher) turn() {
	seen := w.look()
	before := w.settle.base
	if w.settle.observe(time.Now(), seen) {
		w.report(Change{Hash: seen.sum(), Files: seen.differing(before)})
	}
}

// look arms the notifications first and reads then, so that nothing written after the reading goes unnoticed.
func (w *Watcher) look() snapshot {
	watched := w.disk.watch(w.files)
	w.names, w.slow = watched.names, watched.slow
	w.settle.poll = w.pace()
	seen := w.disk.read(w.files)
	w.complain(seen)
	return seen
}

// report hands c to the reader. Only the loop sends, so after the old change is taken out there is room for the new one.
func (w *Watcher) report(c Change) {
	select {
	case old := <-w.changes:
		c.Files = unique(slices.Concat(old.Files, c.Files))
	default:
	}
	w.changes <- c
}

// replace makes files the set and looks at it soon, since a file that stays may have changed meanwhile.
func (w *Watcher) replace(files []string) {
	if slices.Equal(files, w.files) {
		return
	}
	w.files = files
	now := time.Now() // before the look, so that nothing written during it is taken for old
	w.settle.rebase(w.look(), now)
}

// tune sets the two intervals.
func (w *Watcher) tune(quiet, poll time.Duration) {
	w.settle.quiet = orDefault(quiet, defaultQuiet)
	w.poll = orDefault(poll, defaultPoll)
	w.settle.poll = w.pace()
}

// pace is the poll interval that the files need.
func (w *Watcher) pace() time.Duration {
	if w.slow {
		return min(w.poll, slowPoll)
	}
	return w.poll
}

// trouble answers an error of the notifications: whatever it was, looking at the files makes up for it.
func (w *Watcher) trouble(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.log.Warn("file notifications failed", "err", err)
	}
	w.settle.event(time.Now())
}

// complain logs each file that cannot be read, once for each reason.
func (w *Watcher) complain(s snapshot) {
	unread := map[string]string{}
	for _, f := range s {
		if f.trouble != "" && f.trouble != w.unread[f.name] {
			w.log.Warn("watched file cannot be read", "file", f.name, "err", f.trouble)
		}
		unread[f.name] = f.trouble
	}
	w.unread = unread
}

// unique returns names sorted and each once.
func unique(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
