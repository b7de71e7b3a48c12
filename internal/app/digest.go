package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/internal/sched"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/policies"
)

const (
	// digestKey, weeklyKey and sheetKey are the digests' among the ticks, where no policy
	// can have them: a policy's name holds no slash. What else is remembered of each has
	// the same key.
	digestKey = "notify/digest"
	weeklyKey = "notify/weekly"
	sheetKey  = "notify/sheet"
	// digestLate, weeklyLate and sheetLate are how long after its tick each is still
	// worth telling: the longer the time that it is about, the longer.
	digestLate = 2 * time.Hour
	weeklyLate = 24 * time.Hour
	sheetLate  = 7 * 24 * time.Hour
	// digestPatience is how long after a start a digest waits for every account to
	// be read: what was known when the daemon ended is not how things stand.
	digestPatience = 3 * time.Minute
	// digestLasts is how long a channel may take to accept a digest, and sheetLasts a
	// sheet: there may be one for each of many people.
	digestLasts = 24 * time.Hour
	sheetLasts  = 3 * 24 * time.Hour
	// mostSkipped bounds the counting of digests that were not told.
	mostSkipped = 10_000
)

// report is one of what is told by a schedule of its own.
type report struct {
	key      string
	schedule *sched.Schedule // nil: never
	late     time.Duration
	lasts    time.Duration
	write    func(ctx context.Context, rt *runtime, mark digestMark, tick, now time.Time) ([]notify.Notice, error)
}

func (a *App) reports(rt *runtime) []report {
	n := rt.cfg.Notify
	return []report{
		{digestKey, n.Digest, digestLate, digestLasts, a.daily},
		{weeklyKey, n.Weekly, weeklyLate, digestLasts, a.weekly},
		{sheetKey, n.Sheet, sheetLate, sheetLasts, a.sheets},
	}
}

// digestMark is what is remembered of digests beside the tick.
type digestMark struct {
	// Schedule is what the tick is of: ticks of another schedule were never missed.
	Schedule string `json:"schedule"`
	// Since is where the next digest begins: the moment the last one was made, or at
	// which digests were first asked for.
	Since time.Time `json:"since"`
	// Skipped counts those not told since, and Last is the tick of the newest of
	// them.
	Skipped int       `json:"skipped,omitempty"`
	Last    time.Time `json:"last,omitzero"`
}

// digest tells all that is due by a schedule of its own, and says when the next will be.
func (a *App) digest(ctx context.Context, rt *runtime) (next time.Time, err error) {
	for _, r := range a.reports(rt) {
		at, failed := a.report(ctx, rt, r)
		next, err = earlier(next, at), errors.Join(err, failed)
	}
	if err != nil {
		return time.Time{}, err
	}
	return next, nil
}

// report tells one of them, once for every tick of its schedule, and says when the next
// tick will be. The tick and the notices are written in one transaction, so a restart
// tells nothing twice and forgets nothing.
func (a *App) report(ctx context.Context, rt *runtime, r report) (time.Time, error) {
	s, now := r.schedule, a.clock.Now()
	last, mark, err := a.digested(ctx, r.key)
	if err != nil {
		return time.Time{}, err
	}
	if s == nil {
		if mark.Schedule != "" { // when it is asked for again, none was missed meanwhile
			err = a.store.Update(ctx, func(tx *store.Tx) error { return tx.SetMeta(r.key, "") })
		}
		return time.Time{}, err
	}
	// A tick ahead of the clock is of a clock that was put back since.
	if schedule := s.String() + " " + rt.cfg.Timezone.String(); mark.Schedule != schedule || last.After(now) {
		mark.Schedule = schedule
		if mark.Since.IsZero() || mark.Since.After(now) {
			mark.Since = now
		}
		if mark.Last.After(now) {
			mark.Skipped, mark.Last = 0, time.Time{}
		}
		return s.Next(now), a.store.Update(ctx, func(tx *store.Tx) error { return markDigest(tx, r.key, s.Prev(now), mark) })
	}
	due := digestDue(s, last, now, r.late)
	if due.skipped > 0 {
		mark.Skipped, mark.Last = mark.Skipped+due.skipped, due.lastSkipped
	}
	switch {
	case due.tick.IsZero() || due.tell && !a.caughtUp(rt, now):
		return s.Next(now), nil
	case !due.tell:
		a.log.Warn().Time("tick", due.tick).Str("digest", r.key).Msg("digest skipped, its time is over; the next one says so")
		return s.Next(now), a.store.Update(ctx, func(tx *store.Tx) error { return markDigest(tx, r.key, due.tick, mark) })
	}
	ns, err := r.write(ctx, rt, mark, due.tick, now)
	if err != nil {
		return time.Time{}, err
	}
	expires := now.Add(r.lasts)
	if next := s.Next(now); !next.IsZero() && next.Before(expires) {
		expires = next // which tells what is newer
	}
	return s.Next(now), a.store.Update(ctx, func(tx *store.Tx) error {
		for _, n := range ns {
			n.Expires = expires
			if err := a.tell(tx, n, 0); err != nil {
				return err
			}
		}
		return markDigest(tx, r.key, due.tick, digestMark{Schedule: mark.Schedule, Since: now})
	})
}

// daily makes the digest of the day.
func (a *App) daily(ctx context.Context, rt *runtime, mark digestMark, tick, now time.Time) ([]notify.Notice, error) {
	v, err := a.digestView(ctx, rt, mark, now)
	if err != nil {
		return nil, err
	}
	if v.money, err = a.spent(ctx, rt, time.Time{}, v.since, now); err != nil {
		return nil, err
	}
	n := digestOf(v)
	n.Key = "digest|" + tick.UTC().Format(time.RFC3339)
	return []notify.Notice{n}, nil
}

