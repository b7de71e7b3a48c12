package notify_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/notifytest"
)

// channelFunc is a channel that keeps what it was given and answers by a
// function.
type channelFunc struct {
	mu     sync.Mutex
	sent   []notify.Message
	busy   bool
	answer func(ctx context.Context, m notify.Message) notify.Verdict
}

func (c *channelFunc) Send(ctx context.Context, m notify.Message) notify.Verdict {
	c.mu.Lock()
	if c.busy {
		panic("two messages at a time")
	}
	c.busy = true
	c.sent = append(c.sent, m)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.busy = false
		c.mu.Unlock()
	}()
	if c.answer == nil {
		return notify.Verdict{Kind: notify.VerdictOK}
	}
	return c.answer(ctx, m)
}

func (c *channelFunc) ids() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for _, m := range c.sent {
		ids = append(ids, m.DeliveryID)
	}
	return ids
}

func always(v notify.Verdict) func(context.Context, notify.Message) notify.Verdict {
	return func(context.Context, notify.Message) notify.Verdict { return v }
}

// sender makes a Sender over channels without a quota, unless perMinute says so.
func sender(t testing.TB, o notify.Outbox, perMinute int, channels map[string]notify.Channel) *notify.Sender {
	return notify.NewSender(senderOptions(t, o, perMinute, channels))
}

func senderOptions(t testing.TB, o notify.Outbox, perMinute int, channels map[string]notify.Channel) notify.SenderOptions {
	open := map[string]notify.OpenChannel{}
	for name, c := range channels {
		open[name] = notify.OpenChannel{
			Channel: c, Kind: notify.Kind{Name: name, PerMinute: perMinute}, Renderer: renderer(t, text.English),
		}
	}
	return notify.SenderOptions{Outbox: o, Channels: open, Now: time.Now, Logger: zerolog.New(io.Discard)}
}

func finding(severity fleet.Severity, category fleet.Category) notify.Notice {
	return notify.Notice{Event: notify.EventFinding, Severity: severity, Category: category, Reason: said("news")}
}

// flush flushes once and fails the test on an error.
func flush(t *testing.T, s *notify.Sender) time.Time {
	t.Helper()
	next, err := s.Flush(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// drain flushes as often as the Sender asks for it, and gives how often.
func drain(t *testing.T, s *notify.Sender) int {
	t.Helper()
	for n := 1; n < 100_000; n++ {
		next := flush(t, s)
		if next.IsZero() {
			return n
		}
		time.Sleep(time.Until(next))
	}
	t.Fatal("the Sender never comes to rest")
	return 0
}

func TestFlushSendsWhatMattersFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, c := notifytest.NewOutbox(t), &channelFunc{}
		info := finding(fleet.Info, fleet.CategoryHealth)
		pending := notify.Notice{Event: notify.EventPending, Intent: intent(fleet.Stop)}
		for _, n := range []notify.Notice{
			info, finding(fleet.Info, fleet.CategoryMoney), finding(fleet.Critical, fleet.CategoryHealth), pending, info, pending,
		} {
			o.Add(notify.Delivery{Channel: "lab", Notice: n})
		}
		if next := flush(t, sender(t, o, 0, map[string]notify.Channel{"lab": c})); !next.IsZero() {
			t.Errorf("asks to be called again at %v", next)
		}
		if diff := cmp.Diff([]string{"4", "6", "3", "2", "1", "5"}, c.ids()); diff != "" {
			t.Error(diff)
		}
		if o.Left() != 0 || !o.Row(4).AcceptedAt.Equal(time.Now()) {
			t.Errorf("the acceptance was not recorded: %+v", o.Row(4))
		}
	})
}

func TestFlushCountsTheDeadlineFromTheSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, c := notifytest.NewOutbox(t), &channelFunc{}
		o.Add(notify.Delivery{Channel: "lab", Notice: notify.Notice{Event: notify.EventPending, Intent: intent(fleet.Stop)}})
		time.Sleep(3 * time.Hour)
		flush(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		if got, want := c.sent[0].Title, "Will stop exp-7 at 11:10 (in 10m)"; got != want {
			t.Errorf("title %q, want %q", got, want)
		}
	})
}

func TestFlushDoesNotAnnounceWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for state, want := range map[fleet.IntentState]int{
			fleet.IntentPending: 1, fleet.IntentStarted: 0, fleet.IntentWritten: 0, fleet.IntentClosed: 0,
		} {
			o, c := notifytest.NewOutbox(t), &channelFunc{}
			over := with(intent(fleet.Stop), func(i *fleet.Intent) { i.State = state })
			o.Add(
				notify.Delivery{Channel: "lab", Notice: notify.Notice{Event: notify.EventPending, Intent: over}},
				notify.Delivery{Channel: "lab", Notice: notify.Notice{Event: notify.EventAbandoned, Intent: over}},
			)
			drain(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
			if r := o.Row(1); len(c.ids()) != 1+want || r.AcceptedAt.IsZero() == (want == 1) || o.Left() != 0 {
				t.Errorf("%s: %d messages, announcement %+v", state, len(c.ids()), r)
			}
		}
	})
}

