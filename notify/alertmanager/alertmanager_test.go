package alertmanager_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/alertmanager"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	password = "aSecretThatIsNone"
	pair     = "b3BzOmFTZWNyZXRUaGF0SXNOb25l" // ops:aSecretThatIsNone
)

var (
	shanghai = time.FixedZone("CST", 8*60*60)
	now      = time.Date(2026, 11, 30, 2, 0, 0, 0, shanghai)
)

func fixed() time.Time { return now }

func options(mode, address string) notify.Options {
	return notify.Options{
		Name: "am", HTTP: notifytest.Client(), Now: fixed,
		Settings:   map[string]string{"mode": mode, "url": address, "user": "ops"},
		Credential: map[string]string{"password": password},
	}
}

func open(t testing.TB, o notify.Options) notify.Channel {
	t.Helper()
	c, err := alertmanager.Kind().Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func box() fleet.Instance {
	return fleet.Instance{
		Ref:         fleet.Ref{Account: "autodl:42", Kind: fleet.KindInstance, ID: "pro-0a1b2c"},
		AccountName: "autodl-lab", Provider: "autodl", Name: "exp-7", Owner: "wang", State: fleet.StateRunning,
	}
}

func act(e notify.Event, s fleet.Severity, batch int64) notify.Notice {
	i := &fleet.Intent{ID: 12, Batch: batch, Ref: box().Ref, Action: fleet.Stop, Goal: fleet.Stop, By: "policy", Subject: box(), Warn: 10 * time.Minute}
	return notify.Notice{Key: "intent|12|" + string(e), Event: e, Severity: s, Category: fleet.CategoryAct, At: now.Add(-time.Minute), Intent: i, Subject: box()}
}

func finding(e notify.Event, s fleet.Severity) notify.Notice {
	return notify.Notice{
		Key: "standing|money|autodl:42|low|", Thread: "standing|money|autodl:42|low|", Event: e, Severity: s, Category: fleet.CategoryMoney, At: now,
		Subject: fleet.Instance{Ref: fleet.Ref{Account: "autodl:42", Kind: fleet.KindAccount, ID: "autodl:42"}, Name: "autodl-lab", AccountName: "autodl-lab"},
		Reason:  fleet.Because("x.low", fleet.Values{"said": fleet.Text("余额 < 100 CNY")}), Over: fleet.Because("x.enough", nil),
	}
}

func told(t testing.TB, lang text.Language, ns ...notify.Notice) notify.Message {
	t.Helper()
	render, err := text.New(lang, shanghai)
	if err != nil {
		t.Fatal(err)
	}
	m := notify.Render(ns[0], render, now)
	m.DeliveryID, m.Notices = "7", ns
	m.Actions = []notify.Action{{Label: "Wait 2h", URL: "https://curfew.example/a/1"}, {Label: "no page", Value: "v"}}
	m.Mentions = []string{"wang"}
	return m
}

// address is where a channel of a mode is pointed at.
func address(mode, base string) string {
	if mode == "webhook" {
		return base + "/hook"
	}
	return base
}

// posted sends a message and gives what was posted.
func posted(t testing.TB, mode string, m notify.Message) string {
	t.Helper()
	server := notifytest.NewServer(t, expect(mode), notifytest.Reply{})
	if v := open(t, options(mode, address(mode, server.URL))).Send(t.Context(), m); v.Kind != notify.VerdictOK {
		t.Errorf("verdict %+v", v)
	}
	return string(server.Bodies()[0])
}

func TestNotices(t *testing.T) {
	for name, n := range map[string]notify.Notice{
		"pending":  act(notify.EventPending, fleet.Warning, 0),
		"done":     act(notify.EventDone, fleet.Info, 0),
		"alarm":    act(notify.EventAlarm, fleet.Critical, 0),
		"finding":  finding(notify.EventFinding, fleet.Critical),
		"resolved": finding(notify.EventResolved, fleet.Info),
		"digest":   notify.Sample(string(notify.EventDigest), now)[0],
		"test":     {Event: notify.EventTest, Severity: fleet.Info, Category: fleet.CategoryHealth, At: now},
	} {
		for _, lang := range []text.Language{text.English, text.Chinese} {
			for _, mode := range []string{"alerts", "webhook"} {
				t.Run(strings.Join([]string{name, string(lang), mode}, "."), func(t *testing.T) {
					var pretty strings.Builder
					enc := json.NewEncoder(&pretty)
					enc.SetIndent("", "  ")
					enc.SetEscapeHTML(false)
					if err := enc.Encode(json.RawMessage(posted(t, mode, told(t, lang, n)))); err != nil {
						t.Fatal(err)
					}
					notifytest.Golden(t, *update, name+"."+string(lang)+"."+mode+".json", pretty.String())
				})
			}
		}
	}
}

// What opens and what ends it are one alert, whatever severity each has.
func TestWhatEachNoticeDoesToWhichAlerts(t *testing.T) {
	day, week, hour := 24*time.Hour, 7*24*time.Hour, time.Hour
	wrong := act(notify.EventDone, fleet.Warning, 0)
	short := finding(notify.EventFinding, fleet.Warning)
	short.Over = fleet.Reason{}
	own := notify.Notice{Key: "channel|wx|broken|", Event: notify.EventAlarm, Severity: fleet.Critical, Category: fleet.CategoryHealth, At: now}
	for name, c := range map[string]struct {
		notices []notify.Notice
		// want is how long each alert fires from now, by name, thread and severity. What
		// ends is left out, but for its name and thread with a zero.
		want map[string]time.Duration
	}{
		"pending fires":                         {[]notify.Notice{act(notify.EventPending, fleet.Warning, 0)}, map[string]time.Duration{"CurfewAct intent|12 warning": day}},
		"put off fires at its own severity":     {[]notify.Notice{act(notify.EventPutOff, fleet.Critical, 0)}, map[string]time.Duration{"CurfewAct intent|12 critical": day}},
		"asked fires for an hour":               {[]notify.Notice{act(notify.EventAsked, fleet.Info, 0)}, map[string]time.Duration{"CurfewAct intent|12 info": hour}},
		"done ends act and alarm":               {[]notify.Notice{act(notify.EventDone, fleet.Info, 0)}, map[string]time.Duration{"CurfewAct intent|12": 0, "CurfewAlarm intent|12": 0}},
		"abandoned ends act and alarm":          {[]notify.Notice{act(notify.EventAbandoned, fleet.Info, 0)}, map[string]time.Duration{"CurfewAct intent|12": 0, "CurfewAlarm intent|12": 0}},
		"done with trouble is an alarm":         {[]notify.Notice{wrong}, map[string]time.Duration{"CurfewAct intent|12": 0, "CurfewAlarm intent|12 warning": day}},
		"an alarm ends the act":                 {[]notify.Notice{act(notify.EventAlarm, fleet.Critical, 0)}, map[string]time.Duration{"CurfewAct intent|12": 0, "CurfewAlarm intent|12 critical": day}},
		"an alarm of one of several does not":   {[]notify.Notice{act(notify.EventAlarm, fleet.Critical, 9)}, map[string]time.Duration{"CurfewAlarm intent|12 critical": day}},
		"nor does one of several given up":      {[]notify.Notice{act(notify.EventAbandoned, fleet.Info, 9)}, map[string]time.Duration{"CurfewAlarm intent|12": 0}},
		"the last of several ends them all":     {[]notify.Notice{act(notify.EventDone, fleet.Info, 9)}, map[string]time.Duration{"CurfewAct intent|9": 0, "CurfewAlarm intent|12": 0}},
		"an alarm about no act":                 {[]notify.Notice{own}, map[string]time.Duration{"CurfewAlarm channel|wx|broken|": day, "CurfewAlarm channel|wx|broken| critical": day}},
		"a finding that will be over":           {[]notify.Notice{finding(notify.EventFinding, fleet.Critical)}, map[string]time.Duration{"CurfewFinding standing|money|autodl:42|low| critical": week}},
		"a finding of which nothing is told":    {[]notify.Notice{short}, map[string]time.Duration{"CurfewFinding standing|money|autodl:42|low| warning": day}},
		"a finding that is over":                {[]notify.Notice{finding(notify.EventResolved, fleet.Info)}, map[string]time.Duration{"CurfewFinding standing|money|autodl:42|low|": 0}},
		"a reminder goes on":                    {[]notify.Notice{finding(notify.EventReminder, fleet.Warning)}, map[string]time.Duration{"CurfewFinding standing|money|autodl:42|low| warning": week}},
		"a digest fires for an hour":            {[]notify.Notice{{Event: notify.EventDigest, Severity: fleet.Info, Key: "d", At: now}}, map[string]time.Duration{"CurfewDigest d info": hour}},
		"news told together, each its own":      {[]notify.Notice{act(notify.EventPending, fleet.Warning, 0), finding(notify.EventFinding, fleet.Critical)}, map[string]time.Duration{"CurfewAct intent|12 warning": day, "CurfewFinding standing|money|autodl:42|low| critical": week}},
		"told together, what came later counts": {[]notify.Notice{at(finding(notify.EventResolved, fleet.Info), now.Add(time.Minute)), finding(notify.EventFinding, fleet.Critical)}, map[string]time.Duration{"CurfewFinding standing|money|autodl:42|low|": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var all []alert
			if err := notifytest.Strict([]byte(posted(t, "alerts", told(t, text.English, c.notices...))), &all); err != nil {
				t.Fatal(err)
			}
			got, ends := map[string]time.Duration{}, map[string]int{}
			for _, a := range all {
				id := a.Labels["alertname"] + " " + a.Labels["thread"]
				if a.EndsAt.Equal(now) && a.StartsAt.IsZero() {
					ends[id]++
				} else {
					got[id+" "+a.Labels["severity"]] = a.EndsAt.Sub(now)
				}
			}
			for id, n := range ends {
				if n == 3 {
					got[id] = 0
				} else if n != 2 {
					t.Errorf("%s ends at %d severities", id, n)
				}
			}
			delete(c.want, "CurfewAlarm channel|wx|broken|")
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

func at(n notify.Notice, t time.Time) notify.Notice {
	n.At = t
	return n
}

// An end has the labels of its opening but for the severity, even where what it is
// about has changed its name meanwhile.
func TestAnEndHasTheLabelsOfItsOpening(t *testing.T) {
	done := act(notify.EventDone, fleet.Info, 0)
	done.Category, done.Subject.Name, done.Subject.AccountName = fleet.CategoryMoney, "renamed", ""
	for name, c := range map[string]struct{ opening, end notify.Notice }{
		"an act":     {act(notify.EventPending, fleet.Warning, 0), done},
		"a finding":  {finding(notify.EventFinding, fleet.Critical), finding(notify.EventResolved, fleet.Info)},
		"a reminder": {finding(notify.EventReminder, fleet.Critical), finding(notify.EventResolved, fleet.Info)},
	} {
		t.Run(name, func(t *testing.T) {
			var opening, end []alert
			_ = notifytest.Strict([]byte(posted(t, "alerts", told(t, text.English, c.opening))), &opening)
			_ = notifytest.Strict([]byte(posted(t, "alerts", told(t, text.Chinese, c.end))), &end)
			ended := map[string]bool{}
			for _, a := range end {
				ended[fmt.Sprint(a.Labels)] = a.EndsAt.Equal(now)
			}
			for _, a := range opening {
				if a.EndsAt.After(now) && !ended[fmt.Sprint(a.Labels)] {
					t.Errorf("%v is not ended by\n%v", a.Labels, end)
				}
			}
			var first, last payload
			_ = notifytest.Strict([]byte(posted(t, "webhook", told(t, text.English, c.opening))), &first)
			_ = notifytest.Strict([]byte(posted(t, "webhook", told(t, text.Chinese, c.end))), &last)
			if first.GroupKey != last.GroupKey || first.Alerts[0].Fingerprint != last.Alerts[0].Fingerprint || len(last.Alerts) != 1 || last.Status != "resolved" {
				t.Errorf("webhook: %+v\nis not ended by %+v", first, last)
			}
		})
	}
}

// A message of which it is not known what it was rendered from says what it can.
func TestWithoutNotices(t *testing.T) {
	m := told(t, text.English, act(notify.EventPending, fleet.Warning, 0))
	m.Notices, m.Thread = nil, "of-one-thing"
	for _, mode := range []string{"alerts", "webhook"} {
		if body := posted(t, mode, m); !strings.Contains(body, `"thread":"of-one-thing"`) || !strings.Contains(body, "CurfewAct") {
			t.Errorf("%s: %s", mode, body)
		}
	}
	m.Thread = ""
	if body := posted(t, "alerts", m); !strings.Contains(body, `"thread":"7"`) {
		t.Errorf("body %s", body)
	}
}
