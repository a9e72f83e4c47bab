package spec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// Secrets reads what secret fields refer to: { env = NAME }, { file = PATH } or
// { command = [ … ] }. One is for one load of a configuration: it runs a command
// once, however often it is named. The zero value reads the environment of the
// process and the files of the machine. It is not safe for concurrent use.
type Secrets struct {
	Env    func(name string) (string, bool) // os.LookupEnv when nil
	NoExec bool                             // commands are not run; their secrets are a placeholder

	files    []string
	commands map[string]commandResult
}

type commandResult struct {
	text string
	err  error
}

// Limits of secrets.
const (
	maxSecret     = 64 << 10 // bytes
	secretTimeout = 10 * time.Second
)

// Files returns the files that were read, or looked for, with their absolute
// names: a change of one of them is a change of the configuration.
func (s *Secrets) Files() []string { return slices.Clone(s.files) }

func (s *Secrets) env(name string) (string, error) {
	lookup := s.Env
	if lookup == nil {
		lookup = os.LookupEnv
	}
	text, ok := lookup(name)
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return text, nil
}

func (s *Secrets) file(from, name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(from), name)
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if !slices.Contains(s.files, name) {
		s.files = append(s.files, name)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return "", fmt.Errorf("%s is a folder, not a file with a secret", name)
	case err == nil && info.Size() > maxSecret:
		return "", fmt.Errorf("%s has %d bytes; a secret has at most %d", name, info.Size(), maxSecret)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", fmt.Errorf("the secret cannot be read from %s: %w", name, err)
	}
	return clean(b), nil
}

func (s *Secrets) command(argv []string) (string, error) {
	if s.NoExec {
		return actor.Masked, nil
	}
	key := strings.Join(argv, "\x00")
	if done, ok := s.commands[key]; ok {
		return done.text, done.err
	}
	if s.commands == nil {
		s.commands = map[string]commandResult{}
	}
	text, err := runCommand(argv)
	s.commands[key] = commandResult{text, err}
	return text, err
}

// runCommand returns what a command prints. What it says of an error is not
// shown: it may hold the secret.
func runCommand(argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), secretTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	out := &capped{}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("the command %s took longer than %s", argv[0], secretTimeout)
	case err != nil:
		return "", fmt.Errorf("the command %s failed: %w", argv[0], err)
	case out.more:
		return "", fmt.Errorf("the command %s printed more than %d bytes", argv[0], maxSecret)
	}
	return clean(out.kept), nil
}

// capped keeps the beginning of what is written.
type capped struct {
	kept []byte
	more bool
}

// Write keeps what fits and takes the rest as well.
func (c *capped) Write(b []byte) (int, error) {
	fits := min(len(b), maxSecret-len(c.kept))
	c.kept = append(c.kept, b[:fits]...)
	c.more = c.more || fits < len(b)
	return len(b), nil
}

// clean takes the newline from the end that editors and commands put there.
func clean(b []byte) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
}

// reveal puts the texts in the place of what secret fields refer to.
func (c *checker) reveal(v *value, fields []actor.Field) *value {
	if !v.isObject() || !c.hasSecret(fields) {
		return v
	}
	out := v
	for i := range fields {
		f := v.get(fields[i].Name)
		if f.isNull() {
			continue
		}
		if next := c.revealField(f, &fields[i]); next != f {
			if out == v {
				out = v.clone()
			}
			out.set(fields[i].Name, next)
		}
	}
	return out
}

func (c *checker) revealField(v *value, f *actor.Field) *value {
	switch {
	case f.Kind == actor.SecretField:
		return valueOf(c.secret(v))
	case f.Kind == actor.ObjectField:
		return c.reveal(v, f.Fields)
	case f.Kind == actor.MapField && v.isObject():
		out := v.clone()
		for k, e := range entries(v) {
			out.set(k, c.revealField(e, f.Elem))
		}
		return out
	case f.Kind == actor.ListField && v.node.Kind == hocon.Array:
		elems := slices.Clone(v.node.Elems())
		for i, e := range elems {
			elems[i] = c.revealField(valueOf(e), f.Elem).whole()
		}
		return valueOf(v.node.WithElems(elems))
	}
	return v
}