// weekly makes the digest of the week: of the last seven days, or of all since the last
// one where some were not told. It compares with as long a time before.
func (a *App) weekly(ctx context.Context, rt *runtime, mark digestMark, tick, now time.Time) ([]notify.Notice, error) {
	week := now.In(rt.cfg.Timezone).AddDate(0, 0, -7)
	if mark.Since.Sub(week).Abs() >= digestLate {
		mark.Since = earlier(mark.Since, week)
	}
	v, err := a.digestView(ctx, rt, mark, now)
	if err != nil {
		return nil, err
	}
	v.weekly = true
	if v.money, err = a.spent(ctx, rt, v.since.Add(-now.Sub(v.since)), v.since, now); err != nil {
		return nil, err
	}
	n := digestOf(v)
	n.Key = "weekly|" + tick.UTC().Format(time.RFC3339)
	return []notify.Notice{n}, nil
}

// digested reads what is remembered of one kind of digest.
func (a *App) digested(ctx context.Context, key string) (last time.Time, mark digestMark, err error) {
	text, err := a.store.Meta(ctx, key)
	if err != nil || text == "" {
		return time.Time{}, digestMark{}, err
	}
	if err := json.Unmarshal([]byte(text), &mark); err != nil {
		return time.Time{}, digestMark{}, nil //nolint:nilerr // of another version: digests begin anew
	}
	ticks, err := a.store.Ticks(ctx)
	return ticks[key], mark, err
}

func markDigest(tx *store.Tx, key string, tick time.Time, mark digestMark) error {
	text, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	if err := tx.Tick(key, tick); err != nil {
		return err
	}
	return tx.SetMeta(key, string(text))
}

// dueDigest is what a schedule asks for now: the newest tick, whether its digest is
// still to be told, and which before it never will be. The zero tick: nothing is
// new.
type dueDigest struct {
	tick        time.Time
	tell        bool
	skipped     int
	lastSkipped time.Time
}

// digestDue compares a schedule with the newest tick that was seen to; late is for how
// long after its tick one is worth telling.
func digestDue(s *sched.Schedule, last, now time.Time, late time.Duration) dueDigest {
	tick := s.Prev(now)
	if tick.IsZero() || !tick.After(last) {
		return dueDigest{}
	}
	due := dueDigest{tick: tick, tell: now.Sub(tick) < late}
	for t := s.Next(last); t.Before(tick) && due.skipped < mostSkipped; t = s.Next(t) {
		due.skipped, due.lastSkipped = due.skipped+1, t
	}
	if !due.tell {
		due.skipped, due.lastSkipped = due.skipped+1, tick
	}
	return due
}

// caughtUp reports whether every account was read since the daemon was started, or
// had its time.
func (a *App) caughtUp(rt *runtime, now time.Time) bool {
	if now.Sub(a.startedAt) >= digestPatience {
		return true
	}
	scopes := a.inv.Scopes()
	for _, acc := range rt.accounts {
		p, ok := acc.opened()
		if !ok || !acc.isIdentified() {
			return false
		}
		for _, scope := range p.Scopes {
			s, ok := find(scopes, func(s policies.ScopeState) bool {
				return s.Scope.Account == p.Identity && s.Scope.Region == scope.Region
			})
			if !ok || s.At.Before(a.startedAt) {
				return false
			}
		}
	}
	return true
}

// digestView gathers what a digest is made of.
func (a *App) digestView(ctx context.Context, rt *runtime, mark digestMark, now time.Time) (digestView, error) {
	t, err := a.think(ctx, rt, everything)
	if err != nil {
		return digestView{}, err
	}
	v := digestView{
		at: now, since: mark.Since, skipped: mark.Skipped, lastSkipped: mark.Last,
		dryRun: rt.cfg.Mode != fleet.Enforce, several: len(rt.accounts) > 1, findings: t.findings, approved: map[int64]bool{},
	}
	for _, d := range t.decisions {
		if d.subject.Ref.Kind != fleet.KindInstance {
			continue
		}
		p := a.protected(rt, d.subject)
		v.things = append(v.things, digestThing{
			Instance: d.subject, unguarded: d.unguarded, protected: p.Unreadable || !p.By.IsZero(),
		})
	}
	v.advised = a.advised(rt, v.things, now)
	v.accounts, v.budgets = t.desk.accounts, budgetsAt(budgetsOf(rt), t.desk.spend, now)
	for _, r := range a.inv.Resources().Resources {
		if leftOver(r, now) {
			v.left = append(v.left, *r)
		}
		if r.Charge.Type == fleet.ChargePeriod {
			v.beside = append(v.beside, digestThing{Instance: r.Subject()})
		}
	}
	ended, err := a.store.LastSent(ctx, mark.Since)
	if err != nil {
		return digestView{}, err
	}
	for _, i := range ended {
		if i.ClosedAt.After(mark.Since) && !i.ClosedAt.After(now) { // each belongs to one digest
			v.ended = append(v.ended, i)
		}
	}
	slices.SortFunc(v.ended, func(a, b fleet.Intent) int { return cmp.Compare(a.ID, b.ID) })
	if v.open, err = a.store.OpenIntents(ctx); err != nil {
		return digestView{}, err
	}
	yes, err := a.store.Approvals(ctx)
	if err != nil {
		return digestView{}, err
	}
	for id, y := range yes {
		v.approved[id] = now.Before(y.Expires)
	}
	return v, nil
}
