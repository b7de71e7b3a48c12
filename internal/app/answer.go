package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/store"
	"curfew/notify"
)

// Answer notes that somebody knows of what was told of a thing: until it is over nobody
// is reminded of it, and no more people are told.
func (a *App) Answer(ctx context.Context, r ctl.AnswerRequest) (ctl.Answered, error) {
	now := a.clock.Now()
	all, err := a.store.Notices(ctx, time.Time{}, now, standingPrefix)
	if err != nil {
		return ctl.Answered{}, err
	}
	rt := a.runtime()
	out := ctl.Answered{Now: now}
	var others []string
	for _, n := range all {
		if name := rt.calledInNotice(n); !rt.means(r.Name, n) {
			others = append(others, name)
		} else {
			out.Known = append(out.Known, ctl.Lasting{Ref: n.Subject.Ref, Name: name, Severity: n.Severity, Reason: n.Reason, Since: n.At})
		}
	}
	if len(out.Known) == 0 {
		slices.Sort(others)
		what := "nothing at all does"
		if others = slices.Compact(others); len(others) > 0 {
			what = "what was told and lasts is about " + strings.Join(others, ", ")
		}
		return ctl.Answered{}, fmt.Errorf("nothing that was told of %q lasts; %s", r.Name, what)
	}
	err = a.store.Update(ctx, func(tx *store.Tx) error {
		for _, k := range out.Known {
			if err := tx.Answer(k.Ref, r.By); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return ctl.Answered{}, err
	}
	for _, k := range out.Known {
		a.log.Info().Str("about", k.Ref.String()).Str("by", r.By).Str("reason", string(k.Reason.Code)).Msg("accepted")
	}
	return out, nil
}

// means reports whether somebody may mean what a notice is about by a name.
func (rt *runtime) means(name string, n notify.Notice) bool {
	ref := n.Subject.Ref
	return called(name, ref, n.Subject.AccountName, n.Subject.Name) || rt.calledInNotice(n) == name || ref.Kind == fleet.KindAccount && ref.Account == name
}

// calledInNotice is what people call the thing that a notice is about.
func (rt *runtime) calledInNotice(n notify.Notice) string {
	if ref := n.Subject.Ref; ref.Kind == fleet.KindAccount {
		if name, ok := rt.accountName(ref.Account); ok {
			return name
		}
		return ref.Account
	}
	return n.Subject.DisplayName()
}

// Sends tells what was counted against a channel's quota, and counts a message that
// somebody else sent over it.
func (a *App) Sends(ctx context.Context, r ctl.SendsRequest) (ctl.SendsAnswer, error) {
	now := a.clock.Now()
	if r.Sent {
		if err := a.store.RecordDeliveries(ctx, r.Channel, nil, true, now); err != nil {
			return ctl.SendsAnswer{}, err
		}
		a.runtime().sender.Spent(r.Channel, now)
	}
	sent, err := a.store.Sends(ctx, r.Channel, r.Since)
	return ctl.SendsAnswer{Now: now, Sent: sent}, err
}
