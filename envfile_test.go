package actord

import (
	"maps"
	"strings"
	"testing"
)

func TestEnvFiles(t *testing.T) {
	got, err := readEnvFile(strings.NewReader("# a\n\nA=1\nexport B = \"x # y\"\nC='a=b'\nD=\nE=\"\n"), "x.env")
	if want := map[string]string{"A": "1", "B": "x # y", "C": "a=b", "D": "", "E": "\""}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{"A=1\nB": "x.env:2: want NAME=value", "=1": "x.env:1: want NAME=value", "a b=1": "x.env:1: want NAME=value"} {
		if _, err := readEnvFile(strings.NewReader(text), "x.env"); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B='2'\n# c\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readEnvFile(strings.NewReader(text), "x.env")
		if err != nil && got != nil {
			t.Error("got values and a mistake")
		}
		for name := range got {
			if name == "" || strings.ContainsAny(name, " =\n") {
				t.Errorf("got the name %q", name)
			}
		}
	})
}
