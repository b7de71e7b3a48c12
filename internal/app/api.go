package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/policies"
)

var _ ctl.API = (*App)(nil)

// Limits of what people may ask.
const (
	approvalLasts    = 24 * time.Hour
	journalByDefault = 50
)

// Once polls every account and looks once, for commands that run without a
// daemon. Accounts that fail are told by their scope's state; the first error is
// returned.
func (a *App) Once(ctx context.Context) error {
	rt := a.runtime()
	var errs []error
	for _, acc := range rt.accounts {
		if err := a.pollOnce(ctx, acc); err != nil {
			errs = append(errs, fmt.Errorf("account %s: %w", acc.cfg.Name, err))
		}
	}
	for _, s := range rt.sources {
		if running := a.seenBy(rt, s); len(running) > 0 {
			a.lookAt(ctx, rt, s, running)
		}
	}
	return errors.Join(errs...)
}

// Plan tells what would be done now, and why not more.
func (a *App) Plan(ctx context.Context) (ctl.Plan, error) {
	rt := a.runtime()
	// Of resources, those with which something is done, or might be.
	t, err := a.think(ctx, rt, func(d *decision) bool { return d.subject.Ref.Kind == fleet.KindInstance || actedOn(d) })
	if err != nil {
		return ctl.Plan{}, err
	}
	if err := a.share(ctx, rt, t.decisions, t.desk); err != nil {
		return ctl.Plan{}, err
	}
	out := ctl.Plan{Now: a.clock.Now(), Scopes: a.inv.Scopes()}
	for _, d := range t.decisions {
		if d.subject.Ref.Kind == fleet.KindInstance {
			out.Items = append(out.Items, a.planned(d))
		} else {
			out.Resources = append(out.Resources, a.planned(d))
		}
	}
	for _, f := range t.findings {
		if k := f.Ref.Kind; f.Category == fleet.CategoryMoney && (k == fleet.KindAccount || k == fleet.KindOwner || k == fleet.KindBudget) {
			out.Findings = append(out.Findings, f)
		}
	}
	out.Blocks = t.blocks
	return out, nil
}

// planned puts a decision into the form people are shown.
func (a *App) planned(d decision) ctl.Planned {
	p := ctl.Planned{
		Instance: d.subject, Activity: d.activity, Rulings: d.rulings,
		Intent: d.intent, Unguarded: d.unguarded, Mode: fleet.Enforce, Action: d.step.Action, Goal: d.step.Goal,
	}
	for _, v := range d.verdicts {
		p.Verdicts = append(p.Verdicts, *v)
	}
	asked := d.step
	if asked.Action == fleet.Keep && d.would.Action != fleet.Keep {
		asked = d.would
		p.Mode, p.Action, p.Goal = fleet.DryRun, d.would.Action, d.would.Goal
	}
	switch {
	case d.intent != nil:
		p.Action, p.Goal, p.Mode = d.intent.Action, d.intent.Goal, fleet.Enforce
		p.At = d.intent.Deadline
		if d.intent.NextAt.After(p.At) && !d.intent.AcceptedAt.IsZero() {
			p.At = d.intent.NextAt
		}
		p.Reason = d.intent.HeldBack
		if p.Reason.IsZero() && len(d.intent.Verdicts) > 0 {
			p.Reason = d.intent.Verdicts[0].Reason
		}
	case asked.Action != fleet.Keep:
		p.Reason = asked.Verdicts[0].Reason
		if sum := guard.Sum(d.rulings); sum.Answer == guard.Refuse && sum.Check != "mode" {
			p.Action, p.Reason = fleet.Keep, sum.Reason
		}
	case d.unguarded:
		p.Reason = fleet.Because(ReasonNoPolicy, nil)
	default:
		p.Reason, p.At = keepReason(d)
	}
	return p
}

// keepReason gives the answer of the policy that will speak next, or of the first
// one.
func keepReason(d decision) (fleet.Reason, time.Time) {
	reason, at := d.step.Reason, time.Time{}
	for n, v := range d.verdicts {
		if n == 0 && v.Goal == fleet.Keep {
			reason, at = v.Reason, v.Next
		}
		if !v.Next.IsZero() && (at.IsZero() || v.Next.Before(at)) {
			reason, at = v.Reason, v.Next
		}
	}
	return reason, at
}

