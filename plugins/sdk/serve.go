// Package sdk turns behaviours into a plugin: a program that the daemon starts
// and whose behaviours it runs as actors.
//
//	func main() {
//		sdk.Serve(sdk.Plugin{Name: "fraud", Version: "1.0.0"}, fraud.Score)
//	}
//
// A behaviour is an ordinary actor.Factory, so the same value can be built into a
// daemon. What differs in a plugin process:
//
//   - nil from Tell means that the message was handed to the host. A refusal by
//     the receiver follows the on-full setting of the actor.
//   - Spawn and Watch answer actor.ErrUnsupported: declare children in the
//     configuration.
//   - Up to a quarter of the plugin's window of messages waits here, in the
//     actor's own queue, and not in its mailbox.
//   - A delivery from a bridge ends with the acknowledgement of its message, which
//     follows Receive; Hold cannot keep it open.
//
// One process runs many instances. A panic in a handler is the failure of that
// actor alone; a panic in a goroutine that a behaviour started, or a crash of
// foreign code, ends the process and fails all of them. What a behaviour prints
// appears in the daemon's log.
package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// Version names this SDK in manifests.
const Version = "go/1"

// Plugin says who a plugin is.
type Plugin struct {
	Name    string // as configuration calls it, e.g. "fraud"
	Version string // of the plugin, e.g. "1.4.2"
}

// Serve runs the plugin until the daemon ends it. It must be the last thing that
// main does, and nothing may depend on standard input. With --describe it prints
// the manifest as JSON and exits; without a daemon it says how to use the
// program and exits with status 1.
func Serve(p Plugin, factories ...actor.Factory) {
	if err := check(p, factories); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch {
	case slices.Contains(os.Args[1:], "--describe"):
		if err := describe(os.Stdout, p, factories); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case os.Getenv(wire.CookieKey) != wire.CookieValue:
		usage(os.Stderr, p, factories)
		os.Exit(1)
	default:
		serve(p, factories)
	}
}

func check(p Plugin, factories []actor.Factory) error {
	if err := actor.CheckName(p.Name); err != nil {
		return fmt.Errorf("sdk.Serve: the plugin's name: %w", err)
	}
	seen := map[string]bool{}
	for _, f := range factories {
		name := f.Schema().Name
		if err := actor.CheckName(name); err != nil {
			return fmt.Errorf("sdk.Serve: plugin %s: a behaviour's name: %w", p.Name, err)
		}
		if seen[name] {
			return fmt.Errorf("sdk.Serve: plugin %s: behaviour %q is given twice", p.Name, name)
		}
		seen[name] = true
	}
	return nil
}

func usage(w io.Writer, p Plugin, factories []actor.Factory) {
	fmt.Fprintf(w, "This is %s %s, a plugin for actord. It is not run by hand; name it in application.conf:\n\n", p.Name, p.Version)
	fmt.Fprintf(w, "  actord.plugins.%s { command = [%q] }\n", p.Name, os.Args[0])
	if len(factories) > 0 {
		fmt.Fprintf(w, "  actord.actors.NAME { behaviour = \"%s/%s\" }\n", p.Name, factories[0].Schema().Name)
	}
	fmt.Fprintf(w, "\n%s --describe prints what it offers as JSON.\n", os.Args[0])
}

// describe prints the manifest for people and tools.
func describe(w io.Writer, p Plugin, factories []actor.Factory) error {
	type behaviour struct {
		Name string          `json:"name"`
		Doc  string          `json:"doc"`
		Args json.RawMessage `json:"args"`
	}
	out := struct {
		Name       string      `json:"name"`
		Version    string      `json:"version"`
		SDK        string      `json:"sdk"`
		Protocol   int         `json:"protocol"`
		Behaviours []behaviour `json:"behaviours"`
	}{p.Name, p.Version, Version, wire.ProtocolVersion, []behaviour{}}
	m, err := manifest(p, factories)
	if err != nil {
		return err
	}
	for _, b := range m.Behaviours {
		out.Behaviours = append(out.Behaviours, behaviour{b.Name, b.Doc, b.ArgsSchema})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func manifest(p Plugin, factories []actor.Factory) (*wire.Manifest, error) {
	m := &wire.Manifest{Name: p.Name, Version: p.Version, Sdk: Version}
	for _, f := range factories {
		s := f.Schema()
		args, err := s.JSONSchema()
		if err != nil {
			return nil, fmt.Errorf("plugin %s: behaviour %s: %w", p.Name, s.Name, err)
		}
		m.Behaviours = append(m.Behaviours, &wire.Behaviour{Name: s.Name, Doc: s.Doc, ArgsSchema: args})
	}
	return m, nil
}

// serve answers the daemon. The library replaces os.Stdout and os.Stderr by
// pipes of its own, which would hold back what a behaviour prints; the session
// puts the real ones back, which the daemon reads.
func serve(p Plugin, factories []actor.Factory) {
	s := newServer(p, factories, os.Stdout, os.Stderr)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{
			wire.ProtocolVersion: {wire.ServiceSet: &registration{server: s}},
		},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			opts = append(opts, grpc.MaxRecvMsgSize(wire.MaxFrame), grpc.MaxSendMsgSize(wire.MaxFrame))
			s.grpc = grpc.NewServer(opts...)
			return s.grpc
		},
		Logger: hclog.New(&hclog.LoggerOptions{Name: p.Name, Level: hclog.Warn, Output: os.Stderr}),
	})
}

// registration hangs the service into the library's server.
type registration struct {
	plugin.NetRPCUnsupportedPlugin
	plugin.GRPCPlugin
	server *server
}

func (r *registration) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	wire.RegisterActorPluginServer(g, r.server)
	return nil
}
