package actor

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// everything has a field of every kind and every tag.
type everything struct {
	Text    string            `conf:"text,required" doc:"Any text."`
	Count   int               `conf:"count" default:"9007199254740993" min:"0" unit:"messages" words:"unlimited=0" class:"live"`
	Ratio   float64           `conf:"ratio" default:"3" min:"0.5" max:"9.25"`
	On      bool              `conf:"on" default:"on"`
	Wait    time.Duration     `conf:"wait" default:"1h30m" min:"1ms" max:"24h" words:"off=0"`
	Odd     time.Duration     `conf:"odd" default:"1234567891ns"`
	Bytes   Size              `conf:"bytes" default:"4MiB" max:"1GiB"`
	Few     Size              `conf:"few" default:"1234567"`
	Share   Percent           `conf:"share" default:"33.3%" max:"100%"`
	Mode    string            `conf:"mode" enum:"fast|safe" default:"safe"`
	List    []string          `conf:"list" min:"1" max:"3"`
	Map     map[string][]int  `conf:"map"`
	Nested  nestedPart        `conf:"nested"`
	Parts   []nestedPart      `conf:"parts"`
	To      Targets           `conf:"to,required"`
	One     Target            `conf:"one" default:"reply"`
	When    Expr              `conf:"when" expr:"bool"`
	Keys    []Expr            `conf:"keys" expr:"string"`
	Listen  Address           `conf:"listen" default:"127.0.0.1:8080"`
	File    File              `conf:"file"`
	Any     any               `conf:"any"`
	Strings map[string]string `conf:"strings" class:"cosmetic"`
}

type nestedPart struct {
	Name string        `conf:"name,required"`
	Wait time.Duration `conf:"wait" default:"2s"`
}

func TestJSONSchemaRoundTrip(t *testing.T) {
	for _, tc := range []struct {
		name   string
		schema Schema
	}{
		{"no fields", Schema{Name: "empty", Doc: "Nothing to say."}},
		{"every kind and every tag", SchemaOf[everything]("everything", "All there is.")},
		{"defaults that are lists and objects", Schema{Name: "x", Fields: []Field{
			{Name: "l", Kind: ListField, Elem: &Field{Kind: SizeField}, Default: []any{Size(1), Size(1 << 20)}},
			{Name: "m", Kind: MapField, Elem: &Field{Kind: DurationField}, Default: map[string]any{"a": time.Minute}},
			{Name: "v", Kind: AnyField, Default: map[string]any{"n": int64(1), "s": "x", "l": []any{true}}},
			{Name: "big", Kind: FloatField, Default: 1e300},
		}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := tc.schema.JSONSchema()
			if err != nil {
				t.Fatal(err)
			}
			got, err := SchemaFromJSON(tc.schema.Name, tc.schema.Doc, b)
			if err != nil {
				t.Fatalf("%v in\n%s", err, b)
			}
			for i := range tc.schema.Fields {
				if !reflect.DeepEqual(got.Fields[i], tc.schema.Fields[i]) {
					t.Errorf("got %+v; want %+v", got.Fields[i], tc.schema.Fields[i])
				}
			}
			if len(got.Fields) != len(tc.schema.Fields) || got.Name != tc.schema.Name || got.Doc != tc.schema.Doc {
				t.Errorf("got %s with %d fields; want %s with %d", got.Name, len(got.Fields), tc.schema.Name, len(tc.schema.Fields))
			}
		})
	}
}

func TestJSONSchemaSpeaksToOtherTools(t *testing.T) {
	b, err := SchemaOf[everything]("everything", "").JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Required   []string
		Properties map[string]map[string]any
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if want := []string{"text", "to"}; !reflect.DeepEqual(doc.Required, want) {
		t.Errorf("required: got %v; want %v", doc.Required, want)
	}
	for _, tc := range []struct {
		field, key string
		want       any
	}{
		{"text", "type", "string"}, {"ratio", "minimum", 0.5}, {"list", "maxItems", 3.0},
		{"wait", "default", "1h30m0s"}, {"mode", "enum", []any{"fast", "safe"}}, {"count", "type", nil},
		{"text", "description", "Any text."}, {"nested", "type", "object"},
	} {
		if got := doc.Properties[tc.field][tc.key]; !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s.%s: got %v; want %v", tc.field, tc.key, got, tc.want)
		}
	}
}

func TestSchemaFromJSONErrors(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"no JSON", "{", "unexpected end"},
		{"not an object", `{"type":"string"}`, "not object"},
		{"an unknown kind", `{"type":"object","properties":{"a":{"x-actord-kind":"strin"}},"x-actord-order":["a"]}`, `did you mean "string"`},
		{"a property without a place", `{"type":"object","properties":{"a":{}}}`, "names 0 of 1"},
		{"a place named twice", `{"type":"object","properties":{"a":{"x-actord-kind":"int"},"b":{"x-actord-kind":"int"}},"x-actord-order":["a","a"]}`, "twice"},
		{"a null property", `{"type":"object","properties":{"a":null},"x-actord-order":["a"]}`, "no property"},
		{"a list of nothing", `{"type":"object","properties":{"a":{"x-actord-kind":"list"}},"x-actord-order":["a"]}`, "elements is missing"},
		{"a map of nothing", `{"type":"object","properties":{"a":{"x-actord-kind":"map"}},"x-actord-order":["a"]}`, "a: "},
		{"a default of another kind", `{"type":"object","properties":{"a":{"x-actord-kind":"int","default":"x"}},"x-actord-order":["a"]}`, "default"},
		{"nested without end", deepSchema(40), "deeper"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if s, err := SchemaFromJSON("x", "", []byte(tc.in)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error with %q", s, err, tc.want)
			}
		})
	}
}

func deepSchema(n int) string {
	open := `{"type":"object","x-actord-kind":"object","properties":{"a":`
	shut := `},"x-actord-order":["a"]}`
	return strings.Repeat(open, n) + `{"x-actord-kind":"int"}` + strings.Repeat(shut, n)
}

// What SchemaFromJSON accepts is written and read back alike.
func FuzzSchemaFromJSON(f *testing.F) {
	b, err := SchemaOf[everything]("everything", "").JSONSchema()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := SchemaFromJSON("x", "", b)
		if err != nil {
			return
		}
		once, err := s.JSONSchema()
		if err != nil {
			return // a default that JSON cannot write
		}
		again, err := SchemaFromJSON("x", "", once)
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice, err := again.JSONSchema(); err != nil || string(twice) != string(once) {
			t.Fatalf("got %s, %v; want %s", twice, err, once)
		}
	})
}

func ExampleSchema_JSONSchema() {
	s := Schema{Name: "limit", Fields: []Field{{Name: "rate", Kind: IntField, Doc: "Per second."}}}
	b, _ := s.JSONSchema()
	back, err := SchemaFromJSON("limit", "", b)
	fmt.Println(back.Fields[0].Name, back.Fields[0].Kind, err)
	// Output: rate int <nil>
}
