package hocon

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// JSON returns the value as compact JSON. Keys come in the order in which they
// were written first, numbers as they are written. The nil Node is null.
func (n *Node) JSON() []byte { return n.appendJSON(nil) }

// MarshalJSON is JSON for encoding/json.
func (n *Node) MarshalJSON() ([]byte, error) { return n.JSON(), nil }

func (n *Node) appendJSON(b []byte) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	switch n.Kind {
	case String:
		return appendQuoted(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, kid := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = kid.appendJSON(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, kid := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, kid.key), ':')
			b = kid.appendJSON(b)
		}
		return append(b, '}')
	}
	return append(b, n.Text...)
}

// appendQuoted writes a JSON string; only what must be escaped is.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
		switch k := strings.IndexByte("\"\\\b\f\n\r\t", c); {
		case k >= 0:
			b = append(b, '\\', `"\bfnrt`[k])
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Hash returns a digest of the resolved value. It does not depend on the order
// of keys, on places, comments or the way a text is quoted; a number counts as
// it is written. The nil Node has the zero digest.
func (n *Node) Hash() [32]byte {
	if n == nil {
		return [32]byte{}
	}
	kids := n.kids
	if n.Kind == Object {
		kids = slices.SortedFunc(slices.Values(kids), func(a, b *Node) int { return strings.Compare(a.key, b.key) })
	}
	b := binary.AppendUvarint([]byte{byte(n.Kind)}, uint64(len(n.Text)))
	b = append(b, n.Text...)
	for _, kid := range kids {
		b = binary.AppendUvarint(b, uint64(len(kid.key)))
		b = append(b, kid.key...)
		h := kid.Hash()
		b = append(b, h[:]...)
	}
	return sha256.Sum256(b)
}

// Equal reports whether two values are the same apart from the order of keys,
// places, comments and quotes.
func (n *Node) Equal(other *Node) bool {
	if n == nil || other == nil {
		return n == other
	}
	if n.Kind != other.Kind || n.Text != other.Text || len(n.kids) != len(other.kids) {
		return false
	}
	for i, kid := range n.kids {
		twin := other.kids[i]
		if n.Kind == Object && twin.key != kid.key {
			twin = other.Get(kid.key)
		}
		if !kid.Equal(twin) {
			return false
		}
	}
	return true
}
