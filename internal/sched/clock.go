// Package sched knows when: the clock, cron ticks and the windows they open.
package sched

import (
	"context"
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

// Fast is a clock that runs Factor times as fast as the machine's, from Start.
// The demo lives by it.
type Fast struct {
	start  time.Time
	began  time.Time
	factor int
}

// NewFast gives a clock that shows start now and runs factor times as fast.
func NewFast(start time.Time, factor int) *Fast {
	return &Fast{start: start.UTC(), began: time.Now(), factor: factor}
}

// Now gives the fast time.
func (f *Fast) Now() time.Time {
	return f.start.Add(time.Since(f.began) * time.Duration(f.factor))
}

// Sleep waits for d of fast time.
func (f *Fast) Sleep(ctx context.Context, d time.Duration) error {
	return Wall{}.Sleep(ctx, d/time.Duration(f.factor))
}
