package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

// announce queues the warning of an intent to channels, the first of which opens.
func (d *desk) announce(i *fleet.Intent, to ...Address) {
	d.t.Helper()
	d.do(func(tx *Tx) error {
		i.Announced++
		i.AnnouncedAt, i.AcceptedAt, i.NextAt = tx.Now, time.Time{}, tx.Now.Add(i.Warn+10*time.Minute)
		n := notify.Notice{Key: fmt.Sprint("intent|", i.ID, "|", i.Announced), Event: notify.EventPending, Intent: i, At: tx.Now}
		if queued, err := tx.Enqueue(n, to, time.Time{}); err != nil || !queued {
			return fmt.Errorf("queued %v: %w", queued, err)
		}
		return tx.SaveIntent(i, fleet.IntentPending, Unnoted)
	})
}

func (d *desk) due() []notify.Delivery {
	d.t.Helper()
	ds, err := d.DueDeliveries(d.t.Context(), d.now(), 100)
	if err != nil {
		d.t.Fatal(err)
	}
	return ds
}

func (d *desk) record(del notify.Delivery, kind notify.VerdictKind, next time.Time) {
	d.t.Helper()
	del.Attempt++
	if err := d.RecordDeliveries(d.t.Context(), del.Channel, []notify.Outcome{{Delivery: del, Verdict: notify.Verdict{Kind: kind}, Next: next}}, true, d.now()); err != nil {
		d.t.Fatal(err)
	}
}

// to finds the deliveries to a channel.
func to(channel string, ds []notify.Delivery) []notify.Delivery {
	var out []notify.Delivery
	for _, del := range ds {
		if del.Channel == channel {
			out = append(out, del)
		}
	}
	return out
}

func TestAcceptanceStartsTheClockOnce(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	d.announce(&i, Address{Channel: "slack", Opens: true}, Address{Channel: "wecom", Opens: true}, Address{Channel: "console", Opens: false})
	ds := d.due()
	if len(ds) != 3 {
		t.Fatalf("%d deliveries, want 3", len(ds))
	}
	d.pass(time.Minute)
	d.record(to("console", ds)[0], notify.VerdictOK, time.Time{})
	if got := d.read(i.ID); !got.AcceptedAt.IsZero() {
		t.Fatal("a channel that does not open started the clock")
	}
	d.record(to("slack", ds)[0], notify.VerdictRetry, d.now().Add(time.Minute))
	if got := d.read(i.ID); !got.AcceptedAt.IsZero() {
		t.Fatal("an attempt that failed started the clock")
	}
	d.pass(time.Minute)
	d.record(to("wecom", ds)[0], notify.VerdictOK, time.Time{})
	first := d.read(i.ID)
	if !first.AcceptedAt.Equal(d.now()) || first.AcceptedBy != "wecom" || !first.Deadline.Equal(d.now().Add(10*time.Minute)) || !first.NextAt.Equal(first.Deadline) {
		t.Fatalf("accepted at %s by %q for %s", first.AcceptedAt, first.AcceptedBy, first.Deadline)
	}
	d.pass(5 * time.Minute)
	late := to("slack", d.due())
	if len(late) != 1 || !late[0].Notice.Intent.Deadline.Equal(first.Deadline) || late[0].Attempt != 1 {
		t.Fatalf("the channel that comes late is not told of the deadline as it is: %+v", late)
	}
	d.record(late[0], notify.VerdictOK, time.Time{})
	if got := d.read(i.ID); !got.Deadline.Equal(first.Deadline) || got.AcceptedBy != "wecom" {
		t.Errorf("a second acceptance moved the deadline to %s (%s)", got.Deadline, got.AcceptedBy)
	}
	if n := len(d.due()); n != 0 {
		t.Errorf("%d deliveries are left", n)
	}
}

