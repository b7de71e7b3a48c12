package app

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/guard"
	"curfew/notify"
)

// What a digest says of acts.
const (
	digestDone       fleet.Code = "digest.done"
	digestStopped    fleet.Code = "digest.stopped"
	digestReleased   fleet.Code = "digest.released"
	digestDeleted    fleet.Code = "digest.deleted"
	digestStarted    fleet.Code = "digest.started"
	digestNeeds      fleet.Code = "digest.needs"
	digestApproval   fleet.Code = "digest.approval"
	digestUnverified fleet.Code = "digest.unverified"
	digestFailed     fleet.Code = "digest.failed"
	digestVanished   fleet.Code = "digest.vanished"
)

const (
	// underWay is how long an act that was sent is not yet worth a word.
	underWay = 5 * time.Minute
	// digestNames is how many of those that need nothing are named.
	digestNames = 6
)

// doneSection says what took effect, and what stops saved, as an estimate: nobody knows
// how long it would have run.
func doneSection(s digestView) notify.Section {
	out := notify.Section{Head: fleet.Because(digestDone, nil)}
	for _, kind := range []struct {
		action fleet.Action
		code   fleet.Code
	}{{fleet.Stop, digestStopped}, {fleet.Release, digestReleased}, {fleet.Delete, digestDeleted}, {fleet.Start, digestStarted}} {
		var names []string
		for _, i := range s.ended {
			if i.Action == kind.action && (i.Outcome == fleet.OutcomeDone || i.Outcome == fleet.OutcomeDoneStillBilling) {
				names = append(names, notify.Cut(s.nameOf(i), digestNameBytes))
			}
		}
		if len(names) == 0 {
			continue
		}
		shown := names[:min(len(names), digestNames)]
		v := fleet.Values{"count": fleet.Number(float64(len(names))), "names": fleet.Text(strings.Join(shown, ", "))}
		if more := len(names) - len(shown); more > 0 {
			v["more"] = fleet.Number(float64(more))
		}
		out.Add(notify.Item{Text: fleet.Because(kind.code, v)})
	}
	if s.money != nil {
		out.Foot = savedLine(s.money.saved)
	}
	switch {
	case len(out.Items) > 0:
		return out
	case !out.Foot.IsZero(): // by stops of before
		return notify.Section{Head: out.Foot}
	}
	return notify.Section{}
}

// needsSection says what waits for a person.
func needsSection(s digestView) notify.Section {
	out := notify.Section{Head: fleet.Because(digestNeeds, nil)}
	add := func(code fleet.Code, i fleet.Intent, at time.Time, command string) {
		v := fleet.Values{
			"name": short(s.nameOf(i)), "action": fleet.Nested(guard.ActionReason(i.Action)), "at": minute(at),
		}
		if !i.Why.IsZero() {
			v["why"] = fleet.Nested(i.Why)
		}
		item := notify.Item{Text: fleet.Because(code, v), Command: command}
		if now, ok := s.thing(i.Ref); ok {
			item.Cost = new(now.CostNow())
		}
		out.Add(item)
	}
	for _, i := range s.open {
		if s.waitsForApproval(i) {
			add(digestApproval, i, i.AnnouncedAt, "curfew approve "+strconv.FormatInt(i.ID, 10))
		}
	}
	for _, i := range s.open {
		if len(i.Attempts) > 0 && s.at.Sub(i.Attempts[0].StartedAt) >= underWay {
			add(digestUnverified, i, i.Attempts[0].StartedAt, "")
		}
	}
	for _, i := range s.ended {
		switch i.Outcome {
		case fleet.OutcomeFailedWrite:
			add(digestFailed, i, i.ClosedAt, "")
		case fleet.OutcomeUnverified:
			add(digestUnverified, i, i.StartedAt, "")
		case fleet.OutcomeVanished:
			add(digestVanished, i, i.ClosedAt, "")
		}
	}
	if len(out.Items) == 0 {
		return notify.Section{}
	}
	return out
}

// waitsForApproval reports whether an act was announced and nobody has said yes.
func (s digestView) waitsForApproval(i fleet.Intent) bool {
	return i.State == fleet.IntentPending && i.By == execute.ByPolicy && !s.approved[i.ID] &&
		slices.ContainsFunc(i.Verdicts, func(v fleet.Verdict) bool { return v.Terms.Approval })
}

// nameOf is what the thing of an intent is called now, or was.
func (s digestView) nameOf(i fleet.Intent) string {
	if now, ok := s.thing(i.Ref); ok {
		return now.DisplayName()
	}
	return cmp.Or(i.Subject.DisplayName(), i.Ref.ID)
}
