package actord

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// checking is what the flags of check say.
type checking struct {
	format string // text, json or sarif
	strict bool
	noExec bool
}

func (a *app) checkFlags(fs *flag.FlagSet) {
	fs.StringVar(&a.checking.format, "format", "text", "how mistakes are written: text, json or sarif (for code scanning)")
	fs.BoolVar(&a.checking.strict, "strict", false, "warnings are mistakes as well")
	fs.BoolVar(&a.checking.noExec, "no-exec", false, "start no plugin and no command of a secret; what plugins offer is remembered from an earlier start")
}

// check finds every mistake in a configuration, and what is likely wrong but works.
func (a *app) check(ctx context.Context, args []string) int {
	if formats := []string{"text", "json", "sarif"}; !slices.Contains(formats, a.checking.format) {
		fmt.Fprintf(a.err, "actord check: unknown format %q (want one of %s)\n", a.checking.format, strings.Join(formats, ", "))
		return ExitUsage
	}
	src, err := a.source(args, &plugins{log: slog.New(slog.DiscardHandler)})
	var s *spec.System
	if err == nil {
		s, err = a.checked(ctx, src)
	}
	code, found := ExitOK, findings{file: src.File}
	if err != nil {
		code = ExitInvalid
		found.add("error", err)
	}
	if s != nil {
		found.add("warning", s.Warnings)
	}
	switch a.checking.format {
	case "json":
		return a.write(code, found.json())
	case "sarif":
		return a.write(code, found.sarif())
	}
	a.checkText(src.File, s, err)
	return code
}

func (a *app) checked(ctx context.Context, src topology.Source) (*spec.System, error) {
	src.Lint, src.Strict, src.NoExec = true, a.checking.strict, a.checking.noExec
	if a.checking.noExec {
		src.Open = a.remembered
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	rev, err := src.Load(ctx, nil)
	if err != nil {
		return nil, err
	}
	return rev.Spec, rev.Close(context.WithoutCancel(ctx), nil)
}

func (a *app) checkText(file string, s *spec.System, err error) {
	if err != nil {
		a.fail(err)
		return
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(a.err, "warning[%s]: %s", w.Rule, hocon.Format(w))
	}
	text := summary(s)
	if n := len(s.Warnings); n > 0 {
		text += ", " + count(n, "warning")
	}
	fmt.Fprintf(a.out, "%s is right: %s\n", file, text)
}

func (a *app) write(code int, v any) int {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return a.fail(err)
	}
	return code
}

// finding is a mistake or a warning for tools.
type finding struct {
	Level   string   `json:"level"` // error or warning
	Rule    string   `json:"rule,omitempty"`
	File    string   `json:"file"`
	Line    int      `json:"line,omitempty"`
	Col     int      `json:"col,omitempty"`
	Path    string   `json:"path,omitempty"`
	Message string   `json:"message"`
	Excerpt string   `json:"excerpt,omitempty"`
	Related []string `json:"related,omitempty"`

	related []hocon.Related
}

type findings struct {
	file string
	all  []finding
}

// add notes the single mistakes that an error is made of.
func (f *findings) add(level string, err error) {
	switch e := err.(type) {
	case nil:
	case hocon.Errors:
		for _, one := range e {
			f.add(level, one)
		}
	case *hocon.Error:
		text := new(*e)
		text.Pos, text.Path, text.Related = hocon.Pos{}, "", nil
		one := finding{
			Level: level, Rule: e.Rule, File: e.Pos.File, Line: e.Pos.Line, Col: e.Pos.Col,
			Path: e.Path, Message: text.Error(), Excerpt: e.Excerpt, related: e.Related,
		}
		for _, r := range e.Related {
			one.Related = append(one.Related, r.String())
		}
		for _, p := range e.Included {
			one.Related = append(one.Related, "included at "+p.String())
		}
		f.all = append(f.all, one)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			f.add(level, one)
		}
	default:
		if wrong, ok := errors.AsType[hocon.Errors](err); ok {
			f.add(level, wrong)
			return
		}
		f.all = append(f.all, finding{Level: level, File: f.file, Message: err.Error()})
	}
}

func (f *findings) json() any {
	valid := !slices.ContainsFunc(f.all, func(one finding) bool { return one.Level == "error" })
	if f.all == nil {
		f.all = []finding{}
	}
	return map[string]any{"file": f.file, "valid": valid, "findings": f.all}
}

// sarif is the format that code scanning reads, version 2.1.0.
func (f *findings) sarif() any {
	type object = map[string]any
	var rules, results []any
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		yield("configuration")
		for id := range spec.Rules() {
			yield(id)
		}
	}) {
		text := spec.Rules()[id]
		if id == "configuration" {
			text = "The configuration is wrong, so that the system would not start with it."
		}
		rules = append(rules, object{"id": id, "shortDescription": object{"text": text}})
	}
	place := func(p hocon.Pos) object {
		at := object{"artifactLocation": object{"uri": p.File}}
		if p.Line > 0 {
			at["region"] = object{"startLine": p.Line, "startColumn": p.Col}
		}
		return at
	}
	for _, one := range f.all {
		text := one.Message
		if one.Path != "" {
			text = one.Path + ": " + text
		}
		result := object{
			"ruleId": ruleOr(one.Rule), "level": one.Level, "message": object{"text": text},
			"locations": []any{object{"physicalLocation": place(hocon.Pos{File: one.File, Line: one.Line, Col: one.Col})}},
		}
		var related []any
		for _, r := range one.related {
			related = append(related, object{"physicalLocation": place(r.Pos), "message": object{"text": r.Msg}})
		}
		if related != nil {
			result["relatedLocations"] = related
		}
		results = append(results, result)
	}
	if results == nil {
		results = []any{}
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{object{
			"tool":       object{"driver": object{"name": "actord", "version": version(), "rules": rules}},
			"columnKind": "unicodeCodePoints", "results": results,
		}},
	}
}

func ruleOr(rule string) string {
	if rule == "" {
		return "configuration"
	}
	return rule
}

// readEnvFile reads NAME=value lines: comments begin with #, `export` may stand
// before a name, and a value may be in quotes.
func readEnvFile(r io.Reader, name string) (map[string]string, error) {
	text, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out := map[string]string{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "export ")), "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.ContainsAny(key, " \t\"'") {
			return nil, fmt.Errorf("%s:%d: want NAME=value", name, number)
		}
		value = strings.TrimSpace(value)
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		out[key] = value
	}
	return out, nil
}
