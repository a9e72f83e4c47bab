package rule

import (
	"fmt"
	"math"

	"github.com/expr-lang/expr/vm"

	"github.com/actord/actord/runtime/actor"
)

// Evaluator evaluates one program again and again. It holds a virtual machine
// and scratch memory and is not for concurrent use: have one per actor.
type Evaluator struct {
	p      *Program
	vm     vm.VM
	env    map[string]any // nil until the machine is needed
	budget budget
}

// Evaluator returns a new evaluator. It is cheap; the machine is set up when it
// is first needed.
func (p *Program) Evaluator() *Evaluator { return &Evaluator{p: p} }

// Bool evaluates a condition. Nothing (nil) is false; anything but true or
// false is an error.
func (e *Evaluator) Bool(in *Input) (bool, error) {
	if e.p.fast != nil {
		switch v := e.p.fast(in); v.tag {
		case boolean:
			return v.n != 0, nil
		case nothing:
			return false, nil
		}
	}
	v, err := e.run(in)
	if err != nil {
		return false, err
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case nil:
		return false, nil
	}
	return false, e.unwanted(v, actor.BoolSite)
}

// Number evaluates to a finite number. Nothing, NaN, infinities and whatever is
// no number are errors, since they cannot be ranked.
func (e *Evaluator) Number(in *Input) (float64, error) {
	if e.p.fast != nil {
		if v := e.p.fast(in); v.isNumber() {
			if n := v.number(); finite(n) {
				return n, nil
			}
		}
	}
	v, err := e.run(in)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case float64:
		if finite(v) {
			return v, nil
		}
	}
	return 0, e.unwanted(v, actor.NumberSite)
}

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// String evaluates to a text. Numbers and true and false are written as texts,
// so that msg.id is a key whatever its type; nothing, lists and maps are errors.
func (e *Evaluator) String(in *Input) (string, error) {
	if e.p.fast != nil {
		if v := e.p.fast(in); v.tag == texts {
			return v.s, nil
		}
	}
	v, err := e.run(in)
	if err != nil {
		return "", err
	}
	switch v.(type) {
	case string, []byte, bool, int, int64, float64:
		return text(v), nil
	}
	return "", e.unwanted(v, actor.StringSite)
}

// Value evaluates to a message body. The result shares no list, map or bytes
// with the input.
func (e *Evaluator) Value(in *Input) (result any, err error) {
	v, err := e.run(in)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			cause, ok := r.(error)
			if !ok {
				panic(r)
			}
			err = &Error{Msg: cause.Error(), cause: cause}
		}
	}()
	return e.budget.body(v, 0), nil
}

func (e *Evaluator) unwanted(v any, site string) error {
	return &Error{Msg: fmt.Sprintf("gives %s; %s is wanted", show(v), siteWants[site])}
}

// run evaluates in the machine.
func (e *Evaluator) run(in *Input) (any, error) {
	if e.env == nil {
		e.env = functions(&e.budget)
		e.vm.MemoryBudget = maxElements
	}
	e.budget.refill()
	for _, name := range e.p.uses {
		e.env[name] = in.variable(name)
	}
	v, err := e.vm.Run(e.p.code, e.env)
	e.forget()
	if err != nil {
		return nil, failed(e.p.src, err)
	}
	return v, nil
}

// failed places the machine's error. The machine has a budget of its own, for
// the elements it makes, and says so only in words.
func failed(src string, err error) *Error {
	e := placed(src, err)
	if e.cause == nil && e.Msg == "memory budget exceeded" {
		e.Msg, e.cause = ErrBudget.Error(), ErrBudget
	}
	return e
}

// forget drops what the machine still points to, so that an idle actor does not
// keep its last message in memory.
func (e *Evaluator) forget() {
	clear(e.vm.Stack[:cap(e.vm.Stack)])
	clear(e.vm.Variables)
	for _, name := range e.p.uses {
		e.env[name] = nil
	}
}

func (in *Input) variable(name string) any {
	switch name {
	case "kind":
		return in.Message.Kind
	case "msg":
		return in.Message.Body
	case "headers":
		return map[string]string(in.Message.Headers)
	case "sender":
		return string(in.Sender)
	case "path":
		return string(in.Path)
	case "attempt":
		return in.Attempt
	case "age":
		return in.Age.Seconds()
	case "size":
		return in.size()
	default:
		return in.Error
	}
}

func (in *Input) size() int {
	switch b := in.Message.Body.(type) {
	case string:
		return len(b)
	case []byte:
		return len(b)
	case []any:
		return len(b)
	case map[string]any:
		return len(b)
	}
	return 0
}

type ranker struct {
	eval *Evaluator
	in   Input
}

// Rank returns the priority function of a mailbox: lower ranks first. It is
// safe for concurrent use, since senders compute ranks on their own goroutines;
// each call borrows an evaluator from a pool of the program. A message that
// cannot be ranked has rank def, and onError, which may be nil and must be safe
// for concurrent use, learns why.
func (p *Program) Rank(def float64, onError func(error)) func(m actor.Message, sender actor.Ref) float64 {
	return func(m actor.Message, sender actor.Ref) float64 {
		r := p.pool.Get().(*ranker)
		r.in.Message = m
		if sender != nil {
			r.in.Sender = sender.Path()
		}
		n, err := r.eval.Number(&r.in)
		r.in = Input{}
		p.pool.Put(r)
		if err == nil {
			return n
		}
		if onError != nil {
			onError(err)
		}
		return def
	}
}
