package actor

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that no printer shows: fmt, encoding/json and log/slog all get
// Masked in its place. Reveal returns the text.
type Secret string

// Masked is shown in the place of a secret.
const Masked = "***"

// Reveal returns the text. What is done with it is up to the caller.
func (s Secret) Reveal() string { return string(s) }

// String returns Masked, or "" for the empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Masked
}

// GoString is String for %#v.
func (s Secret) GoString() string { return fmt.Sprintf("actor.Secret(%q)", s.String()) }

// Format writes the masked text for every verb.
func (s Secret) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('#'):
		_, _ = io.WriteString(f, s.GoString())
	case verb == 'q':
		_, _ = fmt.Fprintf(f, "%q", s.String())
	default:
		_, _ = io.WriteString(f, s.String())
	}
}

// MarshalJSON writes the masked text.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalText writes the masked text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is the masked text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
