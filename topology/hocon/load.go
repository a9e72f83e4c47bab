package hocon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options say how to load. The zero value reads files and the environment of
// the process.
type Options struct {
	// Env looks up an environment variable; os.LookupEnv when nil. A list is
	// looked up as NAME.0, NAME.1 and so on.
	Env func(name string) (string, bool)
	// ReadFile reads a file by its name; os.ReadFile when nil. An error that is
	// fs.ErrNotExist means that the file is not there.
	ReadFile func(name string) ([]byte, error)
	// Overrides lie on top of everything, later ones over earlier ones. They are
	// put there before substitution, so that ${…} sees them.
	Overrides []Override
	// Overlays lie on top of the text and below the overrides, later ones over
	// earlier ones, also before substitution.
	Overlays []Overlay
	// Fallback lies below everything, also before substitution.
	Fallback *Source
	// Anywhere lets includes read files outside of the folder of the root file.
	Anywhere bool
	// Limits bound the work; a zero field takes its default.
	Limits Limits
}

// Override is a key path and the HOCON value that it gets, as in -D key=value.
type Override struct{ Key, Value string }

// String returns what the user wrote; mistakes in an override are placed there. A
// value that is a secret by its key is masked.
func (o Override) String() string {
	value := o.Value
	if secretWords.MatchString(o.Key) {
		value = masked
	}
	value, _ = maskLine(value, 0)
	return "-D " + o.Key + "=" + value
}

// Overlay takes the object at the dotted path From of the text and puts it over
// the one that the top-level key Onto has, as a profile does.
type Overlay struct{ From, Onto string }

// Source is a named text.
type Source struct{ Name, Text string }

// Limits bound the work that a text can cause.
type Limits struct {
	Depth     int // levels of objects and arrays; 256
	Includes  int // files that include one another in a row; 32
	Files     int // files read or looked for; 10,000
	FileBytes int // bytes of one file; 16 MiB
	Nodes     int // values, written or made by substitution, arrays and objects counted; 1,000,000
	TextBytes int // bytes of one text made by substitution; 1 MiB. All of them together: 64 times that
	Steps     int // steps of substitution; 4,000,000
	Chain     int // substitutions that wait for one another; 20,000
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Depth, 256}, {&l.Includes, 32}, {&l.Files, 10_000}, {&l.FileBytes, 16 << 20}, {&l.Nodes, 1_000_000},
		{&l.TextBytes, 1 << 20}, {&l.Steps, 4_000_000}, {&l.Chain, 20_000},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

// Load reads a file with all it includes and resolves it. The error is Errors,
// or names the file that cannot be read.
func Load(path string, o Options) (*Tree, error) {
	l := newLoader(o)
	text, err := l.read(path)
	if err != nil {
		return nil, &Error{Pos: Pos{File: path}, Msg: "cannot be read: " + reason(err), Err: err}
	}
	l.files = append(l.files, absolute(path))
	l.confine(path)
	return l.load(&source{name: path, text: string(text)}, absolute(path))
}

// Parse resolves a text. Its name is shown in positions; includes are relative
// to the folder of the name.
func Parse(name string, text []byte, o Options) (*Tree, error) {
	l := newLoader(o)
	l.confine(name)
	return l.load(&source{name: name, text: string(text)}, absolute(name))
}

// loader reads all texts of one tree.
type loader struct {
	opts    Options
	limits  Limits
	files   []string
	missing []string
	sources []*source
	chain   []string // absolute names of the files that include one another now
	values  int
	reads   int
	roots   []string // folders that includes must stay in; nil means anywhere
	errs    Errors
}

func newLoader(o Options) *loader {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	return &loader{opts: o, limits: o.Limits.withDefaults()}
}

