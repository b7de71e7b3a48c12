package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/policies"
)

// policyOf parses the one policy of a file that is otherwise in order.
func policyOf(t *testing.T, top, keys string) Policy {
	t.Helper()
	c, err := Parse("c.yaml", []byte(top+"accounts: [{name: a, provider: autodl, token: {env: T}}]\npolicies:\n- {name: p, match: all, "+keys+"}\n"), registry())
	if err != nil {
		t.Fatal(err)
	}
	return c.Policies[0]
}

func TestWhatAPolicyIsWhereNothingElseIsSaid(t *testing.T) {
	common := policies.Common{Name: "p", Terms: fleet.Terms{Mode: fleet.DryRun, WarnStop: 10 * time.Minute, WarnDestroy: 24 * time.Hour, Cooldown: 10 * time.Minute}}
	const ssh = "signals: [{type: ssh}]\n"
	for _, c := range []struct {
		name, top, keys string
		want            policies.Policy
		samples         time.Duration
	}{
		{"idle", ssh, "type: idle, for: 1h, then: stop", policies.Idle{
			Common: common, For: time.Hour, GPUBelow: 5, LoadBelow: 0.5, SessionIdleMax: 30 * time.Minute,
			MemoryIdleMax: 2 * time.Hour, BootGrace: 15 * time.Minute, Then: fleet.Stop,
		}, 2*time.Hour + 15*time.Minute + 70*time.Second},
		{"idle follows what the signals call busy", "signals: [{type: ssh, busy_above: 2.5%}, {type: sim, session_idle_max: 50m}]\n", "type: idle, for: 3h, then: stop, vram_idle_max: off", policies.Idle{
			Common: common, For: 3 * time.Hour, GPUBelow: 2.5, LoadBelow: 0.5, SessionIdleMax: 50 * time.Minute,
			IgnoreMemory: true, BootGrace: 15 * time.Minute, Then: fleet.Stop,
		}, 3*time.Hour + 15*time.Minute + 70*time.Second},
		{"offhours waits as long as its window allows", ssh, `type: offhours, schedule: "0 2 * * *", window: 4h, then: stop`, policies.OffHours{
			Common: common, Window: 4 * time.Hour, IfBusy: policies.IfBusyWait, Then: fleet.Stop,
		}, 0},
		{"offhours gives half an hour before it forces, and needs no looks for that", "", `type: offhours, schedule: "0 2 * * *", window: 4h, if_busy: force, then: stop`, policies.OffHours{
			Common: common, Window: 4 * time.Hour, IfBusy: policies.IfBusyForce, WaitMax: 30 * time.Minute, Then: fleet.Stop,
		}, 0},
		{"lifetime needs no looks", "", "type: lifetime, max: 8h, then: stop", policies.Lifetime{Common: common, Max: 8 * time.Hour, Then: fleet.Stop}, 0},
		{"expiry reminds, and boots nothing", "", "type: expiry", policies.Expiry{
			Common: common, Remind: []time.Duration{7 * 24 * time.Hour, 72 * time.Hour, 24 * time.Hour, 3 * time.Hour},
		}, 0},
		{"expiry boots two days before, for three minutes", "", "type: expiry, keepalive: {}", policies.Expiry{
			Common: withoutGPU(common), Remind: []time.Duration{7 * 24 * time.Hour, 72 * time.Hour, 24 * time.Hour, 3 * time.Hour},
			KeepAlive: &policies.KeepAlive{Before: 48 * time.Hour, For: 3 * time.Minute},
		}, 70 * time.Minute},
		{"orphans only tells", "", "type: orphans", policies.Orphans{
			Common: common, Kinds: []fleet.ThingKind{fleet.KindDisk, fleet.KindPublicIP, fleet.KindInstance}, UnusedFor: 24 * time.Hour,
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := policyOf(t, c.top, c.keys)
			if diff := cmp.Diff(c.want, p.Policy, cmpopts.IgnoreFields(policies.Common{}, "Match"), cmpopts.IgnoreFields(policies.OffHours{}, "Holiday")); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
			if p.Samples != c.samples || p.Rule != nil || p.Pattern != nil || p.Ask != nil || p.Match == nil {
				t.Errorf("looks back %s, want %s: %+v", p.Samples, c.samples, p)
			}
		})
	}
}

