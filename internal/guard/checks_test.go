package guard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
)

var noon = time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)

// allowed is a stop that nothing speaks against: every test changes one thing.
func allowed() Input {
	return Input{
		Now: noon, Action: fleet.Stop, Effect: fleet.Stop, Can: true, AccountMode: fleet.Enforce, FileMode: fleet.Enforce,
		Thing: fleet.Instance{
			Ref: fleet.Ref{Account: "sim:lab", Kind: fleet.KindInstance, ID: "a"}, Provider: "sim", State: fleet.StateRunning,
			Charge: fleet.Charge{Type: fleet.ChargeOnDemand},
			OnStop: fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll},
		},
		Terms:     []fleet.Terms{{Mode: fleet.Enforce, WarnStop: 10 * time.Minute, Cooldown: 10 * time.Minute}},
		CreatedAt: noon.Add(-11 * time.Minute), AcceptedAt: noon.Add(-10 * time.Minute), Deadline: noon, Warn: 10 * time.Minute,
	}
}

// exports turns the stop into a release before which data is secured: it was, or it
// will be.
func exports(is, will bool) func(*Input) {
	return both(released, func(in *Input) {
		in.Terms[0].Discard, in.Terms[0].Data = false, &fleet.DataTerms{Export: &fleet.Export{}}
		in.Secured, in.ToSecure = []bool{is}, []bool{will}
	})
}

// keepsAll says that the act destroys no disk and, of a release, what is kept of the
// instance's own data, where nobody lets it go.
func keepsAll(keeps fleet.Keeps) func(*Input) {
	return func(in *Input) {
		in.KeepsAll, in.Thing.OnRelease.KeepsData = true, keeps
		for n := range in.Terms {
			in.Terms[n].Discard = false
		}
	}
}

// released turns the stop into a release whose data may go.
func released(in *Input) {
	in.Action, in.Effect = fleet.Release, fleet.Release
	in.Terms[0].Discard = true
}

func byTheHand(in *Input) {
	in.ByHand, in.Terms = true, nil
	in.CreatedAt, in.AcceptedAt, in.Deadline, in.Warn = time.Time{}, time.Time{}, time.Time{}, 0
}

func term(change func(*fleet.Terms)) func(*Input) {
	return func(in *Input) { change(&in.Terms[0]) }
}

func both(changes ...func(*Input)) func(*Input) {
	return func(in *Input) {
		for _, c := range changes {
			c(in)
		}
	}
}

type checkCase struct {
	name   string
	check  string
	change func(*Input)
	want   Answer
	reason fleet.Code
	until  time.Time
}

