// Package cron reads plans that are written like the lines of a crontab, and tells
// when they are due. A plan is followed in the time of a zone: where clocks are set
// forward, what falls into the gap is left out; where they are set back, what was
// due is not done twice. The zones are part of the program.
package cron

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a small container has no zones

	"github.com/robfig/cron/v3"
)

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// Plan says when something is due. It is safe for concurrent use.
type Plan struct {
	schedule cron.Schedule
	zone     *time.Location
}

// Parse reads a plan of five fields (minute, hour, day of the month, month, day of
// the week; names, lists, ranges and steps are allowed) or one of @yearly, @monthly,
// @weekly, @daily and @hourly. The zone is a name such as UTC or Europe/Berlin, or
// Local. It is an error when the plan is never due.
func Parse(text, zone string) (Plan, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return Plan{}, fmt.Errorf("zone %q is not known (want e.g. UTC or Europe/Berlin)", zone)
	}
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(text, "TZ="):
		return Plan{}, fmt.Errorf("plan %q names a zone; give it beside the plan", text)
	case strings.HasPrefix(text, "@every"):
		return Plan{}, fmt.Errorf("plan %q is an interval; write it as every", text)
	}
	s, err := parser.Parse(text)
	if err != nil {
		return Plan{}, fmt.Errorf("plan %q: %w (want five fields: minute hour day month weekday, e.g. \"0 3 * * *\")", text, err)
	}
	p := Plan{s, loc}
	if p.Next(time.Unix(0, 0)).IsZero() {
		return Plan{}, fmt.Errorf("plan %q is never due; no month has such a day", text)
	}
	return p, nil
}

// Next returns the first time after now at which the plan is due, the zero time
// when there is none within five years.
func (p Plan) Next(now time.Time) time.Time {
	at := p.schedule.Next(now.In(p.zone))
	for !at.IsZero() && !p.hourly() && repeated(at) {
		at = p.schedule.Next(at)
	}
	return at
}

// hourly tells that the plan is for every hour, so also for one that comes twice.
func (p Plan) hourly() bool {
	const star = 1 << 63
	s, ok := p.schedule.(*cron.SpecSchedule)
	return ok && s.Hour&star != 0
}

// repeated tells that the clock showed the same before it was set back.
func repeated(at time.Time) bool {
	_, offset := at.Zone()
	_, before := at.Add(-2 * time.Hour).Zone()
	shift := time.Duration(before-offset) * time.Second
	_, then := at.Add(-shift).Zone()
	return shift > 0 && then == before
}
