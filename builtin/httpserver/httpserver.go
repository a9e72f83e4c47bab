// Package httpserver is the bridge type http-server: it makes messages of HTTP
// requests and answers of replies.
//
// # Routes
//
// A route is a method and an exact path. Where several share both, they are
// tried in the order of their names and the first whose when is true takes the
// request; one without when must be the last. The kind of a message is the
// route's kind, else the body's text field kind, else the route's name; map may
// replace the body before that. Expressions see the decoded body as msg.
//
// A message carries the headers method, path, remote (the peer's address),
// content-type and query.NAME with the first value of each query parameter.
//
// # Bodies
//
// Bodies are JSON (application/json or a +json type) in UTF-8. Whole numbers
// become int64 and others float64; a whole number beyond 64 bits is refused, as
// are double keys and nesting deeper than 100. GET and DELETE may come without a
// body, which then is nil.
//
// # Answers
//
//	202  {"trace": ID}: the message is in the target's mailbox (reply = accepted)
//	200  the reply's body as JSON; bytes in base64 (reply = ask)
//	400  the body is malformed; with line, column and offset
//	404  no such path      405  no such method; see Allow
//	408  the body came too slowly    413  it is larger than body-limit
//	415  not JSON, or compressed
//	422  no route's when is true, or an expression fails on this body
//	429  the target's mailbox is full; see Retry-After. Nothing was discarded for it
//	500  the actor failed, or its reply is no JSON
//	503  nothing lives at the target, or the system is shutting down
//	504  no reply in time
//
// Every error is an object with error, mostly detail, and trace. The trace is
// taken from a valid W3C traceparent header, else it is new; every answer
// repeats it in the header traceresponse (version-traceid-spanid-flags).
//
// # Reloads
//
// Routes and limits change between two requests without closing a connection. A
// changed listen address is bound before the old one is given up, whose running
// requests are finished. The bridge speaks plain HTTP/1.1; put a proxy in front
// of it for TLS.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under the bridge's name.
type Config struct {
	Listen         actor.Address    `conf:"listen,required" class:"reconnect" doc:"where requests come in, host:port; port 0 takes a free one"`
	In             map[string]Route `conf:"in,required" class:"rewire" doc:"what becomes of requests, by name of the route"`
	BodyLimit      actor.Size       `conf:"body-limit" default:"1MiB" min:"1" max:"1GiB" class:"live" doc:"how large a request's body may be"`
	ReadTimeout    time.Duration    `conf:"read-timeout" default:"10s" min:"1ms" class:"live" doc:"how long a request's body may take to arrive"`
	WriteTimeout   time.Duration    `conf:"write-timeout" default:"10s" min:"1ms" class:"live" doc:"how long the peer may take to read the answer"`
	MaxConnections int64            `conf:"max-connections" default:"4096" min:"1" unit:"connections" class:"live" doc:"how many peers are served at a time; further ones wait to be accepted"`
	StopTimeout    time.Duration    `conf:"stop-timeout" default:"5s" class:"live" doc:"how long running requests may take when the bridge stops"`
}

// Route says what becomes of the requests with one method and path.
type Route struct {
	Path    string        `conf:"path,required" doc:"exact path, e.g. /orders"`
	Method  string        `conf:"method" default:"POST" enum:"GET|POST|PUT|PATCH|DELETE" doc:"HTTP method"`
	To      actor.Target  `conf:"to,required" doc:"who gets the message"`
	Kind    string        `conf:"kind" doc:"kind of the message; empty means the body's field kind, else the route's name"`
	When    actor.Expr    `conf:"when" expr:"bool" doc:"takes only requests for which this is true"`
	Map     actor.Expr    `conf:"map" expr:"value" doc:"gives the message's body; empty means the request's"`
	Reply   string        `conf:"reply" default:"accepted" enum:"accepted|ask" doc:"accepted answers when the message is in the mailbox, ask with the actor's reply"`
	Timeout time.Duration `conf:"timeout" default:"5s" min:"1ms" doc:"how long ask waits for the reply"`
	Codec   string        `conf:"codec" default:"json" enum:"json" doc:"how bodies are written"`
	Example string        `conf:"example" default:"{}" class:"cosmetic" doc:"a body to try the route with; shown at the start"`
}

// Factory makes http-server bridges.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("http-server", "Makes messages of HTTP requests. Answers 202 when a message is accepted, or 200 with the actor's reply.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New checks c and returns a server that Start will bind.
func New(c Config) (*Server, error) {
	t, err := newTable(c)
	if err != nil {
		return nil, err
	}
	return &Server{config: c, first: t}, nil
}

