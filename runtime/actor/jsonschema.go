package actor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// jsonSchema is the part of JSON Schema (2020-12) that a Schema needs. What JSON
// Schema cannot say stands behind x-actord- keywords, which other tools ignore.
type jsonSchema struct {
	Dialect     string                 `json:"$schema,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Type        string                 `json:"type,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Default     json.RawMessage        `json:"default,omitempty"`
	Minimum     *float64               `json:"minimum,omitempty"`
	Maximum     *float64               `json:"maximum,omitempty"`
	MinItems    *float64               `json:"minItems,omitempty"`
	MaxItems    *float64               `json:"maxItems,omitempty"`
	Items       *jsonSchema            `json:"items,omitempty"`
	Additional  json.RawMessage        `json:"additionalProperties,omitempty"` // false, or the schema of a map's values
	Properties  map[string]*jsonSchema `json:"properties,omitempty"`
	Required    []string               `json:"required,omitempty"`

	Kind   string           `json:"x-actord-kind,omitempty"` // FieldKind
	Order  []string         `json:"x-actord-order,omitempty"`
	Bounds [2]*float64      `json:"x-actord-bounds,omitzero"` // of a value that is written with a unit
	Words  map[string]int64 `json:"x-actord-words,omitempty"`
	Unit   string           `json:"x-actord-unit,omitempty"`
	Site   string           `json:"x-actord-site,omitempty"`
	Class  string           `json:"x-actord-class,omitempty"`
	Lone   bool             `json:"x-actord-lone,omitempty"`
}

// jsonTypes are the types of values as JSON holds them. Durations and the like
// are texts with units; a value that may be written in several ways has no type.
var jsonTypes = map[FieldKind]string{
	StringField: "string", IntField: "integer", FloatField: "number", BoolField: "boolean",
	DurationField: "string", EnumField: "string", ListField: "array", MapField: "object",
	ObjectField: "object", TargetField: "string", ExprField: "string", AddressField: "string", FileField: "string",
}

// JSONSchema returns the schema as a JSON Schema document. SchemaFromJSON reads
// it back without loss; other tools can validate arguments with it.
func (s Schema) JSONSchema() ([]byte, error) {
	doc, err := objectToJSON(s.Fields)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	doc.Dialect, doc.Title, doc.Description = "https://json-schema.org/draft/2020-12/schema", s.Name, s.Doc
	return json.Marshal(doc)
}

