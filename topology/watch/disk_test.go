package watch

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const (
	calm   = 200 * time.Millisecond // a quiet time that a loaded machine keeps
	budget = 20 * time.Second       // after that a change counts as missed
)

// eager is the real disk as if it were local and never polled, so that only notifications can find a change.
type eager struct{ *notifier }

func (e eager) watch(files []string) watched {
	w := e.notifier.watch(files)
	w.slow = false
	return w
}

// notified starts a watcher that relies on notifications alone.
func notified(t *testing.T, files ...string) *Watcher {
	t.Helper()
	d := openDisk(slog.New(slog.DiscardHandler))
	if d.fs == nil {
		t.Skip("this machine has no file notifications left")
	}
	w := start(files, Options{Quiet: calm, Poll: time.Hour, Log: slog.New(slog.DiscardHandler)}, eager{d})
	t.Cleanup(func() { w.Close() })
	return w
}

// next waits for a change and checks that it holds what the files hold now.
func next(t *testing.T, w *Watcher, files ...string) Change {
	t.Helper()
	select {
	case c := <-w.Changes():
		if want := current(files...); c.Hash != want {
			t.Errorf("reported hash: got %x, want that of the files now, %x", c.Hash, want)
		}
		return c
	case <-time.After(budget):
		t.Fatalf("no change within %v", budget)
		return Change{}
	}
}

func current(files ...string) [32]byte {
	return (&notifier{}).read(unique(files)).sum()
}

// none checks that no change comes within twice the quiet time.
func none(t *testing.T, w *Watcher) {
	t.Helper()
	select {
	case c := <-w.Changes():
		t.Errorf("change of %q: got one, want none", c.Files)
	case <-time.After(2 * calm):
	}
}

// must fails the test that is running when a step of its set-up does.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

// Each pattern saves application.conf in a directory twice; every save must be reported once, with its content.
func TestEveryWayToSaveIsReported(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string) // before the watcher; nil writes the file
		save func(t *testing.T, dir, text string)
	}{
		{name: "in place", save: func(t *testing.T, dir, text string) {
			f, err := os.OpenFile(conf(dir), os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteString(text)
			must(t, err, f.Close())
		}},
		{name: "truncate then write", save: func(t *testing.T, dir, text string) {
			must(t, os.Truncate(conf(dir), 0))
			write(t, conf(dir), text)
		}},
		{name: "write beside then rename over", save: renameOver},
		{name: "rename away, write new, remove the old", save: func(t *testing.T, dir, text string) {
			must(t, os.Rename(conf(dir), conf(dir)+"~"))
			write(t, conf(dir), text)
			must(t, os.Remove(conf(dir)+"~"))
		}},
		{name: "delete then create", save: func(t *testing.T, dir, text string) {
			must(t, os.Remove(conf(dir)))
			write(t, conf(dir), text)
		}},
		{name: "delete, create and rename over", save: func(t *testing.T, dir, text string) {
			must(t, os.Remove(conf(dir)))
			write(t, conf(dir), "between")
			renameOver(t, dir, text)
		}},
		{name: "directory renamed and created again", save: func(t *testing.T, dir, text string) {
			must(t, os.Rename(dir, dir+"."+text), os.Mkdir(dir, 0o700))
			write(t, conf(dir), text)
		}},
		{name: "directory removed and created again", save: func(t *testing.T, dir, text string) {
			must(t, os.RemoveAll(dir), os.Mkdir(dir, 0o700))
			write(t, conf(dir), text)
		}},
		{name: "parent directory renamed and created again", save: func(t *testing.T, dir, text string) {
			parent := filepath.Dir(dir)
			must(t, os.Rename(parent, parent+"."+text), os.MkdirAll(dir, 0o700))
			write(t, conf(dir), text)
		}},
		{name: "symbolic link swapped to another directory, as a mounted ConfigMap is", make: publish, save: publishNext},
		{name: "target of a symbolic link written in place", make: link, save: func(t *testing.T, dir, text string) {
			write(t, filepath.Join(dir, "real", "real.conf"), text)
		}},
		{name: "target of a symbolic link replaced", make: link, save: func(t *testing.T, dir, text string) {
			real := filepath.Join(dir, "real", "real.conf")
			write(t, real+".tmp", text)
			must(t, os.Rename(real+".tmp", real))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "parent", "etc")
			must(t, os.MkdirAll(dir, 0o700))
			if tt.make != nil {
				tt.make(t, dir)
			} else {
				write(t, conf(dir), "old")
			}
			w := notified(t, conf(dir))
			for generation := range 2 {
				tt.save(t, dir, fmt.Sprintf("generation %d", generation))
				if c := next(t, w, conf(dir)); !slices.Equal(c.Files, []string{conf(dir)}) {
					t.Errorf("files: got %q, want %q", c.Files, conf(dir))
				}
			}
		})
	}
}

