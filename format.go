package actord

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/actord/actord/topology/hocon"
)

func (a *app) formatFlags(fs *flag.FlagSet) {
	fs.BoolVar(&a.formatCheck, "check", false, "write nothing; list the files that would change and exit 1")
}

// format rewrites files in the usual layout, or standard input to standard output.
func (a *app) format(_ context.Context, args []string) int {
	if len(args) == 0 {
		file, err := a.file(nil)
		if err != nil {
			return a.misused("fmt", err.Error())
		}
		args = []string{file}
	}
	code := ExitOK
	for _, name := range args {
		changed, err := a.formatOne(name)
		if err != nil {
			code = a.fail(err)
		} else if changed && a.formatCheck {
			code = ExitInvalid
		}
	}
	return code
}

func (a *app) formatOne(name string) (changed bool, err error) {
	if name == "-" {
		text, err := io.ReadAll(a.in)
		if err != nil {
			return false, fmt.Errorf("read standard input: %w", err)
		}
		out, err := hocon.Layout("standard input", text)
		if err == nil {
			_, err = a.out.Write(out)
		}
		return false, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	out, err := hocon.Layout(name, text)
	if err != nil || bytes.Equal(out, text) {
		return false, err
	}
	fmt.Fprintln(a.out, name)
	if a.formatCheck {
		return true, nil
	}
	return true, rewrite(name, out)
}

// rewrite replaces the content of a file, whole or not at all, with its mode.
func rewrite(name string, text []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", text, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
