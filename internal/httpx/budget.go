package httpx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
)

// How much of a limit the classes may use, in percent. Act may use all of it
// and more: what it did is only counted.
const (
	observeShare = 80 // observation stops when everything together has used this much
	huntShare    = 30 // hunting stops when it has used this much itself,
	huntYields   = 60 // or when everything together has used this much
)

// Limits are how many requests an account may send in any minute and in any 24
// hours; zero is no limit.
type Limits struct {
	PerMinute int
	PerDay    int
}

// Slot is how many requests of a class were sent in one short stretch of time.
type Slot struct {
	Length time.Duration
	Start  time.Time
	Class  Class
	N      int
}

// Counter keeps the counts of one account over restarts. The store has one; a
// [MemoryCounter] forgets.
type Counter interface {
	// Add adds s.N to what is counted for its length, start and class.
	Add(ctx context.Context, s Slot) error
	// Load gives the slots of a length that start at since or later.
	Load(ctx context.Context, length time.Duration, since time.Time) ([]Slot, error)
}

// Budget pays for requests. Its windows slide: in no minute and in no 24 hours
// is more spent than allowed. It may be used by several goroutines.
type Budget struct {
	windows []window
	counter Counter
	now     func() time.Time
	mu      sync.Mutex // between looking and counting
}

type window struct {
	name  string
	whole time.Duration
	slot  time.Duration
	limit int
}

// NewBudget makes a budget that counts in c by the clock now.
func NewBudget(l Limits, c Counter, now func() time.Time) *Budget {
	b := &Budget{counter: c, now: now}
	if l.PerMinute > 0 {
		b.windows = append(b.windows, window{"minute", time.Minute, 10 * time.Second, l.PerMinute})
	}
	if l.PerDay > 0 {
		b.windows = append(b.windows, window{"day", 24 * time.Hour, time.Hour, l.PerDay})
	}
	return b
}

// Used gives how many requests were sent in the last minute and the last 24
// hours, of all classes; zero where there is no limit to count for.
func (b *Budget) Used(ctx context.Context) (minute, day int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, w := range b.windows {
		slots, err := b.load(ctx, w, now)
		if err != nil {
			return 0, 0, err
		}
		if w.whole == time.Minute {
			minute = sum(slots)
		} else {
			day = sum(slots)
		}
	}
	return minute, day, nil
}

// take counts one request, or refuses it with the time after which it will pass.
func (b *Budget) take(ctx context.Context, c Class) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if c != Act {
		for _, w := range b.windows {
			slots, err := b.load(ctx, w, now)
			if err != nil {
				return &fleet.Error{Op: "request budget", Kind: fleet.Transient, Err: fmt.Errorf("counts could not be read: %w", err)}
			}
			if wait := w.wait(slots, c, now); wait > 0 {
				return &fleet.Error{
					Op: "request budget", Kind: fleet.RateLimited, RetryAfter: wait,
					Err: fmt.Errorf("our own limit of %d requests a %s has no room for this; nothing was sent", w.limit, w.name),
				}
			}
		}
	}
	for _, w := range b.windows {
		err := b.counter.Add(ctx, Slot{Length: w.slot, Start: now.Truncate(w.slot), Class: c, N: 1})
		if err != nil && c != Act {
			return &fleet.Error{Op: "request budget", Kind: fleet.Transient, Err: fmt.Errorf("request could not be counted: %w", err)}
		}
	}
	return nil
}

// load gives the slots that any part of the window ending now may lie in. Slots
// of the future are from a clock that was wrong.
func (b *Budget) load(ctx context.Context, w window, now time.Time) ([]Slot, error) {
	oldest := now.Add(-w.whole)
	slots, err := b.counter.Load(ctx, w.slot, oldest.Truncate(w.slot))
	if err != nil {
		return nil, err
	}
	slots = slices.DeleteFunc(slots, func(s Slot) bool {
		return !s.Start.Add(w.slot).After(oldest) || s.Start.After(now)
	})
	slices.SortFunc(slots, func(a, b Slot) int { return a.Start.Compare(b.Start) })
	return slots, nil
}

// wait is how long until the window has room for one more request of the class;
// zero is now.
func (w window) wait(slots []Slot, c Class, now time.Time) time.Duration {
	if c == Hunt {
		own := slices.DeleteFunc(slices.Clone(slots), func(s Slot) bool { return s.Class != Hunt })
		return max(w.until(own, huntShare, now), w.until(slots, huntYields, now))
	}
	return w.until(slots, observeShare, now)
}

func (w window) until(slots []Slot, percent int, now time.Time) time.Duration {
	room := max(1, w.limit*percent/100)
	n := sum(slots)
	for _, s := range slots {
		if n < room {
			return 0
		}
		if n -= s.N; n < room {
			return s.Start.Add(w.slot + w.whole).Sub(now)
		}
	}
	return 0
}

func sum(slots []Slot) int {
	n := 0
	for _, s := range slots {
		n += s.N
	}
	return n
}

// MemoryCounter counts in memory.
type MemoryCounter struct {
	mu    sync.Mutex
	slots []Slot
}

// NewMemoryCounter makes an empty counter.
func NewMemoryCounter() *MemoryCounter { return &MemoryCounter{} }

// Add adds to a slot and forgets those that no window reaches any more.
func (m *MemoryCounter) Add(_ context.Context, s Slot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slots = slices.DeleteFunc(m.slots, func(o Slot) bool {
		return o.Start.Before(s.Start.Add(-25*time.Hour)) || (o.Length < time.Minute && o.Start.Before(s.Start.Add(-2*time.Minute)))
	})
	for i, o := range m.slots {
		if o.Length == s.Length && o.Class == s.Class && o.Start.Equal(s.Start) {
			m.slots[i].N += s.N
			return nil
		}
	}
	m.slots = append(m.slots, s)
	return nil
}

// Load gives the slots, oldest first.
func (m *MemoryCounter) Load(_ context.Context, length time.Duration, since time.Time) ([]Slot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Slot
	for _, s := range m.slots {
		if s.Length == length && !s.Start.Before(since) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Slot) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Class, b.Class))
	})
	return out, nil
}
