package ledger

import (
	"cmp"
	"slices"
	"time"

	"curfew/fleet"
)

// Query asks for the costs in [From, To), as far as they are known at Now.
type Query struct {
	From time.Time
	To   time.Time
	Now  time.Time
	By   By
	Zone *time.Location // whose days are meant
}

// Costs are what everything cost in a time.
type Costs struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	By   By        `json:"by"`
	// Since is the begin of what is known, where that lies within the time asked for.
	Since time.Time           `json:"since,omitzero"`
	Rows  []Row               `json:"rows"`
	Items map[Item]fleet.Sums `json:"items"`
	Total fleet.Sums          `json:"total"`
	// Prepaid is the part of the total that was paid before, by the period, and
	// Configured the part that follows from prices of the configuration.
	Prepaid    fleet.Sums `json:"prepaid,omitempty"`
	Configured fleet.Sums `json:"configured,omitempty"`
	// Unknown are the things whose cost is not known, or only in part: the total is
	// without them.
	Unknown []UnknownCost `json:"unknown,omitempty"`
	// Busy is for how long instances were at work, and BusyHour what all instances
	// cost for each hour of that.
	Busy     time.Duration `json:"busy_ns,omitempty"`
	BusyHour fleet.Sums    `json:"busy_hour,omitempty"`
}

// Row is the cost of one group.
type Row struct {
	Key     string              `json:"key"`
	Name    string              `json:"name"`
	Account string              `json:"account,omitempty"`
	Items   map[Item]fleet.Sums `json:"items"`
	Total   fleet.Sums          `json:"total"`
	// Time is for how long instances were billed, and Unknown for how long the cost of
	// anything is not known.
	Time    time.Duration `json:"time_ns"`
	Unknown time.Duration `json:"unknown_ns,omitempty"`
}

// UnknownCost is a thing, and for how long its cost is not known.
type UnknownCost struct {
	Ref     fleet.Ref     `json:"ref"`
	Name    string        `json:"name"`
	Account string        `json:"account"`
	Item    Item          `json:"item"`
	Why     Unknown       `json:"why"`
	For     time.Duration `json:"for_ns"`
}

// Reckon adds up what the things cost.
func Reckon(hs []History, q Query) Costs {
	if q.To.After(q.Now) {
		q.To = q.Now
	}
	out := Costs{From: q.From, To: q.To, By: q.By, Items: map[Item]fleet.Sums{}}
	rows := map[string]*Row{}
	var known time.Time
	var instances fleet.Sums
	for _, h := range hs {
		parts := h.parts(q)
		unknown := map[Unknown]time.Duration{}
		for _, whole := range h.Charges(q.Now) {
			if known.IsZero() || whole.From.Before(known) {
				known = whole.From
			}
			c, ok := whole.Within(q.From, q.To)
			if !ok {
				continue
			}
			out.add(c)
			if c.Unknown != "" {
				unknown[c.Unknown] += c.For()
			}
			if c.Item == ItemInstance {
				instances.Add(c.Amount)
			}
			at, _ := slices.BinarySearchFunc(parts, c.From, func(p part, t time.Time) int {
				if p.to.After(t) {
					return 1
				}
				return -1
			})
			for _, p := range parts[at:] {
				if !p.from.Before(c.To) {
					break
				}
				if piece, ok := whole.Within(later(p.from, c.From), earlier(p.to, c.To)); ok {
					addPiece(rows, p, piece)
					if p.keys[0].key == PhaseRun && q.By == ByPhase {
						out.Busy += piece.For()
					}
				}
			}
		}
		for _, why := range []Unknown{UnknownPrice, UnknownState, UnknownPeriod} {
			if d := unknown[why]; d > 0 {
				out.Unknown = append(out.Unknown, UnknownCost{h.Ref, h.Name, h.Account, ItemOf(h.Ref.Kind), why, d})
			}
		}
	}
	if known.After(q.From) {
		out.Since = known
	}
	if out.Busy > 0 {
		for _, m := range instances {
			out.BusyHour.Add(PerHour(m, out.Busy))
		}
	}
	for _, r := range rows {
		out.Rows = append(out.Rows, *r)
	}
	slices.SortFunc(out.Rows, func(a, b Row) int { return q.compare(a, b) })
	slices.SortFunc(out.Unknown, func(a, b UnknownCost) int {
		return cmp.Or(cmp.Compare(b.For, a.For), fleet.CompareRefs(a.Ref, b.Ref))
	})
	return out
}

func (out *Costs) add(c Charge) {
	sums := out.Items[c.Item]
	sums.Add(c.Amount)
	out.Items[c.Item] = sums
	out.Total.Add(c.Amount)
	if c.Prepaid {
		out.Prepaid.Add(c.Amount)
	}
	if c.Source == fleet.PriceConfig {
		out.Configured.Add(c.Amount)
	}
}

// addPiece adds a piece to the rows it belongs to, in equal parts.
func addPiece(rows map[string]*Row, p part, c Charge) {
	weights := make([]int64, len(p.keys))
	for n := range weights {
		weights[n] = 1
	}
	for n, micros := range Split(c.Amount.Micros, weights) {
		g := p.keys[n]
		r := rows[g.key]
		if r == nil {
			r = &Row{Key: g.key, Name: g.name, Account: g.account, Items: map[Item]fleet.Sums{}}
			rows[g.key] = r
		}
		m := fleet.Money{Micros: micros, Currency: c.Amount.Currency}
		sums := r.Items[c.Item]
		sums.Add(m)
		r.Items[c.Item] = sums
		r.Total.Add(m)
		if c.Item == ItemInstance {
			r.Time += c.For()
		}
		if c.Unknown != "" {
			r.Unknown += c.For()
		}
	}
}

// compare orders rows: days by time, phases and items as people see them, all else
// by what it cost, the dearest first, and last what belongs to no group.
func (q Query) compare(a, b Row) int {
	switch q.By {
	case ByDay:
		return cmp.Compare(a.Key, b.Key)
	case ByPhase:
		return cmp.Compare(slices.Index(Phases(), a.Key), slices.Index(Phases(), b.Key))
	case ByItem:
		return cmp.Compare(slices.Index(Items(), Item(a.Key)), slices.Index(Items(), Item(b.Key)))
	}
	if (a.Key == "") != (b.Key == "") {
		if a.Key == "" {
			return 1
		}
		return -1
	}
	most := func(r Row) (most int64) {
		for _, m := range r.Total {
			most = max(most, m.Micros)
		}
		return most
	}
	return cmp.Or(cmp.Compare(most(b), most(a)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
