package app

import (
	"path"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/policies"
	"curfew/providers"
)

// guardInput gathers what the guard sees of one step.
func (a *App) guardInput(rt *runtime, p providers.Account, i fleet.Instance, step policies.Step, open *fleet.Intent, d *desk) guard.Input {
	in := guard.Input{
		Now: d.now, Action: step.Action, Thing: i, Effect: policies.Effect(i, step.Action),
		Can: p.Can(i.Ref.Kind, step.Action), AccountMode: rt.accountMode(i.Ref), FileMode: rt.cfg.Mode,
		Protected: a.protected(rt, i), Ceiling: rt.ceiling(i), Holds: holdsOf(d.holds, i.Ref), BoxHold: a.boxHold(i),
	}
	in.Secured, in.ToSecure = secured(i, step.Verdicts, d.secured[i.Ref], d.now)
	in.KeepsAll = step.Action == fleet.Release && d.belongings(i).ReleaseKeepsAll(i)
	for _, v := range step.Verdicts {
		in.Terms = append(in.Terms, v.Terms)
		in.Money = in.Money || v.Terms.Money
		in.Warn = max(in.Warn, v.Terms.Warn(in.Effect))
	}
	if open != nil && open.Action == step.Action && open.Boot == i.Boot {
		in.CreatedAt, in.AcceptedAt, in.Deadline = open.AnnouncedAt, open.AcceptedAt, open.Deadline
		in.Warn = max(in.Warn, open.Warn)
		in.ByHand, in.Hurried = open.By != execute.ByPolicy, open.Hurried != ""
		if y, ok := d.approvals[open.ID]; ok && d.now.Before(y.Expires) {
			in.Approved, in.ApprovedBy = true, y.By
		}
	}
	// The cooldown is not between the steps of one goal.
	if last, ok := d.last[i.Ref]; ok {
		step := last.Goal > last.Action && last.Boot == i.Boot && last.Outcome != fleet.OutcomeFailedWrite
		if !step {
			in.LastAct = last.ClosedAt
		}
	}
	in.Caps = rt.cap(capKey{in.Effect, in.Money})
	in.CapUsed = d.sent[capKey{in.Effect, in.Money}]
	// What was acted on in this hour was there at its start.
	in.CapBase = d.running + in.CapUsed
	if i.Ref.Kind != fleet.KindInstance {
		in.CapBase = d.there + in.CapUsed
	}
	if open != nil && len(open.Attempts) > 0 && open.Attempts[0].StartedAt.After(d.now.Add(-time.Hour)) {
		in.CapUsed-- // a second try of the same act is not a second act
	}
	return in
}

func holdsOf(all []fleet.Hold, ref fleet.Ref) []fleet.Hold {
	var out []fleet.Hold
	for _, h := range all {
		if h.Ref == ref {
			out = append(out, h)
		}
	}
	return out
}

// boxHold is the end of the hold file, for as long as it lasts: a hold outlives
// the look that saw it, and the daemon that looked.
func (a *App) boxHold(i fleet.Instance) time.Time {
	if h := a.heldInside(i.Ref); h.Boot.Same(i.Boot) {
		return h.End()
	}
	return time.Time{}
}

// protected adds to what the file protects an instance whose hold file is there
// and cannot be read: somebody meant to say "wait".
func (a *App) protected(rt *runtime, i fleet.Instance) guard.Protection {
	p := rt.protection(i)
	looks, _ := a.evidence(i.Ref)
	for _, e := range looks {
		if why, unread := e.Facts.Unreadable["hold"]; unread && e.Boot.Same(i.Boot) && p.By.IsZero() {
			p.By = fleet.Because(ReasonHoldUnread, fleet.Values{"why": fleet.Text(why)})
		}
	}
	return p
}

// protection says whether the file or the platform protects an instance. Labels or
// a name that could not be read protect it, where they can.
func (rt *runtime) protection(i fleet.Instance) guard.Protection {
	p := guard.Protection{
		Unreadable: len(rt.cfg.Protect.Labels) > 0 && slices.Contains(i.Unread, "labels") ||
			len(rt.cfg.Protect.Names) > 0 && slices.Contains(i.Unread, "name") ||
			// Of what is deleted for good everything must be known.
			i.Ref.Kind != fleet.KindInstance && len(i.Unread) > 0,
	}
	for key, value := range rt.cfg.Protect.Labels {
		if have, ok := i.Labels[key]; ok && (have == value || value == "") {
			p.By = fleet.Because(ReasonProtectLabel, fleet.Values{"label": fleet.Text(key + "=" + have)})
		}
	}
	for _, pattern := range rt.cfg.Protect.Names {
		// In a name a slash is a letter like any other.
		letters := strings.NewReplacer("/", "\x00")
		if ok, err := path.Match(letters.Replace(pattern), letters.Replace(i.Name)); ok || err != nil {
			p.By = fleet.Because(ReasonProtectName, fleet.Values{"pattern": fleet.Text(pattern)})
		}
	}
	if i.Protected {
		p.By = fleet.Because(ReasonPlatform, nil)
	}
	return p
}

// ceiling is the account's, or that of the instance's own label.
func (rt *runtime) ceiling(i fleet.Instance) guard.Ceiling {
	var c guard.Ceiling
	for _, acc := range rt.accounts {
		if p, ok := acc.opened(); ok && p.Identity == i.Ref.Account && acc.cfg.AtMost != fleet.Keep {
			c = guard.Ceiling{AtMost: acc.cfg.AtMost, From: "account " + acc.cfg.Name}
		}
	}
	word, ok := i.Labels[labelAtMost]
	if ok || slices.Contains(i.Unread, "labels") {
		// A ceiling that cannot be read is the lowest one.
		atMost, err := fleet.ParseAction(word)
		if err != nil || atMost < fleet.Stop {
			atMost = fleet.Start
		}
		if c.AtMost == fleet.Keep || atMost < c.AtMost {
			c = guard.Ceiling{AtMost: atMost, From: "label " + labelAtMost}
		}
	}
	return c
}

// labelAtMost is the label by which an instance sets its own ceiling.
const labelAtMost = "curfew.at-most"
