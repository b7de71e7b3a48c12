package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/sched"
	"curfew/internal/text"
	"curfew/notify"
)

// nine is the morning of the tables below.
var nine = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func dollars(micros int64) fleet.Money { return fleet.Money{Micros: micros, Currency: "USD"} }

func priced(m fleet.Money) fleet.Price {
	return fleet.Price{PerHour: m, Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
}

// up is a guarded instance that runs since two hours.
func up(id string, price fleet.Price) digestThing {
	return digestThing{Instance: fleet.Instance{
		Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: id}, AccountName: "lab", State: fleet.StateRunning,
		Price: price, StartedAt: nine.Add(-2 * time.Hour),
	}}
}

func (d digestThing) with(change func(*digestThing)) digestThing {
	change(&d)
	return d
}

func stopped(still fleet.Price) func(*digestThing) {
	return func(d *digestThing) {
		d.State, d.StartedAt, d.StoppedAt = fleet.StateStopped, time.Time{}, nine.Add(-30*time.Hour)
		d.OnStop.StillCosts = still
	}
}

func act(id int64, of string, a fleet.Action, o fleet.Outcome) fleet.Intent {
	return fleet.Intent{
		ID: id, Ref: fleet.Ref{Account: "lab", Kind: fleet.KindInstance, ID: of}, Action: a, Outcome: o, By: execute.ByPolicy,
		State: fleet.IntentClosed, StartedAt: nine.Add(-7 * time.Hour), ClosedAt: nine.Add(-6 * time.Hour),
	}
}

func opened(i fleet.Intent, change func(*fleet.Intent)) fleet.Intent {
	i.State, i.Outcome, i.ClosedAt = fleet.IntentPending, fleet.OutcomeNone, time.Time{}
	change(&i)
	return i
}

func needsApproval(i *fleet.Intent) {
	i.Verdicts = []fleet.Verdict{{Terms: fleet.Terms{Approval: true}}}
}

