package actor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestNoPrinterShowsASecret(t *testing.T) {
	const canary = "hunter2-canary"
	type conf struct {
		Password Secret            `conf:"password,required" doc:"of the user"`
		Env      map[string]Secret `conf:"env" doc:"variables"`
	}
	schema := SchemaOf[conf]("x", "")
	values, errs := schema.Decode(map[string]any{"password": canary, "env": map[string]any{"A": canary}})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	c := Fill[conf](values)
	if c.Password.Reveal() != canary || c.Env["A"].Reveal() != canary {
		t.Fatalf("got %q and %q, want the text", c.Password.Reveal(), c.Env["A"].Reveal())
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb+verb, c, &c, values, c.Password)
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("x", "conf", c, "secret", c.Password, "values", values)
	}
	b, err := json.Marshal(map[string]any{"conf": c, "values": values})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	if strings.Contains(out.String(), canary) || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("the secret is in\n%s", out.String())
	}
	if got := schema.Plain(values)["password"]; got != canary {
		t.Errorf("for another process: got %v, want the text", got)
	}
}

func TestSecretFieldsGoThroughJSONSchema(t *testing.T) {
	type conf struct {
		Password Secret `conf:"password" default:"" doc:"of the user"`
	}
	b, err := SchemaOf[conf]("x", "").JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := SchemaFromJSON("x", "", b)
	if err != nil || s.Fields[0].Kind != SecretField {
		t.Errorf("got %v %v, want a secret", s, err)
	}
}