func withoutGPU(c policies.Common) policies.Common {
	c.Terms.NoGPU = true
	return c
}

func TestEverythingThatTheOtherTypesCanSay(t *testing.T) {
	c := load(t, "testdata/ok/everything.yaml")
	zone := c.Timezone
	ignore := cmp.Options{cmpopts.IgnoreFields(policies.Common{}, "Match", "Terms"), cmpopts.IgnoreFields(policies.OffHours{}, "Holiday")}
	want := []policies.Policy{
		policies.Idle{
			Common: policies.Common{Name: "unused"}, For: 2 * time.Hour, GPUBelow: 3, LoadBelow: 0.25,
			SessionIdleMax: 90 * time.Minute, IgnoreMemory: true, Then: fleet.Release,
		},
		policies.OffHours{Common: policies.Common{Name: "night"}, Window: 6 * time.Hour, IfBusy: policies.IfBusyForce, WaitMax: time.Hour, Then: fleet.Stop},
		policies.Lifetime{Common: policies.Common{Name: "limit"}, Max: 72 * time.Hour, Then: fleet.Stop},
	}
	for n, p := range c.Policies[2 : 2+len(want)] {
		if diff := cmp.Diff(want[n], p.Policy, ignore); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
	}
	night, ok := c.Policies[3].Policy.(policies.OffHours)
	if !ok {
		t.Fatalf("night is a %T", c.Policies[3].Policy)
	}
	for day, want := range map[int]bool{30: false, 31: true, 32: true, 33: false} {
		// In UTC this is still the day before.
		tick := time.Date(2026, 9, day, 0, 30, 0, 0, zone)
		if got := night.Holiday(tick.UTC()); got != want {
			t.Errorf("%s is a holiday: %v, want %v", tick, got, want)
		}
	}
}

func TestR73WhatIsNotSaidHasADefaultThatIsTold(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"type: idle, for: 1h, then: stop", "then stop; for 1h; gpu_below 5% (default); cpu_below 0.5 (default); session_idle_max 30m (default); " +
			"vram_idle_max 2h (default); boot_grace 15m (default)"},
		{"type: idle, for: 1h, then: stop, vram_idle_max: off, boot_grace: off", "then stop; for 1h; gpu_below 5% (default); cpu_below 0.5 (default); " +
			"session_idle_max 30m (default); vram_idle_max off; boot_grace off"},
		{`type: offhours, schedule: "0 2 * * *", window: 4h, then: stop`, "then stop; schedule 0 2 * * *; window 4h; if_busy wait (default)"},
		{`type: offhours, schedule: "0 2 * * *", window: 4h, if_busy: force, holidays: 2026-10-01, then: stop`,
			"then stop; schedule 0 2 * * *; window 4h; if_busy force; wait_max 30m (default); holidays 2026-10-01"},
		{"type: lifetime, max: 8h, then: stop", "then stop; max 8h"},
	} {
		var told []string
		for _, e := range policyOf(t, "signals: [{type: ssh}]\n", c.keys).Explain {
			if slices.Contains([]string{"mode", "warn.stop", "warn.release", "cooldown", "approval"}, e.Key) {
				continue
			}
			word := e.Key + " " + e.Value
			if e.From == FromDefault {
				word += " (default)"
			}
			told = append(told, word)
		}
		if got := strings.Join(told, "; "); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.keys, got, c.want)
		}
	}
}

// wallClock is what the clock of a zone shows, as a number that grows with it.
func wallClock(t time.Time) int64 {
	year, month, day := t.Date()
	hour, minute, _ := t.Clock()
	return ((int64(year)*100+int64(month))*100+int64(day))*10000 + int64(hour)*100 + int64(minute)
}

// firstShown is the first minute at which the zone's clock shows the hour and
// minute of a date or later, found by reading the clock minute by minute.
func firstShown(zone *time.Location, date time.Time, hour, minute int) time.Time {
	want := wallClock(time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, time.UTC))
	at := time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, zone).Add(-3 * time.Hour).UTC()
	for ; wallClock(at.In(zone)) < want; at = at.Add(time.Minute) {
	}
	return at
}

