package actord

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/actord/actord/builtin"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
)

// Exit codes of the command.
const (
	ExitOK         = 0  // it did what it was asked to
	ExitInvalid    = 1  // the configuration or another input is wrong
	ExitChanges    = 2  // plan: a reload would change something
	ExitRolledBack = 3  // reload --wait and its like: it failed and was undone
	ExitDegraded   = 4  // it failed, and so did undoing it
	ExitUsage      = 64 // the command line is wrong
	ExitFailed     = 70 // the system failed: a failure was escalated past the top
	ExitForced     = 71 // a second signal, or the shutdown took too long
)

// Option changes what Main runs.
type Option func(*app)

// WithBehaviour adds a behaviour to the built-in ones.
func WithBehaviour(f actor.Factory) Option {
	return func(a *app) { a.extend = append(a.extend, func(r *actor.Registry) error { return r.AddBehaviour(f) }) }
}

// WithBridge adds a bridge type to the built-in ones.
func WithBridge(f actor.Factory) Option {
	return func(a *app) { a.extend = append(a.extend, func(r *actor.Registry) error { return r.AddBridge(f) }) }
}

// app is one call of the command.
type app struct {
	in          io.Reader
	out, err    io.Writer
	env         func(string) (string, bool)
	extend      []func(*actor.Registry) error
	config      string // --config
	overrides   []hocon.Override
	overlays    []hocon.Overlay // --profile
	checking    checking
	trying      trying
	asking      asking
	drawing     drawing
	formatCheck bool      // fmt --check
	commands    []command // for completion
	resume      bool      // run --resume
}

// command is one verb of the command line.
type command struct {
	name, args, doc string
	run             func(a *app, ctx context.Context, args []string) int
	flags           func(a *app, fs *flag.FlagSet)
}

var commands = []command{
	{"run", "[FILE]", "run the system and keep it equal to its file", (*app).run, (*app).runFlags},
	{"check", "[FILE]", "find every mistake in a configuration; exit 1 when there is one", (*app).check, (*app).checkFlags},
	{"plan", "[FILE]", "show what a reload would do; exit 2 when it would change something", (*app).plan, (*app).planFlags},
	{"apply", "FILE", "give the running daemon another file; it stays until the next reload", (*app).apply, (*app).applyFlags},
	{"reload", "", "make the running daemon look at its file", (*app).reload, (*app).reloadFlags},
	{"rollback", "[N]", "make the running daemon go back to revision N, or to the one before", (*app).rollback, (*app).reloadFlags},
	{"revisions", "", "list what a daemon has applied, and what it has not", (*app).revisions, (*app).revisionsFlags},
	{"init", "[FILE]", "write a configuration to begin with; nothing is overwritten", (*app).initialize, nil},
	{"fmt", "FILE...", "write configurations in the usual layout; comments stay", (*app).format, (*app).formatFlags},
	{"render", "[FILE]", "print the resolved configuration with the place of each value, secrets masked", (*app).render, nil},
	{"graph", "[FILE]", "draw who supervises whom and who sends to whom", (*app).graph, (*app).graphFlags},
	{"completion", "SHELL", "print a completion script for bash, zsh or fish", (*app).completion, nil},
	{"hocon", "FILE", "resolve any HOCON file and print it as JSON", (*app).hocon, nil},
	{"list", "[NAME]", "list behaviours and bridges with their arguments", (*app).list, nil},
	{"explain", "KEY|PATH", "tell what a key means, what is in force and where that is written", (*app).explain, nil},
	{"schema", "", "print the JSON Schema of a whole file", (*app).schema, nil},
	{"expr", "EXPR", "try an expression on a message", (*app).expr, (*app).exprFlags},
	{"version", "", "print the version", (*app).version, nil},
}

// Main runs the command line args (without the program's name) on the process's
// standard streams and returns the exit code.
func Main(args []string, options ...Option) int {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.LookupEnv}
	for _, o := range options {
		o(a)
	}
	return a.main(context.Background(), args)
}

func (a *app) main(ctx context.Context, args []string) int {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help", "-help"}, args[0]) {
		a.usage(a.out)
		return ExitOK
	}
	i := slices.IndexFunc(commands, func(c command) bool {
		return c.name == strings.TrimLeft(args[0], "-") && (c.name == "version" || c.name == args[0])
	})
	if i < 0 {
		fmt.Fprintf(a.err, "actord: unknown command %q%s (actord help lists them)\n", args[0], actor.DidYouMean(args[0], commandNames()))
		return ExitUsage
	}
	c := commands[i]
	a.commands = commands
	fs := a.flagSet(c)
	rest, err := parse(fs, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return ExitOK
	case err != nil:
		return ExitUsage
	}
	return c.run(a, ctx, rest)
}

