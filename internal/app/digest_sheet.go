package app

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/internal/ledger"
	"curfew/notify"
)

// What a sheet says.
const (
	sheetTitle   fleet.Code = "digest.sheet"
	sheetNobodys fleet.Code = "digest.sheet-nobodys"
	sheetFrom    fleet.Code = "digest.sheet-from"
	sheetItems   fleet.Code = "digest.sheet-items"
	sheetItem    fleet.Code = "digest.sheet-item"
	sheetThings  fleet.Code = "digest.sheet-things"
	sheetThing   fleet.Code = "digest.sheet-thing"
	sheetBusy    fleet.Code = "digest.sheet-busy"
	sheetNoBusy  fleet.Code = "digest.sheet-no-busy"
	sheetUnknown fleet.Code = "digest.sheet-unknown"
)

// sheetNamed is how many things of a sheet have a line: as many as a section holds.
const sheetNamed = 8

// sheet is what the things of one person cost in a month.
type sheet struct {
	owner     string // empty: of what is nobody's
	total     fleet.Sums
	items     map[ledger.Item]fleet.Sums
	instances fleet.Sums
	dearest   []sheetLine // the dearest first
	count     int         // things that cost anything
	up, busy  time.Duration
	unknown   int // things whose cost is not known, or only in part
	saved     saved
}

// sheetLine is one thing of a sheet.
type sheetLine struct {
	name, account string
	total         fleet.Sums
	up            time.Duration
}

// lastMonth is the calendar month before the one that a moment lies in.
func lastMonth(t time.Time) (from, to time.Time) {
	year, month, _ := t.Date()
	to = time.Date(year, month, 1, 0, 0, 0, 0, t.Location())
	return to.AddDate(0, -1, 0), to
}

// sheets makes one sheet for each person whose things cost anything in the month before
// the tick's, and one for what is nobody's.
func (a *App) sheets(ctx context.Context, rt *runtime, mark digestMark, tick, now time.Time) ([]notify.Notice, error) {
	from, to := lastMonth(tick.In(rt.cfg.Timezone))
	all, since, err := a.monthOf(ctx, rt, from, to, now)
	if err != nil {
		return nil, err
	}
	var out []notify.Notice
	for _, s := range all {
		n := s.notice(from, since, len(rt.accounts) > 1)
		if mark.Skipped > 0 {
			n.Sections = append([]notify.Section{{Head: skippedLine(mark.Skipped, mark.Last)}}, n.Sections...)
		}
		out = append(out, n)
	}
	return out, nil
}

// monthOf reckons the sheets of a time, in the order of the owners' names, and says
// where what is known begins, if that lies within it.
func (a *App) monthOf(ctx context.Context, rt *runtime, from, to, now time.Time) (all []*sheet, since time.Time, err error) {
	q := ledger.Query{From: from, To: to, Now: now, By: ledger.ByPhase, Zone: rt.cfg.Timezone}
	of := map[string]*sheet{}
	var first time.Time
	if err := a.eachEntry(ctx, rt, true, func(e bookEntry) error {
		for _, g := range e.Segments {
			if g.What == "state" {
				first = earlier(first, g.From)
			}
		}
		s := of[e.Owner]
		if s == nil {
			s = &sheet{owner: e.Owner, items: map[ledger.Item]fleet.Sums{}}
			of[e.Owner] = s
		}
		s.add(e, q)
		return nil
	}); err != nil {
		return nil, time.Time{}, err
	}
	for _, s := range of {
		if s.count > 0 || s.unknown > 0 || s.saved.stops > 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *sheet) int { return cmp.Compare(a.owner, b.owner) })
	if first.After(from) {
		since = first
	}
	return all, since, nil
}

// add adds one thing.
func (s *sheet) add(e bookEntry, q ledger.Query) {
	s.saved.add(e, q)
	c := ledger.Reckon([]ledger.History{e.History}, q)
	if len(c.Unknown) > 0 {
		s.unknown++
	}
	var up time.Duration
	for _, r := range c.Rows {
		if r.Key != ledger.PhaseStopped && r.Key != ledger.PhaseKept {
			up += r.Time
		}
	}
	s.up, s.busy = s.up+up, s.busy+c.Busy
	if isNothing(c.Total) {
		return
	}
	s.count++
	addAll(&s.total, c.Total)
	for item, sums := range c.Items {
		have := s.items[item]
		addAll(&have, sums)
		s.items[item] = have
		if item == ledger.ItemInstance {
			addAll(&s.instances, sums)
		}
	}
	line := sheetLine{name: e.Name, account: e.Account, total: c.Total, up: up}
	at, _ := slices.BinarySearchFunc(s.dearest, line, dearer)
	if at < sheetNamed {
		s.dearest = slices.Insert(s.dearest, at, line)
		s.dearest = s.dearest[:min(len(s.dearest), sheetNamed)]
	}
}

