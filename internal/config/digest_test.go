package config

import (
	"strings"
	"testing"
	"time"

	"curfew/internal/sched"
)

func TestTheDigestIsToldByTheClockOfTheFile(t *testing.T) {
	c := load(t, "testdata/design.yaml")
	if c.Notify.Digest == nil {
		t.Fatal("there is none")
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, c.Timezone)
	if got, want := c.Notify.Digest.Next(now), time.Date(2026, 12, 1, 9, 0, 0, 0, c.Timezone); !got.Equal(want) {
		t.Errorf("the next is at %s, want %s", got, want)
	}
	if c := load(t, "testdata/ok/smallest.yaml"); c.Notify.Digest != nil {
		t.Errorf("nobody asked for %s", c.Notify.Digest)
	}
}

func TestEachDigestHasItsOwnTime(t *testing.T) {
	c := load(t, "testdata/ok/everything.yaml")
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, c.Timezone) // a Tuesday
	for _, d := range []struct {
		name string
		of   *sched.Schedule
		want time.Time
	}{
		{"daily", c.Notify.Digest, time.Date(2026, 12, 2, 9, 0, 0, 0, c.Timezone)},
		{"weekly", c.Notify.Weekly, time.Date(2026, 12, 7, 9, 0, 0, 0, c.Timezone)},
		{"sheet", c.Notify.Sheet, time.Date(2027, 1, 1, 9, 0, 0, 0, c.Timezone)},
	} {
		if got := d.of.Next(now); !got.Equal(d.want) {
			t.Errorf("the next of %s is at %s, want %s", d.name, got, d.want)
		}
	}
	if c := load(t, "testdata/design.yaml"); c.Notify.Weekly != nil || c.Notify.Sheet != nil {
		t.Errorf("nobody asked for %s or %s", c.Notify.Weekly, c.Notify.Sheet)
	}
	if want := (HoldLimits{Max: 12 * time.Hour, Total: 48 * time.Hour}); c.Hold != want {
		t.Errorf("holds last %+v, want %+v", c.Hold, want)
	}
	if c := load(t, "testdata/ok/smallest.yaml"); c.Hold != (HoldLimits{}) {
		t.Errorf("nobody limited holds to %+v", c.Hold)
	}
}

func TestADigestThatWouldReachNobodyIsRefused(t *testing.T) {
	const head = "timezone: Asia/Shanghai\naccounts: [{name: a, provider: sim}]\nnotify:\n"
	const one = "  channels: [{name: wx, type: console}]\n"
	const loud = "  channels: [{name: wx, type: console, min_severity: warning}, {name: me, type: console}]\n"
	for _, c := range []struct{ name, notify, want string }{
		{"off is none", one + "  digest: off\n", ""},
		{"five fields", one + "  digest: \"0 9 * * 1-5\"\n", ""},
		{"a block", one + "  digest: {daily: \"0 9 * * *\", weekly: \"0 9 * * 1\", sheet: \"0 9 1 * *\"}\n", ""},
		{"a block whose daily one is off", one + "  digest: {daily: off, weekly: \"0 9 * * 1\"}\n", ""},
		{
			"a weekly one that no channel takes", loud + "  routes: [{to: wx}]\n  digest:\n    weekly: \"0 9 * * 1\"\n",
			"c.yaml:7:13: notify.digest.weekly: reaches nobody: no channel it goes to takes info; lower min_severity of one, or add a route {category: digest, to: CHANNEL}",
		},
		{"a shorthand", one + "  digest: \"@daily\"\n", ""},
		{"a route of its own", loud + "  routes: [{category: digest, to: me}, {to: wx}]\n  digest: \"0 9 * * *\"\n", ""},
		{"one channel of two takes it", loud + "  digest: \"0 9 * * *\"\n", ""},
		{
			"an hour that no day has", one + "  digest: \"0 25 * * *\"\n",
			`c.yaml:5:11: notify.digest: "0 25 * * *" is not a schedule (end of range (25) above maximum (23): 25); write five fields, such as "0 2 * * *"`,
		},
		{
			"every so often", one + "  digest: \"@every 6h\"\n",
			`c.yaml:5:11: notify.digest: is no time of day; write five fields, such as "0 9 * * *", or off`,
		},
		{
			"a list", one + "  digest: [\"0 9 * * *\"]\n",
			"c.yaml:5:11: notify.digest: is a list; write a single value",
		},
		{
			"no channel", "  digest: \"0 9 * * *\"\n",
			"c.yaml:4:11: notify.digest: has no channel to go to; add one under notify.channels, or leave the digest out",
		},
		{
			"channels that take less only", loud + "  routes: [{to: wx}]\n  digest: \"0 9 * * *\"\n",
			"c.yaml:6:11: notify.digest: reaches nobody: no channel it goes to takes info; lower min_severity of one, or add a route {category: digest, to: CHANNEL}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("c.yaml", []byte(head+c.notify), registry())
			if c.want != "" {
				if err == nil || err.Error() != c.want {
					t.Errorf("error %v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if off := strings.Contains(c.notify, "off"); off != (cfg.Notify.Digest == nil) {
				t.Errorf("digest %v", cfg.Notify.Digest)
			}
		})
	}
}
