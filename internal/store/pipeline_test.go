package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/notify"
)

// queue queues a notice to channels.
func (d *desk) queue(n notify.Notice, channels ...string) {
	d.t.Helper()
	d.do(func(tx *Tx) error {
		var all []Address
		for _, name := range channels {
			all = append(all, Address{Channel: name})
		}
		n.At = tx.Now
		queued, err := tx.Enqueue(n, all, time.Time{})
		if err == nil && !queued {
			err = fmt.Errorf("%s was told before", n.Key)
		}
		return err
	})
}

// outcome records what became of a delivery, with what the platform calls the message.
func (d *desk) outcome(del notify.Delivery, v notify.Verdict, next time.Time) {
	d.t.Helper()
	if err := d.RecordDeliveries(d.t.Context(), del.Channel, []notify.Outcome{{Delivery: del, Verdict: v, Next: next}}, true, d.now()); err != nil {
		d.t.Fatal(err)
	}
}

func TestWhatASendCountsIsKeptByChannelAndForgottenAfterAMonth(t *testing.T) {
	d := open(t)
	d.queue(notify.Notice{Key: "a"}, "wx", "mail")
	began := d.now()
	for _, del := range d.due() {
		d.record(del, notify.VerdictRetry, d.now().Add(time.Minute))
		d.pass(time.Second)
	}
	if err := d.RecordDeliveries(t.Context(), "wx", nil, false, d.now()); err != nil {
		t.Fatal(err)
	}
	sends := func(channel string, since time.Time) []time.Time {
		t.Helper()
		at, err := d.Sends(t.Context(), channel, since)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	d.again()
	if diff := cmp.Diff([]time.Time{began}, sends("wx", began)); diff != "" {
		t.Error(diff)
	}
	if got := sends("wx", began.Add(time.Millisecond)); len(got) != 0 {
		t.Errorf("%v are since later", got)
	}
	d.pass(31 * 24 * time.Hour)
	d.do(func(tx *Tx) error { return tx.Prune(time.Hour) })
	if got := sends("wx", time.Time{}); len(got) != 1 {
		t.Errorf("within the month of the longest quota %d are kept", len(got))
	}
	d.pass(48 * time.Hour)
	d.do(func(tx *Tx) error { return tx.Prune(time.Hour) })
	if got := sends("wx", time.Time{}); len(got) != 0 {
		t.Errorf("%d are kept for ever", len(got))
	}
}

func TestTheOutcomesOfAMessageAreKeptTogetherOrNotAtAll(t *testing.T) {
	fail := false
	d := open(t, func(p Phase, journal bool) error {
		if fail && journal && p == BeforeCommit {
			return context.Canceled
		}
		return nil
	})
	d.queue(notify.Notice{Key: "a"}, "wx")
	d.queue(notify.Notice{Key: "b"}, "wx")
	var outs []notify.Outcome
	for _, del := range d.due() {
		del.Attempt++
		outs = append(outs, notify.Outcome{Delivery: del, Verdict: notify.Verdict{Kind: notify.VerdictOK}})
	}
	fail = true
	if err := d.RecordDeliveries(t.Context(), "wx", outs, true, d.now()); err == nil {
		t.Fatal("it did not fail")
	}
	if n := d.rows("outbox", "done_at = 0"); n != 2 || d.rows("sends", "1 = 1") != 0 {
		t.Errorf("%d are left, want both, and nothing counted", n)
	}
	fail = false
	if err := d.RecordDeliveries(t.Context(), "wx", outs, true, d.now()); err != nil {
		t.Fatal(err)
	}
	if n := d.rows("outbox", "done_at = 0"); n != 0 || d.rows("sends", "1 = 1") != 1 {
		t.Errorf("%d are left, and one message is counted %d times", n, d.rows("sends", "1 = 1"))
	}
}

func TestGroupTimes(t *testing.T) {
	d := open(t)
	times := func(channel, group string) (waiting, last time.Duration) {
		t.Helper()
		d.do(func(tx *Tx) error {
			w, l, err := tx.GroupTimes(channel, group)
			if !w.IsZero() {
				waiting = w.Sub(noon)
			}
			if !l.IsZero() {
				last = l.Sub(noon)
			}
			return err
		})
		return waiting, last
	}
	want := func(when, channel, group string, waiting, last time.Duration) {
		t.Helper()
		if w, l := times(channel, group); w != waiting || l != last {
			t.Errorf("%s: the next in %s, the last at %s; want %s and %s", when, w, l, waiting, last)
		}
	}
	at := func(key, channel, group string, in time.Duration) {
		d.do(func(tx *Tx) error {
			_, err := tx.Enqueue(notify.Notice{Key: key, Group: group}, []Address{{Channel: channel, At: d.now().Add(in)}}, time.Time{})
			return err
		})
	}
	want("nothing was queued", "wx", "g", 0, 0)
	at("a", "wx", "g", 30*time.Second)
	at("b", "wx", "g", 20*time.Second)
	at("c", "wx", "another", 10*time.Second)
	at("d", "mail", "g", 5*time.Second)
	at("e", "wx", "", time.Second)
	want("two wait", "wx", "g", 20*time.Second, 0)
	want("what has no group has no company", "wx", "", 0, 0)
	d.pass(25 * time.Second)
	want("one is due and goes without more", "wx", "g", 30*time.Second, 0)
	for _, del := range d.due() {
		d.record(del, notify.VerdictOK, time.Time{})
	}
	want("one was taken", "wx", "g", 30*time.Second, 25*time.Second)
	d.pass(10 * time.Second)
	d.record(d.due()[0], notify.VerdictPermanent, time.Time{})
	want("one was refused, which is no message", "wx", "g", 0, 25*time.Second)
}

func TestAGroupIsReadWholeHoweverManyAreDue(t *testing.T) {
	d := open(t)
	for n := range 30 {
		d.do(func(tx *Tx) error {
			group := "g"
			if n%3 == 0 {
				group = ""
			}
			_, err := tx.Enqueue(notify.Notice{Key: fmt.Sprint(n), Group: group}, []Address{{Channel: "wx"}, {Channel: "mail"}}, time.Time{})
			return err
		})
		d.pass(time.Second)
	}
	ds, err := d.DueDeliveries(t.Context(), d.now(), 3)
	if err != nil {
		t.Fatal(err)
	}
	grouped, alone := map[string]int{}, 0
	for _, del := range ds {
		if del.Notice.Group == "" {
			alone++
		} else {
			grouped[del.Channel]++
		}
	}
	if alone != 2 || grouped["wx"] != 20 || grouped["mail"] != 0 {
		t.Errorf("of a limit of 3: %d alone, of the groups %v; want the two first alone and all of the group of the third", alone, grouped)
	}
	if !slices.IsSortedFunc(ds, func(a, b notify.Delivery) int { return a.NextAt.Compare(b.NextAt) }) {
		t.Error("they are not in order")
	}
}

func TestWhatIsInOneMessageIsRememberedUntilItsAnswerIs(t *testing.T) {
	d := open(t)
	d.queue(notify.Notice{Key: "a", Group: "g"}, "wx")
	d.queue(notify.Notice{Key: "b", Group: "g"}, "wx")
	ds := d.due()
	if err := d.Seal(t.Context(), "l1", []int64{ds[0].ID, ds[1].ID}); err != nil {
		t.Fatal(err)
	}
	d.again()
	for _, del := range d.due() {
		if del.Letter != "l1" {
			t.Errorf("delivery %d is in %q", del.ID, del.Letter)
		}
	}
	one := d.due()[0]
	one.Attempt, one.Letter, one.Plain, one.Alone = 1, "", true, true
	d.outcome(one, notify.Verdict{Kind: notify.VerdictBadMessage}, d.now())
	if got := d.due()[0]; got.Letter != "" || !got.Alone || !got.Plain || got.Attempt != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTheFirstMessageOfAThreadIsAnswered(t *testing.T) {
	d := open(t)
	d.queue(notify.Notice{Key: "open", Thread: "t"}, "wx", "mail")
	d.queue(notify.Notice{Key: "another", Thread: "u"}, "wx")
	d.queue(notify.Notice{Key: "none"}, "wx")
	for n, del := range d.due() {
		del.Attempt++
		d.outcome(del, notify.Verdict{Kind: notify.VerdictOK, Ref: fmt.Sprintf("%s-%d", del.Channel, n)}, time.Time{})
	}
	d.queue(notify.Notice{Key: "over", Thread: "t"}, "wx", "mail", "late")
	d.queue(notify.Notice{Key: "nothing", Thread: ""}, "wx")
	var got []string
	for _, del := range d.due() {
		got = append(got, del.Channel+" "+del.ReplyTo)
	}
	if diff := cmp.Diff([]string{"wx wx-0", "mail mail-1", "late ", "wx "}, got); diff != "" {
		t.Error(diff)
	}
	for n, del := range d.due() {
		del.Attempt++
		d.outcome(del, notify.Verdict{Kind: notify.VerdictOK, Ref: fmt.Sprintf("second-%d", n)}, time.Time{})
	}
	d.queue(notify.Notice{Key: "again", Thread: "t"}, "wx")
	if got := d.due()[0].ReplyTo; got != "wx-0" {
		t.Errorf("answers %q, want the first of the thread", got)
	}
}

// What is held back is worth telling for as long from then on.
func TestWhatIsHeldBackDoesNotExpireMeanwhile(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error {
		n := notify.Notice{Key: "a", At: tx.Now, Expires: tx.Now.Add(6 * time.Hour)}
		_, err := tx.Enqueue(n, []Address{{Channel: "wx"}, {Channel: "mail", At: tx.Now.Add(9 * time.Hour)}}, time.Time{})
		return err
	})
	d.pass(9 * time.Hour)
	for _, del := range d.due() {
		want := noon.Add(6 * time.Hour)
		if del.Channel == "mail" {
			want = noon.Add(15 * time.Hour)
		}
		if !del.ExpiresAt.Equal(want) {
			t.Errorf("%s: it expires at %s, want %s", del.Channel, del.ExpiresAt, want)
		}
	}
}

// plan gives how the database goes about a query.
func plan(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	args := make([]any, strings.Count(query, "$"))
	for n := range args {
		args[n] = "1"
	}
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		out = append(out, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// Nothing that is asked for each of many notices goes through all of them.
func TestTwentyThousandNoticesAreReadAndQueuedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes much")
	}
	d := open(t)
	const many = 20_000
	began := time.Now()
	d.do(func(tx *Tx) error {
		for n := range many {
			if _, _, err := tx.GroupTimes("wx", "g"); err != nil {
				return err
			}
			one := notify.Notice{Key: fmt.Sprint("k", n), Thread: fmt.Sprint("t", n), Group: "g"}
			if n%2 == 0 {
				one.Group = ""
			}
			if _, err := tx.Enqueue(one, []Address{{Channel: "wx"}}, time.Time{}); err != nil {
				return err
			}
			if n%100 == 0 {
				if _, err := tx.Reached(one.Thread); err != nil {
					return err
				}
			}
		}
		return nil
	})
	queued := time.Since(began)
	began = time.Now()
	ds, err := d.DueDeliveries(t.Context(), d.now(), 500)
	if err != nil {
		t.Fatal(err)
	}
	read := time.Since(began)
	if len(ds) < many/2 {
		t.Fatalf("%d are due", len(ds))
	}
	began = time.Now()
	var outs []notify.Outcome
	for _, del := range ds {
		del.Attempt++
		outs = append(outs, notify.Outcome{Delivery: del, Verdict: notify.Verdict{Kind: notify.VerdictOK, Ref: "r"}})
	}
	if err := d.RecordDeliveries(t.Context(), "wx", outs, true, d.now()); err != nil {
		t.Fatal(err)
	}
	recorded := time.Since(began)
	began = time.Now()
	if _, err := d.Untaken(t.Context(), noon.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	untaken := time.Since(began)
	t.Logf("queue %s, read %s, record %s, look for what nobody took %s", queued, read, recorded, untaken)
	for what, took := range map[string]time.Duration{"queue": queued, "read": read, "record": recorded, "untaken": untaken} {
		if took > time.Minute {
			t.Errorf("%s took %s", what, took)
		}
	}
}

func TestNoQueryOfAMessageGoesThroughAllNotices(t *testing.T) {
	d := open(t)
	for what, query := range map[string]string{
		"the due":          dueQuery,
		"times of a group": groupTimesQuery,
		"the reached":      reachedQuery,
	} {
		if got := plan(t, d.r, query); strings.Contains(got, "SCAN n") || strings.Contains(got, "SCAN m") || strings.Contains(got, "SCAN o") ||
			strings.Contains(got, "SCAN outbox\n") || strings.Contains(got, "SCAN p") {
			t.Errorf("%s are found by going through everything:\n%s", what, got)
		}
	}
}
