package hocon

import (
	"slices"
	"sync"
)

// Tree is a loaded file with all it included.
type Tree struct {
	Root    *Node
	Files   []string // absolute names of the files read, the loaded one first
	Missing []string // absolute names of files that optional includes looked for in vain
	sources []*source

	mu     sync.Mutex // guards hidden
	hidden []string
}

// minHidden is the length from which a text is looked for, since a shorter one is
// found in innocent words.
const minHidden = 4

// Hide keeps a text that turned out to be a secret out of excerpts from now on.
func (t *Tree) Hide(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(text) >= minHidden && !slices.Contains(t.hidden, text) {
		t.hidden = append(t.hidden, text)
	}
}

// Hidden returns the texts that are kept out of excerpts.
func (t *Tree) Hidden() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.hidden)
}

// Excerpt returns the source line of a place and below it a caret under its
// column, with tabs kept. It is "" for a place that is in none of the texts read.
func (t *Tree) Excerpt(p Pos) string {
	if t == nil {
		return ""
	}
	for _, s := range t.sources {
		if s.name == p.File {
			return MaskExcerpt(s.excerpt(p.Line, p.Col), t.Hidden())
		}
	}
	return ""
}

// Included returns the includes through which a file was read, the innermost first;
// nil for the root file.
func (t *Tree) Included(file string) []Pos {
	if t == nil {
		return nil
	}
	return includedBy(t.sources, file)
}

func includedBy(sources []*source, file string) []Pos {
	var out []Pos
	for len(out) < len(sources) {
		i := slices.IndexFunc(sources, func(s *source) bool { return s.name == file })
		if i < 0 || sources[i].from.src == nil {
			break
		}
		p := sources[i].from.pos()
		out = append(out, p)
		file = p.File
	}
	return out
}

// Lookup follows a path of keys from the root; nil if it leads nowhere.
func (t *Tree) Lookup(path ...string) *Node { return t.Root.Lookup(path...) }
