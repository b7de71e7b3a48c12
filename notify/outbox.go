package notify

import (
	"context"
	"time"

	"curfew/fleet"
)

// Delivery is one notice on its way to one channel. It lives in the outbox until
// it is final.
type Delivery struct {
	ID       int64
	NoticeID int64
	Channel  string
	// Notice is what to tell. Its Intent's State, AcceptedAt and Deadline are those
	// of the journal at the time of reading, so that a channel that comes late does
	// not promise more time than there is, or announce what is over.
	Notice    Notice
	Attempt   int // attempts made
	NextAt    time.Time
	ExpiresAt time.Time // zero: never
	Plain     bool      // the channel refused it with markup; send plain text
	// ReplyTo is [Verdict.Ref] of the first message of the notice's thread that the
	// channel took; empty: there is none.
	ReplyTo string
	// Silent asks for no sound.
	Silent bool
	// Alone says that a message that told it with others was refused in every form.
	Alone bool
	// Letter is the message that it was last sent in, as long as it is not known what
	// became of that: it goes in the same one again, so that a channel that knows a
	// message by its id drops the second. Empty: there is none.
	Letter string
}

// Outcome is what became of one delivery in an attempt.
type Outcome struct {
	Delivery Delivery // as it is after it (Attempt, Plain)
	Verdict  Verdict
	Next     time.Time // when to try again; zero is final
}

// Outbox keeps deliveries until they are final.
type Outbox interface {
	// DueDeliveries gives the deliveries that are not final and whose NextAt is
	// not after now, by NextAt and then ID, at most limit of them, and behind them
	// those that are due of the same groups. Expired ones are among them.
	DueDeliveries(ctx context.Context, now time.Time, limit int) ([]Delivery, error)
	// RecordDeliveries writes what became of the deliveries of one attempt on one
	// channel, all or none. VerdictOK is the acceptance of the notice by the channel.
	// spent counts a message against the channel's quota.
	RecordDeliveries(ctx context.Context, channel string, outs []Outcome, spent bool, now time.Time) error
	// Seal notes, before they are sent, which deliveries are in one message.
	// RecordDeliveries undoes it.
	Seal(ctx context.Context, letter string, deliveries []int64) error
	// Sends gives when messages were counted against a channel's quota, oldest first.
	Sends(ctx context.Context, channel string, since time.Time) ([]time.Time, error)
}

// The codes of verdicts that no channel gave.
const (
	CodeExpired   = "expired"    // its time was over before a channel took it
	CodeNoChannel = "no-channel" // the channel is no longer configured
	CodeTimeout   = "timeout"    // the channel did not answer in time
	CodePostponed = "postponed"  // not tried: the channel has no room before next
	CodeOvertaken = "overtaken"  // an announcement of an act that is no longer to come
)

const (
	backoffFirst    = 5 * time.Second
	backoffMost     = 5 * time.Minute
	unknownAttempts = 5
)

// Next says what follows an attempt that was answered with v: when to try again,
// whether as plain text, or that the delivery is final. d.Attempt counts that
// attempt.
//
//	ok           final
//	retry        after the pause the channel asked for, at least 5 s, 10 s … 5 m
//	bad message  at once as plain text; refused as plain text too: final
//	permanent    final
//	unknown      after 5 s, 20 s, 80 s, 5 m; the fifth is final
//
// No wait goes past ExpiresAt: there the delivery is closed as expired.
func Next(v Verdict, d Delivery, now time.Time) (next time.Time, plain, final bool) {
	switch v.Kind {
	case VerdictRetry:
		next = now.Add(max(v.After, backoff(d.Attempt, 2)))
	case VerdictBadMessage:
		if d.Plain {
			return time.Time{}, true, true
		}
		return now, true, false
	case VerdictUnknown:
		if d.Attempt >= unknownAttempts {
			return time.Time{}, d.Plain, true
		}
		next = now.Add(backoff(d.Attempt, 4))
	default:
		return time.Time{}, d.Plain, true
	}
	if !d.ExpiresAt.IsZero() && next.After(d.ExpiresAt) {
		next = d.ExpiresAt
	}
	return next, d.Plain, false
}

// backoff is the pause after so many attempts: the first, then factor times as
// long each, up to the most.
func backoff(attempt int, factor time.Duration) time.Duration {
	d := backoffFirst
	for ; attempt > 1 && d < backoffMost; attempt-- {
		d *= factor
	}
	return min(d, backoffMost)
}

// overtaken reports whether the delivery announces an act that was done or given
// up since. One that did not wait for its announcement is told all the same.
func (d Delivery) overtaken() bool {
	i := d.Notice.Intent
	return d.Notice.Event == EventPending && i != nil && i.State != "" && i.State != fleet.IntentPending && i.Hurried == ""
}

// expired reports whether the delivery's time is over.
func (d Delivery) expired(now time.Time) bool {
	return !d.ExpiresAt.IsZero() && !now.Before(d.ExpiresAt)
}
