package watch

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// bubble runs f with a watcher of a.conf and b.conf on a disk in memory, in fake time.
func bubble(t *testing.T, f func(t *testing.T, d *fakeDisk, w *Watcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk(map[string]string{"a.conf": "1", "b.conf": "1", "c.conf": "1"})
		w := start([]string{"b.conf", "a.conf", "a.conf"}, Options{Log: slog.New(slog.DiscardHandler)}, d)
		defer w.Close()
		f(t, d, w)
	})
}

// taken returns the files of the change that waits, or "none".
func taken(w *Watcher) string {
	synctest.Wait()
	select {
	case c := <-w.Changes():
		return strings.Join(c.Files, " ")
	default:
		return "none"
	}
}

func (d *fakeDisk) save(name, text string) {
	d.put(name, text)
	d.notify <- fsnotify.Event{Name: name, Op: fsnotify.Write}
}

func TestNewNeedsAFile(t *testing.T) {
	if _, err := New(nil, Options{}); err == nil || !strings.Contains(err.Error(), "no file to watch") {
		t.Errorf("New without files: got error %v, want one that says there is no file to watch", err)
	}
}

func TestTheNewestChangeReplacesOneNobodyTook(t *testing.T) {
	bubble(t, func(t *testing.T, d *fakeDisk, w *Watcher) {
		d.save("b.conf", "2")
		time.Sleep(time.Second)
		d.save("a.conf", "2")
		time.Sleep(time.Second)
		want := d.read([]string{"a.conf", "b.conf"}).sum()
		c := <-w.Changes()
		if got := strings.Join(c.Files, " "); got != "a.conf b.conf" || c.Hash != want {
			t.Errorf("got files %q hash %x, want both files and hash %x", got, c.Hash, want)
		}
		if got := taken(w); got != "none" {
			t.Errorf("after the newest change: got %q, want none", got)
		}
	})
}

func TestNamesBesideTheFilesAreIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, d *fakeDisk, _ *Watcher) {
		before := d.looked()
		d.notify <- fsnotify.Event{Name: "other.conf", Op: fsnotify.Write}
		time.Sleep(time.Second)
		if got := d.looked(); got != before {
			t.Errorf("looks after a notification for another file: got %d, want %d", got, before)
		}
	})
}

func TestSet(t *testing.T) {
	tests := []struct {
		name string
		do   func(d *fakeDisk, w *Watcher)
		want string
	}{
		{name: "a file that leaves is no change",
			do: func(_ *fakeDisk, w *Watcher) { w.Set([]string{"a.conf"}) }, want: "none"},
		{name: "a file that left is not looked at",
			do: func(d *fakeDisk, w *Watcher) { w.Set([]string{"a.conf"}); d.put("b.conf", "2") }, want: "none"},
		{name: "a file that joins is no change",
			do: func(_ *fakeDisk, w *Watcher) { w.Set([]string{"a.conf", "b.conf", "c.conf"}) }, want: "none"},
		{name: "a file that joins is watched",
			do:   func(d *fakeDisk, w *Watcher) { w.Set([]string{"a.conf", "c.conf"}); d.save("c.conf", "2") },
			want: "c.conf"},
		{name: "a file written between the load and Set counts as changed",
			do:   func(d *fakeDisk, w *Watcher) { d.put("c.conf", "2"); w.Set([]string{"a.conf", "c.conf"}) },
			want: "c.conf"},
		{name: "a file that stays and changed meanwhile is reported",
			do:   func(d *fakeDisk, w *Watcher) { d.put("a.conf", "2"); w.Set([]string{"a.conf", "c.conf"}) },
			want: "a.conf"},
		{name: "a missing optional file is reported when it appears",
			do:   func(d *fakeDisk, w *Watcher) { w.Set([]string{"a.conf", "opt.conf"}); d.save("opt.conf", "1") },
			want: "opt.conf"},
		{name: "a set without files is ignored",
			do: func(d *fakeDisk, w *Watcher) { w.Set(nil); d.save("a.conf", "2") }, want: "a.conf"},
		{name: "the same set again changes nothing",
			do: func(_ *fakeDisk, w *Watcher) { w.Set([]string{"b.conf", "a.conf"}) }, want: "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, d *fakeDisk, w *Watcher) {
				time.Sleep(time.Second)
				tt.do(d, w)
				time.Sleep(time.Second)
				if got := taken(w); got != tt.want {
					t.Errorf("change: got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestUpdateAppliesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, d *fakeDisk, w *Watcher) {
		w.Update(500*ms, time.Second)
		d.save("a.conf", "2")
		time.Sleep(519 * ms)
		if got := taken(w); got != "none" {
			t.Errorf("before the new quiet time: got %q, want none", got)
		}
		time.Sleep(ms)
		if got := taken(w); got != "a.conf" {
			t.Errorf("after the new quiet time: got %q, want a.conf", got)
		}
		d.put("b.conf", "2")
		time.Sleep(1500 * ms)
		if got := taken(w); got != "b.conf" {
			t.Errorf("after the new poll interval and the quiet time: got %q, want b.conf", got)
		}
	})
}

func TestFilesWithoutNotificationsArePolledMoreOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk(map[string]string{"a.conf": "1"})
		d.slow = true
		w := start([]string{"a.conf"}, Options{Log: slog.New(slog.DiscardHandler)}, d)
		defer w.Close()
		d.put("a.conf", "2")
		time.Sleep(slowPoll + defaultQuiet)
		if got := taken(w); got != "a.conf" {
			t.Errorf("change after %v: got %q, want a.conf", slowPoll+defaultQuiet, got)
		}
	})
}

func TestCloseEndsEverything(t *testing.T) {
	bubble(t, func(t *testing.T, _ *fakeDisk, w *Watcher) {
		for range 2 {
			if err := w.Close(); err != nil {
				t.Errorf("Close: got %v, want nil", err)
			}
		}
		w.Set([]string{"c.conf"})
		w.Update(time.Second, time.Second)
		time.Sleep(time.Minute)
		if got := taken(w); got != "none" {
			t.Errorf("change after Close: got %q, want none", got)
		}
	})
}

func TestAnUnreadableFileIsLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	w := &Watcher{log: slog.New(slog.NewTextHandler(&out, nil))}
	for range 3 {
		w.complain(snapshot{readFile(dir)})
	}
	if got := strings.Count(out.String(), "cannot be read"); got != 1 {
		t.Errorf("records about a directory in place of a file: got %d, want 1:\n%s", got, out.String())
	}
}

func TestHashCoversNamesPresenceAndContent(t *testing.T) {
	full := file{name: "a", presence: filled, digest: [32]byte{1}}
	sets := map[string]snapshot{
		"one file":         {full},
		"another name":     {{name: "b", presence: filled, digest: [32]byte{1}}},
		"another content":  {{name: "a", presence: filled, digest: [32]byte{2}}},
		"an empty file":    {{name: "a", presence: empty}},
		"a missing file":   {{name: "a", presence: missing}},
		"a file more":      {full, {name: "b", presence: missing}},
		"an empty set":     {},
		"a name with both": {{name: "ab", presence: filled, digest: [32]byte{1}}},
	}
	seen := map[[32]byte]string{}
	for name, s := range sets {
		if other, taken := seen[s.sum()]; taken {
			t.Errorf("%s and %s: got the same hash, want two", name, other)
		}
		seen[s.sum()] = name
	}
	later := slices.Clone(sets["one file"])
	later[0].modified = time.Unix(1, 0)
	if later.sum() != sets["one file"].sum() {
		t.Error("hash depends on the time of modification; want content alone")
	}
}
