package notifytest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"curfew/notify"
)

// Outbox is a strict outbox in memory: a write that no correct Sender makes fails
// the test.
type Outbox struct {
	t     testing.TB
	mu    sync.Mutex
	rows  map[int64]*Row
	sends map[string][]time.Time
	// Refuse, where set, makes a write fail.
	Refuse func(d notify.Delivery) error
}

// Row is one delivery and what became of it.
type Row struct {
	notify.Delivery
	Final      bool
	Verdicts   []notify.Verdict
	AcceptedAt time.Time
}

// NewOutbox makes an empty Outbox.
func NewOutbox(t testing.TB) *Outbox {
	return &Outbox{t: t, rows: map[int64]*Row{}, sends: map[string][]time.Time{}}
}

// Add puts deliveries in. Those without an ID get the next one; a zero NextAt is
// due at once.
func (o *Outbox) Add(ds ...notify.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range ds {
		if d.ID == 0 {
			d.ID = int64(len(o.rows) + 1)
		}
		d.NoticeID = d.ID
		o.rows[d.ID] = &Row{Delivery: d}
	}
}

// DueDeliveries gives what is due, by NextAt and ID.
func (o *Outbox) DueDeliveries(_ context.Context, now time.Time, limit int) ([]notify.Delivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var rows []*Row
	for _, r := range o.rows {
		if !r.Final && !r.NextAt.After(now) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *Row) int {
		return cmp.Or(a.NextAt.Compare(b.NextAt), cmp.Compare(a.ID, b.ID))
	})
	var due []notify.Delivery
	type group struct{ channel, name string }
	more := map[group]bool{}
	for n, r := range rows {
		g := group{r.Channel, r.Notice.Group}
		if n < limit {
			more[g] = g.name != ""
		}
		if n < limit || more[g] {
			due = append(due, r.Delivery)
		}
	}
	return due, nil
}

// Seal notes which deliveries are in one message.
func (o *Outbox) Seal(ctx context.Context, letter string, deliveries []int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, id := range deliveries {
		o.rows[id].Letter = letter
	}
	return nil
}

// RecordDeliveries keeps the verdicts, all or none.
func (o *Outbox) RecordDeliveries(ctx context.Context, channel string, outs []notify.Outcome, spent bool, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, out := range outs {
		if o.Refuse != nil {
			if err := o.Refuse(out.Delivery); err != nil {
				return err
			}
		}
	}
	for _, out := range outs {
		o.record(channel, out, now)
	}
	if spent {
		o.sends[channel] = append(o.sends[channel], now)
	}
	return nil
}

func (o *Outbox) record(channel string, out notify.Outcome, now time.Time) {
	d, v, next := out.Delivery, out.Verdict, out.Next
	r, ok := o.rows[d.ID]
	switch {
	case !ok:
		o.t.Errorf("delivery %d was never due", d.ID)
		return
	case d.Channel != channel:
		o.t.Errorf("delivery %d to %s is recorded for %s", d.ID, d.Channel, channel)
	case r.Final:
		o.t.Errorf("delivery %d was recorded after it was final", d.ID)
	case d.Attempt < r.Attempt || d.Attempt > r.Attempt+1:
		o.t.Errorf("delivery %d: attempt went from %d to %d", d.ID, r.Attempt, d.Attempt)
	case v.Kind == notify.VerdictOK && !next.IsZero():
		o.t.Errorf("delivery %d is ok and not final", d.ID)
	case !next.IsZero() && next.Before(now):
		o.t.Errorf("delivery %d waits for the past", d.ID)
	}
	r.Attempt, r.Plain, r.NextAt, r.Final = d.Attempt, d.Plain, next, next.IsZero()
	r.Alone, r.Letter = d.Alone, d.Letter
	r.Verdicts = append(r.Verdicts, v)
	if v.Kind == notify.VerdictOK {
		r.AcceptedAt = now
	}
}

// Sends gives when messages were counted against a channel's quota.
func (o *Outbox) Sends(_ context.Context, channel string, since time.Time) ([]time.Time, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []time.Time
	for _, at := range o.sends[channel] {
		if !at.Before(since) {
			out = append(out, at)
		}
	}
	return out, nil
}

// Left counts the deliveries that are not final.
func (o *Outbox) Left() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, r := range o.rows {
		if !r.Final {
			n++
		}
	}
	return n
}

// Row gives one delivery as it is now.
func (o *Outbox) Row(id int64) Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	return *o.rows[id]
}

// Rows gives every delivery as it is now, by ID.
func (o *Outbox) Rows() []Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	var rows []Row
	for _, r := range o.rows {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
	return rows
}
