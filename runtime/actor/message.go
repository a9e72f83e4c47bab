package actor

import (
	"bytes"
	"fmt"
	"maps"
)

// Headers are a message's metadata, such as a bridge's topic or a trace parent.
// They are shared between actors and never changed in place; use With.
type Headers map[string]string

// With returns a copy of h in which key has value.
func (h Headers) With(key, value string) Headers {
	out := make(Headers, len(h)+1)
	maps.Copy(out, h)
	out[key] = value
	return out
}

// Message is what actors send to each other. It is immutable from the moment it
// is told: many actors may hold it at once.
//
// Body is nil, bool, int64, float64, string, []byte, []any or map[string]any,
// nested freely, so that every message can leave the process unchanged.
type Message struct {
	Kind    string  // what the message is, e.g. "order"
	Body    any     // the payload; see the type's comment for what it may hold
	Headers Headers // metadata; nil when there is none
}

// CheckBody reports the first part of body that is not one of the types a
// Message may carry, by its place, e.g. "body.items[2]: int is not a body type".
func CheckBody(body any) error { return checkBody("body", body) }

func checkBody(place string, v any) error {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []byte:
		return nil
	case []any:
		for i, e := range v {
			if err := checkBody(fmt.Sprintf("%s[%d]", place, i), e); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for k, e := range v {
			if err := checkBody(place+"."+k, e); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("%s: %T is not a body type (want nil, bool, int64, float64, string, []byte, []any or map[string]any)", place, v)
	}
}

// CopyBody returns a deep copy of body that the caller may change.
func CopyBody(body any) any {
	switch v := body.(type) {
	case []byte:
		return bytes.Clone(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = CopyBody(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = CopyBody(e)
		}
		return out
	default:
		return body
	}
}
