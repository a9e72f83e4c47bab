package actord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/spec"
)

// manifest is what a plugin's program offers, remembered under the hash of the
// program, so that a configuration can be checked without starting it.
type manifest struct {
	Version    string                `json:"version"`
	Behaviours []rememberedBehaviour `json:"behaviours"`
}

type rememberedBehaviour struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"`
	Schema json.RawMessage `json:"schema"`
}

// manifestFile is where the manifest of a program is kept: below the user's state
// directory, since programs are the same whatever configuration names them.
func (a *app) manifestFile(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	dir, err := topology.StateDir("", "manifests", a.env)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(dir), "manifests", hex.EncodeToString(h.Sum(nil))+".json"), nil
}

// remember keeps what a plugin offers.
func (a *app) remember(s *spec.Plugin, version string, offers []actor.Factory) error {
	file, err := a.manifestFile(s.Command[0])
	if err != nil {
		return err
	}
	m := manifest{Version: version}
	for _, f := range offers {
		schema := f.Schema()
		b, err := schema.JSONSchema()
		if err != nil {
			return err
		}
		m.Behaviours = append(m.Behaviours, rememberedBehaviour{strings.TrimPrefix(schema.Name, s.Name+"/"), schema.Doc, b})
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), file)
}

// remembered opens a plugin without starting it. It is a topology.OpenPlugin.
func (a *app) remembered(_ context.Context, s *spec.Plugin) (topology.PluginHost, error) {
	file, err := a.manifestFile(s.Command[0])
	if err != nil {
		return nil, err
	}
	if hash := strings.TrimSuffix(filepath.Base(file), ".json"); s.SHA256 != "" && s.SHA256 != hash {
		return nil, fmt.Errorf("%s has the hash %s, want %s", s.Command[0], hash, s.SHA256)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("nothing is remembered of %s as it is now; check once without --no-exec", s.Command[0])
	}
	if err != nil {
		return nil, fmt.Errorf("what is remembered of %s: %w", s.Command[0], err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if s.Version != "" && m.Version != s.Version {
		return nil, fmt.Errorf("%s is version %s, want %s; install that version or change plugins.%s.version", s.Command[0], m.Version, s.Version, s.Name)
	}
	return offersOf(s.Name, m)
}

// memoryHost is a plugin of which only the offers are known.
type memoryHost []actor.Factory

// Factories returns what was remembered; nothing can be built from it.
func (h memoryHost) Factories() []actor.Factory { return h }

// Close has nothing to end.
func (h memoryHost) Close(context.Context) error { return nil }

func offersOf(plugin string, m manifest) (topology.PluginHost, error) {
	var out memoryHost
	for _, b := range m.Behaviours {
		schema, err := actor.SchemaFromJSON(plugin+"/"+b.Name, b.Doc, b.Schema)
		if err != nil {
			return nil, fmt.Errorf("what is remembered of plugin %s: %w", plugin, err)
		}
		out = append(out, &memoryFactory{schema})
	}
	return out, nil
}

type memoryFactory struct{ schema actor.Schema }

// Schema is the remembered one.
func (f *memoryFactory) Schema() actor.Schema { return f.schema }

// Prepare accepts what the schema accepts.
func (f *memoryFactory) Prepare(map[string]any) (actor.Prepared, error) {
	return actor.Prepared{New: func() (actor.Behaviour, error) {
		return nil, fmt.Errorf("behaviour %s is only remembered: %w", f.schema.Name, actor.ErrUnsupported)
	}}, nil
}
