package guard

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
)

var (
	anyAction = rapid.SampledFrom([]fleet.Action{fleet.Keep, fleet.Start, fleet.Stop, fleet.Release, fleet.Delete, fleet.Order})
	anyMode   = rapid.SampledFrom([]fleet.Mode{"", fleet.DryRun, fleet.Enforce})
	anyTime   = rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "none") {
			return time.Time{}
		}
		return noon.Add(time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "minutes")) * time.Minute)
	})
	anyTerms = rapid.Custom(func(t *rapid.T) fleet.Terms {
		return fleet.Terms{
			Mode: anyMode.Draw(t, "mode"), AtMost: anyAction.Draw(t, "at most"), Approval: rapid.Bool().Draw(t, "approval"),
			Cooldown: time.Duration(rapid.IntRange(0, 100).Draw(t, "cooldown")) * time.Minute,
			Refund:   rapid.Bool().Draw(t, "refund"), Discard: rapid.Bool().Draw(t, "discard"),
			Money: rapid.Bool().Draw(t, "money"),
		}
	})
	anyInput = rapid.Custom(func(t *rapid.T) Input {
		in := Input{
			Now: noon, Action: anyAction.Draw(t, "action"), Effect: anyAction.Draw(t, "effect"),
			ByHand: rapid.Bool().Draw(t, "by hand"), Money: rapid.Bool().Draw(t, "for money"), Can: rapid.Bool().Draw(t, "can"),
			AccountMode: anyMode.Draw(t, "account"), FileMode: anyMode.Draw(t, "file"),
			Terms:     rapid.SliceOfN(anyTerms, 0, 3).Draw(t, "terms"),
			Ceiling:   Ceiling{AtMost: anyAction.Draw(t, "ceiling")},
			BoxHold:   anyTime.Draw(t, "box hold"),
			CreatedAt: anyTime.Draw(t, "created"), AcceptedAt: anyTime.Draw(t, "accepted"), Deadline: anyTime.Draw(t, "deadline"),
			Warn:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "warn")) * time.Minute,
			LastAct: anyTime.Draw(t, "last act"), CapUsed: rapid.IntRange(0, 5).Draw(t, "used"), CapBase: rapid.IntRange(0, 20).Draw(t, "base"),
			Caps:     Cap{PerHour: rapid.IntRange(0, 4).Draw(t, "per hour"), Percent: rapid.IntRange(0, 100).Draw(t, "percent")},
			Approved: rapid.Bool().Draw(t, "approved"),
		}
		in.Thing.Charge.Type = rapid.SampledFrom([]fleet.ChargeType{"", fleet.ChargeOnDemand, fleet.ChargeSpot, fleet.ChargePeriod, "new"}).Draw(t, "charge")
		in.Thing.OnStop.KeepsData = rapid.SampledFrom([]fleet.Keeps{"", fleet.KeepsAll, fleet.KeepsPart, fleet.KeepsNone, "new"}).Draw(t, "keeps")
		in.Thing.OnStop.EndsBilling = rapid.SampledFrom([]fleet.Tri{"", fleet.Yes, fleet.No}).Draw(t, "ends billing")
		in.Protected.Unreadable = rapid.Bool().Draw(t, "unreadable")
		if rapid.Bool().Draw(t, "protected") {
			in.Protected.By = fleet.Because("app.protect-label", nil)
		}
		if until := anyTime.Draw(t, "hold"); !until.IsZero() {
			in.Holds = []fleet.Hold{{Until: until}}
		}
		return in
	})
)

func TestZeroInputIsRefused(t *testing.T) {
	if got := Sum(Ask(Chain(), Input{})); got.Answer != Refuse {
		t.Errorf("nothing at all is answered with %s", got.Answer)
	}
}

