package notifytest

import (
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
)

// Payloads sends every message of [Told] and compares what send gives of it with
// testdata/told/NAME.LANGUAGE.ext; with update it writes that instead.
func Payloads(t *testing.T, update bool, ext string, send func(t *testing.T, m notify.Message) string) {
	t.Helper()
	for name, m := range Told(t) {
		t.Run(name, func(t *testing.T) { Golden(t, update, "told/"+name+"."+ext, send(t, m)) })
	}
}

// Posted gives what a channel posts of a message to a platform that takes it.
func Posted(t *testing.T, e Expect, taken Reply, open func(baseURL string) notify.Channel, m notify.Message) string {
	t.Helper()
	server := NewServer(t, e, taken)
	if v := open(server.URL).Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	return string(server.Bodies()[0])
}

// Told gives messages as people are told them, by name and language: an announcement
// that can be answered, an alarm, what answers an earlier message, two notices in one,
// a digest and a test. Nobody is mentioned in them, since ids differ from channel to
// channel.
func Told(t testing.TB) map[string]notify.Message {
	t.Helper()
	zone := time.FixedZone("CST", 8*60*60)
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, zone)
	told := map[string]notify.Message{}
	for _, lang := range []text.Language{text.English, text.Chinese} {
		words, err := text.New(lang, zone)
		if err != nil {
			t.Fatal(err)
		}
		all := notices(now)
		together := notify.RenderGroup([]notify.Notice{all["alarm"], all["resolved"]}, words, now)
		together.DeliveryID, together.Thread = "7", "autodl:42/pro-0a1b2c"
		told["group."+string(lang)] = together
		for name, n := range all {
			m := notify.Render(n, words, now)
			m.DeliveryID, m.Thread = "7", "autodl:42/pro-0a1b2c"
			switch name {
			case "pending":
				m.Actions = answers(lang)
			case "resolved":
				m.ReplyTo, m.Silent = "41", true
			}
			told[name+"."+string(lang)] = m
		}
	}
	return told
}

func notices(now time.Time) map[string]notify.Notice {
	box := fleet.Instance{
		Ref:  fleet.Ref{Account: "autodl:42", Kind: fleet.KindInstance, ID: "pro-0a1b2c"},
		Boot: "n3", AccountName: "autodl-lab", Provider: "autodl", Name: "exp-7", Owner: "wang",
		State: fleet.StateRunning, Region: "beijing-B", GPU: fleet.GPU{Model: "RTX 4090", Count: 1, MemoryGB: 24},
		Price:     fleet.Price{PerHour: fleet.CNY(1_980_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
		StartedAt: now.Add(-6 * time.Hour),
	}
	said := func(words string) fleet.Reason {
		return fleet.Reason{Code: "x", Values: fleet.Values{"said": fleet.Text(words)}} // it has no text: it is told as it is
	}
	return map[string]notify.Notice{
		"pending": {
			Event: notify.EventPending, Severity: fleet.Warning, Category: fleet.CategoryAct, At: now, Subject: box,
			Intent: &fleet.Intent{
				ID: 12, Ref: box.Ref, Boot: "n3", Action: fleet.Stop, Goal: fleet.Stop, By: "policy",
				State: fleet.IntentPending, Subject: box, CreatedAt: now, Warn: 10 * time.Minute,
				Verdicts: []fleet.Verdict{{Policy: "night", Ref: box.Ref, Goal: fleet.Stop, Reason: said("gpu < 5% && no run of @wang")}},
			},
		},
		"alarm": {
			Event: notify.EventFinding, Severity: fleet.Critical, Category: fleet.CategoryMoney, At: now,
			Subject: fleet.Instance{
				Ref:         fleet.Ref{Account: "autodl:42", Kind: fleet.KindAccount, ID: "autodl:42"},
				AccountName: "autodl-lab", Name: "autodl-lab",
			},
			Reason: said("14.20 CNY left, enough for 5h"),
		},
		"resolved": {
			Event: notify.EventResolved, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now, Subject: box,
			Reason: said("reachable again after 40m"),
		},
		"digest": notify.Sample(string(notify.EventDigest), now)[0],
		"test":   {Event: notify.EventTest, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now},
	}
}

// answers are an announcement's, the last without a page of its own.
func answers(lang text.Language) []notify.Action {
	words := []string{"Wait 2h", "Explain", "Stop now"}
	if lang == text.Chinese {
		words = []string{"暂缓2小时", "详情", "立即关机"}
	}
	return []notify.Action{
		{Label: words[0], URL: "https://curfew.lab.example/a/h?x=1&y=2", Value: "h:aOpaqueValue"},
		{Label: words[1], URL: "https://curfew.lab.example/i/12"},
		{Label: words[2], Value: "s:aOpaqueValue", Risky: true},
	}
}
