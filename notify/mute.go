package notify

import (
	"slices"
	"time"

	"curfew/fleet"
)

// Mute says what is noted when it is found, and not told.
type Mute struct {
	// Policies are the names of those that found it; none: whoever did.
	Policies []string
	// Match says what it must be about; nil: anything. What it cannot tell of is told.
	Match func(fleet.Instance) (bool, error)
	// Categories are what it must be of; none: any but money.
	Categories []fleet.Category
	Until      time.Time // zero: for as long as the configuration says so
}

// Mutes reports whether a finding about a subject is not told. What is critical always
// is, and so is money where it is not named.
func (m Mute) Mutes(f fleet.Finding, about fleet.Instance, now time.Time) bool {
	switch {
	case f.Severity == fleet.Critical || !m.Until.IsZero() && !now.Before(m.Until):
		return false
	case f.Category == fleet.CategoryMoney && !slices.Contains(m.Categories, f.Category):
		return false
	case len(m.Categories) > 0 && !slices.Contains(m.Categories, f.Category):
		return false
	case len(m.Policies) > 0 && !slices.Contains(m.Policies, f.Policy):
		return false
	case m.Match == nil:
		return true
	}
	meant, err := m.Match(about)
	return meant && err == nil
}
