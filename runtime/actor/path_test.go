package actor

import (
	"fmt"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	tests := []struct {
		name string
		good bool
	}{
		{"a", true}, {"a b", true}, {"a.b", true}, {"…", true}, {"größe", true}, {"a$", true},
		{"", false}, {".", false}, {"..", false}, {"$1", false}, {"a/b", false}, {`a\b`, false}, {"a\nb", false}, {"a\x00", false}, {"\u0085", false},
	}
	for _, tt := range tests {
		if err := CheckName(tt.name); (err == nil) != tt.good {
			t.Errorf("%q: got %v, want good %v", tt.name, err, tt.good)
		}
	}
}

func TestPathsOfTheTree(t *testing.T) {
	p := User.Child("a").Child("b")
	if p != "/user/a/b" || p.Name() != "b" || p.Parent() != "/user/a" {
		t.Errorf("got %s with name %s below %s", p, p.Name(), p.Parent())
	}
	if Root.Child("x") != "/x" || Root.Parent() != Root || Path("/x").Parent() != Root || Root.Name() != "" {
		t.Error("the root is not its own parent without a name")
	}
	under := map[[2]Path]bool{
		{"/user/a", "/user"}: true, {"/user", "/user"}: true, {"/user", "/"}: true,
		{"/users", "/user"}: false, {"/user", "/user/a"}: false,
	}
	for pair, want := range under {
		if got := pair[0].Under(pair[1]); got != want {
			t.Errorf("%s under %s: got %v, want %v", pair[0], pair[1], got, want)
		}
	}
}

func TestRelativeReferences(t *testing.T) {
	tests := []struct {
		ref  string
		want Path // "" for an error
	}{
		{".", "/user/a"}, {"..", "/user"}, {"./b", "/user/a/b"}, {"../b", "/user/b"}, {"../../..", ""},
		{"./b/../c", "/user/a/c"}, {"./", ""}, {"./a//b", ""}, {`./a\b`, ""},
	}
	for _, tt := range tests {
		got, err := Path("/user/a").Join(tt.ref)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: got %q, %v; want %q", tt.ref, got, err, tt.want)
		}
	}
}

// FuzzPath holds that what is read as a path is one: it comes back as it was
// written, segment by segment, and can be taken apart and put together.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"/", "/user/a", "/user//a", "/user/..", "user", "/a/$1", "/a\x00", "/é/b c", "/a/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePath(s)
		if err != nil {
			return
		}
		if string(p) != s {
			t.Fatalf("got %q for %q", p, s)
		}
		back := Root
		for seg := range strings.SplitSeq(strings.Trim(s, "/"), "/") {
			if seg == "" {
				continue
			}
			if seg == "." || seg == ".." || checkSegment(seg) != nil {
				t.Fatalf("%q has the segment %q", s, seg)
			}
			back = back.Child(seg)
		}
		if back != p || !p.Under(Root) || !p.Under(p.Parent()) {
			t.Fatalf("%q does not come back from its segments: got %q", p, back)
		}
		if p != Root && p.Parent().Child(p.Name()) != p {
			t.Fatalf("%q is not the child of its parent", p)
		}
		if joined, err := p.Join("."); err != nil || joined != p {
			t.Fatalf("%q joined with itself: got %q, %v", p, joined, err)
		}
	})
}

func TestTargets(t *testing.T) {
	tests := []struct {
		target Target
		kind   TargetKind
		path   Path
		bad    bool
	}{
		{"/user/b", PathTarget, "/user/b", false},
		{"./b", PathTarget, "/user/a/b", false},
		{"../b", PathTarget, "/user/b", false},
		{"bridge:web/out", BridgeTarget, "/system/bridges/web", false},
		{"topic:news", TopicTarget, "", false},
		{"reply", ReplyTarget, "", false},
		{"dead-letters", DeadLettersTarget, DeadLetters, false},
		{target: "", bad: true}, {target: "b", bad: true}, {target: "bridge:web", bad: true}, {target: "bridge:/out", bad: true},
		{target: "topic:", bad: true}, {target: "../../..", bad: true}, {target: "/user//b", bad: true},
	}
	for _, tt := range tests {
		kind, path, err := tt.target.Parse("/user/a")
		switch {
		case (err != nil) != tt.bad:
			t.Errorf("%q: got error %v, want bad %v", tt.target, err, tt.bad)
		case !tt.bad && (kind != tt.kind || path != tt.path):
			t.Errorf("%q: got kind %d at %q, want kind %d at %q", tt.target, kind, path, tt.kind, tt.path)
		}
	}
}

func TestTraceIDsReadBackAsTheyAreWritten(t *testing.T) {
	id := NewTraceID()
	if id.IsZero() || id == NewTraceID() || len(id.String()) != 32 {
		t.Errorf("got %s, want 32 digits that are different each time", id)
	}
	for _, text := range []string{id.String(), "00-" + id.String() + "-00f067aa0ba902b7-01"} {
		if got, ok := ParseTraceID(text); !ok || got != id {
			t.Errorf("%s: got %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "xyz", strings.Repeat("0", 32), strings.Repeat("g", 32), id.String()[1:], "00-" + id.String() + "-1"} {
		if got, ok := ParseTraceID(text); ok {
			t.Errorf("%q: got %s, want nothing", text, got)
		}
	}
	if got := (TraceID{}).String(); got != "" {
		t.Errorf("the zero id: got %q, want nothing", got)
	}
}

func TestSuggestions(t *testing.T) {
	known := []string{"router", "filter", "transform", "log"}
	for word, want := range map[string]string{
		"rooter": "router", "routre": "router", "Router": "router", "trans": "transform", "lgo": "log", "xyz": "", "": "", "filters": "filter",
	} {
		if got := Suggest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("rooter", known); got != `; did you mean "router"?` {
		t.Errorf("got %q", got)
	}
	if got := DidYouMean("xyz", known); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestBodiesAreCheckedAndCopied(t *testing.T) {
	body := map[string]any{"a": []any{int64(1), "x", []byte("y"), nil, true, 1.5}}
	if err := CheckBody(body); err != nil {
		t.Error(err)
	}
	twin := CopyBody(body).(map[string]any)
	twin["a"].([]any)[2].([]byte)[0] = 'z'
	twin["a"].([]any)[0] = int64(2)
	if got := body["a"].([]any); got[0] != int64(1) || string(got[2].([]byte)) != "y" {
		t.Errorf("a change of the copy changed the body: %v", got)
	}
	err := CheckBody(map[string]any{"items": []any{"a", "b", 3}})
	if want := "body.items[2]: int is not a body type"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestHeadersAreChangedInACopy(t *testing.T) {
	h := Headers{"a": "1"}
	if got := h.With("a", "2"); got["a"] != "2" || h["a"] != "1" {
		t.Errorf("got %v from %v", got, h)
	}
	if got := Headers(nil).With("a", "1"); got["a"] != "1" {
		t.Errorf("got %v", got)
	}
}

func ExamplePath_Join() {
	p, err := Path("/user/intake/audit").Join("../store")
	fmt.Println(p, err)
	// Output: /user/intake/store <nil>
}
