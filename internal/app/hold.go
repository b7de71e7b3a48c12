package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/guard"
	"curfew/internal/store"
	"curfew/notify"
)

// The reasons of holds that are longer than may be at once.
const (
	ReasonHoldAsked   fleet.Code = "app.hold-asked"
	ReasonHoldGranted fleet.Code = "app.hold-granted"
	ReasonHoldFileCut fleet.Code = "app.hold-file-cut"
)

const (
	longestHold = 30 * 24 * time.Hour
	// holdRequestLasts is how long a request to hold for longer waits for a yes.
	holdRequestLasts = 24 * time.Hour
)

// Hold forbids acting on a thing for a time, and calls off what was announced for it,
// in one transaction. What was requested from the platform already cannot be called
// off, and the answer says so. Of a hold that is longer than the limits allow only that
// much holds at once; the rest waits for the yes of somebody else, and people are told.
func (a *App) Hold(ctx context.Context, r ctl.HoldRequest) (ctl.HoldAnswer, error) {
	i, err := a.findThing(r.Name)
	if err != nil {
		return ctl.HoldAnswer{}, err
	}
	var out ctl.HoldAnswer
	err = a.store.Update(ctx, func(tx *store.Tx) (err error) {
		if !r.Until.IsZero() && (!r.Until.After(tx.Now) || r.Until.After(tx.Now.Add(longestHold))) {
			return fmt.Errorf("a hold ends in the future, and within %d days", int(longestHold.Hours()/24))
		}
		out, err = a.holdIn(tx, i.Ref, r)
		return err
	})
	if err != nil {
		return ctl.HoldAnswer{}, err
	}
	said := a.log.Info().Str("instance", i.Ref.String()).Str("by", r.By)
	switch {
	case r.Until.IsZero():
		said.Msg("holds ended")
	case out.Request != nil:
		said.Time("until", out.Hold.Until).Time("asked", r.Until).Int64("request", out.Request.ID).Str("why", r.Why).Msg("hold, the rest waits for a yes")
	default:
		said.Time("until", r.Until).Str("why", r.Why).Msg("hold")
	}
	nudge(a.kick)
	return out, nil
}

// holdIn is a Hold of a thing inside a transaction.
func (a *App) holdIn(tx *store.Tx, ref fleet.Ref, r ctl.HoldRequest) (ctl.HoldAnswer, error) {
	out := ctl.HoldAnswer{Ref: ref}
	if r.Until.IsZero() {
		return out, errors.Join(tx.EndHolds(ref), tx.DropHoldRequests(func(o store.HoldRequest) bool { return o.Ref == ref }))
	}
	i, err := a.findThing(ref.String())
	if err != nil { // it is not seen any more, and held all the same
		i = fleet.Instance{Ref: ref}
	}
	until, why, err := a.mayHold(tx, i, r.Until)
	if err != nil {
		return out, err
	}
	if until.After(tx.Now) {
		if err := a.hold(tx, fleet.Hold{Ref: ref, Until: until, By: r.By, Why: r.Why}, &out); err != nil {
			return out, err
		}
	}
	if why.IsZero() {
		return out, nil
	}
	err = a.askForHold(tx, i, r, why, &out)
	return out, err
}

// hold records a hold and calls off what was announced.
func (a *App) hold(tx *store.Tx, h fleet.Hold, out *ctl.HoldAnswer) error {
	if err := tx.AddHold(&h); err != nil {
		return err
	}
	out.Hold = h
	open, err := tx.OpenIntents()
	if err != nil {
		return err
	}
	intent, ok := find(open, func(o fleet.Intent) bool { return o.Ref == h.Ref && o.Action != fleet.Start })
	switch {
	case !ok:
		return nil
	case intent.State != fleet.IntentPending:
		out.TooLate = &intent
		return nil
	}
	out.Abandoned = &intent
	return a.exec.Abandon(tx, &intent, fleet.Because(guard.ReasonHeld, h.Values()))
}

