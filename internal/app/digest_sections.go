package app

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/policies"
)

// The lines of a digest.
const (
	digestQuiet       fleet.Code = "digest.quiet"
	digestNothingRuns fleet.Code = "digest.nothing-runs"
	digestRunning     fleet.Code = "digest.running"
	digestPeriod      fleet.Code = "digest.period"
	digestSkipped     fleet.Code = "digest.skipped"
	digestDryRun      fleet.Code = "digest.dry-run"
	digestRestQuiet   fleet.Code = "digest.rest-quiet"

	digestByAccount    fleet.Code = "digest.by-account"
	digestAccount      fleet.Code = "digest.account"
	digestUnguarded    fleet.Code = "digest.unguarded"
	digestUnguardedOne fleet.Code = "digest.unguarded-one"
	digestGuard        fleet.Code = "digest.guard"

	digestUnread       fleet.Code = "digest.unread"
	digestAbout        fleet.Code = "digest.about"
	digestStateUnknown fleet.Code = "digest.state-unknown"

	digestStoppedCosts fleet.Code = "digest.stopped-costs"
	digestStillCosts   fleet.Code = "digest.still-costs"
	digestStillUnsure  fleet.Code = "digest.still-unsure"
	digestReleases     fleet.Code = "digest.releases"
	digestReleasesAt   fleet.Code = "digest.releases-at"
	digestReleasesNow  fleet.Code = "digest.releases-now"
)

const (
	// releasesSoon is how long before the platform deletes something people hear of
	// it in the morning.
	releasesSoon = 3 * 24 * time.Hour

	digestNameBytes = 40 // of a name
)

// digestView is how everything stands at one moment: all that a digest is made of.
type digestView struct {
	at, since   time.Time
	skipped     int // digests that were not told since
	lastSkipped time.Time
	dryRun      bool
	several     bool // accounts
	things      []digestThing
	ended       []fleet.Intent // the last act that was sent of each thing and ended since
	open        []fleet.Intent
	approved    map[int64]bool
	findings    []fleet.Finding
	advised     []digestAdvised
	weekly      bool                        // it is about a week
	money       *spending                   // nil: it was not reckoned
	left        []fleet.Resource            // what nothing uses
	beside      []digestThing               // what is billed beside instances and paid by the period
	accounts    map[string]policies.Account // by identity
	budgets     []digestBudgetOf            // the fullest first

	byRef map[fleet.Ref]digestThing // made by digestOf
}

type digestThing struct {
	fleet.Instance
	unguarded, protected bool
}

// digestSections are the parts of a digest in their order. One whose head is empty
// has nothing to say.
func digestSections() []func(digestView) notify.Section {
	return []func(digestView) notify.Section{
		accountsSection, unguardedSection, doneSection, needsSection, spentSection, walletsSection, budgetsSection,
		adviceSection, unreadSection, stoppedSection, leftSection, releasesSection, paidSection,
	}
}

// digestOf puts together what people are told of how everything stands. One that
// has nothing to say is told as well: silence could not be told from a daemon that
// is gone.
func digestOf(s digestView) notify.Notice {
	s.byRef = make(map[fleet.Ref]digestThing, len(s.things))
	for _, i := range s.things {
		s.byRef[i.Ref] = i
	}
	n := notify.Notice{Event: notify.EventDigest, Severity: fleet.Info, Category: fleet.CategoryDigest}
	say := func(code fleet.Code, v fleet.Values) {
		n.Sections = append(n.Sections, notify.Section{Head: fleet.Because(code, v)})
	}
	say(digestPeriod, fleet.Values{"since": minute(s.since), "at": minute(s.at)})
	if s.skipped > 0 {
		n.Sections = append(n.Sections, notify.Section{Head: skippedLine(s.skipped, s.lastSkipped)})
	}
	running := running(s)
	if s.dryRun && running.Count > 0 {
		say(digestDryRun, nil)
	}
	before := len(n.Sections)
	for _, section := range digestSections() {
		if part := section(s); !part.Head.IsZero() {
			n.Sections = append(n.Sections, part)
		}
	}
	quiet := len(n.Sections) == before
	switch {
	case running.Count > 0:
		v := running.Values()
		if unguarded := len(unguarded(s)); unguarded > 0 {
			v["unguarded"] = fleet.Number(float64(unguarded))
		}
		n.Reason = fleet.Because(digestRunning, v)
		if quiet {
			say(digestRestQuiet, nil)
		}
	case quiet && s.skipped == 0:
		n.Reason = fleet.Because(digestQuiet, nil)
	default:
		n.Reason = fleet.Because(digestNothingRuns, nil)
	}
	if s.weekly {
		v := fleet.Values{"what": fleet.Nested(n.Reason)}
		if s.money != nil && !isNothing(s.money.total) {
			v["sum"] = fleet.Text(s.money.total.String())
		}
		n.Reason = fleet.Because(digestWeek, v)
	}
	return n
}

