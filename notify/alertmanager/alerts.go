package alertmanager

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

// How long an alert fires unless it is ended before. An Alertmanager would end one
// without a time of its own five minutes after it was posted, and curfew posts each
// notice once.
const (
	momentLife   = time.Hour          // of news that nothing ends: a digest, a test
	openLife     = 24 * time.Hour     // of what is usually ended, or is told again
	standingLife = 7 * 24 * time.Hour // of a finding of which it will be told that it is over
)

// The names of alerts.
const (
	nameAct     = "CurfewAct"     // an act that is announced, or put off
	nameAlarm   = "CurfewAlarm"   // an act that went wrong, or trouble of curfew's own
	nameFinding = "CurfewFinding" // what was found, until it is over
	nameWould   = "CurfewWould"   // what enforce would announce
	nameReload  = "CurfewReload"
	nameDigest  = "CurfewDigest"
	nameTest    = "CurfewTest"
)

// state is what a notice says of one alert.
type state struct {
	name, thread string
	notice       notify.Notice
	life         time.Duration // zero: it ends
	// perhaps says that it may never have fired.
	perhaps bool
}

// states says what the notices of a message make of which alerts. Where two of them
// speak of one alert, the later one counts.
func states(m notify.Message) []state {
	var all []state
	for _, n := range noticesOf(m) {
		for _, s := range statesOf(n) {
			if s.thread == "" {
				s.thread = m.DeliveryID
			}
			all = slices.DeleteFunc(all, func(o state) bool { return o.name == s.name && o.thread == s.thread })
			all = append(all, s)
		}
	}
	return all
}

// noticesOf gives the notices of a message, the oldest first. Where they are missing,
// one stands in that says what the message does.
func noticesOf(m notify.Message) []notify.Notice {
	if len(m.Notices) == 0 {
		return []notify.Notice{{Event: m.Event, Severity: m.Severity, At: m.At, Thread: m.Thread}}
	}
	return slices.SortedStableFunc(slices.Values(m.Notices), func(a, b notify.Notice) int { return a.At.Compare(b.At) })
}

// statesOf says what one notice makes of its alerts.
//
//	pending, put-off   the act fires, a day at most
//	asked              the act fires for an hour: nobody may be left to end it
//	done, abandoned    act and alarm end; of several acts the notice of the last ends
//	                   what announced them all
//	done, but          something is wrong with it: the alarm fires, the act ends
//	alarm              the alarm fires, the act ends
//	finding, reminder  the finding fires: a week where it will be told to be over,
//	                   else a day
//	resolved           the finding ends
//	others             fire for an hour
func statesOf(n notify.Notice) []state {
	act := state{name: nameAct, thread: actThread(n), notice: n}
	alarm := state{name: nameAlarm, thread: cmp.Or(intentThread(n), thread(n)), notice: n}
	alone := n.Intent == nil || n.Intent.Batch == 0
	switch n.Event {
	case notify.EventPending, notify.EventPutOff:
		act.life = openLife
		return []state{act}
	case notify.EventAsked:
		act.life = momentLife
		return []state{act}
	case notify.EventAbandoned:
		alarm.perhaps = true
		if !alone {
			return []state{alarm}
		}
		return []state{act, alarm}
	case notify.EventDone:
		if severity(n) == fleet.Info {
			alarm.perhaps = true
			return []state{act, alarm}
		}
		fallthrough
	case notify.EventAlarm:
		alarm.life = openLife
		if n.Intent == nil || !alone {
			return []state{alarm}
		}
		return []state{alarm, act}
	case notify.EventFinding, notify.EventReminder, notify.EventResolved:
		found := state{name: nameFinding, thread: thread(n), notice: n, life: openLife}
		if !n.Over.IsZero() || n.Event == notify.EventReminder {
			found.life = standingLife
		}
		if n.Event == notify.EventResolved {
			found.life = 0
		}
		return []state{found}
	}
	return []state{{name: momentName(n.Event), thread: thread(n), notice: n, life: momentLife}}
}

func momentName(e notify.Event) string {
	switch e {
	case notify.EventWould:
		return nameWould
	case notify.EventReload:
		return nameReload
	case notify.EventDigest:
		return nameDigest
	case notify.EventTest:
		return nameTest
	}
	return "Curfew"
}

// thread is the same for all that is told of one thing.
func thread(n notify.Notice) string { return cmp.Or(n.Thread, n.Key) }

func intentThread(n notify.Notice) string {
	if n.Intent == nil || n.Intent.ID == 0 {
		return ""
	}
	return "intent|" + strconv.FormatInt(n.Intent.ID, 10)
}

// actThread is the same for all acts that are announced together.
func actThread(n notify.Notice) string {
	if n.Intent != nil && n.Intent.Batch != 0 {
		return "intent|" + strconv.FormatInt(n.Intent.Batch, 10)
	}
	return cmp.Or(intentThread(n), thread(n))
}

func severity(n notify.Notice) fleet.Severity { return cmp.Or(n.Severity, fleet.Info) }

// labels are what an alert is known by. All notices about one thing have the same ones
// but for the severity, so nothing that changes meanwhile is among them.
func (s state) labels(severity fleet.Severity) map[string]string {
	n := s.notice
	about, category := n.Subject, n.Category
	if n.Intent != nil {
		about, category = n.Intent.Subject, fleet.CategoryAct
		about.Ref = n.Intent.Ref
	}
	all := map[string]string{
		"alertname": s.name,
		"category":  string(category),
		"severity":  string(severity),
		"thread":    notify.Cut(s.thread, maxLabel),
	}
	if s.name != nameAct || n.Intent == nil || n.Intent.Batch == 0 { // else it is about several
		all["account"], all["provider"] = about.AccountName, about.Provider
		if !about.Ref.IsZero() {
			all["subject"] = about.Ref.String()
		}
		if about.Ref.Kind == fleet.KindInstance {
			all["instance"] = about.DisplayName()
		}
	}
	return tidy(all)
}

// What labels and annotations hold at most, in bytes.
const (
	maxLabel       = 500
	maxSummary     = 1000
	maxDescription = 8 << 10
)

// annotations are what people read. Notices that are told together have the words of
// the one message.
func (s state) annotations(m notify.Message) map[string]string {
	n := s.notice
	all := map[string]string{
		"summary":     notify.Cut(m.Title, maxSummary),
		"description": notify.Cut(m.Plain, maxDescription),
		"event":       string(n.Event),
		"reason":      string(n.Reason.Code),
		"owner":       n.Subject.Owner,
		"people":      strings.Join(m.Mentions, ", "),
		"actions":     notify.Cut(notify.PlainLinks(m.Actions), maxDescription),
	}
	if all["summary"] != m.Title {
		all["description"] = notify.Cut(m.Title+"\n"+m.Plain, maxDescription)
	}
	if n.Intent != nil {
		all["intent"], all["owner"] = strconv.FormatInt(n.Intent.ID, 10), n.Intent.Subject.Owner
	}
	return tidy(all)
}

// startOf is when what a notice tells of began to be told, and never later than now.
func startOf(n notify.Notice, now time.Time) time.Time {
	if !n.At.IsZero() && n.At.Before(now) {
		return n.At.UTC()
	}
	return now.UTC()
}

// tidy leaves out what is empty, which an Alertmanager drops or refuses, and makes the
// rest valid UTF-8.
func tidy(all map[string]string) map[string]string {
	out := make(map[string]string, len(all))
	for k, v := range all {
		if v != "" {
			out[k] = strings.ToValidUTF8(v, "\uFFFD")
		}
	}
	return out
}
