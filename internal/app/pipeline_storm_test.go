package app

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/autodlpush"
	"curfew/notify/dingtalk"
	"curfew/notify/wecom"
)

// most is the most messages that came within any time of this length.
func (c *chat) most(window time.Duration) int {
	most, first := 0, 0
	for n, m := range c.took {
		for !c.took[first].at.Add(window).After(m.at) {
			first++
		}
		most = max(most, n-first+1)
	}
	return most
}

// first gives when each notice was first taken, by its key.
func (c *chat) first() map[string]time.Time {
	out := map[string]time.Time{}
	for _, m := range c.took {
		for _, n := range m.Notices {
			if _, ok := out[n.Key]; !ok {
				out[n.Key] = m.at
			}
		}
	}
	return out
}

// smallQuotas are channels with the limits of real platforms, and chats behind them.
func smallQuotas(t *testing.T) *post {
	p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
	for _, k := range []notify.Kind{wecom.Kind(), autodlpush.Kind(), dingtalk.Kind()} {
		k.Credentials, k.Settings, k.NoSecrets = nil, nil, true
		k.Open = func(o notify.Options) (notify.Channel, error) { return p.chat(o.Name), nil }
		p.kinds = append(p.kinds, k)
	}
	if err := p.app.Close(); err != nil {
		t.Fatal(err)
	}
	p.configure(`
  channels: [{name: wx, type: wecom}, {name: push, type: autodlpush}, {name: ding, type: dingtalk}]
`)
	p.begin()
	return p
}

// run lets the sender work as the daemon's postman does.
func (p *post) send(d time.Duration) {
	p.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		next, err := p.app.deliver(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(min(p.app.restUntil(next), time.Until(end)))
	}
}

func failed(n int, s fleet.Severity, c fleet.Category) notify.Notice {
	i := fleet.Intent{Action: fleet.Stop, Subject: fleet.Instance{Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: fmt.Sprint("i-", n)}}}
	return notify.Notice{Key: fmt.Sprint("failed|", n, "|", s, "|", c), Event: notify.EventAlarm, Severity: s, Category: c, Intent: &i, Reason: fleet.Because("odd", nil)}
}

// TestAThousandFailuresInAnHour lets a thousand instances fail at once, and then the acts
// on many of them, one after the other, within the hour.
func TestAThousandFailuresInAnHour(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := smallQuotas(t)
		began := time.Now()
		queued := map[string]time.Time{}
		tell := func(n notify.Notice) {
			p.tell(n)
			queued[n.Key] = time.Now()
		}
		for n := range 1000 {
			f := findingOn(fmt.Sprint("i-", n), fleet.Warning, fleet.CategoryHealth)
			tell(notify.Notice{Key: keyOf(f), Event: notify.EventFinding, Severity: f.Severity, Category: f.Category, Subject: fleet.Instance{Ref: f.Ref}, Reason: f.Reason})
		}
		p.send(time.Minute)
		for name, c := range p.chats {
			if len(c.took) != 1 || len(c.took[0].Notices) != 1000 || c.took[0].at.Sub(began) > 40*time.Second {
				t.Errorf("%s took %d messages, want one that tells all of it, in time", name, len(c.took))
			}
		}
		var urgent []string
		for n := range 360 {
			tell(failed(n, fleet.Warning, fleet.CategoryAct))
			if n%36 == 18 {
				for _, u := range []notify.Notice{failed(n, fleet.Critical, fleet.CategoryHealth), failed(n, fleet.Warning, fleet.CategoryMoney)} {
					tell(u)
					urgent = append(urgent, u.Key)
				}
			}
			p.send(10 * time.Second)
		}
		p.send(25 * time.Hour)
		limits := map[string][2]int{"wx": {20, 0}, "ding": {20, 0}, "push": {5, 50}} // of a minute and of a day
		for name, limit := range limits {
			c := p.chat(name)
			if got := c.most(time.Minute); got > limit[0] {
				t.Errorf("%s took %d messages in a minute, and takes %d", name, got, limit[0])
			}
			if got := c.most(24 * time.Hour); limit[1] > 0 && got > limit[1] {
				t.Errorf("%s took %d messages in a day, and takes %d", name, got, limit[1])
			}
			heard := c.first()
			for _, key := range slices.Sorted(maps.Keys(queued)) {
				if _, ok := heard[key]; !ok {
					t.Errorf("%s never heard of %s", name, key)
				}
			}
			var slowest time.Duration
			for _, key := range urgent {
				slowest = max(slowest, heard[key].Sub(queued[key]))
			}
			if slowest > time.Minute {
				t.Errorf("%s heard of something urgent after %s", name, slowest)
			}
			t.Logf("%s took %d messages; what is urgent came within %s", name, len(c.took), slowest)
		}
	})
}

// TestADaemonKilledInTheMiddleOfItsMessages kills the daemon again and again, before and
// after commits, while it sends five hundred notices, half of them in groups.
func TestADaemonKilledInTheMiddleOfItsMessages(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := newPost(t, twoChats+"  group: off\n")
		told := 0
		tell := func(group string) {
			one := failed(told, fleet.Warning, fleet.CategoryAct)
			if one.Group = group; group == "" {
				one.Event = notify.EventTest
			}
			p.tell(one)
			told++
		}
		for n := range 500 {
			group := ""
			if n%2 == 0 {
				group = fmt.Sprint("g", n%60)
			}
			tell(group)
		}
		p.cancel = func() {}
		kills := 0
		for moments := 0; ; {
			p.kill = func() bool {
				moments++
				return moments%23 == 7
			}
			_, err := p.app.runtime().sender.Flush(t.Context())
			p.kill = nil
			if err == nil {
				break
			}
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			p.dead = false
			p.again()
			if kills++; kills < 40 { // more of the same groups comes meanwhile
				tell(fmt.Sprint("g", kills%60))
			}
		}
		if kills < 20 {
			t.Fatalf("the daemon was killed %d times", kills)
		}
		for name, c := range p.chats {
			p.onceUnderItsID(name, c, told)
		}
	})
}

// onceUnderItsID asks whether each notice arrived, and once at a platform that drops a
// message whose id it knows.
func (p *post) onceUnderItsID(name string, c *chat, told int) {
	p.t.Helper()
	times, ids := map[string]int{}, map[string]bool{}
	for _, m := range c.took {
		id := m.UniqueID(name)
		if ids[id] {
			continue
		}
		ids[id] = true
		for _, n := range m.Notices {
			times[n.Key]++
		}
	}
	if len(times) != told {
		p.t.Errorf("%s heard of %d of %d notices", name, len(times), told)
	}
	for key, n := range times {
		if n != 1 {
			p.t.Errorf("%s: %s arrived %d times under different ids", name, key, n)
		}
	}
	if len(ids) == len(c.took) {
		p.t.Errorf("%s: no message was sent twice; nobody was killed between send and record", name)
	}
}
