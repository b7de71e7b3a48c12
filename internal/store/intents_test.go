package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

func TestAThingHasOneOpenIntent(t *testing.T) {
	d := open(t)
	first := d.intent("a")
	if first.ID != 1 || first.State != fleet.IntentPending || !first.CreatedAt.Equal(noon) || first.Fence != d.Fence() {
		t.Errorf("the first intent is %+v", first)
	}
	second := fleet.Intent{Ref: ref("a"), Action: fleet.Release}
	err := d.Update(t.Context(), func(tx *Tx) error { return tx.OpenIntent(&second, fleet.Release) })
	if !errors.Is(err, ErrOpenIntent) {
		t.Fatalf("a second one was answered with %v", err)
	}
	other := d.intent("b")
	d.save(&first, fleet.IntentPending, "closed", func(i *fleet.Intent) { i.State, i.ClosedAt = fleet.IntentClosed, noon })
	third := d.intent("a")
	open, err := d.OpenIntents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, i := range open {
		ids = append(ids, i.ID)
	}
	if diff := cmp.Diff([]int64{other.ID, third.ID}, ids); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
}

func TestAReferenceThatNeedsEscapingIsItsOwnThing(t *testing.T) {
	d := open(t)
	d.intent("a@b")
	d.intent("a", func(i *fleet.Intent) { i.Ref.Incarnation = "b" })
	open, err := d.OpenIntents(t.Context())
	if err != nil || len(open) != 2 || open[0].Ref == open[1].Ref {
		t.Errorf("%+v (%v)", open, err)
	}
}

func TestASaveOverSomebodyElsesIsRefused(t *testing.T) {
	d := open(t)
	mine := d.intent("a")
	theirs := mine
	d.save(&theirs, fleet.IntentPending, "started", func(i *fleet.Intent) { i.State, i.StartedAt = fleet.IntentStarted, noon })
	mine.State = fleet.IntentClosed
	err := d.Update(t.Context(), func(tx *Tx) error { return tx.SaveIntent(&mine, fleet.IntentPending, "closed") })
	if !errors.Is(err, ErrChanged) {
		t.Fatalf("got %v", err)
	}
	if got := d.read(mine.ID); got.State != fleet.IntentStarted {
		t.Errorf("the intent is %s", got.State)
	}
	unknown := fleet.Intent{ID: 77, State: fleet.IntentClosed}
	if err := d.Update(t.Context(), func(tx *Tx) error { return tx.SaveIntent(&unknown, fleet.IntentPending, "closed") }); !errors.Is(err, ErrChanged) {
		t.Errorf("an unknown intent was answered with %v", err)
	}
	if _, err := d.Intent(t.Context(), 77); err == nil {
		t.Error("an unknown intent was read")
	}
}

