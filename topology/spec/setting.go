package spec

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// Setting is one configured value in canonical form: equal texts mean equal
// values, whatever units, quotes or layers they were written with.
type Setting struct {
	Key   string      // dotted, from the section, e.g. mailbox.capacity or args.rules[0].to
	Class actor.Class // what a reload does with a change; never ""
	Text  string      // to compare; of a secret it is a hash, of what only looks like one it may be the text
}

// masked is shown in place of a secret.
const masked = actor.Masked

// hashed begins the text of a secret.
const hashed = "secret:"

var secretWords = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "apikey", "privatekey"}

// Shown returns the text for people: values whose key speaks of a secret,
// variables of a plugin's environment and passwords in addresses are masked.
func (s Setting) Shown() string {
	if strings.HasPrefix(s.Text, hashed) {
		return masked
	}
	if s.Text != `""` && (strings.HasPrefix(s.Key, "env.") || secretLike(s.Key)) {
		return masked
	}
	if !strings.Contains(s.Text, "://") || !strings.Contains(s.Text, "@") {
		return s.Text
	}
	u, err := url.Parse(strings.Trim(s.Text, `"`))
	switch {
	case err != nil:
		return masked
	case u.User == nil:
		return s.Text
	}
	u.User = url.User(masked)
	return strings.ReplaceAll(u.String(), "%2A", "*")
}

// secretLike reports whether a key speaks of a secret.
func secretLike(key string) bool {
	key = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(key, w) })
}

// settings writes decoded values as settings, in the order of the schema. Fields
// without a class have that of what they are in. An empty list or map is the same
// as none.
func settings(prefix string, class actor.Class, fields []actor.Field, values map[string]any) []Setting {
	var out []Setting
	for _, f := range fields {
		v := values[f.Name]
		fields, isObject := v.(map[string]any)
		switch {
		case v == nil || isEmpty(&f, v):
		case isObject && f.Kind == actor.ObjectField:
			out = append(out, settings(join(prefix, f.Name), cmp.Or(f.Class, class), f.Fields, fields)...)
		default:
			out = appendSettings(out, join(prefix, f.Name), class, &f, v)
		}
	}
	return out
}

func isEmpty(f *actor.Field, v any) bool {
	switch v := v.(type) {
	case []any:
		return f.Kind == actor.ListField && len(v) == 0
	case map[string]any:
		return f.Kind == actor.MapField && len(v) == 0
	}
	return false
}

// appendSettings writes a value that may also be an element. An element that is
// empty is not the same as none, so it has a text.
func appendSettings(out []Setting, key string, class actor.Class, f *actor.Field, v any) []Setting {
	class = cmp.Or(f.Class, class)
	n := len(out)
	empty := ""
	switch v := v.(type) {
	case []any:
		if f.Kind == actor.ListField {
			empty = "[]"
			for i, e := range v {
				out = appendSettings(out, key+"["+strconv.Itoa(i)+"]", class, f.Elem, e)
			}
		}
	case map[string]any:
		switch f.Kind {
		case actor.ObjectField:
			empty = "{}"
			out = append(out, settings(key, class, f.Fields, v)...)
		case actor.MapField:
			empty = "{}"
			for _, k := range slices.Sorted(maps.Keys(v)) {
				out = appendSettings(out, join(key, k), class, f.Elem, v[k])
			}
		}
	}
	switch {
	case len(out) > n:
		return out
	case empty != "":
		return append(out, Setting{Key: key, Class: class, Text: empty})
	}
	return append(out, Setting{Key: key, Class: class, Text: canonical(f, v)})
}

// join writes a key behind a prefix; a key that would not read as one is quoted.
func join(prefix, key string) string {
	if key == "" || strings.ContainsAny(key, `."[] `) {
		key = strconv.Quote(key)
	}
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

// canonical writes a decoded scalar as a person would, one text per value.
func canonical(f *actor.Field, v any) string {
	for word, n := range f.Words {
		if isWord(v, n) {
			return word
		}
	}
	switch v := v.(type) {
	case actor.Secret:
		if v == "" {
			return `""`
		}
		h := sha256.Sum256([]byte("actord\x00" + v.Reveal()))
		return hashed + hex.EncodeToString(h[:8])
	case bool:
		if v {
			return "on"
		}
		return "off"
	case time.Duration:
		return duration(v)
	case actor.Size:
		return actor.FormatSize(v)
	case float64:
		if f.Kind == actor.PercentField {
			return strconv.FormatFloat(v*100, 'g', -1, 64) + "%"
		}
	case string:
		if f.Kind != actor.AnyField {
			return text(v)
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func isWord(v any, n int64) bool {
	switch v := v.(type) {
	case int64:
		return v == n
	case float64:
		return v == float64(n)
	case time.Duration:
		return int64(v) == n
	case actor.Size:
		return int64(v) == n
	}
	return false
}

// duration writes d with the largest unit that divides it.
func duration(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}} {
		if d != 0 && d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	if d == 0 {
		return "0s"
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}

// text quotes a text unless it is one plain word.
func text(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`"'{}[],=#`, r) || !strconv.IsPrint(r)
	})
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// digest is the hash of settings without the cosmetic ones, and of parts' hashes.
func digest(list []Setting, parts ...string) string {
	b := make([]byte, 0, 512)
	for _, s := range list {
		if s.Class != actor.Cosmetic {
			b = append(strconv.AppendQuote(b, s.Key), '=')
			b = append(strconv.AppendQuote(b, s.Text), '\n')
		}
	}
	for _, p := range parts {
		b = append(strconv.AppendQuote(b, p), '\n')
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:16])
}

// sum is a hash of several things in any order.
type sum [2]uint64

func sumText(s string) sum {
	h := sha256.Sum256([]byte(s))
	return sum{binary.BigEndian.Uint64(h[:8]), binary.BigEndian.Uint64(h[8:16])}
}

// String returns the sum in hex, "" for nothing.
func (s sum) String() string {
	if s == (sum{}) {
		return ""
	}
	return fmt.Sprintf("%016x%016x", s[0], s[1])
}

// sumOf is the hash of the actors that stand beside each other.
func sumOf(groups []*group) sum {
	var s sum
	for _, g := range groups {
		for _, e := range g.entries {
			s[0] += e.sum[0]
			s[1] += e.sum[1]
		}
	}
	return s
}

// systemHash is the hash of everything; the order of actors, bridges and plugins
// does not count.
func systemHash(s *System, actors sum) string {
	parts := []string{actors.String()}
	for _, b := range s.Bridges {
		parts = append(parts, string(b.Path)+" "+b.Hash)
	}
	for _, p := range s.Plugins {
		parts = append(parts, "plugin "+p.Name+" "+p.Hash)
	}
	for _, t := range s.Topics {
		parts = append(parts, "topic "+t.Name+" "+t.Hash)
	}
	slices.Sort(parts)
	return digest(s.Settings, parts...)
}