func TestEveryBranchOfEveryCheck(t *testing.T) {
	hour := time.Hour
	period := func(in *Input) {
		in.Thing.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: noon.Add(hour), Refundable: fleet.CNY(5)}
	}
	hold := func(until time.Duration) func(*Input) {
		return func(in *Input) { in.Holds = append(in.Holds, fleet.Hold{By: "wang", Until: noon.Add(until)}) }
	}
	unheard := func(in *Input) { in.AcceptedAt, in.Deadline = time.Time{}, time.Time{} }
	keeps := func(k fleet.Keeps) func(*Input) { return func(in *Input) { in.Thing.OnStop.KeepsData = k } }
	for _, c := range []checkCase{
		{"not to this one, for its own reason", "capability", func(in *Input) {
			in.Thing.Cannot = []fleet.Inability{{Action: fleet.Stop, Why: fleet.Because("provider.own-reason", nil)}}
		}, Refuse, "provider.own-reason", time.Time{}},
		{"something else not to this one", "capability", func(in *Input) {
			in.Thing.Cannot = []fleet.Inability{{Action: fleet.Release, Why: fleet.Because("provider.own-reason", nil)}}
		}, Allow, ReasonFine, time.Time{}},
		{"what the platform can is fine", "capability", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"what the platform cannot is refused", "capability", func(in *Input) { in.Can = false }, Refuse, ReasonCannot, time.Time{}},
		{"to keep is no act", "capability", func(in *Input) { in.Action = fleet.Keep }, Refuse, ReasonCannot, time.Time{}},

		{"a stop that ends billing is worth it", "worth", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"a stop that ends no billing is not", "worth", func(in *Input) { in.Thing.OnStop.EndsBilling = fleet.No }, Refuse, ReasonNotWorth, time.Time{}},
		{"a stop of which that is unknown is verified later", "worth", func(in *Input) { in.Thing.OnStop.EndsBilling = fleet.Unsure }, Allow, ReasonNotWorthSure, time.Time{}},
		{"a release is worth it where a stop ends no billing", "worth", both(released, func(in *Input) { in.Thing.OnStop.EndsBilling = fleet.No }), Allow, ReasonFine, time.Time{}},

		{"on demand is paid by use", "charge", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"spot is paid by use", "charge", func(in *Input) { in.Thing.Charge.Type = fleet.ChargeSpot }, Allow, ReasonFine, time.Time{}},
		{"a paid period is left alone", "charge", period, Refuse, ReasonPeriod, time.Time{}},
		{"a paid period whose refund is asked for", "charge", both(period, term(func(t *fleet.Terms) { t.Refund = true })), Allow, ReasonPeriodRefund, time.Time{}},
		{"a paid period whose refund only one of two asks for", "charge", both(period, func(in *Input) {
			in.Terms = append(in.Terms, fleet.Terms{Refund: true})
		}), Refuse, ReasonPeriod, time.Time{}},
		{"a paid period by hand", "charge", both(period, byTheHand), Refuse, ReasonPeriod, time.Time{}},
		{"an unknown way to pay", "charge", func(in *Input) { in.Thing.Charge.Type = fleet.ChargeUnknown }, Refuse, ReasonChargeUnknown, time.Time{}},
		{"an unknown way to pay, by hand", "charge", both(byTheHand, func(in *Input) { in.Thing.Charge.Type = "" }), Refuse, ReasonChargeUnknown, time.Time{}},
		{"a start of a paid period costs nothing more", "charge", both(period, func(in *Input) { in.Action, in.Effect = fleet.Start, fleet.Start }), Allow, ReasonFine, time.Time{}},

		{"a stop that keeps all data destroys nothing", "data", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"a stop that keeps a part", "data", keeps(fleet.KeepsPart), Refuse, ReasonDataLost, time.Time{}},
		{"a stop that keeps nothing", "data", keeps(fleet.KeepsNone), Refuse, ReasonDataLost, time.Time{}},
		{"a stop of which nobody says what it keeps", "data", keeps(fleet.KeepsUnknown), Refuse, ReasonDataUnsure, time.Time{}},
		{"a stop that loses data where all may go", "data", both(keeps(fleet.KeepsNone), term(func(t *fleet.Terms) { t.Discard = true })), Allow, ReasonDataDiscarded, time.Time{}},
		{"a release without a word on data", "data", both(released, term(func(t *fleet.Terms) { t.Discard = false })), Refuse, ReasonDataLost, time.Time{}},
		{"a release that says so", "data", released, Allow, ReasonDataDiscarded, time.Time{}},
		{"a release that only one of two says", "data", both(released, func(in *Input) { in.Terms = append(in.Terms, fleet.Terms{}) }), Refuse, ReasonDataLost, time.Time{}},
		{"a release by hand says so itself", "data", both(released, byTheHand), Allow, ReasonDataDiscarded, time.Time{}},
		{"a stop by hand does not say that data may go", "data", both(keeps(fleet.KeepsNone), byTheHand), Refuse, ReasonDataLost, time.Time{}},
		{"a release that is known to destroy nothing", "data", both(released, keepsAll(fleet.KeepsAll)), Allow, ReasonDataKept, time.Time{}},
		{"a release that destroys no disk, but what is on the instance", "data", both(released, keepsAll(fleet.KeepsNone)), Refuse, ReasonDataLost, time.Time{}},
		{"a stop that loses data, whatever a release would do", "data", both(keeps(fleet.KeepsNone), keepsAll(fleet.KeepsAll)), Refuse, ReasonDataLost, time.Time{}},
		{"a release whose data was secured", "data", exports(true, false), Allow, ReasonDataSecured, time.Time{}},
		{"a release whose data is to be secured first", "data", exports(false, true), Wait, ReasonDataToSecure, time.Time{}},
		{"a release whose data could not be secured", "data", exports(false, false), Refuse, ReasonDataLost, time.Time{}},
		{"a release of which nobody says whether its data was secured", "data", both(exports(true, true), func(in *Input) {
			in.Secured, in.ToSecure = nil, nil
		}), Refuse, ReasonDataLost, time.Time{}},
		{"a release whose data was secured for one of two", "data", both(exports(true, false), func(in *Input) {
			in.Terms, in.Secured = append(in.Terms, in.Terms[0]), append(in.Secured, false)
		}), Refuse, ReasonDataLost, time.Time{}},
		{"a release whose data one secures and another asks nothing of", "data", both(exports(false, true), func(in *Input) {
			in.Terms = append(in.Terms, fleet.Terms{})
		}), Refuse, ReasonDataLost, time.Time{}},
		{"a release whose data one secures and another lets go", "data", both(exports(false, true), func(in *Input) {
			in.Terms = append(in.Terms, fleet.Terms{Discard: true})
		}), Wait, ReasonDataToSecure, time.Time{}},
		{"a release whose effect was not filled in", "data", func(in *Input) { in.Action, in.Effect = fleet.Release, fleet.Keep }, Refuse, ReasonDataLost, time.Time{}},

		{"not protected", "protection", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"protected", "protection", func(in *Input) { in.Protected.By = fleet.Because("app.protect-label", nil) }, Refuse, ReasonProtected, time.Time{}},
		{"unreadable is protected", "protection", func(in *Input) { in.Protected.Unreadable = true }, Refuse, ReasonUnreadable, time.Time{}},
		{"protected, by hand", "protection", both(byTheHand, func(in *Input) { in.Protected.Unreadable = true }), Refuse, ReasonUnreadable, time.Time{}},
		{"a start of a protected instance by hand", "protection", func(in *Input) {
			in.Action, in.Effect, in.Protected.Unreadable, in.ByHand = fleet.Start, fleet.Start, true, true
		}, Allow, ReasonFine, time.Time{}},
		{"a policy's start of what it could not stop", "protection", func(in *Input) {
			in.Action, in.Effect, in.Protected.Unreadable = fleet.Start, fleet.Start, true
		}, Refuse, ReasonUnreadable, time.Time{}},

		{"no ceiling", "ceiling", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"a stop under a ceiling of stop", "ceiling", func(in *Input) { in.Ceiling.AtMost = fleet.Stop }, Allow, ReasonFine, time.Time{}},
		{"a release over a ceiling of stop", "ceiling", both(released, func(in *Input) { in.Ceiling.AtMost = fleet.Stop }), Refuse, ReasonCeiling, time.Time{}},
		{"a stop that loses data over a ceiling of stop", "ceiling", both(keeps(fleet.KeepsPart), func(in *Input) { in.Ceiling.AtMost = fleet.Stop }), Refuse, ReasonCeiling, time.Time{}},
		{"a stop over the lowest ceiling", "ceiling", func(in *Input) { in.Ceiling.AtMost = fleet.Start }, Refuse, ReasonCeiling, time.Time{}},
		{"a policy's own ceiling", "ceiling", both(released, term(func(t *fleet.Terms) { t.AtMost = fleet.Stop })), Refuse, ReasonCeiling, time.Time{}},
		{"a release over a ceiling by hand", "ceiling", both(released, byTheHand, func(in *Input) { in.Ceiling.AtMost = fleet.Stop }), Refuse, ReasonCeiling, time.Time{}},
		{"a start by hand is under every ceiling", "ceiling", func(in *Input) {
			in.Action, in.Effect, in.Ceiling.AtMost, in.ByHand = fleet.Start, fleet.Start, fleet.Start, true
		}, Allow, ReasonFine, time.Time{}},
		{"a policy's start under a ceiling that forbids its stop", "ceiling", func(in *Input) {
			in.Action, in.Effect, in.Ceiling.AtMost = fleet.Start, fleet.Start, fleet.Start
		}, Refuse, ReasonCeiling, time.Time{}},

		{"not held", "hold", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"held", "hold", hold(time.Second), Refuse, ReasonHeld, time.Time{}},
		{"a hold that ends now", "hold", hold(0), Allow, ReasonFine, time.Time{}},
		{"one hold of two is over", "hold", both(hold(-hour), hold(hour)), Refuse, ReasonHeld, time.Time{}},
		{"held by hand against a hand", "hold", both(byTheHand, hold(hour)), Refuse, ReasonHeld, time.Time{}},
		{"held inside the box", "hold", func(in *Input) { in.BoxHold = noon.Add(time.Second) }, Refuse, ReasonHeldInBox, time.Time{}},
		{"a hold inside that ends now", "hold", func(in *Input) { in.BoxHold = noon }, Allow, ReasonFine, time.Time{}},
		{"a start of a held instance by hand", "hold", both(hold(hour), func(in *Input) { in.Action, in.Effect, in.ByHand = fleet.Start, fleet.Start, true }), Allow, ReasonFine, time.Time{}},
		{"a policy's start of a held instance", "hold", both(hold(hour), func(in *Input) { in.Action, in.Effect = fleet.Start, fleet.Start }), Refuse, ReasonHeld, time.Time{}},

		{"warned and waited", "warning", func(*Input) {}, Allow, ReasonWarned, time.Time{}},
		{"not announced", "warning", func(in *Input) { in.CreatedAt = time.Time{} }, Wait, ReasonNotAnnounced, time.Time{}},
		{"before the deadline", "warning", func(in *Input) { in.Deadline = noon.Add(1) }, Wait, ReasonDeadline, noon.Add(1)},
		{"a deadline nobody set is the warning time after the acceptance", "warning", func(in *Input) {
			in.AcceptedAt, in.Deadline = noon.Add(-time.Minute), time.Time{}
		}, Wait, ReasonDeadline, noon.Add(9 * time.Minute)},
		{"a wish with a longer warning has joined", "warning", func(in *Input) { in.Warn = hour }, Wait, ReasonDeadline, noon.Add(50 * time.Minute)},
		{"nobody has accepted a stop that keeps all data", "warning", unheard, Wait, ReasonNotAccepted, noon.Add(9 * time.Minute)},
		{"nobody accepted it for long enough", "warning", both(unheard, func(in *Input) { in.CreatedAt = noon.Add(-20 * time.Minute) }), Allow, ReasonNobodyHeard, time.Time{}},
		{"nobody accepted a release, ever", "warning", both(released, unheard, func(in *Input) { in.CreatedAt = noon.Add(-90 * 24 * hour) }), Wait, ReasonNotAccepted, time.Time{}},
		{"nobody accepted a stop that loses data, ever", "warning", both(unheard, keeps(fleet.KeepsNone), func(in *Input) { in.CreatedAt = noon.Add(-90 * 24 * hour) }), Wait, ReasonNotAccepted, time.Time{}},
		{"a hand needs no warning", "warning", byTheHand, Allow, ReasonByHand, time.Time{}},

		{"no act before", "cooldown", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"an act just now", "cooldown", func(in *Input) { in.LastAct = noon.Add(-time.Minute) }, Wait, ReasonCooldown, noon.Add(9 * time.Minute)},
		{"an act long enough ago", "cooldown", func(in *Input) { in.LastAct = noon.Add(-10 * time.Minute) }, Allow, ReasonFine, time.Time{}},
		{"the longest cooldown of all wishes", "cooldown", func(in *Input) {
			in.LastAct, in.Terms = noon.Add(-10*time.Minute), append(in.Terms, fleet.Terms{Cooldown: hour})
		}, Wait, ReasonCooldown, noon.Add(50 * time.Minute)},
		{"a hand needs no cooldown", "cooldown", both(byTheHand, func(in *Input) { in.LastAct = noon }), Allow, ReasonByHand, time.Time{}},

		{"no cap", "cap", func(in *Input) { in.CapUsed = 1000 }, Allow, ReasonFine, time.Time{}},
		{"within the cap", "cap", func(in *Input) { in.Caps.PerHour, in.CapUsed = 3, 2 }, Allow, ReasonWithinCap, time.Time{}},
		{"the cap is used up", "cap", func(in *Input) { in.Caps.PerHour, in.CapUsed = 3, 3 }, Wait, ReasonCapped, time.Time{}},
		{"a share of nothing is one", "cap", func(in *Input) { in.Caps.Percent = 1 }, Allow, ReasonWithinCap, time.Time{}},
		{"a hand needs no cap", "cap", both(byTheHand, func(in *Input) { in.Caps.PerHour, in.CapUsed = 3, 3 }), Allow, ReasonByHand, time.Time{}},

		{"no approval needed", "approval", func(*Input) {}, Allow, ReasonFine, time.Time{}},
		{"approval missing", "approval", term(func(t *fleet.Terms) { t.Approval = true }), Wait, ReasonApprovalMissing, time.Time{}},
		{"one wish of two needs approval", "approval", func(in *Input) { in.Terms = append(in.Terms, fleet.Terms{Approval: true}) }, Wait, ReasonApprovalMissing, time.Time{}},
		{"approved", "approval", both(term(func(t *fleet.Terms) { t.Approval = true }), func(in *Input) { in.Approved = true }), Allow, ReasonApproved, time.Time{}},
		{"a hand is its own approval", "approval", byTheHand, Allow, ReasonByHand, time.Time{}},

		{"all enforce", "mode", func(*Input) {}, Allow, ReasonEnforce, time.Time{}},
		{"a dry-run account", "mode", func(in *Input) { in.AccountMode = fleet.DryRun }, Refuse, ReasonDryRun, time.Time{}},
		{"an account without a mode", "mode", func(in *Input) { in.AccountMode = "" }, Refuse, ReasonDryRun, time.Time{}},
		{"one dry-run wish of two", "mode", func(in *Input) { in.Terms = append(in.Terms, fleet.Terms{Mode: fleet.DryRun}) }, Refuse, ReasonDryRun, time.Time{}},
		{"a wish without a mode", "mode", term(func(t *fleet.Terms) { t.Mode = "" }), Refuse, ReasonDryRun, time.Time{}},
		{"no wish at all", "mode", func(in *Input) { in.Terms = nil }, Refuse, ReasonDryRun, time.Time{}},
		{"by hand", "mode", byTheHand, Allow, ReasonEnforce, time.Time{}},
		{"by hand under a dry-run file", "mode", both(byTheHand, func(in *Input) { in.FileMode = fleet.DryRun }), Refuse, ReasonDryRun, time.Time{}},
		{"by hand in a dry-run account", "mode", both(byTheHand, func(in *Input) { in.AccountMode = fleet.DryRun }), Refuse, ReasonDryRun, time.Time{}},
	} {
		t.Run(c.check+": "+c.name, func(t *testing.T) {
			in := allowed()
			c.change(&in)
			got := ruling(t, in, c.check)
			if got.Answer != c.want || got.Reason.Code != c.reason || !got.Until.Equal(c.until) {
				t.Errorf("%s (%s) until %s, want %s (%s) until %s", got.Answer, got.Reason.Code, got.Until, c.want, c.reason, c.until)
			}
			if sum := Sum(Ask(Chain(), in)); sum.Answer > got.Answer {
				t.Errorf("the sum says %s though %s says %s", sum.Answer, c.check, got.Answer)
			}
		})
	}
}

func ruling(t *testing.T, in Input, check string) Ruling {
	t.Helper()
	for _, r := range Ask(Chain(), in) {
		if r.Check == check {
			return r
		}
	}
	t.Fatalf("no check is called %s", check)
	return Ruling{}
}

func TestAStopNothingSpeaksAgainstIsAllowed(t *testing.T) {
	for _, r := range Ask(Chain(), allowed()) {
		if r.Answer != Allow {
			t.Errorf("%s says %s (%s)", r.Check, r.Answer, r.Reason.Code)
		}
	}
}

func TestAllChecksAreAskedAndAllAnswersAreKeptAndModeIsLast(t *testing.T) {
	var names []string
	for _, r := range Ask(Chain(), Input{}) {
		names = append(names, r.Check)
	}
	want := []string{
		"capability", "worth", "charge", "data", "protection", "ceiling", "hold", "warning", "cooldown", "cap", "approval", "mode",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("the chain (-want +got):\n%s", d)
	}
}
