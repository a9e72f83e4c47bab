// Package control is how the commands of one machine reach the daemon that runs
// there: JSON over HTTP on a unix socket that only its owner may use. A verb is a
// function; what it does is its author's.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SocketName is the socket's name in a daemon's state directory.
const SocketName = "actord.sock"

// prefix is the version of the protocol.
const prefix = "/v1/"

// maxBody bounds a request.
const maxBody = 1 << 20

// Verb answers one request. in is the JSON that came, out is what goes back; an
// error goes back as text. ctx ends with the connection.
type Verb func(ctx context.Context, in json.RawMessage) (out any, err error)

// Server answers on a socket until Close.
type Server struct {
	http *http.Server
	path string
	done chan struct{} // closed when serving has ended
}

// Listen serves verbs on a socket in dir. A socket that a dead daemon left is
// replaced; the caller must hold the directory.
func Listen(dir string, verbs map[string]Verb) (*Server, error) {
	path := filepath.Join(dir, SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), ln.Close())
	}
	s := &Server{path: path, done: make(chan struct{})}
	s.http = &http.Server{Handler: handler(verbs), ReadHeaderTimeout: 5 * time.Second}
	go func() { // ends with the listener; Close waits for it
		defer close(s.done)
		_ = s.http.Serve(ln)
	}()
	return s, nil
}

func handler(verbs map[string]Verb) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _ := strings.CutPrefix(r.URL.Path, prefix)
		verb, ok := verbs[name]
		if !ok || r.Method != http.MethodPost {
			answer(w, http.StatusNotFound, failure{fmt.Sprintf("this daemon does not know %s %s", r.Method, r.URL.Path)})
			return
		}
		in, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			answer(w, http.StatusBadRequest, failure{err.Error()})
			return
		}
		out, err := verb(r.Context(), in)
		if err != nil {
			answer(w, http.StatusUnprocessableEntity, failure{err.Error()})
			return
		}
		answer(w, http.StatusOK, out)
	})
}

type failure struct {
	Error string `json:"error"`
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may have gone
}

// Close stops taking requests and waits for those that are being answered, at most
// until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	_ = os.Remove(s.path)
	return err
}

// ErrNoDaemon says that nobody answers in a state directory.
var ErrNoDaemon = errors.New("no actord answers there")

// Call asks the daemon whose state directory is dir and decodes its answer into
// out, which may be nil. Errors: ErrNoDaemon, what the verb returned.
func Call(ctx context.Context, dir, verb string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, dir) },
		DisableKeepAlives: true,
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://actord"+prefix+verb, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	resp, err := client.Do(req)
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", filepath.Join(dir, SocketName), ErrNoDaemon)
	}
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var f failure
		if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Error == "" {
			f.Error = resp.Status
		}
		return errors.New(f.Error)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("the daemon's answer: %w", err)
	}
	return nil
}