// load builds the tree: fallback, the text, overrides, then substitution.
func (l *loader) load(src *source, abs string) (*Tree, error) {
	var fallback raw
	if f := l.opts.Fallback; f != nil {
		fallback = l.parse(&source{name: f.Name, text: f.Text}, f.Name, nil)
	}
	root := l.parse(src, abs, nil)
	if o, ok := fallback.(*object); ok {
		if main, ok := root.(*object); ok {
			o.merge(main)
			o.at = main.at
			root = o
		}
	}
	l.overlay(root)
	l.override(root)
	if err := l.errs.orNil(l.sources); err != nil {
		return nil, err
	}
	t := &Tree{Files: l.files, Missing: l.missing, sources: l.sources}
	r := &resolver{root: root, load: l, tree: t}
	t.Root = r.resolve()
	if err := l.errs.orNil(l.sources); err != nil {
		return nil, err
	}
	return t, nil
}

// parse reads one text on behalf of outer, which is nil for the first.
func (l *loader) parse(src *source, abs string, outer *parser) raw {
	l.sources = append(l.sources, src)
	l.chain = append(l.chain, abs)
	defer func() { l.chain = l.chain[:len(l.chain)-1] }()
	p := &parser{lexer: newLexer(src), load: l}
	if outer != nil {
		p.path = slices.Clone(outer.path)
		p.prefix = len(p.path)
		p.depth = outer.depth
		p.placeless = outer.inArray > 0
		p.inArray = outer.inArray
	}
	if len(src.text) > l.limits.FileBytes {
		p.fail(0, "", "the file has %d bytes, more than %d", len(src.text), l.limits.FileBytes)
	}
	root := p.document()
	if p.err != nil {
		l.errs = append(l.errs, p.err)
		return &object{}
	}
	return root
}

// override puts the overrides on top of the root.
func (l *loader) override(root raw) {
	for _, o := range l.opts.Overrides {
		src := &source{name: o.String(), text: o.Key, override: true}
		l.sources = append(l.sources, src)
		fail := func(err *Error) {
			l.errs = append(l.errs, &Error{Pos: Pos{File: src.name}, Path: err.Path, Msg: err.Msg, Hint: err.Hint})
		}
		p := &parser{lexer: newLexer(src), load: l}
		p.check()
		p.spaces()
		p.path = p.keyPath(false)
		if p.err == nil && p.peek() != 0 {
			p.unexpected("an override is key=value")
		}
		top, isObject := root.(*object)
		if !isObject {
			fail(&Error{Msg: "the file is an array, so nothing in it has a key"})
			return
		}
		at := p.at(0)
		if p.err == nil {
			keys := p.path
			p.lexer = newLexer(&source{name: src.name, text: o.Value, override: true})
			p.path = keys
			p.check()
			l.overrideValue(p, top, at)
		}
		if p.err != nil {
			fail(p.err)
		}
	}
}

func (l *loader) overrideValue(p *parser, o *object, at place) {
	p.lines()
	var v raw = &scalar{at: at, kind: String, quoted: true}
	if p.peek() != 0 {
		v = p.value()
	}
	p.lines()
	if p.err == nil && p.peek() != 0 {
		p.unexpected("an override holds one value; put texts with special characters in quotes")
	}
	if p.err != nil {
		return
	}
	end := len(p.path) - 1
	for _, k := range p.path[:end] {
		o = o.slot(k, at).object(at)
	}
	o.slot(p.path[end], at).push(v, at)
}

// count counts a value that was written.
func (l *loader) count(p *parser) {
	if l.values++; l.values > l.limits.Nodes {
		p.fail(p.off, "", "more than %d values", l.limits.Nodes)
	}
}

// read reads a file up to the limit of its size.
func (l *loader) read(name string) ([]byte, error) {
	text, err := l.opts.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(text) > l.limits.FileBytes {
		return nil, fmt.Errorf("%d bytes, more than %d", len(text), l.limits.FileBytes)
	}
	return text, nil
}

// absolute returns the absolute form of a name.
func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return filepath.Clean(name)
}

// reason is an error of the file system without the name, which the message has already.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return strings.TrimSpace(err.Error())
}
