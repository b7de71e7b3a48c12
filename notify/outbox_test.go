package notify_test

import (
	"testing"
	"time"

	"curfew/notify"
)

func TestNext(t *testing.T) {
	for name, c := range map[string]struct {
		v     notify.Verdict
		d     notify.Delivery
		wait  time.Duration
		plain bool
		final bool
	}{
		"ok is final": {notify.Verdict{Kind: notify.VerdictOK}, notify.Delivery{Attempt: 1}, 0, false, true},
		"the first retry comes after five seconds": {
			notify.Verdict{Kind: notify.VerdictRetry}, notify.Delivery{Attempt: 1}, 5 * time.Second, false, false,
		},
		"retries are doubled": {
			notify.Verdict{Kind: notify.VerdictRetry}, notify.Delivery{Attempt: 4}, 40 * time.Second, false, false,
		},
		"retries end at five minutes, however many there were": {
			notify.Verdict{Kind: notify.VerdictRetry}, notify.Delivery{Attempt: 1000}, 5 * time.Minute, false, false,
		},
		"the channel may ask for a longer pause": {
			notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour}, notify.Delivery{Attempt: 1}, time.Hour, false, false,
		},
		"the channel cannot ask for a shorter one": {
			notify.Verdict{Kind: notify.VerdictRetry, After: time.Second}, notify.Delivery{Attempt: 3}, 20 * time.Second, false, false,
		},
		"a pause ends where the delivery expires": {
			notify.Verdict{Kind: notify.VerdictRetry, After: time.Hour},
			notify.Delivery{Attempt: 1, ExpiresAt: now.Add(time.Minute)}, time.Minute, false, false,
		},
		"a plain retry stays plain": {
			notify.Verdict{Kind: notify.VerdictRetry}, notify.Delivery{Attempt: 2, Plain: true}, 10 * time.Second, true, false,
		},
		"a bad message goes again at once, as plain text": {
			notify.Verdict{Kind: notify.VerdictBadMessage}, notify.Delivery{Attempt: 1}, 0, true, false,
		},
		"a bad plain message is final": {
			notify.Verdict{Kind: notify.VerdictBadMessage}, notify.Delivery{Attempt: 2, Plain: true}, 0, true, true,
		},
		"permanent is final": {notify.Verdict{Kind: notify.VerdictPermanent}, notify.Delivery{Attempt: 1}, 0, false, true},
		"unknown is tried again with quickly growing pauses": {
			notify.Verdict{}, notify.Delivery{Attempt: 3}, 80 * time.Second, false, false,
		},
		"the fifth unknown is final": {notify.Verdict{}, notify.Delivery{Attempt: 5}, 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			next, plain, final := notify.Next(c.v, c.d, now)
			if plain != c.plain || final != c.final {
				t.Errorf("plain %v final %v, want %v %v", plain, final, c.plain, c.final)
			}
			switch {
			case final && !next.IsZero():
				t.Errorf("final, and yet again at %v", next)
			case !final && next.Sub(now) != c.wait:
				t.Errorf("waits %v, want %v", next.Sub(now), c.wait)
			}
		})
	}
}
