// Package hocon reads HOCON text into a tree whose every value knows its place.
//
// Load reads a file with all it includes, resolves substitutions and returns a
// Tree. A Node of the tree is one resolved value: its kind, its text as written,
// where it stands, which substitutions it came through and which earlier values
// it replaced. A mistake is an *Error that names file, line, column and key path;
// Load reports all it finds, as Errors.
//
// The package follows the HOCON specification. Where the specification leaves a
// choice, or where a daemon needs another one, it decides as follows:
//
//   - include "name" is relative to the including file. A name without one of
//     the endings .conf, .json, .properties loads all three that exist, .conf
//     over .json over .properties, and the file of exactly that name when none
//     of them does. A missing file is nothing unless required("name") says so.
//   - An included file is in the folder of the root file or below it, links
//     resolved, or beside the file that the root file is a link to.
//   - include file("name") wants an absolute name, because the working directory
//     of a daemon says nothing. url("…") and classpath("…") are errors.
//   - A substitution without a value in the tree reads the environment variable
//     of that name, then the list NAME.0, NAME.1 and so on.
//   - += inside an array element and substitutions in a file that is included
//     there are errors: neither has a path to refer to.
//   - Substitutions that lead back to themselves without an earlier value come to
//     nothing if they are all optional and nothing else gives a value; else that
//     is an error, as is a self-reference by which one ${…} would stand for two
//     values. So what a text means never depends on the order of other keys.
//   - A value hidden by a later one is not looked at.
//   - Durations need a unit.
//
// Overlays (profiles) and overrides are put on top before substitution.
//
// An excerpt of a source masks what looks like a secret by its key, the user of an
// address, and every text that Tree.Hide was told.
//
// All work is bounded (Limits), so that no text hangs or exhausts a process.
//
// The value model of github.com/gurkankaymak/hocon is met in two places only:
// Tree.Config hands a tree over in its types, and CrossCheck compares with its
// parser on the plain texts that it reads right.
package hocon
