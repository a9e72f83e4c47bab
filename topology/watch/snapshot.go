package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// presence is what a look finds of one file, apart from its content.
type presence byte

const (
	unknown presence = iota // differs from every reading
	missing
	unreadable
	empty
	filled
)

// file is one reading of one file. It is empty when nothing is in it.
type file struct {
	name     string
	presence presence
	digest   [sha256.Size]byte // of the content
	modified time.Time
	trouble  string // why it is unreadable
}

// same reports whether two readings of a file found the same.
func (f file) same(g file) bool { return f.presence == g.presence && f.digest == g.digest }

// hollows reports whether f has come to hold nothing, as a file does in the middle of many a save.
func (f file) hollows(old file) bool { return f.presence != filled && f.presence != old.presence }

// snapshot is one reading of the whole set, sorted by name.
type snapshot []file

func (s snapshot) equal(t snapshot) bool {
	return slices.EqualFunc(s, t, func(a, b file) bool { return a.name == b.name && a.same(b) })
}

// find returns the reading of name, or an unknown one.
func (s snapshot) find(name string) file {
	i := slices.IndexFunc(s, func(f file) bool { return f.name == name })
	if i < 0 {
		return file{name: name}
	}
	return s[i]
}

// hollows reports whether a file has come to hold nothing since old.
func (s snapshot) hollows(old snapshot) bool {
	return slices.ContainsFunc(s, func(f file) bool { return f.hollows(old.find(f.name)) })
}

// differing returns the names of the files that differ from old.
func (s snapshot) differing(old snapshot) []string {
	var names []string
	for _, f := range s {
		if !f.same(old.find(f.name)) {
			names = append(names, f.name)
		}
	}
	return names
}

// measuredAgainst returns s with the readings that changes are measured against: that in base for a file that stays,
// unknown for one that joins and was written after known, else the new one.
func (s snapshot) measuredAgainst(base snapshot, known time.Time) snapshot {
	m := slices.Clone(s)
	for i, f := range m {
		switch old := base.find(f.name); {
		case old.presence != unknown:
			m[i] = old
		case f.modified.After(known):
			m[i] = file{name: f.name}
		}
	}
	return m
}

// sum is the hash of the whole set. Each part has a fixed length or is preceded by it, so that no two sets run together.
func (s snapshot) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, f := range s {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(f.name))))
		io.WriteString(h, f.name)
		h.Write([]byte{byte(f.presence)})
		h.Write(f.digest[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// readFile takes one reading.
func readFile(name string) file {
	f, err := tryRead(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{name: name, presence: missing}
	case err != nil:
		return file{name: name, presence: unreadable, trouble: err.Error()}
	}
	return f
}

// tryRead opens regular files only, since opening a pipe would wait for its writer.
func tryRead(name string) (file, error) {
	info, err := os.Stat(name)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is no regular file", name)
	}
	in, err := os.Open(name)
	if err != nil {
		return file{}, err
	}
	defer in.Close()
	h := sha256.New()
	n, err := io.Copy(h, in)
	if err != nil {
		return file{}, err
	}
	f := file{name: name, presence: filled, digest: [sha256.Size]byte(h.Sum(nil)), modified: info.ModTime()}
	if n == 0 {
		f.presence = empty
	}
	return f, nil
}
