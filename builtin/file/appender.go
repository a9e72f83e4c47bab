package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// appender appends whole lines to a file and begins a new file when one is full.
// An append that fails leaves whole lines behind: either nothing of the lines is
// in the file, or, where even cutting it back failed, the next append ends the
// torn line first.
type appender struct {
	path     string
	maxSize  int64 // 0 is unlimited
	maxFiles int   // 0 is unlimited
	durable  bool  // whole files and names are forced to the disk

	disk  disk
	f     file
	dirty bool // written since the last sync
}

// file is an open file and what is known of it.
type file struct {
	handle
	size   int64
	torn   bool // it does not end with a newline
	device bool // it is a device or a pipe: never full, never synced
}

// disk is what an appender needs of a file system.
type disk interface {
	// open opens path for appending, made when missing, for one writer at a time.
	open(path string) (file, error)
	rename(from, to string) error
	remove(path string) error
	// syncNames forces the names in the folder of path to the disk.
	syncNames(path string) error
	// siblings lists the names in the folder of path.
	siblings(path string) ([]string, error)
}

// handle is an open file.
type handle interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

func open(c Config) (*appender, error) { return openOn(realDisk{}, c) }

func openOn(d disk, c Config) (*appender, error) {
	a := &appender{path: string(c.Path), disk: d}
	a.limit(c)
	var err error
	if a.f, err = d.open(a.path); err != nil {
		return nil, fmt.Errorf("open %s: %w", a.path, cause(err))
	}
	if err := a.syncNames(); err != nil {
		return nil, errors.Join(err, a.f.Close())
	}
	return a, nil
}

// limit takes what c says about sizes, numbers and the disk.
func (a *appender) limit(c Config) {
	a.maxSize, a.maxFiles, a.durable = int64(c.MaxSize), int(c.MaxFiles), c.Fsync != Off
}

// exceeds reports whether n more bytes make the file too large.
func (a *appender) exceeds(n int) bool {
	return a.maxSize > 0 && !a.f.device && a.f.size+int64(n) > a.maxSize
}

// append writes whole lines, to a new file if they do not fit into this one.
func (a *appender) append(lines []byte) error {
	if a.f.size > 0 && a.exceeds(len(lines)) {
		if err := a.rotate(); err != nil {
			return err
		}
	}
	if a.f.torn {
		lines = append([]byte{'\n'}, lines...)
	}
	n, err := a.f.Write(lines)
	if err == nil {
		a.f.size += int64(n)
		a.f.torn, a.dirty = false, true
		return nil
	}
	if n > 0 && a.f.Truncate(a.f.size) != nil {
		a.f.size += int64(n)
		a.f.torn = lines[n-1] != '\n'
	}
	return fmt.Errorf("write %s: %w", a.path, cause(err))
}

// rotate gives the file its number and begins a new one. A file that others
// have moved away is left alone.
func (a *appender) rotate() error {
	if err := a.finish(); err != nil {
		return err
	}
	full, err := a.numbered()
	if err != nil {
		return fmt.Errorf("rotate %s: %w", a.path, err)
	}
	number := 1
	if len(full) > 0 {
		number += full[len(full)-1]
	}
	if err := a.disk.rename(a.path, a.path+"."+strconv.Itoa(number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("rotate %s: %w", a.path, err)
	}
	next, err := a.disk.open(a.path)
	if err != nil {
		return fmt.Errorf("rotate %s: open the next file: %w", a.path, cause(err))
	}
	old := a.f
	a.f = next
	if err := old.Close(); err != nil {
		return fmt.Errorf("rotate %s: %w", a.path, err)
	}
	return errors.Join(a.syncNames(), a.prune())
}

// prune removes the oldest full files beyond the limit.
func (a *appender) prune() error {
	full, err := a.numbered()
	if err != nil {
		return fmt.Errorf("rotate %s: %w", a.path, err)
	}
	for a.maxFiles > 0 && len(full) > a.maxFiles {
		old := a.path + "." + strconv.Itoa(full[0])
		if err := a.disk.remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rotate %s: remove the oldest file: %w", a.path, err)
		}
		full = full[1:]
	}
	return nil
}

// numbered returns the numbers of the full files, oldest first.
func (a *appender) numbered() ([]int, error) {
	names, err := a.disk.siblings(a.path)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, name := range names {
		suffix, ok := strings.CutPrefix(name, filepath.Base(a.path)+".")
		if n, err := strconv.Atoi(suffix); ok && err == nil && n > 0 && strconv.Itoa(n) == suffix {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// finish forces what was written to the disk, where that is wanted at all.
func (a *appender) finish() error {
	if !a.durable {
		return nil
	}
	return a.sync()
}

// sync forces what was written since the last sync to the disk.
func (a *appender) sync() error {
	if !a.dirty || a.f.device {
		return nil
	}
	if err := a.f.Sync(); err != nil {
		return fmt.Errorf("fsync %s: %w", a.path, cause(err))
	}
	a.dirty = false
	return nil
}

func (a *appender) syncNames() error {
	if !a.durable {
		return nil
	}
	if err := a.disk.syncNames(a.path); err != nil {
		return fmt.Errorf("fsync the folder of %s: %w", a.path, cause(err))
	}
	return nil
}

// close ends the appender, with a last sync where that is wanted.
func (a *appender) close() error {
	err := a.finish()
	if e := a.f.Close(); err == nil && e != nil {
		err = fmt.Errorf("close %s: %w", a.path, cause(e))
	}
	return err
}

// cause takes the path off an error, since ours say it already.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// realDisk is the file system of this machine.
type realDisk struct{}

func (realDisk) open(path string) (file, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return file{}, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o640)
	if err != nil {
		return file{}, err
	}
	opened, err := inspect(f)
	if err != nil {
		f.Close()
	}
	return opened, err
}

// inspect makes f ours and looks at its end.
func inspect(f *os.File) (file, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return file{handle: f, device: true}, err
	}
	if err := lock(f); err != nil {
		return file{}, err
	}
	if info, err = f.Stat(); err != nil || info.Size() == 0 {
		return file{handle: f}, err
	}
	end := make([]byte, 1)
	_, err = f.ReadAt(end, info.Size()-1)
	return file{handle: f, size: info.Size(), torn: end[0] != '\n'}, err
}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }
func (realDisk) remove(path string) error     { return os.Remove(path) }

func (realDisk) syncNames(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (realDisk) siblings(path string) ([]string, error) {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
