package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/policies"
	"curfew/signals"
)

// The reasons of findings about the daemon's own work.
const (
	ReasonAccountDark   fleet.Code = "app.account-dark"
	ReasonAccountBack   fleet.Code = "app.account-back"
	ReasonAllDark       fleet.Code = "app.all-dark"
	ReasonAllBack       fleet.Code = "app.all-back"
	ReasonStillSo       fleet.Code = "app.still-so"
	ReasonChannelBroken fleet.Code = "app.channel-broken"
	ReasonReloadFailed  fleet.Code = "app.reload-failed"
	ReasonBlind         fleet.Code = "app.blind"
	ReasonListDark      fleet.Code = "app.list-dark"
	ReasonTogether      fleet.Code = "app.findings-together"
)

// accountDarkAfter is how long polls of an account may fail before people are
// told; lost rights are told at once.
const accountDarkAfter = 5 * time.Minute

// accountFindings says which accounts cannot be read.
func accountFindings(rt *runtime, scopes []policies.ScopeState, d *desk) []fleet.Finding {
	var out []fleet.Finding
	for _, acc := range rt.accounts {
		if s, ok := acc.unknown(); ok {
			scopes = append(slices.Clip(scopes), s)
		}
	}
	for _, s := range scopes {
		name, ok := rt.accountName(s.Scope.Account)
		if !ok || s.Failing.IsZero() {
			continue
		}
		rights := lostRights(s)
		severity := fleet.Warning
		if rights {
			severity = fleet.Critical
		}
		f := fleet.Finding{
			Ref:      fleet.Ref{Account: s.Scope.Account, Kind: fleet.KindAccount, ID: s.Scope.String()},
			Severity: severity, Category: fleet.CategoryHealth, Condition: conditionDark, Standing: true,
			Reason: fleet.Because(ReasonAccountDark, fleet.Values{
				"account": fleet.Text(name), "since": fleet.Moment(s.Since), "why": fleet.Nested(s.Failing),
			}),
			Over: fleet.Because(ReasonAccountBack, fleet.Values{"account": fleet.Text(name)}),
		}
		// One that fails in another way now is not back.
		if _, stands := d.standing[f.Key()]; rights || stands || d.now.Sub(s.Since) >= accountDarkAfter {
			out = append(out, f)
		}
	}
	return append(out, allDark(rt, scopes, d)...)
}

// togetherWithin is how far apart accounts may have begun to fail of one cause.
const togetherWithin = 2 * time.Minute

// allDark says that none of several accounts can be read, for no want of rights: then
// it is this machine that reaches nobody, or all that is between. What began at about
// the same time is told as soon as the first of it would be.
func allDark(rt *runtime, scopes []policies.ScopeState, d *desk) []fleet.Finding {
	dark := map[string]bool{}
	var first, last time.Time
	for _, s := range scopes {
		name, ok := rt.accountName(s.Scope.Account)
		if !ok {
			continue
		}
		if s.Failing.IsZero() || lostRights(s) {
			return nil
		}
		dark[name] = true
		first = earlier(first, s.Since)
		if s.Since.After(last) {
			last = s.Since
		}
	}
	if len(rt.accounts) < 2 || len(dark) < len(rt.accounts) {
		return nil
	}
	f := fleet.Finding{
		Ref:      fleet.Ref{Account: ownAccount, Kind: fleet.KindAccount, ID: ownAccount},
		Severity: fleet.Critical, Category: fleet.CategoryHealth, Condition: "all-dark", Standing: true,
		Reason: fleet.Because(ReasonAllDark, fleet.Values{"count": fleet.Number(float64(len(dark))), "since": fleet.Moment(first)}),
		Over:   fleet.Because(ReasonAllBack, nil),
	}
	if last.Sub(first) <= togetherWithin {
		last = first
	}
	if _, stands := d.standing[f.Key()]; !stands && d.now.Sub(last) < accountDarkAfter {
		return nil
	}
	return []fleet.Finding{f}
}

// lostRights reports whether a platform does not let the account in.
func lostRights(s policies.ScopeState) bool {
	kind, _ := s.Failing.Values["kind"].Any().(string)
	return kind == string(fleet.Unauthorized) || kind == string(fleet.Banned)
}

