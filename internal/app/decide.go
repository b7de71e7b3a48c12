package app

import (
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/guard"
	"curfew/policies"
	"curfew/signals"
)

// The reasons of passes and commands.
const (
	ReasonProtectLabel fleet.Code = "app.protect-label"
	ReasonProtectName  fleet.Code = "app.protect-name"
	ReasonPlatform     fleet.Code = "app.protect-platform"
	ReasonNoPolicy     fleet.Code = "app.no-policy"
	ReasonPolicyGone   fleet.Code = "app.policy-gone"
	ReasonOtherStep    fleet.Code = "app.other-step"
	ReasonNoFreshLook  fleet.Code = "app.no-fresh-look"
	ReasonByHand       fleet.Code = "app.by-hand"
	ReasonDeaf         fleet.Code = "app.deaf"
	ReasonHoldUnread   fleet.Code = "app.hold-unread"
	ReasonForgotten    fleet.Code = "app.forgotten"
)

// decision is what a pass thinks of one thing.
type decision struct {
	subject   fleet.Instance // or what a resource shares with one
	activity  fleet.Judgement
	verdicts  []*fleet.Verdict // of every policy that matches
	step      policies.Step    // of the enforcing wishes
	would     policies.Step    // of the dry-run wishes
	rulings   []guard.Ruling   // on step, or on would where there is no step
	intent    *fleet.Intent    // the open one
	unguarded bool
	hurried   string // who wants it now
}

// view builds what policies may see of some instances.
func (a *App) view(rt *runtime, things policies.Things, d *desk) policies.View {
	return a.viewIn(&mind{}, rt, things, d)
}

func (a *App) viewIn(m *mind, rt *runtime, things policies.Things, d *desk) policies.View {
	if m.view.Activity == nil {
		m.view = policies.View{
			Activity: map[fleet.Ref]fleet.Judgement{}, Facts: map[fleet.Ref]fleet.Facts{},
			Runs: map[fleet.Ref][]fleet.Run{}, Samples: map[fleet.Ref][]fleet.Evidence{},
		}
	}
	v := m.view
	clear(v.Activity)
	clear(v.Facts)
	clear(v.Runs)
	clear(v.Samples)
	v.Now, v.Things, v.Grounds, v.Starts, v.Open = d.now, things, d.grounds, d.starts, d.open
	v.Secured, v.Left, v.Belongs = d.secured, d.left, d.belongs
	v.Accounts, v.Spend, v.Standing = d.accounts, d.spend, d.standing
	for _, i := range things.Instances {
		looks, runs := a.evidence(i.Ref)
		past := func(r fleet.Run) bool { return !r.Boot.Same(i.Boot) || !rt.follows(r) }
		if slices.ContainsFunc(runs, past) {
			runs = slices.DeleteFunc(slices.Clone(runs), past)
		}
		v.Activity[i.Ref] = m.fuse(d.now, i, looks, runs, rt.required(i))
		if len(runs) > 0 {
			v.Runs[i.Ref] = runs
		}
		if e, ok := inside(looks, i.Boot, d.now); ok {
			v.Facts[i.Ref] = e.Facts
		}
		if samples := a.samples(i.Ref); len(samples) > 0 && samples[0].Boot.Same(i.Boot) {
			v.Samples[i.Ref] = samples // all of one boot
		}
	}
	return v
}

// follows reports whether anybody still looks for the run: one of a policy that
// is gone would stay open for ever.
func (rt *runtime) follows(r fleet.Run) bool {
	return r.Policy == "" || slices.ContainsFunc(rt.cfg.Policies, func(p config.Policy) bool { return p.Name == r.Policy })
}

// required names the sources without whose word an instance is not idle: those
// that see inside it, and others where the configuration says so.
func (rt *runtime) required(i fleet.Instance) []string {
	spared := func(s *source) bool { return signals.Required(s.signals) && !s.signals.Applies(i) }
	if !slices.ContainsFunc(rt.sources, spared) {
		return rt.looks // the same for nearly all of them
	}
	var names []string
	for _, s := range rt.sources {
		if signals.Required(s.signals) && s.signals.Applies(i) {
			names = append(names, s.signals.Name())
		}
	}
	return names
}

// inside gives the newest fresh look that got inside the present boot.
func inside(looks []fleet.Evidence, boot fleet.Boot, now time.Time) (fleet.Evidence, bool) {
	var newest fleet.Evidence
	for _, e := range looks {
		if e.Facts.Reached && e.Boot.Same(boot) && e.Fresh(now) && e.SeenAt.After(newest.SeenAt) {
			newest = e
		}
	}
	return newest, newest.Facts.Reached
}

// opinions is what all policies say: the verdicts on each thing, in the order of the
// policies.
type opinions struct {
	verdicts []*fleet.Verdict // room for one of every policy on each thing
	count    []int            // of those on each thing
	most     int              // policies
	findings []fleet.Finding
}

// of gives the verdicts on the nth of the things.
func (o opinions) of(n int) []*fleet.Verdict { return o.verdicts[n*o.most : n*o.most+o.count[n]] }

// on finds a thing by its reference; most come in order.
func on(things policies.Things, ref fleet.Ref, from int) int {
	count := len(things.Instances) + len(things.Resources)
	for k := range count {
		n := (from + k) % count
		if n < len(things.Instances) && things.Instances[n].Ref == ref || n >= len(things.Instances) && things.Resources[n-len(things.Instances)].Ref == ref {
			return n
		}
	}
	return -1
}

