package main

import (
	"context"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
)

// resourceLists are the words by which people ask for what is billed beside
// instances.
func resourceLists() map[string]fleet.ThingKind {
	return map[string]fleet.ThingKind{
		"disks": fleet.KindDisk, "snapshots": fleet.KindSnapshot, "images": fleet.KindImage, "ips": fleet.KindPublicIP,
	}
}

func (p *program) listResources(ctx context.Context, kind fleet.ThingKind) error {
	var l ctl.Resources
	return p.ask(ctx, true, func(api ctl.API) (err error) {
		l, err = api.Resources(ctx, kind)
		return err
	}, func() error {
		if p.asJSON {
			return p.writeJSON(l)
		}
		p.page(l.Now).resources(l)
		return nil
	})
}

// resources writes a line for each thing: whose it is, what it costs a day, how old
// it is, what uses it, and what comes next.
func (g *page) resources(l ctl.Resources) {
	if len(l.Items) == 0 {
		g.line(wordNone, fleet.Values{"kind": fleet.Nested(l.Kind.Reason())})
	} else {
		rows := [][]string{g.heads(columnName, columnAccount, columnSize, columnDay, columnAge, columnUse, columnNext)}
		for _, i := range l.Items {
			r := i.Resource
			rows = append(rows, []string{
				r.DisplayName(), r.AccountName, size(r.SizeGB), perDay(r.Price), g.age(r.CreatedAt), g.use(r), g.next(i.Planned),
			})
		}
		g.table(0, rows)
	}
	for _, list := range l.Lists {
		if !list.Failing.IsZero() {
			g.line(wordScopeFailing, fleet.Values{
				"scope": fleet.Text(list.Scope.String()), "why": fleet.Nested(list.Failing), "since": moment(list.Since),
			})
		}
	}
}

// use says what uses a resource, or since when nothing does.
func (g *page) use(r fleet.Resource) string {
	switch {
	case !r.AttachedTo.IsZero():
		return r.AttachedTo.ID
	case len(r.UsedBy) == 1:
		return r.UsedBy[0].ID
	case len(r.UsedBy) > 1:
		return g.say(wordUsedBy, fleet.Values{"first": fleet.Text(r.UsedBy[0].ID), "more": fleet.Number(float64(len(r.UsedBy) - 1))})
	case r.Ref.Kind == fleet.KindSnapshot:
		return "-" // what it was taken of does not need it
	case r.UnusedSince.IsZero():
		return "?"
	}
	return g.say(wordUnused, fleet.Values{"for": fleet.Span(g.now.Sub(r.UnusedSince))})
}

func (g *page) age(since time.Time) string {
	if since.IsZero() {
		return "?"
	}
	return g.say(wordSpan, fleet.Values{"for": fleet.Span(g.now.Sub(since))})
}

func size(gb int) string {
	if gb == 0 {
		return "-"
	}
	return strconv.Itoa(gb) + " GB"
}

// perDay is a price for a day: of things beside instances an hour's is too small to
// read.
func perDay(p fleet.Price) string {
	day, ok := fleet.Price{PerHour: p.PerHour, Source: p.Source}.For(24 * time.Hour)
	if !ok {
		return "?"
	}
	return day.Round().String()
}
