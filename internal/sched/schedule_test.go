package sched

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones below, wherever the test runs

	"pgregory.net/rapid"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parse(t testing.TB, expr string, z *time.Location) *Schedule {
	t.Helper()
	s, err := ParseSchedule(expr, z)
	if err != nil {
		t.Fatalf("ParseSchedule(%q): %v", expr, err)
	}
	return s
}

// specs are expressions with what they mean, said again in Go.
func specs() map[string]func(w time.Time) bool {
	at := func(w time.Time, h, m int) bool { return w.Hour() == h && w.Minute() == m }
	return map[string]func(w time.Time) bool{
		"0 2 * * *":     func(w time.Time) bool { return at(w, 2, 0) },
		"30 2 * * *":    func(w time.Time) bool { return at(w, 2, 30) },
		"@daily":        func(w time.Time) bool { return at(w, 0, 0) },
		"5 0 * * *":     func(w time.Time) bool { return at(w, 0, 5) },
		"*/20 * * * *":  func(w time.Time) bool { return w.Minute()%20 == 0 },
		"15 1-3 * * 0":  func(w time.Time) bool { return w.Weekday() == 0 && w.Minute() == 15 && w.Hour() >= 1 && w.Hour() <= 3 },
		"45 23 * * fri": func(w time.Time) bool { return w.Weekday() == 5 && at(w, 23, 45) },
		"0 12 13 * 5":   func(w time.Time) bool { return at(w, 12, 0) && (w.Day() == 13 || w.Weekday() == 5) },
		"0 0 29 2 *":    func(w time.Time) bool { return at(w, 0, 0) && w.Day() == 29 && w.Month() == 2 },
	}
}

// Every minute of five years is walked with a clock on the wall in hand. A
// schedule is due when that clock first shows a moment it names, or has jumped
// over one.
func TestTicksAgreeWithAClockOnTheWall(t *testing.T) {
	for _, name := range []string{
		"Asia/Shanghai", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Australia/Lord_Howe",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z := zone(t, name)
			meanings := specs()
			exprs := slices.Sorted(maps.Keys(meanings))
			want := make([][]time.Time, len(exprs))
			means := make([]func(time.Time) bool, len(exprs))
			for n, expr := range exprs {
				means[n] = meanings[expr]
			}
			begin, end := time.Date(2024, 1, 1, 0, 0, 0, 0, z), time.Date(2029, 1, 1, 0, 0, 0, 0, z)
			shown := wallOf(begin).Add(-time.Minute) // the latest the clock has shown
			for x := begin; x.Before(end); x = x.Add(time.Minute) {
				for now := wallOf(x); shown.Before(now); {
					shown = shown.Add(time.Minute)
					for n := range exprs {
						ticks := want[n]
						if means[n](shown) && (len(ticks) == 0 || ticks[len(ticks)-1] != x) {
							want[n] = append(ticks, x)
						}
					}
				}
			}
			for n, expr := range exprs {
				if len(want[n]) == 0 {
					t.Fatalf("%s: the reference has no tick", expr)
				}
				check(t, parse(t, expr, z), want[n], begin)
			}
		})
	}
}

func check(t *testing.T, s *Schedule, want []time.Time, begin time.Time) {
	t.Helper()
	last := begin.Add(-time.Second)
	for n, tick := range want {
		if got := s.Next(last); !got.Equal(tick) {
			t.Fatalf("%s: Next(%s) = %s, want %s", s, last, got, tick)
		}
		for _, later := range []time.Duration{0, time.Second, 61 * time.Second, 25 * time.Minute, 50 * time.Minute} {
			if later > 0 && (n+1 == len(want) || !tick.Add(later).Before(want[n+1])) {
				continue
			}
			if got := s.Prev(tick.Add(later)); !got.Equal(tick) {
				t.Fatalf("%s: Prev(%s) = %s, want %s", s, tick.Add(later), got, tick)
			}
		}
		if n > 0 {
			before := tick.Add(-time.Nanosecond)
			if got := s.Prev(before); !got.Equal(want[n-1]) {
				t.Fatalf("%s: Prev(%s) = %s, want %s", s, before, got, want[n-1])
			}
			if got := s.Next(before); !got.Equal(tick) {
				t.Fatalf("%s: Next(%s) = %s, want %s", s, before, got, tick)
			}
		}
		last = tick
	}
}

