package app

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/internal/press"
	"curfew/internal/store"
	"curfew/notify"
)

// The reasons that answer somebody who pressed a button or a link.
const (
	ReasonPressHeld     fleet.Code = "press.held"
	ReasonPressLate     fleet.Code = "press.late"
	ReasonPressAsked    fleet.Code = "press.asked"
	ReasonPressHurried  fleet.Code = "press.hurried"
	ReasonPressApproved fleet.Code = "press.approved"
	ReasonPressAgain    fleet.Code = "press.again"
	ReasonPressOver     fleet.Code = "press.over"
	ReasonPressStarted  fleet.Code = "press.started"
	ReasonPressNoWait   fleet.Code = "press.no-wait"
	ReasonPressOther    fleet.Code = "press.other"
	ReasonPressUnknown  fleet.Code = "press.unknown"
	ReasonPressExpired  fleet.Code = "press.expired"
	ReasonPressWrong    fleet.Code = "press.wrong"
	ReasonPressMayNot   fleet.Code = "press.may-not"
	ReasonPressLink     fleet.Code = "press.link"
)

// The words for how an act ended.
const (
	outcomeDone       fleet.Code = "press.outcome.done"
	outcomeBilling    fleet.Code = "press.outcome.billing"
	outcomeFailed     fleet.Code = "press.outcome.failed"
	outcomeUnverified fleet.Code = "press.outcome.unverified"
	outcomeVanished   fleet.Code = "press.outcome.vanished"
	outcomeAbandoned  fleet.Code = "press.outcome.abandoned"
)

// pressKeyName is where the key is kept of which the values of buttons and links are
// made.
const pressKeyName = "press-key"

// morning is when a hold till morning ends where there are no quiet hours.
const morning = 8 * time.Hour

// leastMorning is how long a hold till morning is at least: right before the end of
// the night it would be none.
const leastMorning = time.Hour

// pressed is what is remembered of presses.
type pressed struct {
	mu      sync.Mutex
	key     string
	refused map[string]bool // who was told that they may not
}

// refusedKept is how many of those are remembered.
const refusedKept = 1000

// pressKey gives the key of values, drawn once and kept with the state.
func (a *App) pressKey(ctx context.Context) (string, error) {
	a.pressed.mu.Lock()
	defer a.pressed.mu.Unlock()
	if a.pressed.key != "" {
		return a.pressed.key, nil
	}
	key, err := a.store.Meta(ctx, pressKeyName)
	if err == nil && key == "" {
		err = a.store.Update(ctx, func(tx *store.Tx) error {
			if key, err = tx.Meta(pressKeyName); err != nil || key != "" {
				return err
			}
			key = rand.Text()
			return tx.SetMeta(pressKeyName, key)
		})
	}
	if err == nil {
		a.pressed.key = key
	}
	return key, err
}

// buttonPlace and linkPlace are where the values in the messages of a channel are good:
// what somebody reads off a button is no link, and a channel that is taken out of the
// configuration takes its links with it.
func buttonPlace(channel string) string { return "button|" + channel }
func linkPlace(channel string) string   { return "link|" + channel }

// who presses, and where.
type who struct {
	by      string // what the channel calls the person
	channel string
}

// personName is a name as it may stand in journal and messages: short, on one line and
// without anything that is not seen; the id where nothing is left.
func personName(name, id string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, name)
	const most = 40
	if seen = strings.Join(strings.Fields(seen), " "); seen == "" {
		return id
	}
	return notify.CutRunes(seen, most)
}

// press does what somebody wants of an announced act, in one transaction with the note
// that it was done: a second press tells of the first.
func (a *App) press(ctx context.Context, p press.Press, w who) (came fleet.Reason, done bool, err error) {
	err = a.store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Intent(p.Intent)
		if errors.Is(err, store.ErrNoIntent) {
			came = fleet.Because(ReasonPressUnknown, nil)
			return nil
		} else if err != nil {
			return err
		}
		before, err := tx.Presses(p.Intent, p.Turn)
		if err != nil {
			return err
		}
		if came = a.refusal(p, row, before, w, tx.Now); !came.IsZero() {
			return nil
		}
		if came, err = a.carryOutPress(tx, p, row, w); err != nil {
			return err
		}
		done = true
		return tx.SavePress(store.Press{Intent: p.Intent, Turn: p.Turn, What: string(p.What), By: w.by, Channel: w.channel, Came: came})
	})
	if err != nil {
		return fleet.Reason{}, false, err
	}
	if done {
		a.log.Info().Int64("intent", p.Intent).Str("wants", string(p.What)).Str("by", w.by).Str("channel", w.channel).Msg("somebody answered an announcement")
		nudge(a.kick)
	}
	return came, done, nil
}