// listFindings says which lists of resources cannot be read: what is in them is
// neither told nor deleted meanwhile.
func listFindings(rt *runtime, lists []policies.ListState, now time.Time) []fleet.Finding {
	var out []fleet.Finding
	for _, l := range lists {
		name, ok := rt.accountName(l.Scope.Account)
		if !ok || l.Failing.IsZero() || now.Sub(l.Since) < listDarkAfter {
			continue
		}
		out = append(out, fleet.Finding{
			Ref:      fleet.Ref{Account: l.Scope.Account, Kind: fleet.KindAccount, ID: l.Scope.String()},
			Severity: fleet.Warning, Category: fleet.CategoryHealth, Condition: "list-dark-" + string(l.Kind), Period: l.Since.Format(time.RFC3339),
			Reason: fleet.Because(ReasonListDark, fleet.Values{
				"account": fleet.Text(name), "kind": fleet.Nested(l.Kind.Reason()), "since": fleet.Moment(l.Since), "why": fleet.Nested(l.Failing),
			}),
		})
	}
	return out
}

// listDarkAfter is how long the list of a kind may be unreadable before people are
// told: nothing runs out meanwhile.
const listDarkAfter = time.Hour

// blindAfter is how long it may be unknown what a guarded instance does before
// people are told.
const blindAfter = 10 * time.Minute

// blindFindings says of which guarded instances it cannot be told what they do,
// and what they cost meanwhile.
func (a *App) blindFindings(decisions []decision, now time.Time) []fleet.Finding {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []fleet.Finding
	for _, d := range decisions {
		last, ok := a.noted[d.subject.Ref]
		if !ok || d.unguarded || d.subject.State != fleet.StateRunning || d.activity.Activity != fleet.Unknown ||
			d.activity.Reason.Code == signals.ReasonNoSource && a.rt.cfg.Ping.Listen != "" ||
			last.activity != fleet.Unknown || last.boot != d.subject.Boot || now.Sub(last.since) < blindAfter {
			continue
		}
		out = append(out, fleet.Finding{
			Ref: d.subject.Ref, Severity: fleet.Warning, Category: fleet.CategoryHealth,
			Condition: "blind", Period: string(d.subject.Boot),
			Reason: fleet.Because(ReasonBlind, fleet.Values{"since": fleet.Moment(last.since), "why": fleet.Nested(d.activity.Reason)}),
		})
	}
	return out
}

const conditionDark = "account-dark"

// accountName gives the name of the account with an identity; one of which it is
// not known who it is goes by its name.
func (rt *runtime) accountName(identity string) (string, bool) {
	for _, acc := range rt.accounts {
		if !acc.isIdentified() && acc.cfg.Name == identity {
			return acc.cfg.Name, true
		}
		if p, ok := acc.opened(); ok && p.Identity == identity {
			return acc.cfg.Name, true
		}
	}
	return "", false
}

// toldApart is how many findings of one kind are told each by itself; more come in
// one message.
const toldApart = 3

// tellAlike queues findings that say the same of several things.
func (a *App) tellAlike(ctx context.Context, rt *runtime, fs []fleet.Finding) error {
	var apart []notify.Notice
	var advice []fleet.Reason
	if len(fs) > toldApart {
		advice = a.adviceTogether(ctx, rt, fs)
	} else {
		for _, f := range fs {
			n := a.findingNotice(rt, f)
			n.Because = a.periodAdvice(ctx, rt, f)
			apart = append(apart, n)
		}
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		if len(fs) <= toldApart {
			for k, n := range apart {
				if fs[k].Standing {
					n.Thread = threadOf(n.Key, tx.Now)
				}
				if err := a.tell(tx, n, 0); err != nil {
					return err
				}
			}
			return nil
		}
		n := a.findingNotice(rt, fs[0])
		n.Because, n.Reason = advice, allOf(fs)
		if fs[0].Standing {
			n.Thread = threadOf(n.Key, tx.Now)
		}
		for _, f := range fs[1:] {
			one := a.findingNotice(rt, f)
			n.With = append(n.With, other(one.Subject))
			one.Thread = n.Thread
			if _, err := tx.Enqueue(one, nil, time.Time{}); err != nil {
				return err // it is told with the first, and not again
			}
		}
		return a.tell(tx, n, 0)
	})
}

// allOf says of several findings what they have in common.
func allOf(fs []fleet.Finding) fleet.Reason {
	return fleet.Because(ReasonTogether, fleet.Values{"count": fleet.Number(float64(len(fs))), "why": fleet.Nested(fs[0].Reason)})
}

// other is a thing that a notice about another tells of too.
func other(i fleet.Instance) notify.Other {
	return notify.Other{Name: i.DisplayName(), Price: i.CostNow(), Owner: notify.OwnerOf(i)}
}

