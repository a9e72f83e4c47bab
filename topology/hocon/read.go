package hocon

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// mistake is an error of a typed read: without a place, which Wrap adds.
func mistake(hint, msg string) error { return &Error{Msg: msg, Hint: hint} }

// says names the value in a message: its text in quotes, or its kind.
func (n *Node) says() string {
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == Array:
		return "an array"
	case n.Kind == Object:
		return "an object"
	case n.Kind == Null:
		return "null"
	case len(n.Text) > 60:
		return strconv.Quote(strings.ToValidUTF8(n.Text[:60], "")) + "…"
	}
	return strconv.Quote(n.Text)
}

// text returns the text of a number, bool or string.
func (n *Node) text(noun, hint string) (string, error) {
	if n == nil || n.Kind == Array || n.Kind == Object || n.Kind == Null {
		return "", mistake(hint, n.says()+" is not "+noun)
	}
	return n.Text, nil
}

// Str returns the text of a number, bool or string, as written.
func (n *Node) Str() (string, error) {
	return n.text("text", "want one word, or text in quotes")
}

// Int returns a whole number. Text that reads as one counts, because what comes
// from the environment is text; 1e3 and 2.0 are whole, too.
func (n *Node) Int() (int64, error) {
	const hint = "want a count, e.g. 1000"
	text, err := n.text("a number", hint)
	if err != nil {
		return 0, err
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil && text[0] != '+' {
		return v, nil
	}
	if !isNumber(text) {
		return 0, mistake(hint, n.says()+" is not a number")
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.Abs(f) >= 1<<63:
		return 0, mistake("want a count up to 9223372036854775807", n.says()+" is too large")
	case f != math.Trunc(f):
		return 0, mistake(hint, n.says()+" is not a whole number")
	}
	return int64(f), nil
}

// Float returns a number. Text that reads as one counts.
func (n *Node) Float() (float64, error) {
	const hint = "want a number, e.g. 0.5"
	text, err := n.text("a number", hint)
	if err != nil {
		return 0, err
	}
	if !isNumber(text) {
		return 0, mistake(hint, n.says()+" is not a number")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, mistake("", n.says()+" is too large for a number")
	}
	return f, nil
}

// Bool returns true for true, yes, on and false for false, no, off.
func (n *Node) Bool() (bool, error) {
	const hint = "want on or off"
	text, err := n.text("a switch", hint)
	if err != nil {
		return false, err
	}
	switch text {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off":
		return false, nil
	}
	return false, mistake(hint, n.says()+" is not a switch")
}

// List returns the elements of an array, or of an object with whole numbers as
// keys the values in the order of the numbers, as list.0 = a, list.1 = b gives it.
func (n *Node) List() ([]*Node, error) {
	if n == nil {
		return nil, mistake("want a list, e.g. [a, b]", "nothing is not a list")
	}
	if n.Kind == Array {
		return n.Elems(), nil
	}
	if n.Kind != Object || len(n.kids) == 0 {
		return nil, mistake("want a list, e.g. [a, b]", n.says()+" is not a list")
	}
	elems := slices.Clone(n.kids)
	for _, kid := range elems {
		if !isIndex(kid.key) {
			return nil, mistake("want a list, e.g. [a, b]", "an object with the key "+strconv.Quote(kid.key)+" is not a list")
		}
	}
	slices.SortFunc(elems, func(a, b *Node) int { return compareIndex(a.key, b.key) })
	return elems, nil
}

// Any returns the value as nil, bool, int64, float64, string, []any or
// map[string]any. A number is an int64 if it is written as one that fits, and
// infinite if it is too large for a float64.
func (n *Node) Any() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.Text == "true"
	case Number:
		if v, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return v
		}
		f, _ := strconv.ParseFloat(n.Text, 64)
		return f
	case Array:
		all := make([]any, len(n.kids))
		for i, kid := range n.kids {
			all[i] = kid.Any()
		}
		return all
	case Object:
		all := make(map[string]any, len(n.kids))
		for _, kid := range n.kids {
			all[kid.key] = kid.Any()
		}
		return all
	}
	return n.Text
}
