package policies

import "time"

// Period is the time that a budget is for.
type Period string

// The periods. Weeks begin on Monday.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
	// PerRun is no calendar time: it begins and ends with each run.
	PerRun Period = "run"
)

// Around gives the calendar period that a moment lies in, by the days of its zone.
func (p Period) Around(t time.Time) (from, to time.Time) {
	year, month, day := t.Date()
	days := func(n int) time.Time { return time.Date(year, month, n, 0, 0, 0, 0, t.Location()) }
	switch p {
	case Week:
		monday := day - (int(t.Weekday())+6)%7
		return days(monday), days(monday + 7)
	case Month:
		return days(1), time.Date(year, month+1, 1, 0, 0, 0, 0, t.Location())
	}
	return days(day), days(day + 1)
}

// By is what a budget is counted for apart.
type By string

// What budgets are counted by. Zero is everything together.
const (
	ByAccount By = "account"
	ByOwner   By = "owner"
)
