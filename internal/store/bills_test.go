package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func (d *desk) bills(since time.Time) map[string][]BilledDay {
	d.t.Helper()
	all, err := d.Bills(d.t.Context(), since)
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

func billedDay(n int, read time.Time, micros ...int64) BilledDay {
	day := BilledDay{From: noon.AddDate(0, 0, n), ReadAt: read, Items: []fleet.BillItem{}}
	for _, m := range micros {
		day.Items = append(day.Items, fleet.BillItem{
			Ref: fleet.Ref{Account: "acc", Kind: fleet.KindDisk, ID: "d"}, Item: fleet.ItemDisk, Kind: fleet.BillUsage,
			From: day.From, To: day.From.Add(time.Hour), Amount: fleet.CNY(m), Vouchers: fleet.CNY(1), SettledAt: day.From.Add(time.Hour),
		})
	}
	return day
}

func TestABillThatIsReadAgainReplacesItsDays(t *testing.T) {
	d := open(t)
	save := func(account string, from, to int, days ...BilledDay) {
		t.Helper()
		d.do(func(tx *Tx) error {
			return tx.SaveBill(account, noon.AddDate(0, 0, from), noon.AddDate(0, 0, to), days)
		})
	}
	if at, err := d.BillReadAt(t.Context(), "acc"); err != nil || !at.IsZero() {
		t.Errorf("before any bill it was read at %s: %v", at, err)
	}
	later := noon.Add(50 * time.Hour)
	save("acc", 0, 3, billedDay(0, noon, 1, 2), billedDay(1, noon, 3), billedDay(2, noon))
	save("other", 0, 1, billedDay(0, noon, 9))
	save("acc", 1, 3, billedDay(1, later, 3, 4), billedDay(2, later, 5))
	want := map[string][]BilledDay{
		"acc":   {billedDay(0, noon, 1, 2), billedDay(1, later, 3, 4), billedDay(2, later, 5)},
		"other": {billedDay(0, noon, 9)},
	}
	if diff := cmp.Diff(want, d.bills(time.Time{})); diff != "" {
		t.Errorf("bills (-want +got):\n%s", diff)
	}
	if got := d.bills(noon.AddDate(0, 0, 2)); len(got) != 1 || len(got["acc"]) != 1 {
		t.Errorf("since the third day: %+v", got)
	}
	if at, err := d.BillReadAt(t.Context(), "acc"); err != nil || !at.Equal(later) {
		t.Errorf("read at %s, %v; want %s", at, err, later)
	}
	d.do(func(tx *Tx) error { return tx.ForgetAccount("acc") })
	if got := d.bills(time.Time{}); len(got) != 1 || len(got["other"]) != 1 {
		t.Errorf("after the account was forgotten: %+v", got)
	}
	d.do(func(tx *Tx) error {
		tx.Now = noon.AddDate(0, 0, 100)
		return tx.Prune(90 * 24 * time.Hour)
	})
	if got := d.bills(time.Time{}); len(got) != 0 {
		t.Errorf("longer ago than the history: %+v", got)
	}
}
