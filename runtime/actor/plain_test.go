package actor

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

type plainConf struct {
	Count int64         `conf:"count" default:"unlimited" words:"unlimited=0" min:"1"`
	Fsync time.Duration `conf:"fsync" default:"off" words:"off=-1,every=0" min:"1ms"`
	Wait  time.Duration `conf:"wait" default:"1500ms"`
	Limit Size          `conf:"limit" default:"64KiB"`
	Share Percent       `conf:"share" default:"20%"`
	To    Targets       `conf:"to"`
	Inner struct {
		Every time.Duration `conf:"every" default:"off" words:"off=0" min:"1s"`
	} `conf:"inner"`
	Named map[string]time.Duration `conf:"named"`
	Body  any                      `conf:"body"`
}

func TestWhatLeavesTheProcessDecodesToTheSame(t *testing.T) {
	s := SchemaOf[plainConf]("x", "x")
	in := map[string]any{"to": []any{"/user/a", "reply"}, "named": map[string]any{"a": "1s"}, "body": map[string]any{"n": int64(1)}}
	want, errs := s.Decode(in)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	text, err := json.Marshal(s.Plain(want))
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	back["body"] = map[string]any{"n": int64(1)} // JSON of a body is the wire's business
	got, errs := s.Decode(back)
	if len(errs) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("through %s: got %v %v, want %v", text, got, errs, want)
	}
}