func conf(dir string) string { return filepath.Join(dir, "application.conf") }

func renameOver(t *testing.T, dir, text string) {
	t.Helper()
	write(t, conf(dir)+".tmp", text)
	must(t, os.Rename(conf(dir)+".tmp", conf(dir)))
}

// publish lays out dir like a mounted ConfigMap: application.conf → ..data/application.conf, ..data → ..old.
func publish(t *testing.T, dir string) {
	t.Helper()
	old := filepath.Join(dir, "..old")
	must(t, os.Mkdir(old, 0o700), os.Symlink("..old", filepath.Join(dir, "..data")),
		os.Symlink(filepath.Join("..data", "application.conf"), conf(dir)))
	write(t, conf(old), "old")
}

// publishNext swaps ..data to a new directory and removes the old one.
func publishNext(t *testing.T, dir, text string) {
	t.Helper()
	data, fresh := filepath.Join(dir, "..data"), filepath.Join(dir, ".."+text)
	old, err := os.Readlink(data)
	must(t, err, os.Mkdir(fresh, 0o700))
	write(t, conf(fresh), text)
	must(t, os.Symlink(".."+text, data+"_tmp"), os.Rename(data+"_tmp", data), os.RemoveAll(filepath.Join(dir, old)))
}

// link makes application.conf a symbolic link to real/real.conf.
func link(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink(filepath.Join(dir, "real", "real.conf"), conf(dir)))
	write(t, filepath.Join(dir, "real", "real.conf"), "old")
}

func TestTheSameContentIsNoChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, conf(dir), "same")
	w := notified(t, conf(dir))
	for range 20 {
		renameOver(t, dir, "same")
	}
	must(t, os.Chmod(conf(dir), 0o640))
	none(t, w)
}

func TestTwoIncludedFilesTogetherAreOneChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.conf"), filepath.Join(dir, "two.conf")
	write(t, one, "old")
	write(t, two, "old")
	w := notified(t, one, two)
	write(t, one, "new")
	write(t, two, "new")
	if c := next(t, w, one, two); !slices.Equal(c.Files, []string{one, two}) {
		t.Errorf("files: got %q, want both", c.Files)
	}
	none(t, w)
}

func TestAThousandRapidWritesEndInTheLastContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, conf(dir), "old")
	w := notified(t, conf(dir))
	for i := range 1000 {
		write(t, conf(dir), fmt.Sprint("content ", i))
	}
	want, deadline := current(conf(dir)), time.After(budget)
	for {
		select {
		case c := <-w.Changes():
			if c.Hash == want {
				return
			}
		case <-deadline:
			t.Fatalf("the last content was not reported within %v", budget)
		}
	}
}

func TestAMissingFileIsReportedWhenItsDirectoryAppears(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, conf(dir), "old")
	optional := filepath.Join(dir, "conf.d", "deep", "more.conf")
	w := notified(t, conf(dir))
	w.Set([]string{conf(dir), optional})
	must(t, os.MkdirAll(filepath.Dir(optional), 0o700))
	write(t, optional, "new")
	next(t, w, conf(dir), optional)
}

func TestDirectoriesNobodyNeedsAreLetGo(t *testing.T) {
	t.Parallel()
	keep, leave := t.TempDir(), t.TempDir()
	d := openDisk(slog.New(slog.DiscardHandler))
	if d.fs == nil {
		t.Skip("this machine has no file notifications left")
	}
	defer d.close()
	d.watch([]string{conf(keep), conf(leave)})
	d.watch([]string{conf(keep)})
	got := d.fs.WatchList()
	if !slices.Contains(got, keep) || slices.Contains(got, leave) {
		t.Errorf("watched directories: got %q, want %s and not %s", got, keep, leave)
	}
}

func TestWithoutNotificationsTheFilesArePolled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, conf(dir), "old")
	log := slog.New(slog.DiscardHandler)
	deaf := &notifier{log: log, warned: map[string]bool{}}
	w := start([]string{conf(dir)}, Options{Quiet: calm, Poll: calm, Log: log}, deaf)
	defer w.Close()
	renameOver(t, dir, "new")
	next(t, w, conf(dir))
}

func TestAPipeIsNotOpened(t *testing.T) {
	t.Parallel()
	if got := readFile(os.DevNull); got.presence != unreadable {
		t.Errorf("presence of %s: got %d, want %d (unreadable)", os.DevNull, got.presence, unreadable)
	}
}

func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	var files []string
	for i := range 10 {
		files = append(files, filepath.Join(dir, fmt.Sprintf("%d.conf", i)))
		if err := os.WriteFile(files[i], make([]byte, 4096), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	d := openDisk(slog.New(slog.DiscardHandler))
	defer d.close()
	for b.Loop() {
		d.watch(files)
		d.read(files)
	}
}
