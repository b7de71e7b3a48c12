package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/store"
	"curfew/notify"
)

// findingPrefix begins the keys of findings, standingPrefix of those that last.
const (
	findingPrefix  = "finding|"
	standingPrefix = "standing|"
)

// ownAccount stands for curfew itself in what is found.
const ownAccount = "curfew"

// threadOf is the same for all that is told of what was found at a time: the opening,
// what reminds of it, and that it is over.
func threadOf(key string, at time.Time) string {
	return key + "@" + at.UTC().Format(time.RFC3339)
}

// keyOf is the key under which a finding is told.
func keyOf(f fleet.Finding) string {
	if f.Standing {
		return standingPrefix + f.Key()
	}
	return findingPrefix + f.Key()
}

// tellFindings queues what was not told yet, reminds of what lasts, and says of what
// is over that it is.
func (a *App) tellFindings(ctx context.Context, rt *runtime, findings []fleet.Finding) error {
	told, err := a.store.ToldKeys(ctx, findingPrefix)
	if err != nil {
		return err
	}
	standing, err := a.store.ToldKeys(ctx, standingPrefix)
	if err != nil {
		return err
	}
	maps.Copy(told, standing)
	hush := inhibited(findings)
	now := map[string]bool{}
	alike := map[string][]fleet.Finding{}
	var order []string
	var last, silent []fleet.Finding
	for _, f := range findings {
		now[keyOf(f)] = true
		if hush(f) {
			continue
		}
		opened, err := a.opened(ctx, f, told)
		if err != nil {
			return err
		}
		muted := a.mutes(rt, f)
		switch {
		case opened && f.Standing && !f.Quiet && !muted:
			last = append(last, f)
		case !opened && muted:
			silent = append(silent, f)
		}
		if opened || muted {
			continue
		}
		kind := fmt.Sprintf("%s|%s|%s|%s|%s", f.Policy, f.Condition, f.Severity, f.Category, f.Ref.Kind)
		if alike[kind] == nil {
			order = append(order, kind)
		}
		alike[kind] = append(alike[kind], f)
	}
	if err := a.note(ctx, rt, silent); err != nil {
		return err
	}
	for _, kind := range order {
		if err := a.tellAlike(ctx, rt, alike[kind]); err != nil {
			return err
		}
	}
	if err := a.remind(ctx, rt, last, told); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(standing)) {
		if !now[key] {
			if err := a.tellOver(ctx, rt, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// inhibited says what is not told beside something greater: of an account that cannot
// be read, what is not known of its instances; and of several that can all not be read,
// which they are.
func inhibited(findings []fleet.Finding) func(fleet.Finding) bool {
	dark := map[string]bool{}
	all := false
	for _, f := range findings {
		switch f.Reason.Code {
		case ReasonAccountDark:
			dark[f.Ref.Account] = true
		case ReasonAllDark:
			all = true
		}
	}
	return func(f fleet.Finding) bool {
		if f.Reason.Code == ReasonAccountDark {
			return all && f.Severity != fleet.Critical
		}
		return dark[f.Ref.Account] && f.Ref.Kind == fleet.KindInstance && f.Category == fleet.CategoryHealth
	}
}

// reminder is one message about what lasts and was told together.
type reminder struct {
	key, thread string
	opened      time.Time
	of          []fleet.Finding
}

// remind tells again of what lasts, less and less often, and not in quiet hours: what
// was missed in them is told once when they end.
func (a *App) remind(ctx context.Context, rt *runtime, findings []fleet.Finding, told map[string]time.Time) error {
	all := map[string]*reminder{}
	var order []string
	for _, f := range findings {
		opened := told[keyOf(f)]
		heard := opened
		if until, quiet := rt.cfg.Notify.Quiet.Until(opened); quiet && notify.Holds(a.findingNotice(rt, f)) {
			heard = until // nobody knew of it before
		}
		count := notify.Reminded(f.Severity, heard, a.clock.Now())
		if count == 0 {
			continue
		}
		answered, err := a.store.Answered(ctx, f.Ref, opened)
		if err != nil {
			return err
		}
		if answered {
			continue
		}
		first, _, err := a.store.LastNotice(ctx, keyOf(f))
		if err != nil {
			return err
		}
		if first.Muted {
			continue
		}
		thread := cmp.Or(first.Thread, threadOf(keyOf(f), opened))
		key := fmt.Sprintf("remind|%s|%d", thread, count)
		if all[key] == nil {
			all[key] = &reminder{key: key, thread: thread, opened: opened}
			order = append(order, key)
		}
		all[key].of = append(all[key].of, f)
	}
	for _, key := range order {
		if err := a.tellAgain(ctx, rt, *all[key]); err != nil {
			return err
		}
	}
	return nil
}

// tellAgain queues one reminder.
func (a *App) tellAgain(ctx context.Context, rt *runtime, r reminder) error {
	n := a.findingNotice(rt, r.of[0])
	n.Event, n.Key, n.Thread = notify.EventReminder, r.key, r.thread
	if _, quiet := rt.cfg.Notify.Quiet.Until(a.clock.Now()); quiet && notify.Holds(n) {
		return nil
	}
	if len(r.of) > 1 {
		n.Reason = allOf(r.of)
		for _, f := range r.of[1:] {
			n.With = append(n.With, other(a.findingNotice(rt, f).Subject))
		}
	}
	n.Because = append(n.Because, fleet.Because(ReasonStillSo, fleet.Values{"since": fleet.Moment(r.opened)}))
	return a.tellOnce(ctx, n, 0)
}

// canTell reports whether it can still be told if something of a policy, or of
// curfew's own for none, is over.
func (rt *runtime) canTell(policy string, ref fleet.Ref) bool {
	_, ok := find(rt.cfg.Policies, func(p config.Policy) bool { return p.Name == policy })
	if policy != "" && !ok {
		return false
	}
	if ref.Kind != fleet.KindAccount || ref.Account == ownAccount {
		return true
	}
	_, ok = find(rt.accounts, func(c *account) bool {
		p, opened := c.opened()
		return c.cfg.Name == ref.Account || opened && p.Identity == ref.Account
	})
	return ok
}

// undecided reports whether an account, or one of all, was not asked yet since the
// daemon began who it is: what is not found of it is not over for that.
func (rt *runtime) undecided(identity string) bool {
	return slices.ContainsFunc(rt.accounts, func(c *account) bool {
		_, opened := c.opened()
		_, failed := c.unknown()
		return !opened && !failed && (identity == ownAccount || identity == c.cfg.Name)
	})
}

// tellOver says of what was found for as long as it lasted that it is over. Where the
// policy that found it is gone, or the account, nobody can tell.
func (a *App) tellOver(ctx context.Context, rt *runtime, key string) error {
	n, ok, err := a.store.LastNotice(ctx, key)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(key, standingPrefix), "|")
	if name == "" && rt.undecided(n.Subject.Ref.Account) {
		return nil
	}
	stays := rt.canTell(name, n.Subject.Ref)
	return a.store.Update(ctx, func(tx *store.Tx) error {
		if ok && !n.Muted && !n.Over.IsZero() && stays {
			if err := a.tell(tx, notify.Notice{
				Event: notify.EventResolved, Severity: fleet.Info, Category: n.Category, Subject: n.Subject, Reason: n.Over, Thread: n.Thread,
			}, 0); err != nil {
				return err
			}
		}
		return tx.Forget(key)
	})
}
