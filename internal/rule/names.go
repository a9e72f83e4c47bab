package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/actord/actord/runtime/actor"
)

var variables = []string{"kind", "msg", "headers", "sender", "path", "attempt", "age", "size", "error"}

// nativeFunctions are the library's functions that are deterministic and take no
// longer than their arguments are long.
var nativeFunctions = []string{
	"all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "count", "sum",
	"groupBy", "sortBy", "reduce",
	"abs", "ceil", "floor", "round", "max", "min", "mean", "median",
	"first", "last", "take", "reverse", "sort", "type",
}

// Functions lists the functions that expressions may call, sorted.
func Functions() []string {
	all := slices.Clone(nativeFunctions)
	for name := range environment {
		if !strings.HasPrefix(name, hidden) && !slices.Contains(variables, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// nameCheck finds names that do not exist and constructs that are not allowed.
type nameCheck struct {
	src   string
	lets  []string
	uses  []string
	wrong *Error // the first mistake
}

func (c *nameCheck) check(root ast.Node) error {
	ast.Walk(&root, visitFunc(c.declare))
	ast.Walk(&root, visitFunc(c.visit))
	if c.wrong != nil {
		return c.wrong
	}
	return nil
}

type visitFunc func(n *ast.Node)

// Visit calls f.
func (f visitFunc) Visit(n *ast.Node) { f(n) }

func (c *nameCheck) declare(n *ast.Node) {
	if v, ok := (*n).(*ast.VariableDeclaratorNode); ok {
		if strings.HasPrefix(v.Name, hidden) {
			c.fail(v, fmt.Sprintf("name %s starts with %q, which is kept for internal use", v.Name, hidden))
		}
		c.lets = append(c.lets, v.Name)
	}
}

func (c *nameCheck) visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.IdentifierNode:
		c.name(n)
	case *ast.BuiltinNode:
		if !slices.Contains(nativeFunctions, n.Name) {
			c.fail(n, unavailable(n.Name))
		}
	case *ast.CallNode:
		if _, ok := n.Callee.(*ast.IdentifierNode); !ok {
			c.fail(n, "values have no methods; call a function, e.g. lower(msg.name)")
		}
	}
}

func (c *nameCheck) name(n *ast.IdentifierNode) {
	name := n.Value
	switch _, known := environment[name]; {
	case slices.Contains(variables, name):
		if !slices.Contains(c.uses, name) {
			c.uses = append(c.uses, name)
		}
	case slices.Contains(c.lets, name), known && !strings.HasPrefix(name, hidden):
	case slices.Contains(builtin.Names, name):
		c.fail(n, unavailable(name))
	default:
		known := slices.Concat(variables, c.lets, Functions())
		c.fail(n, fmt.Sprintf("unknown name %s%s", name, hint(name, known)))
	}
}

func hint(name string, known []string) string {
	if s := actor.DidYouMean(name, known); s != "" {
		return s
	}
	return fmt.Sprintf(" (known are %s; a text needs quotes, a field of the body is msg.%s)", strings.Join(variables, ", "), name)
}

func unavailable(name string) string {
	return fmt.Sprintf("function %s is not available here; available are %s", name, strings.Join(Functions(), ", "))
}

func (c *nameCheck) fail(n ast.Node, msg string) {
	if c.wrong == nil {
		c.wrong = errorAt(c.src, n.Location().From, msg, nil)
	}
}
