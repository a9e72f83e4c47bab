// Package watch says that the content of a set of files changed. It neither parses nor loads them: it promises that a
// change that stays is reported once, whole and soon, however the file was saved, and leaves what to do about it to
// the caller.
//
// Names lie and notifications get lost, so the package trusts content alone. It watches the directories that decide
// what a name means, symbolic links and parent directories included, because a watch on the file itself ends with the
// first editor that saves by renaming. A notification only says when to look. A look reads every file of the set and
// takes its SHA-256; two equal looks in a quiet moment make a change, and it is reported when its content differs from
// what was reported before. A look every few seconds goes on always, for network file systems, overlays and overflows.
//
// A half-written configuration is often a valid, smaller one. No watcher sees the end of a save, so a writer that
// pauses for longer than the quiet time is seen halfway. A file that became empty or vanished is given two seconds to
// come back before that is reported.
package watch
