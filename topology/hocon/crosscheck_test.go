package hocon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCrossCheckKeepsTheLibraryFromWhatItMisreads(t *testing.T) {
	tests := []struct {
		name, text string
		checked    bool
	}{
		{"plain fields are checked", "a = 1\nb = \"two words\"\nc { d : [1, x, true], e = null }\n", true},
		{"braces at the root are checked", "{ a : 1, b : [ { c : d } ] }", true},
		{"a comment is left out", "a = 1 # one\nb = 2", false},
		{"an escape is left out", `a = "x\ny"`, false},
		{"a sign is left out", "a = -1", false},
		{"a unit is left out", "a = 10s", false},
		{"two words are left out", "a = b c", false},
		{"a substitution is left out", "a = 1\nb = ${a}", false},
		{"a repeated key is left out", "a = 1\na = 2", false},
		{"a dotted key is left out", "a.b = 1", false},
		{"a word that the library takes for a bool is left out", "a = yes", false},
		{"an empty text is left out", "", false},
		{"deep nesting is left out", "a = " + strings.Repeat("[", 100) + strings.Repeat("]", 100), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree, err := Parse("x.conf", []byte(test.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			checked, err := CrossCheck(tree)
			if checked != test.checked || err != nil {
				t.Errorf("got %v, %v, want %v, no error", checked, err, test.checked)
			}
		})
	}
}

// randomNarrow writes a document within what CrossCheck accepts.
func randomNarrow(r *rand.Rand, depth int) string {
	var b strings.Builder
	for i := range 1 + r.IntN(5) {
		key := string(rune('a'+i)) + "key"
		if r.IntN(3) == 0 {
			key = fmt.Sprintf("%q", key+" x-1")
		}
		b.WriteString(key + []string{" = ", ":", " : ", "="}[r.IntN(4)] + randomValue(r, depth) + []string{"\n", ", ", " ,\n", "\n\n  "}[r.IntN(4)])
	}
	return b.String()
}

func randomValue(r *rand.Rand, depth int) string {
	n := 8
	if depth == 0 {
		n = 6
	}
	switch r.IntN(n) {
	case 0:
		return fmt.Sprint(r.IntN(100000))
	case 1:
		return "word"
	case 2:
		return "true"
	case 3:
		return "null"
	case 4, 5:
		return `"some text_1-2"`
	case 6:
		return "{ " + randomNarrow(r, depth-1) + "}"
	}
	elems := make([]string, r.IntN(4))
	for i := range elems {
		elems[i] = randomValue(r, depth-1)
	}
	return "[" + strings.Join(elems, ", ") + "]"
}

func TestCrossCheckAgreesOnRandomTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 2000 {
		text := randomNarrow(r, 3)
		tree, err := Parse("x.conf", []byte(text), Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if checked, err := CrossCheck(tree); !checked || err != nil {
			t.Fatalf("checked %v, got %v, want no error\n%s", checked, err, text)
		}
	}
}
