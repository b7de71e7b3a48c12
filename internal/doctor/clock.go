package doctor

import (
	"time"

	"curfew/fleet"
)

// Of the clock.
const (
	ReasonClockFine   fleet.Code = "doctor.clock-fine"
	ReasonClockAhead  fleet.Code = "doctor.clock-ahead"
	ReasonClockBehind fleet.Code = "doctor.clock-behind"
	ReasonClockUntold fleet.Code = "doctor.clock-untold"
	DoClock           fleet.Code = "doctor.do-clock"
	DoClockUntold     fleet.Code = "doctor.do-clock-untold"

	ReasonZone    fleet.Code = "doctor.zone"
	ReasonZoneUTC fleet.Code = "doctor.zone-utc"
	DoZone        fleet.Code = "doctor.do-zone"
)

// clockOff is from when on a clock is wrong: signatures are refused then, and
// schedules and deadlines come at other times than people were told.
const clockOff = 30 * time.Second

// Told is the time that an answer bears, and the time here when it came.
type Told struct {
	By       string // whose answer
	Date, At time.Time
}

// off is how far the clock here is ahead. An answer's time is cut off to the
// second.
func (t Told) off() time.Duration {
	return t.At.Sub(t.Date.Add(500 * time.Millisecond)).Round(time.Second)
}

// Clock judges the clock by what answers say the time is. Of several the nearest
// counts: one server may be wrong itself.
func Clock(told []Told) Result {
	var nearest Told
	for _, t := range told {
		if nearest.By == "" || t.off().Abs() < nearest.off().Abs() {
			nearest = t
		}
	}
	off := nearest.off()
	v := fleet.Values{"by": fleet.Text(nearest.By), "off": fleet.Span(off.Abs())}
	switch {
	case nearest.By == "":
		return warn(CheckClock, "", fleet.Because(ReasonClockUntold, nil), fleet.Because(DoClockUntold, nil))
	case off > clockOff:
		return bad(CheckClock, "", fleet.Because(ReasonClockAhead, v), fleet.Because(DoClock, nil))
	case off < -clockOff:
		return bad(CheckClock, "", fleet.Because(ReasonClockBehind, v), fleet.Because(DoClock, nil))
	}
	return fine(CheckClock, "", fleet.Because(ReasonClockFine, fleet.Values{"by": fleet.Text(nearest.By)}))
}

// Zone says by which zone times are told and schedules run. UTC that nobody chose
// is probably not meant.
func Zone(zone *time.Location, chosen, schedules bool, now time.Time) Result {
	name, _ := now.In(zone).Zone()
	if zone != time.Local {
		name = zone.String()
	}
	v := fleet.Values{"zone": fleet.Text(name), "time": fleet.Text(now.In(zone).Format("15:04"))}
	if _, offset := now.In(zone).Zone(); !chosen && schedules && offset == 0 {
		return warn(CheckZone, "", fleet.Because(ReasonZoneUTC, v), fleet.Because(DoZone, nil))
	}
	return fine(CheckZone, "", fleet.Because(ReasonZone, v))
}
