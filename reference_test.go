package actord

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/internal/rule"
	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/spec"
)

var update = flag.Bool("update", false, "write generated pages anew")

// TestTheReferencePageIsUpToDate compares docs/reference.md with what the
// declarations say.
func TestTheReferencePageIsUpToDate(t *testing.T) {
	want, err := referencePage()
	if err != nil {
		t.Fatal(err)
	}
	const file = "docs/reference.md"
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v); run go test -run TheReferencePage -update .", file, err)
	}
}

func referencePage() ([]byte, error) {
	a := &app{}
	reg, err := a.registry()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# Reference\n\nThis page is made of the declarations that decode a configuration. `actord explain KEY` tells the same of one key, " +
		"with the value in force and where it is written; `actord schema` writes it as JSON Schema.\n\n## application.conf\n\n```hocon\n")
	b.WriteString(spec.Reference() + "```\n\n")
	b.WriteString("## Warnings of actord check\n\n| rule | about |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(spec.Rules())) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, spec.Rules()[name])
	}
	b.WriteString("\n## Functions of expressions\n\n" + strings.Join(rule.Functions(), ", ") + "\n\n## Behaviours\n")
	for _, name := range reg.Behaviours() {
		f, _ := reg.Behaviour(name)
		referenceOf(&b, f.Schema(), actor.Handover)
	}
	b.WriteString("\n## Bridges\n")
	for _, name := range reg.Bridges() {
		f, _ := reg.Bridge(name)
		referenceOf(&b, f.Schema(), actor.Reconnect)
	}
	return b.Bytes(), nil
}

func referenceOf(w io.Writer, s actor.Schema, class actor.Class) {
	fmt.Fprintf(w, "\n### %s\n\n%s\n\n", s.Name, s.Doc)
	if len(s.Fields) == 0 {
		return
	}
	fmt.Fprint(w, "| key | type | default | a change is | meaning |\n|---|---|---|---|---|\n")
	referenceFields(w, "", class, s.Fields)
}

func referenceFields(w io.Writer, prefix string, class actor.Class, fields []actor.Field) {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	for _, f := range fields {
		own := class
		if f.Class != "" {
			own = f.Class
		}
		fmt.Fprintf(w, "| `%s` | %s | `%s` | %s | %s |\n", prefix+f.Name, cell(fieldType(f)), cell(fieldDefault(f)), own, cell(f.Doc))
		switch {
		case f.Kind == actor.ObjectField:
			referenceFields(w, prefix+f.Name+".", own, f.Fields)
		case f.Elem != nil && f.Elem.Kind == actor.ObjectField && f.Kind == actor.ListField:
			referenceFields(w, prefix+f.Name+"[].", own, f.Elem.Fields)
		case f.Elem != nil && f.Elem.Kind == actor.ObjectField:
			referenceFields(w, prefix+f.Name+".NAME.", own, f.Elem.Fields)
		}
	}
}
