// Package topology keeps a running system equal to its file.
//
// A reload is a transaction: the file is loaded and checked as a whole, compared
// with what is applied, prepared beside what runs, and then carried out step by
// step. A mistake found before the first step leaves everything untouched; a
// step that fails later leads back, through the opposite of every step that was
// done. What the plan does not name is not touched.
//
// The engine does the single steps (runtime.Actor), package plan decides which,
// package spec what is right, package watch when to look.
package topology
