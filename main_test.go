package actord

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

func TestTheConfigurationIsTheOneThatIsNamedMostDirectly(t *testing.T) {
	tests := []struct {
		name, flag, env string
		args            []string
		want            string
		wrong           bool
	}{
		{"nothing named", "", "", nil, "application.conf", false},
		{"the environment", "", "env.conf", nil, "env.conf", false},
		{"the flag over the environment", "flag.conf", "env.conf", nil, "flag.conf", false},
		{"the argument over the environment", "", "env.conf", []string{"arg.conf"}, "arg.conf", false},
		{"an argument and the flag", "flag.conf", "", []string{"arg.conf"}, "", true},
		{"two arguments", "", "", []string{"a.conf", "b.conf"}, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &app{config: tt.flag, env: func(string) (string, bool) { return tt.env, tt.env != "" }}
			got, err := a.file(tt.args)
			if got != tt.want || (err != nil) != tt.wrong {
				t.Errorf("got %q %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestOverridesNeedNoQuotes(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a=1", "1"}, {"a=127.0.0.1:80", `"127.0.0.1:80"`}, {"a=[x, y]", "[x, y]"}, {"a=${b}", "${b}"}, {`a="x y"`, `"x y"`}, {"a=", `""`},
	}
	for _, tt := range tests {
		a := &app{}
		if err := a.override(tt.in); err != nil || !slices.Equal(a.overrides, []hocon.Override{{Key: "a", Value: tt.want}}) {
			t.Errorf("-D %s: got %v %v, want %q", tt.in, a.overrides, err, tt.want)
		}
	}
	if err := (&app{}).override("no-value"); err == nil {
		t.Error("-D no-value: got no error")
	}
}

func TestTheLogFollowsItsSettings(t *testing.T) {
	var out bytes.Buffer
	logs := newLogging(&out)
	log := logs.logger()
	log.Info("early") // held until the settings are known
	logs.set(spec.Log{Level: slog.LevelInfo, Format: "text", Levels: map[actor.Path]slog.Level{"/user/a": slog.LevelDebug}})
	log.Debug("hidden")
	log.With("actor", "/user/a/b").Debug("shown", "n", 1, "text", "two words")
	log.With("actor", "/user/ab").Debug("hidden")
	log.Warn("about", "actor", "/user/c", "err", actor.ErrFull)
	logs.set(spec.Log{Level: slog.LevelError, Format: "json"})
	log.Warn("hidden")
	log.Error("last", "n", 2)

	var got []string
	for line := range strings.Lines(out.String()) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "{") {
			rest = "json " + line[strings.Index(line, `"level"`):len(line)-1]
		}
		got = append(got, rest)
	}
	want := []string{
		"INFO  early",
		`DEBUG /user/a/b  shown n=1 text="two words"`,
		`WARN  /user/c  about err="mailbox is full"`,
		`json "level":"ERROR","msg":"last","n":2}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLostMessagesAreLoggedOnceAMinuteForEachRecipient(t *testing.T) {
	var out bytes.Buffer
	logs := newLogging(&out)
	logs.set(spec.Log{Format: "text"})
	l := newLosses(logs.logger(), 0)
	l.every = 1 << 40
	for range 5 {
		l.add("dead letter", "/user/a", "stopped", "order", actor.TraceID{})
	}
	l.add("dead letter", "/user/b", "full", "order", actor.TraceID{})
	l.close()
	text := out.String()
	if n := strings.Count(text, "dead letter reason="); n != 2 {
		t.Errorf("got %d records at once, want one for each recipient:\n%s", n, text)
	}
	if want := `/user/a  dead letter: more since number=4 reasons="stopped (4)"`; !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant %q", text, want)
	}
}
