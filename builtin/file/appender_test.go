package file

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fakeDisk is a disk with little room. Its methods fail where the test says so.
type fakeDisk struct {
	files map[string]*fakeFile
	room  int              // bytes that still fit
	fails map[string]error // by operation: open, rename, remove, truncate, sync
	ops   []string         // what was synced
}

type fakeFile struct {
	disk *fakeDisk
	data string
}

func newFakeDisk(room int) *fakeDisk {
	return &fakeDisk{files: map[string]*fakeFile{}, room: room, fails: map[string]error{}}
}

func (d *fakeDisk) open(path string) (file, error) {
	if err := d.fails["open"]; err != nil {
		return file{}, err
	}
	f := d.files[path]
	if f == nil {
		f = &fakeFile{disk: d}
		d.files[path] = f
	}
	torn := f.data != "" && !strings.HasSuffix(f.data, "\n")
	return file{handle: f, size: int64(len(f.data)), torn: torn, device: path == "device"}, nil
}

func (d *fakeDisk) rename(from, to string) error {
	if err := d.fails["rename"]; err != nil {
		return err
	}
	if d.files[from] == nil {
		return fs.ErrNotExist
	}
	d.files[to] = d.files[from]
	delete(d.files, from)
	return nil
}

func (d *fakeDisk) remove(path string) error {
	if err := d.fails["remove"]; err != nil {
		return err
	}
	delete(d.files, path)
	return nil
}

func (d *fakeDisk) syncNames(string) error { d.ops = append(d.ops, "names"); return nil }

func (d *fakeDisk) siblings(string) ([]string, error) {
	var names []string
	for path := range d.files {
		names = append(names, filepath.Base(path))
	}
	return names, nil
}

// content writes all files as "name=data" with '|' for the ends of lines.
func (d *fakeDisk) content() string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(d.files)) {
		out = append(out, path+"="+strings.ReplaceAll(d.files[path].data, "\n", "|"))
	}
	return strings.Join(out, " ")
}