func (a *App) findingNotice(rt *runtime, f fleet.Finding) notify.Notice {
	n := notify.Notice{
		Key: keyOf(f), Event: notify.EventFinding, Severity: f.Severity, Category: f.Category, Reason: f.Reason, Over: f.Over,
		Subject: fleet.Instance{Ref: f.Ref},
	}
	if t, ok := a.inv.Get(f.Ref); ok {
		n.Subject = t.Instance
	} else if r, ok := a.inv.Resource(f.Ref); ok {
		n.Subject = r.Resource.Subject()
	} else if name, ok := rt.accountName(f.Ref.Account); ok && f.Ref.Kind == fleet.KindAccount {
		n.Subject.Name = name
	}
	return n
}

// channelBroke tells through the other channels that one takes nothing any more.
func (a *App) channelBroke(channel string, v notify.Verdict) {
	a.log.Error().Str("channel", channel).Str("code", v.Code).Str("detail", v.Detail).Msg("channel refuses everything until its configuration changes")
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	n := notify.Notice{
		Key:   fmt.Sprintf("channel|%s|broken|%s", channel, a.startedAt.Format(time.RFC3339)),
		Event: notify.EventAlarm, Severity: fleet.Critical, Category: fleet.CategoryHealth,
		Reason: fleet.Because(ReasonChannelBroken, fleet.Values{"channel": fleet.Text(channel), "why": fleet.Text(v.Code + " " + v.Detail)}),
	}
	rt := a.runtime()
	err := a.store.Update(ctx, func(tx *store.Tx) error {
		n.At, n.Expires = tx.Now, tx.Now.Add(24*time.Hour)
		var others []store.Address
		for _, name := range rt.order {
			if name != channel {
				others = append(others, store.Address{Channel: name})
			}
		}
		_, err := tx.Enqueue(n, others, time.Time{})
		return err
	})
	if err != nil {
		a.log.Error().Err(err).Str("channel", channel).Msg("tell the other channels")
	}
	nudge(a.mail)
}

// Reload reads the configuration again and swaps it in whole; a bad one keeps the
// old, and is told.
func (a *App) Reload(ctx context.Context) error {
	err := a.reload(ctx)
	a.mu.Lock()
	a.lastReload = ""
	if err != nil {
		a.lastReload = err.Error()
	}
	a.mu.Unlock()
	if err == nil {
		a.log.Info().Str("config", a.runtime().cfg.File).Msg("configuration reloaded")
		return nil
	}
	a.log.Error().Err(err).Msg("reload failed, the old configuration stays")
	n := notify.Notice{
		Key: "reload|failed|" + err.Error(), Event: notify.EventReload, Severity: fleet.Warning, Category: fleet.CategoryHealth,
		Reason: fleet.Because(ReasonReloadFailed, fleet.Values{"why": fleet.Text(err.Error())}),
	}
	if tellErr := a.tellOnce(ctx, n, time.Hour); tellErr != nil {
		return fmt.Errorf("%w; and it could not be told: %w", err, tellErr)
	}
	return err
}

func (a *App) reload(ctx context.Context) error {
	cfg, err := a.o.Load()
	if err != nil {
		return err
	}
	old := a.runtime()
	if cfg.State != old.cfg.State {
		return fmt.Errorf("state: changed from %s to %s; that needs a restart", old.cfg.State, cfg.State)
	}
	rt, err := a.build(ctx, cfg)
	if err != nil {
		return err
	}
	if err := a.dropped(ctx, old, rt); err != nil {
		return errors.Join(err, rt.close())
	}
	if err := a.moveDoors(ctx, old.cfg, cfg); err != nil {
		return errors.Join(err, rt.close())
	}
	rt.inherit(old)
	// Pass and reload do not overlap: a pass sees one configuration throughout.
	a.passing.Lock()
	a.mu.Lock()
	a.rt = rt
	clear(a.forgotten)
	a.mu.Unlock()
	a.inv.Limit(rt.covers)
	a.passing.Unlock()
	nudge(a.rebuilt)
	nudge(a.reheard)
	nudge(a.kick)
	return nil
}

// dropped refuses to lose sight of an account in which something is under way.
func (a *App) dropped(ctx context.Context, old, fresh *runtime) error {
	open, err := a.store.OpenIntents(ctx)
	if err != nil {
		return err
	}
	holds, err := a.store.Holds(ctx, a.clock.Now())
	if err != nil {
		return err
	}
	busy := map[string]bool{}
	for _, i := range open {
		busy[i.Ref.Account] = true
	}
	for _, h := range holds {
		busy[h.Ref.Account] = true
	}
	for _, acc := range old.accounts {
		p, ok := acc.opened()
		if !ok || !busy[p.Identity] {
			continue
		}
		if _, stays := fresh.accountName(p.Identity); !stays {
			return fmt.Errorf("account %s has acts or holds under way and is not in the new configuration; "+
				"put it back, or say curfew forget %s", acc.cfg.Name, acc.cfg.Name)
		}
	}
	return nil
}
