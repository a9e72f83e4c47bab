package httpserver

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Limits of what a message's headers take over from a request.
const (
	maxQuery      = 64  // parameters
	maxHeaderText = 512 // bytes of a value
)

// ServeHTTP turns a request into a message and answers it. It runs on the
// request's goroutine and touches only the table and what is safe to share.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, conn: http.NewResponseController(w), table: s.table.Load(), trace: traceOf(r)}
	_ = x.conn.SetWriteDeadline(time.Time{}) // the one of the connection's last answer
	x.serve()
}

// exchange is one request and its answer.
type exchange struct {
	w     http.ResponseWriter
	r     *http.Request
	conn  *http.ResponseController // sets deadlines; without a connection, as in a test's recorder, it does nothing
	table *table
	trace actor.TraceID
}

func traceOf(r *http.Request) actor.TraceID {
	if t, ok := actor.ParseTraceID(r.Header.Get("Traceparent")); ok {
		return t
	}
	return actor.NewTraceID()
}

// problem is an answer that is no success.
type problem struct {
	status int
	Error  string `json:"error"`
	Detail string `json:"detail,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Offset *int   `json:"offset,omitempty"`
	Trace  string `json:"trace"`
}

func (x *exchange) serve() {
	at, found := x.table.paths[x.r.URL.Path]
	if !found {
		x.refuse(problem{status: http.StatusNotFound, Error: "no such path", Detail: "known paths are " + x.table.known})
		return
	}
	routes := at[x.r.Method]
	if routes == nil {
		x.w.Header().Set("Allow", at.allow())
		x.refuse(problem{status: http.StatusMethodNotAllowed, Error: "method not allowed", Detail: "allowed are " + at.allow()})
		return
	}
	body, p := x.body()
	if p != nil {
		x.refuse(*p)
		return
	}
	x.route(routes, body)
}

// route gives the message to the first route that takes it.
func (x *exchange) route(routes []*route, body any) {
	headers := x.headers()
	for _, r := range routes {
		m, taken, err := r.message(x.table.self, body, headers)
		switch {
		case err != nil:
			x.refuse(problem{status: http.StatusUnprocessableEntity, Error: "an expression fails on this body", Detail: err.Error()})
			return
		case taken && r.Reply == "ask":
			x.ask(r, m)
			return
		case taken:
			x.offer(r, m)
			return
		}
	}
	x.refuse(problem{status: http.StatusUnprocessableEntity, Error: "no route takes this message"})
}

func (x *exchange) offer(r *route, m actor.Message) {
	switch actor.Offer(actor.WithTrace(x.r.Context(), x.trace), r.ref, m) {
	case actor.Accepted:
		x.answer(http.StatusAccepted, map[string]string{"trace": x.trace.String()})
	case actor.Full:
		x.refuse(full)
	default:
		x.refuse(closed)
	}
}

// Answers when the target has no room or does not exist. It may be back soon.
var (
	full   = problem{status: http.StatusTooManyRequests, Error: "too many messages", Detail: "the actor's mailbox is full; try again later"}
	closed = problem{status: http.StatusServiceUnavailable, Error: "unavailable", Detail: "the actor does not run; try again later"}
)

func (x *exchange) ask(r *route, m actor.Message) {
	ctx, cancel := context.WithTimeout(actor.WithTrace(x.r.Context(), x.trace), r.Timeout)
	defer cancel()
	reply, err := r.ref.(actor.Asker).Ask(ctx, m) // resolve has checked that it is one
	switch {
	case err == nil:
		x.answer(http.StatusOK, reply.Body)
	case errors.Is(err, actor.ErrFull), errors.Is(err, actor.ErrBlockTimeout):
		x.refuse(full)
	case errors.Is(err, actor.ErrStopped), errors.Is(err, actor.ErrTerminating):
		x.refuse(closed)
	case errors.Is(err, actor.ErrAskTimeout), errors.Is(err, context.DeadlineExceeded):
		x.refuse(problem{status: http.StatusGatewayTimeout, Error: "no reply in time", Detail: fmt.Sprintf("the actor did not reply within %v", r.Timeout)})
	default:
		x.refuse(problem{status: http.StatusInternalServerError, Error: "the actor failed"})
	}
}

// body reads and decodes the request's body.
func (x *exchange) body() (any, *problem) {
	optional := x.r.Method == http.MethodGet || x.r.Method == http.MethodDelete
	if optional && x.r.ContentLength == 0 {
		return nil, nil
	}
	if p := x.checkType(); p != nil {
		return nil, p
	}
	text, p := x.read()
	if p != nil {
		return nil, p
	}
	v, err := decodeJSON(text)
	if err == nil {
		return v, nil
	}
	bad := &problem{status: http.StatusBadRequest, Error: "the body is not valid JSON", Detail: err.Error()}
	if e, ok := errors.AsType[*bodyError](err); ok {
		bad.Line, bad.Column = e.place(text)
		bad.Offset = &e.offset
	}
	return nil, bad
}

func (x *exchange) checkType() *problem {
	wrong := &problem{status: http.StatusUnsupportedMediaType, Error: "unsupported content type"}
	if e := x.r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		wrong.Detail = fmt.Sprintf("Content-Encoding %.40q is not supported; send the body uncompressed", e)
		return wrong
	}
	given := x.r.Header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(given)
	isJSON := mediaType == "application/json" || strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json")
	switch charset := params["charset"]; {
	case err != nil || !isJSON:
		wrong.Detail = fmt.Sprintf("Content-Type %.80q is not JSON; send Content-Type: application/json", given)
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		wrong.Detail = fmt.Sprintf("charset %.40q is not supported; send UTF-8", charset)
	default:
		return nil
	}
	return wrong
}

// read takes in the body, within its limits of size and time.
func (x *exchange) read() ([]byte, *problem) {
	large := &problem{
		status: http.StatusRequestEntityTooLarge, Error: "the body is too large",
		Detail: "at most " + actor.FormatSize(actor.Size(x.table.bodyLimit)) + " are allowed",
	}
	if x.r.ContentLength > x.table.bodyLimit {
		x.w.Header().Set("Connection", "close") // the rest is not worth reading
		return nil, large
	}
	_ = x.conn.SetReadDeadline(time.Now().Add(x.table.read))
	text, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, x.table.bodyLimit))
	if err == nil {
		// The server goes on reading to see whether the peer leaves, and would
		// take the deadline for that.
		_ = x.conn.SetReadDeadline(time.Time{})
		return text, nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, large
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, &problem{status: http.StatusRequestTimeout, Error: "the body came too slowly", Detail: fmt.Sprintf("it must arrive within %v", x.table.read)}
	}
	return nil, &problem{status: http.StatusBadRequest, Error: "the body could not be read", Detail: err.Error()}
}

func (x *exchange) headers() actor.Headers {
	h := actor.Headers{"method": x.r.Method, "path": x.r.URL.Path, "remote": x.r.RemoteAddr}
	if t := x.r.Header.Get("Content-Type"); t != "" {
		h["content-type"] = clip(t)
	}
	if x.r.URL.RawQuery == "" {
		return h
	}
	query := x.r.URL.Query()
	names := slices.Sorted(maps.Keys(query))
	for _, name := range names[:min(len(names), maxQuery)] {
		h["query."+clip(name)] = clip(query.Get(name))
	}
	return h
}

func clip(s string) string {
	if len(s) > maxHeaderText {
		s = s[:maxHeaderText]
	}
	return strings.ToValidUTF8(s, "")
}

func (x *exchange) refuse(p problem) {
	p.Trace = x.trace.String()
	if p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", "1")
	}
	x.answer(p.status, p)
}

func (x *exchange) answer(status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		x.refuse(problem{status: http.StatusInternalServerError, Error: "the reply is no JSON", Detail: err.Error()})
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Traceresponse", "00-"+x.trace.String()+"-"+spanID()+"-00")
	_ = x.conn.SetWriteDeadline(time.Now().Add(x.table.write))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(append(text, '\n')) // the peer may be gone; nobody else cares
}

func spanID() string {
	id := actor.NewTraceID()
	return hex.EncodeToString(id[:8])
}