func TestChangesOfClocks(t *testing.T) {
	for _, c := range []struct {
		name, zone, expr, after, want string
	}{
		{"a skipped time is due at the next valid instant", "Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"a repeated time is due the first time", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00+02:00", "2026-10-25T02:30:00+02:00"},
		{"a repeated time is not due again", "Europe/Berlin", "30 2 * * *", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		{"a midnight that does not exist is due when that day begins", "America/Santiago", "0 0 * * *", "2026-09-05T12:00:00-04:00", "2026-09-06T01:00:00-03:00"},
		{"a midnight that does not exist is due in Egypt too", "Africa/Cairo", "@midnight", "2026-04-23T12:00:00+02:00", "2026-04-24T01:00:00+03:00"},
		{"half an hour is skipped on Lord Howe", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00+10:30", "2026-10-04T02:30:00+11:00"},
		{"a whole day was skipped in Samoa", "Pacific/Apia", "0 12 30 12 *", "2011-12-29T23:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"a leap day is found over the century without one", "Asia/Shanghai", "0 0 29 2 *", "2096-03-01T00:00:00+08:00", "2104-02-29T00:00:00+08:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, err := time.Parse(time.RFC3339, c.after)
			if err != nil {
				t.Fatal(err)
			}
			s := parse(t, c.expr, zone(t, c.zone))
			got := s.Next(after)
			if got.Format(time.RFC3339) != c.want {
				t.Errorf("Next = %s, want %s", got.Format(time.RFC3339), c.want)
			}
			if prev := s.Prev(got); !prev.Equal(got) {
				t.Errorf("Prev of the tick itself = %s", prev)
			}
		})
	}
}

func TestADailyScheduleIsDueEveryDayEverywhere(t *testing.T) {
	for _, name := range []string{
		"America/Asuncion", "America/Havana", "America/Sao_Paulo", "America/St_Johns", "America/Scoresbysund", "Asia/Beirut",
		"Asia/Gaza", "Asia/Kathmandu", "Asia/Tehran", "Africa/Casablanca", "Antarctica/Troll", "Pacific/Chatham", "Pacific/Kiritimati", "UTC",
	} {
		t.Run(name, func(t *testing.T) {
			z := zone(t, name)
			for _, expr := range []string{"0 0 * * *", "30 0 * * *", "30 1 * * *", "0 2 * * *", "59 23 * * *"} {
				s := parse(t, expr, z)
				for tick := s.Next(time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)); tick.Year() < 2031; {
					next := s.Next(tick)
					if d := next.Sub(tick); d < 21*time.Hour || d > 27*time.Hour {
						t.Fatalf("%s: %s after %s comes %s", expr, d, tick, next)
					}
					tick = next
				}
			}
		})
	}
}

func TestNextAndPrevMeet(t *testing.T) {
	zones := map[string]*time.Location{}
	for _, name := range []string{"Europe/Berlin", "Africa/Casablanca", "Australia/Lord_Howe", "UTC"} {
		zones[name] = zone(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		field := func(low, high int) string {
			if rapid.Bool().Draw(t, "any") {
				return "*"
			}
			return fmt.Sprint(rapid.IntRange(low, high).Draw(t, "n"))
		}
		expr := strings.Join([]string{field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)}, " ")
		s, err := ParseSchedule(expr, zones[rapid.SampledFrom(slices.Sorted(maps.Keys(zones))).Draw(t, "zone")])
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(rapid.Int64Range(1_500_000_000, 2_000_000_000).Draw(t, "now"), 0)
		next, prev := s.Next(now), s.Prev(now)
		switch {
		case !next.After(now) || prev.After(now):
			t.Fatalf("%s at %s: prev %s, next %s", expr, now, prev, next)
		case !s.Next(prev).Equal(next):
			t.Fatalf("%s at %s: a tick between %s and %s", expr, now, prev, next)
		case !s.Prev(next.Add(-1)).Equal(prev):
			t.Fatalf("%s at %s: a tick before %s after %s", expr, now, next, prev)
		}
	})
}

