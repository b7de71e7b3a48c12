package prometheus

import (
	"cmp"
	"context"
	"slices"
	"time"

	"curfew/fleet"
)

// Why a value of a query for all is not known to be an instance's.
const (
	ReasonAbsent fleet.Code = "prometheus.absent" // no value bears its name or id
	ReasonTwin   fleet.Code = "prometheus.twin"   // another instance is called the same
)

// name is what an instance was called when it was last looked at.
type name struct {
	at   time.Time
	text string // empty: it has none, or it could not be read
}

// together asks one query for all instances, and gives each the value that bears
// its name or id.
func (s *Source) together(ctx context.Context, is []fleet.Instance) []seen {
	if len(is) == 0 {
		return nil
	}
	out := make([]seen, len(is))
	for n, i := range is {
		out[n] = seen{i.Ref, s.evidence(i)}
	}
	names := s.names(is)
	samples, why := s.ask(ctx, s.o.Query.text())
	by := map[string][]sample{}
	for _, p := range samples {
		if value := p.labels[s.o.Label]; value != "" {
			by[value] = append(by[value], p)
		}
	}
	for n, i := range is {
		e := &out[n].Evidence
		if e.Reason = why; why.IsZero() {
			e.Activity, e.Reason = s.pick(i, by, names, len(samples))
		}
	}
	return out
}

// pick judges an instance by the values that bear its name or id.
func (s *Source) pick(i fleet.Instance, by map[string][]sample, names map[string][]fleet.Ref, count int) (fleet.Activity, fleet.Reason) {
	keys := []string{i.Ref.ID}
	if text := s.called[i.Ref].text; text != "" && text != i.Ref.ID {
		keys = append(keys, text)
	}
	var its []sample
	for _, key := range keys {
		if len(by[key]) == 0 {
			continue
		}
		if n := slices.IndexFunc(names[key], func(r fleet.Ref) bool { return r != i.Ref }); n >= 0 {
			return fleet.Unknown, fleet.Because(ReasonTwin, fleet.Values{
				"value": fleet.Text(key), "other": fleet.Text(names[key][n].ID)})
		}
		its = append(its, by[key]...)
	}
	return s.judge(its, fleet.Because(ReasonAbsent, fleet.Values{
		"label": fleet.Text(s.o.Label), "count": fleet.Number(float64(count)), "name": fleet.Text(i.DisplayName())}))
}

// names gives, for each name and id, the instances that are called so, those of
// recent looks included: before an act only one instance is looked at.
func (s *Source) names(is []fleet.Instance) map[string][]fleet.Ref {
	now := s.o.Now()
	for ref, n := range s.called {
		if now.Sub(n.at) > s.freshFor() {
			delete(s.called, ref)
		}
	}
	for _, i := range is {
		n := name{at: now, text: i.Name}
		if slices.Contains(i.Unread, "name") {
			n.text = ""
		}
		s.called[i.Ref] = n
	}
	all := map[string][]fleet.Ref{}
	for ref, n := range s.called {
		all[ref.ID] = append(all[ref.ID], ref)
		if n.text != "" && n.text != ref.ID {
			all[n.text] = append(all[n.text], ref)
		}
	}
	for _, refs := range all {
		slices.SortFunc(refs, func(a, b fleet.Ref) int { return cmp.Compare(a.String(), b.String()) })
	}
	return all
}