// TestWhatIsNeverAllowed asks of anything at all that the answer is not allow
// where one thing forbids it, whatever else is so.
func TestWhatIsNeverAllowed(t *testing.T) {
	loses := func(in Input) bool {
		return in.Action.Destroys() || in.Effect.Destroys() || in.Action == fleet.Stop && in.Thing.OnStop.KeepsData != fleet.KeepsAll
	}
	all := func(in Input, is func(fleet.Terms) bool) bool {
		return len(in.Terms) > 0 && !slices.ContainsFunc(in.Terms, func(t fleet.Terms) bool { return !is(t) })
	}
	for _, p := range []struct {
		name   string
		forbid func(in Input) bool
	}{
		{"nothing to do", func(in Input) bool { return in.Action == fleet.Keep }},
		{"the platform cannot", func(in Input) bool { return !in.Can }},
		{"protected", func(in Input) bool { return !startsByHand(in) && !in.Protected.By.IsZero() }},
		{"unreadable", func(in Input) bool { return !startsByHand(in) && in.Protected.Unreadable }},
		{"held", func(in Input) bool {
			return !startsByHand(in) && len(in.Holds) > 0 && in.Holds[0].Until.After(in.Now)
		}},
		{"held inside", func(in Input) bool { return !startsByHand(in) && in.BoxHold.After(in.Now) }},
		{"a ceiling", func(in Input) bool {
			return in.Action > fleet.Start && in.Ceiling.AtMost != fleet.Keep && in.Action > in.Ceiling.AtMost
		}},
		{"a ceiling of stop over what loses data", func(in Input) bool { return in.Ceiling.AtMost == fleet.Stop && loses(in) }},
		{"a policy's ceiling of stop over what loses data", func(in Input) bool {
			return loses(in) && slices.ContainsFunc(in.Terms, func(t fleet.Terms) bool { return t.AtMost == fleet.Stop })
		}},
		{"a period nobody gives back", func(in Input) bool {
			return in.Action != fleet.Start && in.Thing.Charge.Type == fleet.ChargePeriod && !all(in, func(t fleet.Terms) bool { return t.Refund })
		}},
		{"an unknown way to pay", func(in Input) bool {
			return in.Action != fleet.Start && (in.Thing.Charge.Type == "" || in.Thing.Charge.Type == "new")
		}},
		{"data nobody said may go", func(in Input) bool {
			return loses(in) && !all(in, func(t fleet.Terms) bool { return t.Discard }) && (!in.ByHand || !in.Action.Destroys())
		}},
		{"a stop for nothing", func(in Input) bool { return in.Action == fleet.Stop && in.Thing.OnStop.EndsBilling == fleet.No }},
		{"a dry run", func(in Input) bool { return in.AccountMode != fleet.Enforce }},
		{"a dry run by hand", func(in Input) bool { return in.ByHand && in.FileMode != fleet.Enforce }},
		{"a dry-run wish", func(in Input) bool {
			return slices.ContainsFunc(in.Terms, func(t fleet.Terms) bool { return t.Mode != fleet.Enforce })
		}},
		{"no wish", func(in Input) bool { return !in.ByHand && len(in.Terms) == 0 }},
		{"destroyed without anybody having been warned", func(in Input) bool { return !in.ByHand && loses(in) && in.AcceptedAt.IsZero() }},
		{"not announced", func(in Input) bool { return !in.ByHand && in.CreatedAt.IsZero() }},
		{"before the deadline", func(in Input) bool { return !in.ByHand && !in.AcceptedAt.IsZero() && in.Deadline.After(in.Now) }},
		{"before the warning time is over", func(in Input) bool {
			return !in.ByHand && !in.AcceptedAt.IsZero() && in.AcceptedAt.Add(in.Warn).After(in.Now)
		}},
		{"without the approval it needs", func(in Input) bool {
			return !in.ByHand && !in.Approved && slices.ContainsFunc(in.Terms, func(t fleet.Terms) bool { return t.Approval })
		}},
		{"over the cap", func(in Input) bool { return !in.ByHand && in.Caps.PerHour > 0 && in.CapUsed >= in.Caps.PerHour }},
	} {
		t.Run(p.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := anyInput.Filter(p.forbid).Draw(t, "input")
				if got := Sum(Ask(Chain(), in)); got.Answer == Allow {
					t.Errorf("allowed: %+v", in)
				}
			})
		})
	}
}

// TestAStopByHandLosesNoData says of the rarest of these what no wish has to say.
func TestAStopByHandLosesNoData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput.Draw(t, "input")
		in.ByHand, in.Terms, in.Action = true, nil, fleet.Stop
		loses := in.Effect.Destroys() || in.Thing.OnStop.KeepsData != fleet.KeepsAll
		if got := Sum(Ask(Chain(), in)); loses && got.Answer == Allow {
			t.Errorf("allowed: %+v", in)
		}
	})
}

// TestAHandSkipsFourChecksAndNoOther compares a command with the same wish of a
// policy: only warning, cooldown, cap and approval may answer more mildly.
func TestAHandSkipsFourChecksAndNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput.Draw(t, "input")
		in.ByHand = false
		asked := Ask(Chain(), in)
		in.ByHand = true
		for n, hand := range Ask(Chain(), in) {
			switch hand.Check {
			case "warning", "cooldown", "cap", "approval":
				if hand.Answer != Allow {
					t.Errorf("%s holds back a hand: %s", hand.Check, hand.Answer)
				}
			case "mode": // of the file instead of the wishes
			case "data": // a release by hand says itself that data may go
				if hand.Answer > asked[n].Answer && !in.Action.Destroys() {
					t.Errorf("data lets a hand pass: %+v", in)
				}
			case "protection", "ceiling", "hold": // a hand may power on whatever it is
				if hand.Answer != asked[n].Answer && in.Action != fleet.Start {
					t.Errorf("%s says %s to a hand and %s to a policy", hand.Check, hand.Answer, asked[n].Answer)
				}
			default:
				if hand.Answer != asked[n].Answer {
					t.Errorf("%s says %s to a hand and %s to a policy", hand.Check, hand.Answer, asked[n].Answer)
				}
			}
		}
	})
}

// TestWhatMayBeAllowedIs shows that the properties above are not met by refusing
// everything.
func TestWhatMayBeAllowedIs(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput.Draw(t, "input")
		ok := allowed()
		in.Action, in.Effect, in.Thing, in.Can, in.AccountMode = ok.Action, ok.Effect, ok.Thing, true, fleet.Enforce
		in.Protected, in.Holds, in.BoxHold, in.Ceiling, in.Caps = Protection{}, nil, time.Time{}, Ceiling{}, Cap{}
		in.ByHand, in.FileMode, in.Terms = true, fleet.Enforce, nil
		if Sum(Ask(Chain(), in)).Answer == Allow {
			seen++
		}
	})
	if seen == 0 {
		t.Error("nothing is ever allowed")
	}
}
