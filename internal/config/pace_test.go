package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/notify"
)

func TestPaceQuietHoursAndOtherWays(t *testing.T) {
	const head = "timezone: Asia/Shanghai\naccounts: [{name: a, provider: sim}]\nnotify:\n  channels: [{name: wx, type: console}, {name: mail, type: console}]\n"
	c := parsed(t, head)
	if want := (notify.Pace{Wait: 30 * time.Second, Interval: 5 * time.Minute}); c.Notify.Pace != want {
		t.Errorf("where nothing is said the pace is %+v", c.Notify.Pace)
	}
	if _, quiet := c.Notify.Quiet.Until(time.Date(2026, 11, 30, 19, 0, 0, 0, time.UTC)); quiet {
		t.Error("where nothing is said there are quiet hours")
	}
	c = parsed(t, head+`  group: off
  quiet_hours: {from: "23:00", to: "08:30"}
  routes:
    - {to: wx, fallback: [mail], escalate: {after: 20m, to: mail}}
`)
	if c.Notify.Pace != (notify.Pace{}) {
		t.Errorf("off is %+v", c.Notify.Pace)
	}
	want := notify.QuietHours{From: 23 * time.Hour, To: 8*time.Hour + 30*time.Minute, Zone: c.Timezone}
	if diff := cmp.Diff(want, c.Notify.Quiet, cmpopts.IgnoreFields(notify.QuietHours{}, "Zone")); diff != "" || c.Notify.Quiet.Zone != c.Timezone {
		t.Errorf("quiet hours (-want +got):\n%s", diff)
	}
	routes := []notify.Route{{To: []string{"wx"}, Fallback: []string{"mail"}, Escalate: notify.Escalation{After: 20 * time.Minute, To: []string{"mail"}}}}
	if diff := cmp.Diff(routes, c.Notify.Routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}