// List lists every instance.
func (a *App) List(ctx context.Context) (ctl.Listing, error) {
	plan, err := a.Plan(ctx)
	if err != nil {
		return ctl.Listing{}, err
	}
	out := ctl.Listing{Now: plan.Now, Items: plan.Items, Scopes: plan.Scopes, Wallets: map[string]fleet.Wallet{}}
	rt := a.runtime()
	purses := a.accounts(rt, a.inv.Snapshot())
	for _, acc := range rt.accounts {
		entry := ctl.Account{Name: acc.cfg.Name, Provider: acc.cfg.Provider, Mode: milder(rt.cfg.Mode, acc.cfg.Mode)}
		if p, ok := acc.opened(); ok {
			entry.Identity = p.Identity
			if last, ok := withMoney(&entry, purses[p.Identity]); ok { // also of before the daemon was started
				out.Wallets[entry.Name] = fleet.Wallet{Cash: last.Cash, Vouchers: last.Vouchers}
			}
		}
		out.Accounts = append(out.Accounts, entry)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, w := range a.seen.wallets {
		out.Wallets[name] = w
	}
	return out, nil
}

// Resources lists what is billed beside instances, of one kind.
func (a *App) Resources(ctx context.Context, kind fleet.ThingKind) (ctl.Resources, error) {
	of := func(ref fleet.Ref) bool { return ref.Kind == kind }
	t, err := a.think(ctx, a.runtime(), func(d *decision) bool { return of(d.subject.Ref) })
	if err != nil {
		return ctl.Resources{}, err
	}
	things := a.inv.Resources()
	out := ctl.Resources{Now: a.clock.Now(), Kind: kind}
	for _, l := range things.Lists {
		if l.Kind == kind {
			out.Lists = append(out.Lists, l)
		}
	}
	decided := make(map[fleet.Ref]decision, len(t.decisions))
	for _, d := range t.decisions {
		decided[d.subject.Ref] = d
	}
	for _, r := range things.Resources {
		if d, ok := decided[r.Ref]; ok {
			out.Items = append(out.Items, ctl.PlannedResource{Resource: *r, Planned: a.planned(d)})
		}
	}
	return out, nil
}

// Explain tells all that is known of one thing.
func (a *App) Explain(ctx context.Context, name string) (ctl.Explanation, error) {
	rt := a.runtime()
	i, err := a.findThing(name)
	if err != nil {
		return ctl.Explanation{}, err
	}
	t, err := a.think(ctx, rt, func(d *decision) bool { return d.subject.Ref == i.Ref })
	if err != nil {
		return ctl.Explanation{}, err
	}
	d, _ := find(t.decisions, func(decision) bool { return true })
	out := ctl.Explanation{Now: a.clock.Now(), Planned: a.planned(d)}
	out.Evidence, out.Runs = a.evidence(i.Ref)
	holds, err := a.store.Holds(ctx, out.Now)
	if err != nil {
		return ctl.Explanation{}, err
	}
	out.Holds = holdsOf(holds, i.Ref)
	if err := a.explainHold(ctx, i, &out); err != nil {
		return ctl.Explanation{}, err
	}
	secured, err := a.store.Secured(ctx)
	if err != nil {
		return ctl.Explanation{}, err
	}
	out.Secured = slices.DeleteFunc(secured[i.Ref], func(s fleet.Secured) bool { return !s.Boot.Same(i.Boot) })
	if out.Estimates, err = a.estimatesOf(ctx, i.Ref, out.Now); err != nil {
		return ctl.Explanation{}, err
	}
	if out.Accepted, err = a.store.Acceptances(ctx, i.Ref, acceptancesShown); err != nil {
		return ctl.Explanation{}, err
	}
	if r, ok := a.inv.Resource(i.Ref); ok {
		out.Resource, out.SeenAt = &r.Resource, r.SeenAt
	}
	if t, ok := a.inv.Get(i.Ref); ok {
		out.SeenAt = t.SeenAt
		out.Scope, _ = find(a.inv.Scopes(), func(s policies.ScopeState) bool {
			return s.Scope == fleet.Scope{Account: i.Ref.Account, Region: t.Region}
		})
		if cost, ok := i.Price.For(out.Now.Sub(i.StartedAt)); ok && i.State == fleet.StateRunning {
			out.CostSoFar = cost
		}
	}
	for _, p := range rt.cfg.Policies {
		if ok, err := p.Match(i); !ok || err != nil {
			continue
		}
		for _, e := range p.Explain {
			out.Sources = append(out.Sources, ctl.Setting{Policy: p.Name, Key: e.Key, Value: e.Value, From: string(e.From)})
		}
	}
	out.History, err = a.store.Segments(ctx, i.Ref)
	return out, err
}

// findInstance finds an instance by reference, id or a name that only one has.
func (a *App) findInstance(name string) (fleet.Instance, error) {
	return oneCalled(name, ReasonNoInstance, a.inv.Things().Instances)
}

// findThing finds an instance, or else whatever is billed beside them.
func (a *App) findThing(name string) (fleet.Instance, error) {
	all := slices.Clone(a.inv.Things().Instances)
	for _, r := range a.inv.Resources().Resources {
		if called(name, r.Ref, r.AccountName, r.Name) {
			all = append(all, r.Subject())
		}
	}
	return oneCalled(name, ReasonNoThing, all)
}

// Act journals an act by hand. It skips warning, cooldown and caps, never
// protection, hold, data rules or mode.
func (a *App) Act(ctx context.Context, r ctl.ActRequest) (fleet.Intent, error) {
	rt := a.runtime()
	i, err := a.findInstance(r.Name)
	if err != nil {
		return fleet.Intent{}, err
	}
	p, ok := a.account(i.Ref.Account)
	if !ok {
		return fleet.Intent{}, fmt.Errorf("the account of %s is not in the configuration", i.Ref)
	}
	intent := fleet.Intent{
		Ref: i.Ref, Boot: i.Boot, Action: r.Action, Goal: r.Action, By: "hand:" + r.By, Subject: i,
		Verdicts: []fleet.Verdict{{
			Policy: "", Ref: i.Ref, Boot: i.Boot, Goal: r.Action,
			Reason: fleet.Because(ReasonByHand, fleet.Values{"by": fleet.Text(r.By)}),
		}},
	}
	d, err := a.readDesk(ctx, rt, a.inv.Snapshot(), a.clock.Now())
	if err != nil {
		return fleet.Intent{}, err
	}
	step := policies.Step{Action: r.Action, Goal: r.Action}
	rulings := guard.Ask(guard.Chain(), a.guardInput(rt, p, i, step, &intent, d))
	if sum := guard.Sum(rulings); sum.Answer != guard.Allow {
		return fleet.Intent{}, &ctl.RefusedError{Ruling: sum}
	}
	err = a.store.Update(ctx, func(tx *store.Tx) error {
		open, err := tx.OpenIntents()
		if err != nil {
			return err
		}
		if other, ok := find(open, func(o fleet.Intent) bool { return o.Ref == i.Ref }); ok {
			if other.State != fleet.IntentPending {
				return fmt.Errorf("%s: act #%d (%s) is at the platform already; wait for it", i.DisplayName(), other.ID, other.Action)
			}
			if err := a.exec.Abandon(tx, &other, fleet.Because(ReasonByHand, fleet.Values{"by": fleet.Text(r.By)})); err != nil {
				return err
			}
		}
		return tx.OpenIntent(&intent, policies.Effect(i, r.Action))
	})
	if err != nil {
		return fleet.Intent{}, err
	}
	a.log.Info().Int64("intent", intent.ID).Str("instance", i.Ref.String()).Str("action", r.Action.String()).Str("by", r.By).Msg("act by hand")
	nudge(a.kick)
	return intent, nil
}

// Approve says yes to a waiting intent.
func (a *App) Approve(ctx context.Context, id int64, by string) (fleet.Intent, error) {
	var i fleet.Intent
	err := a.store.Update(ctx, func(tx *store.Tx) (err error) {
		i, err = approveIn(tx, id, by)
		return err
	})
	nudge(a.kick)
	return i, err
}

// approveIn is Approve in a given transaction.
func approveIn(tx *store.Tx, id int64, by string) (fleet.Intent, error) {
	i, err := tx.Intent(id)
	if err != nil {
		return i, err
	}
	if i.State != fleet.IntentPending {
		return i, fmt.Errorf("act #%d is %s; there is nothing to approve any more", id, i.State)
	}
	if err := tx.Approve(store.Approval{Intent: id, By: by, At: tx.Now, Expires: tx.Now.Add(approvalLasts)}); err != nil {
		return i, err
	}
	i.NextAt = i.Deadline
	return i, tx.SaveIntent(&i, fleet.IntentPending, "approved")
}

// Journal lists the newest intents, or every step of one.
func (a *App) Journal(ctx context.Context, q ctl.JournalQuery) (ctl.JournalAnswer, error) {
	if q.Intent == 0 {
		limit := q.Limit
		if limit <= 0 {
			limit = journalByDefault
		}
		is, err := a.store.Intents(ctx, limit)
		return ctl.JournalAnswer{Intents: is}, err
	}
	i, err := a.store.Intent(ctx, q.Intent)
	if err != nil {
		return ctl.JournalAnswer{}, err
	}
	steps, err := a.store.Journal(ctx, q.Intent)
	return ctl.JournalAnswer{Intents: []fleet.Intent{i}, Steps: steps}, err
}

// Status tells how the daemon is.
func (a *App) Status(ctx context.Context) (ctl.Status, error) {
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return ctl.Status{}, err
	}
	all := a.inv.Snapshot()
	instances, _ := all.Size()
	a.mu.Lock()
	defer a.mu.Unlock()
	return ctl.Status{
		Version: a.o.Version, Config: a.rt.cfg.File, Mode: a.rt.cfg.Mode, StartedAt: a.startedAt, Now: a.clock.Now(),
		Instances: instances, OpenActs: len(open), LastPass: a.lastPass, LastReload: a.lastReload,
		Scopes: all.Scopes, Exec: a.execs(a.rt), DatabaseError: a.dbError,
	}, nil
}

