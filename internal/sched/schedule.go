package sched

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule says when something is due: at the moments a cron expression names
// on the clocks of one time zone, or every so often. It is immutable; the zero
// value is never due.
//
// Where clocks are put forward, a moment that is skipped is due at the next
// valid instant; where they are put back, one that comes twice is due the first
// time only. Both follow from one rule: a moment w of the clock on the wall is
// due at the first instant at which that clock shows w or later.
type Schedule struct {
	expr  string
	zone  *time.Location
	every time.Duration      // of @every; else zero
	cron  *cron.SpecSchedule // used for its sets of minutes, hours, days and months only
}

// reach is how far a search goes: 29 February comes at the latest eight years
// after the one before.
const reach = 8*366 + 1

// ParseSchedule reads a cron expression of five fields, a shorthand such as
// @daily, or @every with a duration. The zone is the configuration's: one inside
// the expression is refused, as is an expression that is never due.
func ParseSchedule(expr string, zone *time.Location) (*Schedule, error) {
	if zone == nil {
		return nil, errors.New("a schedule needs a time zone")
	}
	s := &Schedule{expr: strings.Join(strings.Fields(expr), " "), zone: zone}
	switch {
	case s.expr == "":
		return nil, errors.New(`is empty; write five fields, such as "0 2 * * *"`)
	case strings.HasPrefix(s.expr, "TZ=") || strings.HasPrefix(s.expr, "CRON_TZ="):
		return nil, errors.New("holds a time zone; write timezone: at the top of the file")
	}
	// The parser panics on a zone without a field after it, which is why zones are
	// looked for before it is asked.
	parsed, err := cron.ParseStandard(s.expr)
	if err != nil {
		return nil, fmt.Errorf(`%q is not a schedule (%w); write five fields, such as "0 2 * * *"`, expr, err)
	}
	switch p := parsed.(type) {
	case cron.ConstantDelaySchedule:
		// The parser rounds what it does not like without a word.
		d, err := time.ParseDuration(strings.TrimPrefix(s.expr, "@every "))
		if err != nil || d != p.Delay {
			return nil, fmt.Errorf("%q is not a whole number of seconds, one at least; write @every 5m", expr)
		}
		s.every = d
	case *cron.SpecSchedule:
		if p.Minute == 0 || p.Hour == 0 || p.Dom == 0 || p.Month == 0 || p.Dow == 0 {
			return nil, fmt.Errorf("%q has a field that holds nothing; write * for any", expr)
		}
		s.cron = p
		if _, ok := s.wallAfter(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); !ok {
			return nil, fmt.Errorf("%q is never due; write a day that its month has", expr)
		}
	default:
		return nil, fmt.Errorf("%q is a schedule of an unknown sort", expr)
	}
	return s, nil
}

// String gives the expression.
func (s *Schedule) String() string { return s.expr }

// Always reports whether the schedule is @every: no hour is better than another.
func (s *Schedule) Always() bool { return s.every > 0 }

// Next gives the first tick after a moment, or the zero time if there is none
// for eight years. Ticks of @every are counted from a fixed origin, so that they
// do not move with a restart.
func (s *Schedule) Next(after time.Time) time.Time {
	if s.every > 0 {
		return after.Truncate(s.every).Add(s.every)
	}
	if s.cron == nil {
		return time.Time{}
	}
	// No moment up to what the clock shows now is due later than now.
	w := wallOf(after.In(s.zone))
	for {
		var ok bool
		if w, ok = s.wallAfter(w); !ok {
			return time.Time{}
		}
		if tick := s.instant(w); tick.After(after) {
			return tick
		}
	}
}

// Prev gives the last tick at or before a moment, or the zero time if there is
// none for eight years.
func (s *Schedule) Prev(atOrBefore time.Time) time.Time {
	if s.every > 0 {
		return atOrBefore.Truncate(s.every)
	}
	if s.cron == nil {
		return time.Time{}
	}
	local := atOrBefore.In(s.zone)
	w := wallOf(local).Add(time.Minute)
	// Clocks just put back show what they showed before: moments ahead of the
	// clock, by up to a day, can have been due already.
	if began, _ := local.ZoneBounds(); local.Sub(began) < 24*time.Hour {
		w = w.Add(24 * time.Hour)
	}
	for {
		var ok bool
		if w, ok = s.wallBefore(w); !ok {
			return time.Time{}
		}
		if tick := s.instant(w); !tick.After(atOrBefore) {
			return tick
		}
	}
}

// wallOf gives what a clock shows, as if it were the time in UTC.
func wallOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.Add(time.Duration(offset) * time.Second).UTC()
}

// instant gives the first instant at which the zone's clock shows w or later.
func (s *Schedule) instant(w time.Time) time.Time {
	// No zone is further from UTC than this, so the clock shows less than w here.
	at := w.Add(-26 * time.Hour).In(s.zone)
	for {
		_, offset := at.Zone()
		began, ends := at.ZoneBounds()
		reached := w.Add(-time.Duration(offset) * time.Second)
		if ends.IsZero() || reached.Before(ends) {
			if reached.Before(began) {
				reached = began // w was skipped
			}
			return reached.In(s.zone)
		}
		at = ends
	}
}

// wallAfter gives the first moment after w that the expression names.
func (s *Schedule) wallAfter(w time.Time) (time.Time, bool) {
	day := w.Truncate(24 * time.Hour)
	from := int(w.Sub(day)/time.Minute) + 1
	for range reach {
		if s.onDay(day) {
			for m := from; m < 24*60; m++ {
				if s.cron.Hour&(1<<(m/60)) == 0 {
					m += 59 - m%60
				} else if s.cron.Minute&(1<<(m%60)) != 0 {
					return day.Add(time.Duration(m) * time.Minute), true
				}
			}
		}
		day, from = day.Add(24*time.Hour), 0
	}
	return time.Time{}, false
}

// wallBefore gives the last moment before w that the expression names.
func (s *Schedule) wallBefore(w time.Time) (time.Time, bool) {
	w = w.Add(-1)
	day := w.Truncate(24 * time.Hour)
	from := int(w.Sub(day) / time.Minute)
	for range reach {
		if s.onDay(day) {
			for m := from; m >= 0; m-- {
				if s.cron.Hour&(1<<(m/60)) == 0 {
					m -= m % 60
				} else if s.cron.Minute&(1<<(m%60)) != 0 {
					return day.Add(time.Duration(m) * time.Minute), true
				}
			}
		}
		day, from = day.Add(-24*time.Hour), 24*60-1
	}
	return time.Time{}, false
}

// onDay reports whether the expression names the day. As in every cron, a day of
// the month and a day of the week together mean either.
func (s *Schedule) onDay(day time.Time) bool {
	const star = 1 << 63
	if s.cron.Month&(1<<day.Month()) == 0 {
		return false
	}
	dom, dow := s.cron.Dom&(1<<day.Day()) != 0, s.cron.Dow&(1<<day.Weekday()) != 0
	if s.cron.Dom&star != 0 || s.cron.Dow&star != 0 {
		return dom && dow
	}
	return dom || dow
}
