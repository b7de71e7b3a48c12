package notify

import "time"

const (
	minuteWindow = time.Minute
	dayWindow    = 24 * time.Hour
)

// quota spaces a channel's messages: at most perMinute in any minute and perDay
// in any 24 hours, and for what is not urgent only three quarters of them. It
// counts from the moment a message was answered, so that however long it was
// under way, the platform's own count of any minute or day is never higher.
type quota struct {
	perMinute, perDay int // zero: no limit
	sent              []time.Time
}

// share is how many of n messages of this urgency may be in one window.
func share(n int, urgent bool) int {
	if urgent {
		return n
	}
	return max(n-(n+3)/4, 1)
}

// free says when a message of this urgency may be sent: now, or the moment at
// which enough of those before it leave their window.
func (q *quota) free(urgent bool, now time.Time) time.Time {
	q.sent = since(q.sent, now, q.longest())
	at := now
	if q.perMinute > 0 {
		at = room(since(q.sent, now, minuteWindow), share(q.perMinute, urgent), minuteWindow, at)
	}
	if q.perDay > 0 {
		at = room(q.sent, share(q.perDay, urgent), dayWindow, at)
	}
	return at
}

// longest is the longest window that counts.
func (q *quota) longest() time.Duration {
	if q.perDay > 0 {
		return dayWindow
	}
	return minuteWindow
}

// spend counts a message that was answered, or given up, at now.
func (q *quota) spend(now time.Time) {
	if q.perMinute > 0 || q.perDay > 0 {
		q.sent = append(q.sent, now)
	}
}

// since leaves out what has left the window by now.
func since(sent []time.Time, now time.Time, window time.Duration) []time.Time {
	for len(sent) > 0 && !sent[0].Add(window).After(now) {
		sent = sent[1:]
	}
	return sent
}

// room gives the moment, not before at, at which fewer than limit of those sent
// are left in the window.
func room(sent []time.Time, limit int, window time.Duration, at time.Time) time.Time {
	if over := len(sent) - limit; over >= 0 && sent[over].Add(window).After(at) {
		return sent[over].Add(window)
	}
	return at
}
