package rule

import (
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// fastFunc evaluates a tree of closures. It does not allocate and has no state.
type fastFunc func(in *Input) val

// fastOf returns the closures for a tree as the parser made it, nil when a part
// of it needs the machine.
func fastOf(n ast.Node) fastFunc {
	switch n := n.(type) {
	case *ast.NilNode:
		return constant(val{tag: nothing})
	case *ast.BoolNode:
		return constant(ofBool(n.Value))
	case *ast.IntegerNode:
		return constant(ofInt(int64(n.Value)))
	case *ast.FloatNode:
		return constant(ofFloat(n.Value))
	case *ast.StringNode:
		return constant(ofText(n.Value))
	case *ast.IdentifierNode:
		return fastVariable(n.Value)
	case *ast.ChainNode:
		return fastOf(n.Node)
	case *ast.MemberNode:
		return fastMember(n)
	case *ast.UnaryNode:
		return fastUnary(n)
	case *ast.BinaryNode:
		return fastBinary(n)
	case *ast.ConditionalNode:
		return fastChoice(fastOf(n.Cond), fastOf(n.Exp1), fastOf(n.Exp2))
	}
	return nil
}

func constant(v val) fastFunc { return func(*Input) val { return v } }

func fastVariable(name string) fastFunc {
	switch name {
	case "kind":
		return func(in *Input) val { return ofText(in.Message.Kind) }
	case "msg":
		return func(in *Input) val { return ofAny(in.Message.Body) }
	case "sender":
		return func(in *Input) val { return ofText(string(in.Sender)) }
	case "path":
		return func(in *Input) val { return ofText(string(in.Path)) }
	case "attempt":
		return func(in *Input) val { return ofInt(int64(in.Attempt)) }
	case "age":
		return func(in *Input) val { return ofFloat(in.Age.Seconds()) }
	case "size":
		return func(in *Input) val { return ofInt(int64(in.size())) }
	case "error":
		return func(in *Input) val { return ofText(in.Error) }
	}
	return nil
}

// fastMember handles msg.a.b… and headers.a with constant names.
func fastMember(n *ast.MemberNode) fastFunc {
	root, keys := memberPath(n)
	switch {
	case root == "headers" && len(keys) == 1:
		key := keys[0]
		return func(in *Input) val {
			if s, ok := in.Message.Headers[key]; ok {
				return ofText(s)
			}
			return val{tag: nothing}
		}
	case root == "msg" && len(keys) == 1:
		key := keys[0]
		return func(in *Input) val {
			m, _ := in.Message.Body.(map[string]any)
			return ofAny(m[key])
		}
	case root == "msg":
		return func(in *Input) val {
			v := in.Message.Body
			for _, k := range keys {
				m, _ := v.(map[string]any)
				v = m[k]
			}
			return ofAny(v)
		}
	}
	return nil
}

// memberPath returns "" as root when n is not a chain of constant names.
func memberPath(n ast.Node) (root string, keys []string) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value, nil
	case *ast.ChainNode:
		return memberPath(n.Node)
	case *ast.MemberNode:
		key, ok := n.Property.(*ast.StringNode)
		if root, keys = memberPath(n.Node); ok && root != "" {
			return root, append(keys, key.Value)
		}
	}
	return "", nil
}

func fastUnary(n *ast.UnaryNode) fastFunc {
	x := fastOf(n.Node)
	if x == nil {
		return nil
	}
	switch n.Operator {
	case "not", "!":
		return func(in *Input) val {
			yes, ok := x(in).truth()
			if !ok {
				return val{}
			}
			return ofBool(!yes)
		}
	case "-":
		return func(in *Input) val {
			switch v := x(in); v.tag {
			case whole:
				return ofInt(-int64(v.n))
			case float:
				return ofFloat(-v.number())
			}
			return val{}
		}
	}
	return nil
}

func fastChoice(cond, yes, no fastFunc) fastFunc {
	if cond == nil || yes == nil || no == nil {
		return nil
	}
	return func(in *Input) val {
		switch is, ok := cond(in).truth(); {
		case !ok:
			return val{}
		case is:
			return yes(in)
		default:
			return no(in)
		}
	}
}