// flagSet is what a command takes.
func (a *app) flagSet(c command) *flag.FlagSet {
	fs := flag.NewFlagSet("actord "+c.name, flag.ContinueOnError)
	fs.SetOutput(a.err)
	fs.Usage = func() { a.commandUsage(c, fs) }
	fs.StringVar(&a.config, "config", "", "the configuration `file`; $ACTORD_CONFIG, then ./application.conf when not given")
	fs.Func("D", "override one `key=value`, e.g. -D actord.log.level=debug; may be repeated", a.override)
	fs.Func("profile", "put profiles.`NAME` of the file over the rest of it; may be repeated", a.profile)
	fs.Func("env-file", "read NAME=value lines from a `file`, for variables that the environment does not have", a.envFile)
	if c.flags != nil {
		c.flags(a, fs)
	}
	return fs
}

// parse accepts flags before and after the other arguments.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
}

func (a *app) override(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return fmt.Errorf("want key=value, e.g. actord.log.level=debug")
	}
	if _, err := hocon.Parse("-D", []byte("x = "+value), hocon.Options{}); err != nil && !strings.Contains(value, "${") {
		value = strconv.Quote(value) // a plain text such as 127.0.0.1:80, which HOCON wants in quotes
	}
	a.overrides = append(a.overrides, hocon.Override{Key: key, Value: value})
	return nil
}

func (a *app) profile(names string) error {
	for name := range strings.SplitSeq(names, ",") {
		if name == "" || strings.Contains(name, ".") {
			return fmt.Errorf("want the name of a profile, e.g. staging")
		}
		a.overlays = append(a.overlays, hocon.Overlay{From: "actord.profiles." + name, Onto: "actord"})
	}
	return nil
}

func (a *app) envFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	more, err := readEnvFile(f, name)
	if err != nil {
		return err
	}
	env := a.env
	a.env = func(key string) (string, bool) {
		if v, ok := env(key); ok {
			return v, true
		}
		v, ok := more[key]
		return v, ok
	}
	return nil
}

func commandNames() []string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	return names
}

func (a *app) usage(w io.Writer) {
	fmt.Fprint(w, "actord runs a system of actors that is written down in application.conf.\n\nUsage: actord COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-18s %s\n", strings.TrimSpace(c.name+" "+c.args), c.doc)
	}
	fmt.Fprint(w, `
Flags of every command:
  --config FILE    the configuration; $ACTORD_CONFIG, then ./application.conf when not given
  -D key=value     override one key; may be repeated
  --profile NAME   put profiles.NAME of the file over the rest of it; may be repeated
  --env-file FILE  NAME=value lines for variables that the environment does not have

Signals of a running actord: SIGHUP reloads, SIGTERM and SIGINT shut down in order, a second one at once.
Exit codes: 0 done, 1 wrong configuration or input, 2 plan found changes, 3 rolled back, 4 degraded,
            64 wrong command line, 70 the system failed, 71 shutdown was forced.
`)
}

func (a *app) commandUsage(c command, fs *flag.FlagSet) {
	fmt.Fprintf(a.err, "Usage: actord %s [flags]\n%s\n\nFlags:\n", strings.TrimSpace(c.name+" "+c.args), c.doc)
	fs.PrintDefaults()
}

// file is the configuration that the command works on.
func (a *app) file(args []string) (string, error) {
	switch {
	case len(args) > 1:
		return "", fmt.Errorf("one file at a time, got %s", strings.Join(args, " "))
	case len(args) == 1 && a.config != "":
		return "", fmt.Errorf("a file is given twice: %s and --config %s", args[0], a.config)
	case len(args) == 1:
		return args[0], nil
	case a.config != "":
		return a.config, nil
	}
	if f, ok := a.env("ACTORD_CONFIG"); ok && f != "" {
		return f, nil
	}
	return "application.conf", nil
}

// registry holds what is compiled in.
func (a *app) registry() (*actor.Registry, error) {
	r := &actor.Registry{}
	if err := builtin.AddTo(r); err != nil {
		return nil, err
	}
	for _, add := range a.extend {
		if err := add(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// fail prints err with source lines where there are some.
func (a *app) fail(err error) int {
	fmt.Fprintln(a.err, strings.TrimSuffix(hocon.Format(err), "\n"))
	return ExitInvalid
}
