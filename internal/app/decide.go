package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/internal/observe"
	"curfew/internal/store"
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

// desk is what was read from the state for one round of deciding, all of one
// moment.
type desk struct {
	now       time.Time
	holds     []fleet.Hold
	open      map[fleet.Ref]fleet.Intent
	last      map[fleet.Ref]fleet.Intent // newest ended act
	grounds   map[fleet.Ref][]fleet.Ground
	starts    map[fleet.Ref]fleet.Intent
	approvals map[int64]store.Approval
	secured   map[fleet.Ref][]fleet.Secured
	left      map[fleet.Ref]fleet.Left
	belongs   func(fleet.Instance) fleet.Belongings
	accounts  map[string]policies.Account
	spend     map[string]policies.Tally
	standing  map[string]time.Time
	sent      map[capKey]int
	running   int // instances a percentage is of
	there     int // resources a percentage is of
}

// readDesk reads what a pass needs of the state.
func (a *App) readDesk(ctx context.Context, rt *runtime, all observe.Snapshot, now time.Time) (*desk, error) {
	d := &desk{now: now, open: map[fleet.Ref]fleet.Intent{}, sent: map[capKey]int{}, belongs: a.belongs()}
	var err error
	if d.holds, err = a.store.Holds(ctx, now); err != nil {
		return nil, err
	}
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range open {
		d.open[i.Ref] = i
	}
	if d.approvals, err = a.store.Approvals(ctx); err != nil {
		return nil, err
	}
	if d.last, err = a.store.LastSent(ctx, now.Add(-24*time.Hour)); err != nil {
		return nil, err
	}
	if d.grounds, err = a.store.Grounds(ctx); err != nil {
		return nil, err
	}
	if d.starts, err = a.store.Starts(ctx); err != nil {
		return nil, err
	}
	if d.secured, err = a.store.Secured(ctx); err != nil {
		return nil, err
	}
	if d.left, err = a.store.Left(ctx); err != nil {
		return nil, err
	}
	for _, effect := range []fleet.Action{fleet.Start, fleet.Stop, fleet.Release, fleet.Delete} {
		for _, money := range []bool{false, true} {
			if d.sent[capKey{effect, money}], err = a.store.Sent(ctx, effect, money, now.Add(-capWindow)); err != nil {
				return nil, err
			}
		}
	}
	d.running, d.there = countRunning(rt, all, d.open), countThere(all, d.open)
	d.spend = a.tally(ctx, rt, now)
	return d, a.readMoney(ctx, rt, all, d)
}

// readMoney reads what policies see of accounts, and what was told of them.
func (a *App) readMoney(ctx context.Context, rt *runtime, all observe.Snapshot, d *desk) error {
	d.accounts = a.accounts(rt, all)
	told, err := a.store.ToldKeys(ctx, standingPrefix)
	if err != nil {
		return err
	}
	d.standing = make(map[string]time.Time, len(told))
	for key, at := range told {
		d.standing[strings.TrimPrefix(key, standingPrefix)] = at
	}
	return nil
}

// countRunning counts what a share is of, without what is being acted on: that is
// counted as used already, and lists may show it running for a while.
func countRunning(rt *runtime, all observe.Snapshot, open map[fleet.Ref]fleet.Intent) int {
	n := 0
	for i := range all.Up() {
		if len(open[i.Ref].Attempts) == 0 && rt.watches(*i) {
			n++
		}
	}
	return n
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

func deskIn(tx *store.Tx, in fleet.Intent) (*desk, error) {
	d := &desk{
		now: tx.Now, open: map[fleet.Ref]fleet.Intent{}, last: map[fleet.Ref]fleet.Intent{},
		approvals: map[int64]store.Approval{}, sent: map[capKey]int{},
	}
	open, err := tx.OpenIntents()
	if err != nil {
		return nil, err
	}
	for _, i := range open {
		d.open[i.Ref] = i
	}
	if d.holds, err = tx.Holds(); err != nil {
		return nil, err
	}
	if d.secured, err = tx.Secured(); err != nil {
		return nil, err
	}
	if d.left, err = tx.Left(); err != nil {
		return nil, err
	}
	if last, ok, err := tx.LastClosed(in.Ref); err != nil {
		return nil, err
	} else if ok {
		d.last[in.Ref] = last
	}
	if y, ok, err := tx.Approval(in.ID); err != nil {
		return nil, err
	} else if ok {
		d.approvals[in.ID] = y
	}
	for _, effect := range []fleet.Action{fleet.Start, fleet.Stop, fleet.Release, fleet.Delete} {
		for _, money := range []bool{false, true} {
			if d.sent[capKey{effect, money}], err = tx.Sent(effect, money, tx.Now.Add(-capWindow)); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
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
