package rule

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
)

// patcher rewrites a checked tree so that absent values do no harm and loops
// are paid for. It replaces operators and accesses by calls of the hidden
// functions of the environment (see functions). The library walks a tree from
// the leaves up, so a child may have been rewritten already and then has no type.
type patcher struct{}

var orderings = map[string]string{"<": "__less", "<=": "__lessEq", ">": "__more", ">=": "__moreEq"}

// predicateResults says for each looping function whether its body decides.
var predicateResults = map[string]string{
	"all": "__stepBool", "none": "__stepBool", "any": "__stepBool", "one": "__stepBool", "filter": "__stepBool",
	"find": "__stepBool", "findIndex": "__stepBool", "findLast": "__stepBool", "findLastIndex": "__stepBool", "count": "__stepBool",
	"map": "__step", "sum": "__step", "groupBy": "__step", "sortBy": "__step", "reduce": "__step",
}

// Visit rewrites one node.
func (p *patcher) Visit(n *ast.Node) {
	switch x := (*n).(type) {
	case *ast.MemberNode:
		ast.Patch(n, call("__get", x.Node, x.Property))
	case *ast.ChainNode:
		*n = x.Node
	case *ast.SliceNode:
		x.Node = asList(x.Node)
	case *ast.ConditionalNode:
		x.Cond = asBool(x.Cond)
	case *ast.UnaryNode:
		if x.Operator == "not" || x.Operator == "!" {
			x.Node = asBool(x.Node)
		}
	case *ast.BinaryNode:
		p.binary(n, x)
	case *ast.BuiltinNode:
		p.builtin(x)
	}
}

func (p *patcher) binary(n *ast.Node, x *ast.BinaryNode) {
	switch op := x.Operator; op {
	case "and", "&&", "or", "||":
		x.Left, x.Right = asBool(x.Left), asBool(x.Right)
	case "<", "<=", ">", ">=":
		if !isPlain(x.Left) || !isPlain(x.Right) {
			ast.Patch(n, call(orderings[op], x.Left, x.Right))
		}
	case "==", "!=":
		if isPlain(x.Left) || isPlain(x.Right) {
			return
		}
		eq := call("__equal", x.Left, x.Right)
		if op == "!=" {
			eq.SetType(reflect.TypeFor[bool]())
			ast.Patch(n, &ast.UnaryNode{Operator: "not", Node: eq})
			return
		}
		ast.Patch(n, eq)
	case "in":
		ast.Patch(n, call("__in", x.Left, x.Right))
	case "+":
		if !isNumber(x.Left) || !isNumber(x.Right) {
			ast.Patch(n, call("__add", x.Left, x.Right))
		}
	}
}

func (p *patcher) builtin(x *ast.BuiltinNode) {
	step, loops := predicateResults[x.Name]
	if !loops {
		for i, a := range x.Arguments {
			if !isNumber(a) {
				x.Arguments[i] = call("__cost", a)
			}
		}
		return
	}
	x.Arguments[0] = asList(x.Arguments[0])
	for _, a := range x.Arguments[1:] {
		if body, ok := a.(*ast.PredicateNode); ok {
			body.Node = call(step, body.Node)
		}
	}
	if x.Name == "sum" && len(x.Arguments) == 1 {
		x.Arguments[0] = call("__cost", x.Arguments[0])
	}
}

func call(name string, args ...ast.Node) *ast.CallNode {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

func asBool(n ast.Node) ast.Node {
	if n.Type().Kind() == reflect.Bool {
		return n
	}
	return call("__true", n)
}

func asList(n ast.Node) ast.Node {
	if k := n.Type().Kind(); k == reflect.Slice || k == reflect.String {
		return n
	}
	return call("__list", n)
}

func isNumber(n ast.Node) bool { return isNumeric(n.Type().Kind()) }

// isPlain says that n is never nil and never holds other values.
func isPlain(n ast.Node) bool {
	return isNumber(n) || slices.Contains([]reflect.Kind{reflect.String, reflect.Bool}, n.Type().Kind())
}
