package notify

import (
	"cmp"
	"time"
)

const (
	minuteWindow = time.Minute
	dayWindow    = 24 * time.Hour
	monthWindow  = 31 * dayWindow
)

// quota spaces a channel's messages: at most perMinute in any minute, perDay in any 24
// hours and perMonth in any 31 days, and for what is not urgent only three quarters of
// them. It counts from the moment a message was answered, so that however long it was
// under way, the platform's own count of any minute or day is never higher.
type quota struct {
	perMinute, perDay, perMonth int // zero: no limit
	sent                        []time.Time
}

// Quota is how many messages a channel is to take, where somebody says so; zero: nobody
// does.
type Quota struct {
	PerMinute, PerDay, PerMonth int
}

// Within gives the kind with a quota of somebody's own in place of its limits.
func (k Kind) Within(q Quota) Kind {
	k.PerMinute, k.PerDay, k.PerMonth = cmp.Or(q.PerMinute, k.PerMinute), cmp.Or(q.PerDay, k.PerDay), cmp.Or(q.PerMonth, k.PerMonth)
	return k
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
	for n, at := range q.sent {
		if at.After(now) {
			q.sent[n] = now // the clock was put back: it counts for one window more, and not for years
		}
	}
	q.sent = since(q.sent, now, q.longest())
	at := now
	if q.perMinute > 0 {
		at = room(since(q.sent, now, minuteWindow), share(q.perMinute, urgent), minuteWindow, at)
	}
	if q.perDay > 0 {
		at = room(since(q.sent, now, dayWindow), share(q.perDay, urgent), dayWindow, at)
	}
	if q.perMonth > 0 {
		at = room(q.sent, share(q.perMonth, urgent), monthWindow, at)
	}
	return at
}

// longest is the longest window that counts; zero: nothing is counted.
func (q *quota) longest() time.Duration {
	switch {
	case q.perMonth > 0:
		return monthWindow
	case q.perDay > 0:
		return dayWindow
	case q.perMinute > 0:
		return minuteWindow
	}
	return 0
}

// LongestWindow is the longest time over which messages are counted.
const LongestWindow = monthWindow

// Left is how many messages a channel still takes in one window.
type Left struct {
	Window time.Duration `json:"window_ns"`
	Of     int           `json:"of"`
	Left   int           `json:"left"`
}

// QuotaLeft says what is left of the quota of a kind of channel after messages at these
// moments, oldest first: one answer for each limit there is.
func QuotaLeft(k Kind, sent []time.Time, now time.Time) []Left {
	var out []Left
	for _, l := range []Left{{Window: minuteWindow, Of: k.PerMinute}, {Window: dayWindow, Of: k.PerDay}, {Window: monthWindow, Of: k.PerMonth}} {
		if l.Of > 0 {
			l.Left = max(l.Of-len(since(sent, now, l.Window)), 0)
			out = append(out, l)
		}
	}
	return out
}

// spend counts a message that was answered, or given up, at now.
func (q *quota) spend(now time.Time) {
	if q.longest() > 0 {
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
