package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func (d *desk) presses(intent int64, turn int) []Press {
	d.t.Helper()
	ps, err := d.Presses(d.t.Context(), intent, turn)
	if err != nil {
		d.t.Fatal(err)
	}
	return ps
}

func TestAnAnswerCountsOnceForEachAnnouncement(t *testing.T) {
	d := open(t)
	p := Press{Intent: 7, Turn: 1, What: "now", By: "Wang", Channel: "lab", Came: fleet.Because("app.press-hurried", fleet.Values{"by": fleet.Text("Wang")})}
	d.do(func(tx *Tx) error { return tx.SavePress(p) })
	if err := d.Update(t.Context(), func(tx *Tx) error { return tx.SavePress(p) }); err == nil {
		t.Error("the same answer is recorded twice")
	}
	d.at = d.at.Add(time.Minute)
	other, later := p, p
	other.What, later.Turn = "hold-1h", 2
	d.do(func(tx *Tx) error { return tx.SavePress(other) })
	d.do(func(tx *Tx) error { return tx.SavePress(later) })
	p.At, other.At, later.At = noon, d.at, d.at
	if diff := cmp.Diff([]Press{p, other}, d.presses(7, 1), cmp.AllowUnexported(fleet.Value{})); diff != "" {
		t.Errorf("of the first announcement (-want +got):\n%s", diff)
	}
	d.do(func(tx *Tx) error {
		got, err := tx.Presses(7, 2)
		if diff := cmp.Diff([]Press{later}, got, cmp.AllowUnexported(fleet.Value{})); diff != "" {
			t.Errorf("of the second (-want +got):\n%s", diff)
		}
		return err
	})
	d.at = d.at.Add(91 * 24 * time.Hour)
	d.do(func(tx *Tx) error { return tx.Prune(90 * 24 * time.Hour) })
	if ps := d.presses(7, 1); len(ps) != 0 {
		t.Errorf("old answers are kept: %+v", ps)
	}
}
