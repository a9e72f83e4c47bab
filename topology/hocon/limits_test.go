package hocon

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// series joins lines made for 0 to n-1.
func series(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func TestHostileTextsEndInAMistake(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a million arrays", "a = " + strings.Repeat("[", 1e6), "nested more than 256 levels deep"},
		{"a million objects", strings.Repeat("a{", 1e6), "nested more than 256 levels deep"},
		{"a path of a million keys", "a" + strings.Repeat(".a", 1e6) + " = 1", "nested more than 256 levels deep"},
		{"paths inside paths", strings.Repeat("a"+strings.Repeat(".a", 50)+"{", 100), "nested more than 256 levels deep"},
		{"a substitution of a million keys", "a = ${a" + strings.Repeat(".a", 1e6) + "}", "nested more than 256 levels deep"},
		{"text that doubles", "a0 = 12345678\n" + series(40, func(i int) string { return fmt.Sprintf("a%d = ${a%d}${a%d}", i+1, i, i) }), "substitutions make a text of more than 1048576 bytes"},
		{"objects that double", "a0 { x = 1 }\n" + series(40, func(i int) string { return fmt.Sprintf("a%d { l = ${a%d}, r = ${a%d} }", i+1, i, i) }), "substitutions make more than 1000000 values"},
		{"arrays that double", "a0 = [1]\n" + series(40, func(i int) string { return fmt.Sprintf("a%d = ${a%d} ${a%d}", i+1, i, i) }), "more than"},
		{"objects that nest by copying", "a0 { x = 1 }\n" + series(300, func(i int) string { return fmt.Sprintf("a%d { x = ${a%d} }", i+1, i) }), "nested more than 256 levels deep"},
		{"a key of a million pieces", strings.Repeat(`a"b"`, 1e6) + " = 1", ""},
		{"forty thousand keys that are not there", series(40_000, func(i int) string { return fmt.Sprintf("key%d = ${kay%d}", i, i) }), "${kay0} has no value"},
		{"many layers of many keys", "x { " + series(1000, func(i int) string { return fmt.Sprintf("k%d = 1", i) }) + "}\n" + strings.Repeat("a = ${?x}\n", 5000), "steps of substitution"},
		{"a chain of 25000 substitutions", series(25_000, func(i int) string { return fmt.Sprintf("a%d = ${a%d}", i, i+1) }) + "a25000 = end", "more than 20000 substitutions wait for one another"},
		{"25000 look backs", "a = x\n" + strings.Repeat("a = ${a}y\n", 25_000), "more than"},
		{"circles that try every way", series(60, func(i int) string {
			return fmt.Sprintf("a%d = ${?a%d}${?a%d}${?a%d}x", i, (i+1)%60, (i+7)%60, (i+13)%60)
		}), ""},
		{"stacks that hide one another", series(2000, func(i int) string { return fmt.Sprintf("a%d = 0\na%d = ${a%d}", i, i, i+1) }) + "a2000 = 1", ""},
		{"objects that look back at one another", series(14, func(i int) string {
			return fmt.Sprintf("a%d { x = 1 }\na%d = ${a%d} ${a%d}", i, i, (i+1)%14, (i+5)%14)
		}), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			within(t, time.Minute, test.name, func() {
				_, err := parse(t, test.text)
				switch {
				case test.want == "":
				case err == nil:
					t.Errorf("got no error, want %s", test.want)
				case !strings.Contains(err.Error(), test.want):
					t.Errorf("got %.300s, want %s", err, test.want)
				}
			})
		})
	}
}

func TestLargeButHonestTextsAreRead(t *testing.T) {
	tests := []struct{ name, text, path, want string }{
		{"a chain of 5000 substitutions", series(5000, func(i int) string { return fmt.Sprintf("a%d = ${a%d}", i, i+1) }) + "a5000 = end", "a0", `"end"`},
		{"5000 additions to a list", series(5000, func(i int) string { return "l += x" }) + "n = 1", "n", "1"},
		{"500 additions of substitutions", "x = 1\n" + series(500, func(i int) string { return "l += ${x}" }), "x", "1"},
		{"300 extensions of an object", "o { a = 0 }\n" + series(300, func(i int) string { return fmt.Sprintf("o = ${o} { k%d = %d }", i, i) }), "o.k299", "299"},
		{"250 levels", strings.Repeat("a{", 250) + strings.Repeat("}", 250) + "\nb = 1", "b", "1"},
		{"a thousand copies", "d { m { c = 1 } }\n" + series(1000, func(i int) string { return fmt.Sprintf("a%d = ${d} { m.n = %d }", i, i) }), "a999.m.n", "999"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			within(t, time.Minute, test.name, func() {
				tree, err := parse(t, test.text)
				if err != nil {
					t.Errorf("got %.300s, want no error", err)
					return
				}
				if got := string(tree.Lookup(strings.Split(test.path, ".")...).JSON()); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			})
		})
	}
}

func TestLimitsCanBeSet(t *testing.T) {
	tests := []struct {
		name, text string
		limits     Limits
		want       string
	}{
		{"values", "a = [1, 2, 3, 4]", Limits{Nodes: 4}, "app.conf:1:15: a: more than 4 values"},
		{"levels", "a = [[1]]", Limits{Depth: 1}, "app.conf:1:6: a: nested more than 1 levels deep"},
		{"bytes", "a = 1", Limits{FileBytes: 4}, "app.conf:1:1: the file has 5 bytes, more than 4"},
		{"text", "a = 123\nb = ${a}4", Limits{TextBytes: 3}, "app.conf:2:5: b: substitutions make a text of more than 3 bytes"},
		{"steps", "a = ${b}\nb = 1", Limits{Steps: 1}, "app.conf:1:5: more than 1 steps of substitution"},
		{"chain", "a = ${b}\nb = ${c}\nc = ${d}\nd = 1", Limits{Chain: 2}, "app.conf:3:1: more than 2 substitutions wait for one another"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("app.conf", []byte(test.text), Options{Limits: test.limits})
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	t.Run("files", func(t *testing.T) {
		f := files{"main.conf": `include "0.conf"`}
		for i := range 30 {
			f[fmt.Sprintf("%d.conf", i)] = fmt.Sprintf("a { include \"%d.conf\" }\nb { include \"%d.conf\" }", i+1, i+1)
		}
		_, err := loadFrom(f, Options{})
		if want := "more than 10000 files are included"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("lines of properties that go on", func(t *testing.T) {
		f := files{"main.conf": `include "x.properties"`, "x.properties": "a=" + strings.Repeat("\\\n", 2e6) + "end"}
		tree, err := loadFrom(f, Options{})
		if err != nil || tree.Lookup("a").Text != "end" {
			t.Errorf("got %v, want end", err)
		}
	})
	t.Run("includes", func(t *testing.T) {
		f := files{"main.conf": `include "0.conf"`}
		for i := range 40 {
			f[fmt.Sprintf("%d.conf", i)] = fmt.Sprintf(`include "%d.conf"`, i+1)
		}
		_, err := loadFrom(f, Options{})
		if want := "/etc/30.conf:1:9: more than 32 files include one another in a row"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
