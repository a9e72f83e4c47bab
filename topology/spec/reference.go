package spec

import _ "embed"

//go:embed reference.conf
var reference string

// Reference returns every key with its default and its documentation, as a
// configuration that may be read: loading it changes nothing.
func Reference() string { return reference }
