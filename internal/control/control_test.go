package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type question struct{ Name string }

func greet(_ context.Context, in json.RawMessage) (any, error) {
	var q question
	if err := json.Unmarshal(in, &q); err != nil {
		return nil, err
	}
	if q.Name == "" {
		return nil, errors.New("who is there?")
	}
	return map[string]string{"greeting": "hello " + q.Name}, nil
}

func TestLoopbackACallReachesTheVerb(t *testing.T) {
	for name, dir := range map[string]string{
		"a short path": t.TempDir(),
		"a long path":  filepath.Join(t.TempDir(), strings.Repeat("long/", 30)),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second finds the socket of the first
				s, err := Listen(dir, map[string]Verb{"greet": greet})
				if err != nil {
					t.Fatal(err)
				}
				var out struct{ Greeting string }
				if err := Call(t.Context(), dir, "greet", question{"ann"}, &out); err != nil || out.Greeting != "hello ann" {
					t.Errorf("got %q %v, want hello ann", out.Greeting, err)
				}
				if err := Call(t.Context(), dir, "greet", question{}, &out); err == nil || err.Error() != "who is there?" {
					t.Errorf("a refusal: got %v, want its text", err)
				}
				if err := Call(t.Context(), dir, "part", nil, nil); err == nil || !strings.Contains(err.Error(), "does not know") {
					t.Errorf("an unknown verb: got %v", err)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := Call(t.Context(), dir, "greet", question{"ann"}, nil); !errors.Is(err, ErrNoDaemon) {
				t.Errorf("after the end: got %v, want ErrNoDaemon", err)
			}
		})
	}
}

func TestLoopbackTheSocketIsItsOwners(t *testing.T) {
	dir := t.TempDir()
	s, err := Listen(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, SocketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v %v, want 0600", info.Mode(), err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLoopbackAMissingDirectoryHasNoDaemon(t *testing.T) {
	for _, dir := range []string{"nowhere", strings.Repeat("nowhere/", 20)} {
		if err := Call(t.Context(), filepath.Join(t.TempDir(), dir), "greet", nil, nil); !errors.Is(err, ErrNoDaemon) {
			t.Errorf("got %v, want ErrNoDaemon", err)
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "control")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := Listen(dir, map[string]Verb{"greet": greet})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(context.Background())
	var out struct{ Greeting string }
	fmt.Println(Call(context.Background(), dir, "greet", question{"bob"}, &out), out.Greeting)
	// Output: <nil> hello bob
}
