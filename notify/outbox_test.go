package notify_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"curfew/notify"
)

// outbox is a strict outbox in memory.
type outbox struct {
	t    testing.TB
	mu   sync.Mutex
	rows map[int64]*row
	// refuse, where set, makes a write fail.
	refuse func(d notify.Delivery) error
}

type row struct {
	notify.Delivery
	final      bool
	verdicts   []notify.Verdict
	acceptedAt time.Time
}

func newOutbox(t testing.TB) *outbox { return &outbox{t: t, rows: map[int64]*row{}} }

func (o *outbox) add(ds ...notify.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range ds {
		if d.ID == 0 {
			d.ID = int64(len(o.rows) + 1)
		}
		d.NoticeID = d.ID
		if d.NextAt.IsZero() {
			d.NextAt = time.Now()
		}
		o.rows[d.ID] = &row{Delivery: d}
	}
}

func (o *outbox) DueDeliveries(_ context.Context, now time.Time, limit int) ([]notify.Delivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var due []notify.Delivery
	for _, r := range o.rows {
		if !r.final && !r.NextAt.After(now) {
			due = append(due, r.Delivery)
		}
	}
	slices.SortFunc(due, func(a, b notify.Delivery) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	return due[:min(limit, len(due))], nil
}

var errDisk = errors.New("disk full")

func (o *outbox) RecordDelivery(ctx context.Context, d notify.Delivery, v notify.Verdict, next, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.refuse != nil {
		if err := o.refuse(d); err != nil {
			return err
		}
	}
	r, ok := o.rows[d.ID]
	switch {
	case !ok:
		o.t.Errorf("delivery %d was never due", d.ID)
		return nil
	case r.final:
		o.t.Errorf("delivery %d was recorded after it was final", d.ID)
	case d.Attempt < r.Attempt || d.Attempt > r.Attempt+1:
		o.t.Errorf("delivery %d: attempt went from %d to %d", d.ID, r.Attempt, d.Attempt)
	case v.Kind == notify.VerdictOK && !next.IsZero():
		o.t.Errorf("delivery %d is ok and not final", d.ID)
	case !next.IsZero() && next.Before(now):
		o.t.Errorf("delivery %d waits for the past", d.ID)
	}
	r.Attempt, r.Plain, r.NextAt, r.final = d.Attempt, d.Plain, next, next.IsZero()
	r.verdicts = append(r.verdicts, v)
	if v.Kind == notify.VerdictOK {
		r.acceptedAt = now
	}
	return nil
}

// left counts the deliveries that are not final.
func (o *outbox) left() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, r := range o.rows {
		if !r.final {
			n++
		}
	}
	return n
}

func (o *outbox) row(id int64) row {
	o.mu.Lock()
	defer o.mu.Unlock()
	return *o.rows[id]
}

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