// TestOffHoursAgainstACalendar asks offhours policies around every date of five
// years in six zones, and compares with the clock on the wall read minute by
// minute: it wishes from the first minute at which the clock shows the time or
// later, once a date, until the last call, and at no other time.
func TestOffHoursAgainstACalendar(t *testing.T) {
	i := fleet.Instance{
		Ref: fleet.Ref{Account: "a", Kind: fleet.KindInstance, ID: "i"}, Boot: "b", State: fleet.StateRunning,
		StartedAt: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), OnStop: fleet.OnStop{KeepsData: fleet.KeepsAll},
	}
	idle := map[fleet.Ref]fleet.Judgement{i.Ref: {Activity: fleet.Idle, Boot: "b"}}
	for _, c := range []struct {
		name           string
		zone, schedule string
		hour, minute   int
		window         time.Duration
		on             func(time.Weekday) bool
	}{
		{"R77 midnight is the beginning of a day", "Asia/Shanghai", "0 0 * * *", 0, 0, 6 * time.Hour, nil},
		{"R91 a time that is skipped or comes twice is one tick", "Europe/Berlin", "30 2 * * *", 2, 30, 4 * time.Hour, nil},
		{"R70 weekdays are what the schedule says", "America/New_York", "30 1 * * 1-5", 1, 30, 3 * time.Hour, func(d time.Weekday) bool { return d != time.Saturday && d != time.Sunday }},
		{"R76 clocks that change by half an hour", "Australia/Lord_Howe", "15 2 * * *", 2, 15, time.Hour, nil},
		{"R92 a midnight that does not exist", "America/Santiago", "0 0 * * 0,6", 0, 0, 20 * time.Hour, func(d time.Weekday) bool { return d == time.Saturday || d == time.Sunday }},
		{"R92 a midnight that does not exist, and a window of almost a day", "Africa/Cairo", "0 0 * * *", 0, 0, 22 * time.Hour, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			p := policyOf(t, "timezone: "+c.zone+"\nsignals: [{type: ssh}]\n", fmt.Sprintf(
				`type: offhours, schedule: "%s", window: %s, then: stop, holidays: [2024-10-01, 2025-12-25, 2026-03-29, 2027-01-01, 2028-02-29]`, c.schedule, c.window))
			holidays := map[string]bool{"2024-10-01": true, "2025-12-25": true, "2026-03-29": true, "2027-01-01": true, "2028-02-29": true}
			lastCall := c.window - 10*time.Minute
			wishes, off := 0, 0
			ask := func(now time.Time, want bool, why string) {
				t.Helper()
				due, opens := p.Window.At(now)
				got := p.Policy.Decide(policies.View{
					Now: now, Due: due, Opens: opens, Things: policies.Things{Instances: []fleet.Instance{i}}, Activity: idle,
				})
				if len(got.Verdicts) != 1 || (got.Verdicts[0].Goal == fleet.Stop) != want {
					t.Fatalf("%s (%s), %s: %+v, want a stop: %v", now.In(zone), now.UTC(), why, got.Verdicts, want)
				}
				if want {
					wishes++
				}
			}
			end := time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)
			for date := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC); date.Before(end); date = date.AddDate(0, 0, 1) {
				tick := firstShown(zone, date, c.hour, c.minute)
				on := (c.on == nil || c.on(date.Weekday())) && !holidays[date.Format(time.DateOnly)]
				if !on {
					off++
				}
				if got := p.Window.Schedule.Prev(tick); c.on == nil && !got.Equal(tick) {
					t.Fatalf("the tick of %s is %s, want %s", date.Format(time.DateOnly), got, tick.In(zone))
				}
				ask(tick, on, "at the tick")
				ask(tick.Add(lastCall/2+7*time.Second), on, "inside")
				ask(tick.Add(lastCall-time.Nanosecond), on, "just before the last call")
				ask(tick.Add(lastCall), false, "at the last call")
				ask(tick.Add(c.window), false, "at the end")
				ask(tick.Add(-time.Nanosecond), false, "just before the tick")
				ask(tick.Add(-30*time.Minute), false, "half an hour before the tick")
			}
			if wishes == 0 || off == 0 {
				t.Errorf("%d wishes and %d dates off: nothing was proven", wishes, off)
			}
		})
	}
}
