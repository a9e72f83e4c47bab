package actor

import (
	"fmt"
	"strings"
)

// Suggest returns the known word that a person most likely meant by word, ""
// when none is close: at most two edits away (one for short words), or a
// beginning of it.
func Suggest(word string, known []string) string {
	best, bestCost := "", 3
	limit := 2
	if len(word) < 5 {
		limit = 1
	}
	for _, k := range known {
		cost := distance(strings.ToLower(word), strings.ToLower(k))
		if cost > limit && len(word) >= 3 && strings.HasPrefix(k, word) {
			cost = limit
		}
		if cost <= limit && cost < bestCost {
			best, bestCost = k, cost
		}
	}
	return best
}

// DidYouMean returns `; did you mean "x"?` when there is a suggestion, "" else.
func DidYouMean(word string, known []string) string {
	if s := Suggest(word, known); s != "" {
		return fmt.Sprintf("; did you mean %q?", s)
	}
	return ""
}

// distance is the number of insertions, deletions, substitutions and swaps of
// neighbours between a and b (optimal string alignment).
func distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(rb)+1), make([]int, len(rb)+1), make([]int, len(rb)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		cur[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(rb)]
}
