package observe

import (
	"errors"
	"time"

	"curfew/fleet"
)

// The longest pauses after failed polls in a row.
const (
	longestPause = 15 * time.Minute
	bannedPause  = time.Hour
)

// Backoff is the pause after so many failed polls in a row: the usual one,
// doubled each time up to a quarter of an hour; what the platform asked for is a
// lower bound, and a ban makes it an hour.
func Backoff(usual time.Duration, failures int, err error) time.Duration {
	pause := max(usual, min(usual<<min(max(failures-1, 0), 10), longestPause))
	if e, ok := errors.AsType[*fleet.Error](err); ok {
		pause = max(pause, e.RetryAfter)
		if e.Kind == fleet.Banned {
			pause = max(pause, bannedPause)
		}
	}
	return pause
}