// dearer orders lines by what they cost, each currency by itself.
func dearer(a, b sheetLine) int {
	most := func(s fleet.Sums) (most fleet.Money) {
		for _, m := range s {
			if m.Micros > most.Micros {
				most = m
			}
		}
		return most
	}
	p, q := most(a.total), most(b.total)
	return cmp.Or(cmp.Compare(p.Currency, q.Currency), cmp.Compare(q.Micros, p.Micros), cmp.Compare(a.name, b.name), cmp.Compare(a.account, b.account))
}

// notice is the sheet as it is told, to whose it is.
func (s *sheet) notice(from, since time.Time, several bool) notify.Notice {
	month := fleet.Text(from.Format("2006-01"))
	n := notify.Notice{
		Key:   "sheet|" + from.Format("2006-01") + "|" + s.owner,
		Event: notify.EventDigest, Severity: fleet.Info, Category: fleet.CategoryDigest,
		Subject: fleet.Instance{Ref: fleet.Ref{Kind: fleet.KindOwner, ID: s.owner}},
		Reason:  fleet.Because(sheetNobodys, fleet.Values{"month": month, "sum": fleet.Text(s.total.String())}),
	}
	if s.owner != "" {
		n.Reason = fleet.Because(sheetTitle, fleet.Values{"month": month, "owner": short(s.owner), "sum": fleet.Text(s.total.String())})
	}
	if !since.IsZero() {
		n.Sections = append(n.Sections, notify.Section{Head: fleet.Because(sheetFrom, fleet.Values{"since": minute(since)})})
	}
	n.Sections = append(n.Sections, s.itemsSection(), s.thingsSection(several))
	n.Sections = append(n.Sections, notify.Section{Head: s.busyLine()})
	for _, line := range []fleet.Reason{savedLine(s.saved), s.unknownLine()} {
		n.Sections = append(n.Sections, notify.Section{Head: line})
	}
	n.Sections = slices.DeleteFunc(n.Sections, func(one notify.Section) bool { return one.Head.IsZero() })
	return n
}

func (s *sheet) itemsSection() notify.Section {
	if s.count == 0 {
		return notify.Section{}
	}
	out := notify.Section{Head: fleet.Because(sheetItems, nil)}
	for _, item := range ledger.Items() {
		if sums := s.items[item]; !isNothing(sums) {
			out.Add(notify.Item{Text: fleet.Because(sheetItem, fleet.Values{"item": fleet.Nested(itemReason(item)), "sum": fleet.Text(sums.String())})})
		}
	}
	return out
}

func (s *sheet) thingsSection(several bool) notify.Section {
	if s.count == 0 {
		return notify.Section{}
	}
	out := notify.Section{Head: fleet.Because(sheetThings, fleet.Values{"count": fleet.Number(float64(s.count))})}
	for _, line := range s.dearest {
		v := fleet.Values{"name": short(line.name), "sum": fleet.Text(line.total.String())}
		if several {
			v["account"] = short(line.account)
		}
		if line.up > 0 {
			v["up"] = fleet.Span(line.up.Round(time.Minute))
		}
		out.Add(notify.Item{Text: fleet.Because(sheetThing, v)})
	}
	out.Rest.Count = s.count - len(s.dearest)
	return out
}

// busyLine says for how long instances were at work of the time they ran, and what an
// hour of that came to.
func (s *sheet) busyLine() fleet.Reason {
	if s.up <= 0 {
		return fleet.Reason{}
	}
	up := fleet.Span(s.up.Round(time.Minute))
	if s.busy <= 0 {
		return fleet.Because(sheetNoBusy, fleet.Values{"up": up})
	}
	v := fleet.Values{"up": up, "busy": fleet.Span(s.busy.Round(time.Minute))}
	var rate fleet.Sums
	for _, m := range s.instances {
		rate.Add(ledger.PerHour(m, s.busy))
	}
	if !isNothing(rate) {
		v["rate"] = fleet.Text(rate.String())
	}
	return fleet.Because(sheetBusy, v)
}

func (s *sheet) unknownLine() fleet.Reason {
	if s.unknown == 0 {
		return fleet.Reason{}
	}
	return fleet.Because(sheetUnknown, fleet.Values{"count": fleet.Text(strconv.Itoa(s.unknown))})
}