// opinions asks every policy. An intent announced inside a window is asked again
// with the tick it was announced under, after the window closed too.
func (a *App) opinions(rt *runtime, v policies.View, d *desk, m *mind) opinions {
	all := m.opinions
	all.most, all.findings = len(rt.cfg.Policies), nil
	count := len(v.Things.Instances) + len(v.Things.Resources)
	if len(all.count) < count || len(all.verdicts) < count*all.most {
		all.count, all.verdicts = make([]int, count), make([]*fleet.Verdict, count*all.most)
	}
	clear(all.count)
	m.opinions = all
	if len(m.said) != all.most {
		m.said = make([][]fleet.Verdict, all.most)
	}
	modes := map[string]fleet.Mode{}
	for k, p := range rt.cfg.Policies {
		pv := v
		pv.Due, pv.Opens = p.Window.At(d.now)
		if !pv.Due.IsZero() {
			pv.Opens = time.Time{}
		}
		pv.Room = m.said[k][:0]
		r := p.Policy.Decide(pv)
		if cap(r.Verdicts) > cap(m.said[k]) {
			m.said[k] = r.Verdicts
		}
		if pv.Due.IsZero() {
			r.Verdicts = a.announced(p, v, d, r.Verdicts)
		}
		at := -1
		for n := range r.Verdicts {
			w := &r.Verdicts[n]
			mode, known := modes[w.Ref.Account]
			if !known {
				mode = rt.accountMode(w.Ref)
				modes[w.Ref.Account] = mode
			}
			mayGo := w.Goal == fleet.Delete && w.Terms.Discard // it was said with the policy
			w.Terms = p.Terms
			if mayGo {
				w.Terms.Discard, w.Terms.Data = true, nil
			}
			w.Terms.Mode = milder(p.Terms.Mode, mode)
			if at = on(v.Things, w.Ref, at+1); at >= 0 {
				all.verdicts[at*all.most+all.count[at]] = w
				all.count[at]++
			}
		}
		all.findings = append(all.findings, r.Findings...)
	}
	return all
}

func (a *App) announced(p config.Policy, v policies.View, d *desk, verdicts []fleet.Verdict) []fleet.Verdict {
	for n := range verdicts {
		ref := verdicts[n].Ref
		i, ok := d.open[ref]
		if !ok {
			continue
		}
		under, ok := find(i.Verdicts, func(w fleet.Verdict) bool { return w.Policy == p.Name && !w.Due.IsZero() })
		if !ok {
			continue
		}
		again := v
		again.Due = under.Due
		if at := slices.IndexFunc(v.Things.Instances, func(i fleet.Instance) bool { return i.Ref == ref }); at >= 0 {
			again.Things.Instances = v.Things.Instances[at : at+1]
		}
		if w, ok := find(p.Policy.Decide(again).Verdicts, func(w fleet.Verdict) bool { return w.Ref == ref }); ok {
			verdicts[n] = w
		}
	}
	return verdicts
}

// covers reports whether the configuration speaks of a scope: a region that was
// taken out of it is left alone.
func (rt *runtime) covers(s fleet.Scope) bool {
	for _, acc := range rt.accounts {
		if p, ok := acc.opened(); ok && p.Identity == s.Account {
			return slices.ContainsFunc(p.Scopes, func(has fleet.Scope) bool { return has.Region == s.Region })
		}
	}
	return true
}

func (rt *runtime) accountMode(ref fleet.Ref) fleet.Mode {
	for _, acc := range rt.accounts {
		if p, ok := acc.opened(); ok && p.Identity == ref.Account {
			return milder(rt.cfg.Mode, acc.cfg.Mode)
		}
	}
	return fleet.DryRun
}

// decide joins the policies' opinions on one instance, and asks the guard.
func (a *App) decide(rt *runtime, of *fleet.Instance, j fleet.Judgement, verdicts []*fleet.Verdict, d *desk) decision {
	out := decision{subject: *of, activity: j, verdicts: verdicts, unguarded: len(verdicts) == 0}
	if _, ok := d.open[of.Ref]; ok {
		open := d.open[of.Ref] // a copy, made for the few
		out.intent = &open
	}
	if !slices.ContainsFunc(verdicts, func(v *fleet.Verdict) bool { return v.Goal != fleet.Keep }) {
		out.step.Reason = fleet.Because(policies.ReasonNothingAsked, nil)
		out.would.Reason = out.step.Reason
		return out
	}
	i := out.subject
	p, _ := a.account(i.Ref.Account)
	var enforcing, dry []fleet.Verdict
	for _, v := range verdicts {
		switch {
		case v.Goal == fleet.Keep: // nothing is asked
		case v.Terms.Mode == fleet.Enforce:
			enforcing = append(enforcing, *v)
		default:
			dry = append(dry, *v)
		}
	}
	can := func(action fleet.Action) bool { return p.Can(i.Ref.Kind, action) }
	out.step = policies.Combine(i, enforcing, can)
	out.would = policies.Combine(i, dry, can)
	asked := out.step
	if asked.Action == fleet.Keep {
		asked = out.would
	}
	if asked.Action != fleet.Keep {
		out.rulings = guard.Ask(guard.Chain(), a.guardInput(rt, p, i, asked, out.intent, d))
	}
	return out
}
