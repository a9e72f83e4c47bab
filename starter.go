package actord

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

//go:embed starter.conf
var starter string

// initialize writes a configuration to begin with. It never overwrites one.
func (a *app) initialize(_ context.Context, args []string) int {
	file, err := a.file(args)
	if err != nil {
		return a.misused("init", err.Error())
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return a.fail(fmt.Errorf("%s is there already and stays as it is; name another file: actord init FILE", file))
	case err != nil:
		return a.fail(err)
	}
	if _, err = f.WriteString(starter); err == nil {
		err = f.Close()
	}
	if err != nil {
		return a.fail(err)
	}
	fmt.Fprintf(a.out, "wrote %s; next:\n  actord check %s\n  actord run --config %s\n", file, file, file)
	return ExitOK
}

// completion prints a script that completes commands and flags.
func (a *app) completion(_ context.Context, args []string) int {
	if len(args) != 1 {
		return a.misused("completion", "want one of bash, zsh, fish")
	}
	write, ok := map[string]func([]verb) string{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}[args[0]]
	if !ok {
		return a.misused("completion", fmt.Sprintf("%q is not a shell it knows (want one of bash, zsh, fish)", args[0]))
	}
	fmt.Fprint(a.out, write(a.verbs()))
	return ExitOK
}

// verb is a command as completion shows it.
type verb struct {
	name, doc string
	flags     []*flag.Flag
}

// verbs are the commands with their flags.
func (a *app) verbs() []verb {
	var out []verb
	for _, c := range a.commands {
		fs := (&app{}).flagSet(c)
		v := verb{name: c.name, doc: c.doc}
		fs.VisitAll(func(f *flag.Flag) { v.flags = append(v.flags, f) })
		out = append(out, v)
	}
	return out
}

func (v verb) flagWords() string {
	var words []string
	for _, f := range v.flags {
		words = append(words, dashed(f.Name))
	}
	return strings.Join(words, " ")
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func completeBash(verbs []verb) string {
	var names []string
	var cases strings.Builder
	for _, v := range verbs {
		names = append(names, v.name)
		fmt.Fprintf(&cases, "    %s) flags=%q ;;\n", v.name, v.flagWords())
	}
	return fmt.Sprintf(`# actord completion bash: source <(actord completion bash)
_actord() {
  local cur=${COMP_WORDS[COMP_CWORD]} flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W %q -- "$cur"))
    return
  fi
  case ${COMP_WORDS[1]} in
%s  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _actord actord
`, strings.Join(names, " "), cases.String())
}

func completeZsh(verbs []verb) string {
	var names, cases strings.Builder
	quote := func(s string) string { return "'" + strings.NewReplacer("'", "'\\''", ":", "\\:").Replace(s) + "'" }
	for _, v := range verbs {
		fmt.Fprintf(&names, "    %s\n", quote(v.name)[:len(quote(v.name))-1]+":"+quote(v.doc)[1:])
		fmt.Fprintf(&cases, "    %s) flags=(%s) ;;\n", v.name, v.flagWords())
	}
	return fmt.Sprintf(`#compdef actord
# actord completion zsh: actord completion zsh > "${fpath[1]}/_actord"
_actord() {
  local -a verbs flags
  verbs=(
%s  )
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  case $words[2] in
%s  esac
  if [[ $PREFIX == -* ]]; then
    compadd -- $flags
  else
    _files
  fi
}
compdef _actord actord
`, names.String(), cases.String())
}

func completeFish(verbs []verb) string {
	var b strings.Builder
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	b.WriteString("# actord completion fish: actord completion fish | source\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "complete -c actord -n __fish_use_subcommand -a %s -d %s\n", v.name, quote(v.doc))
		for _, f := range v.flags {
			form := "-l " + f.Name
			if len(f.Name) == 1 {
				form = "-s " + f.Name
			}
			_, usage := flag.UnquoteUsage(f)
			fmt.Fprintf(&b, "complete -c actord -n '__fish_seen_subcommand_from %s' %s -d %s\n", v.name, form, quote(usage))
		}
	}
	return b.String()
}
