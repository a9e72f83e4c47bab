package actord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
)

// trying is what the flags of expr say.
type trying struct {
	message, site              string
	kind, sender, path, errors string
	headers                    actor.Headers
	attempt                    int
	age                        time.Duration
}

func (a *app) exprFlags(fs *flag.FlagSet) {
	t := &a.trying
	fs.StringVar(&t.message, "message", "", "the body, msg, as `JSON`; - reads it from standard input")
	fs.StringVar(&t.site, "site", actor.ValueSite, "what the expression is for: value, bool, number or string")
	fs.StringVar(&t.kind, "kind", "", "the message's kind; the body's field kind when not given")
	fs.StringVar(&t.sender, "sender", "", "the sender's path")
	fs.StringVar(&t.path, "path", "", "the path of the actor that evaluates")
	fs.StringVar(&t.errors, "error", "", "the failure that a supervision rule is asked about")
	fs.IntVar(&t.attempt, "attempt", 1, "which delivery it is")
	fs.DurationVar(&t.age, "age", 0, "time since the message entered")
	fs.Func("header", "a header `NAME=value`; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return errors.New("want NAME=value")
		}
		if t.headers == nil {
			t.headers = actor.Headers{}
		}
		t.headers[name] = value
		return nil
	})
}

// expr evaluates an expression on a message and prints the result as JSON.
func (a *app) expr(_ context.Context, args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(a.err, `actord expr: want one expression, e.g. actord expr 'msg.amount > 100' --message '{"amount": 200}'`)
		return ExitUsage
	}
	sites := []string{actor.ValueSite, actor.BoolSite, actor.NumberSite, actor.StringSite}
	if !slices.Contains(sites, a.trying.site) {
		fmt.Fprintf(a.err, "actord expr: unknown site %q (want one of %s)\n", a.trying.site, strings.Join(sites, ", "))
		return ExitUsage
	}
	in, err := a.trying.input(a.in)
	if err != nil {
		fmt.Fprintln(a.err, "actord expr:", err)
		return ExitInvalid
	}
	p, err := rule.Compile(a.trying.site, args[0])
	if err != nil {
		return a.exprFailed(err)
	}
	result, err := evaluate(p, a.trying.site, in)
	if err != nil {
		return a.exprFailed(err)
	}
	return a.write(ExitOK, result)
}

// exprFailed shows a mistake with the line and a caret.
func (a *app) exprFailed(err error) int {
	fmt.Fprintln(a.err, err)
	if e, ok := errors.AsType[*rule.Error](err); ok && e.Snippet != "" {
		for line := range strings.SplitSeq(e.Snippet, "\n") {
			fmt.Fprintln(a.err, "    "+line)
		}
	}
	return ExitInvalid
}

func evaluate(p *rule.Program, site string, in *rule.Input) (any, error) {
	e := p.Evaluator()
	switch site {
	case actor.BoolSite:
		return e.Bool(in)
	case actor.NumberSite:
		return e.Number(in)
	case actor.StringSite:
		return e.String(in)
	}
	return e.Value(in)
}

// input is the message that the flags describe.
func (t *trying) input(stdin io.Reader) (*rule.Input, error) {
	in := &rule.Input{
		Message: actor.Message{Kind: t.kind, Headers: t.headers},
		Sender:  actor.Path(t.sender), Path: actor.Path(t.path), Attempt: t.attempt, Age: t.age, Error: t.errors,
	}
	text := []byte(t.message)
	if t.message == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(stdin, maxBody)); err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return in, nil
	}
	body, err := readBody(text)
	if err != nil {
		return nil, err
	}
	in.Message.Body = body
	if fields, ok := body.(map[string]any); ok && t.kind == "" {
		in.Message.Kind, _ = fields["kind"].(string)
	}
	return in, nil
}

// maxBody bounds a message that is read from standard input.
const maxBody = 16 << 20

// readBody reads JSON as a message body: whole numbers are int64.
func readBody(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the message is no JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("the message is no JSON: there is something after it")
	}
	return bodyOf(v)
}

func bodyOf(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		n, err := v.Float64()
		if err != nil {
			return nil, fmt.Errorf("the message holds %s, which is too large", v)
		}
		return n, nil
	case []any:
		for i := range v {
			if v[i], err = bodyOf(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = bodyOf(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