// skippedLine says which digests were not told.
func skippedLine(skipped int, last time.Time) fleet.Reason {
	v := fleet.Values{"last": minute(last)}
	if skipped > 1 {
		v["more"] = fleet.Number(float64(skipped - 1))
	}
	return fleet.Because(digestSkipped, v)
}

// running counts what costs by the hour now, or is about to.
func running(s digestView) notify.Tally {
	var t notify.Tally
	for _, i := range s.things {
		if i.State.Up() {
			t.Add(new(i.CostNow()))
		}
	}
	return t
}

// accountsSection says what runs where, if there are several accounts.
func accountsSection(s digestView) notify.Section {
	tallies := map[string]*notify.Tally{}
	for _, i := range s.things {
		if i.State.Up() {
			name := cmp.Or(i.AccountName, i.Ref.Account)
			if tallies[name] == nil {
				tallies[name] = &notify.Tally{}
			}
			tallies[name].Add(new(i.CostNow()))
		}
	}
	if !s.several || len(tallies) == 0 {
		return notify.Section{}
	}
	out := notify.Section{Head: fleet.Because(digestByAccount, nil)}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		v := tallies[name].Values()
		v["account"] = short(name)
		out.Add(notify.Item{Text: fleet.Because(digestAccount, v)})
	}
	return out
}

