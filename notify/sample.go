package notify

import (
	"time"

	"curfew/fleet"
)

// The reasons of samples, each of which says that it is one.
const (
	sampleIdle    fleet.Code = "notify.sample.idle"
	sampleBalance fleet.Code = "notify.sample.balance"
	sampleBack    fleet.Code = "notify.sample.back"
	sampleReload  fleet.Code = "notify.sample.reload"
	sampleDigest  fleet.Code = "notify.sample.digest"
	sampleItem    fleet.Code = "notify.sample.item"
)

// SampleEvents are the names by which there is a [Sample]: every event, and group.
func SampleEvents() []string {
	var names []string
	for _, e := range []Event{
		EventPending, EventPutOff, EventAbandoned, EventAsked, EventDone, EventAlarm, EventWould,
		EventFinding, EventReminder, EventResolved, EventReload, EventDigest, EventTest,
	} {
		names = append(names, string(e))
	}
	return append(names, templateGroup)
}

// Sample gives notices such as would be told of an event, of things that there are not;
// several for group, and none for a name that is not known.
func Sample(name string, now time.Time) []Notice {
	n := Notice{Event: Event(name), Severity: fleet.Info, Category: fleet.CategoryHealth, At: now}
	switch n.Event {
	case EventPending, EventPutOff, EventAbandoned, EventAsked, EventDone, EventAlarm, EventWould:
		n.Category, n.Intent = fleet.CategoryAct, sampleIntent(n.Event, now)
		n.Subject = n.Intent.Subject
		if n.Severity = fleet.Warning; n.Event == EventAlarm {
			n.Severity = fleet.Critical
		}
	case EventFinding, EventReminder:
		n.Severity, n.Category, n.Subject = fleet.Critical, fleet.CategoryMoney, sampleAccount()
		n.Reason = fleet.Because(sampleBalance, fleet.Values{"left": fleet.Amount(fleet.CNY(14_200_000)), "for": fleet.Span(5 * time.Hour)})
	case EventResolved:
		n.Subject = sampleBox(now)
		n.Reason = fleet.Because(sampleBack, fleet.Values{"for": fleet.Span(40 * time.Minute)})
	case EventReload:
		n.Reason = fleet.Because(sampleReload, nil)
	case EventDigest:
		n.Category, n.Sections = fleet.CategoryDigest, []Section{sampleSection(now)}
		n.Reason = n.Sections[0].Head
	case EventTest:
	case templateGroup:
		return append(Sample(string(EventFinding), now), Sample(string(EventResolved), now)...)
	default:
		return nil
	}
	return []Notice{n}
}

func sampleBox(now time.Time) fleet.Instance {
	return fleet.Instance{
		Ref:         fleet.Ref{Account: "sample:1", Kind: fleet.KindInstance, ID: "sample-0001"},
		AccountName: "sample-account", Provider: "sim", Name: "sample", Owner: "sample-owner",
		State: fleet.StateRunning, Region: "sample-region", GPU: fleet.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
		Price:     fleet.Price{PerHour: fleet.CNY(1_980_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
		OnStop:    fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll},
		StartedAt: now.Add(-6 * time.Hour),
	}
}

func sampleAccount() fleet.Instance {
	return fleet.Instance{
		Ref:         fleet.Ref{Account: "sample:1", Kind: fleet.KindAccount, ID: "sample:1"},
		AccountName: "sample-account", Name: "sample-account",
	}
}

// sampleIntent is the stop of an instance, at the step that the event tells of.
func sampleIntent(e Event, now time.Time) *fleet.Intent {
	box := sampleBox(now)
	i := &fleet.Intent{
		Ref: box.Ref, Action: fleet.Stop, Goal: fleet.Stop, By: "policy", State: fleet.IntentPending,
		Subject: box, CreatedAt: now, Warn: 10 * time.Minute,
		Verdicts: []fleet.Verdict{{
			Policy: "sample-policy", Ref: box.Ref, Goal: fleet.Stop,
			Reason: fleet.Because(sampleIdle, fleet.Values{"for": fleet.Span(45 * time.Minute)}),
		}},
	}
	switch e {
	case EventDone:
		i.State, i.Outcome, i.ClosedAt, i.Cost = fleet.IntentClosed, fleet.OutcomeDone, now, fleet.CNY(11_880_000)
	case EventAlarm:
		i.State, i.Outcome, i.ClosedAt = fleet.IntentClosed, fleet.OutcomeFailedWrite, now
	case EventAbandoned:
		i.State, i.Outcome, i.ClosedAt = fleet.IntentClosed, fleet.OutcomeAbandoned, now
	}
	return i
}

func sampleSection(now time.Time) Section {
	price := sampleBox(now).Price
	s := Section{Head: fleet.Because(sampleDigest, fleet.Values{"count": fleet.Number(2)})}
	for _, name := range []string{"sample", "sample-2"} {
		s.Add(Item{
			Text: fleet.Because(sampleItem, fleet.Values{"name": fleet.Text(name), "price": fleet.Text(price.PerHour.String())}),
			Cost: &price,
		})
	}
	return s
}

// sampleActions are what a reader of a sample could say, where somebody only wants to
// see the words.
func sampleActions(n Notice) []Action {
	if n.Event != EventPending {
		return nil
	}
	return []Action{{Label: "sample", URL: "https://curfew.example/a/sample"}}
}
