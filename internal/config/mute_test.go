package config

import (
	"testing"
	"time"

	"curfew/fleet"
)

func TestWhatIsMuted(t *testing.T) {
	c := parsed(t, `timezone: Asia/Shanghai
accounts: [{name: a, provider: sim}]
signals: [{type: sim}]
policies:
  - {name: night, type: lifetime, match: all, max: 8h, then: stop}
  - {name: day, type: lifetime, match: all, max: 9h, then: stop}
notify:
  channels: [{name: wx, type: console}]
  mute:
    - {policy: night, match: {name: "exp-*"}, until: 2026-12-24}
    - {policy: [day], category: [money, health]}
`)
	of := func(policy string, s fleet.Severity, c fleet.Category) fleet.Finding {
		return fleet.Finding{Policy: policy, Severity: s, Category: c}
	}
	eve := time.Date(2026, 12, 24, 15, 59, 59, 0, time.UTC) // the last second of that day in Shanghai
	for _, x := range []struct {
		what string
		f    fleet.Finding
		name string
		at   time.Time
		want bool
	}{
		{"what is meant", of("night", fleet.Warning, fleet.CategoryHealth), "exp-1", eve, true},
		{"the day is over", of("night", fleet.Warning, fleet.CategoryHealth), "exp-1", eve.Add(time.Second), false},
		{"another name", of("night", fleet.Warning, fleet.CategoryHealth), "prod", eve, false},
		{"of curfew's own", of("", fleet.Warning, fleet.CategoryHealth), "exp-1", eve, false},
		{"critical", of("night", fleet.Critical, fleet.CategoryHealth), "exp-1", eve, false},
		{"money that is not named", of("night", fleet.Warning, fleet.CategoryMoney), "exp-1", eve, false},
		{"money that is", of("day", fleet.Info, fleet.CategoryMoney), "prod", eve.AddDate(1, 0, 0), true},
		{"critical money", of("day", fleet.Critical, fleet.CategoryMoney), "prod", eve, false},
		{"another category", of("day", fleet.Info, fleet.CategoryStock), "prod", eve, false},
	} {
		got := false
		for _, m := range c.Notify.Mute {
			got = got || m.Mutes(x.f, fleet.Instance{Name: x.name}, x.at)
		}
		if got != x.want {
			t.Errorf("%s: muted is %t", x.what, got)
		}
	}
	if unread := (fleet.Instance{Name: "exp-1", Unread: []string{"name"}}); c.Notify.Mute[0].Mutes(of("night", fleet.Warning, fleet.CategoryHealth), unread, eve) {
		t.Error("what may not be meant is muted")
	}
}
