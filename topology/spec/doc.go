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
// # Reuse
//
// Between actor-defaults and an actor's own block lie the templates that it names
// with use, later ones over earlier ones. A template may use others, have children
// and make several actors.
//
// count = N makes the actors NAME-1 to NAME-N of one block, foreach one for each
// element of a list or each field of a map. Their names follow the pattern in name,
// which is NAME-{key} when it is not given. In all texts and keys of the block
//
//	{item}        is the element, {item.host} a field in it (of a count the number)
//	{key}         is the key in a map, else the number
//	{index}       is the number, from 1
//
// A text that is nothing but {item} or {item.FIELD} becomes the value itself, with
// its type. Where children have a foreach or count of their own, these are theirs,
// and {parent.item} is that of the block around. ${…} is resolved before: it is
// the same for all. Of several blocks the topmost foreach counts as a whole.
//
// profiles { NAME { … } } is not read here: hocon.Overlay puts what is asked for
// over the file. Mistakes in a template and those that an item makes name both the
// place where they are written and the actor that has them.
//
// # Secrets
//
// A field of the kind actor.SecretField takes { env = NAME }, { file = PATH },
// { command = [ … ] } or a text; see Secrets. What it holds is in the decoded
// arguments as actor.Secret, and nowhere else: settings have a hash of it, and
// mistakes and warnings do not show it.
//
// # What did not change
//
// Options.Before makes a check take over the actors whose block, defaults,
// templates and behaviour are equal to those of an earlier check and whose targets
// are still there. Actors with secrets or addresses are read again.
//
// # Targets
//
// A target must name something that is declared. Below a declared actor without
// declared children every path is taken, since its behaviour may spawn it; where
// children are declared, a name that is not among them is a mistake. Paths under
// /system are taken, except bridges that are not declared.
package spec