func TestTheJournalOnlyGrows(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	before := []Entry{}
	grown := func(want ...string) {
		t.Helper()
		now, err := d.Journal(t.Context(), i.ID)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for _, e := range now {
			steps = append(steps, e.Step)
		}
		if diff := cmp.Diff(want, steps); diff != "" {
			t.Fatalf("steps (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, now[:len(before)], reasons); diff != "" {
			t.Errorf("what was journaled has changed (-before +now):\n%s", diff)
		}
		before = now
	}
	grown("opened")
	d.pass(time.Minute)
	d.save(&i, fleet.IntentPending, Unnoted, func(i *fleet.Intent) { i.NextAt = noon.Add(time.Hour) })
	grown("opened")
	d.save(&i, fleet.IntentPending, "started", func(i *fleet.Intent) {
		i.State, i.StartedAt = fleet.IntentStarted, d.now()
		i.Attempts = append(i.Attempts, fleet.Attempt{StartedAt: d.now(), Fence: d.Fence()})
		i.HeldBack = fleet.Because("a.b", fleet.Values{"n": fleet.Number(2)})
	})
	grown("opened", "started")
	d.pass(time.Minute)
	d.save(&i, fleet.IntentStarted, "closed", func(i *fleet.Intent) {
		i.State, i.Outcome, i.ClosedAt = fleet.IntentClosed, fleet.OutcomeDone, d.now()
	})
	grown("opened", "started", "closed")
	if before[1].At != noon.Add(time.Minute) || before[1].Row.State != fleet.IntentStarted || before[2].Row.Outcome != fleet.OutcomeDone {
		t.Errorf("the journal tells %+v", before)
	}
	d.again()
	grown("opened", "started", "closed")
}

var reasons = cmp.AllowUnexported(fleet.Value{})

func TestOnlyWhatWasSentAndNotRefusedCounts(t *testing.T) {
	d := open(t)
	at := func(id string, minute int, change func(*fleet.Intent)) {
		i := d.intent(id, func(i *fleet.Intent) { i.Money = id == "money" })
		d.save(&i, fleet.IntentPending, "started", func(i *fleet.Intent) {
			i.State, i.StartedAt = fleet.IntentStarted, noon.Add(time.Duration(minute)*time.Minute)
		})
		d.save(&i, fleet.IntentStarted, "then", func(i *fleet.Intent) { change(i) })
	}
	closed := func(o fleet.Outcome) func(*fleet.Intent) {
		return func(i *fleet.Intent) {
			i.State, i.Outcome, i.ClosedAt = fleet.IntentClosed, o, i.StartedAt.Add(time.Minute)
		}
	}
	d.intent("only announced")
	at("long ago", -60, closed(fleet.OutcomeDone))
	at("done", -59, closed(fleet.OutcomeDone))
	at("failed", -30, closed(fleet.OutcomeFailedWrite))
	at("abandoned after a try", -30, closed(fleet.OutcomeAbandoned))
	at("under way", -1, func(*fleet.Intent) {})
	at("money", -1, func(*fleet.Intent) {})
	at("tried again", -90, func(i *fleet.Intent) { i.State, i.StartedAt = fleet.IntentPending, noon }) // counts from its first try
	for _, c := range []struct {
		effect fleet.Action
		money  bool
		want   int
	}{{fleet.Stop, false, 3}, {fleet.Stop, true, 1}, {fleet.Release, false, 0}} {
		n, err := d.Sent(t.Context(), c.effect, c.money, noon.Add(-time.Hour))
		if err != nil || n != c.want {
			t.Errorf("%s, for money %v: %d (%v), want %d", c.effect, c.money, n, err, c.want)
		}
		d.do(func(tx *Tx) error {
			if inside, err := tx.Sent(c.effect, c.money, noon.Add(-time.Hour)); err != nil || inside != c.want {
				t.Errorf("in a transaction: %d (%v), want %d", inside, err, c.want)
			}
			return nil
		})
	}
}

func TestTheLastActOfAThingIsTheNewestThatWasSent(t *testing.T) {
	d := open(t)
	for n, sent := range []bool{true, true, false} {
		i := d.intent("a")
		if sent {
			d.save(&i, fleet.IntentPending, "started", func(i *fleet.Intent) { i.State, i.StartedAt = fleet.IntentStarted, noon })
		}
		d.save(&i, i.State, "closed", func(i *fleet.Intent) {
			i.State, i.ClosedAt = fleet.IntentClosed, noon.Add(time.Duration(n)*time.Minute)
		})
	}
	d.do(func(tx *Tx) error {
		last, ok, err := tx.LastClosed(ref("a"))
		if err != nil || !ok || last.ID != 2 {
			t.Errorf("the last act is #%d, %v (%v), want #2", last.ID, ok, err)
		}
		if _, ok, err := tx.LastClosed(ref("b")); ok || err != nil {
			t.Errorf("a thing without acts has one (%v)", err)
		}
		return nil
	})
	all, err := d.LastSent(t.Context(), noon)
	if err != nil || all[ref("a")].ID != 2 || len(all) != 1 {
		t.Errorf("last sent: %+v (%v)", all, err)
	}
	if all, err = d.LastSent(t.Context(), noon.Add(time.Hour)); err != nil || len(all) != 0 {
		t.Errorf("last sent since later: %+v (%v)", all, err)
	}
}

func TestGroundsAreThoseOfDoneStopsOfThingsThatAreStillThere(t *testing.T) {
	d := open(t)
	seen := func(id string, first time.Time) {
		d.do(func(tx *Tx) error {
			return tx.SaveThing(nil, Thing{Instance: fleet.Instance{Ref: ref(id), State: fleet.StateStopped}, FirstSeen: first, SeenAt: first})
		})
	}
	stop := func(id string, outcome fleet.Outcome, mode fleet.Mode) {
		i := d.intent(id, func(i *fleet.Intent) {
			i.Verdicts = []fleet.Verdict{
				{Policy: "p", Terms: fleet.Terms{Mode: mode}, Ground: &fleet.Ground{Policy: "p", Boot: "n1", Run: "r-" + id, Goal: fleet.Release}},
				{Policy: "no ground", Terms: fleet.Terms{Mode: mode}},
			}
		})
		d.save(&i, fleet.IntentPending, "closed", func(i *fleet.Intent) { i.State, i.Outcome, i.ClosedAt = fleet.IntentClosed, outcome, noon })
	}
	seen("done", noon.Add(-time.Hour))
	stop("done", fleet.OutcomeDone, fleet.Enforce)
	seen("billing", noon.Add(-time.Hour))
	stop("billing", fleet.OutcomeDoneStillBilling, fleet.Enforce)
	seen("abandoned", noon.Add(-time.Hour))
	stop("abandoned", fleet.OutcomeAbandoned, fleet.Enforce)
	seen("dry", noon.Add(-time.Hour))
	stop("dry", fleet.OutcomeDone, fleet.DryRun)
	stop("unknown", fleet.OutcomeDone, fleet.Enforce)
	// It was forgotten and seen anew: its boots are counted from one again.
	stop("anew", fleet.OutcomeDone, fleet.Enforce)
	seen("anew", noon.Add(time.Minute))
	got, err := d.Grounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]string{}
	for r, gs := range got {
		for _, g := range gs {
			runs[r.ID] += g.Run
		}
	}
	if diff := cmp.Diff(map[string]string{"done": "r-done", "billing": "r-billing"}, runs); diff != "" {
		t.Errorf("grounds (-want +got):\n%s", diff)
	}
}

