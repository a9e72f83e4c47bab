package actor

import "testing"

func TestFillStoresDecodedValuesInAStruct(t *testing.T) {
	type conf struct {
		Name string  `conf:"name" doc:"a name"`
		To   Targets `conf:"to" doc:"receivers"`
	}
	values, errs := SchemaOf[conf]("x", "").Decode(map[string]any{"name": "a", "to": "../../../../../b"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := Fill[conf](values)
	if got.Name != "a" || len(got.To) != 1 || got.To[0] != "../../../../../b" {
		t.Errorf("got %+v, want the name a and one target five levels up", got)
	}
}
