package guard

import (
	"slices"
	"time"

	"curfew/fleet"
)

// The reasons of rulings.
const (
	ReasonNoChecks        fleet.Code = "guard.no-checks"
	ReasonFine            fleet.Code = "guard.fine"
	ReasonCannot          fleet.Code = "guard.cannot"
	ReasonNotWorth        fleet.Code = "guard.not-worth"
	ReasonNotWorthSure    fleet.Code = "guard.worth-unsure"
	ReasonPeriod          fleet.Code = "guard.period"
	ReasonPeriodRefund    fleet.Code = "guard.period-refund"
	ReasonChargeUnknown   fleet.Code = "guard.charge-unknown"
	ReasonDataLost        fleet.Code = "guard.data-lost"
	ReasonDataUnsure      fleet.Code = "guard.data-unsure"
	ReasonDataDiscarded   fleet.Code = "guard.data-discarded"
	ReasonDataSecured     fleet.Code = "guard.data-secured"
	ReasonDataKept        fleet.Code = "guard.data-kept"
	ReasonDataToSecure    fleet.Code = "guard.data-to-secure"
	ReasonProtected       fleet.Code = "guard.protected"
	ReasonUnreadable      fleet.Code = "guard.unreadable"
	ReasonCeiling         fleet.Code = "guard.ceiling"
	ReasonHeld            fleet.Code = "guard.held"
	ReasonHeldInBox       fleet.Code = "guard.held-in-box"
	ReasonNotAnnounced    fleet.Code = "guard.not-announced"
	ReasonNotAccepted     fleet.Code = "guard.not-accepted"
	ReasonNobodyHeard     fleet.Code = "guard.nobody-heard"
	ReasonWarned          fleet.Code = "guard.warned"
	ReasonDeadline        fleet.Code = "guard.deadline"
	ReasonCooldown        fleet.Code = "guard.cooldown"
	ReasonCapped          fleet.Code = "guard.capped"
	ReasonWithinCap       fleet.Code = "guard.within-cap"
	ReasonApprovalMissing fleet.Code = "guard.approval-missing"
	ReasonApproved        fleet.Code = "guard.approved"
	ReasonDryRun          fleet.Code = "guard.dry-run"
	ReasonEnforce         fleet.Code = "guard.enforce"
	ReasonByHand          fleet.Code = "guard.by-hand"
	ReasonHurried         fleet.Code = "guard.hurried"
)

// NobodyHeard is how long after the end of the warning time a data-keeping stop
// still waits for a channel that accepts the warning.
const NobodyHeard = 10 * time.Minute

func fine() Ruling { return Ruling{Answer: Allow, Reason: fleet.Because(ReasonFine, nil)} }

func byHand() Ruling { return Ruling{Answer: Allow, Reason: fleet.Because(ReasonByHand, nil)} }

func hurried() Ruling {
	return Ruling{Answer: Allow, Reason: fleet.Because(ReasonHurried, nil)}
}

func capability(in Input) Ruling {
	if in.Action == fleet.Keep || !in.Can {
		return Ruling{Reason: fleet.Because(ReasonCannot, fleet.Values{
			"action": fleet.Nested(ActionReason(in.Action)), "provider": fleet.Text(in.Thing.Provider),
		})}
	}
	if why := in.Thing.Unable(in.Action); !why.IsZero() {
		return Ruling{Reason: why}
	}
	return fine()
}

// worth refuses a stop that is known not to end billing. Where it is unknown the
// stop is allowed and verified.
func worth(in Input) Ruling {
	if in.Action != fleet.Stop {
		return fine()
	}
	switch in.Thing.OnStop.EndsBilling {
	case fleet.Yes:
		return fine()
	case fleet.No:
		return Ruling{Reason: fleet.Because(ReasonNotWorth, nil)}
	}
	return Ruling{Answer: Allow, Reason: fleet.Because(ReasonNotWorthSure, nil)}
}

