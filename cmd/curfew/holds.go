package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/store"
)

// The words of holds and of what is asked for beyond them.
const (
	wordHoldCut     fleet.Code = "cli.hold-cut"
	wordHoldWaits   fleet.Code = "cli.hold-waits"
	wordHoldLimits  fleet.Code = "cli.hold-limits"
	wordHoldGranted fleet.Code = "cli.hold-granted"
)

// holdID reads the number of a hold that waits for a yes, written hold:3.
func holdID(s string) (id int64, ok bool, err error) {
	digits, ok := strings.CutPrefix(s, "hold:")
	if !ok {
		return 0, false, nil
	}
	id, err = intentID(digits)
	return id, true, err
}

// approveHold says yes to a hold that somebody else asked for.
func (p *program) approveHold(ctx context.Context, id int64) error {
	var a ctl.HoldAnswer
	if err := p.order(ctx, func(api ctl.API) (err error) {
		a, err = api.ApproveHold(ctx, id, p.user())
		return err
	}); err != nil {
		return err
	}
	return p.showHold(a, p.now(), func(g *page) {
		v := a.Hold.Values()
		v["name"] = fleet.Text(a.Ref.ID)
		g.line(wordHoldGranted, v)
	})
}

// showHold shows what a hold did. It did less than was asked where an act was requested
// already, or where a part waits for a yes.
func (p *program) showHold(a ctl.HoldAnswer, now time.Time, first func(*page)) error {
	if p.asJSON {
		if err := p.writeJSON(a); err != nil {
			return err
		}
	} else {
		g := p.page(now)
		first(g)
		if i := a.Abandoned; i != nil {
			g.line(wordCalledOff, fleet.Values{"id": fleet.Text(number(i.ID)), "action": action(i.Action)})
		}
		if i := a.TooLate; i != nil {
			g.line(wordTooLate, fleet.Values{"id": fleet.Text(number(i.ID)), "action": action(i.Action), "at": moment(i.StartedAt)})
		}
		if r := a.Request; r != nil {
			g.line(wordHoldCut, fleet.Values{"limit": fleet.Nested(a.Limit)})
			g.line(wordHoldWaits, waiting(*r))
		}
	}
	if a.TooLate != nil || a.Request != nil {
		return &exitError{code: exitPartly}
	}
	return nil
}

// waiting says what a hold that waits for a yes is for.
func waiting(r store.HoldRequest) fleet.Values {
	v := fleet.Values{"id": fleet.Text(strconv.FormatInt(r.ID, 10)), "expires": moment(r.Expires)}
	if r.Until.Before(fleet.NoEnd()) {
		v["until"] = moment(r.Until)
	}
	return v
}

// holds gives what holds an instance, what would if somebody said yes, and how much
// more may.
func (g *page) holds(e ctl.Explanation) [][]string {
	var rows [][]string
	for _, h := range e.Holds {
		v := h.Values()
		if h.ApprovedBy != "" {
			v["granted"] = fleet.Text(h.ApprovedBy)
		}
		rows = append(rows, []string{g.say(wordHeldBy, v)})
	}
	for _, r := range e.HoldRequests {
		v := waiting(r)
		v["by"], v["why"] = fleet.Text(r.By), fleet.Text(r.Why)
		rows = append(rows, []string{g.say(wordHoldWaits, v)})
	}
	if l := e.HoldLimits; l != nil {
		v := fleet.Values{"held": fleet.Span(l.Held.Truncate(time.Minute))}
		if l.Max > 0 {
			v["max"] = fleet.Span(l.Max)
		}
		if l.Total > 0 {
			v["total"] = fleet.Span(l.Total)
		}
		if !l.Since.IsZero() {
			v["since"] = moment(l.Since)
		}
		rows = append(rows, []string{g.say(wordHoldLimits, v)})
	}
	return rows
}
