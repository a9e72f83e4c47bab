//go:build race

package actord_test

// buildFlags builds the programs like the tests: with the race detector.
var buildFlags = []string{"-race"}
