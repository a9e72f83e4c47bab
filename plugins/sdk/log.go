package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/actord/actord/plugins/wire"
)

// logHandler sends records to the host, which knows the actor.
type logHandler struct {
	session *session
	inst    uint32
	trace   string
	prefix  string // of the open groups, with a dot behind each
	attrs   []any  // key, value, key, value, …
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= h.session.level.Level()
}

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := h.attrs[:len(h.attrs):len(h.attrs)]
	r.Attrs(func(a slog.Attr) bool {
		attrs = flatten(attrs, h.prefix, a)
		return true
	})
	packed, err := wire.AppendBody(nil, attrs)
	if err != nil {
		return err
	}
	h.session.out.log(&wire.Log{
		Inst: h.inst, Level: int32(r.Level), UnixNanos: r.Time.UnixNano(), Message: r.Message,
		Attributes: packed, Trace: h.trace,
	})
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	out.attrs = h.attrs[:len(h.attrs):len(h.attrs)]
	for _, a := range attrs {
		out.attrs = flatten(out.attrs, h.prefix, a)
	}
	return &out
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	out := *h
	if name != "" {
		out.prefix += name + "."
	}
	return &out
}

// flatten appends an attribute as key and value, groups with dotted keys.
func flatten(out []any, prefix string, a slog.Attr) []any {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, g := range v.Group() {
			out = flatten(out, prefix, g)
		}
		return out
	case slog.KindBool:
		return append(out, prefix+a.Key, v.Bool())
	case slog.KindInt64:
		return append(out, prefix+a.Key, v.Int64())
	case slog.KindFloat64:
		return append(out, prefix+a.Key, v.Float64())
	case slog.KindTime:
		return append(out, prefix+a.Key, v.Time().Format(time.RFC3339Nano))
	default:
		return append(out, prefix+a.Key, fmt.Sprint(v.Any()))
	}
}