// refusal says why a press does nothing, or nothing.
func (a *App) refusal(p press.Press, row fleet.Intent, before []store.Press, w who, now time.Time) fleet.Reason {
	name := fleet.Text(row.Subject.DisplayName())
	if b, ok := find(before, func(b store.Press) bool { return b.What == string(p.What) }); ok {
		if b.By == w.by && b.Channel == w.channel {
			return b.Came // the same press, that came once more
		}
		return fleet.Because(ReasonPressAgain, fleet.Values{
			"by": fleet.Text(b.By), "at": fleet.Moment(b.At.Truncate(time.Second)), "channel": fleet.Text(b.Channel), "came": fleet.Nested(b.Came),
		})
	}
	requested := fleet.Because(ReasonPressStarted, fleet.Values{
		"action": fleet.Nested(guard.ActionReason(row.Action)), "name": name, "at": fleet.Moment(row.StartedAt.Truncate(time.Second)),
	})
	waits := p.What == press.Now || p.What == press.Approve
	switch {
	case !row.Open():
		return fleet.Because(ReasonPressOver, fleet.Values{
			"action": fleet.Nested(guard.ActionReason(row.Action)), "name": name, "at": fleet.Moment(row.ClosedAt.Truncate(time.Second)),
			"outcome": fleet.Nested(fleet.Because(outcomeWord(row.Outcome), nil)), "why": fleet.Nested(row.Why),
		})
	case a.startedAgain(row):
		return fleet.Because(ReasonPressOther, fleet.Values{"name": name})
	case waits && row.State != fleet.IntentPending:
		return requested
	case p.What == press.Now && !mayHurry(row):
		return fleet.Because(ReasonPressNoWait, fleet.Values{"by": fleet.Text(row.Hurried)})
	case !now.Before(p.Expires):
		return fleet.Because(ReasonPressExpired, fleet.Values{"name": name})
	}
	return fleet.Reason{}
}

// startedAgain reports whether the thing is up in another power cycle than the act is
// about.
func (a *App) startedAgain(row fleet.Intent) bool {
	t, ok := a.inv.Get(row.Ref)
	return ok && t.Instance.Boot != "" && t.Instance.Boot != row.Boot && t.Instance.State.Up()
}

// carryOutPress does what is wanted, as the commands do.
func (a *App) carryOutPress(tx *store.Tx, p press.Press, row fleet.Intent, w who) (fleet.Reason, error) {
	name, by := fleet.Text(row.Subject.DisplayName()), fleet.Text(w.by)
	switch p.What {
	case press.Now:
		return fleet.Because(ReasonPressHurried, fleet.Values{"by": by, "action": fleet.Nested(guard.ActionReason(row.Action)), "name": name}), a.hurryIn(tx, row, w.by)
	case press.Approve:
		_, err := approveIn(tx, row.ID, w.by)
		return fleet.Because(ReasonPressApproved, fleet.Values{"by": by, "action": fleet.Nested(guard.ActionReason(row.Action)), "name": name}), err
	}
	out, err := a.holdIn(tx, row.Ref, ctl.HoldRequest{Name: row.Ref.String(), Until: a.until(p.What, tx.Now), By: w.by})
	if err != nil {
		return fleet.Reason{}, err
	}
	v := fleet.Values{"by": by, "name": name}
	if asked := out.Request; asked != nil {
		v["limit"], v["id"] = fleet.Nested(out.Limit), fleet.Text(strconv.FormatInt(asked.ID, 10))
	}
	if out.Hold.ID == 0 {
		return fleet.Because(ReasonPressAsked, v), nil
	}
	maps.Copy(v, out.Hold.Values())
	held := fleet.Because(ReasonPressHeld, v)
	if late := out.TooLate; late != nil {
		return fleet.Because(ReasonPressLate, fleet.Values{
			"held": fleet.Nested(held), "action": fleet.Nested(guard.ActionReason(late.Action)), "at": fleet.Moment(late.StartedAt.Truncate(time.Second)),
		}), nil
	}
	return held, nil
}

// until is when a hold ends that begins now.
func (a *App) until(what press.What, now time.Time) time.Time {
	switch what {
	case press.HoldMorning:
		return tillMorning(a.runtime().cfg, now)
	case press.Never:
		return fleet.NoEnd()
	}
	return now.Add(time.Hour).Truncate(time.Second)
}

// tillMorning is the next end of the quiet hours, or eight o'clock where there are
// none, and in an hour at the soonest.
func tillMorning(cfg *config.Config, now time.Time) time.Time {
	at := morning
	if q := cfg.Notify.Quiet; q.Zone != nil && q.From != q.To {
		at = q.To
	}
	year, month, day := now.In(cfg.Timezone).Date()
	for n := 0; ; n++ {
		// By the clock on the wall, also on the days on which that is put.
		end := time.Date(year, month, day+n, 0, int(at/time.Minute), 0, 0, cfg.Timezone)
		if end.After(now) {
			return later(end, now.Add(leastMorning).Truncate(time.Second))
		}
	}
}

func outcomeWord(o fleet.Outcome) fleet.Code {
	switch o {
	case fleet.OutcomeDone:
		return outcomeDone
	case fleet.OutcomeDoneStillBilling:
		return outcomeBilling
	case fleet.OutcomeFailedWrite:
		return outcomeFailed
	case fleet.OutcomeUnverified:
		return outcomeUnverified
	case fleet.OutcomeVanished:
		return outcomeVanished
	}
	return outcomeAbandoned
}

// answerable reports whether people can say something to a notice: it announces or
// reminds of one act that policies want and that still waits.
func answerable(n notify.Notice) bool {
	i := n.Intent
	return (n.Event == notify.EventPending || n.Event == notify.EventPutOff) && len(n.With) == 0 && i != nil && i.ID != 0 &&
		(i.State == "" || i.State == fleet.IntentPending) && i.By == execute.ByPolicy && i.Hurried == "" && i.Action != fleet.Start
}

// wishes are what can be said to a notice, the most harmless first.
func wishes(n notify.Notice) []press.What {
	all := []press.What{press.HoldHour, press.HoldMorning, press.Never, press.Now}
	if _, ok := find(n.Intent.Verdicts, func(v fleet.Verdict) bool { return v.Terms.Approval }); ok {
		all[3] = press.Approve
	}
	return all
}
