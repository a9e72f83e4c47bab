package spec

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/actord/actord/runtime/actor"
)

// schemaOf is a piece of JSON Schema.
type schemaOf = map[string]any

// JSONSchema returns the schema of a whole file as JSON Schema (2020-12), with the
// behaviours and bridge types of reg. It describes what `actord hocon` prints of a
// file; editors can complete and check with it. Values may be written in every
// way that actord reads, so a number may be a text.
func JSONSchema(reg *actor.Registry) ([]byte, error) {
	g := &schemaMaker{reg: reg, defs: schemaOf{}}
	file := g.fields(fileSchema)
	props := file["properties"].(schemaOf)
	named := func(key, def string) { props[key].(schemaOf)["additionalProperties"] = ref(def) }
	g.defs["actor"], g.defs["template"] = g.actor(true), g.actor(false)
	g.defs["bridge"] = g.bridge()
	g.defs["plugin"], g.defs["topic"] = g.fields(pluginSchema), g.fields(topicSchema)
	g.defs["secret"] = secretSchema()
	named("actors", "actor")
	named("templates", "template")
	named("bridges", "bridge")
	named("plugins", "plugin")
	named("topics", "topic")
	for key, from := range map[string]string{"actor-defaults": "template", "plugin-defaults": "plugin"} {
		d := maps.Clone(g.defs[from].(schemaOf))
		delete(d, "required")
		d["description"] = props[key].(schemaOf)["description"]
		props[key] = d
	}
	if g.err != nil {
		return nil, g.err
	}
	file["description"] = "A system of actors."
	return json.MarshalIndent(schemaOf{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "application.conf of actord",
		"type": "object", "required": []string{root}, "properties": schemaOf{root: file}, "$defs": g.defs,
	}, "", "  ")
}

func ref(def string) schemaOf { return schemaOf{"$ref": "#/$defs/" + def} }

type schemaMaker struct {
	reg  *actor.Registry
	defs schemaOf
	err  error // the first
}

// fields turns a schema into JSON Schema and lets values be written in all ways.
func (g *schemaMaker) fields(s actor.Schema) schemaOf {
	b, err := s.JSONSchema()
	out := schemaOf{}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil && g.err == nil {
		g.err = err
	}
	delete(out, "$schema")
	loosen(out)
	return out
}

// actor is the schema of an actor's block, or of a template's.
func (g *schemaMaker) actor(whole bool) schemaOf {
	out := g.fields(actorSchema)
	props := out["properties"].(schemaOf)
	props["children"].(schemaOf)["additionalProperties"] = ref("actor")
	props["foreach"] = schemaOf{"type": []string{"array", "object", "string"}, "description": props["foreach"].(schemaOf)["description"]}
	delete(out, "required") // a template or the defaults may give it
	if !whole {
		return out
	}
	var cases []any
	for _, name := range g.reg.Behaviours() {
		f, _ := g.reg.Behaviour(name)
		g.defs["args of "+name] = g.fields(f.Schema())
		args := maps.Clone(g.defs["args of "+name].(schemaOf))
		delete(args, "required") // a template may give the rest
		g.defs["args of "+name] = args
		cases = append(cases, schemaOf{
			"if":   schemaOf{"properties": schemaOf{"behaviour": schemaOf{"const": name}}, "required": []string{"behaviour"}},
			"then": schemaOf{"properties": schemaOf{"args": ref("args of " + name)}},
		})
	}
	if cases != nil {
		out["allOf"] = cases
	}
	return out
}

// bridge is one of the types with the keys that every bridge has.
func (g *schemaMaker) bridge() schemaOf {
	var types, cases []any
	for _, name := range g.reg.Bridges() {
		f, _ := g.reg.Bridge(name)
		one := g.fields(actor.Schema{Name: name, Doc: f.Schema().Doc, Fields: bridgeFields(f)})
		delete(one, "required") // the defaults may give the rest
		g.defs["bridge "+name] = one
		types = append(types, name)
		cases = append(cases, schemaOf{
			"if":   schemaOf{"properties": schemaOf{"type": schemaOf{"const": name}}, "required": []string{"type"}},
			"then": ref("bridge " + name),
		})
	}
	out := schemaOf{"type": "object", "required": []string{"type"}}
	if types != nil {
		out["properties"] = schemaOf{"type": schemaOf{"enum": types}}
		out["allOf"] = cases
	}
	return out
}

func secretSchema() schemaOf {
	return schemaOf{"anyOf": []any{
		schemaOf{"type": []string{"string", "number", "boolean", "null"}},
		schemaOf{
			"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
			"properties": schemaOf{"env": schemaOf{"type": "string"}, "file": schemaOf{"type": "string"}, "command": schemaOf{"type": "array", "items": schemaOf{"type": "string"}}},
		},
	}}
}

// writtenAs are the JSON types that a kind of value may be written as.
var writtenAs = map[string][]string{
	"int": {"integer", "string"}, "float": {"number", "string"}, "percent": {"number", "string"},
	"duration": {"string", "integer"}, "size": {"string", "integer"},
	"string": {"string", "number", "boolean"}, "target": {"string"}, "expr": {"string", "number", "boolean"},
	"address": {"string"}, "path": {"string", "number"},
}

// loosen lets values be written in every way that actord reads. What is null goes
// back to its default.
func loosen(s schemaOf) {
	kind, _ := s["x-actord-kind"].(string)
	switch types := writtenAs[kind]; {
	case kind == "bool":
		delete(s, "type")
		s["enum"] = []any{true, false, "on", "off", "yes", "no", "true", "false", nil}
	case kind == "enum":
		delete(s, "type")
		s["enum"] = append(slices.Clone(s["enum"].([]any)), nil)
	case kind == "secret":
		s["$ref"] = "#/$defs/secret"
		delete(s, "type")
	case types != nil:
		s["type"] = append(slices.Clone(types), "null")
	case kind == "object" || kind == "map":
		s["type"] = []string{"object", "null"}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := s[key].(schemaOf); ok {
			loosen(inner)
		}
	}
	if kind == "list" {
		looseList(s)
	}
	props, _ := s["properties"].(schemaOf)
	for _, p := range props {
		loosen(p.(schemaOf))
	}
}

// looseList lets a list be null and, where one element will do, be that element.
func looseList(s schemaOf) {
	list := schemaOf{"type": []string{"array", "null"}}
	for _, key := range []string{"items", "minItems", "maxItems"} {
		if v, ok := s[key]; ok {
			list[key] = v
			delete(s, key)
		}
	}
	delete(s, "type")
	if lone, _ := s["x-actord-lone"].(bool); !lone {
		maps.Copy(s, list)
		return
	}
	s["anyOf"] = []any{list, list["items"]}
}
