package actor

import (
	"fmt"
	"strings"
	"unicode"
)

// Path is the address of an actor, e.g. "/user/intake/audit". It names a place
// in the tree and not an incarnation: it stays valid over restarts and reloads.
type Path string

// The roots of the tree. Application actors live under User, the daemon's own
// (bridges among them) under System, reply addresses of asks under Temp.
const (
	Root        Path = "/"
	User        Path = "/user"
	System      Path = "/system"
	Temp        Path = "/temp"
	DeadLetters Path = "/deadLetters"
)

// CheckName reports why name cannot be an actor's name. A name is one path
// segment: not empty, not "." or "..", without '/', '\' and control characters,
// and without a leading '$', which generated names use.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a name must not be empty")
	case name == "." || name == "..":
		return fmt.Errorf("name %q is a relative path; choose another", name)
	case strings.HasPrefix(name, "$"):
		return fmt.Errorf("name %q starts with '$', which is kept for generated names", name)
	}
	return checkSegment(name)
}

func checkSegment(name string) error {
	for _, r := range name {
		if r == '/' || r == '\\' || unicode.IsControl(r) {
			return fmt.Errorf("name %q holds %q; a name is one path segment without '/', '\\' and control characters", name, r)
		}
	}
	return nil
}

// ParsePath reads an absolute path. Generated names (leading '$') are allowed.
func ParsePath(s string) (Path, error) {
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("path %q must start with '/', e.g. /user/intake", s)
	}
	if s == "/" {
		return Root, nil
	}
	for seg := range strings.SplitSeq(s[1:], "/") {
		if seg == "" || seg == "." || seg == ".." {
			return "", fmt.Errorf("path %q has an empty or relative segment", s)
		}
		if err := checkSegment(seg); err != nil {
			return "", fmt.Errorf("path %q: %w", s, err)
		}
	}
	return Path(s), nil
}

// Name returns the last segment, "" for the root.
func (p Path) Name() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }

// Parent returns the path above p; the root is its own parent.
func (p Path) Parent() Path {
	i := strings.LastIndexByte(string(p), '/')
	if i <= 0 {
		return Root
	}
	return p[:i]
}

// Child returns the path of the child called name.
func (p Path) Child(name string) Path {
	if p == Root {
		return Path("/" + name)
	}
	return p + "/" + Path(name)
}

// Under reports whether p is ancestor itself or lies below it.
func (p Path) Under(ancestor Path) bool {
	if ancestor == Root || p == ancestor {
		return true
	}
	return len(p) > len(ancestor) && p[:len(ancestor)] == ancestor && p[len(ancestor)] == '/'
}

// Join resolves a relative reference such as "./child" or "../sibling" against
// p; "." is p itself. It fails when the reference climbs above the root.
func (p Path) Join(ref string) (Path, error) {
	at := p
	for seg := range strings.SplitSeq(ref, "/") {
		switch seg {
		case ".":
		case "..":
			if at == Root {
				return "", fmt.Errorf("%q leaves the tree from %s", ref, p)
			}
			at = at.Parent()
		case "":
			return "", fmt.Errorf("%q has an empty segment", ref)
		default:
			if err := checkSegment(seg); err != nil {
				return "", err
			}
			at = at.Child(seg)
		}
	}
	return at, nil
}