// heldSince is where the time begins that limits of holds count: with the present run,
// or with the present boot where there is none.
func (a *App) heldSince(i fleet.Instance) time.Time {
	_, runs := a.evidence(i.Ref)
	var since time.Time
	for _, r := range runs {
		if r.Open() && r.Boot.Same(i.Boot) {
			since = earlier(since, r.StartedAt)
		}
	}
	switch {
	case !since.IsZero():
		return since
	case !i.StartedAt.IsZero():
		return i.StartedAt
	}
	return i.CreatedAt
}

// mayHold says until when a thing may be held at once, and why not for as long as
// asked.
func (a *App) mayHold(tx *store.Tx, i fleet.Instance, until time.Time) (time.Time, fleet.Reason, error) {
	since := a.heldSince(i)
	holds, err := tx.HoldsOf(i.Ref, since)
	if err != nil {
		return time.Time{}, fleet.Reason{}, err
	}
	until, why := a.holdLimits().Allowed(tx.Now, until, since, heldBy(holds, a.heldInside(i.Ref)))
	return until, why, nil
}

func (a *App) holdLimits() guard.HoldLimits { return guard.HoldLimits(a.runtime().cfg.Hold) }

// heldBy gives when a thing was held or is, by people and by its hold file.
func heldBy(holds []fleet.Hold, inside store.BoxHold) []guard.Held {
	held := inside.Held()
	for _, h := range holds {
		held = append(held, guard.Held{From: h.CreatedAt, To: h.Until})
	}
	return held
}

// askForHold keeps what is more than may be at once as a request, and tells people.
func (a *App) askForHold(tx *store.Tx, i fleet.Instance, r ctl.HoldRequest, limit fleet.Reason, out *ctl.HoldAnswer) error {
	request := store.HoldRequest{
		Ref: i.Ref, Until: r.Until, By: r.By, Why: r.Why, Expires: earlier(tx.Now.Add(holdRequestLasts), r.Until),
	}
	if err := tx.AskForHold(&request); err != nil {
		return err
	}
	out.Request, out.Limit = &request, limit
	v := fleet.Values{
		"by": fleet.Text(r.By), "limit": fleet.Nested(limit),
		"id": fleet.Text(strconv.FormatInt(request.ID, 10)), "expires": minute(request.Expires),
	}
	if r.Until.Before(fleet.NoEnd()) {
		v["until"] = minute(r.Until)
	}
	if r.Why != "" {
		v["why"] = fleet.Text(r.Why)
	}
	if !out.Hold.Until.IsZero() {
		v["held"] = minute(out.Hold.Until)
	}
	return a.tell(tx, notify.Notice{
		Key: holdThread(request.ID), Thread: holdThread(request.ID), Event: notify.EventFinding,
		Severity: fleet.Warning, Category: fleet.CategoryAct, Subject: i, Expires: request.Expires, Reason: fleet.Because(ReasonHoldAsked, v),
	}, 0)
}

func holdThread(id int64) string { return "hold-asked|" + strconv.FormatInt(id, 10) }

// ApproveHold grants what somebody else asked to hold for longer than may be at once.
func (a *App) ApproveHold(ctx context.Context, id int64, by string) (ctl.HoldAnswer, error) {
	var out ctl.HoldAnswer
	err := a.store.Update(ctx, func(tx *store.Tx) error {
		all, err := tx.HoldRequests()
		if err != nil {
			return err
		}
		r, ok := find(all, func(r store.HoldRequest) bool { return r.ID == id })
		switch {
		case !ok:
			return fmt.Errorf("no hold:%d waits for a yes; it was granted, withdrawn or asked for anew, or its time is over", id)
		case r.By == by:
			return fmt.Errorf("hold:%d was asked for by you, %s; somebody else grants it", id, by)
		}
		i, err := a.findThing(r.Ref.String())
		if err != nil {
			return err
		}
		out = ctl.HoldAnswer{Ref: r.Ref}
		if err := a.hold(tx, fleet.Hold{Ref: r.Ref, Until: r.Until, By: r.By, Why: r.Why, ApprovedBy: by}, &out); err != nil {
			return err
		}
		if err := tx.DropHoldRequests(func(o store.HoldRequest) bool { return o.ID == id }); err != nil {
			return err
		}
		return a.tell(tx, notify.Notice{
			Key: holdThread(id) + "|granted", Thread: holdThread(id), Event: notify.EventResolved, Severity: fleet.Info, Category: fleet.CategoryAct, Subject: i,
			Reason: granted(r, by),
		}, 0)
	})
	if err != nil {
		return ctl.HoldAnswer{}, err
	}
	a.log.Info().Str("instance", out.Ref.String()).Str("by", by).Int64("request", id).Time("until", out.Hold.Until).Msg("hold granted")
	nudge(a.kick)
	return out, nil
}

