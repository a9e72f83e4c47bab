// Package topology keeps a running system equal to its file.
//
// A reload is a transaction: the file is loaded and checked as a whole, compared
// with what is applied, prepared beside what runs, and then carried out step by
// step. A mistake found before the first step leaves everything untouched; a
// step that fails later leads back, through the opposite of every step that was
// done. What the plan does not name is not touched.
//
// What was applied is on probation for some time: when an actor or a bridge that
// the reload touched does badly, the last revision that passed comes back, with
// the state handed back. Revisions have numbers that are never given twice; the
// last ones are kept in the state directory, for a way back by hand.
//
// A file that is being written is often a valid smaller one. A reload that would
// delete most actors is therefore held until the file has stayed the same for some
// time, and a file can be made to end with a marker.
//
// The engine does the single steps (runtime.Actor), package plan decides which,
// package spec what is right, package watch when to look.
package topology