// Server is the bridge's actor.
type Server struct {
	config  Config // of the actor's turn
	first   *table // the routes that Start resolves
	site    *site  // nil when not bound
	log     *slog.Logger
	table   atomic.Pointer[table] // what requests see
	addr    atomic.Value          // string
	serving sync.WaitGroup        // every goroutine of every site
}

// Addr returns the address that is bound, with the port that was taken for port
// 0, and "" before Start. It may be called from any goroutine.
func (s *Server) Addr() string { a, _ := s.addr.Load().(string); return a }

// Start resolves the targets and binds the address.
func (s *Server) Start(ctx actor.Context) error {
	s.log = ctx.Log()
	if err := s.first.resolve(ctx); err != nil {
		return err
	}
	s.table.Store(s.first)
	site, err := s.open(ctx, string(s.config.Listen))
	if err != nil {
		return err
	}
	s.use(ctx, site)
	return nil
}

// Receive has nothing to do: the bridge has no way out.
func (s *Server) Receive(ctx actor.Context, _ actor.Message) error {
	ctx.Handle().DeadLetter(ctx.Letter(), actor.ReasonUnrouted+": an http-server sends nothing")
	return nil
}

// Reconfigure swaps routes and limits, and moves to another address when that
// changed. An error leaves everything as it was.
func (s *Server) Reconfigure(ctx actor.Context, c Config) error {
	t, err := newTable(c)
	if err != nil {
		return err
	}
	if err := t.resolve(ctx); err != nil {
		return err
	}
	if c.Listen != s.config.Listen {
		if err := s.move(ctx, c); err != nil {
			return err
		}
	}
	s.site.limit.set(int(c.MaxConnections))
	s.config = c
	s.table.Store(t)
	return nil
}

// Stop unbinds at once and waits for running requests, at most stop-timeout.
func (s *Server) Stop(ctx actor.Context) error {
	var err error
	if s.site != nil {
		err = s.leave(ctx, s.site)
	}
	s.serving.Wait()
	return err
}

// use makes site the one that is served.
func (s *Server) use(ctx actor.Context, site *site) {
	s.site = site
	s.addr.Store(site.addr())
	handle := ctx.Handle()
	s.serving.Go(func() {
		if err := site.serve(); err != nil {
			handle.Fail(fmt.Errorf("serve %s: %w", site.addr(), err))
		}
	})
	s.log.Debug("listening", "listen", site.addr())
	ctx.Publish(actor.BridgeConnected{Path: ctx.Self().Path(), Endpoint: "http://" + site.addr()})
}

// leave gives up a site. Requests that are still running after stop-timeout are
// cut off.
func (s *Server) leave(ctx actor.Context, site *site) error {
	ctx.Publish(actor.BridgeDisconnected{Path: ctx.Self().Path(), Endpoint: "http://" + site.addr(), Cause: site.failure()})
	return site.close(s.config.StopTimeout)
}

// move binds the address of c before it gives up the present one. Two addresses
// with the same port can exclude each other, e.g. 127.0.0.1:80 and 0.0.0.0:80;
// then the present one is given up first and taken back when the new one fails.
func (s *Server) move(ctx actor.Context, c Config) error {
	old := s.site
	next, err := s.open(ctx, string(c.Listen))
	if isInUse(err) && old.samePort(string(c.Listen)) {
		old.unbind()
		if next, err = s.open(ctx, string(c.Listen)); err != nil {
			return s.moveBack(ctx, err)
		}
	}
	if err != nil {
		return err
	}
	s.retire(ctx, old)
	s.use(ctx, next)
	return nil
}

func (s *Server) moveBack(ctx actor.Context, cause error) error {
	again, err := s.open(ctx, s.site.addr())
	if err != nil {
		ctx.Handle().Fail(fmt.Errorf("the address is lost: %w", err))
		return errors.Join(cause, err)
	}
	s.retire(ctx, s.site)
	s.use(ctx, again)
	return cause
}

// retire gives up a site beside the actor, so that slow requests hold up no
// message; Stop waits for it.
func (s *Server) retire(ctx actor.Context, site *site) {
	ctx.Publish(actor.BridgeDisconnected{Path: ctx.Self().Path(), Endpoint: "http://" + site.addr()})
	limit, log := s.config.StopTimeout, s.log
	s.serving.Go(func() {
		if err := site.close(limit); err != nil {
			log.Warn("requests were cut off", "listen", site.addr(), "err", err)
		}
	})
}

func (s *Server) open(ctx context.Context, address string) (*site, error) {
	return openSite(ctx, address, int(s.config.MaxConnections), s, s.log)
}
