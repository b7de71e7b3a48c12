package notify_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
)

// limited makes a Sender over one channel, lab, with these limits.
func limited(t *testing.T, o notify.Outbox, c notify.Channel, perMinute, perDay int) *notify.Sender {
	options := senderOptions(t, o, perMinute, map[string]notify.Channel{"lab": c})
	open := options.Channels["lab"]
	open.Kind.PerDay = perDay
	options.Channels["lab"] = open
	return notify.NewSender(options)
}

func TestADaysQuotaIsKeptAndAShareOfItIsForWhatIsUrgent(t *testing.T) {
	for name, perMinute := range map[string]int{"beside a minute's quota": 2, "alone": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const perDay, notices = 8, 20
				o := notifytest.NewOutbox(t)
				var at []time.Time
				c := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
					at = append(at, time.Now())
					return notify.Verdict{Kind: notify.VerdictOK}
				}}
				for range notices {
					o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Warning, fleet.CategoryHealth)})
				}
				s := limited(t, o, c, perMinute, perDay)
				began := time.Now()
				for next := flush(t, s); next.Sub(began) <= time.Hour; next = flush(t, s) {
					time.Sleep(time.Until(next))
				}
				time.Sleep(2 * time.Hour)
				flush(t, s) // oftener than asked for
				if len(at) != perDay*3/4 {
					t.Errorf("%d ordinary messages in the first hours, want %d", len(at), perDay*3/4)
				}
				o.Add(notify.Delivery{ID: 100, Channel: "lab", NextAt: time.Now(), Notice: notify.Notice{Event: notify.EventPending, Intent: intent(fleet.Stop)}})
				before := time.Now()
				flush(t, s)
				if wait := o.Row(100).AcceptedAt.Sub(before); wait != 0 {
					t.Errorf("an announcement waited %v behind the day's quota", wait)
				}
				drain(t, s)
				if o.Left() != 0 {
					t.Errorf("%d messages are left", o.Left())
				}
				for i := perDay; i < len(at); i++ {
					if at[i].Sub(at[i-perDay]) < 24*time.Hour {
						t.Errorf("messages %d to %d fell into one day", i-perDay, i)
					}
				}
			})
		})
	}
}
