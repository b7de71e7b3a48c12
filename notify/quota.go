package notify

import "time"

const quotaWindow = time.Minute

// quota spaces a channel's messages: at most perMinute in any minute, and for
// what is not urgent only three quarters of them. It counts from the moment a
// message was answered, so that however long it was under way, the platform's
// own count of any minute is never higher.
type quota struct {
	perMinute int // zero: no limit
	sent      []time.Time
}

// limit is how many messages of this urgency may be in one window.
func (q *quota) limit(urgent bool) int {
	if urgent {
		return q.perMinute
	}
	return max(q.perMinute-(q.perMinute+3)/4, 1)
}

// free says when a message of this urgency may be sent: now, or the moment at
// which enough of those before it leave the window.
func (q *quota) free(urgent bool, now time.Time) time.Time {
	if q.perMinute <= 0 {
		return now
	}
	for len(q.sent) > 0 && !q.sent[0].Add(quotaWindow).After(now) {
		q.sent = q.sent[1:]
	}
	over := len(q.sent) - q.limit(urgent)
	if over < 0 {
		return now
	}
	return q.sent[over].Add(quotaWindow)
}

// spend counts a message that was answered, or given up, at now.
func (q *quota) spend(now time.Time) {
	if q.perMinute > 0 {
		q.sent = append(q.sent, now)
	}
}
