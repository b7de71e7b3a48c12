package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
func accountFindings(rt *runtime, scopes []policies.ScopeState, now time.Time) []fleet.Finding {
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
		kind, _ := s.Failing.Values["kind"].Any().(string)
		rights := kind == string(fleet.Unauthorized) || kind == string(fleet.Banned)
		if !rights && now.Sub(s.Since) < accountDarkAfter {
			continue
		}
		severity := fleet.Warning
		if rights {
			severity = fleet.Critical
		}
		out = append(out, fleet.Finding{
			Ref:      fleet.Ref{Account: s.Scope.Account, Kind: fleet.KindAccount, ID: s.Scope.String()},
			Severity: severity, Category: fleet.CategoryHealth, Condition: conditionDark, Period: s.Since.Format(time.RFC3339),
			Reason: fleet.Because(ReasonAccountDark, fleet.Values{
				"account": fleet.Text(name), "since": fleet.Moment(s.Since), "why": fleet.Nested(s.Failing),
			}),
		})
	}
	return out
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

// tellFindings queues what was not told yet, and says of what is over that it is.
func (a *App) tellFindings(ctx context.Context, rt *runtime, findings []fleet.Finding) error {
	told, err := a.store.ToldKeys(ctx, findingPrefix)
	if err != nil {
		return err
	}
	now := map[string]bool{}
	alike := map[string][]fleet.Finding{}
	var order []string
	for _, f := range findings {
		key := findingPrefix + f.Key()
		if now[key] = true; !told[key].IsZero() {
			continue
		}
		kind := fmt.Sprintf("%s|%s|%s|%s|%s", f.Policy, f.Condition, f.Severity, f.Category, f.Ref.Kind)
		if alike[kind] == nil {
			order = append(order, kind)
		}
		alike[kind] = append(alike[kind], f)
	}
	for _, kind := range order {
		if err := a.tellAlike(ctx, rt, alike[kind]); err != nil {
			return err
		}
	}
	for key := range told {
		if !now[key] && strings.Contains(key, "|"+conditionDark+"|") {
			if err := a.tellBack(ctx, rt, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// toldApart is how many findings of one kind are told each by itself; more come in
// one message.
const toldApart = 3

// tellAlike queues findings that say the same of several things.
func (a *App) tellAlike(ctx context.Context, rt *runtime, fs []fleet.Finding) error {
	return a.store.Update(ctx, func(tx *store.Tx) error {
		if len(fs) <= toldApart {
			for _, f := range fs {
				if err := a.tell(tx, a.findingNotice(rt, f), 0); err != nil {
					return err
				}
			}
			return nil
		}
		n := a.findingNotice(rt, fs[0])
		n.Reason = fleet.Because(ReasonTogether, fleet.Values{
			"count": fleet.Number(float64(len(fs))), "why": fleet.Nested(fs[0].Reason),
		})
		for _, f := range fs[1:] {
			subject := a.findingNotice(rt, f).Subject
			n.With = append(n.With, notify.Other{Name: subject.DisplayName(), Price: subject.CostNow()})
			if _, err := tx.Enqueue(notify.Notice{Key: findingPrefix + f.Key(), Event: notify.EventFinding, Reason: f.Reason}, nil, time.Time{}); err != nil {
				return err // it is told with the first, and not again
			}
		}
		return a.tell(tx, n, 0)
	})
}

func (a *App) findingNotice(rt *runtime, f fleet.Finding) notify.Notice {
	n := notify.Notice{
		Key: findingPrefix + f.Key(), Event: notify.EventFinding, Severity: f.Severity, Category: f.Category, Reason: f.Reason,
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

// findingPrefix begins the keys of findings.
const findingPrefix = "finding|"

// tellBack says that an account can be read again.
func (a *App) tellBack(ctx context.Context, rt *runtime, key string) error {
	parts := strings.Split(key, "|")
	if len(parts) < 3 {
		return nil
	}
	ref, err := fleet.ParseRef(parts[2])
	if err != nil {
		return nil //nolint:nilerr // a key of an older form tells of nothing that could be over
	}
	name, ok := rt.accountName(ref.Account)
	if acc, named := find(rt.accounts, func(c *account) bool { return c.cfg.Name == ref.Account }); !ok && named {
		name, ok = acc.cfg.Name, acc.isIdentified()
	}
	if !ok || slices.ContainsFunc(a.inv.Scopes(), func(s policies.ScopeState) bool {
		return s.Scope.String() == ref.ID && !s.Failing.IsZero() // in another way now
	}) {
		return nil
	}
	return a.store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Forget(key); err != nil {
			return err
		}
		return a.tell(tx, notify.Notice{
			Event: notify.EventResolved, Severity: fleet.Info, Category: fleet.CategoryHealth,
			Subject: fleet.Instance{Ref: ref, Name: name}, Reason: fleet.Because(ReasonAccountBack, fleet.Values{"account": fleet.Text(name)}),
		}, 0)
	})
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
	if err := a.moveDoor(ctx, old.cfg.Ping.Listen, cfg.Ping.Listen); err != nil {
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
