package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrBody is wrapped by every error about bytes that are not a body.
var ErrBody = errors.New("not a message body")

// maxDepth bounds nesting, so that hostile bytes cannot exhaust the stack.
const maxDepth = 128

// The major types and simple values of CBOR that a body uses.
const (
	majorUint  = 0 << 5
	majorInt   = 1 << 5
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorMap   = 5 << 5

	cborFalse   = 0xf4
	cborTrue    = 0xf5
	cborNull    = 0xf6
	cborFloat16 = 0xf9
	cborFloat32 = 0xfa
	cborFloat64 = 0xfb
)

// AppendBody appends body as CBOR to dst. It fails for a value that is not nil,
// bool, int64, float64, string, []byte, []any or map[string]any, nested freely
// up to a depth of 128.
func AppendBody(dst []byte, body any) ([]byte, error) { return appendValue(dst, body, maxDepth) }

func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	if depth == 0 {
		return dst, fmt.Errorf("%w: nested deeper than %d", ErrBody, maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(dst, cborNull), nil
	case bool:
		if v {
			return append(dst, cborTrue), nil
		}
		return append(dst, cborFalse), nil
	case int64:
		if v < 0 {
			return appendHead(dst, majorInt, uint64(-(v + 1))), nil
		}
		return appendHead(dst, majorUint, uint64(v)), nil
	case float64:
		return binary.BigEndian.AppendUint64(append(dst, cborFloat64), math.Float64bits(v)), nil
	case string:
		return append(appendHead(dst, majorText, uint64(len(v))), v...), nil
	case []byte:
		return append(appendHead(dst, majorBytes, uint64(len(v))), v...), nil
	case []any:
		return appendArray(dst, v, depth)
	case map[string]any:
		return appendMap(dst, v, depth)
	default:
		return dst, fmt.Errorf("%w: %T cannot be sent (want nil, bool, int64, float64, string, []byte, []any or map[string]any)", ErrBody, v)
	}
}

func appendArray(dst []byte, list []any, depth int) ([]byte, error) {
	dst = appendHead(dst, majorArray, uint64(len(list)))
	var err error
	for _, e := range list {
		if dst, err = appendValue(dst, e, depth-1); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendMap(dst []byte, m map[string]any, depth int) ([]byte, error) {
	dst = appendHead(dst, majorMap, uint64(len(m)))
	var err error
	for k, e := range m {
		dst = append(appendHead(dst, majorText, uint64(len(k))), k...)
		if dst, err = appendValue(dst, e, depth-1); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n <= math.MaxUint8:
		return append(dst, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(dst, major|27), n)
	}
}

// DecodeBody reads one CBOR value that fills b. Every error wraps ErrBody. What
// it returns shares no memory with b. It reads shorter floats than AppendBody
// writes, but no tags, no undefined and no indefinite lengths.
func DecodeBody(b []byte) (any, error) {
	var d Decoder
	return d.Decode(b)
}

// Decoder decodes many bodies. It remembers the keys of objects, which are the
// same again and again. The zero value is ready; it is not for concurrent use.
type Decoder struct {
	rest []byte
	keys map[string]string
}

// Bounds of what a Decoder remembers.
const (
	maxKeys      = 512
	maxKeyLength = 64
)

// Decode is DecodeBody.
func (d *Decoder) Decode(b []byte) (any, error) {
	d.rest = b
	v, err := d.value(maxDepth)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBody, err)
	case len(d.rest) > 0:
		return nil, fmt.Errorf("%w: %d bytes follow the value", ErrBody, len(d.rest))
	}
	return v, nil
}

var errShort = errors.New("it ends too early")

func (d *Decoder) value(depth int) (any, error) {
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	head, err := d.take(1)
	if err != nil {
		return nil, err
	}
	if head[0] >= 7<<5 {
		return d.simple(head[0])
	}
	n, err := d.argument(head[0] & 31)
	if err != nil {
		return nil, err
	}
	switch head[0] &^ 31 {
	case majorUint, majorInt:
		return integer(head[0]&^31 == majorInt, n)
	case majorBytes:
		b, err := d.take(n)
		return append([]byte{}, b...), err
	case majorText:
		b, err := d.take(n)
		return string(b), err
	case majorArray:
		return d.array(n, depth-1)
	case majorMap:
		return d.mapping(n, depth-1)
	default:
		return nil, fmt.Errorf("tag %d is not supported", n)
	}
}

func (d *Decoder) simple(head byte) (any, error) {
	switch head {
	case cborFalse, cborTrue:
		return head == cborTrue, nil
	case cborNull:
		return nil, nil
	case cborFloat16:
		b, err := d.take(2)
		if err != nil {
			return nil, err
		}
		return half(binary.BigEndian.Uint16(b)), nil
	case cborFloat32:
		b, err := d.take(4)
		if err != nil {
			return nil, err
		}
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b))), nil
	case cborFloat64:
		b, err := d.take(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	default:
		return nil, fmt.Errorf("byte 0x%02x starts no value of a body", head)
	}
}

// half widens an IEEE 754 half-precision number.
func half(h uint16) float64 {
	exp, frac := int(h>>10)&31, float64(h&1023)
	var f float64
	switch exp {
	case 0:
		f = math.Ldexp(frac, -24)
	case 31:
		f = math.Inf(1)
		if frac != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(1024+frac, exp-25)
	}
	if h>>15 == 1 {
		return -f
	}
	return f
}

func integer(negative bool, n uint64) (any, error) {
	if n > math.MaxInt64 {
		return nil, fmt.Errorf("an integer does not fit into 64 bits with sign")
	}
	if negative {
		return -int64(n) - 1, nil
	}
	return int64(n), nil
}

func (d *Decoder) array(n uint64, depth int) (any, error) {
	if n > uint64(len(d.rest)) { // each element has a byte at least
		return nil, errShort
	}
	out := make([]any, 0, min(n, 1024))
	for range n {
		v, err := d.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (d *Decoder) mapping(n uint64, depth int) (any, error) {
	if n > uint64(len(d.rest)) {
		return nil, errShort
	}
	out := make(map[string]any, min(n, 1024))
	for range n {
		name, err := d.key()
		if err != nil {
			return nil, err
		}
		if out[name], err = d.value(depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// key reads a text and gives one that it has seen before without a copy.
func (d *Decoder) key() (string, error) {
	head, err := d.take(1)
	if err != nil {
		return "", err
	}
	if head[0]&^31 != majorText {
		return "", fmt.Errorf("a key is not a text")
	}
	n, err := d.argument(head[0] & 31)
	if err != nil {
		return "", err
	}
	b, err := d.take(n)
	if err != nil {
		return "", err
	}
	if k, ok := d.keys[string(b)]; ok {
		return k, nil
	}
	k := string(b)
	if len(k) <= maxKeyLength && len(d.keys) < maxKeys {
		if d.keys == nil {
			d.keys = map[string]string{}
		}
		d.keys[k] = k
	}
	return k, nil
}

func (d *Decoder) take(n uint64) ([]byte, error) {
	if n > uint64(len(d.rest)) {
		return nil, errShort
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b, nil
}

func (d *Decoder) argument(info byte) (uint64, error) {
	if info < 24 {
		return uint64(info), nil
	}
	if info > 27 {
		return 0, fmt.Errorf("indefinite lengths are not supported")
	}
	b, err := d.take(1 << (info - 24))
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n, nil
}
