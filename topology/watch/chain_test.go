package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	write(t, filepath.Join(dir, "a", "b", "f"), "x")
	must(t, os.Symlink("a", filepath.Join(dir, "rel")), os.Symlink(filepath.Join(dir, "a", "b"), filepath.Join(dir, "abs")),
		os.Symlink(filepath.Join("..", "rel", "b", "f"), filepath.Join(dir, "a", "up")),
		os.Symlink("loop", filepath.Join(dir, "loop")))
	tests := []struct{ name, path, entries, end string }{
		{name: "a plain file is its directories and itself", path: "a/b/f", entries: "a a/b a/b/f", end: "a/b/f"},
		{name: "a relative link leads on from its directory", path: "rel/b/f", entries: "rel a a/b a/b/f", end: "a/b/f"},
		{name: "an absolute link leads on from the root", path: "abs/f", entries: "abs a a/b a/b/f", end: "a/b/f"},
		{name: "a link upwards through another link", path: "a/up", entries: "a a/up rel a a/b a/b/f", end: "a/b/f"},
		{name: "what is missing is still watched for", path: "a/no/f", entries: "a a/no a/no/f", end: "a/no/f"},
		{name: "a link to itself ends", path: "loop", entries: strings.TrimSpace(strings.Repeat("loop ", maxLinks+1)), end: "loop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := resolve(filepath.Join(dir, filepath.FromSlash(tt.path)))
			var got []string
			for _, e := range c.entries {
				if rel, ok := strings.CutPrefix(e, dir+string(filepath.Separator)); ok {
					got = append(got, filepath.ToSlash(rel))
				}
			}
			if want := strings.Fields(tt.entries); !slices.Equal(got, want) {
				t.Errorf("entries: got %q, want %q", got, want)
			}
			if want := filepath.Join(dir, filepath.FromSlash(tt.end)); c.end != want {
				t.Errorf("end: got %q, want %q", c.end, want)
			}
		})
	}
}

func TestResolveNotesTheParentsOfTheFile(t *testing.T) {
	dir := t.TempDir()
	c := resolve(filepath.Join(dir, "f"))
	if !slices.Contains(c.entries, filepath.Clean(dir)) {
		t.Errorf("entries: got %q, want %q among them", c.entries, dir)
	}
}
