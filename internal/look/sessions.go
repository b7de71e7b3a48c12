package look

import (
	"strings"
	"time"

	"curfew/fleet"
)

// readSessions reads terminals and logins. now is by the box's clock, as the
// access times are.
func readSessions(s section, now time.Time, cut string) ([]fleet.Session, string) {
	if why := s.failed(cut); why != "" {
		if s.whole && s.status == "127" {
			why = "there is no stat or no /dev/pts to read terminals with"
		}
		return nil, why
	}
	var sessions []fleet.Session
	at := map[string]int{} // terminal -> its session
	for _, line := range s.lines() {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return sessions, "unclear: " + Short(line)
		}
		kind, when, line := fields[0], fields[1], strings.TrimPrefix(fields[2], "/dev/")
		touched, known := unix(when)
		if kind == "who" && when == "-" {
			if strings.HasPrefix(line, ":") || strings.HasPrefix(line, "seat") {
				return sessions, "a desktop, whose input cannot be seen: " + Short(line)
			}
			continue // a record left behind by a terminal that is gone, or a login without one
		}
		if !known || kind != "tty" && kind != "who" {
			return sessions, "unclear: " + Short(line)
		}
		n, listed := at[line]
		if !listed {
			n = len(sessions)
			at[line] = n
			sessions = append(sessions, fleet.Session{Kind: "tty", Name: Short(line), Idle: max(0, now.Sub(touched).Truncate(time.Second))})
		}
		if kind == "who" {
			sessions[n].Kind = "utmp"
			sessions[n].Name = Short(strings.Join(fields[3:], " ") + " " + line)
		}
	}
	return sessions, ""
}
