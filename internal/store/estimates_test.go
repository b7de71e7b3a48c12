package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func (d *desk) estimate(id string, boot fleet.Boot) (e fleet.Estimate, before *fleet.Estimate) {
	d.t.Helper()
	d.do(func(tx *Tx) (err error) {
		e = fleet.Estimate{
			Ref: ref(id), Boot: boot, At: tx.Now, Since: tx.Now, For: time.Hour, Margin: "20",
			Total: fleet.CNY(2_000_000), Limit: fleet.CNY(2_400_000),
			Price: fleet.Price{PerHour: fleet.CNY(2_000_000), Source: fleet.PriceProvider},
		}
		before, err = tx.OpenEstimate(&e)
		return err
	})
	return e, before
}

func (d *desk) estimates(id string) (ends []string) {
	d.t.Helper()
	all, err := d.Estimates(d.t.Context(), ref(id), 10)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range all {
		ends = append(ends, string(e.Boot)+" "+string(e.Closed))
	}
	return ends
}

func TestAnInstanceHasOneOpenEstimateInABoot(t *testing.T) {
	d := open(t)
	first, none := d.estimate("a", "n1")
	other, _ := d.estimate("b", "n1")
	if none != nil || first.ID == other.ID {
		t.Fatalf("the first replaced %+v; the numbers are %d and %d", none, first.ID, other.ID)
	}
	second, before := d.estimate("a", "n1")
	if before == nil || before.ID != first.ID || before.Closed != fleet.EstimateReplaced {
		t.Fatalf("the second replaced %+v", before)
	}
	if _, before := d.estimate("a", "n2"); before != nil {
		t.Errorf("that of another boot replaced %+v", before)
	}
	if diff := cmp.Diff([]string{"n2 ", "n1 stopped", "n1 replaced"}, d.estimates("a")); diff != "" {
		t.Errorf("estimates (-want +got):\n%s", diff)
	}
	second.Close(noon, fleet.EstimateReplaced) // what is closed stays as it is
	d.do(func(tx *Tx) error { return tx.SaveEstimate(second) })
	if diff := cmp.Diff([]string{"n2 ", "n1 stopped", "n1 replaced"}, d.estimates("a")); diff != "" {
		t.Errorf("after a late save (-want +got):\n%s", diff)
	}
	d.do(func(tx *Tx) error {
		dropped, err := tx.DropEstimate(ref("a"))
		if err != nil || dropped == nil || dropped.Boot != "n2" {
			t.Errorf("dropped %+v (%v)", dropped, err)
		}
		dropped, err = tx.DropEstimate(ref("a"))
		if err != nil || dropped != nil {
			t.Errorf("dropped a second time: %+v (%v)", dropped, err)
		}
		return nil
	})
	open, err := d.OpenEstimates(t.Context())
	if diff := cmp.Diff([]fleet.Estimate{other}, open); err != nil || diff != "" {
		t.Errorf("open (%v, -want +got):\n%s", err, diff)
	}
}

func TestEstimatesGoWithTheHistory(t *testing.T) {
	d := open(t)
	for _, id := range []string{"a", "b", "gone"} {
		d.estimate(id, "n1")
	}
	for _, id := range []string{"a", "b"} {
		d.do(func(tx *Tx) error {
			return tx.SaveThing(nil, Thing{Instance: fleet.Instance{Ref: ref(id), State: fleet.StateRunning}, FirstSeen: noon, SeenAt: noon})
		})
	}
	e, _ := d.estimate("a", "n1") // replaces one, which is kept for a while
	e.Close(noon, fleet.EstimateStopped)
	d.do(func(tx *Tx) error { return tx.SaveEstimate(e) })
	const keep = 60 * 24 * time.Hour
	d.do(func(tx *Tx) error { return tx.Prune(keep) })
	if a, b, gone := d.estimates("a"), d.estimates("b"), d.estimates("gone"); len(a) != 2 || len(b) != 1 || len(gone) != 0 {
		t.Errorf("kept are %v, %v and %v", a, b, gone)
	}
	d.pass(keep + time.Second)
	d.do(func(tx *Tx) error { return tx.Prune(keep) })
	if a, b := d.estimates("a"), d.estimates("b"); len(a) != 0 || len(b) != 1 {
		t.Errorf("after the history's time kept are %v and %v", a, b)
	}
}