func TestEveryIsCountedFromAFixedOrigin(t *testing.T) {
	s := parse(t, "@every 5m", time.UTC)
	now := time.Date(2026, 11, 30, 10, 7, 3, 9, time.UTC)
	if got := s.Next(now); !got.Equal(time.Date(2026, 11, 30, 10, 10, 0, 0, time.UTC)) {
		t.Errorf("Next = %s", got)
	}
	if got := s.Prev(now); !got.Equal(time.Date(2026, 11, 30, 10, 5, 0, 0, time.UTC)) {
		t.Errorf("Prev = %s", got)
	}
	if !s.Always() || parse(t, "@daily", time.UTC).Always() {
		t.Error("only @every is always")
	}
}

func TestTheZeroScheduleIsNeverDue(t *testing.T) {
	var s Schedule
	s.zone = time.UTC
	if next, prev := s.Next(time.Unix(0, 0)), s.Prev(time.Unix(0, 0)); !next.IsZero() || !prev.IsZero() {
		t.Errorf("next %s, prev %s", next, prev)
	}
}

func TestWhatIsNotASchedule(t *testing.T) {
	for expr, want := range map[string]string{
		"":                        "is empty",
		"  ":                      "is empty",
		"TZ=0":                    "holds a time zone",
		"TZ=UTC 0 2 * * *":        "holds a time zone",
		" CRON_TZ=UTC 0 2 * * *":  "holds a time zone",
		"0 0 30 2 *":              "never due",
		"0 0 31 2,4,6,9,11 *":     "never due",
		"0 2 * *":                 "expected exactly 5 fields",
		"0 0 2 * * *":             "expected exactly 5 fields",
		"60 * * * *":              "above maximum",
		"0 2 * * fri-sun":         "beyond end of range",
		", 2 * * *":               "a field that holds nothing",
		"*/0 * * * *":             "positive number",
		"@every":                  "is not a schedule",
		"@every 0s":               "whole number of seconds",
		"@every -5m":              "whole number of seconds",
		"@every 1500ms":           "whole number of seconds",
		"@every 5":                "is not a schedule",
		"@fortnightly":            "is not a schedule",
		"every day":               "is not a schedule",
		"0 2 * * * # in the dark": "is not a schedule",
	} {
		t.Run(fmt.Sprintf("%q is refused", expr), func(t *testing.T) {
			s, err := ParseSchedule(expr, time.UTC)
			if err == nil {
				t.Fatalf("read as %s", s)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		})
	}
	if _, err := ParseSchedule("@daily", nil); err == nil {
		t.Error("a schedule without a zone was accepted")
	}
}

func FuzzParseSchedule(f *testing.F) {
	for expr := range specs() {
		f.Add(expr)
	}
	f.Add("TZ=0")
	f.Add("@every 1h")
	f.Add("0 0 30 2 *")
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, expr string) {
		s, err := ParseSchedule(expr, berlin)
		if err != nil {
			return
		}
		r := rand.New(rand.NewPCG(1, uint64(len(expr))))
		now := time.Unix(1_700_000_000+r.Int64N(200_000_000), 0)
		next := s.Next(now)
		if !next.After(now) {
			t.Fatalf("%q: Next(%s) = %s", expr, now, next)
		}
		if prev := s.Prev(next); !prev.Equal(next) {
			t.Fatalf("%q: Prev(%s) = %s", expr, next, prev)
		}
	})
}
