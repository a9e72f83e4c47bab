// Package plan compares two checked configurations and says in which steps a
// running system gets from one to the other. Diff is pure: it starts nothing, and
// the same two systems always give the same plan.
//
// Actors, bridges and plugins are compared by path or name and by their canonical
// settings, never by their structs. What has the same hash has no step, and
// neither has what is below it.
//
// # The order of the steps
//
//  1. Settings of the system, so that the new log level tells what follows.
//  2. Bridges that go: nothing may come in any more for actors that go, and
//     addresses and client names become free.
//  3. Plugins that come or change, since actors are made of them.
//     Topics that come are known before their publishers.
//  4. Actors that come, in their start-order, then those that are renamed, then
//     those that are replaced. What routes to a new actor or a new name is changed
//     after it is there.
//  5. Changes in place: mailboxes and supervision before arguments, because new
//     arguments can bring new load.
//  6. Topics that change, since new subscribers are there and old ones still are;
//     subscriptions to events.
//  7. Bridges that change, then bridges that come: messages come in only when the
//     tree can take them.
//  8. Actors that go, in the reverse of their start-order. Nobody sends to them
//     any more, so what is in their mailboxes is worked off.
//  9. Plugins that go, since the actors made of them have ended, and topics that
//     go, since nobody publishes to them any more.
//  10. What needs a restart of the daemon; it is reported and not done.
package plan