func TestOnlyTheNewestAnnouncementStartsTheClock(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	d.announce(&i, Address{Channel: "slack", Opens: true})
	old := d.due()[0]
	d.pass(time.Hour)
	d.announce(&i, Address{Channel: "slack", Opens: true})
	d.record(old, notify.VerdictOK, time.Time{})
	if got := d.read(i.ID); !got.AcceptedAt.IsZero() {
		t.Fatal("an announcement of before started the clock")
	}
	d.record(d.due()[0], notify.VerdictOK, time.Time{})
	if got := d.read(i.ID); !got.AcceptedAt.Equal(d.now()) {
		t.Error("the newest announcement did not")
	}
}

func TestADeadlineOnlyMovesLater(t *testing.T) {
	d := open(t)
	i := d.intent("a", func(i *fleet.Intent) { i.Deadline = noon.Add(5 * time.Hour) })
	d.announce(&i, Address{Channel: "slack", Opens: true})
	d.record(d.due()[0], notify.VerdictOK, time.Time{})
	if got := d.read(i.ID); !got.Deadline.Equal(noon.Add(5 * time.Hour)) {
		t.Errorf("the deadline moved to %s", got.Deadline)
	}
}

func TestAnAcceptanceDoesNotShortenTheRestAPlatformAskedFor(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	d.announce(&i, Address{Channel: "slack", Opens: true})
	del := d.due()[0]
	d.save(&i, fleet.IntentPending, "again", func(i *fleet.Intent) {
		i.Attempts, i.NextAt = []fleet.Attempt{{StartedAt: noon}}, noon.Add(3*time.Hour)
	})
	d.record(del, notify.VerdictOK, time.Time{})
	if got := d.read(i.ID); !got.NextAt.Equal(noon.Add(3 * time.Hour)) {
		t.Errorf("it is tried again at %s", got.NextAt)
	}
}

func TestAnAcceptanceOfWhatHasBegunOrEndedChangesNothing(t *testing.T) {
	for _, state := range []fleet.IntentState{fleet.IntentStarted, fleet.IntentWritten, fleet.IntentClosed} {
		t.Run(string(state), func(t *testing.T) {
			d := open(t)
			i := d.intent("a")
			d.announce(&i, Address{Channel: "slack", Opens: true})
			d.save(&i, fleet.IntentPending, "on", func(i *fleet.Intent) { i.State = state })
			late := d.due()
			if len(late) != 1 || late[0].Notice.Intent.State != state {
				t.Fatalf("a channel that comes late does not see that the act is %s: %+v", state, late)
			}
			d.record(late[0], notify.VerdictOK, time.Time{})
			if got := d.read(i.ID); !got.AcceptedAt.IsZero() || got.State != state {
				t.Errorf("accepted at %s, %s", got.AcceptedAt, got.State)
			}
		})
	}
}

func TestANoticeIsQueuedOncePerKey(t *testing.T) {
	d := open(t)
	tell := func(key string, repeat time.Duration) bool {
		t.Helper()
		var queued bool
		d.do(func(tx *Tx) (err error) {
			var since time.Time
			if repeat > 0 {
				since = tx.Now.Add(-repeat)
			}
			queued, err = tx.Enqueue(notify.Notice{Key: key, Event: notify.EventFinding}, []Address{{Channel: "slack"}}, since)
			return err
		})
		return queued
	}
	for _, c := range []struct {
		after  time.Duration
		key    string
		repeat time.Duration
		want   bool
		why    string
	}{
		{0, "a", 0, true, "the first time"},
		{0, "a", 0, false, "told already"},
		{0, "b", 0, true, "another key"},
		{1000 * time.Hour, "a", 0, false, "ever is ever"},
		{0, "a", time.Hour, true, "told longer ago than it may be repeated"},
		{59 * time.Minute, "a", time.Hour, false, "told within the hour"},
		{time.Minute, "a", time.Hour, true, "an hour later"},
		{0, "", 0, true, "no key is always told"},
		{0, "", 0, true, "no key is always told, again"},
	} {
		d.pass(c.after)
		if got := tell(c.key, c.repeat); got != c.want {
			t.Errorf("%s: queued %v, want %v", c.why, got, c.want)
		}
	}
	d.do(func(tx *Tx) error { return tx.Forget("a") })
	if !tell("a", 0) {
		t.Error("what is over is not told when it comes again")
	}
	keys, err := d.ToldKeys(t.Context(), "a")
	if err != nil || len(keys) != 1 || !keys["a"].Equal(d.now()) {
		t.Errorf("told keys %v (%v)", keys, err)
	}
}

