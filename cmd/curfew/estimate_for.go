package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/estimate"
)

// What is said of an estimate that is kept.
const (
	wordEstimateKept     fleet.Code = "cli.estimate.kept"
	wordEstimateTells    fleet.Code = "cli.estimate.tells"
	wordEstimateReplaced fleet.Code = "cli.estimate.replaced"
	wordEstimateDropped  fleet.Code = "cli.estimate.dropped"
	wordEstimateSelf     fleet.Code = "cli.estimate.self"
	wordEstimateOf       fleet.Code = "cli.estimate.of"
	wordEstimateSpent    fleet.Code = "cli.estimate.spent"
	wordEstimateGoesOn   fleet.Code = "cli.estimate.goes-on"
	wordEstimateStopped  fleet.Code = "cli.estimate.stopped"
	wordEstimateRenewed  fleet.Code = "cli.estimate.renewed"
	partEstimates        fleet.Code = "cli.part.estimates"
)

// estimateFor keeps an estimate of a job on the instance that it runs on, or drops it.
func (p *program) estimateFor(ctx context.Context, f estimateFlags, given func(string) bool) error {
	r, err := f.request(given)
	if err != nil {
		return usage(err)
	}
	if r.By = p.user(); f.jobs != "" {
		return usage(errors.New("--for is about one job, and --jobs names a file of them; describe it with --hours or --epochs"))
	}
	var a ctl.EstimateAnswer
	return p.ask(ctx, true, func(api ctl.API) (err error) {
		a, err = api.Estimate(ctx, r)
		return err
	}, func() error {
		if p.asJSON {
			return p.writeJSON(a)
		}
		p.page(a.Now).estimateFor(a, f.forget)
		return nil
	})
}

// request is what the flags ask to keep, or to drop.
func (f estimateFlags) request(given func(string) bool) (r ctl.EstimateRequest, err error) {
	for _, name := range []string{"quotes", "utilization"} {
		if given(name) {
			return r, fmt.Errorf("--%s compares offers, and --for reckons with the price of one instance; leave one of the two out", name)
		}
	}
	r = ctl.EstimateRequest{Name: f.instance, Forget: f.forget}
	if f.forget {
		for _, name := range append(jobFlags(), "margin", "jobs") {
			if given(name) {
				return r, fmt.Errorf("--%s describes a job, and --forget drops an estimate; leave one of the two out", name)
			}
		}
		if f.instance == "" {
			return r, errors.New("--forget drops the estimate of an instance; say which: --for REF")
		}
		return r, nil
	}
	jobs, err := f.read(given)
	if err != nil || len(jobs) == 0 {
		return r, err
	}
	if r.Job = jobs[0]; !given("cards") {
		r.Job.Cards = nil // all that the instance has
	}
	r.Margin, err = estimate.ParsePercent(f.margin)
	return r, err
}

// estimateFor says what was kept, and what was dropped for it.
func (g *page) estimateFor(a ctl.EstimateAnswer, dropped bool) {
	e, name := a.Estimate, fleet.Text(a.Instance.DisplayName())
	v := g.estimateValues(e)
	v["name"] = name
	if dropped {
		g.line(wordEstimateDropped, v)
		return
	}
	g.line(wordEstimateKept, v)
	why := []string{g.say(wordEstimateSelf, fleet.Values{"price": fleet.Text(price(a.Instance.Price))})}
	for _, r := range a.Why {
		why = append(why, g.reason(r))
	}
	g.print("  " + strings.Join(why, "; "))
	for _, w := range a.Warnings {
		g.line(wordEstimateWarning, fleet.Values{"offer": name, "why": fleet.Nested(w)})
	}
	g.line(wordEstimateTells, fleet.Values{"limit": fleet.Amount(e.Limit), "until": moment(e.Ends())})
	if b := a.Before; b != nil {
		v := g.estimateValues(*b)
		v["cost"] = fleet.Amount(b.Cost)
		g.line(wordEstimateReplaced, v)
	}
}

// estimateValues are those of an estimate's sum.
func (g *page) estimateValues(e fleet.Estimate) fleet.Values {
	total := g.amount(e.Total, e.Least)
	return fleet.Values{
		"at": moment(e.At), "total": fleet.Text(total), "hours": fleet.Text(estimate.Hours(e.For).Short(3)),
		"limit": fleet.Text(g.amount(e.Limit, e.Least)), "margin": fleet.Text(e.Margin),
	}
}

// amount is a sum, or what it is at least.
func (g *page) amount(m fleet.Money, least bool) string {
	words := m.Round().String()
	if least {
		return g.say(wordEstimateLeast, fleet.Values{"sum": fleet.Text(words)})
	}
	return words
}

// estimates are the rows of an explanation: what was reckoned beside what it cost.
func (g *page) estimates(all []ctl.EstimateSoFar) [][]string {
	var rows [][]string
	for _, s := range all {
		became := becameOf(s)
		rows = append(rows, []string{
			g.moment(s.At), g.say(wordEstimateOf, g.estimateValues(s.Estimate)),
			g.say(wordEstimateSpent, fleet.Values{
				"cost": fleet.Amount(s.Spent), "hours": fleet.Text(estimate.Hours(s.Took).Short(1)), "over": over(s.Over),
			}),
			g.reason(became),
		})
	}
	return rows
}

// becameOf says how an estimate stands.
func becameOf(s ctl.EstimateSoFar) fleet.Reason {
	left := fleet.Text("")
	switch {
	case s.Closed == fleet.EstimateReplaced:
		return fleet.Because(wordEstimateRenewed, fleet.Values{"at": moment(s.ClosedAt)})
	case !s.Open():
		return fleet.Because(wordEstimateStopped, fleet.Values{"at": moment(s.ClosedAt)})
	case s.Left > 0:
		left = fleet.Span(s.Left)
	}
	return fleet.Because(wordEstimateGoesOn, fleet.Values{"left": left})
}

// over is a word for templates: empty where it is not so.
func over(is bool) fleet.Value {
	if is {
		return fleet.Text("over")
	}
	return fleet.Text("")
}
