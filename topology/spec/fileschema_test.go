package spec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// valid is as much of a JSON Schema validator as the schema of a file needs.
func valid(top, s map[string]any, v any, at string) (wrong []string) {
	if r, ok := s["$ref"].(string); ok {
		def := top["$defs"].(map[string]any)[strings.TrimPrefix(r, "#/$defs/")]
		wrong = append(wrong, valid(top, def.(map[string]any), v, at)...)
	}
	if !hasType(s["type"], v) {
		wrong = append(wrong, fmt.Sprintf("%s: %v is no %v", at, v, s["type"]))
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		wrong = append(wrong, fmt.Sprintf("%s: %v is not in %v", at, v, enum))
	}
	if c, ok := s["const"]; ok && !reflect.DeepEqual(c, v) {
		wrong = append(wrong, at+": const")
	}
	for _, one := range schemas(s["allOf"]) {
		wrong = append(wrong, valid(top, one, v, at)...)
	}
	if some := schemas(s["anyOf"]); some != nil && !slices.ContainsFunc(some, func(one map[string]any) bool { return valid(top, one, v, at) == nil }) {
		wrong = append(wrong, at+": anyOf")
	}
	if cond, ok := s["if"].(map[string]any); ok && valid(top, cond, v, at) == nil {
		wrong = append(wrong, valid(top, s["then"].(map[string]any), v, at)...)
	}
	switch v := v.(type) {
	case []any:
		if items, ok := s["items"].(map[string]any); ok {
			for i, e := range v {
				wrong = append(wrong, valid(top, items, e, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		wrong = append(wrong, validObject(top, s, v, at)...)
	}
	return wrong
}

func validObject(top, s, v map[string]any, at string) (wrong []string) {
	for _, name := range elements(s["required"]) {
		if _, ok := v[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: %s is required", at, name))
		}
	}
	props, _ := s["properties"].(map[string]any)
	for key, e := range v {
		more, isSchema := s["additionalProperties"].(map[string]any)
		switch p := props[key]; {
		case p != nil:
			wrong = append(wrong, valid(top, p.(map[string]any), e, at+"."+key)...)
		case isSchema:
			wrong = append(wrong, valid(top, more, e, at+"."+key)...)
		case s["additionalProperties"] == false:
			wrong = append(wrong, fmt.Sprintf("%s: unknown key %s", at, key))
		}
	}
	return wrong
}

func elements(v any) []any { s, _ := v.([]any); return s }

func schemas(v any) (out []map[string]any) {
	for _, e := range elements(v) {
		out = append(out, e.(map[string]any))
	}
	return out
}

func hasType(types, v any) bool {
	if types == nil {
		return true
	}
	if one, ok := types.(string); ok {
		types = []any{one}
	}
	return slices.ContainsFunc(types.([]any), func(t any) bool {
		switch v := v.(type) {
		case nil:
			return t == "null"
		case bool:
			return t == "boolean"
		case float64:
			return t == "number" || t == "integer" && v == float64(int64(v))
		case string:
			return t == "string"
		case []any:
			return t == "array"
		default:
			return t == "object"
		}
	})
}

func TestTheJSONSchemaOfAFile(t *testing.T) {
	b, err := JSONSchema(registry(t))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, text, want string }{
		{name: "the reference", text: Reference()},
		{name: "what is written in many ways", text: `actord {
			system { name = 5, shutdown-drain-timeout = 0 }
			actor-defaults { mailbox.capacity = "10", supervision.keep-children = yes }
			templates.t { count = 3, stop-timeout = 1s }
			actors {
				a { behaviour = router, use = t, args { default = /user/b, rules = [ { to = [/user/b, reply] } ] }, mailbox.capacity = unlimited }
				b { behaviour = sink, description = null, children { c { foreach = [1, 2], behaviour = sink } } }
			}
			bridges { w { type = web, listen = ":80", in.x { to = /user/b } } }
			plugins.p { command = [x], env { A = 1, B { env = C } } }
		}`},
		{name: "an unknown key", text: "actord.actors.a { behaviour = sink, mailbox.capcity = 3 }", want: "$.actord.actors.a.mailbox: unknown key capcity"},
		{name: "an unknown key of a behaviour", text: "actord.actors.a { behaviour = router, args.rulez = [] }", want: "$.actord.actors.a.args: unknown key rulez"},
		{name: "a word that is none", text: "actord.log.level = loud", want: "$.actord.log.level: loud is not in"},
		{name: "a bridge without a type", text: "actord.bridges.b { }", want: "$.actord.bridges.b: type is required"},
		{name: "a key of another type of bridge", text: `actord.bridges.b { type = broker, listen = ":80" }`, want: "$.actord.bridges.b: unknown key listen"},
		{name: "a secret from nowhere", text: "actord.plugins.p { command = [x], env.A { evn = X } }", want: "$.actord.plugins.p.env.A: anyOf"},
		{name: "no file of actord", text: "x = 1", want: "$: actord is required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v any
			if err := json.Unmarshal(load(t, tc.text).Root.JSON(), &v); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(valid(schema, schema, v, "$"), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}