func TestToldKeysAreThoseOfThePrefix(t *testing.T) {
	d := open(t)
	for _, key := range []string{"finding|a", "finding|中", "findinh|a", "would|a", "finding"} {
		d.do(func(tx *Tx) error {
			_, err := tx.Enqueue(notify.Notice{Key: key}, nil, time.Time{})
			return err
		})
	}
	keys, err := d.ToldKeys(t.Context(), "finding|")
	if err != nil || len(keys) != 2 {
		t.Errorf("%v (%v)", keys, err)
	}
}

func TestANoticeIsKeptOrLostWithWhatItTellsOf(t *testing.T) {
	d := open(t)
	fault := errors.New("no")
	i := fleet.Intent{Ref: ref("a"), Action: fleet.Stop}
	err := d.Update(t.Context(), func(tx *Tx) error {
		if err := tx.OpenIntent(&i, fleet.Stop); err != nil {
			return err
		}
		if _, err := tx.Enqueue(notify.Notice{Key: "k", Intent: &i}, []Address{{Channel: "slack"}}, time.Time{}); err != nil {
			return err
		}
		return fault
	})
	if !errors.Is(err, fault) || d.rows("outbox", "1=1")+d.rows("notices", "1=1")+d.rows("intents", "1=1") != 0 {
		t.Errorf("something is left (%v)", err)
	}
}

func TestAChannelNamedTwiceIsToldOnce(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error {
		_, err := tx.Enqueue(notify.Notice{Key: "k"}, []Address{{Channel: "slack"}, {Channel: "slack"}}, time.Time{})
		return err
	})
	if n := len(d.due()); n != 1 {
		t.Errorf("%d deliveries", n)
	}
}

func TestDeliveriesComeByWhenTheyAreDueAndThenByNumber(t *testing.T) {
	d := open(t)
	for _, after := range []time.Duration{3, 1, 2, 1, 50} {
		d.do(func(tx *Tx) error {
			n := notify.Notice{Key: fmt.Sprint(after), At: noon.Add(after * time.Minute), Expires: noon.Add(time.Hour)}
			if after == 1 {
				n.Key = ""
			}
			_, err := tx.Enqueue(n, []Address{{Channel: "slack"}}, time.Time{})
			return err
		})
	}
	d.pass(10 * time.Minute)
	order := func() string {
		var ids []string
		for _, del := range d.due() {
			ids = append(ids, fmt.Sprint(del.ID))
			if !del.ExpiresAt.Equal(noon.Add(time.Hour)) {
				t.Errorf("delivery %d expires at %s", del.ID, del.ExpiresAt)
			}
		}
		return strings.Join(ids, " ")
	}
	if got := order(); got != "2 4 3 1" {
		t.Errorf("order %s", got)
	}
	if ds, err := d.DueDeliveries(t.Context(), d.now(), 2); err != nil || len(ds) != 2 || ds[1].ID != 4 {
		t.Errorf("the first two: %+v (%v)", ds, err)
	}
	ds := d.due()
	d.record(ds[0], notify.VerdictRetry, d.now().Add(time.Minute))
	d.record(ds[1], notify.VerdictPermanent, time.Time{})
	if got := order(); got != "3 1" {
		t.Errorf("after one is put off and one is over: %s", got)
	}
	d.pass(time.Minute)
	if got := order(); got != "3 1 2" {
		t.Errorf("after its pause: %s", got)
	}
	d.again()
	if got := order(); got != "3 1 2" {
		t.Errorf("after a restart: %s", got)
	}
}

