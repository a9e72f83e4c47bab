package phase

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func names(phases []Phase) (out []string) {
	for _, p := range phases {
		out = append(out, p.Name)
	}
	return out
}

func TestPhasesFollowEachOther(t *testing.T) {
	with := func(at int, name string) []string { return slices.Insert(Names(), at, name) }
	for _, tc := range []struct {
		name   string
		phases []Phase
		want   []string
	}{
		{"there are twelve", nil, Names()},
		{"one of the author comes right behind what it follows", []Phase{{Name: "flush", After: []string{ServiceStop}}}, with(4, "flush")},
		{"one that follows the last comes last", []Phase{{Name: "flush", After: []string{Terminate}}}, with(12, "flush")},
		{"one that follows nothing comes first", []Phase{{Name: "flush"}}, with(0, "flush")},
		{"one of those that are always there may follow one of the author", []Phase{
			{Name: "flush", After: []string{ServiceUnbind}}, {Name: ServiceRequestsDone, After: []string{"flush"}},
		}, with(2, "flush")},
		{"they may follow each other", []Phase{
			{Name: "b", After: []string{"a"}}, {Name: "a", After: []string{Terminate}},
		}, append(Names(), "a", "b")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Settings{Phases: tc.phases}.Order()
			if err != nil || !slices.Equal(names(got), tc.want) {
				t.Errorf("got %q, %v; want %q", names(got), err, tc.want)
			}
		})
	}
}

func TestPhasesThatAreWrongAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		set  Settings
		want string
	}{
		{"one that follows an unknown one", Settings{Phases: []Phase{{Name: "flush", After: []string{"service-stopp"}}}},
			`phase flush: it follows a phase that does not exist: "service-stopp"; did you mean "service-stop"?`},
		{"two of one name", Settings{Phases: []Phase{{Name: "a"}, {Name: "a"}}}, "phase a: there are two of that name"},
		{"two that follow each other", Settings{Phases: []Phase{{Name: "a", After: []string{"b"}}, {Name: "b", After: []string{"a"}}}},
			"phase a: phases follow each other in a circle: a follows b follows a"},
		{"an early one that follows a late one", Settings{Phases: []Phase{
			{Name: "a", After: []string{ServiceRequestsDone}}, {Name: ServiceUnbind, After: []string{"a"}},
		}}, "in a circle: a follows service-requests-done follows service-unbind follows a"},
		{"a drain that does not fit", Settings{DefaultTimeout: 2 * time.Second},
			"phase actor-system-terminate: the drain does not fit: its timeout of 2s must be longer than the 2s for which a shutdown waits"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.set.Check(2 * time.Second)
			if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want a Error with %q", err, tc.want)
			}
		})
	}
}

func ExampleSettings_Order() {
	phases, _ := Settings{Phases: []Phase{{Name: "flush", After: []string{ServiceStop}}}}.Order()
	for _, p := range phases[2:5] {
		fmt.Println(p.Name, p.Timeout)
	}
	// Output:
	// service-requests-done 5s
	// service-stop 5s
	// flush 5s
}

func TestTheTotalIsThatOfAllPhases(t *testing.T) {
	set := Settings{DefaultTimeout: time.Second, Phases: []Phase{{Name: "flush", Timeout: time.Minute}, {Name: Terminate, Timeout: -1}}}
	if got, want := set.Total(), time.Minute+11*time.Second; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
