// Package spec is the typed form of a configuration: what a file says about
// actors, bridges and plugins, with every default filled in and every rule
// checked.
//
// Check reads a hocon.Tree against a Registry and returns a System, or all
// mistakes at once, each with its place. It has no side effects: nothing is
// started, dialled or opened. Plugins reads the plugins section alone, so that
// their manifests can complete the registry before Check.
//
// Only what is inside `actord { }` is configuration. Other top-level keys belong
// to the author of the file, for substitutions, and are not looked at.
//
// The keys of each section are declared once, as structs with tags (sections.go);
// decoding, defaults, bounds, documentation and reload classes follow from that.
// reference.conf shows them all.
//
// Everything that a reload compares is kept as Settings: canonical texts of
// single keys. Two revisions are compared by these and by their hashes, never by
// the structs, which hold functions.
//
// # Defaults and what lies over what
//
// An actor is merged from actor-defaults and its own block, key by key; a value
// of null goes back to the built-in default. Its supervision lies over the
// child-supervision of the actor above it, which lies over
// actor-defaults.supervision. A bridge is merged from bridge-defaults,
// bridge-defaults.TYPE and its own block; where a bridge holds named entries,
// such as in { NAME { … } }, a default of in lies under each of them. Keys of
// bridge-defaults that a type does not know are left out for that type. An actor,
// bridge or plugin that is null is not there.
//
// # Targets
//
// A target must name something that is declared. Below a declared actor without
// declared children every path is taken, since its behaviour may spawn it; where
// children are declared, a name that is not among them is a mistake. Paths under
// /system are taken, except bridges that are not declared.
package spec
