// Package rule compiles and evaluates the expressions of a configuration: ranks
// of messages, conditions, keys and transforms. It alone knows the expression
// library, and it makes that library safe for use beside a mailbox.
//
// # What an expression sees
//
//	kind     text     the message's kind
//	msg      any      the message's body
//	headers  map      the message's headers
//	sender   text     the sender's path, "" when nobody sent the message
//	path     text     the path of the actor that evaluates
//	attempt  number   1 for the first delivery
//	age      number   seconds since the message entered, with fractions
//	size     number   bytes of a text or binary body, entries of a list or map, else 0
//	error    text     the failure that a supervision rule is asked about, else ""
//
// Names that a place does not know have their zero value there.
//
// # What is absent
//
// A field that is missing is nil, and so is a field of something that has no
// fields, so msg.a.b never fails. nil is false as a condition. <, <=, > and >=
// with nil are false; == and != compare nil like any value. nil as a list is the
// empty list, len(nil) is 0, and lower, upper, trim… of nil are nil. Arithmetic
// with nil is an error, as is a comparison of a text with a number.
//
// # What is not there
//
// Expressions are deterministic and bounded. There is no clock, no randomness
// and no repeat; keys and values are sorted. The source is at most MaxSource
// bytes. Loops, lists and texts that an evaluation makes are paid from a budget;
// an evaluation that exceeds it fails with ErrBudget instead of running on.
//
// Comparisons, arithmetic, logic and field access run as compiled closures
// without allocation; everything else runs in the library's virtual machine. The
// two agree, and where a closure meets a value it was not made for it gives the
// whole expression to the machine.
package rule
