package archtest

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// instruction is one instruction of a Dockerfile, its continued lines joined.
type instruction struct {
	word string
	args []string
}

// stage is what follows one FROM.
type stage struct {
	base, name string
	steps      []instruction
}

// parseDockerfile reads the stages of a Dockerfile. Heredocs and escape directives are not for us.
func parseDockerfile(text string) []stage {
	var joined strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if before, more := strings.CutSuffix(line, `\`); more {
			joined.WriteString(before + " ")
		} else if !strings.HasPrefix(line, "#") {
			joined.WriteString(line + "\n")
		}
	}
	var stages []stage
	for line := range strings.Lines(joined.String()) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "FROM":
			s := stage{base: fields[1]}
			if len(fields) == 4 {
				s.name = fields[3]
			}
			stages = append(stages, s)
		case len(stages) > 0:
			last := &stages[len(stages)-1]
			last.steps = append(last.steps, instruction{fields[0], fields[1:]})
		}
	}
	return stages
}

// last returns the arguments of the last instruction with that word, joined.
func (s stage) last(word string) string {
	for _, step := range slices.Backward(s.steps) {
		if step.word == word {
			return strings.Join(step.args, " ")
		}
	}
	return ""
}

// copies yields the sources of each COPY, and the stage they come from; "" is the build context.
func (s stage) copies(yield func(from, source string) bool) {
	for _, step := range s.steps {
		if step.word != "COPY" {
			continue
		}
		paths, from := step.args, ""
		for len(paths) > 0 && strings.HasPrefix(paths[0], "--") {
			if name, ok := strings.CutPrefix(paths[0], "--from="); ok {
				from = name
			}
			paths = paths[1:]
		}
		for _, source := range paths[:max(len(paths)-1, 0)] {
			if !yield(from, source) {
				return
			}
		}
	}
}

func dockerfile(t *testing.T) []stage {
	t.Helper()
	text, err := os.ReadFile(path.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	return parseDockerfile(string(text))
}

func TestImageIsBuiltInTwoStages(t *testing.T) {
	stages := dockerfile(t)
	var got []string
	for _, s := range stages {
		got = append(got, s.name+" from "+s.base)
	}
	if len(stages) != 2 || stages[0].name != "build" || !strings.HasPrefix(stages[0].base, "golang:1.26") {
		t.Fatalf("stages: got %q, want build on golang:1.26 and one to run on", got)
	}
	for _, step := range stages[0].steps {
		if command := strings.Join(step.args, " "); step.word == "RUN" && strings.Contains(command, "go build") {
			if strings.Count(command, "go build") != strings.Count(command, "CGO_ENABLED=0 go build") {
				t.Errorf("RUN %s: got a build with cgo, want CGO_ENABLED=0 before each", command)
			}
		}
	}
}

func TestImageCopiesWhatExists(t *testing.T) {
	var earlier []string
	for _, s := range dockerfile(t) {
		built := map[string]bool{}
		for from, source := range s.copies {
			if from != "" {
				built[from] = true
			} else if !exists(os.DirFS(root), path.Clean(source)) {
				t.Errorf("stage %s: COPY %s: the source does not exist", s.name, source)
			}
		}
		for from := range built {
			if !slices.Contains(earlier, from) {
				t.Errorf("stage %s: COPY --from=%s: got no earlier stage of that name, want one of %q", s.name, from, earlier)
			}
		}
		earlier = append(earlier, s.name)
	}
}

// What a stage copies from another one must be made there.
func TestImageCopiesWhatItBuilt(t *testing.T) {
	stages := dockerfile(t)
	var made []string
	for _, step := range stages[0].steps {
		for i, arg := range step.args {
			if arg == "-o" && i+2 < len(step.args) {
				made = append(made, step.args[i+1])
				if from := step.args[i+2]; !exists(os.DirFS(root), path.Clean(from)) {
					t.Errorf("go build %s: the package does not exist", from)
				}
			}
		}
	}
	for from, source := range stages[len(stages)-1].copies {
		if from == stages[0].name && !slices.Contains(made, source) {
			t.Errorf("COPY --from=%s %s: got a file nobody makes, want one of %q", from, source, made)
		}
	}
}

func TestImageRunsAsWeSay(t *testing.T) {
	stages := dockerfile(t)
	s := stages[len(stages)-1]
	if user := s.last("USER"); user == "" || strings.HasPrefix(user, "0") || strings.HasPrefix(user, "root") {
		t.Errorf("USER: got %q, want one that is not root", user)
	}
	if got := s.last("ENTRYPOINT"); !strings.HasPrefix(got, `["/sbin/tini", "--", "actord"`) {
		t.Errorf("ENTRYPOINT: got %s, want tini before actord", got)
	}
	if got := s.last("HEALTHCHECK"); !strings.Contains(got, `CMD ["actord", "check", `) {
		t.Errorf("HEALTHCHECK: got %s, want actord check", got)
	}
	config := s.last("CMD")
	config = strings.Trim(config[strings.LastIndex(config, " ")+1:], `"]`)
	if !strings.Contains(s.last("HEALTHCHECK"), config) || path.Dir(config) != s.last("WORKDIR") {
		t.Errorf("CMD runs %q: want the file that HEALTHCHECK checks, in WORKDIR %s", config, s.last("WORKDIR"))
	}
}

func TestImageDoesNotIgnoreWhatItCopies(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS(root), ".dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	ignored := strings.Fields(string(text))
	for _, s := range dockerfile(t) {
		for from, source := range s.copies {
			if from == "" && slices.Contains(ignored, path.Clean(source)) {
				t.Errorf(".dockerignore: got %s, which stage %s copies; want it in the context", source, s.name)
			}
		}
	}
}
