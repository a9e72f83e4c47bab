package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
)

// Texts returns the lines of the named files that match pattern, since what they say holds on one machine only. A file
// that is gone is passed over, and so is one that is no text.
func Texts(fsys fs.FS, names []string, pattern *regexp.Regexp) []string {
	var bad []string
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		n := 0
		for line := range bytes.Lines(text) {
			n++
			if found := pattern.Find(line); found != nil {
				bad = append(bad, fmt.Sprintf("%s:%d: %q is a path of one machine; name it from the root of the repository", name, n, found))
			}
		}
	}
	return bad
}
