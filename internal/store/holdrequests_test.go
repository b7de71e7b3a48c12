package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"curfew/fleet"
	"curfew/internal/guard"
)

func TestRequestsToHoldWaitForADay(t *testing.T) {
	d := open(t)
	a, b := fleet.Ref{Account: "acc", Kind: fleet.KindInstance, ID: "a"}, fleet.Ref{Account: "acc", Kind: fleet.KindInstance, ID: "b"}
	ask := func(ref fleet.Ref, by string) HoldRequest {
		t.Helper()
		r := HoldRequest{Ref: ref, By: by, Why: "copying", Until: d.now().Add(48 * time.Hour), Expires: d.now().Add(24 * time.Hour)}
		d.do(func(tx *Tx) error { return tx.AskForHold(&r) })
		return r
	}
	want := func(when string, want ...HoldRequest) {
		t.Helper()
		got, err := d.HoldRequests(t.Context(), d.now())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	want("before any")
	d.do(func(tx *Tx) error { return tx.DropHoldRequests(func(HoldRequest) bool { return true }) })
	first, second := ask(a, "wang"), ask(b, "li")
	if first.ID == second.ID || first.ID == 0 {
		t.Errorf("numbers %d and %d", first.ID, second.ID)
	}
	want("two", first, second)
	d.pass(time.Hour)
	third := ask(a, "zhao")
	want("one takes the place of the first", second, third)
	d.pass(23 * time.Hour)
	want("after a day the older one is over", third)
	d.do(func(tx *Tx) error { return tx.DropHoldRequests(func(r HoldRequest) bool { return r.ID == third.ID }) })
	want("what was granted waits no more")
	if again := ask(a, "wang"); again.ID <= third.ID {
		t.Errorf("number %d is given again after %d", again.ID, third.ID)
	}
}

func TestHoldsOfAThingAreReadBackThoughTheyAreOver(t *testing.T) {
	d := open(t)
	ref := fleet.Ref{Account: "acc", Kind: fleet.KindInstance, ID: "a"}
	began := d.now()
	d.do(func(tx *Tx) error {
		if err := tx.AddHold(&fleet.Hold{Ref: fleet.Ref{Account: "acc", Kind: fleet.KindInstance, ID: "b"}, Until: began.Add(time.Hour)}); err != nil {
			return err
		}
		return tx.AddHold(&fleet.Hold{Ref: ref, Until: began.Add(8 * time.Hour), By: "wang"})
	})
	d.pass(2 * time.Hour)
	d.do(func(tx *Tx) error { return tx.EndHolds(ref) })
	d.pass(time.Hour)
	for since, want := range map[time.Duration]int{0: 1, time.Hour: 1, 2 * time.Hour: 0} {
		holds, err := d.HoldsOf(t.Context(), ref, began.Add(since))
		if err != nil {
			t.Fatal(err)
		}
		if len(holds) != want || want == 1 && (!holds[0].CreatedAt.Equal(began) || !holds[0].Until.Equal(began.Add(2*time.Hour))) {
			t.Errorf("since %s: %+v, want %d", since, holds, want)
		}
	}
}

func TestAHoldFileThatIsGoneIsKeptForAsLongAsItCounts(t *testing.T) {
	d := open(t)
	ref := fleet.Ref{Account: "acc", Kind: fleet.KindInstance, ID: "a"}
	read := func() []BoxHold {
		t.Helper()
		holds, err := d.BoxHolds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return holds
	}
	h := BoxHold{Ref: ref, Boot: "n1", Since: d.now(), Until: d.now().Add(5 * time.Hour), Ends: d.now().Add(2 * time.Hour)}
	if !h.End().Equal(h.Ends) || len(h.Held()) != 1 || !h.Held()[0].To.Equal(h.Ends) {
		t.Errorf("it holds until %s: %v", h.End(), h.Held())
	}
	gone := BoxHold{Ref: ref, Past: []guard.Held{{From: d.now(), To: d.now().Add(time.Hour)}}}
	for _, one := range []BoxHold{h, gone} {
		d.do(func(tx *Tx) error { return tx.SaveBoxHold(one) })
		if diff := cmp.Diff([]BoxHold{one}, read()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	d.do(func(tx *Tx) error { return tx.SaveBoxHold(BoxHold{Ref: ref}) })
	if left := read(); len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
}
