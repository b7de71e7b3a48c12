package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/signals"
)

func (p *program) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain REF", Short: "Tell all that is known of one instance, and what would happen to it",
		Long: `explain tells what every source saw of an instance and how old that is, what
every policy says, what the guard answers, what comes next and when, and where
each setting came from. REF is a name, an id or a whole reference.`,
		Example: "  curfew explain exp-llama\n  curfew explain autodl:4f2k/instance/pro-0a1b",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var e ctl.Explanation
			ctx := c.Context()
			return p.ask(ctx, true, func(api ctl.API) (err error) {
				e, err = api.Explain(ctx, args[0])
				return err
			}, func() error {
				if p.asJSON {
					return p.writeJSON(e)
				}
				p.page(e.Now).explain(e)
				return nil
			})
		},
	}
}

func (g *page) explain(e ctl.Explanation) {
	g.print(g.bold(e.Instance.DisplayName()) + "  " + g.which(e.Planned))
	g.print("  " + e.Instance.Ref.String())
	g.print("  " + g.standing(e))
	if !e.Instance.Unclear.IsZero() {
		g.print("  " + g.reason(e.Instance.Unclear))
	}
	g.print("  " + g.next(e.Planned))
	g.part(partSeen, g.evidence(e))
	var rows [][]string
	for _, v := range e.Verdicts {
		wish := g.say(wordKeeps, nil)
		if v.Goal != fleet.Keep {
			wish = g.say(wordWishes, fleet.Values{"goal": action(v.Goal)})
		}
		rows = append(rows, []string{v.Policy, g.mode(v.Terms.Mode), wish, g.reason(v.Reason)})
	}
	g.part(partPolicies, rows)
	g.part(partGuard, g.rulings(e.Rulings))
	g.part(partRuns, g.runs(e.Runs))
	g.part(partHolds, g.holds(e))
	g.part(partSecured, g.secured(e.Secured))
	g.part(partEstimates, g.estimates(e.Estimates))
	g.part(partAccepted, g.acceptances(e.Accepted))
	rows = nil
	for _, s := range e.Sources {
		rows = append(rows, []string{s.Policy, s.Key, s.Value, g.from(s.From)})
	}
	g.part(partSettings, rows)
	rows = nil
	for _, s := range e.History {
		what, value := g.stretch(s)
		rows = append(rows, []string{g.moment(s.From), what, value})
	}
	g.part(partHistory, rows)
	if !e.Scope.Failing.IsZero() {
		g.print(g.say(wordScopeFailing, fleet.Values{
			"scope": fleet.Text(e.Instance.AccountName), "why": fleet.Nested(e.Scope.Failing), "since": moment(e.Scope.Since),
		}))
	}
}

// part writes a headed table; one without rows is left out.
func (g *page) part(head fleet.Code, rows [][]string) {
	if len(rows) > 0 {
		g.print(g.bold(g.say(head, nil)))
		g.table(2, rows)
	}
}

// standing says since when an instance is as it is, what it costs, and how old
// that knowledge is.
func (g *page) standing(e ctl.Explanation) string {
	i := e.Instance
	since := map[fleet.State]time.Time{fleet.StateRunning: i.StartedAt, fleet.StateStopped: i.StoppedAt}[i.State]
	parts := []string{g.state(i.State)}
	if !since.IsZero() {
		parts[0] = g.say(wordStateSince, fleet.Values{"state": fleet.Text(parts[0]), "since": moment(since), "for": fleet.Span(g.now.Sub(since))})
	}
	parts = append(parts, g.say(wordRate, fleet.Values{"price": fleet.Text(price(i.CostNow()))}))
	if !e.CostSoFar.IsZero() {
		parts = append(parts, g.say(wordSoFar, fleet.Values{"sum": fleet.Amount(e.CostSoFar)}))
	}
	if !e.SeenAt.IsZero() {
		parts = append(parts, g.say(wordLastRead, fleet.Values{"at": moment(e.SeenAt), "age": fleet.Span(g.now.Sub(e.SeenAt))}))
	}
	return strings.Join(parts, " · ")
}

// evidence gives the judgement, and below it what each source saw and when.
func (g *page) evidence(e ctl.Explanation) [][]string {
	var rows [][]string
	if e.Instance.State == fleet.StateRunning && !e.Unguarded {
		rows = append(rows, []string{"=", g.activity(e.Activity.Activity), "", g.reason(e.Activity.Reason)})
	}
	for _, s := range e.Evidence {
		age := g.say(wordAgo, fleet.Values{"at": moment(s.SeenAt), "age": fleet.Span(g.now.Sub(s.SeenAt))})
		if !s.Fresh(e.Now) {
			age += " " + g.say(wordStale, nil)
		}
		rows = append(rows, []string{s.Source, g.activity(s.Activity), age, g.reason(s.Reason)})
		for _, what := range slices.Sorted(maps.Keys(s.Facts.Unreadable)) {
			why := g.say(wordUnreadable, fleet.Values{"what": signals.Reading(what), "why": fleet.Text(s.Facts.Unreadable[what])})
			rows = append(rows, []string{"", "", "", why})
		}
	}
	return rows
}

func (g *page) runs(rs []fleet.Run) [][]string {
	var rows [][]string
	for _, r := range rs {
		end := g.say(wordRunOpen, fleet.Values{"seen": moment(r.Seen)})
		if !r.Open() {
			v := fleet.Values{"end": fleet.Nested(fleet.Because(runEnd(r.End), nil)), "at": moment(r.EndedAt)}
			if r.ExitCode != nil {
				v["exit"] = fleet.Nested(fleet.Because(wordRunExit, fleet.Values{"code": fleet.Text(strconv.Itoa(*r.ExitCode))}))
			}
			end = g.say(wordRunOver, v)
		}
		rows = append(rows, []string{r.ID, "(" + g.reason(fleet.Because(runSource(r.Source), nil)) + ")", g.moment(r.StartedAt), end})
	}
	return rows
}

// moment is a time without parts of a second.
func moment(t time.Time) fleet.Value { return fleet.Moment(t.Truncate(time.Second)) }

// runEnd names the way a run ended.
func runEnd(e fleet.RunEnd) fleet.Code {
	switch e {
	case fleet.RunInterrupted:
		return wordRunInterrupted
	case fleet.RunLost:
		return wordRunLost
	}
	return wordRunEnded
}

// runSource names where a run is known from.
func runSource(s string) fleet.Code {
	switch s {
	case signals.RunByFile:
		return wordRunByFile
	case signals.RunByPing:
		return wordRunByPing
	}
	return wordRunByProcess
}
