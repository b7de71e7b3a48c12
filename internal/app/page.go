package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/press"
	"curfew/internal/store"
	"curfew/internal/text"
	"curfew/internal/web"
	"curfew/notify"
)

// webLink is the path of a value's page.
func webLink(value string) string { return web.LinkPath + value }

// pageHandler serves the page of whatever configuration is in force when it is asked.
func (a *App) pageHandler(ctx context.Context) (http.Handler, error) {
	key, err := a.pressKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("page: read the key of its forms: %w", err)
	}
	return web.NewHandler(web.Options{
		Show: a.showLink, Act: a.followLink, Key: key, Now: a.clock.Now,
		Say:      func(lang text.Language, r fleet.Reason) string { return a.runtime().in(lang).Reason(r, a.clock.Now()) },
		Language: func() text.Language { return a.runtime().render.Language() },
		Address:  func() string { return a.runtime().cfg.Address() },
		Token:    func() string { return a.runtime().token },
	})
}

// readLink reads the value of a link in whichever channel it was sent; the place is
// empty where it is of none.
func (a *App) readLink(ctx context.Context, rt *runtime, value string) (p press.Press, channel string, err error) {
	key, err := a.pressKey(ctx)
	if err != nil {
		return p, "", err
	}
	for _, name := range rt.order {
		if p, err := press.Read(key, linkPlace(name), value, a.clock.Now()); !errors.Is(err, press.ErrWrong) {
			return p, name, nil // also where its time is over, which press finds, too
		}
	}
	return p, "", nil
}

// linked is who follows a link of a channel: nobody asks for a name.
func linked(render *text.Renderer, channel string) who {
	return who{by: render.Reason(fleet.Because(ReasonPressLink, fleet.Values{"channel": fleet.Text(channel)}), time.Time{}), channel: channel}
}

// showLink shows what a link would do.
func (a *App) showLink(r *http.Request, value string, lang text.Language) (web.Page, error) {
	ctx, rt := r.Context(), a.runtime()
	render, now := rt.in(lang), a.clock.Now()
	p, channel, err := a.readLink(ctx, rt, value)
	if err != nil || channel == "" {
		return a.wrongLink(render), err
	}
	row, err := a.store.Intent(ctx, p.Intent)
	if errors.Is(err, store.ErrNoIntent) {
		return a.sentence(render, http.StatusGone, fleet.Because(ReasonPressUnknown, nil)), nil
	} else if err != nil {
		return web.Page{}, err
	}
	before, err := a.store.Presses(ctx, p.Intent, p.Turn)
	if err != nil {
		return web.Page{}, err
	}
	page := a.describe(render, row)
	if why := a.refusal(p, row, before, who{}, now); !why.IsZero() {
		page.Status, page.Said = http.StatusGone, render.Reason(why, now)
		return page, nil
	}
	page.Label, page.Risky = render.Reason(label(p.What), now), p.What.Risky()
	return page, nil
}

// followLink does what a link stands for.
func (a *App) followLink(r *http.Request, value string, lang text.Language) (web.Page, error) {
	ctx, rt := r.Context(), a.runtime()
	render := rt.in(lang)
	p, channel, err := a.readLink(ctx, rt, value)
	if err != nil || channel == "" {
		return a.wrongLink(render), err
	}
	came, done, err := a.press(ctx, p, linked(rt.render, channel))
	if err != nil {
		a.databaseIs(err)
		a.log.Error().Err(err).Str("channel", channel).Int64("intent", p.Intent).Msg("what a link stands for could not be done")
		return web.Page{}, err
	}
	page := a.sentence(render, http.StatusConflict, came)
	if row, err := a.store.Intent(ctx, p.Intent); err == nil {
		page.Title = a.describe(render, row).Title
	}
	if done {
		page.Status = http.StatusOK
	}
	return page, nil
}

func (a *App) wrongLink(render *text.Renderer) web.Page {
	return a.sentence(render, http.StatusNotFound, fleet.Because(ReasonPressWrong, nil))
}

func (a *App) sentence(render *text.Renderer, status int, r fleet.Reason) web.Page {
	return web.Page{Status: status, Title: "curfew", Said: render.Reason(r, a.clock.Now())}
}

// describe tells of an act as its announcement does: which thing, what it costs, why,
// when, and what is left afterwards.
func (a *App) describe(render *text.Renderer, row fleet.Intent) web.Page {
	n := notify.Notice{Event: notify.EventPending, Severity: fleet.Warning, Category: fleet.CategoryAct, Subject: row.Subject, Intent: &row}
	if t, ok := a.inv.Get(row.Ref); ok {
		n.Subject = t.Instance
	}
	if len(row.Verdicts) > 0 {
		n.Reason = row.Verdicts[0].Reason
	}
	if !row.Open() {
		n.Event = notify.EventAbandoned
		if row.Outcome == fleet.OutcomeDone {
			n.Event = notify.EventDone
		}
	}
	m := notify.Render(n, render, a.clock.Now())
	return web.Page{Status: http.StatusOK, Title: m.Title, Lines: strings.Split(m.Plain, "\n")}
}
