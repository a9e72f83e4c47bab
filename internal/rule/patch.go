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

// listFunctions take a list and do not loop over an expression.
var listFunctions = []string{"first", "last", "take", "reverse", "sort"}

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
		// With a scalar on one side the library's own comparison is cheap; it is
		// safe unless it takes the other side's type for granted.
		if l, r := isPlain(x.Left), isPlain(x.Right); l && r || l && isAny(x.Right) || r && isAny(x.Left) {
			return
		}
		eq := call("__equal", x.Left, x.Right)
		if op == "!=" {
			ast.Patch(n, &ast.UnaryNode{Operator: "not", Node: eq})
			return
		}
		ast.Patch(n, eq)
	case "contains", "startsWith", "endsWith", "matches":
		x.Left, x.Right = asTextNode(x.Left), asTextNode(x.Right)
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
		if slices.Contains(listFunctions, x.Name) && len(x.Arguments) > 0 {
			x.Arguments[0] = asList(x.Arguments[0])
		}
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

// call calls a function of the environment. It sets the types itself, since the
// library does not look again into the arguments of a call that it has checked,
// and calls a function of unknown type by reflection.
func call(name string, args ...ast.Node) *ast.CallNode {
	callee := &ast.IdentifierNode{Value: name}
	f := functionTypes[name]
	callee.SetType(f)
	n := &ast.CallNode{Callee: callee, Arguments: args}
	if out := f.Out(0); out.Kind() != reflect.Interface {
		n.SetType(out)
	}
	return n
}

func asBool(n ast.Node) ast.Node {
	if isPlain(n) && n.Type().Kind() == reflect.Bool {
		return n
	}
	return call("__true", n)
}

func asTextNode(n ast.Node) ast.Node {
	if isPlain(n) && n.Type().Kind() == reflect.String {
		return n
	}
	return call("__text", n)
}

func asList(n ast.Node) ast.Node {
	switch x := n.(type) {
	case *ast.ArrayNode, *ast.BuiltinNode:
		return n
	case *ast.BinaryNode:
		if x.Operator == ".." {
			return n
		}
	}
	return call("__list", n)
}

func isNumber(n ast.Node) bool { return isNumeric(n.Type().Kind()) }

func isAny(n ast.Node) bool { return n.Type().Kind() == reflect.Interface }

// isPlain says that n is a scalar and never nil. The type alone does not say so:
// for the library, a choice between a text and nil is a text.
func isPlain(n ast.Node) bool {
	if k := n.Type().Kind(); k != reflect.String && k != reflect.Bool && !isNumeric(k) {
		return false
	}
	switch x := n.(type) {
	case *ast.IdentifierNode:
		return slices.Contains(variables, x.Value)
	case *ast.BuiltinNode:
		return x.Type().Kind() == reflect.Bool
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.UnaryNode, *ast.BinaryNode, *ast.CallNode:
		return true
	}
	return false
}