func TestWhatWasDeliveredStaysDelivered(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error {
		_, err := tx.Enqueue(notify.Notice{Key: "k"}, []Address{{Channel: "slack"}}, time.Time{})
		return err
	})
	del := d.due()[0]
	d.record(del, notify.VerdictOK, time.Time{})
	d.record(del, notify.VerdictRetry, d.now()) // of a sender that was replaced meanwhile
	if n := len(d.due()); n != 0 {
		t.Error("it would be sent again")
	}
}

func TestPlainTextIsRemembered(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error {
		_, err := tx.Enqueue(notify.Notice{Key: "k", Reason: fleet.Because("a.b", fleet.Values{"n": fleet.Text("x")})}, []Address{{Channel: "slack"}}, time.Time{})
		return err
	})
	del := d.due()[0]
	del.Plain = true
	d.record(del, notify.VerdictBadMessage, d.now())
	got := d.due()
	if len(got) != 1 || !got[0].Plain || got[0].Attempt != 1 || got[0].Notice.Reason.Values["n"].Any() != "x" {
		t.Errorf("%+v", got)
	}
}

func TestAnAnnouncementIsOnItsWayUntilEveryChannelThatOpensHasEnded(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	waits := func(want bool, why string) {
		t.Helper()
		d.do(func(tx *Tx) error {
			if got, err := tx.Announcing(i); err != nil || got != want {
				t.Errorf("%s: on its way %v (%v), want %v", why, got, err, want)
			}
			return nil
		})
	}
	waits(false, "nothing was announced")
	d.announce(&i, Address{Channel: "slack", Opens: true}, Address{Channel: "wecom", Opens: true}, Address{Channel: "console", Opens: false})
	ds := d.due()
	waits(true, "three channels wait")
	d.record(to("slack", ds)[0], notify.VerdictPermanent, time.Time{})
	waits(true, "one that opens still waits")
	d.record(to("wecom", ds)[0], notify.VerdictRetry, d.now().Add(time.Hour))
	waits(true, "it is tried again")
	d.record(to("wecom", ds)[0], notify.VerdictPermanent, time.Time{})
	waits(false, "only one waits that does not open")
}

func TestANoticeIsDeliveredOnceAChannelTookIt(t *testing.T) {
	d := open(t)
	want := func(when string, accepted, waiting bool) {
		t.Helper()
		a, w, err := d.Delivered(t.Context(), "k")
		if err != nil || a != accepted || w != waiting {
			t.Errorf("%s: accepted %v, waiting %v (%v), want %v, %v", when, a, w, err, accepted, waiting)
		}
	}
	want("never told", false, false)
	d.do(func(tx *Tx) error {
		_, err := tx.Enqueue(notify.Notice{Key: "other"}, []Address{{Channel: "slack", Opens: false}}, time.Time{})
		return err
	})
	d.record(d.due()[0], notify.VerdictOK, time.Time{})
	want("another was told", false, false)
	d.do(func(tx *Tx) error {
		_, err := tx.Enqueue(notify.Notice{Key: "k"}, []Address{{Channel: "slack", Opens: false}, {Channel: "wecom", Opens: false}}, time.Time{})
		return err
	})
	want("queued", false, true)
	ds := d.due()
	d.record(to("slack", ds)[0], notify.VerdictRetry, d.now().Add(time.Minute))
	want("to be tried again", false, true)
	d.record(to("wecom", ds)[0], notify.VerdictPermanent, time.Time{})
	want("refused by one", false, true)
	d.record(to("slack", ds)[0], notify.VerdictOK, time.Time{})
	want("taken by the other", true, false)
}
