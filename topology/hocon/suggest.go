package hocon

import (
	"strings"
)

// Suggest returns the known word that is meant most likely by word: at most two
// letters away, or one that begins with it or that it begins with. It returns ""
// if there is none. Case does not count.
func Suggest(word string, known []string) string {
	best, least := "", 3
	lower := strings.ToLower(word)
	for _, k := range known {
		if k == word {
			continue
		}
		if d := distance(lower, strings.ToLower(k)); d < least && d < max(len(word), len(k))-1 {
			best, least = k, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, k := range known {
		l := strings.ToLower(k)
		if k != word && len(k) > 2 && (strings.HasPrefix(l, lower) || strings.HasPrefix(lower, l)) {
			return k
		}
	}
	return ""
}

// distance counts the letters to insert, remove or replace to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > 2 || d < -2 {
		return 3
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(y)]
}
