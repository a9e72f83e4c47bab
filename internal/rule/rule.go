package rule

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/actord/actord/runtime/actor"
)

// Limits of one expression.
const (
	MaxSource = 4096 // bytes
	maxNodes  = 2000
)

// Input is what an expression sees; see the package comment.
type Input struct {
	Message      actor.Message
	Sender, Path actor.Path
	Attempt      int
	Age          time.Duration
	Error        string
}

// Error is a mistake in an expression, found by Compile or while evaluating.
type Error struct {
	Msg       string
	Line, Col int    // of the place in the source, from 1, in characters; 0 when the whole is meant
	Snippet   string // the line and, below it, a caret at Col; "" when there is no place
	cause     error
}

// Error returns the mistake with its place in the expression.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "expression: " + e.Msg
	}
	return fmt.Sprintf("expression:%d:%d: %s", e.Line, e.Col, e.Msg)
}

// Unwrap returns the cause of a failed evaluation, such as ErrBudget.
func (e *Error) Unwrap() error { return e.cause }

// Program is a compiled expression. It is immutable and may be shared.
type Program struct {
	site, src string
	code      *vm.Program
	fast      fastFunc // nil when the whole needs the machine
	uses      []string // variables that the source reads
	pool      *sync.Pool
}

// Source returns the text that the program was compiled from.
func (p *Program) Source() string { return p.src }

// Compile checks src and compiles it for site: actor.BoolSite, NumberSite,
// ValueSite or StringSite. Every error is an *Error. It may be called from any
// goroutine.
func Compile(site, src string) (p *Program, err error) {
	defer func() {
		// The library panics on some trees that it does not expect.
		if r := recover(); r != nil {
			p, err = nil, &Error{Msg: fmt.Sprintf("cannot be compiled: %v", r)}
		}
	}()
	if err := checkSource(src); err != nil {
		return nil, err
	}
	root, uses, err := check(site, src)
	if err != nil {
		return nil, err
	}
	p = &Program{site: site, src: src, uses: uses}
	p.pool = &sync.Pool{New: func() any { return &ranker{eval: p.Evaluator()} }}
	if p.code, err = expr.Compile(src, append(options(), expr.Patch(&patcher{}))...); err != nil {
		return nil, placed(src, err)
	}
	if site != actor.ValueSite {
		p.fast = fastOf(root)
	}
	return p, nil
}

func checkSource(src string) error {
	switch {
	case len(src) > MaxSource:
		return &Error{Msg: fmt.Sprintf("has %d bytes; at most %d are allowed", len(src), MaxSource)}
	case strings.TrimSpace(src) == "":
		return &Error{Msg: "is empty"}
	case !utf8.ValidString(src):
		return &Error{Msg: "is not UTF-8"}
	}
	return nil
}

// options is how the library is set up: no built-in function but the allowed
// ones. Its optimizer is off because it unfolds constant ranges while compiling,
// which no budget limits.
func options() []expr.Option {
	opts := []expr.Option{expr.Env(environment), expr.DisableAllBuiltins(), expr.MaxNodes(maxNodes), expr.Optimize(false)}
	for _, name := range nativeFunctions {
		opts = append(opts, expr.EnableBuiltin(name))
	}
	return opts
}

// check parses src as a person wrote it, checks names and types, and returns
// the tree and the variables it reads. Errors speak of the source and not of
// what patching makes of it.
func check(site, src string) (ast.Node, []string, error) {
	config := conf.CreateNew()
	for _, o := range options() {
		o(config)
	}
	for name := range config.Disabled {
		delete(config.Builtins, name)
	}
	tree, err := parser.ParseWithConfig(src, config)
	if err != nil {
		return nil, nil, placed(src, err)
	}
	names := &nameCheck{src: src}
	if err := names.check(tree.Node); err != nil {
		return nil, nil, err
	}
	result, err := checker.Check(tree, config)
	if err != nil {
		return nil, nil, placed(src, err)
	}
	return tree.Node, names.uses, checkResult(site, result)
}

var siteWants = map[string]string{
	actor.BoolSite: "a condition (true or false)", actor.NumberSite: "a number", actor.StringSite: "a text", actor.ValueSite: "a value",
}

// checkResult rejects a result type that site can never use. Types that are
// known only when the expression runs are checked then.
func checkResult(site string, t reflect.Type) error {
	want, known := siteWants[site]
	if !known {
		return &Error{Msg: fmt.Sprintf("is for an unknown site %q", site)}
	}
	ok := true
	switch k := t.Kind(); {
	case k == reflect.Interface || site == actor.ValueSite:
		ok = k != reflect.Func
	case site == actor.BoolSite:
		ok = k == reflect.Bool
	case site == actor.NumberSite:
		ok = isNumeric(k)
	case site == actor.StringSite:
		ok = isNumeric(k) || k == reflect.Bool || k == reflect.String
	}
	if !ok {
		return &Error{Msg: fmt.Sprintf("gives %s; %s is wanted", typeName(t), want), Line: 1, Col: 1}
	}
	return nil
}

func isNumeric(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Float64 }

func typeName(t reflect.Type) string {
	switch k := t.Kind(); {
	case isNumeric(k):
		return "a number"
	case k == reflect.String:
		return "a text"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Slice:
		return "a list"
	case k == reflect.Map:
		return "a map"
	case k == reflect.Func:
		return "a function (call it with parentheses)"
	}
	return t.String()
}

// placed turns the library's error into an Error.
func placed(src string, err error) *Error {
	fe, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &Error{Msg: err.Error(), cause: err}
	}
	return errorAt(src, fe.From, fe.Message, fe.Prev)
}

// errorAt makes an Error for the character at offset from of src.
func errorAt(src string, from int, msg string, cause error) *Error {
	runes := []rune(src)
	from = max(0, min(from, len(runes)))
	e := &Error{Msg: msg, Line: 1, Col: 1, cause: cause}
	start := 0
	for i, r := range runes[:from] {
		if r == '\n' {
			e.Line++
			start = i + 1
		}
	}
	e.Col += from - start
	line, _, _ := strings.Cut(string(runes[start:]), "\n")
	line = strings.ReplaceAll(line, "\t", " ")
	e.Snippet = line + "\n" + strings.Repeat(" ", e.Col-1) + "^"
	return e
}
