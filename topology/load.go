package topology

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// PluginHost is a running plugin, or one that was only asked what it offers.
type PluginHost interface {
	// Factories returns its behaviours, called PLUGIN/BEHAVIOUR.
	Factories() []actor.Factory
	// Close ends its process.
	Close(ctx context.Context) error
}

// OpenPlugin starts the plugin that configuration declares as p.
type OpenPlugin func(ctx context.Context, p *spec.Plugin) (PluginHost, error)

// Source is where a configuration comes from.
type Source struct {
	File     string          // the root file
	Options  hocon.Options   // environment and overrides
	Registry *actor.Registry // what is built in
	Open     OpenPlugin      // nil: plugins are an error
	Lint     bool            // look for what is likely wrong but works as well; see spec.System.Warnings
	Strict   bool            // such things are mistakes
	NoExec   bool            // no command is run for a secret
}

// Revision is a configuration that was loaded and found right.
type Revision struct {
	Tree    *hocon.Tree
	Spec    *spec.System
	plugins map[string]*openPlugin
	secrets []string // files with secrets
}

// openPlugin is a plugin's host with what it was opened from.
type openPlugin struct {
	spec    *spec.Plugin
	program string // fingerprint of the program file
	host    PluginHost
	closed  atomic.Bool
	offers  []actor.Factory // of the host; the same ones at every check, so that it can tell that nothing changed
}

// same reports whether the plugin that p declares is this very one.
func (o *openPlugin) same(p *spec.Plugin, program string) bool {
	return o != nil && o.spec.Hash == p.Hash && o.program == program
}

// Load reads and checks the configuration. Plugins are opened to learn what they
// offer; those of running that did not change are used again. Close ends the
// others. The error holds every mistake with its place.
func (s Source) Load(ctx context.Context, running *Revision) (*Revision, error) {
	tree, err := hocon.Load(s.File, s.Options)
	if err != nil {
		return nil, err
	}
	return s.check(ctx, tree, running)
}

// Parse is Load for a text that is at hand.
func (s Source) Parse(ctx context.Context, name string, text []byte) (*Revision, error) {
	return s.parse(ctx, name, text, nil)
}

func (s Source) parse(ctx context.Context, name string, text []byte, running *Revision) (*Revision, error) {
	tree, err := hocon.Parse(name, text, hocon.Options{Env: s.Options.Env})
	if err != nil {
		return nil, err
	}
	return s.check(ctx, tree, running)
}

// Offers returns everything that the configuration may name: what is built in and
// what the plugins of the file bring. They are ended again, so their factories
// are good for their schemas alone.
func (s Source) Offers(ctx context.Context) (*actor.Registry, error) {
	tree, err := hocon.Load(s.File, s.Options)
	if err != nil {
		return nil, err
	}
	declared, err := spec.Plugins(tree)
	if err != nil {
		return nil, err
	}
	rev, reg := &Revision{Tree: tree, plugins: map[string]*openPlugin{}}, s.Registry.Clone()
	err = rev.openAll(ctx, s.Open, declared, nil, reg)
	return reg, errors.Join(err, rev.Close(context.WithoutCancel(ctx)))
}

func (s Source) check(ctx context.Context, tree *hocon.Tree, running *Revision) (*Revision, error) {
	rev := &Revision{Tree: tree, plugins: map[string]*openPlugin{}}
	o := spec.Options{Secrets: &spec.Secrets{Env: s.Options.Env, NoExec: s.NoExec}, Lint: s.Lint, Strict: s.Strict}
	if running != nil {
		o.Before = running.Spec
	}
	defer func() { rev.secrets = o.Secrets.Files() }()
	declared, err := o.Plugins(tree)
	if err != nil {
		return rev, err
	}
	reg := s.Registry.Clone()
	if err := rev.openAll(ctx, s.Open, declared, running, reg); err != nil {
		return rev, errors.Join(err, rev.Close(ctx, running))
	}
	rev.Spec, err = o.Check(tree, reg)
	if err != nil {
		return rev, errors.Join(err, rev.Close(ctx, running))
	}
	return rev, nil
}

// openAll opens the declared plugins and adds what they offer to reg.
func (r *Revision) openAll(ctx context.Context, open OpenPlugin, declared []*spec.Plugin, running *Revision, reg *actor.Registry) error {
	var errs hocon.Errors
	for _, p := range declared {
		o, err := openOne(ctx, open, p, running)
		if err != nil {
			errs = append(errs, &hocon.Error{Pos: p.Pos, Path: "plugins." + p.Name, Err: err, Excerpt: r.Tree.Excerpt(p.Pos)})
			continue
		}
		r.plugins[p.Name] = o
		for _, f := range o.offers {
			if err := reg.AddBehaviour(f); err != nil {
				errs = append(errs, &hocon.Error{Pos: p.Pos, Path: "plugins." + p.Name, Err: err, Excerpt: r.Tree.Excerpt(p.Pos)})
			}
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

func openOne(ctx context.Context, open OpenPlugin, p *spec.Plugin, running *Revision) (*openPlugin, error) {
	if open == nil {
		return nil, fmt.Errorf("plugins are not supported here: %w", actor.ErrUnsupported)
	}
	program := fingerprint(p.Command)
	if running != nil && running.plugins[p.Name].same(p, program) {
		return running.plugins[p.Name], nil
	}
	host, err := open(ctx, p)
	if err != nil {
		return nil, err
	}
	return &openPlugin{spec: p, program: program, host: host, offers: host.Factories()}, nil
}

// programs returns the files of the plugins' programs, to be watched.
func (r *Revision) programs() []string {
	var out []string
	for _, o := range r.plugins {
		if path, err := exec.LookPath(o.spec.Command[0]); err == nil {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// fingerprint identifies the content of a command's program, "" when it cannot
// be read; then opening it says why.
func fingerprint(command []string) string {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Close ends the plugins that none of keep uses as well; nil revisions use none.
func (r *Revision) Close(ctx context.Context, keep ...*Revision) error {
	if r == nil {
		return nil
	}
	var errs []error
	for name, o := range r.plugins {
		used := func(k *Revision) bool { return k != nil && k.plugins[name] == o }
		if !slices.ContainsFunc(keep, used) && o.closed.CompareAndSwap(false, true) {
			if err := o.host.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("close plugin %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}
