package app

import (
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/policies"
)

// ask asks policies and guard again, in the transaction that is about to journal
// the write: over the instance as just read, the looks begun since, and holds and
// caps as they are in this transaction.
func (a *App) ask(tx *store.Tx, i fleet.Instance, in fleet.Intent, since time.Time) (execute.Answer, error) {
	return a.askOf(tx, i, in, since)
}

// askOf is ask without some of the guard's checks.
func (a *App) askOf(tx *store.Tx, i fleet.Instance, in fleet.Intent, since time.Time, without ...string) (execute.Answer, error) {
	rt := a.runtime()
	p, _ := a.account(i.Ref.Account)
	d, err := deskIn(tx, in)
	if err != nil {
		return execute.Answer{}, err
	}
	d.belongs = a.belongs()
	if deaf, err := a.deaf(tx); err != nil || deaf {
		return execute.Answer{Word: execute.PutOff, Reason: fleet.Because(ReasonDeaf, nil), Silent: true}, err
	}
	all := a.inv.Snapshot()
	d.running, d.there = countRunning(rt, all, d.open), countThere(all, d.open)
	region, known := a.regionOf(i.Ref)
	if known && !rt.covers(fleet.Scope{Account: i.Ref.Account, Region: region}) {
		return execute.Answer{Reason: fleet.Because(ReasonPolicyGone, nil)}, nil
	}
	things := policies.Things{Scopes: all.Scopes}
	at := 0
	if i.Ref.Kind == fleet.KindInstance {
		things.Instances = []fleet.Instance{i}
	} else {
		things.Lists, things.Resources = all.Lists, all.Group(i.Ref)
		at = on(things, i.Ref, 0)
	}
	if in.By != execute.ByPolicy {
		step := policies.Step{Action: in.Action, Goal: in.Goal}
		return answer(d.now, guard.Sum(guard.Ask(guard.Chain(), a.guardInput(rt, p, i, step, &in, d))), nil), nil
	}
	if d.grounds, err = a.store.Grounds(tx.Context()); err != nil {
		return execute.Answer{}, err
	}
	if d.starts, err = a.store.Starts(tx.Context()); err != nil {
		return execute.Answer{}, err
	}
	d.spend = a.lastTally(rt) // to reckon it takes too long now
	if err := a.readMoney(tx.Context(), rt, all, d); err != nil {
		return execute.Answer{}, err
	}
	var m mind
	v := a.viewIn(&m, rt, things, d)
	said := a.opinions(rt, v, d, &m)
	var verdicts []*fleet.Verdict
	if at >= 0 {
		verdicts = said.of(at)
	}
	dec := a.decide(rt, &i, v.Activity[i.Ref], verdicts, d)
	if dec.step.Action != in.Action {
		return rt.standing(in, dec), nil
	}
	j := v.Activity[i.Ref]
	// One wish that needs no look is enough: what else is wished for takes nothing
	// from it.
	blind := slices.ContainsFunc(dec.step.Verdicts, func(v fleet.Verdict) bool { return v.Blind }) &&
		policies.Effect(i, in.Action) == fleet.Stop
	if i.Ref.Kind == fleet.KindInstance && i.State == fleet.StateRunning && !blind && !a.looked(rt, i, j, d.now, since) {
		return execute.Answer{Word: execute.PutOff, Reason: fleet.Because(ReasonNoFreshLook, fleet.Values{"why": fleet.Nested(j.Reason)})}, nil
	}
	out := answer(d.now, guard.Sum(guard.Without(dec.rulings, without...)), dec.step.Verdicts)
	out.Secured = securedNow(i, d.secured[i.Ref])
	return out, nil
}

// looked reports whether the judgement that the wishes rest on is of a look begun
// since. Where nothing can be told the policy has judged by the look from inside
// (the end a run wrote itself, with all but the cards readable), and where nobody
// is to look inside by that end alone.
func (a *App) looked(rt *runtime, i fleet.Instance, j fleet.Judgement, now, since time.Time) bool {
	if j.Activity != fleet.Unknown {
		return !j.SeenAt.Before(since)
	}
	looks, _ := a.evidence(i.Ref)
	newest, ok := inside(looks, i.Boot, now)
	return ok && !newest.SeenAt.Before(since) || len(rt.required(i)) == 0
}

// regionOf gives the region of the scope that lists a thing.
func (a *App) regionOf(ref fleet.Ref) (string, bool) {
	if ref.Kind == fleet.KindInstance {
		t, ok := a.inv.Get(ref)
		return t.Region, ok
	}
	r, ok := a.inv.Resource(ref)
	return r.Region, ok
}

// askAgain is the pause before an act is asked for again that waits for something
// other than time.
const askAgain = time.Minute

// answer turns the guard's sum into the executor's word.
func answer(now time.Time, sum guard.Ruling, verdicts []fleet.Verdict) execute.Answer {
	out := execute.Answer{Reason: sum.Reason, Until: sum.Until, Verdicts: verdicts}
	switch sum.Answer {
	case guard.Allow:
		out.Word = execute.Go
	case guard.Wait:
		out.Word = execute.PutOff
		if out.Until.IsZero() {
			out.Until = now.Add(askAgain)
		}
	}
	return out
}

// standing says what becomes of an intent that is not asked for now: a gap in
// what is known puts it off, any other answer of all its policies is a ground
// against it.
func (rt *runtime) standing(in fleet.Intent, dec decision) execute.Answer {
	against := execute.Answer{Word: execute.Against, Reason: fleet.Because(ReasonPolicyGone, nil)}
	if dec.step.Action != fleet.Keep {
		against.Reason = fleet.Because(ReasonOtherStep, fleet.Values{"action": fleet.Nested(guard.ActionReason(dec.step.Action))})
	}
	for _, w := range in.Verdicts {
		now, ok := find(dec.verdicts, func(v *fleet.Verdict) bool { return v.Policy == w.Policy })
		switch {
		case !ok:
			if p, stays := find(rt.cfg.Policies, func(p config.Policy) bool { return p.Name == w.Policy }); stays {
				if _, err := p.Match(dec.subject); err != nil {
					// Whether it is still about this instance cannot be told now.
					return execute.Answer{Word: execute.PutOff, Reason: fleet.Because(policies.ReasonMatchUnreadable, fleet.Values{"why": fleet.Text(err.Error())})}
				}
			}
		case now.Goal != fleet.Keep && now.Goal < in.Action:
			against.Reason = now.Reason // it does not go so far any more
		case now.Gap || (now.Goal != fleet.Keep && now.Terms.Mode == fleet.Enforce && dec.step.Action == fleet.Keep):
			// Still wished for, but nothing can be done or told at this moment.
			return execute.Answer{Word: execute.PutOff, Reason: now.Reason}
		case now.Goal != fleet.Keep && now.Terms.Mode != fleet.Enforce:
			against.Reason = fleet.Because(guard.ReasonDryRun, nil)
		default:
			against.Reason = now.Reason
		}
	}
	return against
}
