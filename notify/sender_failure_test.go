package notify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
	"curfew/notify/notifytest"
)

var errDisk = errors.New("disk full")

func TestFlushHangingChannelDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		release := make(chan struct{})
		hangs := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
			<-release // ignores its context
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		quick := &channelFunc{}
		for range 5 {
			o.Add(notify.Delivery{Channel: "hangs", Notice: finding(fleet.Info, "")}, notify.Delivery{Channel: "quick", Notice: finding(fleet.Info, "")})
		}
		s := sender(t, o, 0, map[string]notify.Channel{"hangs": hangs, "quick": quick})
		began := time.Now()
		flush(t, s)
		if took := time.Since(began); took != 11*time.Second {
			t.Errorf("the round took %v", took)
		}
		for _, r := range o.Rows() {
			if r.Channel == "quick" && !r.AcceptedAt.Equal(began) {
				t.Errorf("quick's delivery %d was held up until %v", r.ID, r.AcceptedAt)
			}
		}
		time.Sleep(time.Minute)
		again := time.Now()
		flush(t, s)
		if took := time.Since(again); took != 0 || len(hangs.ids()) != 1 {
			t.Errorf("a channel still at its first message was called again: %d messages, %v", len(hangs.ids()), took)
		}
		close(release)
		synctest.Wait()
		drain(t, s)
		if o.Left() != 0 {
			t.Errorf("%d deliveries were lost", o.Left())
		}
	})
}

func TestFlushSlowChannelLetsOthersHaveTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notifytest.NewOutbox(t)
		slow := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
			time.Sleep(4 * time.Second)
			return notify.Verdict{Kind: notify.VerdictOK}
		}}
		for range 20 {
			o.Add(notify.Delivery{Channel: "slow", Notice: finding(fleet.Info, "")})
		}
		s := sender(t, o, 0, map[string]notify.Channel{"slow": slow})
		began := time.Now()
		next := flush(t, s)
		if took := time.Since(began); took > 20*time.Second || len(slow.ids()) != 3 || time.Until(next) != time.Second {
			t.Errorf("%d messages in %v, next in %v", len(slow.ids()), took, time.Until(next))
		}
		drain(t, s)
		if o.Left() != 0 || len(slow.ids()) != 20 {
			t.Errorf("%d left, %d sent", o.Left(), len(slow.ids()))
		}
	})
}

func TestFlushErrorOfTheOutboxStopsOnlyThatChannelAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, a, b := notifytest.NewOutbox(t), &channelFunc{}, &channelFunc{}
		for range 3 {
			o.Add(notify.Delivery{Channel: "a", Notice: finding(fleet.Info, "")}, notify.Delivery{Channel: "b", Notice: finding(fleet.Info, "")})
		}
		o.Refuse = func(d notify.Delivery) error {
			if d.Channel == "a" {
				return errDisk
			}
			return nil
		}
		s := sender(t, o, 0, map[string]notify.Channel{"a": a, "b": b})
		sentAt := time.Now()
		for range 4 {
			if _, err := s.Flush(t.Context()); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "delivery 1 of notice 1 to a") {
				t.Fatalf("error %v", err)
			}
			time.Sleep(time.Minute)
		}
		if len(a.ids()) != 1 || len(b.ids()) != 3 {
			t.Errorf("a got %d messages while nothing could be written, b %d", len(a.ids()), len(b.ids()))
		}
		o.Refuse = nil
		flush(t, s)
		if diff := cmp.Diff([]string{"1", "3", "5"}, a.ids()); diff != "" {
			t.Errorf("a message that was sent and not recorded went out again or was lost: %s", diff)
		}
		if o.Left() != 0 || !o.Row(1).AcceptedAt.Equal(sentAt) {
			t.Errorf("%d left; accepted at %v, sent at %v", o.Left(), o.Row(1).AcceptedAt, sentAt)
		}
	})
}

// A crash is a write that does not happen and a Sender that forgets.
func TestFlushKilledBeforeAnyWriteLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const notices = 12
		for killAt := range notices {
			o, c := notifytest.NewOutbox(t), &channelFunc{}
			for range notices {
				o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Info, "")})
			}
			writes := 0
			o.Refuse = func(notify.Delivery) error {
				if writes++; writes == killAt+1 {
					return errDisk
				}
				return nil
			}
			if _, err := sender(t, o, 0, map[string]notify.Channel{"lab": c}).Flush(t.Context()); !errors.Is(err, errDisk) {
				t.Fatalf("killed at %d: %v", killAt, err)
			}
			if o.Left() != notices-killAt {
				t.Errorf("killed at %d: %d left", killAt, o.Left())
			}
			drain(t, sender(t, o, 0, map[string]notify.Channel{"lab": c}))
			got := map[string]int{}
			for _, id := range c.ids() {
				got[id]++
			}
			if len(got) != notices || len(c.ids()) != notices+1 || o.Left() != 0 {
				t.Errorf("killed at %d: %d of %d arrived in %d messages, %d left", killAt, len(got), notices, len(c.ids()), o.Left())
			}
		}
	})
}

func TestFlushWhileTheDaemonStops(t *testing.T) {
	for name, c := range map[string]struct {
		answer   notify.Verdict
		attempts int
	}{
		"a message that was taken is recorded":     {notify.Verdict{Kind: notify.VerdictOK}, 1},
		"a message we broke off is not an attempt": {notify.Verdict{Kind: notify.VerdictRetry, Code: "network"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				o := notifytest.NewOutbox(t)
				ch := &channelFunc{answer: func(context.Context, notify.Message) notify.Verdict {
					cancel()
					return c.answer
				}}
				o.Add(notify.Delivery{Channel: "lab", Notice: finding(fleet.Info, "")}, notify.Delivery{Channel: "lab", Notice: finding(fleet.Info, "")})
				if _, err := sender(t, o, 0, map[string]notify.Channel{"lab": ch}).Flush(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
				if got := o.Row(1).Attempt + o.Row(2).Attempt; got != c.attempts || len(ch.ids()) != 1 {
					t.Errorf("%d attempts recorded, %d messages", got, len(ch.ids()))
				}
			})
		})
	}
}

func TestFlushReadErrorSaysWhatWasTried(t *testing.T) {
	_, err := sender(t, failing{}, 0, nil).Flush(t.Context())
	if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "read due deliveries") {
		t.Errorf("error %v", err)
	}
}

type failing struct{ notify.Outbox }

func (failing) DueDeliveries(context.Context, time.Time, int) ([]notify.Delivery, error) {
	return nil, errDisk
}
