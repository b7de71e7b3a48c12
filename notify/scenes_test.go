package notify_test

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
)

var (
	shanghai = time.FixedZone("CST", 8*60*60)
	now      = time.Date(2026, 11, 30, 2, 0, 0, 0, shanghai)
)

func renderer(t testing.TB, lang text.Language) *text.Renderer {
	t.Helper()
	r, err := text.New(lang, shanghai)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said is a reason whose code has no text: it renders as its code and values.
func said(words string) fleet.Reason {
	return fleet.Because("x", fleet.Values{"said": fleet.Text(words)})
}

func hourly(micros int64) fleet.Price {
	return fleet.Price{PerHour: fleet.CNY(micros), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
}

func box() fleet.Instance {
	return fleet.Instance{
		Ref:         fleet.Ref{Account: "autodl:42", Kind: fleet.KindInstance, ID: "pro-0a1b2c"},
		Boot:        "n3",
		AccountName: "autodl-lab", Provider: "autodl", Name: "exp-7", Owner: "wang",
		State: fleet.StateRunning, Region: "beijing-B",
		Charge:    fleet.Charge{Type: fleet.ChargeOnDemand},
		GPU:       fleet.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
		Price:     hourly(1_980_000),
		OnStop:    fleet.OnStop{EndsBilling: fleet.Yes, KeepsData: fleet.KeepsAll, StillCosts: hourly(6_900)},
		StartedAt: now.Add(-6*time.Hour - 9*time.Minute),
	}
}

func intent(a fleet.Action) *fleet.Intent {
	return &fleet.Intent{
		ID: 12, Ref: box().Ref, Boot: "n3", Action: a, Goal: a, By: "policy", State: fleet.IntentPending,
		Subject: box(), CreatedAt: now, Warn: 10 * time.Minute,
		Verdicts: []fleet.Verdict{{
			Policy: "stop-after-training", Ref: box().Ref, Goal: a,
			Reason: said("the run ended at 01:55 with exit 0"),
			Evidence: []fleet.SourceSeen{
				{Source: "ssh", SeenAt: now.Add(-40 * time.Second), Fresh: true, Activity: fleet.Idle},
				{Source: "ping", SeenAt: now.Add(-5 * time.Minute), Activity: fleet.Unknown},
			},
		}},
	}
}

func with(i *fleet.Intent, change func(*fleet.Intent)) *fleet.Intent {
	change(i)
	return i
}

type scene struct {
	name   string
	notice notify.Notice
	// want are words that the English message must hold whatever the golden file
	// says.
	want []string
}

func scenes() []scene {
	act := func(e notify.Event, s fleet.Severity, i *fleet.Intent, news fleet.Reason) notify.Notice {
		return notify.Notice{
			ID: 5, Event: e, Severity: s, Category: fleet.CategoryAct, At: now,
			Subject: i.Subject, Intent: i, Reason: news,
		}
	}
	facts := []string{"exp-7", "pro-0a1b2c", "RTX 4090", "autodl-lab", "beijing-B", "#12"}
	stopped := box()
	stopped.State, stopped.StoppedAt = fleet.StateStopped, now.Add(-30*time.Second)
	stopped.ReleasesAt = now.Add(15 * 24 * time.Hour)
	costly := box()
	costly.Price.Source = fleet.PriceConfig
	costly.OnStop = fleet.OnStop{EndsBilling: fleet.Unsure, KeepsData: fleet.KeepsNone}

	return []scene{
		{
			"pending-stop", act(notify.EventPending, fleet.Warning, intent(fleet.Stop), fleet.Reason{}),
			append([]string{"at 02:10 (in 10m)", "1.98 CNY/h, about 12.18 CNY since 29 Nov 19:51", "the run ended", "still costs 0.0069 CNY/h (0.17 CNY a day)", "not reserved", "curfew hold exp-7 2h"}, facts...),
		},
		{
			"pending-stop-nothing-sure", act(notify.EventPending, fleet.Warning,
				with(intent(fleet.Stop), func(i *fleet.Intent) { i.Subject, i.By = costly, "hand:li" }), fleet.Reason{}),
			[]string{"price from the configuration", "not known; it will be read back", "keeps none of the data", "Asked for by li"},
		},
		{
			"pending-release", act(notify.EventPending, fleet.Warning,
				with(intent(fleet.Release), func(i *fleet.Intent) {
					i.Subject, i.Warn, i.Verdicts[0].Policy = stopped, 24*time.Hour, "done-and-saved"
				}), fleet.Reason{}),
			append([]string{"Will release exp-7 at 1 Dec 02:00 (in 1d)", "deletes it and the data", "while stopped", "releases it at 15 Dec", "curfew hold exp-7 2h"}, facts...),
		},
		{
			"pending-first-of-two-steps", act(notify.EventPending, fleet.Warning,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.Goal, i.Deadline, i.AcceptedAt = fleet.Release, now.Add(4*time.Minute+20*time.Second), now.Add(-6*time.Minute)
				}), fleet.Reason{}),
			[]string{"at 02:04 (in 4m 20s)", "Then: release"},
		},
		{
			"put-off", act(notify.EventPutOff, fleet.Warning,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.HeldBack, i.NextAt = said("held by li until 08:00: paper deadline"), now.Add(6*time.Hour)
				}), fleet.Reason{}),
			append([]string{"Waiting to stop exp-7", "held by li", "about 12.18 CNY", "again at 08:00"}, facts...),
		},
		{
			"asked-from-inside", act(notify.EventAsked, fleet.Info,
				with(intent(fleet.Stop), func(i *fleet.Intent) { i.Subject.ReleasesAt = now.Add(15 * 24 * time.Hour) }),
				said("asking it to power off, not verified from outside")),
			append([]string{"Asking now: stop exp-7", "not verified from outside", "the run ended", "about 12.18 CNY", "releases it at 15 Dec"}, facts...),
		},
		{
			"abandoned", act(notify.EventAbandoned, fleet.Info,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.State, i.Outcome, i.Why = fleet.IntentClosed, fleet.OutcomeAbandoned, said("a new run began at 01:59")
				}), fleet.Reason{}),
			append([]string{"Will not stop exp-7", "a new run began"}, facts...),
		},
		{
			"done-stop", act(notify.EventDone, fleet.Info,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.State, i.Outcome, i.ClosedAt, i.Cost = fleet.IntentClosed, fleet.OutcomeDone, now, fleet.CNY(12_400_000)
				}), said("stopped, and read back so")),
			append([]string{"Done: stop exp-7", "cost 12.40 CNY", "Costs 0.0069 CNY/h while stopped", "not reserved"}, facts...),
		},
		{
			"done-stop-no-billing-proof", func() notify.Notice {
				n := act(notify.EventDone, fleet.Info, with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.State, i.Outcome, i.Subject = fleet.IntentClosed, fleet.OutcomeDone, stopped
				}), fleet.Reason{})
				n.Because = []fleet.Reason{said("this platform gives no proof that billing ended")}
				return n
			}(),
			[]string{"What this boot cost is not known", "no proof that billing ended"},
		},
		{
			"done-stop-started-again", act(notify.EventDone, fleet.Info,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.State, i.Outcome, i.Cost, i.Subject.Boot, i.Subject.StartedAt = fleet.IntentClosed, fleet.OutcomeDone, fleet.CNY(12_400_000), "n4", now.Add(-time.Minute)
				}), said("and was started again")),
			[]string{"running since 01:59", "1.98 CNY/h"},
		},
		{
			"done-release", act(notify.EventDone, fleet.Info,
				with(intent(fleet.Release), func(i *fleet.Intent) {
					i.State, i.Outcome, i.Subject, i.Cost = fleet.IntentClosed, fleet.OutcomeDone, stopped, fleet.CNY(12_400_000)
				}), fleet.Reason{}),
			append([]string{"Done: release exp-7", "released", "cost 12.40 CNY"}, facts...),
		},
		{
			"alarm-unverified", act(notify.EventAlarm, fleet.Critical,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.State, i.Outcome, i.NextAt = fleet.IntentWritten, fleet.OutcomeUnverified, now.Add(90*time.Second)
				}), said("stop was answered 5m ago, the list still says running")),
			append([]string{"Not confirmed yet: stop exp-7", "still says running", "1.98 CNY/h", "again at 02:01:30"}, facts...),
		},
		{
			"alarm-failed", act(notify.EventAlarm, fleet.Critical,
				with(intent(fleet.Stop), func(i *fleet.Intent) { i.State, i.Outcome = fleet.IntentClosed, fleet.OutcomeFailedWrite }),
				said("unauthorized")),
			[]string{"Could not stop exp-7", "unauthorized"},
		},
		{
			"alarm-still-billing", act(notify.EventAlarm, fleet.Critical,
				with(intent(fleet.Stop), func(i *fleet.Intent) {
					i.State, i.Outcome, i.Subject = fleet.IntentClosed, fleet.OutcomeDoneStillBilling, stopped
					i.Subject.OnStop.EndsBilling = fleet.No
				}), said("stopped, but billing goes on")),
			[]string{"Still billed after stop: exp-7", "Costs 1.98 CNY/h while stopped (47.52 CNY a day)"},
		},
		{
			"alarm-vanished", act(notify.EventAlarm, fleet.Critical,
				with(intent(fleet.Stop), func(i *fleet.Intent) { i.State, i.Outcome = fleet.IntentClosed, fleet.OutcomeVanished }),
				said("two reads did not find it")),
			[]string{"Gone", "exp-7", "What this boot cost is not known"},
		},
		{
			"would", act(notify.EventWould, fleet.Info,
				with(intent(fleet.Stop), func(i *fleet.Intent) { i.ID = 0 }), fleet.Reason{}),
			[]string{"Dry run: would stop exp-7", "mode is dry-run", "10m after", "the run ended"},
		},
		{
			"finding-on-an-instance", notify.Notice{
				Event: notify.EventFinding, Severity: fleet.Warning, Category: fleet.CategoryAct, At: now, Subject: box(),
				Reason: said("ended, outcome unknown\nstep 100\nstep 101"),
			},
			[]string{"Warning: exp-7 · ", "step 101", "curfew explain exp-7"},
		},
		{
			"finding-on-an-account", notify.Notice{
				Event: notify.EventFinding, Severity: fleet.Critical, Category: fleet.CategoryMoney, At: now,
				Subject: fleet.Instance{
					Ref:         fleet.Ref{Account: "autodl:42", Kind: fleet.KindAccount, ID: "autodl:42"},
					AccountName: "autodl-lab", Name: "autodl-lab",
				},
				Reason: said("14.20 CNY left, enough for 5h"), Because: []fleet.Reason{said("4 instances cost 2.84 CNY/h")},
			},
			[]string{"Critical: autodl-lab · ", "14.20 CNY left", "4 instances"},
		},
		{
			"resolved", notify.Notice{
				Event: notify.EventResolved, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now, Subject: box(),
				Reason: said("reachable again after 40m"),
			},
			[]string{"Resolved: exp-7", "reachable again"},
		},
		{
			"reload", notify.Notice{
				Event: notify.EventReload, Severity: fleet.Warning, Category: fleet.CategoryHealth, At: now,
				Reason: said("refused, the old one goes on:\ncurfew.yaml:41:14: policies[2].grace: \"20\" has no unit"),
			},
			[]string{"Configuration: ", "41:14"},
		},
		{
			"test", notify.Notice{Event: notify.EventTest, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now},
			[]string{"Test message from curfew", "the channel works"},
		},
	}
}