func TestFlushBrokenChannelIsToldOnceAndLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		bad, good := &channelFunc{answer: always(notify.Verdict{Kind: notify.VerdictPermanent, Code: "93000"})}, &channelFunc{}
		for range 3 {
			o.Add(notify.Delivery{Channel: "bad", Notice: finding(fleet.Info, ""), ExpiresAt: time.Now().Add(time.Hour)})
		}
		o.Add(notify.Delivery{Channel: "good", Notice: finding(fleet.Info, "")})
		options := senderOptions(t, o, 0, map[string]notify.Channel{"bad": bad, "good": good})
		var told []string
		var s *notify.Sender
		options.OnBroken = func(channel string, v notify.Verdict) {
			told = append(told, channel+" "+v.Code)
			if diff := cmp.Diff([]string{"bad"}, s.Broken()); diff != "" {
				t.Error(diff)
			}
			// Telling the other channels is what it is for.
			o.Add(notify.Delivery{Channel: "good", Notice: finding(fleet.Critical, "")})
		}
		s = notify.NewSender(options)
		flush(t, s)
		flush(t, s)
		if diff := cmp.Diff([]string{"bad 93000"}, told); diff != "" {
			t.Error(diff)
		}
		if len(bad.ids()) != 1 || len(good.ids()) != 2 || o.Left() != 2 {
			t.Errorf("bad got %d, good %d, %d left", len(bad.ids()), len(good.ids()), o.Left())
		}

		// A new configuration is another chance.
		bad.answer = nil
		drain(t, sender(t, o, 0, map[string]notify.Channel{"bad": bad, "good": good}))
		if len(bad.ids()) != 3 || o.Left() != 0 {
			t.Errorf("bad got %d, %d left", len(bad.ids()), o.Left())
		}
	})
}

func TestFlushBrokenChannelsDeliveriesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		bad := &channelFunc{answer: always(notify.Verdict{Kind: notify.VerdictPermanent})}
		began := time.Now()
		for range 2 {
			o.Add(notify.Delivery{Channel: "bad", Notice: finding(fleet.Info, ""), ExpiresAt: began.Add(17 * time.Minute)})
		}
		drain(t, sender(t, o, 0, map[string]notify.Channel{"bad": bad}))
		last := o.Row(2)
		if took := time.Since(began); took != 17*time.Minute || last.Attempt != 0 || last.Verdicts[0].Code != notify.CodeExpired {
			t.Errorf("after %v: %+v", took, last)
		}
		if last.Verdicts[0].Kind == notify.VerdictOK {
			t.Error("an expired delivery counts as accepted")
		}
	})
}

func TestFlushBadMessageGoesOnceMoreAsPlainText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, takesPlain := range map[string]bool{"which is taken": true, "which is refused too": false} {
			o := notifytest.NewOutbox(t)
			c := &channelFunc{answer: func(_ context.Context, m notify.Message) notify.Verdict {
				if m.Markdown == "" && m.Plain != "" && takesPlain {
					return notify.Verdict{Kind: notify.VerdictOK}
				}
				return notify.Verdict{Kind: notify.VerdictBadMessage, Code: "40058"}
			}}
			o.Add(notify.Delivery{Channel: "lab", Notice: notify.Notice{Event: notify.EventPending, Intent: intent(fleet.Stop)}})
			s := sender(t, o, 0, map[string]notify.Channel{"lab": c})
			drain(t, s)
			r := o.Row(1)
			if len(c.ids()) != 2 || !r.Final || r.AcceptedAt.IsZero() == takesPlain || len(s.Broken()) != 0 {
				t.Errorf("%s: %d messages, %+v, broken %v", name, len(c.ids()), r, s.Broken())
			}
		}
	})
}

func TestFlushUnknownAnswersAreNeverTakenForSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, c := notifytest.NewOutbox(t), &channelFunc{answer: always(notify.Verdict{Code: "http 200"})}
		o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Critical, "")})
		began := time.Now()
		drain(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		r := o.Row(1)
		if r.Attempt != 5 || !r.AcceptedAt.IsZero() || time.Since(began) != 5*time.Second+20*time.Second+80*time.Second+5*time.Minute {
			t.Errorf("%d attempts in %v, accepted at %v", r.Attempt, time.Since(began), r.AcceptedAt)
		}
	})
}

