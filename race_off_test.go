//go:build !race

package actord_test

// buildFlags builds the programs like the tests: without the race detector.
var buildFlags []string
