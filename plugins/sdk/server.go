package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/actord/actord/plugins/wire"
	"github.com/actord/actord/runtime/actor"
)

// server answers the daemon's calls.
type server struct {
	wire.UnimplementedActorPluginServer
	plugin         Plugin
	factories      []actor.Factory
	stdout, stderr *os.File
	grpc           *grpc.Server

	mu      sync.Mutex // guards session
	session *session
}

func newServer(p Plugin, factories []actor.Factory, stdout, stderr *os.File) *server {
	return &server{plugin: p, factories: factories, stdout: stdout, stderr: stderr}
}

// Describe returns the manifest.
func (s *server) Describe(context.Context, *wire.DescribeRequest) (*wire.Manifest, error) {
	m, err := manifest(s.plugin, s.factories)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return m, nil
}

// Check builds a behaviour and throws it away.
func (s *server) Check(_ context.Context, req *wire.CheckRequest) (*wire.CheckResponse, error) {
	var b actor.Behaviour
	err := guard(func() error {
		p, err := s.prepare(req.Behaviour, req.Args)
		if err != nil {
			return err
		}
		b, err = p.New()
		return err
	})
	if err != nil {
		return &wire.CheckResponse{Error: err.Error()}, nil
	}
	_, can := b.(actor.Snapshotter)
	return &wire.CheckResponse{Snapshot: can}, nil
}

// prepare decodes JSON arguments for the behaviour called name.
func (s *server) prepare(name string, args []byte) (actor.Prepared, error) {
	f, err := s.factory(name)
	if err != nil {
		return actor.Prepared{}, err
	}
	values, err := decodeArgs(args)
	if err != nil {
		return actor.Prepared{}, fmt.Errorf("behaviour %s: %w", name, err)
	}
	decoded, mistakes := f.Schema().Decode(values)
	if len(mistakes) > 0 {
		errs := make([]error, len(mistakes))
		for i, m := range mistakes {
			errs[i] = m
		}
		return actor.Prepared{}, fmt.Errorf("behaviour %s: args: %w", name, errors.Join(errs...))
	}
	return f.Prepare(decoded)
}

func (s *server) factory(name string) (actor.Factory, error) {
	names := make([]string, len(s.factories))
	for i, f := range s.factories {
		if names[i] = f.Schema().Name; names[i] == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("plugin %s has no behaviour %q%s", s.plugin.Name, name, actor.DidYouMean(name, names))
}

// decodeArgs reads JSON and keeps whole numbers whole.
func decodeArgs(b []byte) (map[string]any, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("args are not a JSON object: %w", err)
	}
	return numbers(out).(map[string]any), nil
}

// numbers replaces what UseNumber left by the types of a body.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // the JSON decoder checked its form
		return f
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	}
	return v
}

// Session runs the instances until the daemon goes away; then the process ends.
func (s *server) Session(stream grpc.BidiStreamingServer[wire.HostFrame, wire.PluginFrame]) error {
	session, err := s.open(stream)
	if err != nil {
		return err
	}
	os.Stdout, os.Stderr = s.stdout, s.stderr
	err = session.run(stream)
	go s.grpc.Stop() // not from within a call, which Stop waits for
	return err
}

func (s *server) open(stream grpc.BidiStreamingServer[wire.HostFrame, wire.PluginFrame]) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil {
		return nil, status.Error(codes.FailedPrecondition, "the plugin has a session already")
	}
	s.session = newSession(s, stream.Context())
	s.session.broken = func(err error) {
		fmt.Fprintln(s.stderr, "the session with the daemon broke:", err)
		go s.grpc.Stop() // ends Session, which cannot go on with half a stream
	}
	return s.session, nil
}

func (s *server) current() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

// Health answers at once.
func (s *server) Health(context.Context, *wire.HealthRequest) (*wire.HealthResponse, error) {
	if session := s.current(); session != nil {
		return session.health(), nil
	}
	return &wire.HealthResponse{}, nil
}

// Shutdown stops every instance behind the messages it has.
func (s *server) Shutdown(_ context.Context, req *wire.ShutdownRequest) (*wire.ShutdownResponse, error) {
	session := s.current()
	if session == nil {
		go s.grpc.GracefulStop() // nothing runs; the process ends with the connection
		return &wire.ShutdownResponse{}, nil
	}
	left := session.stopAll(time.Duration(req.GraceMs) * time.Millisecond)
	return &wire.ShutdownResponse{Unfinished: uint32(left)}, nil
}