func objectToJSON(fields []Field) (*jsonSchema, error) {
	out := &jsonSchema{Type: "object", Properties: map[string]*jsonSchema{}, Additional: json.RawMessage("false")}
	for _, f := range fields {
		p, err := fieldToJSON(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out.Properties[f.Name] = p
		out.Order = append(out.Order, f.Name)
		if f.Required {
			out.Required = append(out.Required, f.Name)
		}
	}
	return out, nil
}

func fieldToJSON(f Field) (out *jsonSchema, err error) {
	out = &jsonSchema{Type: jsonTypes[f.Kind]}
	switch f.Kind {
	case ObjectField:
		if out, err = objectToJSON(f.Fields); err != nil {
			return nil, err
		}
	case ListField:
		if out.Items, err = fieldToJSON(*f.Elem); err != nil {
			return nil, err
		}
		out.MinItems, out.MaxItems = f.Min, f.Max
	case MapField:
		elem, err := fieldToJSON(*f.Elem)
		if err != nil {
			return nil, err
		}
		if out.Additional, err = json.Marshal(elem); err != nil {
			return nil, err
		}
	case IntField, FloatField:
		out.Minimum, out.Maximum = f.Min, f.Max
	default:
		out.Bounds = [2]*float64{f.Min, f.Max}
	}
	if f.Lone || len(f.Words) > 0 {
		out.Type = "" // a single element, or a word, will do as well
	}
	out.Description, out.Enum, out.Kind = f.Doc, f.Enum, f.Kind.String()
	out.Words, out.Unit, out.Site, out.Class, out.Lone = f.Words, f.Unit, f.Site, string(f.Class), f.Lone
	if f.Default != nil {
		out.Default, err = json.Marshal(exact(f.Default))
	}
	return out, err
}

// exact is Plain, but for sizes and durations, whose texts round or do not read
// back alike in every case.
func exact(v any) any {
	switch v := v.(type) {
	case Size:
		return fmt.Sprintf("%dB", int64(v))
	case time.Duration:
		return v.String()
	case float64:
		return json.RawMessage(fmt.Sprintf("%g", v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = exact(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = exact(e)
		}
		return out
	default:
		return v
	}
}

// SchemaFromJSON reads what JSONSchema wrote, e.g. in a plugin's manifest. name
// and doc replace those of the document.
func SchemaFromJSON(name, doc string, b []byte) (Schema, error) {
	var js jsonSchema
	if err := json.Unmarshal(b, &js); err != nil {
		return Schema{}, fmt.Errorf("schema %s: %w", name, err)
	}
	if js.Type != "object" {
		return Schema{}, fmt.Errorf("schema %s: the type is %q, not object", name, js.Type)
	}
	fields, err := objectFromJSON(&js, maxSchemaDepth)
	if err != nil {
		return Schema{}, fmt.Errorf("schema %s: %w", name, err)
	}
	return Schema{Name: name, Doc: doc, Fields: fields}, nil
}

// maxSchemaDepth bounds nesting, because a schema may come from elsewhere.
const maxSchemaDepth = 32

func objectFromJSON(js *jsonSchema, depth int) ([]Field, error) {
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d", maxSchemaDepth)
	}
	if len(js.Order) != len(js.Properties) {
		return nil, fmt.Errorf("x-actord-order names %d of %d properties", len(js.Order), len(js.Properties))
	}
	var out []Field
	for i, name := range js.Order {
		p := js.Properties[name]
		if p == nil || slices.Contains(js.Order[:i], name) {
			return nil, fmt.Errorf("x-actord-order: %q is no property, or is named twice", name)
		}
		f, err := fieldFromJSON(name, p, depth)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.Required = slices.Contains(js.Required, name)
		out = append(out, f)
	}
	return out, nil
}

func fieldFromJSON(name string, js *jsonSchema, depth int) (f Field, err error) {
	kind := slices.Index(fieldKindNames[:], js.Kind)
	if kind < 0 {
		return Field{}, fmt.Errorf("x-actord-kind %q is unknown%s", js.Kind, DidYouMean(js.Kind, fieldKindNames[:]))
	}
	f = Field{
		Name: name, Kind: FieldKind(kind), Doc: js.Description, Enum: js.Enum, Words: js.Words,
		Unit: js.Unit, Site: js.Site, Class: Class(js.Class), Lone: js.Lone,
	}
	switch f.Kind {
	case ObjectField:
		f.Fields, err = objectFromJSON(js, depth-1)
	case ListField:
		f.Min, f.Max = js.MinItems, js.MaxItems
		f.Elem, err = elemFromJSON(js.Items, depth-1)
	case MapField:
		var elem *jsonSchema
		if err = json.Unmarshal(js.Additional, &elem); err == nil {
			f.Elem, err = elemFromJSON(elem, depth-1)
		}
	case IntField, FloatField:
		f.Min, f.Max = js.Minimum, js.Maximum
	default:
		f.Min, f.Max = js.Bounds[0], js.Bounds[1]
	}
	if err != nil || js.Default == nil {
		return f, err
	}
	f.Default, err = defaultFromJSON(f, js.Default)
	return f, err
}

func elemFromJSON(js *jsonSchema, depth int) (*Field, error) {
	switch {
	case js == nil:
		return nil, fmt.Errorf("the schema of its elements is missing")
	case depth == 0:
		return nil, fmt.Errorf("nested deeper than %d", maxSchemaDepth)
	}
	f, err := fieldFromJSON("", js, depth)
	return &f, err
}

// defaultFromJSON reads a default as the decoded value it was, without its
// bounds, which a default need not keep.
func defaultFromJSON(f Field, b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("default: %w", err)
	}
	f.Min, f.Max = nil, nil
	out, mistakes := f.decode(nil, fromNumbers(v))
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("default: %w", mistakes[0])
	}
	return out, nil
}

// fromNumbers gives numbers the types of a message body.
func fromNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		n, _ := v.Float64() // the decoder checked its form
		return n
	case []any:
		for i, e := range v {
			v[i] = fromNumbers(e)
		}
	case map[string]any:
		for k, e := range v {
			v[k] = fromNumbers(e)
		}
	}
	return v
}
