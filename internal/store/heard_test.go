package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/notify"
)

func TestWhoWasReached(t *testing.T) {
	d := open(t)
	reached := func(thread string) (out []string) {
		t.Helper()
		d.do(func(tx *Tx) (err error) {
			out, err = tx.Reached(thread)
			slices.Sort(out)
			return err
		})
		return out
	}
	d.queue(notify.Notice{Key: "open", Thread: "t"}, "took", "waits", "refused", "expired")
	for _, del := range d.due() {
		switch del.Channel {
		case "took":
			d.record(del, notify.VerdictOK, time.Time{})
		case "waits":
			d.record(del, notify.VerdictRetry, d.now().Add(time.Hour))
		case "refused":
			d.record(del, notify.VerdictPermanent, time.Time{})
		case "expired":
			d.outcome(del, notify.Verdict{Code: notify.CodeExpired}, time.Time{})
		}
	}
	d.queue(notify.Notice{Key: "nobody's"}, "elsewhere")
	if diff := cmp.Diff([]string{"took", "waits"}, reached("t")); diff != "" {
		t.Error(diff)
	}
	if got := reached(""); len(got) != 0 {
		t.Errorf("what belongs to nothing reached %v", got)
	}
}

func TestUntaken(t *testing.T) {
	d := open(t)
	d.queue(notify.Notice{Key: "old"}, "wx")
	d.pass(time.Hour)
	since := d.now()
	d.queue(notify.Notice{Key: "taken"}, "wx", "mail")
	d.queue(notify.Notice{Key: "overtaken"}, "wx")
	d.queue(notify.Notice{Key: "printed"}, "wx", "console")
	d.queue(notify.Notice{Key: "waits"}, "wx")
	d.queue(notify.Notice{Key: "to nobody"})
	for _, del := range d.due() {
		switch del.Notice.Key + " " + del.Channel {
		case "taken mail", "printed console":
			d.record(del, notify.VerdictOK, time.Time{})
		case "overtaken wx":
			d.outcome(del, notify.Verdict{Code: notify.CodeOvertaken}, time.Time{})
		case "taken wx", "printed wx":
			d.record(del, notify.VerdictPermanent, time.Time{})
		}
	}
	got := func(but ...string) (out []string) {
		t.Helper()
		all, err := d.Untaken(t.Context(), since, but...)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range all {
			for _, w := range u.Deliveries {
				out = append(out, fmt.Sprintf("%s %s done=%v taken=%v attempts=%d", u.Notice.Key, w.Channel, w.Done, w.Taken, w.Attempts))
			}
		}
		return out
	}
	if diff := cmp.Diff([]string{"waits wx done=false taken=false attempts=0"}, got()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"printed wx done=true taken=false attempts=1", "printed console done=true taken=true attempts=1",
		"waits wx done=false taken=false attempts=0",
	}, got("console")); diff != "" {
		t.Errorf("what nobody may read: %s", diff)
	}
}

func TestANoticeIsWorthTellingAsLongAsOneOfItsDeliveriesIs(t *testing.T) {
	early, late := noon, noon.Add(time.Hour)
	for _, c := range []struct {
		of   []Waiting
		want time.Time
	}{
		{[]Waiting{{Expires: early}, {Expires: late}}, late},
		{[]Waiting{{Expires: early}, {}}, time.Time{}},
		{nil, time.Time{}},
	} {
		if got := (Untaken{Deliveries: c.of}).Expires(); !got.Equal(c.want) {
			t.Errorf("%+v: %s, want %s", c.of, got, c.want)
		}
	}
}

func TestANoticeIsReaddressedOncePerChannel(t *testing.T) {
	d := open(t)
	d.queue(notify.Notice{Key: "a"}, "wx")
	n := d.due()[0].Notice
	for _, want := range []bool{true, false} {
		d.do(func(tx *Tx) error {
			n.At = tx.Now
			if added, err := tx.Readdress(n, Address{Channel: "mail"}); err != nil || added != want {
				t.Errorf("added %v (%v), want %v", added, err, want)
			}
			return nil
		})
		d.again()
	}
	if got := len(to("mail", d.due())); got != 1 {
		t.Errorf("it goes to mail %d times", got)
	}
}

func TestNoticesOfATimeAndTheNewestOfAKey(t *testing.T) {
	d := open(t)
	for _, key := range []string{"standing|a", "finding|b", "standing|c"} {
		d.queue(notify.Notice{Key: key, Reason: fleet.Because(fleet.Code(key), nil)}, "wx")
		d.pass(time.Hour)
	}
	keys := func(since, until time.Time) (out []string) {
		t.Helper()
		ns, err := d.Notices(t.Context(), since, until, "standing|")
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range ns {
			out = append(out, n.Key)
		}
		return out
	}
	if diff := cmp.Diff([]string{"standing|a", "standing|c"}, keys(noon, d.now())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"standing|a"}, keys(noon, noon.Add(time.Hour))); diff != "" {
		t.Error(diff)
	}
	d.do(func(tx *Tx) error { return tx.Forget("standing|a") })
	if diff := cmp.Diff([]string{"standing|c"}, keys(noon, d.now())); diff != "" {
		t.Errorf("what is over: %s", diff)
	}
	if _, ok, err := d.LastNotice(t.Context(), "standing|a"); err != nil || ok {
		t.Errorf("what is over is still known by its key (%v)", err)
	}
	d.queue(notify.Notice{Key: "standing|a", Thread: "second"}, "wx")
	if n, ok, err := d.LastNotice(t.Context(), "standing|a"); err != nil || !ok || n.Thread != "second" {
		t.Errorf("%+v (%v, %v)", n, ok, err)
	}
}

func TestAnAnswerIsAboutOneThingFromThenOn(t *testing.T) {
	d := open(t)
	answered := func(id string, since time.Time) bool {
		t.Helper()
		ok, err := d.Answered(t.Context(), ref(id), since)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	d.pass(time.Hour)
	d.do(func(tx *Tx) error { return tx.Answer(ref("a"), "wang") })
	d.again()
	if !answered("a", noon) || !answered("a", d.now()) {
		t.Error("an answer to what was told before does not count")
	}
	if answered("a", d.now().Add(time.Second)) || answered("b", noon) {
		t.Error("an answer counts for what was told later, or of something else")
	}
	d.pass(time.Hour)
	d.do(func(tx *Tx) error { return tx.Answer(ref("a"), "li") })
	if !answered("a", d.now()) || d.rows("answers", "by_whom = 'li'") != 1 {
		t.Error("a second answer does not count")
	}
}