func fastBinary(n *ast.BinaryNode) fastFunc {
	l := fastOf(n.Left)
	if l == nil {
		return nil
	}
	switch n.Operator {
	case "in":
		return fastIn(l, n.Right)
	case "matches":
		return fastMatches(l, n.Right)
	}
	r := fastOf(n.Right)
	if r == nil {
		return nil
	}
	switch n.Operator {
	case "and", "&&":
		return fastLogic(l, r, false)
	case "or", "||":
		return fastLogic(l, r, true)
	case "??":
		return func(in *Input) val {
			if v := l(in); v.tag != nothing {
				return v
			}
			return r(in)
		}
	case "==":
		if s, ok := n.Right.(*ast.StringNode); ok {
			return fastEqualText(l, s.Value)
		}
		return func(in *Input) val { return equal(l(in), r(in)) }
	case "!=":
		return func(in *Input) val {
			v := equal(l(in), r(in))
			v.n ^= 1
			return v
		}
	}
	return fastOperator(n.Operator, l, r)
}

// fastOperator handles the operators that always need both operands.
func fastOperator(op string, l, r fastFunc) fastFunc {
	var f func(l, r val) val
	switch op {
	case "<":
		f = func(l, r val) val { return less(l, r) }
	case ">":
		f = func(l, r val) val { return less(r, l) }
	case "<=":
		f = func(l, r val) val { return lessOrEqual(l, r) }
	case ">=":
		f = func(l, r val) val { return lessOrEqual(r, l) }
	case "contains":
		f = func(l, r val) val { return onTexts(l, r, strings.Contains) }
	case "startsWith":
		f = func(l, r val) val { return onTexts(l, r, strings.HasPrefix) }
	case "endsWith":
		f = func(l, r val) val { return onTexts(l, r, strings.HasSuffix) }
	case "+":
		f = func(l, r val) val {
			return arithmetic(l, r, func(x, y int64) int64 { return x + y }, func(x, y float64) float64 { return x + y })
		}
	case "-":
		f = func(l, r val) val {
			return arithmetic(l, r, func(x, y int64) int64 { return x - y }, func(x, y float64) float64 { return x - y })
		}
	case "*":
		f = func(l, r val) val {
			return arithmetic(l, r, func(x, y int64) int64 { return x * y }, func(x, y float64) float64 { return x * y })
		}
	case "/":
		f = func(l, r val) val {
			if !l.isNumber() || !r.isNumber() {
				return val{}
			}
			return ofFloat(l.number() / r.number())
		}
	default:
		return nil
	}
	return func(in *Input) val { return f(l(in), r(in)) }
}

// fastLogic stops at the first operand that equals decided.
func fastLogic(l, r fastFunc, decided bool) fastFunc {
	return func(in *Input) val {
		yes, ok := l(in).truth()
		if ok && yes != decided {
			yes, ok = r(in).truth()
		}
		if !ok {
			return val{}
		}
		return ofBool(yes)
	}
}

func fastEqualText(l fastFunc, s string) fastFunc {
	return func(in *Input) val {
		switch v := l(in); v.tag {
		case texts:
			return ofBool(v.s == s)
		case giveUp, other:
			return val{}
		}
		return ofBool(false)
	}
}

// fastIn handles lists of constants.
func fastIn(l fastFunc, right ast.Node) fastFunc {
	array, ok := right.(*ast.ArrayNode)
	if !ok {
		return nil
	}
	var set []val
	for _, n := range array.Nodes {
		switch n.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode:
			set = append(set, fastOf(n)(nil))
		default:
			return nil
		}
	}
	return func(in *Input) val {
		v := l(in)
		if v.tag == giveUp || v.tag == other {
			return val{}
		}
		for i := range set {
			if equal(v, set[i]).n != 0 {
				return ofBool(true)
			}
		}
		return ofBool(false)
	}
}

func fastMatches(l fastFunc, right ast.Node) fastFunc {
	pattern, ok := right.(*ast.StringNode)
	if !ok {
		return nil
	}
	re, err := regexp.Compile(pattern.Value)
	if err != nil {
		return nil
	}
	return func(in *Input) val {
		switch v := l(in); v.tag {
		case texts:
			return ofBool(re.MatchString(v.s))
		case nothing:
			return ofBool(false)
		}
		return val{}
	}
}
