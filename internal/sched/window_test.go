package sched

import (
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	shanghai := zone(t, "Asia/Shanghai")
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, shanghai) }
	night := &Window{Schedule: parse(t, "0 2 * * *", shanghai), Length: 4 * time.Hour}
	late := &Window{Schedule: parse(t, "0 22 * * *", shanghai), Length: 4 * time.Hour}
	hourly := &Window{Schedule: parse(t, "@hourly", shanghai), Length: 90 * time.Minute}
	every := &Window{Schedule: parse(t, "@every 10m", shanghai)}
	for _, c := range []struct {
		name            string
		w               *Window
		now, due, opens time.Time
	}{
		{"closed before its tick", night, at(2, 1, 59), time.Time{}, at(2, 2, 0)},
		{"opens at its tick", night, at(2, 2, 0), at(2, 2, 0), at(3, 2, 0)},
		{"is open to the last moment", night, at(2, 6, 0).Add(-1), at(2, 2, 0), at(3, 2, 0)},
		{"is closed at its end", night, at(2, 6, 0), time.Time{}, at(3, 2, 0)},
		{"lasts over midnight", late, at(3, 1, 0), at(2, 22, 0), at(3, 22, 0)},
		{"belongs to the newest tick where windows overlap", hourly, at(2, 5, 10), at(2, 5, 0), at(2, 6, 0)},
		{"of @every is always open", every, at(2, 5, 3), at(2, 5, 3), at(2, 5, 10)},
		{"that is nil is always open", nil, at(2, 5, 3), at(2, 5, 3), time.Time{}},
		{"without a schedule is always open", &Window{}, at(2, 5, 3), at(2, 5, 3), time.Time{}},
		{"of no length is never open", &Window{Schedule: night.Schedule}, at(2, 2, 0), time.Time{}, at(3, 2, 0)},
	} {
		t.Run("a window "+c.name, func(t *testing.T) {
			due, opens := c.w.At(c.now)
			if !due.Equal(c.due) || !opens.Equal(c.opens) {
				t.Errorf("At(%s) = due %s, opens %s; want %s, %s", c.now, due, opens, c.due, c.opens)
			}
		})
	}
}
