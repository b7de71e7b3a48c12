package app

import (
	"context"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/execute"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
)

// The reasons of securing data before an act.
const (
	ReasonSecuring    fleet.Code = "app.securing"
	ReasonExportFirst fleet.Code = "app.export-first"
)

// toSecure is one thing that must be done with an instance's data before it is
// stopped or released.
type toSecure struct {
	policy config.Policy
	run    fleet.Run // after which
	by     fleet.SecuredBy
	tries  int // with this one
}

// secure does what must be done with an instance's data before an intent is carried
// out. It does nothing for an act that would not be carried out now, and what failed
// holds no act back by itself: policies and guard are asked again.
func (a *App) secure(ctx context.Context, _ providers.Account, in fleet.Intent, seen fleet.Instance) (execute.Answer, error) {
	rt := a.runtime()
	nothing := execute.Answer{Word: execute.Go}
	if seen.State != fleet.StateRunning || rt.waitsForNothing(in) {
		return nothing, nil
	}
	began := a.clock.Now()
	due, err := a.unsecured(ctx, rt, seen)
	if err != nil || len(due) == 0 {
		return nothing, err
	}
	if !a.beginSecuring(seen.Ref) {
		return execute.Answer{Word: execute.PutOff, Reason: fleet.Because(ReasonSecuring, nil), Silent: true}, nil
	}
	defer a.endSecuring(seen.Ref)
	a.lookNow(ctx, seen)
	first, err := a.askFirst(ctx, seen, in, began)
	switch {
	case err != nil:
		return execute.Answer{}, err
	case first.Word == execute.PutOff:
		return first, nil
	case first.Word == execute.Against:
		return nothing, nil // what is against it is told by whoever asks in earnest
	}
	if due, err = a.unsecured(ctx, rt, seen); err != nil {
		return execute.Answer{}, err
	}
	failed := map[string]bool{}
	for _, one := range due {
		if failed[one.policy.Name] {
			continue // nothing can go any more
		}
		var ok bool
		var later execute.Answer
		switch one.by {
		case fleet.SecuredByExport:
			ok, later, err = a.export(ctx, rt, seen, one)
		default:
			continue
		}
		if err != nil || later.Word == execute.PutOff {
			return later, err
		}
		failed[one.policy.Name] = !ok
	}
	return execute.Answer{Word: execute.Go, Worked: len(due) > 0}, nil
}

// waitsForNothing reports an act before which nothing is secured: no stop or release,
// one that a person or money asks for, or that a limit does.
func (rt *runtime) waitsForNothing(in fleet.Intent) bool {
	if in.Action != fleet.Stop && in.Action != fleet.Release || in.By != execute.ByPolicy || in.Money {
		return true
	}
	return slices.ContainsFunc(in.Verdicts, func(v fleet.Verdict) bool {
		p, ok := find(rt.cfg.Policies, func(p config.Policy) bool { return p.Name == v.Policy })
		return ok && p.Type == "lifetime"
	})
}

// unsecured lists what is still to be done with a running instance's data, for every
// enforcing policy that may release it, whether it asks for that already or not.
func (a *App) unsecured(ctx context.Context, rt *runtime, i fleet.Instance) ([]toSecure, error) {
	if !rt.secures() {
		return nil, nil
	}
	all, err := a.store.Secured(ctx)
	if err != nil {
		return nil, err
	}
	return a.unsecuredOf(rt, i, all[i.Ref], a.clock.Now()), nil
}

// secures reports whether any policy has data secured.
func (rt *runtime) secures() bool {
	return slices.ContainsFunc(rt.cfg.Policies, func(p config.Policy) bool { return len(p.Terms.Data.Ways()) > 0 })
}

func (a *App) unsecuredOf(rt *runtime, i fleet.Instance, records []fleet.Secured, now time.Time) []toSecure {
	v := a.view(rt, policies.Things{Instances: []fleet.Instance{i}}, &desk{now: now})
	var due []toSecure
	for _, p := range rt.cfg.Policies {
		s, ok := p.Policy.(policies.Securer)
		ways := p.Terms.Data.Ways()
		if !ok || len(ways) == 0 || milder(p.Terms.Mode, rt.accountMode(i.Ref)) != fleet.Enforce {
			continue
		}
		if matched, err := p.Match(i); !matched || err != nil {
			continue
		}
		run, ok := s.Securing(v, i)
		if _, failed := p.Terms.Data.Unsecured(i.Boot, p.Name, run.ID, records, now); !ok || failed {
			continue
		}
		for _, by := range ways {
			if by == fleet.SecuredByImage {
				continue // made right before the release, of a stopped instance where it can be stopped
			}
			known, ok := fleet.RecordOf(records, i.Boot, p.Name, run.ID, by)
			switch {
			case ok && known.OK:
				continue
			case known.Failed():
				known.Tries++
			}
			due = append(due, toSecure{policy: p, run: run, by: by, tries: max(known.Tries, 1)})
		}
	}
	return due
}

