package notify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/notifytest"
)

// about is a finding on one of many instances.
func about(n int, group string) notify.Notice {
	f := finding(fleet.Warning, fleet.CategoryHealth)
	f.Subject = box()
	f.Subject.Name, f.Subject.Ref.ID = fmt.Sprintf("exp-%d", n), fmt.Sprintf("pro-%d", n)
	f.Key, f.Thread, f.Group = f.Subject.Ref.ID, f.Subject.Ref.ID+"@1", group
	f.Reason = said("nobody can look inside")
	return f
}

func TestAFewNoticesAreToldWhole(t *testing.T) {
	m := notify.RenderGroup([]notify.Notice{about(1, "g"), about(2, "g")}, renderer(t, text.English), now)
	for _, want := range []string{"exp-1", "exp-2", "curfew explain exp-1", "curfew explain exp-2"} {
		if !strings.Contains(m.Plain, want) {
			t.Errorf("it does not say %q:\n%s", want, m.Plain)
		}
	}
	if !strings.HasPrefix(m.Title, "2 notices: ") {
		t.Errorf("its title is %q", m.Title)
	}
}

func TestAThousandNoticesAreOneMessageThatFits(t *testing.T) {
	var ns []notify.Notice
	for n := range 1000 {
		ns = append(ns, about(n, "g"))
	}
	ns[500].Severity, ns[500].Subject.Name = fleet.Critical, "the-one"
	ns[700].Subject.Price = hourly(80_000_000)
	for _, lang := range []text.Language{text.English, text.Chinese} {
		m := notify.RenderGroup(ns, renderer(t, lang), now)
		if len(m.Title)+1+len(m.Plain) > 2000 || len(notify.Escape(m.Title))+1+len(m.Markdown) > 4000 {
			t.Errorf("%s: %d bytes plain, %d with markup", lang, len(m.Plain), len(m.Markdown))
		}
		lines := strings.Split(m.Plain, "\n")
		if !strings.Contains(m.Title, "1000") || !strings.Contains(lines[1], "the-one") || !strings.Contains(lines[2], "exp-700") {
			t.Errorf("%s: what is worst and what is dearest does not come first:\n%s\n%s", lang, m.Title, m.Plain)
		}
		if !strings.Contains(lines[0], "2058.02") { // 999 at 1.98 and one at 80.00
			t.Errorf("%s: it does not say what all of them cost:\n%s", lang, lines[0])
		}
	}
}

func TestWhatOpenedAndIsOverIsOneLine(t *testing.T) {
	opened, over := about(1, "g"), about(1, "g")
	over.Key, over.Event, over.Severity, over.Reason = "", notify.EventResolved, fleet.Info, said("it can be looked at again")
	m := notify.RenderGroup([]notify.Notice{opened, over}, renderer(t, text.English), now)
	if !strings.HasSuffix(m.Title, "(over since)") || strings.Contains(m.Plain, "notices") {
		t.Errorf("%s\n%s", m.Title, m.Plain)
	}
	m = notify.RenderGroup([]notify.Notice{over, about(2, "g")}, renderer(t, text.English), now)
	if !strings.Contains(m.Plain, "Resolved") {
		t.Errorf("what opened before is not told to be over:\n%s", m.Plain)
	}
}

func TestADueGroupGoesInOneMessageAndCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{}
		for n := range 40 {
			o.Add(notify.Delivery{Channel: "lab", Notice: about(n, "g")})
		}
		o.Add(notify.Delivery{Channel: "lab", Notice: about(98, "another")}, notify.Delivery{Channel: "lab", Notice: about(99, "")}, notify.Delivery{Channel: "lab", Notice: about(100, "")})
		s := limited(t, o, c, 20, 0)
		flush(t, s)
		if len(c.sent) != 4 || o.Left() != 0 {
			t.Errorf("%d messages, %d left; want one for the group, and one for each of the others", len(c.sent), o.Left())
		}
		if spent, err := o.Sends(t.Context(), "lab", time.Time{}); err != nil || len(spent) != 4 {
			t.Errorf("%d messages are counted (%v)", len(spent), err)
		}
	})
}

func TestAGroupThatIsRefusedIsLostNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		first := true
		c := &channelFunc{answer: func(_ context.Context, m notify.Message) notify.Verdict {
			if first {
				first = false
				return notify.Verdict{Kind: notify.VerdictRetry, Code: "busy"}
			}
			if m.Markdown != "" {
				return notify.Verdict{Kind: notify.VerdictBadMessage, Code: "markup"}
			}
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		o.Add(notify.Delivery{Channel: "lab", Notice: about(1, "g")}, notify.Delivery{Channel: "lab", Notice: about(2, "g")})
		s := sender(t, o, 0, map[string]notify.Channel{"lab": c})
		flush(t, s)
		o.Add(notify.Delivery{Channel: "lab", NextAt: time.Now(), Notice: about(3, "g")})
		time.Sleep(time.Minute)
		flush(t, s)
		drain(t, s)
		for _, r := range o.Rows() {
			if r.AcceptedAt.IsZero() {
				t.Errorf("notice %d was never taken: %+v", r.ID, r.Verdicts)
			}
		}
		if ids := c.ids(); ids[0] == ids[1] {
			t.Errorf("another notice joined, and the message goes under the same id: %v", ids)
		}
	})
}

// The ids of platforms that tell one message from another stay the same for the same
// deliveries, in whatever order they come.
func TestTheSameGroupHasTheSameID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		tries := 0
		c := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
			if tries++; tries < 3 {
				return notify.Verdict{Kind: notify.VerdictRetry, Code: "busy"}
			}
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		for n := range 5 {
			o.Add(notify.Delivery{Channel: "lab", Notice: about(n, "g")})
		}
		s := sender(t, o, 0, map[string]notify.Channel{"lab": c})
		flush(t, s)
		drain(t, s)
		if ids := c.ids(); len(ids) != 3 || ids[0] != ids[1] || ids[1] != ids[2] {
			t.Errorf("attempts under %v", ids)
		}
	})
}

func TestTheQuotaOutlivesTheDaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		var at []time.Time
		c := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
			at = append(at, time.Now())
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		for n := range 30 {
			o.Add(notify.Delivery{Channel: "lab", Notice: about(n, "")})
		}
		for o.Left() > 0 { // a new daemon every time
			options := senderOptions(t, o, 0, map[string]notify.Channel{"lab": c})
			open := options.Channels["lab"]
			open.Kind.PerMonth = 8
			options.Channels["lab"] = open
			flush(t, notify.NewSender(options))
			time.Sleep(24 * time.Hour)
		}
		for i := 6; i < len(at); i++ {
			if at[i].Sub(at[i-6]) < 31*24*time.Hour {
				t.Fatalf("messages %d to %d, not urgent, went within a month", i-6, i)
			}
		}
	})
}
