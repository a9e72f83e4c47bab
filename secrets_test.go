package actord

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/hocon"
)

// TestASecretThatChangesInItsFileIsAChange holds that the file of a secret is
// watched and that what it holds reaches the behaviour.
func TestASecretThatChangesInItsFileIsAChange(t *testing.T) {
	type conf struct {
		Password actor.Secret `conf:"password,required" doc:"of the user"`
	}
	var mu sync.Mutex // guards got: instances are built by their actors
	var got []string
	taken := func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := got
		got = nil
		return all
	}
	schema := actor.SchemaOf[conf]("vault", "Keeps a secret.")
	reg := &actor.Registry{}
	if err := reg.AddBehaviour(actor.FactoryOf(schema, func(c conf) (actor.Behaviour, error) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, c.Password.Reveal())
		return actor.Func(func(actor.Context, actor.Message) error { return nil }), nil
	})); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, secret := filepath.Join(dir, "application.conf"), filepath.Join(dir, "secret.txt")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "actord { reload.watch = off, actors { a { behaviour = vault, args.password.file = secret.txt }, b { behaviour = vault, args.password = same } } }")
	write(secret, "one\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env := func(name string) (string, bool) { return filepath.Join(dir, "state"), name == "XDG_STATE_HOME" }
	src := topology.Source{File: file, Registry: reg, Options: hocon.Options{Env: env}}
	top, err := topology.Start(ctx, src, topology.Options{Log: slog.New(slog.DiscardHandler), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := top.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	rev, _ := top.Current()
	if !slices.Contains(rev.Spec.Files, secret) {
		t.Errorf("watched files: got %v, want %s among them", rev.Spec.Files, secret)
	}
	write(secret, "two\n")
	taken()
	next, err := src.Load(ctx, rev)
	if err != nil {
		t.Fatal(err)
	}
	if next.Spec.Hash == rev.Spec.Hash {
		t.Error("the hash is the same with another secret")
	}
	if got, want := taken(), []string{"two"}; !slices.Equal(got, want) {
		t.Errorf("read again: got %v, want %v and nothing of the other actor", got, want)
	}
}
