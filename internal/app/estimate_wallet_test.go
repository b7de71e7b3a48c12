package app

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/policies"
)

func TestForHowLongAWalletLasts(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	read := func(ago time.Duration, cash int64) []policies.Reading {
		return []policies.Reading{{At: now.Add(-99 * time.Hour), SeenAt: now.Add(-ago), Cash: fleet.CNY(cash), Vouchers: fleet.CNY(1_000_000)}}
	}
	burn := fleet.Sums{fleet.CNY(2_000_000), {Micros: 9, Currency: "USD"}}
	for name, c := range map[string]struct {
		readings []policies.Reading
		burn     fleet.Sums
		want     time.Duration
		unknown  bool
	}{
		"cash and vouchers":          {readings: read(0, 9_000_000), burn: burn, want: 5 * time.Hour},
		"read some minutes ago":      {readings: read(20*time.Minute, 9_000_000), burn: burn, want: 4*time.Hour + 40*time.Minute},
		"empty":                      {readings: read(time.Minute, -1_000_000), burn: burn},
		"in debt":                    {readings: read(time.Minute, -5_000_000), burn: burn},
		"read too long ago":          {readings: read(31*time.Minute, 9_000_000), burn: burn, unknown: true},
		"never read":                 {burn: burn, unknown: true},
		"nothing costs anything":     {readings: read(0, 9_000_000), unknown: true},
		"what costs is of other pay": {readings: read(0, 9_000_000), burn: burn[1:], unknown: true},
		"it lasts for ever":          {readings: read(0, 1<<60), burn: fleet.Sums{fleet.CNY(1)}, unknown: true},
	} {
		p, ok := lasting(c.readings, c.burn, now)
		if ok == c.unknown || p.runway != c.want {
			t.Errorf("%s: %s (%v), want %s", name, p.runway, ok, c.want)
		}
	}
}
