package sched_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"curfew/internal/sched"
)

func TestAFastClockRunsSoManyTimesAsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC)
		c := sched.NewFast(start, 60)
		began := time.Now()
		if err := c.Sleep(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("an hour took %s", took)
		}
		if got := c.Now(); !got.Equal(start.Add(time.Hour)) {
			t.Errorf("it shows %s", got)
		}
	})
}

// Whoever sleeps is woken by the new speed.
func TestAFastClockThatRunsFasterWakesWhoSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC)
		c := sched.NewFast(start, 60)
		began := time.Now()
		woken := make(chan time.Duration)
		go func() {
			if err := c.Sleep(t.Context(), time.Hour); err != nil {
				t.Error(err)
			}
			woken <- time.Since(began)
		}()
		time.Sleep(30 * time.Second) // half of the hour is over
		c.Run(1800)
		if took := <-woken; took != 31*time.Second {
			t.Errorf("it woke after %s", took)
		}
		if got := c.Now(); !got.Equal(start.Add(time.Hour)) {
			t.Errorf("it shows %s", got)
		}
	})
}

func TestASleepOnAFastClockEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := sched.NewFast(time.Now(), 2).Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	})
}