func (f *fakeFile) Write(p []byte) (int, error) {
	n := min(len(p), f.disk.room)
	f.data += string(p[:n])
	f.disk.room -= n
	if n < len(p) {
		return n, &fs.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (f *fakeFile) Truncate(size int64) error {
	if err := f.disk.fails["truncate"]; err != nil {
		return err
	}
	f.disk.room += len(f.data) - int(size)
	f.data = f.data[:size]
	return nil
}

func (f *fakeFile) Sync() error {
	f.disk.ops = append(f.disk.ops, "sync")
	return f.disk.fails["sync"]
}

func (f *fakeFile) Close() error { return nil }

func TestAFullDiskLeavesNoHalfLine(t *testing.T) {
	for _, c := range []struct {
		name     string
		truncate error
		full     string // after the failed append
		after    string // after one more when there is room
	}{
		{"the file is cut back", nil, "log=aaa|", "log=aaa|ccc|"},
		{"or the torn line is ended before the next one", errors.New("not possible"), "log=aaa|bb", "log=aaa|bb|ccc|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newFakeDisk(6)
			a := must(openOn(d, Config{Path: "log", Fsync: Off}))
			d.fails["truncate"] = c.truncate
			if err := a.append([]byte("aaa\n")); err != nil {
				t.Fatal(err)
			}
			err := a.append([]byte("bbb\n"))
			if !errors.Is(err, syscall.ENOSPC) || err.Error() != "write log: no space left on device" {
				t.Errorf("got error %v, want: write log: no space left on device", err)
			}
			if got := d.content(); got != c.full {
				t.Errorf("the full disk\n got: %s\nwant: %s", got, c.full)
			}
			d.room = 100
			if err := a.append([]byte("ccc\n")); err != nil {
				t.Errorf("with room again: got error %v, want none", err)
			}
			if got := d.content(); got != c.after {
				t.Errorf("with room again\n got: %s\nwant: %s", got, c.after)
			}
			if got, want := a.f.size, int64(len(d.files["log"].data)); got != want {
				t.Errorf("size: got %d, want %d", got, want)
			}
		})
	}
}

func TestATornLineOfAnEarlierRunIsEnded(t *testing.T) {
	d := newFakeDisk(100)
	d.files["log"] = &fakeFile{disk: d, data: `{"time"`}
	a := must(openOn(d, Config{Path: "log", Fsync: Off}))
	for range 2 {
		if err := a.append([]byte("aaa\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := d.content(), `log={"time"|aaa|aaa|`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFullFilesAreNumberedAndTheOldestRemoved(t *testing.T) {
	d := newFakeDisk(1000)
	d.files["log.x"] = &fakeFile{disk: d, data: "not ours\n"}
	a := must(openOn(d, Config{Path: "log", MaxSize: 8, MaxFiles: 2, Fsync: Off}))
	var got []string
	for _, line := range []string{"a\n", "bbbbb\n", "c\n", "dddddddddddd\n", "e\n", "ffffffff\n"} {
		if err := a.append([]byte(line)); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSuffix(d.content(), " log.x=not ours|"))
	}
	want := []string{
		"log=a|",
		"log=a|bbbbb|",
		"log=c| log.1=a|bbbbb|",
		"log=dddddddddddd| log.1=a|bbbbb| log.2=c|",
		"log=e| log.2=c| log.3=dddddddddddd|",
		"log=ffffffff| log.3=dddddddddddd| log.4=e|",
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("after line %d\n got: %s\nwant: %s", i+1, got[i], want[i])
		}
	}
}

func TestADeviceIsNeverRenamed(t *testing.T) {
	d := newFakeDisk(1000)
	a := must(openOn(d, Config{Path: "device", MaxSize: 4, Fsync: Off}))
	for _, line := range []string{"aaa\n", "bbb\n"} {
		if err := a.append([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := d.content(), "device=aaa|bbb|"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAFailedRotationLosesNothing(t *testing.T) {
	for _, op := range []string{"rename", "open", "remove"} {
		t.Run(op, func(t *testing.T) {
			d := newFakeDisk(1000)
			a := must(openOn(d, Config{Path: "log", MaxSize: 4, MaxFiles: 1, Fsync: Off}))
			for _, line := range []string{"aaa\n", "bbb\n"} {
				if err := a.append([]byte(line)); err != nil {
					t.Fatal(err)
				}
			}
			d.fails[op] = errors.New("not now")
			if err := a.append([]byte("ccc\n")); err == nil || !strings.HasPrefix(err.Error(), "rotate log: ") {
				t.Errorf("got error %v, want one about the rotation", err)
			}
			delete(d.fails, op)
			if err := a.append([]byte("ccc\n")); err != nil {
				t.Errorf("later: got error %v, want none", err)
			}
			if got := d.content(); !strings.Contains(got, "log=ccc|") || !strings.Contains(got, "log.2=bbb|") {
				t.Errorf("got %s, want log=ccc| and log.2=bbb|", got)
			}
		})
	}
}

func TestDurableFilesAreSyncedBeforeTheyAreNumbered(t *testing.T) {
	d := newFakeDisk(1000)
	a := must(openOn(d, Config{Path: "log", MaxSize: 4, Fsync: Every}))
	_ = a.append([]byte("aaa\n"))
	_ = a.append([]byte("bbb\n"))
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(d.ops, " "), "names sync names sync"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAFailedSyncIsAnError(t *testing.T) {
	d := newFakeDisk(1000)
	a := must(openOn(d, Config{Path: "log", Fsync: Every}))
	_ = a.append([]byte("aaa\n"))
	d.fails["sync"] = errors.New("broken")
	if err := a.sync(); err == nil || err.Error() != "fsync log: broken" {
		t.Errorf("got error %v, want: fsync log: broken", err)
	}
}

// FuzzAppend: whatever fits or not, the file holds whole lines, in order, each
// at most once where the file can be cut back.
func FuzzAppend(f *testing.F) {
	f.Add([]byte{3, 40, 7, 1, 200, 9}, 64)
	f.Fuzz(func(t *testing.T, lengths []byte, room int) {
		d := newFakeDisk(max(room, 0) % 2000)
		a := must(openOn(d, Config{Path: "log", Fsync: Off}))
		want := ""
		for i, n := range lengths {
			line := strings.Repeat(string(rune('a'+i%26)), int(n)) + "\n"
			if a.append([]byte(line)) == nil {
				want += line
			} else {
				d.room += i // somebody tidies up
			}
		}
		if got := d.files["log"].data; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
