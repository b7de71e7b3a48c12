package notify_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/notify"
)

func TestPaceGathersFindingsAndNothingElse(t *testing.T) {
	p := notify.Pace{Wait: 30 * time.Second, Interval: 5 * time.Minute}
	for _, c := range []struct {
		name string
		n    notify.Notice
		want notify.Pace
	}{
		{"a finding", notify.Notice{Event: notify.EventFinding, Severity: fleet.Warning}, p},
		{"that it is over", notify.Notice{Event: notify.EventResolved, Severity: fleet.Info}, p},
		{"a critical one", notify.Notice{Event: notify.EventFinding, Severity: fleet.Critical}, notify.Pace{Wait: 10 * time.Second, Interval: time.Minute}},
		{"an announcement", notify.Notice{Event: notify.EventPending}, notify.Pace{}},
		{"what became of an act", notify.Notice{Event: notify.EventAlarm, Severity: fleet.Critical}, notify.Pace{}},
		{"a reminder", notify.Notice{Event: notify.EventReminder, Severity: fleet.Warning}, notify.Pace{}},
		{"the digest", notify.Notice{Event: notify.EventDigest}, notify.Pace{}},
	} {
		if got := p.Of(c.n); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestPaceDue(t *testing.T) {
	p := notify.Pace{Wait: 30 * time.Second, Interval: 5 * time.Minute}
	for _, c := range []struct {
		name          string
		waiting, last time.Time
		want          time.Duration
	}{
		{"the first waits for others", time.Time{}, time.Time{}, 30 * time.Second},
		{"the second joins it", now.Add(10 * time.Second), time.Time{}, 10 * time.Second},
		{"one that is late already is not joined", now.Add(-time.Second), time.Time{}, 30 * time.Second},
		{"after a message more comes when the interval is over", time.Time{}, now.Add(-time.Minute), 4 * time.Minute},
		{"long after it one begins anew", time.Time{}, now.Add(-time.Hour), 30 * time.Second},
	} {
		if got := p.Due(now, c.waiting, c.last).Sub(now); got != c.want {
			t.Errorf("%s: in %s, want %s", c.name, got, c.want)
		}
	}
	if got := (notify.Pace{}).Due(now, time.Time{}, now); !got.Equal(now) {
		t.Errorf("without a pace it is due in %s", got.Sub(now))
	}
}

func TestQuietHours(t *testing.T) {
	day := func(h, m int) time.Time { return time.Date(2026, 11, 30, h, m, 0, 0, shanghai) }
	night := notify.QuietHours{From: 23 * time.Hour, To: 8 * time.Hour, Zone: shanghai}
	noon := notify.QuietHours{From: 12*time.Hour + 30*time.Minute, To: 14 * time.Hour, Zone: shanghai}
	for _, c := range []struct {
		name string
		q    notify.QuietHours
		at   time.Time
		want time.Time
	}{
		{"before midnight", night, day(23, 0), day(8, 0).AddDate(0, 0, 1)},
		{"after midnight", night, day(3, 0), day(8, 0)},
		{"their last minute", night, day(7, 59), day(8, 0)},
		{"their end is not in them", night, day(8, 0), time.Time{}},
		{"by day", night, day(22, 59), time.Time{}},
		{"at noon", noon, day(13, 0), day(14, 0)},
		{"not before noon", noon, day(12, 29), time.Time{}},
		{"none", notify.QuietHours{Zone: shanghai}, day(3, 0), time.Time{}},
		{"from another zone", night, day(3, 0).UTC(), day(8, 0)},
	} {
		got, quiet := c.q.Until(c.at)
		if quiet != !c.want.IsZero() || quiet && !got.Equal(c.want) {
			t.Errorf("%s: until %s (%v), want %s", c.name, got, quiet, c.want)
		}
	}
}

// On the days on which the clock on the wall is put, the hours end at the same time of
// day.
func TestQuietHoursWhenTheClockIsPut(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	q := notify.QuietHours{From: 23 * time.Hour, To: 8 * time.Hour, Zone: berlin}
	for _, date := range []int{28, 29, 30} { // in March; the clock is put on the 29th
		at := time.Date(2026, 3, date, 1, 0, 0, 0, berlin)
		if got, quiet := q.Until(at); !quiet || got.Hour() != 8 || got.Day() != date {
			t.Errorf("on the %dth they end at %s (%v)", date, got, quiet)
		}
	}
}

func TestQuietHoursEndAfterTheyBegan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.IntRange(0, 24*60-1)
		q := notify.QuietHours{
			From: time.Duration(minute.Draw(t, "from")) * time.Minute, To: time.Duration(minute.Draw(t, "to")) * time.Minute, Zone: shanghai,
		}
		at := now.Add(time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "at")))
		until, quiet := q.Until(at)
		if !quiet {
			return
		}
		if !until.After(at) || until.Sub(at) > 24*time.Hour {
			t.Fatalf("at %s they last until %s", at, until)
		}
	})
}

func TestWhatQuietHoursHold(t *testing.T) {
	for _, c := range []struct {
		name string
		n    notify.Notice
		want bool
	}{
		{"a warning", notify.Notice{Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryHealth}, true},
		{"what became of an act", notify.Notice{Event: notify.EventDone, Severity: fleet.Info, Category: fleet.CategoryAct}, true},
		{"what is critical", notify.Notice{Event: notify.EventFinding, Severity: fleet.Critical, Category: fleet.CategoryHealth}, false},
		{"money", notify.Notice{Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryMoney}, false},
		{"an announcement", notify.Notice{Event: notify.EventPending, Severity: fleet.Warning, Category: fleet.CategoryAct}, false},
		{"the last word before a power-off", notify.Notice{Event: notify.EventAsked, Category: fleet.CategoryAct}, false},
		{"the digest, which has its own time", notify.Notice{Event: notify.EventDigest}, false},
		{"what somebody just asked for", notify.Notice{Event: notify.EventTest}, false},
	} {
		if got := notify.Holds(c.n); got != c.want {
			t.Errorf("%s is held: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestRemindersComeLessAndLessOften(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		s    fleet.Severity
		age  time.Duration
		want int
	}{
		{fleet.Warning, 59 * time.Minute, 0},
		{fleet.Warning, time.Hour, 1},
		{fleet.Warning, 4 * time.Hour, 2},
		{fleet.Warning, day - time.Second, 2},
		{fleet.Warning, day, 3},
		{fleet.Warning, 2 * day, 4},
		{fleet.Warning, 5*day + time.Hour, 7},
		{fleet.Critical, 14 * time.Minute, 0},
		{fleet.Critical, 15 * time.Minute, 1},
		{fleet.Critical, time.Hour, 2},
		{fleet.Critical, 4 * time.Hour, 3},
		{fleet.Critical, day, 4},
		{fleet.Critical, 3 * day, 6},
	} {
		if got := notify.Reminded(c.s, now, now.Add(c.age)); got != c.want {
			t.Errorf("%s after %s: %d reminders, want %d", c.s, c.age, got, c.want)
		}
	}
}
