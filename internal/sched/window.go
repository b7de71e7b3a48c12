package sched

import "time"

// Window is the time after each tick of a schedule in which a policy may ask. A
// nil Window, one without a schedule and one of @every are always open.
type Window struct {
	Schedule *Schedule
	Length   time.Duration
}

// At gives the tick that opened the window [tick, tick+Length) around now, zero
// where it is closed, and the first tick after now. Of a window that is always
// open due is now; opens is zero where there is no schedule.
func (w *Window) At(now time.Time) (due, opens time.Time) {
	if w == nil || w.Schedule == nil {
		return now, time.Time{}
	}
	opens = w.Schedule.Next(now)
	if w.Schedule.Always() {
		return now, opens
	}
	if tick := w.Schedule.Prev(now); !tick.IsZero() && now.Before(tick.Add(w.Length)) {
		due = tick
	}
	return due, opens
}
