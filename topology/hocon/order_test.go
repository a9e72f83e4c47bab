package hocon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// tangled writes statements on a few keys that refer to one another in every way.
func tangled(r *rand.Rand) []string {
	var lines []string
	for range 2 + r.IntN(6) {
		key := string(rune('a' + r.IntN(4)))
		lines = append(lines, tangledKey(r, key)+[]string{" = ", " = ", " = ", " += "}[r.IntN(4)]+tangledValue(r, 2))
	}
	return lines
}

func tangledKey(r *rand.Rand, key string) string {
	if r.IntN(3) == 0 {
		return key + "." + string(rune('x'+r.IntN(2)))
	}
	return key
}

func tangledValue(r *rand.Rand, depth int) string {
	var pieces []string
	for range 1 + r.IntN(2) {
		pieces = append(pieces, tangledPiece(r, depth))
	}
	return strings.Join(pieces, " ")
}

func tangledPiece(r *rand.Rand, depth int) string {
	switch n := r.IntN(10); {
	case n < 5:
		return fmt.Sprintf("${%s%s}", []string{"", "?"}[r.IntN(2)], tangledKey(r, string(rune('a'+r.IntN(4)))))
	case n < 7 && depth > 0:
		return fmt.Sprintf("{ %s = %s }", string(rune('x'+r.IntN(2))), tangledValue(r, depth-1))
	case n < 8 && depth > 0:
		return "[" + tangledValue(r, depth-1) + "]"
	}
	return string(rune('0' + r.IntN(10)))
}

// shuffled changes the order of statements but for those on the same key.
func shuffled(r *rand.Rand, lines []string) []string {
	byKey := map[byte][]string{}
	for _, l := range lines {
		byKey[l[0]] = append(byKey[l[0]], l)
	}
	out := make([]string, len(lines))
	for i, j := range r.Perm(len(lines)) {
		key := lines[j][0]
		out[i], byKey[key] = byKey[key][0], byKey[key][1:]
	}
	return out
}

func TestTangledTextsDoNotDependOnTheOrderOfOtherKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 12))
	values := 0
	within(t, time.Minute, "tangled texts", func() {
		for range 5000 {
			lines := tangled(r)
			a, b := strings.Join(lines, "\n"), strings.Join(shuffled(r, lines), "\n")
			x, errX := parse(t, a)
			y, errY := parse(t, b)
			if (errX == nil) != (errY == nil) {
				t.Errorf("%s\n-- gives %v, but\n%s\n-- gives %v", a, errX, b, errY)
				return
			}
			if errX != nil {
				continue
			}
			values++
			if !x.Root.Equal(y.Root) {
				t.Errorf("%s\n-- gives %s, but\n%s\n-- gives %s", a, x.Root.JSON(), b, y.Root.JSON())
				return
			}
		}
	})
	if values < 200 {
		t.Errorf("only %d texts have a value, want 200 or more", values)
	}
	t.Logf("%d texts with a value", values)
}
