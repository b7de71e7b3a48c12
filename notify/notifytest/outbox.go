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
	t    testing.TB
	mu   sync.Mutex
	rows map[int64]*Row
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
func NewOutbox(t testing.TB) *Outbox { return &Outbox{t: t, rows: map[int64]*Row{}} }

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
	for _, r := range rows[:min(limit, len(rows))] {
		due = append(due, r.Delivery)
	}
	return due, nil
}

// RecordDelivery keeps the verdict.
func (o *Outbox) RecordDelivery(ctx context.Context, d notify.Delivery, v notify.Verdict, next, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.Refuse != nil {
		if err := o.Refuse(d); err != nil {
			return err
		}
	}
	r, ok := o.rows[d.ID]
	switch {
	case !ok:
		o.t.Errorf("delivery %d was never due", d.ID)
		return nil
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
	r.Verdicts = append(r.Verdicts, v)
	if v.Kind == notify.VerdictOK {
		r.AcceptedAt = now
	}
	return nil
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
