package main

import "curfew/fleet"

// What became of securing an instance's data.
const (
	partSecured     fleet.Code = "cli.part.secured"
	securedDone     fleet.Code = "cli.secured.done"
	securedVoid     fleet.Code = "cli.secured.void"
	securedFailed   fleet.Code = "cli.secured.failed"
	securedAgain    fleet.Code = "cli.secured.again"
	securedUnending fleet.Code = "cli.secured.unending"
	securedWaits    fleet.Code = "cli.secured.waits"
	byExport        fleet.Code = "cli.secured.by-export"
	byImage         fleet.Code = "cli.secured.by-image"
)

// secured gives what became of securing an instance's data in its present Boot.
func (g *page) secured(all []fleet.Secured) [][]string {
	var rows [][]string
	for _, s := range all {
		by := byExport
		if s.By == fleet.SecuredByImage {
			by = byImage
		}
		values := fleet.Values{"began": moment(s.StartedAt), "why": fleet.Nested(s.Why)}
		if !s.EndedAt.IsZero() {
			values["at"], values["took"] = moment(s.EndedAt), fleet.Span(s.EndedAt.Sub(s.StartedAt))
		}
		said := g.say(securedUnending, values)
		switch {
		case !s.VoidAt.IsZero():
			values["void"] = moment(s.VoidAt)
			said = g.say(securedVoid, values)
		case s.OK:
			said = g.say(securedDone, values)
		case !s.Again().IsZero():
			values["again"] = moment(s.Again())
			said = g.say(securedAgain, values)
		case s.Failed():
			said = g.say(securedFailed, values)
		case !s.Why.IsZero():
			said = g.say(securedWaits, values)
		}
		rows = append(rows, []string{s.Policy, g.say(by, nil), said})
	}
	return rows
}
