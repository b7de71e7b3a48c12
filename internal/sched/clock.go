// Package sched knows when: the clock, cron ticks and the windows they open.
package sched

import (
	"context"
	"sync"
	"time"
)

// Clock tells the time and waits. Every part that needs time is given one.
type Clock interface {
	Now() time.Time
	// Sleep waits for d by this clock or until ctx is done, and gives ctx's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// Wall is the machine's own clock.
type Wall struct{}

// Now gives the machine's time in UTC.
func (Wall) Now() time.Time { return time.Now().UTC() }

// Sleep waits for d or until ctx is done.
func (Wall) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Fast is a clock that runs some factor as fast as the machine's, from a start. The
// demo lives by it.
type Fast struct {
	mu      sync.Mutex
	start   time.Time
	began   time.Time
	factor  int
	changed chan struct{} // closed when the factor is another
}

// NewFast gives a clock that shows start now and runs factor times as fast.
func NewFast(start time.Time, factor int) *Fast {
	return &Fast{start: start.UTC(), began: time.Now(), factor: factor, changed: make(chan struct{})}
}

// Now gives the fast time.
func (f *Fast) Now() time.Time {
	now, _, _ := f.reading()
	return now
}

func (f *Fast) reading() (now time.Time, factor int, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.start.Add(time.Since(f.began) * time.Duration(f.factor)), f.factor, f.changed
}

// Run lets the clock run at another speed from now on, for those who sleep, too.
func (f *Fast) Run(factor int) {
	now := f.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.start, f.began, f.factor = now, time.Now(), factor
	close(f.changed)
	f.changed = make(chan struct{})
}

// Sleep waits for d of fast time.
func (f *Fast) Sleep(ctx context.Context, d time.Duration) error {
	now, factor, changed := f.reading()
	for until := now.Add(d); until.After(now); now, factor, changed = f.reading() {
		t := time.NewTimer(until.Sub(now) / time.Duration(factor))
		select {
		case <-t.C:
			return ctx.Err()
		case <-changed:
			t.Stop()
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
	return ctx.Err()
}
