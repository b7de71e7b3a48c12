package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/httpx"
	"curfew/notify"
	"curfew/policies"
)

func (d *desk) segments(id string) string {
	d.t.Helper()
	ss, err := d.Segments(d.t.Context(), ref(id))
	if err != nil {
		d.t.Fatal(err)
	}
	out := ""
	for _, s := range ss {
		to := "now"
		if !s.To.IsZero() {
			to = fmt.Sprint(s.To.Sub(noon))
		}
		out += fmt.Sprintf("%s=%s %s..%s\n", s.What, s.Value, s.From.Sub(noon), to)
	}
	return out
}

func TestHistoryIsWrittenOnlyOnAChange(t *testing.T) {
	d := open(t)
	note := func(at time.Duration, value string) {
		d.do(func(tx *Tx) error { return tx.Segment(ref("a"), "state", value, noon.Add(at)) })
	}
	note(0, "running")
	note(time.Minute, "running")
	note(2*time.Minute, "stopped")
	note(2*time.Minute, "released") // in the same moment
	note(-5*time.Hour, "running")   // the clock was set back
	note(time.Hour, "stopped")
	want := "state=running 0s..2m0s\nstate=stopped 2m0s..2m0.001s\nstate=released 2m0.001s..2m0.002s\nstate=running 2m0.002s..1h0m0s\nstate=stopped 1h0m0s..now\n"
	if diff := cmp.Diff(want, d.segments("a")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestAThingIsKeptWithItsHistoryOfStateAndPrice(t *testing.T) {
	d := open(t)
	price := func(micros int64) fleet.Price {
		return fleet.Price{PerHour: fleet.CNY(micros), Source: fleet.PriceProvider}
	}
	th := Thing{
		Instance: fleet.Instance{Ref: ref("a"), Boot: "n1", State: fleet.StateRunning, Price: price(1_000_000), Labels: map[string]string{"a": "b"}},
		Region:   "cn-1", Boots: 1, FirstSeen: noon, SeenAt: noon,
	}
	d.do(func(tx *Tx) error { return tx.SaveThing(nil, th) })
	before := th
	th.SeenAt, th.Instance.State, th.Instance.OnStop.StillCosts = noon.Add(time.Hour), fleet.StateStopped, price(10_000)
	th.MissingSince, th.NotFoundAt = noon.Add(time.Minute), noon.Add(2*time.Minute)
	d.do(func(tx *Tx) error { return tx.SaveThing(&before, th) })
	got, err := d.Things(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Thing{th}, got); diff != "" {
		t.Errorf("the thing (-want +got):\n%s", diff)
	}
	want := "price=1.00 CNY 0s..1h0m0s\nstate=running 0s..1h0m0s\nprice=0.01 CNY 1h0m0s..now\nstate=stopped 1h0m0s..now\n"
	if diff := cmp.Diff(want, d.segments("a")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	th.SeenAt, th.GoneAt = noon.Add(2*time.Hour), noon.Add(2*time.Hour)
	d.do(func(tx *Tx) error { return tx.SaveThing(&th, th) })
	if n := d.rows("segments", "value = 'gone' AND to_at = 0"); n != 1 {
		t.Errorf("history does not say that it is gone: %s", d.segments("a"))
	}
}

func TestScopesAccountsTicksAndMetaAreRemembered(t *testing.T) {
	d := open(t)
	scope := policies.ScopeState{Scope: fleet.Scope{Account: "sim:lab", Region: "cn-1"}, At: noon, Failing: fleet.Because("observe.poll-failed", nil), Since: noon}
	d.do(func(tx *Tx) error {
		for range 2 {
			if err := tx.SaveScope(scope); err != nil {
				return err
			}
			if err := tx.SaveAccount(Account{Identity: "sim:lab", Provider: "sim", Name: "lab", CredentialHash: "h"}); err != nil {
				return err
			}
			if err := tx.Tick("night", noon); err != nil {
				return err
			}
		}
		return tx.SaveAccount(Account{Identity: "sim:lab", Provider: "sim", Name: "renamed", CredentialHash: "h2"})
	})
	d.again()
	scopes, err := d.Scopes(t.Context())
	if diff := cmp.Diff([]policies.ScopeState{scope}, scopes); err != nil || diff != "" {
		t.Errorf("scopes (-want +got):\n%s (%v)", diff, err)
	}
	accounts, err := d.Accounts(t.Context())
	if diff := cmp.Diff([]Account{{Identity: "sim:lab", Provider: "sim", Name: "renamed", CredentialHash: "h2"}}, accounts); err != nil || diff != "" {
		t.Errorf("accounts (-want +got):\n%s (%v)", diff, err)
	}
	if ticks, err := d.Ticks(t.Context()); err != nil || !ticks["night"].Equal(noon) {
		t.Errorf("ticks %v (%v)", ticks, err)
	}
}

func TestPins(t *testing.T) {
	d := open(t)
	for _, c := range []struct{ id, boot, key, want, why string }{
		{"a", "n1", "k1", "k1", "the first key of a boot is kept"},
		{"a", "n1", "k2", "k1", "another key in that boot is not"},
		{"b", "n1", "k2", "k2", "another instance has its own"},
		{"a", "n2", "k3", "k3", "a new boot has a new key"},
		{"a", "n1", "k4", "k4", "and the old boot's is forgotten"},
	} {
		d.do(func(tx *Tx) error {
			got, err := tx.Pin(ref(c.id), fleet.Boot(c.boot), c.key)
			if err != nil || got != c.want {
				t.Errorf("%s: %s (%v), want %s", c.why, got, err, c.want)
			}
			return nil
		})
	}
}

func TestRequestsAreCountedOverRestarts(t *testing.T) {
	d := open(t)
	add := func(account string, class httpx.Class, start time.Time, n int) {
		t.Helper()
		if err := d.Counter(account).Add(t.Context(), httpx.Slot{Length: time.Minute, Start: start, Class: class, N: n}); err != nil {
			t.Fatal(err)
		}
	}
	add("lab", httpx.Act, noon, 1)
	add("lab", httpx.Act, noon, 2)
	add("lab", httpx.Observe, noon.Add(time.Minute), 4)
	add("lab", httpx.Observe, noon.Add(-time.Minute), 8)
	add("other", httpx.Act, noon, 16)
	d.again()
	got, err := d.Counter("lab").Load(t.Context(), time.Minute, noon)
	want := []httpx.Slot{
		{Length: time.Minute, Start: noon, Class: httpx.Act, N: 3},
		{Length: time.Minute, Start: noon.Add(time.Minute), Class: httpx.Observe, N: 4},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("counted (-want +got):\n%s (%v)", diff, err)
	}
	if got, err := d.Counter("lab").Load(t.Context(), time.Hour, noon); err != nil || len(got) != 0 {
		t.Errorf("slots of another length: %v (%v)", got, err)
	}
}

func run(id string, boot fleet.Boot, name string, ended time.Time) fleet.Run {
	r := fleet.Run{Ref: ref(id), Boot: boot, ID: name, StartedAt: noon.Add(-time.Hour), EndedAt: ended}
	if !ended.IsZero() {
		r.End = fleet.RunEnded
	}
	return r
}

func TestPruneKeepsWhatIsOpenAndWhatTellsOfTheLiving(t *testing.T) {
	d := open(t)
	old, keep := noon, 90*24*time.Hour
	thing := func(id string, gone time.Time) Thing {
		return Thing{Instance: fleet.Instance{Ref: ref(id), State: fleet.StateStopped}, FirstSeen: old, SeenAt: old, GoneAt: gone}
	}
	stop := func(id string, closed bool) fleet.Intent {
		i := d.intent(id)
		d.do(func(tx *Tx) error { return tx.Approve(Approval{Intent: i.ID, At: old, Expires: old}) })
		d.save(&i, fleet.IntentPending, "started", func(i *fleet.Intent) { i.State, i.StartedAt = fleet.IntentStarted, old })
		if closed {
			d.save(&i, fleet.IntentStarted, "closed", func(i *fleet.Intent) { i.State, i.ClosedAt = fleet.IntentClosed, old })
		}
		return i
	}
	for _, id := range []string{"here", "gone", "gone but acted on"} {
		gone := old
		if id == "here" {
			gone = time.Time{}
		}
		d.do(func(tx *Tx) error {
			if err := tx.SaveThing(nil, thing(id, gone)); err != nil {
				return err
			}
			if _, err := tx.Pin(ref(id), "n1", "k"); err != nil {
				return err
			}
			return tx.SaveRuns([]fleet.Run{run(id, "n1", "open", time.Time{}), run(id, "n1", "over", old)})
		})
		stop(id, id != "gone but acted on")
	}
	d.do(func(tx *Tx) error {
		for _, h := range []fleet.Hold{{Ref: ref("here"), Until: old.Add(time.Hour)}, {Ref: ref("here"), Until: old.Add(2 * keep)}} {
			if err := tx.AddHold(&h); err != nil {
				return err
			}
		}
		for _, key := range []string{"sent", "waiting"} {
			if _, err := tx.Enqueue(notify.Notice{Key: key}, []Address{{Channel: "slack"}}, time.Time{}); err != nil {
				return err
			}
		}
		return nil
	})
	d.record(d.due()[0], notify.VerdictOK, time.Time{})
	if err := d.Counter("lab").Add(t.Context(), httpx.Slot{Length: time.Minute, Start: old, Class: httpx.Act, N: 1}); err != nil {
		t.Fatal(err)
	}

	d.pass(keep + 2*time.Hour)
	d.do(func(tx *Tx) error { return tx.Prune(keep) })
	for _, c := range []struct {
		table, where string
		want         int
	}{
		{"things", "1=1", 2},
		{"things", "ref LIKE '%/gone'", 0},
		{"segments", "ref LIKE '%/gone'", 0},
		{"segments", "ref LIKE '%/here'", 1},
		{"runs", "ref LIKE '%/here'", 1},
		{"runs", "ref LIKE '%/gone'", 0},
		{"pins", "ref LIKE '%/gone'", 0},
		{"pins", "ref LIKE '%/here'", 1},
		{"intents", "ref LIKE '%/here'", 1}, // the ground of its release
		{"intents", "ref LIKE '%/gone'", 0},
		{"intents", "state <> 'closed'", 1},
		{"journal", "1=1", 2}, // of the open one
		{"approvals", "1=1", 2},
		{"holds", "1=1", 1},
		{"notices", "1=1", 1},
		{"outbox", "1=1", 1},
		{"requests", "1=1", 0},
	} {
		if n := d.rows(c.table, c.where); n != c.want {
			t.Errorf("%s where %s: %d rows, want %d", c.table, c.where, n, c.want)
		}
	}
}

func TestPruneKeepsWhatCapsAndCooldownsCountHoweverShortTheHistory(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	d.save(&i, fleet.IntentPending, "started", func(i *fleet.Intent) { i.State, i.StartedAt = fleet.IntentStarted, noon })
	d.save(&i, fleet.IntentStarted, "closed", func(i *fleet.Intent) { i.State, i.Outcome, i.ClosedAt = fleet.IntentClosed, fleet.OutcomeDone, noon })
	d.pass(time.Minute)
	for _, keep := range []time.Duration{0, -time.Hour, time.Second} {
		d.do(func(tx *Tx) error { return tx.Prune(keep) })
		if n, err := d.Sent(t.Context(), fleet.Stop, false, noon.Add(-time.Hour)); err != nil || n != 1 {
			t.Errorf("after a history of %s, %d acts count (%v)", keep, n, err)
		}
	}
}

func TestAnAccountIsForgottenOnlyWhenNothingIsOpen(t *testing.T) {
	d := open(t)
	i := d.intent("a")
	hold := fleet.Hold{Ref: ref("a"), Until: noon.Add(time.Hour)}
	d.do(func(tx *Tx) error {
		if err := tx.SaveAccount(Account{Identity: "sim:lab", Provider: "sim", Name: "lab"}); err != nil {
			return err
		}
		if err := tx.SaveAccount(Account{Identity: "sim:lab2", Provider: "sim", Name: "lab2"}); err != nil {
			return err
		}
		other := ref("b")
		other.Account = "sim:lab2"
		for _, r := range []fleet.Ref{ref("a"), other} {
			if err := tx.SaveThing(nil, Thing{Instance: fleet.Instance{Ref: r}, SeenAt: noon, FirstSeen: noon}); err != nil {
				return err
			}
			if err := tx.SaveRuns([]fleet.Run{{Ref: r, Boot: "n1", ID: "r"}}); err != nil {
				return err
			}
		}
		return tx.AddHold(&hold)
	})
	forget := func() error {
		return d.Update(t.Context(), func(tx *Tx) error { return tx.ForgetAccount("sim:lab") })
	}
	if forget() == nil {
		t.Error("forgotten with an open act")
	}
	d.save(&i, fleet.IntentPending, "closed", func(i *fleet.Intent) { i.State = fleet.IntentClosed })
	if forget() == nil {
		t.Error("forgotten with a hold")
	}
	d.pass(time.Hour)
	if err := forget(); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"accounts": 1, "things": 1, "runs": 1, "segments": 1, "intents": 1, "journal": 2} {
		if n := d.rows(table, "1=1"); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
}

func TestRunsAreThoseOfThingsThatAreThere(t *testing.T) {
	d := open(t)
	d.do(func(tx *Tx) error {
		for _, th := range []Thing{
			{Instance: fleet.Instance{Ref: ref("a")}, FirstSeen: noon, SeenAt: noon},
			{Instance: fleet.Instance{Ref: ref("b")}, FirstSeen: noon, SeenAt: noon, GoneAt: noon},
		} {
			if err := tx.SaveThing(nil, th); err != nil {
				return err
			}
		}
		return tx.SaveRuns([]fleet.Run{run("a", "n1", "r", time.Time{}), run("b", "n1", "r", time.Time{})})
	})
	over := run("a", "n1", "r", noon)
	d.do(func(tx *Tx) error { return tx.SaveRuns([]fleet.Run{over}) })
	got, err := d.Runs(t.Context())
	if diff := cmp.Diff(map[fleet.Ref][]fleet.Run{ref("a"): {over}}, got); err != nil || diff != "" {
		t.Errorf("runs (-want +got):\n%s (%v)", diff, err)
	}
}
