package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mountTable is where Linux lists the mounts of a process; elsewhere it is missing, and every mount counts as local.
const mountTable = "/proc/self/mountinfo"

// remoteKinds are the file systems whose files change without a notification on this machine.
var remoteKinds = []string{"nfs", "cifs", "smb", "fuse", "9p", "overlay", "ceph", "afs", "virtiofs", "vboxsf"}

// mount is what matters of the mount that a file is on.
type mount struct {
	point  string
	remote bool // changes may come without notification
	file   bool // the file itself is the mount point
}

// mounts is a table of mounts, in the order they were made.
type mounts []mount

func readMounts() mounts {
	text, err := os.ReadFile(mountTable)
	if err != nil {
		return nil
	}
	return parseMounts(string(text))
}

// parseMounts reads the lines of a mountinfo table, "36 35 98:0 /root /point options - kind source options", and skips
// what reads otherwise.
func parseMounts(text string) mounts {
	var table mounts
	for line := range strings.Lines(text) {
		place, system, ok := strings.Cut(line, " - ")
		fields, kinds := strings.Fields(place), strings.Fields(system)
		if !ok || len(fields) < 5 || len(kinds) == 0 {
			continue
		}
		table = append(table, mount{point: unescape(fields[4]), remote: isRemote(kinds[0])})
	}
	return table
}

// of returns the mount that path is on: the longest mount point above it, the last one of several.
func (t mounts) of(path string) mount {
	var found mount
	for _, m := range t {
		if len(m.point) >= len(found.point) && within(path, m.point) {
			found = m
		}
	}
	found.file = found.point == path && path != ""
	return found
}

func within(path, dir string) bool {
	if dir == "/" {
		return filepath.IsAbs(path)
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}

func isRemote(kind string) bool {
	return slices.ContainsFunc(remoteKinds, func(k string) bool { return strings.HasPrefix(kind, k) })
}

// unescape replaces the octal escapes that the table uses for spaces, tabs, line ends and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		if s[0] == '\\' && len(s) >= 4 {
			if n, err := strconv.ParseUint(s[1:4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				s = s[4:]
				continue
			}
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}