// toldAs gives a digest as an English terminal shows it.
func toldAs(t *testing.T, v digestView) string {
	t.Helper()
	r, err := text.New(text.English, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	n := digestOf(v)
	if n.Category != fleet.CategoryDigest || n.Severity != fleet.Info || n.Intent != nil {
		t.Errorf("it is told as something else: %+v", n)
	}
	m := notify.Render(n, r, nine)
	return m.Title + "\n" + m.Plain
}

func TestADigestSaysHowEverythingStands(t *testing.T) {
	cny := priced(fleet.CNY(1_980_000))
	const period = "Since 29 Nov 09:00, as of 09:00\n"
	dark := fleet.Finding{
		Ref:    fleet.Ref{Account: "lab", Kind: fleet.KindAccount, ID: "lab"},
		Reason: fleet.Because(ReasonAccountDark, fleet.Values{"account": fleet.Text("lab"), "since": fleet.Moment(nine.Add(-time.Hour)), "why": fleet.Nested(fleet.Because("x.refused", nil))}),
	}
	other := dark
	other.Ref.ID = "lab@west"
	blind := fleet.Finding{
		Ref:    up("a", cny).Ref,
		Reason: fleet.Because(ReasonBlind, fleet.Values{"since": fleet.Moment(nine.Add(-time.Hour)), "why": fleet.Nested(fleet.Because("x.silent", nil))}),
	}
	for _, c := range []struct {
		name string
		view digestView
		want string
	}{
		{"nothing to say is said", digestView{}, "Digest: all quiet\n" + period},
		{
			"what runs is counted, and nothing else happened",
			digestView{things: []digestThing{up("a", cny), up("b", cny)}},
			"Digest: 2 running, 3.96 CNY/h\n" + period + "Nothing else to tell\n",
		},
		{
			"two currencies do not add, and what has no price is not free",
			digestView{things: []digestThing{up("a", cny), up("b", priced(dollars(500_000))), up("c", fleet.Price{})}},
			"Digest: 3 running, 1.98 CNY + 0.50 USD/h, 1 of unknown price\n" + period + "Nothing else to tell\n",
		},
		{
			"what is about to run counts, what is stopped or gone does not",
			digestView{things: []digestThing{
				up("a", cny).with(func(d *digestThing) { d.State = fleet.StateStarting }),
				up("b", cny).with(stopped(priced(fleet.CNY(0)))),
				up("c", cny).with(func(d *digestThing) { d.State = fleet.StateReleased }),
			}},
			"Digest: 1 running, 1.98 CNY/h\n" + period + "Nothing else to tell\n",
		},
		{
			"several accounts are told one by one",
			digestView{several: true, things: []digestThing{up("a", cny), up("b", fleet.Price{}).with(func(d *digestThing) { d.AccountName = "ali" })}},
			"Digest: 2 running, 1.98 CNY/h, 1 of unknown price\n" + period + `
By account
· ali: 1 running, 1 of unknown price
· lab: 1 running, 1.98 CNY/h
`,
		},
		{
			"a dry run says that nothing is stopped",
			digestView{dryRun: true, things: []digestThing{up("a", cny)}},
			"Digest: 1 running, 1.98 CNY/h\n" + period + "Mode is dry-run: nothing is stopped\nNothing else to tell\n",
		},
		{
			"what no policy is about is named with its cost so far, the dearest first",
			digestView{things: []digestThing{
				up("free", fleet.Price{}).with(func(d *digestThing) { d.unguarded, d.StartedAt = true, time.Time{} }),
				up("cheap", priced(fleet.CNY(500_000))).with(func(d *digestThing) { d.unguarded, d.protected = true, true }),
				up("dear", cny).with(func(d *digestThing) { d.unguarded = true }),
				up("guarded", cny),
				up("off", cny).with(stopped(priced(fleet.CNY(0)))).with(func(d *digestThing) { d.unguarded = true }),
			}},
			"Digest: 4 running, 4.46 CNY/h, 1 of unknown price, 3 unguarded\n" + period + `
Unguarded, since no policy matches: 3
· dear: 3.96 CNY so far, 1.98 CNY/h, since 07:00
· cheap: 1.00 CNY so far, 0.50 CNY/h, since 07:00, protected
· free: price unknown
To guard them, let a policy's match take them (match: all takes everything), then curfew reload
`,
		},
		{
			"what was done is counted, and what it saved is not reckoned",
			digestView{ended: []fleet.Intent{
				act(1, "a", fleet.Stop, fleet.OutcomeDone), act(2, "b", fleet.Stop, fleet.OutcomeDoneStillBilling),
				act(3, "c", fleet.Release, fleet.OutcomeDone), act(4, "d", fleet.Stop, fleet.OutcomeAbandoned),
			}},
			"Digest: nothing runs\n" + period + `
Done by curfew
· 2 stopped: a, b
· 1 released: c
`,
		},
		{
			"of many that were stopped some are named",
			digestView{ended: func() (all []fleet.Intent) {
				for n := range 18 {
					all = append(all, act(int64(n), "exp-"+string(rune('a'+n)), fleet.Stop, fleet.OutcomeDone))
				}
				return all
			}()},
			"Digest: nothing runs\n" + period + `
Done by curfew
· 18 stopped: exp-a, exp-b, exp-c, exp-d, exp-e, exp-f and 12 more
`,
		},
		{
			"what needs a person is told with what to type",
			digestView{
				ended: []fleet.Intent{
					func() fleet.Intent {
						i := act(3, "c", fleet.Stop, fleet.OutcomeFailedWrite)
						i.Why = fleet.Because("x.refused", nil)
						return i
					}(),
					act(4, "d", fleet.Stop, fleet.OutcomeVanished), act(5, "e", fleet.Release, fleet.OutcomeUnverified),
				},
				open: []fleet.Intent{
					opened(act(6, "f", fleet.Stop, ""), needsApproval), opened(act(7, "g", fleet.Stop, ""), needsApproval),
					opened(act(8, "h", fleet.Stop, ""), func(i *fleet.Intent) {
						i.State, i.Attempts = fleet.IntentWritten, []fleet.Attempt{{StartedAt: nine.Add(-20 * time.Minute)}}
					}),
					opened(act(9, "i", fleet.Stop, ""), func(i *fleet.Intent) {
						i.State, i.Attempts = fleet.IntentWritten, []fleet.Attempt{{StartedAt: nine.Add(-time.Minute)}}
					}),
					opened(act(10, "j", fleet.Stop, ""), func(*fleet.Intent) {}),
				},
				approved: map[int64]bool{7: true},
			},
			"Digest: nothing runs\n" + period + `
Needs a look
· f: stop waits for approval: curfew approve 6
· h: stop asked for at 08:40, not confirmed yet
· c: could not stop (03:00): x.refused
· d: gone, and not by curfew
· e: release asked for at 02:00, not confirmed yet
`,
		},
		{
			"what cannot be read is told, an account of two regions once",
			digestView{
				findings: []fleet.Finding{blind, dark, other, {Ref: blind.Ref, Reason: fleet.Because("policy.other", nil)}},
				things:   []digestThing{up("a", cny), up("odd", fleet.Price{}).with(func(d *digestThing) { d.State, d.RawState = "", "melting" })},
			},
			"Digest: 1 running, 1.98 CNY/h\n" + period + `
Could not be read
· account lab cannot be read since 08:00, so nothing is done there: x.refused
· a: nothing was seen inside it since 08:00, so no policy will act on it: x.silent
· odd: whether it runs is not known, the platform says melting
`,
		},
		{
			"what costs though stopped is told, and of how many nobody knows",
			digestView{things: []digestThing{
				up("a", cny).with(stopped(priced(fleet.CNY(6_900)))), up("b", cny).with(stopped(fleet.Price{})),
				up("c", cny).with(stopped(priced(fleet.CNY(0)))),
				up("d", cny).with(stopped(priced(fleet.CNY(0)))).with(func(d *digestThing) { d.OnStop.EndsBilling = fleet.No }),
			}},
			"Digest: nothing runs\n" + period + `
Stopped, and still costs money
· d: 1.98 CNY/h, since 29 Nov 03:00
· a: 0.0069 CNY/h, since 29 Nov 03:00
Whether disk and address of stopped instances still cost is not known: 1
`,
		},
		{
			"where nothing is known of any, that is one line",
			digestView{things: []digestThing{up("b", cny).with(stopped(fleet.Price{}))}},
			"Digest: nothing runs\n" + period + "Whether disk and address of stopped instances still cost is not known: 1\n",
		},
		{
			"what the platform deletes within three days is told, the next one first",
			digestView{several: true, things: []digestThing{
				up("later", cny).with(stopped(priced(fleet.CNY(0)))).with(func(d *digestThing) { d.ReleasesAt = nine.Add(73 * time.Hour) }),
				up("soon", cny).with(stopped(priced(fleet.CNY(0)))).with(func(d *digestThing) { d.ReleasesAt = nine.Add(71 * time.Hour) }),
				up("late", cny).with(stopped(priced(fleet.CNY(0)))).with(func(d *digestThing) { d.ReleasesAt = nine.Add(-time.Hour) }),
				up("gone", cny).with(func(d *digestThing) { d.State, d.ReleasesAt = fleet.StateReleased, nine.Add(time.Hour) }),
			}},
			"Digest: nothing runs\n" + period + `
To be deleted by the platform
· late (lab): due since 08:00
· soon (lab): at 3 Dec 08:00
`,
		},
		{
			"a digest that was skipped is told",
			digestView{skipped: 1, lastSkipped: nine.Add(-24 * time.Hour)},
			"Digest: nothing runs\n" + period + "The digest of 29 Nov 09:00 was skipped: curfew was not running\n",
		},
		{
			"several that were skipped are counted",
			digestView{skipped: 3, lastSkipped: nine.Add(-24 * time.Hour)},
			"Digest: nothing runs\n" + period + "The digest of 29 Nov 09:00 and 2 before it was skipped: curfew was not running\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.view.at, c.view.since = nine.Add(3*time.Second), nine.Add(-24*time.Hour)
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(toldAs(t, c.view)+"\n", "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestADigestIsDueOnceATick(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, berlin) }
	autumn := func(hour, minute int) time.Time { return time.Date(2026, 10, 25, hour, minute, 0, 0, time.UTC) }
	const daily = "0 9 * * *"
	for _, c := range []struct {
		name, expr string
		last, now  time.Time
		want       dueDigest
	}{
		{"just seen to", daily, at(2, 9, 0), at(2, 9, 0), dueDigest{}},
		{"a minute before the next", daily, at(2, 9, 0), at(3, 8, 59), dueDigest{}},
		{"at the tick", daily, at(2, 9, 0), at(3, 9, 0), dueDigest{tick: at(3, 9, 0), tell: true}},
		{"late", daily, at(2, 9, 0), at(3, 10, 59), dueDigest{tick: at(3, 9, 0), tell: true}},
		{"too late", daily, at(2, 9, 0), at(3, 11, 0), dueDigest{tick: at(3, 9, 0), skipped: 1, lastSkipped: at(3, 9, 0)}},
		{"after days away", daily, at(2, 9, 0), at(5, 9, 20), dueDigest{tick: at(5, 9, 0), tell: true, skipped: 2, lastSkipped: at(4, 9, 0)}},
		{"after days away, too late", daily, at(2, 9, 0), at(5, 13, 0), dueDigest{tick: at(5, 9, 0), skipped: 3, lastSkipped: at(5, 9, 0)}},
		{"a clock that was put back", daily, at(5, 9, 0), at(4, 9, 0), dueDigest{}},
		{"an hour that the clocks skip", "30 2 * * *", at(28, 2, 30), at(29, 3, 0), dueDigest{tick: at(29, 3, 0), tell: true}},
		{"an hour that the clocks show twice, the first time", "30 2 * * *", autumn(0, 29).AddDate(0, 0, -1), autumn(0, 30), dueDigest{tick: autumn(0, 30), tell: true, skipped: 1, lastSkipped: autumn(0, 30).AddDate(0, 0, -1)}},
		{"an hour that the clocks show twice, the second time", "30 2 * * *", autumn(0, 30), autumn(1, 30), dueDigest{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := sched.ParseSchedule(c.expr, berlin)
			if err != nil {
				t.Fatal(err)
			}
			got := digestDue(s, c.last, c.now, digestLate)
			if !got.tick.Equal(c.want.tick) || got.tell != c.want.tell || got.skipped != c.want.skipped || !got.lastSkipped.Equal(c.want.lastSkipped) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
