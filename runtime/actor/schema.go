package actor

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// FieldKind is the type of a configuration field.
type FieldKind uint8

// The kinds of fields and the Go type a decoded value has.
const (
	StringField   FieldKind = iota // string
	IntField                       // int64
	FloatField                     // float64
	BoolField                      // bool
	DurationField                  // time.Duration, written with a unit
	SizeField                      // Size (bytes), written with or without a unit
	PercentField                   // float64 from 0 to 1, written "50%"
	EnumField                      // string, one of Enum
	ListField                      // []any of Elem
	MapField                       // map[string]any of Elem
	ObjectField                    // map[string]any of Fields
	TargetField                    // string in the form of Target
	ExprField                      // string, an expression for Site
	AddressField                   // string host:port that is listened on
	FileField                      // string, a file's path
	AnyField                       // any value, as a message body may hold it
	SecretField                    // Secret
)

var fieldKindNames = [...]string{
	"string", "int", "float", "bool", "duration", "size", "percent", "enum", "list", "map", "object",
	"target", "expr", "address", "path", "any", "secret",
}

// String returns the kind's name in docs and errors.
func (k FieldKind) String() string { return fieldKindNames[k] }

// Types that make a struct's field more than its Go type says; see SchemaOf.
type (
	Size    int64    // bytes
	Percent float64  // a share from 0 to 1
	Targets []Target // a fan-out; a lone target stands for a list of one
	Expr    string   // an expression, see Field.Site
	Address string   // host:port to listen on
	File    string   // a file's path
)

// Class says what a reload does with a changed field.
type Class string

// The reload classes.
const (
	Live      Class = "live"      // applied in place
	Handover  Class = "handover"  // new behaviour, same mailbox and address; state handed over when it can be
	Replace   Class = "replace"   // graceful stop, then start
	Reconnect Class = "reconnect" // a new connection
	Rewire    Class = "rewire"    // routes swapped
	Process   Class = "process"   // needs a restart of the daemon; reported
	Cosmetic  Class = "cosmetic"  // ignored
)

// Sites of expressions, by the type of their result.
const (
	BoolSite   = "bool"   // a condition
	NumberSite = "number" // a rank or an amount
	ValueSite  = "value"  // any body
	StringSite = "string" // a text
)

// Field describes one configuration key: how it is written, its default, what
// is allowed, what it is for and what a reload does with a change.
type Field struct {
	Name     string
	Kind     FieldKind
	Doc      string
	Default  any              // decoded; nil means none
	Required bool             // must be given; there is no default
	Enum     []string         // the words of an EnumField
	Min, Max *float64         // bounds of a number, a duration (nanoseconds), a size, or a list's length
	Words    map[string]int64 // words that stand for a number, e.g. unlimited
	Unit     string           // what a plain number counts, for docs and errors
	Site     string           // of an ExprField
	Class    Class            // "" means Handover
	Lone     bool             // a ListField that also takes a single element
	Elem     *Field           // of a ListField or MapField
	Fields   []Field          // of an ObjectField
}

// Schema describes the configuration of a behaviour, a bridge or a section. One
// declaration gives decoding, defaults, checks and documentation.
type Schema struct {
	Name   string // what configuration calls it, e.g. "router"
	Doc    string // one or two sentences
	Fields []Field
}

