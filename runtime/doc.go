// Package runtime is the engine: it runs a tree of actors in one process.
//
// A System holds the tree. Each actor is a cell (its typed half: mailbox,
// behaviour, the turn that handles messages) on a node (its plain half: place in
// the tree, supervision, watchers, life cycle). What the engine promises:
//
//   - One actor handles one message at a time; consecutive messages happen
//     before each other, on whatever goroutine they run.
//   - Control signals (stop, restart, a child's failure) come before every
//     queued message.
//   - accepted = handled + failed + dead letters + counted drops, under stop,
//     restart, reload and shutdown: closing a mailbox and putting a message into
//     it are atomic to each other.
//   - A restart keeps the mailbox and skips only the message that failed.
//   - A parent ends after its children; a name is free again only when its old
//     owner has ended completely.
//   - An idle actor owns no goroutine.
//
// Configuration runs Message actors (SpawnActor); Go programs may also spawn
// actors of their own message types (Spawn, PID, Receiver).
package runtime