// granted says whose hold somebody said yes to.
func granted(r store.HoldRequest, by string) fleet.Reason {
	v := fleet.Values{"by": fleet.Text(by), "asked": fleet.Text(r.By)}
	if r.Until.Before(fleet.NoEnd()) {
		v["until"] = minute(r.Until)
	}
	return fleet.Because(ReasonHoldGranted, v)
}

// explainHold says how long a thing may be held, and what waits for a yes.
func (a *App) explainHold(ctx context.Context, i fleet.Instance, out *ctl.Explanation) error {
	all, err := a.store.HoldRequests(ctx, out.Now)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Ref == i.Ref {
			out.HoldRequests = append(out.HoldRequests, r)
		}
	}
	limits := a.holdLimits()
	if limits == (guard.HoldLimits{}) {
		return nil
	}
	since := a.heldSince(i)
	holds, err := a.store.HoldsOf(ctx, i.Ref, since)
	if err != nil {
		return err
	}
	held := guard.Joined(since, heldBy(holds, a.heldInside(i.Ref)))
	out.HoldLimits = &ctl.HoldLimits{Max: limits.Max, Total: limits.Total, Since: since, Held: guard.HeldFor(held)}
	return nil
}

// holdInBox notes what the hold file of an instance says now: the limits are asked
// whenever it says something new, and people are told, once, where they end it earlier
// than it says.
func (a *App) holdInBox(tx *store.Tx, i fleet.Instance, h store.BoxHold) (store.BoxHold, error) {
	limits := a.holdLimits()
	if limits == (guard.HoldLimits{}) {
		return h, tx.SaveBoxHold(h)
	}
	since := a.heldSince(i)
	past := slices.Clone(a.heldInside(i.Ref).Held())
	for n := range past {
		past[n].To = earlier(past[n].To, tx.Now)
	}
	h.Past = guard.Joined(since, past)
	if h.Until.IsZero() {
		return h, tx.SaveBoxHold(h)
	}
	h.Since = tx.Now
	holds, err := tx.HoldsOf(i.Ref, since)
	if err != nil {
		return h, err
	}
	var limit fleet.Reason
	h.Ends, limit = limits.Allowed(tx.Now, h.Until, since, append(heldBy(holds, store.BoxHold{}), h.Past...))
	if err := tx.SaveBoxHold(h); err != nil || limit.IsZero() || !h.Until.After(tx.Now) {
		return h, err
	}
	v := fleet.Values{"until": minute(h.Until), "limit": fleet.Nested(limit), "name": fleet.Text(cmp.Or(i.Name, i.Ref.ID))}
	if h.Ends.After(tx.Now) {
		v["ends"] = minute(h.Ends)
	}
	return h, a.tell(tx, notify.Notice{
		Key:   fmt.Sprintf("hold-file|%s|%s|%s", i.Ref, h.Boot, h.Until.UTC().Truncate(time.Minute).Format(time.RFC3339)),
		Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryAct, Subject: i, Reason: fleet.Because(ReasonHoldFileCut, v),
	}, 0)
}
