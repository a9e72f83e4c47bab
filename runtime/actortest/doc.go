// Package actortest is for the tests of behaviours. It has three parts, from
// the smallest to the whole:
//
//   - Rig runs one behaviour without an engine, one call at a time, with timers
//     that fire when the test says so, and records all that the behaviour did.
//   - Probe is an address, and an actor, that keeps what it gets, for tests on a
//     running system.
//   - Suite checks that a behaviour keeps the promises of package actor, on the
//     real engine. Every behaviour has to pass it.
//
// Rig and Probe watch over the contract while they work: a body that a message
// must not carry and a context that is used after its call fail the test.
package actortest