func TestFlushLeavesAChannelInPeaceThatAsksForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		began := time.Now()
		c := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
			if time.Since(began) < time.Minute {
				return notify.Verdict{Kind: notify.VerdictRetry, After: time.Minute, Code: "45009"}
			}
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		for range 10 {
			o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Info, "")})
		}
		drain(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
		if len(c.ids()) != 11 || o.Left() != 0 || time.Since(began) != time.Minute {
			t.Errorf("%d messages in %v, %d left", len(c.ids()), time.Since(began), o.Left())
		}
	})
}

func TestFlushClosesDeliveriesToAChannelThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		o.Add(notify.Delivery{Channel: "old", Notice: finding(fleet.Info, "")})
		flush(t, sender(t, o, 0, nil))
		r := o.Row(1)
		if !r.Final || r.Verdicts[0].Code != notify.CodeNoChannel || !r.AcceptedAt.IsZero() {
			t.Errorf("%+v", r)
		}
	})
}

func TestFlushLongQueueDoesNotHideOtherChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, flooded, quiet := notifytest.NewOutbox(t), &channelFunc{}, &channelFunc{}
		for range 700 {
			o.Add(notify.Delivery{Channel: "flooded", Notice: finding(fleet.Info, "")})
		}
		o.Add(
			notify.Delivery{Channel: "quiet", Notice: finding(fleet.Info, "")},
			notify.Delivery{Channel: "flooded", Notice: notify.Notice{Event: notify.EventPending, Intent: intent(fleet.Stop)}},
		)
		s := sender(t, o, 18, map[string]notify.Channel{"flooded": flooded, "quiet": quiet})
		flush(t, s)
		if len(quiet.ids()) != 1 {
			t.Error("the quiet channel's message is behind the flood")
		}
		if !slices.Contains(flooded.ids(), "702") {
			t.Error("the announcement is behind the flood")
		}
		drain(t, s)
		if o.Left() != 0 || len(flooded.ids()) != 701 {
			t.Errorf("%d left, %d sent", o.Left(), len(flooded.ids()))
		}
	})
}

// However messages come and however slow the channel is, no minute of its own
// clock sees more than its quota, and what is urgent finds room.
func TestFlushKeepsTheQuotaAndAShareForWhatIsUrgent(t *testing.T) {
	for _, perMinute := range []int{1, 2, 3, 5, 18} {
		t.Run(fmt.Sprintf("at %d a minute", perMinute), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := notifytest.NewOutbox(t)
				var arrived []time.Time
				c := &channelFunc{}
				c.answer = func(context.Context, notify.Message) notify.Verdict {
					time.Sleep(time.Duration(len(arrived)%3) * 300 * time.Millisecond)
					arrived = append(arrived, time.Now()) // one message at a time
					time.Sleep(200 * time.Millisecond)
					return notify.Verdict{Kind: notify.VerdictOK}
				}
				for range 100 {
					o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Info, "")})
				}
				s := sender(t, o, perMinute, map[string]notify.Channel{"lab": c})
				flush(t, s)
				if perMinute >= 4 {
					at := time.Now()
					o.Add(notify.Delivery{Channel: "lab", Notice: notify.Notice{Event: notify.EventPending, Intent: intent(fleet.Stop)}})
					flush(t, s)
					if r := o.Row(101); r.AcceptedAt.IsZero() || r.AcceptedAt.Sub(at) > time.Second {
						t.Errorf("the announcement waited for the ordinary ones: %+v", r)
					}
				}
				drain(t, s)
				if o.Left() != 0 {
					t.Errorf("%d left", o.Left())
				}
				if n := busiest(arrived); n > perMinute {
					t.Errorf("%d messages in one minute", n)
				}
			})
		})
	}
}

// busiest is the most moments in any minute.
func busiest(times []time.Time) int {
	most := 0
	for i := range times {
		n := 0
		for _, t := range times[i:] {
			if t.Sub(times[i]) < time.Minute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestSenderLogsNoAnswerTwiceInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		c := &channelFunc{answer: always(notify.Verdict{Kind: notify.VerdictRetry, Code: "http 502"})}
		o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Info, ""), ExpiresAt: time.Now().Add(time.Hour)})
		options := senderOptions(t, o, 0, map[string]notify.Channel{"lab": c})
		levels := map[string]int{}
		options.Logger = zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(_ *zerolog.Event, l zerolog.Level, _ string) { levels[l.String()]++ }))
		drain(t, notify.NewSender(options))
		want := map[string]int{"warn": 1, "debug": len(c.ids()) - 1, "error": 1}
		if !maps.Equal(levels, want) || len(c.ids()) < 10 {
			t.Errorf("%d messages, log levels %v, want %v", len(c.ids()), levels, want)
		}
	})
}
