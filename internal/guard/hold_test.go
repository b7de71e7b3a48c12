package guard_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/guard"
)

func TestHowLongAHoldMayLastAtOnce(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	at := func(hours float64) time.Time { return now.Add(time.Duration(hours * float64(time.Hour))) }
	held := func(from, to float64) guard.Held { return guard.Held{From: at(from), To: at(to)} }
	both := guard.HoldLimits{Max: 12 * time.Hour, Total: 48 * time.Hour}
	for _, c := range []struct {
		name   string
		limits guard.HoldLimits
		since  time.Time
		held   []guard.Held
		ask    float64 // hours from now
		want   float64
		why    fleet.Code
	}{
		{"without limits all of it", guard.HoldLimits{}, at(-100), []guard.Held{held(-90, 0)}, 700, 700, ""},
		{"as long as the longest", both, at(-1), nil, 12, 12, ""},
		{"longer than the longest", both, at(-1), nil, 24, 12, guard.ReasonHoldMax},
		{"what is left of the total", both, at(-50), []guard.Held{held(-40, 0)}, 10, 8, guard.ReasonHoldTotal},
		{"the total goes before the longest where it is less", both, at(-50), []guard.Held{held(-40, 0)}, 24, 8, guard.ReasonHoldTotal},
		{"nothing is left", both, at(-60), []guard.Held{held(-50, 0)}, 1, 0, guard.ReasonHoldTotal},
		{"what was held before the run does not count", both, at(-5), []guard.Held{held(-50, -5)}, 12, 12, ""},
		{"of what was held over its start the rest counts", both, at(-40), []guard.Held{held(-50, 0)}, 12, 8, guard.ReasonHoldTotal},
		{"what is held twice counts once", both, at(-50), []guard.Held{held(-40, -10), held(-30, 0), held(-40, -35)}, 12, 8, guard.ReasonHoldTotal},
		{"what is held already costs nothing more", both, at(-50), []guard.Held{held(-40, 6)}, 6, 6, ""},
		{"and counts before it comes", both, at(-50), []guard.Held{held(-40, 6)}, 12, 8, guard.ReasonHoldTotal},
		{"what is held later lies between", both, at(-50), []guard.Held{held(-40, 0), held(2, 4)}, 12, 10 - 2, guard.ReasonHoldTotal},
		{"one without an end holds all that is asked for", both, at(-50), []guard.Held{held(-40, 0), {From: at(-1), To: fleet.NoEnd()}}, 6, 6, ""},
		{"one without an end that is yet to come leaves nothing", both, at(-50), []guard.Held{held(-40, 0), {From: at(1), To: fleet.NoEnd()}}, 6, 0, guard.ReasonHoldTotal},
		{"a total alone", guard.HoldLimits{Total: 2 * time.Hour}, time.Time{}, nil, 100, 2, guard.ReasonHoldTotal},
		{"a total that is over for long", guard.HoldLimits{Total: time.Hour}, time.Time{}, []guard.Held{held(-9, 3)}, 4, 3, guard.ReasonHoldTotal},
	} {
		t.Run(c.name, func(t *testing.T) {
			until, why := c.limits.Allowed(now, at(c.ask), c.since, c.held)
			if !until.Equal(at(c.want)) || why.Code != c.why {
				t.Errorf("until %s for %q, want %s for %q", until, why.Code, at(c.want), c.why)
			}
		})
	}
}

// Whatever was held before, what is held at once is never longer than the longest, and
// never brings all of it above the total, unless it was there already.
func TestNoHoldGoesBeyondItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
		minutes := func(from, to int, what string) time.Duration {
			return time.Duration(rapid.IntRange(from, to).Draw(t, what)) * time.Minute
		}
		l := guard.HoldLimits{Max: minutes(0, 600, "max"), Total: minutes(0, 3000, "total")}
		since := now.Add(-minutes(0, 4000, "since"))
		var held []guard.Held
		for range rapid.IntRange(0, 6).Draw(t, "holds") {
			from := now.Add(minutes(-5000, 600, "from"))
			held = append(held, guard.Held{From: from, To: from.Add(minutes(0, 900, "for"))})
		}
		asked := now.Add(minutes(1, 4000, "asked"))
		until, why := l.Allowed(now, asked, since, held)
		before := guard.HeldFor(guard.Joined(since, held))
		after := guard.HeldFor(guard.Joined(since, append(held, guard.Held{From: now, To: until})))
		switch {
		case until.Before(now) || until.After(asked):
			t.Fatalf("until %s of %s", until, asked)
		case why.IsZero() != until.Equal(asked):
			t.Fatalf("until %s of %s, for %v", until, asked, why)
		case l.Max > 0 && until.Sub(now) > l.Max:
			t.Fatalf("for %s, %s is the most", until.Sub(now), l.Max)
		case l.Total > 0 && after > max(l.Total, before):
			t.Fatalf("%s are held, %s is the most", after, l.Total)
		}
		// A minute more would be too much.
		if !why.IsZero() {
			more := guard.HeldFor(guard.Joined(since, append(held, guard.Held{From: now, To: until.Add(time.Minute)})))
			if (l.Max <= 0 || until.Sub(now)+time.Minute <= l.Max) && more <= l.Total {
				t.Fatalf("until %s although %s more are left", until, l.Total-more)
			}
		}
	})
}
