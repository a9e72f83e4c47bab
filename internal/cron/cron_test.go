package cron

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	for _, tt := range []struct{ name, plan, zone, now, want string }{
		{"every day at three", "0 3 * * *", "UTC", "2026-01-01T04:00:00Z", "2026-01-02T03:00:00Z 2026-01-03T03:00:00Z"},
		{"the time is that of the zone", "0 3 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-01-01T03:00:00+01:00"},
		{"names, lists and steps", "*/20 9-10 * * mon,FRI", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T09:00:00Z 2026-01-02T09:20:00Z"},
		{"a word", "@monthly", "UTC", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
		{"what falls into the gap is left out", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T02:30:00+02:00"},
		{"what comes twice is done once", "30 2 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00"},
		{"but not what is for every hour", "30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z",
			"2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:30:00+01:00"},
		{"a leap day", "0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Parse(tt.plan, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range strings.FieldsSeq(tt.want) {
				at = p.Next(at)
				got = append(got, at.In(p.zone).Format(time.RFC3339))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, plan, zone, want string }{
		{"too few fields", "0 3 *", "UTC", "want five fields"},
		{"a field out of range", "0 25 * * *", "UTC", "want five fields"},
		{"nothing", " ", "UTC", "want five fields"},
		{"a zone inside", "TZ=UTC 0 3 * * *", "UTC", "names a zone"},
		{"half a zone inside", "TZ=0", "UTC", "names a zone"},
		{"an interval", "@every 5s", "UTC", "write it as every"},
		{"a day that never comes", "0 0 30 2 *", "UTC", "never due"},
		{"an unknown zone", "0 3 * * *", "Mars/Olympus", `zone "Mars/Olympus" is not known`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse(tt.plan, tt.zone); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"0 3 * * *", "*/5 1-2 1,15 jan mon", "@daily", "TZ=UTC 1 1 1 1 1", "@every 1h", "60 * * * *"} {
		f.Add(text)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text, "Europe/Berlin")
		if err != nil {
			return
		}
		if next := p.Next(now); !next.IsZero() && !next.After(now) {
			t.Errorf("%q: got %v, want a time after %v", text, next, now)
		}
	})
}

func Example() {
	p, err := Parse("0 3 * * mon", "UTC")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Format(time.RFC1123))
	// Output: Mon, 05 Jan 2026 03:00:00 UTC
}