// Field returns the top-level field called name.
func (s Schema) Field(name string) (Field, bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// SchemaOf derives a schema from the struct C. Its fields carry tags:
//
//	conf:"name[,required]"   the key; a field without it is not configuration
//	default:"10s"            as a person would write it
//	doc:"…"                  what it is for, with units
//	min:"1" max:"10"         bounds, written like the value
//	enum:"a|b"               the allowed words (string)
//	words:"unlimited=0"      words that stand for a number
//	unit:"messages"          what a plain number counts
//	expr:"bool"              the site of an Expr
//	class:"live"             the reload class; handover when absent
//
// Go types map to kinds; time.Duration, Size, Percent, Target, Targets, Expr,
// Address, File, Secret, slices, map[string]T and structs included. A wrong tag is a
// mistake of the program and panics.
func SchemaOf[C any](name, doc string) Schema {
	t := reflect.TypeFor[C]()
	return Schema{Name: name, Doc: doc, Fields: fieldsOf(t)}
}

func fieldsOf(t reflect.Type) []Field {
	var out []Field
	for sf := range t.Fields() {
		if sf.Anonymous {
			out = append(out, fieldsOf(sf.Type)...)
			continue
		}
		if tag, ok := sf.Tag.Lookup("conf"); ok {
			out = append(out, fieldOf(t, sf, tag))
		}
	}
	return out
}

func fieldOf(t reflect.Type, sf reflect.StructField, tag string) Field {
	name, opt, _ := strings.Cut(tag, ",")
	f := typeField(sf.Type)
	f.Name, f.Required = name, opt == "required"
	f.Doc, f.Unit, f.Site = sf.Tag.Get("doc"), sf.Tag.Get("unit"), sf.Tag.Get("expr")
	f.Class = Class(sf.Tag.Get("class"))
	if e := sf.Tag.Get("enum"); e != "" {
		f.Kind, f.Enum = EnumField, strings.Split(e, "|")
	}
	if f.Elem != nil && f.Elem.Kind == ExprField {
		f.Elem.Site = f.Site
	}
	for w := range strings.SplitSeq(sf.Tag.Get("words"), ",") {
		if word, num, ok := strings.Cut(w, "="); ok {
			if f.Words == nil {
				f.Words = map[string]int64{}
			}
			f.Words[word] = must(strconv.ParseInt(num, 10, 64))
		}
	}
	bound := func(key string) *float64 {
		s, ok := sf.Tag.Lookup(key)
		if !ok {
			return nil
		}
		if f.Kind == ListField {
			return new(must(strconv.ParseFloat(s, 64)))
		}
		return new(asFloat(must(Field{Kind: f.Kind}.scalar(s))))
	}
	f.Min, f.Max = bound("min"), bound("max")
	if d, ok := sf.Tag.Lookup("default"); ok {
		v, errs := f.decode(nil, d)
		if len(errs) > 0 {
			panic(fmt.Sprintf("%s.%s: default: %v", t, sf.Name, errs[0]))
		}
		f.Default = v
	}
	return f
}

var kindOfType = map[reflect.Type]FieldKind{
	reflect.TypeFor[time.Duration](): DurationField,
	reflect.TypeFor[Size]():          SizeField,
	reflect.TypeFor[Percent]():       PercentField,
	reflect.TypeFor[Target]():        TargetField,
	reflect.TypeFor[Expr]():          ExprField,
	reflect.TypeFor[Address]():       AddressField,
	reflect.TypeFor[File]():          FileField,
	reflect.TypeFor[Secret]():        SecretField,
}

func typeField(t reflect.Type) Field {
	if k, ok := kindOfType[t]; ok {
		return Field{Kind: k}
	}
	switch t.Kind() {
	case reflect.String:
		return Field{Kind: StringField}
	case reflect.Int, reflect.Int64:
		return Field{Kind: IntField}
	case reflect.Float64:
		return Field{Kind: FloatField}
	case reflect.Bool:
		return Field{Kind: BoolField}
	case reflect.Slice:
		return Field{Kind: ListField, Elem: new(typeField(t.Elem())), Lone: t == reflect.TypeFor[Targets]()}
	case reflect.Map:
		return Field{Kind: MapField, Elem: new(typeField(t.Elem()))}
	case reflect.Struct:
		return Field{Kind: ObjectField, Fields: fieldsOf(t)}
	case reflect.Interface:
		return Field{Kind: AnyField}
	default:
		panic(fmt.Sprintf("%s cannot be configuration", t))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