// Forget lets go of an account: what was announced in it is called off, its holds
// end, and what was requested there is no longer verified. One that is still in
// the configuration is left alone from now on, so that the next reload may drop
// it; of one that is not, all that was remembered of its things is dropped.
func (a *App) Forget(ctx context.Context, name string) error {
	known, err := a.store.Accounts(ctx)
	if err != nil {
		return err
	}
	k, ok := find(known, func(k store.Account) bool { return k.Name == name || k.Identity == name })
	if !ok {
		return fmt.Errorf("no account %q is remembered", name)
	}
	a.mu.Lock()
	a.forgotten[k.Identity] = true
	a.mu.Unlock()
	_, configured := a.runtime().accountName(k.Identity)
	err = a.store.Update(ctx, func(tx *store.Tx) error {
		open, err := tx.OpenIntents()
		if err != nil {
			return err
		}
		for _, i := range open {
			if i.Ref.Account != k.Identity {
				continue
			}
			if err := a.exec.LetGo(tx, &i, fleet.Because(ReasonForgotten, nil)); err != nil {
				return err
			}
		}
		holds, err := tx.Holds()
		if err != nil {
			return err
		}
		for _, h := range holds {
			if h.Ref.Account == k.Identity {
				if err := tx.EndHolds(h.Ref); err != nil {
					return err
				}
			}
		}
		if err := tx.DropHoldRequests(func(r store.HoldRequest) bool { return r.Ref.Account == k.Identity }); err != nil || configured {
			return err
		}
		return tx.ForgetAccount(k.Identity)
	})
	if err != nil {
		a.mu.Lock()
		delete(a.forgotten, k.Identity)
		a.mu.Unlock()
	}
	return err
}