// charge lets only what is paid by use be acted on; a paid period only where its
// refund was asked for. Powering on costs nothing that was not paid.
func charge(in Input) Ruling {
	if in.Action == fleet.Start {
		return fine()
	}
	switch in.Thing.Charge.Type {
	case fleet.ChargeOnDemand, fleet.ChargeSpot:
		return fine()
	case fleet.ChargePeriod:
		refund := len(in.Terms) > 0 && !slices.ContainsFunc(in.Terms, func(t fleet.Terms) bool { return !t.Refund })
		if refund {
			return Ruling{Answer: Allow, Reason: fleet.Because(ReasonPeriodRefund, fleet.Values{
				"end": fleet.Moment(in.Thing.Charge.End), "refund": fleet.Amount(in.Thing.Charge.Refundable),
			})}
		}
		return Ruling{Reason: fleet.Because(ReasonPeriod, fleet.Values{"end": fleet.Moment(in.Thing.Charge.End)})}
	}
	return Ruling{Reason: fleet.Because(ReasonChargeUnknown, nil)}
}

// data refuses an act that destroys data unless every wish says that it may go. A
// release by hand says so itself; a stop does not. Where it is to be secured right
// before the act, that waits for it.
func data(in Input) Ruling {
	if !in.effect().Destroys() {
		return fine()
	}
	mayGo, secured, waits := len(in.Terms) > 0, false, false
	for n, t := range in.Terms {
		safe := t.Data != nil && n < len(in.Secured) && in.Secured[n]
		soon := !safe && !t.Discard && t.Data != nil && n < len(in.ToSecure) && in.ToSecure[n]
		mayGo = mayGo && (t.Discard || safe || soon)
		secured = secured || safe
		waits = waits || soon
	}
	switch {
	case mayGo && waits:
		return Ruling{Answer: Wait, Reason: fleet.Because(ReasonDataToSecure, nil)}
	case mayGo && secured:
		return Ruling{Answer: Allow, Reason: fleet.Because(ReasonDataSecured, nil)}
	case in.KeepsAll && in.Action == fleet.Release && in.Thing.OnRelease.KeepsData == fleet.KeepsAll:
		return Ruling{Answer: Allow, Reason: fleet.Because(ReasonDataKept, nil)}
	case mayGo, in.ByHand && in.Action.Destroys():
		return Ruling{Answer: Allow, Reason: fleet.Because(ReasonDataDiscarded, nil)}
	}
	if in.Action == fleet.Stop && in.Thing.OnStop.KeepsData == fleet.KeepsUnknown {
		return Ruling{Reason: fleet.Because(ReasonDataUnsure, nil)}
	}
	return Ruling{Reason: fleet.Because(ReasonDataLost, nil)}
}

// startsByHand reports whether a person powers something on, which destroys nothing and
// stops nothing. What a policy powers on it must be able to power off again.
func startsByHand(in Input) bool {
	return in.Action == fleet.Start && in.ByHand && !in.effect().Destroys()
}

func protection(in Input) Ruling {
	if startsByHand(in) {
		return fine()
	}
	if in.Protected.Unreadable {
		return Ruling{Reason: fleet.Because(ReasonUnreadable, nil)}
	}
	if !in.Protected.By.IsZero() {
		return Ruling{Reason: fleet.Because(ReasonProtected, fleet.Values{"by": fleet.Nested(in.Protected.By)})}
	}
	return fine()
}

func ceiling(in Input) Ruling {
	ceilings := []Ceiling{in.Ceiling}
	for _, t := range in.Terms {
		ceilings = append(ceilings, Ceiling{AtMost: t.AtMost, From: "policy"})
	}
	for _, c := range ceilings {
		if effect := in.effect(); c.AtMost != fleet.Keep && !startsByHand(in) && max(effect, fleet.Stop) > c.AtMost {
			return Ruling{Reason: fleet.Because(ReasonCeiling, fleet.Values{
				"at_most": fleet.Nested(ActionReason(c.AtMost)), "from": fleet.Text(c.From),
			})}
		}
	}
	return fine()
}

func hold(in Input) Ruling {
	if startsByHand(in) {
		return fine()
	}
	for _, h := range in.Holds {
		if h.Active(in.Now) {
			return Ruling{Reason: fleet.Because(ReasonHeld, h.Values())}
		}
	}
	if in.Now.Before(in.BoxHold) {
		return Ruling{Reason: fleet.Because(ReasonHeldInBox, fleet.Values{"until": fleet.Moment(in.BoxHold)})}
	}
	return fine()
}