// hasSecret reports whether a secret is among fields or below them.
func (c *checker) hasSecret(fields []actor.Field) bool {
	if len(fields) == 0 {
		return false
	}
	has, known := c.secretFields[&fields[0]]
	if known {
		return has
	}
	for i := range fields {
		has = has || isSecret(&fields[i])
		if !has && fields[i].Kind == actor.ObjectField {
			has = c.hasSecret(fields[i].Fields)
		}
	}
	if c.secretFields == nil {
		c.secretFields = map[*actor.Field]bool{}
	}
	c.secretFields[&fields[0]] = has
	return has
}

func isSecret(f *actor.Field) bool {
	switch {
	case f.Kind == actor.SecretField:
		return true
	case f.Elem != nil:
		return isSecret(f.Elem)
	}
	return slices.ContainsFunc(f.Fields, func(f actor.Field) bool { return isSecret(&f) })
}

// secret returns the text of a secret. After a mistake it returns null, so that
// nothing else is said of it.
func (c *checker) secret(v *value) *hocon.Node {
	n := v.whole()
	text, plain, err := c.readSecret(n)
	if err != nil {
		c.place(n.Pos, n, nil, err)
		return n.WithText(actor.Masked)
	}
	if plain {
		c.plainSecret(n)
		c.tree.Hide(n.Text)
		return n
	}
	if c.user != nil {
		c.user.fresh = true
	}
	c.tree.Hide(text)
	return n.WithText(text)
}

var secretForms = []string{"env", "file", "command"}

// readSecret reads what a secret refers to; plain is true for one that stands in
// the file as it is.
func (c *checker) readSecret(n *hocon.Node) (text string, plain bool, err error) {
	if n.Kind != hocon.Object {
		return "", true, nil // the schema reports lists
	}
	if n.Len() != 1 {
		return "", false, fmt.Errorf("a secret has one source, not %d (want { env = NAME }, { file = PATH } or { command = [ … ] })", n.Len())
	}
	f := n.Fields()[0]
	switch f.Key {
	case "env", "file":
		name, err := f.Value.Str()
		if err != nil || name == "" {
			return "", false, fmt.Errorf("%s has no name (want { %s = NAME })", f.Key, f.Key)
		}
		if f.Key == "env" {
			text, err = c.secrets.env(name)
		} else {
			text, err = c.secrets.file(f.Value.Pos.File, name)
		}
		return text, false, err
	case "command":
		argv, err := texts(f.Value)
		if err != nil {
			return "", false, err
		}
		text, err = c.secrets.command(argv)
		return text, false, err
	}
	return "", false, fmt.Errorf("a secret cannot come from %q%s", f.Key, didYouMeanOr(f.Key, secretForms))
}

func texts(n *hocon.Node) ([]string, error) {
	elems, err := n.List()
	if err != nil || len(elems) == 0 {
		return nil, errors.New("command is no list of texts (want [PROGRAM, ARGUMENT, …])")
	}
	out := make([]string, len(elems))
	for i, e := range elems {
		if out[i], err = e.Str(); err != nil {
			return nil, errors.New("command is no list of texts (want [PROGRAM, ARGUMENT, …])")
		}
	}
	return out, nil
}

// plainSecret warns of a secret that stands in a file. What comes from the
// environment by substitution does not.
func (c *checker) plainSecret(n *hocon.Node) {
	if n.Text == "" || n.Kind == hocon.Null || n.FromEnv() || n.Kind == hocon.Array || strings.HasPrefix(n.Pos.File, "-D ") {
		return
	}
	if keys := n.Keys(); len(keys) > 2 && keys[len(keys)-2] == "env" && !secretLike(n.Key()) {
		return // a variable of a plugin whose name speaks of no secret
	}
	c.warn(n.Pos, shown(n, nil), rulePlainSecret, "the secret stands in the file as it is (want { env = NAME }, { file = PATH } or { command = [ … ] })")
}
