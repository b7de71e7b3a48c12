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

func TestADaemonThatDiesBetweenSendAndRecordSendsTheSameMessageAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{}
		for n := range 3 {
			o.Add(notify.Delivery{Channel: "lab", Notice: about(n, "g")})
		}
		dead := true
		o.Refuse = func(notify.Delivery) error {
			if dead {
				return context.Canceled
			}
			return nil
		}
		if _, err := sender(t, o, 0, map[string]notify.Channel{"lab": c}).Flush(t.Context()); err == nil {
			t.Fatal("the record did not fail")
		}
		dead = false
		for n := range 2 {
			o.Add(notify.Delivery{Channel: "lab", Notice: about(10+n, "g")})
		}
		flush(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		if len(c.sent) != 3 {
			t.Fatalf("%d messages: want the first, the same again, and what came since", len(c.sent))
		}
		first, again, since := c.sent[0], c.sent[1], c.sent[2]
		if first.DeliveryID != again.DeliveryID || first.UniqueID("lab") != again.UniqueID("lab") || first.Plain != again.Plain {
			t.Errorf("the same message has another id or other words: %s and %s", first.UniqueID("lab"), again.UniqueID("lab"))
		}
		if len(since.Notices) != 2 || since.UniqueID("lab") == first.UniqueID("lab") {
			t.Errorf("what came since is in %+v", since)
		}
		if o.Left() != 0 {
			t.Errorf("%d are left", o.Left())
		}
	})
}

func TestAnAttemptOfWhichTheAnswerIsKnownLetsOthersJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{answer: always(notify.Verdict{Kind: notify.VerdictRetry, Code: "busy"})}
		o.Add(notify.Delivery{Channel: "lab", Notice: about(1, "g")})
		s := sender(t, o, 0, map[string]notify.Channel{"lab": c})
		flush(t, s)
		c.answer = nil
		o.Add(notify.Delivery{Channel: "lab", Notice: about(2, "g")})
		time.Sleep(time.Minute)
		flush(t, s)
		if len(c.sent) != 2 || len(c.sent[1].Notices) != 2 {
			t.Errorf("%d messages, the last of %d notices; want both in the second", len(c.sent), len(c.sent[len(c.sent)-1].Notices))
		}
	})
}

// One notice that a channel cannot take does not keep the others of its group back.
func TestAGroupThatIsRefusedInEveryFormGoesOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{answer: func(_ context.Context, m notify.Message) notify.Verdict {
			if strings.Contains(m.Plain+m.Title, "exp-3") {
				return notify.Verdict{Kind: notify.VerdictBadMessage, Code: "poison"}
			}
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		for n := range 6 {
			o.Add(notify.Delivery{Channel: "lab", Notice: about(n, "g")})
		}
		drain(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		for _, r := range o.Rows() {
			if taken := !r.AcceptedAt.IsZero(); taken == (r.Notice.Subject.Name == "exp-3") || !r.Final {
				t.Errorf("%s: taken %v, final %v", r.Notice.Subject.Name, taken, r.Final)
			}
		}
		if len(c.sent) != 8 || len(c.sent[1].Notices) != 6 || c.sent[1].Markdown != "" {
			t.Errorf("%d messages; want the group, the group as plain text, and each alone", len(c.sent))
		}
	})
}

func TestAMessageOfSeveralThingsAnswersNoneOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{}
		o.Add(
			notify.Delivery{Channel: "lab", ReplyTo: "1", Notice: about(1, "apart")}, notify.Delivery{Channel: "lab", ReplyTo: "2", Notice: about(2, "apart")},
			notify.Delivery{Channel: "lab", ReplyTo: "3", Notice: about(3, "together")}, notify.Delivery{Channel: "lab", ReplyTo: "3", Notice: about(4, "together")},
			notify.Delivery{Channel: "lab", ReplyTo: "5", Notice: about(5, "one")},
		)
		flush(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		var got []string
		for _, m := range c.sent {
			got = append(got, m.Thread+" "+m.ReplyTo)
		}
		want := []string{" ", " 3", "pro-5@1 5"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("threads and what is answered: %q, want %q", got, want)
		}
	})
}

func TestProgramsAreGivenTheNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{}
		o.Add(notify.Delivery{Channel: "lab", Notice: about(1, "")})
		flush(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		if len(c.sent) != 1 || len(c.sent[0].Notices) != 1 || c.sent[0].Notices[0].Key != "pro-1" {
			t.Errorf("%+v", c.sent)
		}
	})
}

func TestThousandsOfAGroupAreOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		a, b := &channelFunc{}, &channelFunc{}
		for n := range 2000 {
			for _, name := range []string{"a", "b"} {
				o.Add(notify.Delivery{Channel: name, Notice: about(n, "g")})
			}
		}
		flush(t, sender(t, o, 20, map[string]notify.Channel{"a": a, "b": b}))
		if len(a.sent) != 1 || len(b.sent) != 1 || o.Left() != 0 {
			t.Errorf("%d and %d messages, %d left", len(a.sent), len(b.sent), o.Left())
		}
	})
}

// A resolved one of several that were told in one notice does not end them all.
func TestOneOfSeveralThatIsOverIsNotAllOfThem(t *testing.T) {
	opened := about(1, "g")
	opened.With = []notify.Other{{Name: "exp-2"}, {Name: "exp-3"}}
	over := func(n int) notify.Notice {
		r := about(n, "g")
		r.Event, r.Severity, r.Thread, r.Reason = notify.EventResolved, fleet.Info, opened.Thread, said("it is seen again")
		return r
	}
	words := func(ns ...notify.Notice) string {
		m := notify.RenderGroup(ns, renderer(t, text.English), now)
		return m.Title + "\n" + m.Plain
	}
	if got := words(opened, over(1)); strings.Contains(got, "over since") || !strings.Contains(got, "Resolved") {
		t.Errorf("one of three is over:\n%s", got)
	}
	if got := words(opened, over(1), over(2), over(3)); !strings.Contains(got, "over since") || strings.Contains(got, "Resolved") {
		t.Errorf("all three are over:\n%s", got)
	}
}

func TestAClockThatIsPutBackStopsNoChannelForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{}
		ahead := 365 * 24 * time.Hour
		options := senderOptions(t, o, 2, map[string]notify.Channel{"lab": c})
		options.Now = func() time.Time { return time.Now().Add(ahead) }
		s := notify.NewSender(options)
		for n := range 2 {
			o.Add(notify.Delivery{Channel: "lab", NextAt: time.Now(), Notice: finding(fleet.Critical, fleet.CategoryHealth)})
			_ = n
		}
		flush(t, s)
		ahead = 0
		o.Add(notify.Delivery{Channel: "lab", NextAt: time.Now(), Notice: finding(fleet.Critical, fleet.CategoryHealth)})
		flush(t, s)
		time.Sleep(time.Minute)
		flush(t, s)
		if len(c.sent) != 3 {
			t.Errorf("%d messages after a minute, want 3", len(c.sent))
		}
	})
}

func TestCriticalNewsDoNotWaitForOthers(t *testing.T) {
	p := notify.Pace{Wait: 30 * time.Second, Interval: 5 * time.Minute}
	critical := p.Of(notify.Notice{Event: notify.EventFinding, Severity: fleet.Critical})
	for _, c := range []struct {
		name          string
		pace          notify.Pace
		waiting, last time.Time
		want          time.Duration
	}{
		{"a warning waits for the interval, a critical one for its own", critical, now.Add(4 * time.Minute), now.Add(-time.Minute), 10 * time.Second},
		{"what waits because a quota is spent is not waited for", p, now.Add(10 * 24 * time.Hour), time.Time{}, 30 * time.Second},
		{"what was sent before the clock was put back does not count", p, time.Time{}, now.Add(365 * 24 * time.Hour), 30 * time.Second},
		{"what goes sooner is joined", p, now.Add(5 * time.Second), now.Add(-time.Minute), 5 * time.Second},
	} {
		if got := c.pace.Due(now, c.waiting, c.last).Sub(now); got != c.want {
			t.Errorf("%s: in %s, want %s", c.name, got, c.want)
		}
	}
}

func TestManyThatExpiredAreClosedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		writes := 0
		c := &channelFunc{}
		for range 300 {
			o.Add(notify.Delivery{Channel: "lab", ExpiresAt: time.Now().Add(time.Second), Notice: finding(fleet.Warning, fleet.CategoryHealth)})
		}
		time.Sleep(time.Minute)
		flush(t, sender(t, counted{o, &writes}, 0, map[string]notify.Channel{"lab": c}))
		if o.Left() != 0 || len(c.sent) != 0 || writes != 1 {
			t.Errorf("%d left, %d sent, %d writes", o.Left(), len(c.sent), writes)
		}
	})
}

// counted counts the writes of an outbox.
type counted struct {
	notify.Outbox
	writes *int
}

// RecordDeliveries counts one.
func (c counted) RecordDeliveries(ctx context.Context, channel string, outs []notify.Outcome, spent bool, now time.Time) error {
	*c.writes++
	return c.Outbox.RecordDeliveries(ctx, channel, outs, spent, now)
}