func TestHoldsEndByThemselvesAndByHand(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error {
		for _, h := range []fleet.Hold{
			{Ref: ref("a"), Until: noon.Add(time.Hour), By: "wang"},
			{Ref: ref("a"), Until: noon.Add(2 * time.Hour), By: "li"},
			{Ref: ref("b"), Until: noon.Add(time.Minute), By: "li"},
		} {
			if err := tx.AddHold(&h); err != nil {
				return err
			}
		}
		return nil
	})
	held := func(want int) {
		t.Helper()
		hs, err := d.Holds(t.Context(), d.now())
		if err != nil || len(hs) != want {
			t.Errorf("%d holds (%v), want %d", len(hs), err, want)
		}
		d.do(func(tx *Tx) error {
			if hs, err := tx.Holds(); err != nil || len(hs) != want {
				t.Errorf("in a transaction %d holds (%v), want %d", len(hs), err, want)
			}
			return nil
		})
	}
	held(3)
	d.pass(time.Minute)
	held(2)
	d.do(func(tx *Tx) error { return tx.EndHolds(ref("a")) })
	held(0)
	if n := d.rows("holds", "1=1"); n != 3 {
		t.Errorf("%d holds are on record, want 3", n)
	}
}

func TestApprovals(t *testing.T) {
	d := open(t)
	i, other := d.intent("a"), d.intent("b")
	yes := Approval{Intent: i.ID, By: "wang", At: noon, Expires: noon.Add(24 * time.Hour)}
	d.do(func(tx *Tx) error {
		if _, ok, err := tx.Approval(i.ID); ok || err != nil {
			t.Errorf("approved before anybody said so (%v)", err)
		}
		return tx.Approve(yes)
	})
	again := yes
	again.By, again.Expires = "li", noon.Add(48*time.Hour)
	d.do(func(tx *Tx) error { return tx.Approve(again) })
	d.do(func(tx *Tx) error {
		got, ok, err := tx.Approval(i.ID)
		if err != nil || !ok || got != again {
			t.Errorf("%+v, %v (%v), want %+v", got, ok, err, again)
		}
		if _, ok, _ := tx.Approval(other.ID); ok {
			t.Error("the yes counts for another act")
		}
		return nil
	})
	all, err := d.Approvals(t.Context())
	if err != nil || len(all) != 1 || all[i.ID] != again {
		t.Errorf("approvals %+v (%v)", all, err)
	}
	d.save(&i, fleet.IntentPending, "closed", func(i *fleet.Intent) { i.State = fleet.IntentClosed })
	if all, err := d.Approvals(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("approvals of what has ended: %+v (%v)", all, err)
	}
}