// warning waits for a channel to accept the announcement and for the time people
// were promised. If no channel accepts it in time, a stop that keeps all data
// goes on, and says so; anything else waits.
func warning(in Input) Ruling {
	switch {
	case in.ByHand:
		return byHand()
	case in.Hurried:
		return hurried()
	}
	if in.CreatedAt.IsZero() {
		return Ruling{Answer: Wait, Reason: fleet.Because(ReasonNotAnnounced, fleet.Values{"warn": fleet.Span(in.Warn)})}
	}
	if in.AcceptedAt.IsZero() {
		giveUp := in.CreatedAt.Add(in.Warn + NobodyHeard)
		if !in.effect().Destroys() && !in.Now.Before(giveUp) {
			return Ruling{Answer: Allow, Reason: fleet.Because(ReasonNobodyHeard, fleet.Values{"since": fleet.Moment(in.CreatedAt)})}
		}
		r := Ruling{Answer: Wait, Reason: fleet.Because(ReasonNotAccepted, nil)}
		if !in.effect().Destroys() {
			r.Until = giveUp
		}
		return r
	}
	// A wish that joined late, with a longer warning, has its time too.
	deadline := in.AcceptedAt.Add(in.Warn)
	if in.Deadline.After(deadline) {
		deadline = in.Deadline
	}
	if in.Now.Before(deadline) {
		return Ruling{Answer: Wait, Until: deadline, Reason: fleet.Because(ReasonDeadline, fleet.Values{"at": fleet.Moment(deadline)})}
	}
	return Ruling{Answer: Allow, Reason: fleet.Because(ReasonWarned, fleet.Values{"at": fleet.Moment(in.AcceptedAt)})}
}

func cooldown(in Input) Ruling {
	switch {
	case in.ByHand:
		return byHand()
	case in.Hurried:
		return hurried()
	}
	var wait time.Duration
	for _, t := range in.Terms {
		wait = max(wait, t.Cooldown)
	}
	until := in.LastAct.Add(wait)
	if in.LastAct.IsZero() || !in.Now.Before(until) {
		return fine()
	}
	return Ruling{Answer: Wait, Until: until, Reason: fleet.Because(ReasonCooldown, fleet.Values{"until": fleet.Moment(until)})}
}

func capped(in Input) Ruling {
	if in.ByHand {
		return byHand()
	}
	limit, bounded := in.Caps.Limit(in.CapBase)
	if !bounded {
		return fine()
	}
	values := fleet.Values{
		"used": fleet.Number(float64(in.CapUsed)), "limit": fleet.Number(float64(limit)),
		"action": fleet.Nested(ActionReason(in.effect())),
	}
	if in.CapUsed >= limit {
		return Ruling{Answer: Wait, Reason: fleet.Because(ReasonCapped, values)}
	}
	return Ruling{Answer: Allow, Reason: fleet.Because(ReasonWithinCap, values)}
}

func approval(in Input) Ruling {
	needed := slices.ContainsFunc(in.Terms, func(t fleet.Terms) bool { return t.Approval })
	switch {
	case in.ByHand:
		return byHand()
	case !needed:
		return fine()
	case in.Approved:
		return Ruling{Answer: Allow, Reason: fleet.Because(ReasonApproved, fleet.Values{"by": fleet.Text(in.ApprovedBy)})}
	}
	return Ruling{Answer: Wait, Reason: fleet.Because(ReasonApprovalMissing, nil)}
}

// mode is the milder of file, account and policy. It is asked last.
func mode(in Input) Ruling {
	modes := []fleet.Mode{in.AccountMode}
	if in.ByHand {
		modes = append(modes, in.FileMode)
	} else if len(in.Terms) == 0 {
		modes = append(modes, fleet.DryRun)
	}
	for _, t := range in.Terms {
		modes = append(modes, t.Mode)
	}
	if fleet.Enforcing(modes...) {
		return Ruling{Answer: Allow, Reason: fleet.Because(ReasonEnforce, nil)}
	}
	return Ruling{Reason: fleet.Because(ReasonDryRun, nil)}
}

// ActionReason names an action as a reason, so that it is shown in the reader's
// language.
func ActionReason(a fleet.Action) fleet.Reason {
	return fleet.Because(fleet.Code("action."+a.String()), nil)
}
