package watch

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds the symbolic links that are followed for one name, as the system does.
const maxLinks = 40

// chain is how a name is resolved.
type chain struct {
	entries []string // every directory entry on the way, links and parent directories included
	end     string   // the file itself, behind all links
}

// resolve walks name from the root as the system would and notes every entry that has a say in what it means: a change
// of any of them may change the file. An entry that is missing counts as a directory or file to come.
func resolve(name string) chain {
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	var c chain
	root, rest := split(abs)
	c.end = root
	for links := 0; len(rest) > 0; {
		entry := filepath.Join(c.end, rest[0])
		rest = rest[1:]
		if entry == filepath.Dir(c.end) || entry == c.end {
			c.end = entry // ".." and "." name no entry
			continue
		}
		c.entries = append(c.entries, entry)
		target, err := os.Readlink(entry)
		if err != nil || links == maxLinks {
			c.end = entry
			continue
		}
		links++
		if filepath.IsAbs(target) {
			c.end, _ = split(target)
		}
		_, further := split(target)
		rest = append(further, rest...)
	}
	return c
}

// split returns the root of a path and the names below it.
func split(path string) (root string, names []string) {
	root = filepath.VolumeName(path)
	path = path[len(root):]
	if strings.HasPrefix(path, string(filepath.Separator)) {
		root += string(filepath.Separator)
	}
	names = strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
	return root, names
}
