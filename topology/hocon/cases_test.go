package hocon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// caseEnv reads the environment of the conformance cases.
func caseEnv(t testing.TB) func(string) (string, bool) {
	t.Helper()
	text, err := os.ReadFile("testdata/cases/ENV")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			env[k] = v
		}
	}
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

// plainJSON decodes JSON so that equal numbers are equal values.
func plainJSON(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bufio.NewReader(bytes.NewReader(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v in %.200s", err, text)
	}
	return plainNumbers(v)
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(v.String()); ok {
			return r.RatString()
		}
		return v.String()
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

func TestCasesOfTheSpecification(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.conf")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	env := caseEnv(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".conf"), func(t *testing.T) {
			tree, err := Load(file, Options{Env: env})
			base := strings.TrimSuffix(file, ".conf")
			if why, readErr := os.ReadFile(base + ".err"); readErr == nil {
				if err == nil {
					t.Fatalf("got %s, want an error: %s", tree.Root.JSON(), why)
				}
				t.Logf("%v\n%s", strings.TrimSpace(string(why)), Format(err))
				return
			}
			want, readErr := os.ReadFile(base + ".json")
			if readErr != nil {
				t.Fatal(readErr)
			}
			if err != nil {
				t.Fatalf("got %v, want %s", err, want)
			}
			if got := tree.Root.JSON(); !reflect.DeepEqual(plainJSON(t, got), plainJSON(t, want)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