// unguarded gives what runs and no policy is about, what costs most first.
func unguarded(s digestView) []digestThing {
	var out []digestThing
	for _, i := range s.things {
		if i.State.Up() && i.unguarded {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, byCost)
	return out
}

func unguardedSection(s digestView) notify.Section {
	all := unguarded(s)
	if len(all) == 0 {
		return notify.Section{}
	}
	out := notify.Section{
		Head: fleet.Because(digestUnguarded, fleet.Values{"count": fleet.Number(float64(len(all)))}),
		Foot: fleet.Because(digestGuard, nil),
	}
	for _, i := range all {
		v := s.costing(i)
		if cost, ok := i.CostSoFar(s.at); ok {
			v["cost"] = fleet.Amount(cost)
		}
		if !i.StartedAt.IsZero() {
			v["since"] = minute(i.StartedAt)
		}
		if i.protected {
			v["protected"] = fleet.Text("protected")
		}
		out.Add(notify.Item{Text: fleet.Because(digestUnguardedOne, v), Cost: new(i.CostNow())})
	}
	return out
}

// unreadSection says what is not known: accounts, what goes on inside, and whether
// something runs at all.
func unreadSection(s digestView) notify.Section {
	out := notify.Section{Head: fleet.Because(digestUnread, nil)}
	told := map[string]bool{}
	for _, f := range s.findings {
		dark := f.Reason.Code == ReasonAccountDark
		if f.Reason.Code == ReasonListDark || dark && !told[f.Ref.Account] {
			out.Add(notify.Item{Text: f.Reason})
		}
		told[f.Ref.Account] = told[f.Ref.Account] || dark // once, of however many regions
	}
	for _, f := range s.findings {
		if i, ok := s.thing(f.Ref); ok && f.Reason.Code == ReasonBlind {
			out.Add(notify.Item{
				Text: fleet.Because(digestAbout, fleet.Values{"name": short(i.DisplayName()), "what": fleet.Nested(f.Reason)}),
				Cost: new(i.CostNow()),
			})
		}
	}
	for _, i := range s.things {
		if i.State == fleet.StateUnknown {
			v := fleet.Values{"name": short(i.DisplayName())}
			if i.RawState != "" {
				v["word"] = short(i.RawState)
			}
			out.Add(notify.Item{Text: fleet.Because(digestStateUnknown, v), Cost: new(i.CostNow())})
		}
	}
	if len(out.Items) == 0 {
		return notify.Section{}
	}
	return out
}

// stoppedSection says what costs money although it is stopped.
func stoppedSection(s digestView) notify.Section {
	out := notify.Section{Head: fleet.Because(digestStoppedCosts, nil)}
	unsure := 0
	var costly []digestThing
	for _, i := range s.things {
		switch price := i.CostNow(); {
		case i.State != fleet.StateStopped:
		case !price.Known():
			unsure++
		case !price.PerHour.IsZero():
			costly = append(costly, i)
		}
	}
	slices.SortStableFunc(costly, byCost)
	for _, i := range costly {
		v := s.costing(i)
		if !i.StoppedAt.IsZero() {
			v["since"] = minute(i.StoppedAt)
		}
		out.Add(notify.Item{Text: fleet.Because(digestStillCosts, v), Cost: new(i.CostNow())})
	}
	unknown := fleet.Because(digestStillUnsure, fleet.Values{"count": fleet.Number(float64(unsure))})
	switch {
	case unsure > 0 && len(costly) > 0:
		out.Foot = unknown
	case unsure > 0:
		return notify.Section{Head: unknown}
	case len(costly) == 0:
		return notify.Section{}
	}
	return out
}

// releasesSection says what the platform itself will soon delete.
func releasesSection(s digestView) notify.Section {
	var soon []digestThing
	for _, i := range s.things {
		if at := i.ReleasesAt; !at.IsZero() && at.Before(s.at.Add(releasesSoon)) && !i.State.Gone() && i.State != fleet.StateReleasing {
			soon = append(soon, i)
		}
	}
	if len(soon) == 0 {
		return notify.Section{}
	}
	slices.SortStableFunc(soon, func(a, b digestThing) int { return a.ReleasesAt.Compare(b.ReleasesAt) })
	out := notify.Section{Head: fleet.Because(digestReleases, nil)}
	for _, i := range soon {
		code := digestReleasesAt
		if !i.ReleasesAt.After(s.at) {
			code = digestReleasesNow
		}
		v := s.naming(i)
		v["at"] = minute(i.ReleasesAt)
		out.Add(notify.Item{Text: fleet.Because(code, v)})
	}
	return out
}

// naming says which thing it is, with the account where there are several.
func (s digestView) naming(i digestThing) fleet.Values {
	v := fleet.Values{"name": short(i.DisplayName())}
	if s.several {
		v["account"] = short(cmp.Or(i.AccountName, i.Ref.Account))
	}
	return v
}

// costing is naming with what it costs an hour; without a rate nobody knows.
func (s digestView) costing(i digestThing) fleet.Values {
	v := s.naming(i)
	if price := i.CostNow(); price.Known() {
		v["rate"] = fleet.Text(price.PerHour.String())
	}
	return v
}

func (s digestView) thing(ref fleet.Ref) (digestThing, bool) {
	i, ok := s.byRef[ref]
	return i, ok
}

// byCost puts what costs most first, each currency by itself, and what nobody
// knows the price of last.
func byCost(a, b digestThing) int {
	p, q := a.CostNow(), b.CostNow()
	if p.Known() != q.Known() {
		if p.Known() {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(p.PerHour.Currency, q.PerHour.Currency),
		cmp.Compare(q.PerHour.Micros, p.PerHour.Micros),
		fleet.CompareRefs(a.Ref, b.Ref),
	)
}

// minute is a moment in whole minutes: seconds are no news.
func minute(t time.Time) fleet.Value { return fleet.Moment(t.Truncate(time.Minute)) }

func short(name string) fleet.Value { return fleet.Text(notify.Cut(name, digestNameBytes)) }