// askFirst asks policies and guard before data is secured: that is not done for an
// act that waits, for a person's approval for instance, or is not wanted any more.
func (a *App) askFirst(ctx context.Context, i fleet.Instance, in fleet.Intent, since time.Time) (execute.Answer, error) {
	var answer execute.Answer
	err := a.store.Update(ctx, func(tx *store.Tx) (err error) {
		answer, err = a.askOf(tx, i, in, since, "data")
		return err
	})
	return answer, err
}

// beginSecuring takes an instance, so that nothing is done twice at once, and gives
// back the place among the acts: securing may take long, and holds up no other.
func (a *App) beginSecuring(ref fleet.Ref) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.securing[ref] {
		return false
	}
	a.securing[ref] = true
	return true
}

func (a *App) endSecuring(ref fleet.Ref) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.securing, ref)
}

// secured tells for each of some wishes whether the instance's data was secured as
// it asks, and where not, whether that is still to be done before the act.
func secured(i fleet.Instance, verdicts []fleet.Verdict, all []fleet.Secured, now time.Time) (is, will []bool) {
	is, will = make([]bool, len(verdicts)), make([]bool, len(verdicts))
	for n, v := range verdicts {
		data := v.Terms.Data
		if v.Ground == nil || len(data.Ways()) == 0 {
			continue
		}
		is[n] = data.Secured(i.Boot, v.Policy, v.Ground.Run, all)
		_, failed := data.Unsecured(i.Boot, v.Policy, v.Ground.Run, all, now)
		will[n] = !is[n] && !failed && i.State == fleet.StateRunning || data.ImageNext(i.Boot, v.Policy, v.Ground.Run, all, now)
	}
	return is, will
}

// securedNow gives what was secured of an instance in its Boot and still counts.
func securedNow(i fleet.Instance, all []fleet.Secured) []fleet.Secured {
	return slices.DeleteFunc(slices.Clone(all), func(s fleet.Secured) bool {
		return !s.OK || !s.VoidAt.IsZero() || !s.Boot.Same(i.Boot)
	})
}

// firstSecured says in an announcement what is done with the data before the act.
func (a *App) firstSecured(tx *store.Tx, in fleet.Intent) ([]fleet.Reason, error) {
	rt := a.runtime()
	if !rt.secures() || in.Subject.State != fleet.StateRunning || rt.waitsForNothing(in) {
		return nil, nil
	}
	all, err := tx.Secured()
	if err != nil {
		return nil, err
	}
	var first []fleet.Reason
	for _, one := range a.unsecuredOf(rt, in.Subject, all[in.Ref], tx.Now) {
		if one.by == fleet.SecuredByExport {
			first = append(first, fleet.Because(ReasonExportFirst, fleet.Values{
				"policy": fleet.Text(one.policy.Name), "timeout": fleet.Span(one.policy.Terms.Data.Export.Timeout)}))
		}
	}
	return first, nil
}

// saveSecured remembers what became of securing data, and that work seen at the
// instance from now on speaks against it.
func (a *App) saveSecured(tx *store.Tx, s fleet.Secured) error {
	all, err := tx.Secured()
	if err != nil {
		return err
	}
	before, ok := fleet.RecordOf(all[s.Ref], s.Boot, s.Policy, s.Run, s.By)
	if !ok && !s.EndedAt.IsZero() {
		// Work was seen while it went on.
		if void, ok := find(all[s.Ref], func(o fleet.Secured) bool {
			return o.By == s.By && o.Policy == s.Policy && o.Boot.Same(s.Boot) && o.StartedAt.Equal(s.StartedAt)
		}); ok {
			before = void
		}
	}
	if before.StartedAt.Equal(s.StartedAt) {
		s.VoidAt = before.VoidAt
	}
	tx.After(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.hasSecured[s.Ref] = true
	})
	return tx.SaveSecured(s)
}

// speaksAgainstSecured reports a look that shows work at an instance of which
// something was secured.
func (a *App) speaksAgainstSecured(ref fleet.Ref, e fleet.Evidence) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return e.Activity == fleet.Busy && a.hasSecured[ref]
}

// voidSecured takes back what was secured before work was seen.
func (a *App) voidSecured(tx *store.Tx, busy map[fleet.Ref]fleet.Evidence) error {
	if len(busy) == 0 {
		return nil
	}
	all, err := tx.Secured()
	if err != nil {
		return err
	}
	tx.After(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for ref := range busy {
			if !a.securing[ref] { // what goes on may be voided again
				delete(a.hasSecured, ref)
			}
		}
	})
	for ref, e := range busy {
		for _, s := range all[ref] {
			if !s.VoidAt.IsZero() || !s.Boot.Same(e.Boot) || !s.StartedAt.Before(e.SeenAt) {
				continue
			}
			s.VoidAt = e.SeenAt
			if err := tx.SaveSecured(s); err != nil {
				return err
			}
		}
	}
	return nil
}
