package app

import (
	"slices"
	"strconv"
	"time"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/store"
	"curfew/notify"
)

// tell queues a notice for the channels its route names, unless one with its key
// was queued within repeat (ever, if that is zero). Each channel gets it as soon as its
// group, the quiet hours and the notice itself allow.
func (a *App) tell(tx *store.Tx, n notify.Notice, repeat time.Duration) error {
	rt := a.runtime()
	n.At = tx.Now
	if n.Expires.IsZero() {
		n.Expires = tx.Now.Add(expiry(n))
	}
	if n.Thread == "" && n.Intent != nil && n.Intent.ID != 0 {
		n.Thread = "intent|" + strconv.FormatInt(n.Intent.ID, 10)
	}
	if n.Group == "" && len(n.With) == 0 {
		n.Group = group(n)
	}
	to := rt.addresses(n)
	if n.Event == notify.EventResolved && n.Thread != "" {
		reached, err := tx.Reached(n.Thread)
		if err != nil {
			return err
		}
		to = rt.configured(reached)
	}
	if !rt.hold(&n, to, tx.Now) {
		if err := rt.pace(tx, n, to); err != nil {
			return err
		}
	}
	var since time.Time
	if repeat > 0 {
		since = tx.Now.Add(-repeat)
	}
	queued, err := tx.Enqueue(n, to, since)
	if err == nil && queued {
		tx.After(func() { nudge(a.mail) })
	}
	return err
}

// hold puts a notice off until the end of the quiet hours; false where it is not held
// back.
func (rt *runtime) hold(n *notify.Notice, to []store.Address, now time.Time) bool {
	until, quiet := rt.cfg.Notify.Quiet.Until(now)
	if !quiet {
		return false
	}
	if !notify.Holds(*n) {
		for k := range to {
			to[k].Silent = n.Severity != fleet.Critical
		}
		return false
	}
	n.Group = "quiet|" + until.UTC().Format(time.RFC3339) // all of the night is told together
	for k := range to {
		to[k].At = until
	}
	return true
}

// pace puts a notice off until others of its group are told.
func (rt *runtime) pace(tx *store.Tx, n notify.Notice, to []store.Address) error {
	pace := rt.cfg.Notify.Pace.Of(n)
	if pace == (notify.Pace{}) {
		return nil
	}
	for k := range to {
		waiting, last, err := tx.GroupTimes(to[k].Channel, n.Group)
		if err != nil {
			return err
		}
		to[k].At = pace.Due(tx.Now, waiting, last)
	}
	return nil
}

// group is the same for notices that may be told in one message: of one account, and
// of one policy or one step of acts.
func group(n notify.Notice) string {
	of := n.Subject
	if of.Ref.IsZero() && n.Intent != nil {
		of = n.Intent.Subject
	}
	switch n.Event {
	case notify.EventFinding, notify.EventResolved, notify.EventReminder, notify.EventWould:
		return "told|" + string(n.Category) + "|" + of.Ref.Account
	case notify.EventPending, notify.EventDone, notify.EventAlarm, notify.EventAbandoned, notify.EventPutOff:
		return string(n.Event) + "|" + of.Ref.Account
	}
	return ""
}

// expiry is how long a notice is worth telling.
func expiry(n notify.Notice) time.Duration {
	switch {
	case n.Event == notify.EventPending || n.Severity == fleet.Critical:
		return 72 * time.Hour
	case n.Category == fleet.CategoryAct:
		return 24 * time.Hour
	}
	return 6 * time.Hour
}

// addresses says which channels a notice goes to.
func (rt *runtime) addresses(n notify.Notice) []store.Address {
	return rt.addressed(n, notify.Pick(rt.cfg.Notify.Routes, n, rt.order))
}

// configured are those of the channels named that there are. What is told to them
// because they were told before is not asked for its severity.
func (rt *runtime) configured(channels []string) []store.Address {
	var to []store.Address
	for _, name := range channels {
		if slices.Contains(rt.order, name) {
			to = append(to, store.Address{Channel: name})
		}
	}
	return to
}

// addressed are those of the channels named that take such a notice.
func (rt *runtime) addressed(n notify.Notice, channels []string) []store.Address {
	var kinds []string
	for _, name := range rt.order {
		kinds = append(kinds, rt.channels[name].Kind.Name)
	}
	var to []store.Address
	for _, name := range channels {
		entry, ok := find(rt.cfg.Notify.Channels, func(c config.Channel) bool { return c.Name == name })
		if !ok || (!n.Announces() && n.Severity.Rank() < entry.MinSeverity.Rank()) {
			continue
		}
		to = append(to, store.Address{Channel: name, Opens: notify.Accepts(entry.Type, kinds)})
	}
	return to
}
