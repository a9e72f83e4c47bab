// Package actor is the contract between everything that runs messages and
// everything that handles them: messages, addresses, behaviours, the context a
// behaviour works with, and the schema that describes a behaviour's
// configuration.
//
// It holds no engine. Package runtime implements Context for actors in this
// process and package plugins/sdk implements it for actors in a plugin process,
// so a behaviour moves between the two unchanged. Whoever writes a behaviour
// reads this package and nothing else.
//
// The rules every part relies on:
//
//   - A Message is shared and immutable. A behaviour that wants another body
//     copies it first (CopyBody).
//   - Receive is never called concurrently for one actor, so a behaviour's own
//     fields need no lock.
//   - A Context is valid only during the call it was given to. Work that ends
//     later keeps a Handle and Letters instead.
//   - An error or a panic is the actor's failure; its supervisor decides.
package actor
