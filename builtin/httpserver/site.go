package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of what comes before a body, and of a connection between requests.
const (
	headerTimeout = 10 * time.Second
	headerLimit   = 64 << 10
	idleTimeout   = 2 * time.Minute
)

// site is one bound address with its server.
type site struct {
	http   *http.Server
	limit  *limiter
	leave  atomic.Bool // it was told to end
	failed atomic.Pointer[error]

	handler  http.Handler
	requests sync.WaitGroup

	mu    sync.Mutex // guards what follows
	fresh map[net.Conn]bool
	cut   bool // no request may begin
}

// openSite binds address. It serves nothing before serve is called.
func openSite(ctx context.Context, address string, connections int, h http.Handler, log *slog.Logger) (*site, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w%s", address, err, remedy(err))
	}
	s := &site{limit: newLimiter(l, connections), handler: h, fresh: map[net.Conn]bool{}}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerLimit,
		ConnState: s.note, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	return s, nil
}

// ServeHTTP counts requests, so that close can wait for those that it cut off.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.begin() {
		defer s.requests.Done()
		s.handler.ServeHTTP(w, r)
	}
}

func (s *site) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.cut {
		s.requests.Add(1)
	}
	return !s.cut
}

// note keeps the connections that have sent nothing yet. The server would wait
// for them when it shuts down.
func (s *site) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew {
		s.fresh[c] = true
	} else {
		delete(s.fresh, c)
	}
}

func (s *site) closeFresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.fresh {
		_ = c.Close() // nobody has asked for anything
	}
}

func remedy(err error) string {
	switch {
	case isInUse(err):
		return "; stop what listens there or choose another port"
	case errors.Is(err, syscall.EACCES):
		return "; ports below 1024 need a privilege, choose a higher one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; this host has no such address, use one of its own or 0.0.0.0"
	}
	return ""
}

func isInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

func (s *site) addr() string { return s.limit.Addr().String() }

func (s *site) samePort(address string) bool {
	_, mine, _ := net.SplitHostPort(s.addr())
	_, other, _ := net.SplitHostPort(address)
	return mine == other
}

// serve runs until the site is told to end, and returns nil then. Otherwise it
// returns what broke it.
func (s *site) serve() error {
	err := s.http.Serve(s.limit)
	if s.leave.Load() {
		return nil
	}
	s.failed.Store(&err)
	return err
}

func (s *site) failure() error {
	if p := s.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// unbind frees the address; running requests and connections go on.
func (s *site) unbind() {
	s.leave.Store(true)
	_ = s.limit.Close() // it may be closed already
}

// close unbinds, waits for running requests at most limit, then cuts them off.
func (s *site) close(limit time.Duration) error {
	s.unbind()
	s.closeFresh()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests were still running after %v", limit), s.cutOff())
	}
	if errors.Is(err, net.ErrClosed) { // the listener was closed first
		return nil
	}
	return err
}

// cutOff closes every connection. That ends the context of each request, so
// they are soon through.
func (s *site) cutOff() error {
	s.mu.Lock()
	s.cut = true
	s.mu.Unlock()
	err := s.http.Close()
	s.requests.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// limiter is a listener that accepts only so many connections at a time.
type limiter struct {
	net.Listener
	mu     sync.Mutex // guards what follows
	change *sync.Cond
	open   int
	max    int
	closed bool
}

func newLimiter(l net.Listener, limit int) *limiter {
	out := &limiter{Listener: l, max: limit}
	out.change = sync.NewCond(&out.mu)
	return out
}

func (l *limiter) set(limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = limit
	l.change.Broadcast()
}

// Accept waits until there is room and then for a connection.
func (l *limiter) Accept() (net.Conn, error) {
	l.enter()
	c, err := l.Listener.Accept()
	if err != nil {
		l.exit()
		return nil, err
	}
	return &limitedConn{Conn: c, exit: sync.OnceFunc(l.exit)}, nil
}

func (l *limiter) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.max && !l.closed {
		l.change.Wait()
	}
	l.open++
}

func (l *limiter) exit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	l.change.Broadcast()
}

// Close frees the address and wakes Accept.
func (l *limiter) Close() error {
	l.mu.Lock()
	l.closed = true
	l.change.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	exit func()
}

// Close ends the connection and makes room for another.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.exit()
	return err
}
