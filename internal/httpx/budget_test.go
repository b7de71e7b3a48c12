package httpx

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
)

var noon = time.Date(2026, 9, 6, 12, 0, 5, 0, time.UTC)

type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// fill takes until refused and gives how many passed, and the wait named.
func fill(t *testing.T, b *Budget, c Class, most int) (int, time.Duration) {
	t.Helper()
	for n := range most {
		if err := b.take(t.Context(), c); err != nil {
			e, ok := errors.AsType[*fleet.Error](err)
			if !ok || e.Kind != fleet.RateLimited {
				t.Fatalf("refused with %v, want RateLimited", err)
			}
			return n, e.RetryAfter
		}
	}
	return most, 0
}

func TestBudgetShares(t *testing.T) {
	for _, tc := range []struct {
		name    string
		limits  Limits
		before  map[Class]int
		class   Class
		passes  int
		refused bool
	}{
		{"observation gets four fifths of a minute", Limits{PerMinute: 20}, nil, Observe, 16, true},
		{"observation gets four fifths of a day", Limits{PerDay: 1000}, nil, Observe, 800, true},
		{"the tighter limit decides", Limits{PerMinute: 20, PerDay: 10}, nil, Observe, 8, true},
		{"hunting gets three tenths", Limits{PerMinute: 20}, nil, Hunt, 6, true},
		{"hunting leaves observation its room", Limits{PerMinute: 20}, map[Class]int{Hunt: 6}, Observe, 10, true},
		{"hunting goes on beside ordinary observation", Limits{PerMinute: 20}, map[Class]int{Observe: 8}, Hunt, 4, true},
		{"hunting yields first", Limits{PerMinute: 20}, map[Class]int{Observe: 12}, Hunt, 0, true},
		{"acts are counted against observation", Limits{PerMinute: 20}, map[Class]int{Act: 15}, Observe, 1, true},
		{"acts are never refused", Limits{PerMinute: 20, PerDay: 20}, map[Class]int{Observe: 16}, Act, 100, false},
		{"one request a minute is still one", Limits{PerMinute: 1}, nil, Observe, 1, true},
		{"no limit is no limit", Limits{}, nil, Hunt, 1000, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &clock{noon}
			b := NewBudget(tc.limits, NewMemoryCounter(), c.now)
			for class, n := range tc.before {
				if got, _ := fill(t, b, class, n); got != n {
					t.Fatalf("only %d of %d %q requests passed beforehand", got, n, class)
				}
			}
			n, wait := fill(t, b, tc.class, max(tc.passes+1, 1000))
			if tc.refused {
				if n != tc.passes || wait <= 0 {
					t.Fatalf("%d passed and the wait is %s, want %d and a wait", n, wait, tc.passes)
				}
				c.t = c.t.Add(wait - time.Second)
				if n, _ := fill(t, b, tc.class, 1); n != 0 {
					t.Error("a second before the time named one passed already")
				}
				c.t = c.t.Add(time.Second)
				if n, _ := fill(t, b, tc.class, 1); n != 1 {
					t.Error("at the time named none passed")
				}
			} else if wait != 0 {
				t.Errorf("refused after %d", n)
			}
		})
	}
}

func TestBudgetIsCountedOverRestarts(t *testing.T) {
	c, counter := &clock{noon}, NewMemoryCounter()
	if n, _ := fill(t, NewBudget(Limits{PerMinute: 10}, counter, c.now), Observe, 5); n != 5 {
		t.Fatalf("%d passed before the restart, want 5", n)
	}
	if n, _ := fill(t, NewBudget(Limits{PerMinute: 10}, counter, c.now), Observe, 10); n != 3 {
		t.Errorf("%d passed after the restart, want the 3 that were left", n)
	}
}

func TestBudgetForgivesAWrongClock(t *testing.T) {
	c, counter := &clock{noon.AddDate(1, 0, 0)}, NewMemoryCounter()
	b := NewBudget(Limits{PerDay: 10}, counter, c.now)
	fill(t, b, Observe, 10)
	c.t = noon
	if n, _ := fill(t, b, Observe, 10); n != 8 {
		t.Errorf("%d passed after the clock was set right, want 8", n)
	}
}

// No stretch of a minute ever holds more than observation's share, whatever
// comes when; and what was refused passes at the time named.
func TestBudgetNeverExceedsItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &clock{noon}
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		b := NewBudget(Limits{PerMinute: limit}, NewMemoryCounter(), c.now)
		share := max(1, limit*observeShare/100)
		var passed []time.Time
		for range rapid.IntRange(1, 120).Draw(t, "requests") {
			c.t = c.t.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
			class := rapid.SampledFrom([]Class{Observe, Hunt}).Draw(t, "class")
			err := b.take(context.Background(), class)
			if e, ok := errors.AsType[*fleet.Error](err); ok {
				c.t = c.t.Add(e.RetryAfter)
				err = b.take(context.Background(), class)
			}
			if err != nil {
				t.Fatalf("refused at the time named: %v", err)
			}
			passed = append(passed, c.t)
			in := 0
			for _, at := range passed {
				if c.t.Sub(at) < time.Minute {
					in++
				}
			}
			if in > share {
				t.Fatalf("%d requests within a minute, want at most %d", in, share)
			}
		}
	})
}

type brokenCounter struct{}

func (brokenCounter) Add(context.Context, Slot) error { return errors.New("disk full") }

func (brokenCounter) Load(context.Context, time.Duration, time.Time) ([]Slot, error) {
	return nil, errors.New("disk full")
}

func TestBudgetThatCannotCount(t *testing.T) {
	b := NewBudget(Limits{PerMinute: 10}, brokenCounter{}, (&clock{noon}).now)
	if err := b.take(t.Context(), Observe); fleet.KindOf(err) != fleet.Transient {
		t.Errorf("observation: %v, want Transient", err)
	}
	if err := b.take(t.Context(), Act); err != nil {
		t.Errorf("an act is never refused: %v", err)
	}
}

func TestMemoryCounterForgetsWhatNoWindowReaches(t *testing.T) {
	m := NewMemoryCounter()
	for n := range 5000 {
		s := Slot{Length: 10 * time.Second, Start: noon.Add(time.Duration(n) * 10 * time.Second), N: 1}
		if err := m.Add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.slots) > 20 {
		t.Errorf("%d slots are kept", len(m.slots))
	}
}
