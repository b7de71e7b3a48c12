package notify_test

import (
	"flag"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/notify/notifytest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestRender(t *testing.T) {
	told := map[notify.Event]bool{}
	for _, s := range scenes() {
		told[s.notice.Event] = true
		for _, lang := range []text.Language{text.English, text.Chinese} {
			t.Run(s.name+"."+string(lang), func(t *testing.T) {
				m := notify.Render(s.notice, renderer(t, lang), now)
				notifytest.Golden(t, *update, "render/"+s.name+"."+string(lang)+".txt",
					"title: "+m.Title+"\n--- plain\n"+m.Plain+"\n--- markdown\n"+m.Markdown+"\n")
				all := m.Title + "\n" + m.Plain
				if strings.Contains(all, "notify.") || strings.Contains(all, "<no value>") {
					t.Errorf("a text is missing:\n%s", all)
				}
				if lang != text.English {
					return
				}
				for _, want := range s.want {
					if !strings.Contains(all, want) {
						t.Errorf("%q is missing from:\n%s", want, all)
					}
				}
				if m.Severity != s.notice.Severity || m.Event != s.notice.Event || !m.At.Equal(now) {
					t.Errorf("severity, event or time got lost: %+v", m)
				}
			})
		}
	}
	for _, e := range []notify.Event{
		notify.EventPending, notify.EventPutOff, notify.EventAbandoned, notify.EventDone, notify.EventAlarm,
		notify.EventWould, notify.EventFinding, notify.EventResolved, notify.EventReload, notify.EventTest,
	} {
		if !told[e] {
			t.Errorf("no scene tells of %s", e)
		}
	}
}

// What a person needs to decide must survive the smallest channel, whatever
// names and reasons hold.
func TestRenderKeepsTheWayToSayWaitInTheSmallestChannel(t *testing.T) {
	renderers := []*text.Renderer{renderer(t, text.English), renderer(t, text.Chinese)}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringOfN(rapid.SampledFrom([]rune("aZ9 -_.*`<>[]()#@\n\t\x1b\u202e训练实例🙂'\"")), 0, 3000, -1)
		i := intent(fleet.Stop)
		i.Subject.Name = words.Draw(t, "name")
		i.Subject.Owner, i.Subject.Region = words.Draw(t, "owner"), words.Draw(t, "region")
		i.Subject.GPU.Model, i.Subject.AccountName = words.Draw(t, "gpu"), words.Draw(t, "account")
		i.By = "hand:" + words.Draw(t, "by")
		n := notify.Notice{Event: notify.EventPending, Severity: fleet.Warning, Subject: i.Subject, Intent: i}
		for range rapid.IntRange(0, 9).Draw(t, "reasons") {
			i.Verdicts = append(i.Verdicts, fleet.Verdict{
				Policy: words.Draw(t, "policy"), Goal: fleet.Stop, Reason: said(words.Draw(t, "why")),
			})
		}
		m := notify.Render(n, rapid.SampledFrom(renderers).Draw(t, "language"), now)
		got := notify.Cut(m.Title+"\n"+m.Plain, 2048)
		for _, want := range []string{"#12", "curfew hold ", " 2h", "02:10"} {
			if !strings.Contains(got, want) {
				t.Fatalf("%q is missing from %d bytes:\n%s", want, len(m.Title+m.Plain), got)
			}
		}
		if strings.ContainsAny(m.Title+m.Plain+m.Markdown, "\x1b\u202e") || strings.Contains(m.Title, "\n") {
			t.Fatalf("control characters got through: %q", m.Title+m.Plain)
		}
		if len(m.Markdown) > 4096-512 || !utf8.ValidString(m.Markdown) {
			t.Fatalf("%d bytes of Markdown", len(m.Markdown))
		}
	})
}

// The worst that names and logs can hold: much, and all of it to be broken up.
func TestRenderOfTheLongestNamesAndReasonsKeepsTheWayToSayWait(t *testing.T) {
	for _, bad := range []string{"训练", "*", "a\n", "<@all> ", "🙂"} {
		long := strings.Repeat(bad, 4000)
		i := intent(fleet.Stop)
		i.Subject.Name, i.Subject.Ref.ID = long, long
		i.Subject.Owner, i.Subject.Region, i.Subject.GPU.Model, i.Subject.AccountName = long, long, long, long
		i.Subject.OnStop = fleet.OnStop{EndsBilling: fleet.Yes, StillCosts: hourly(6_900)}
		i.Subject.Price.Source = fleet.PriceConfig
		i.By, i.Goal = "hand:"+long, fleet.Release
		i.Subject.StopsAt, i.Subject.ReleasesAt = now.Add(time.Hour), now.Add(24*time.Hour)
		for k := range 9 {
			i.Verdicts = append(i.Verdicts, fleet.Verdict{Policy: long, Goal: fleet.Stop, Reason: said(strings.Repeat(string(rune('a'+k)), k) + long)})
		}
		n := notify.Notice{Event: notify.EventPending, Severity: fleet.Warning, Subject: i.Subject, Intent: i, Reason: said("news" + long)}
		for _, lang := range []text.Language{text.English, text.Chinese} {
			m := notify.Render(n, renderer(t, lang), now)
			plain := m.Title + "\n" + m.Plain
			if len(plain) > 2048 || !strings.Contains(plain, "#12") || !strings.Contains(plain, "curfew hold ") {
				t.Errorf("%q, %s: %d bytes:\n%s", bad, lang, len(plain), plain)
			}
			if markup := len(notify.Escape(m.Title)) + len(m.Markdown); markup > 4040 {
				t.Errorf("%q, %s: %d bytes of markup:\n%s", bad, lang, markup, m.Markdown)
			}
			if !strings.Contains(plain, "the run ended") {
				t.Errorf("%q, %s: no reason is left:\n%s", bad, lang, plain)
			}
		}
	}
}

func TestRenderShowsTheBeginningOfALongReason(t *testing.T) {
	n := notify.Notice{Event: notify.EventFinding, Subject: box(), Reason: said("ended, outcome unknown\n" + strings.Repeat("step ", 2000))}
	m := notify.Render(n, renderer(t, text.English), now)
	if !strings.Contains(m.Plain, "\n  step step") || !strings.Contains(m.Plain, "…(+") || len(m.Plain) > 2000 {
		t.Errorf("%d bytes:\n%s", len(m.Plain), m.Plain)
	}
}

func TestDeadlineIsNeverToldEarlierThanItIs(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fleet.Intent)
		want   string
	}{
		"nobody has accepted it: this acceptance counts": {func(*fleet.Intent) {}, "at 02:10 (in 10m)"},
		"accepted elsewhere: that one counts": {func(i *fleet.Intent) {
			i.AcceptedAt, i.Deadline = now.Add(-5*time.Minute), now.Add(5*time.Minute)
		}, "at 02:05 (in 5m)"},
		"announced anew after its deadline: this acceptance counts": {func(i *fleet.Intent) {
			i.Deadline = now.Add(-time.Hour)
		}, "at 02:10 (in 10m)"},
		"announced anew before its deadline: it only moves later": {func(i *fleet.Intent) {
			i.Deadline = now.Add(30 * time.Minute)
		}, "at 02:30 (in 30m)"},
		"accepted and due": {func(i *fleet.Intent) {
			i.AcceptedAt, i.Deadline = now.Add(-time.Hour), now.Add(-50*time.Minute)
		}, "at 02:00 (in 0s)"},
	} {
		t.Run(name, func(t *testing.T) {
			i := with(intent(fleet.Stop), c.change)
			m := notify.Render(notify.Notice{Event: notify.EventPending, Intent: i}, renderer(t, text.English), now)
			if !strings.HasSuffix(m.Title, c.want) {
				t.Errorf("title %q, want %q", m.Title, c.want)
			}
		})
	}
}

func TestStopSaysWhatItLeavesBehind(t *testing.T) {
	free := hourly(0)
	const card = "not reserved"
	for name, c := range map[string]struct {
		change func(*fleet.Instance)
		want   []string
		not    []string
	}{
		"billing goes on, and the card stays":  {func(i *fleet.Instance) { i.OnStop.EndsBilling = fleet.No }, []string{"does not end billing"}, []string{card}},
		"whether billing ends is unknown":      {func(i *fleet.Instance) { i.OnStop.EndsBilling = fleet.Unsure }, []string{"not known; it will be read back", card}, nil},
		"nothing more is paid":                 {func(i *fleet.Instance) { i.OnStop.StillCosts = free }, []string{"costs nothing", card}, nil},
		"nobody said what is still paid":       {func(i *fleet.Instance) { i.OnStop.StillCosts = fleet.Price{} }, []string{"may still cost: not known"}, []string{"costs nothing"}},
		"part of the data is kept":             {func(i *fleet.Instance) { i.OnStop.KeepsData = fleet.KeepsPart }, []string{"only part of the data"}, nil},
		"nobody said what data is kept":        {func(i *fleet.Instance) { i.OnStop.KeepsData = fleet.KeepsUnknown }, []string{"keeps the data is not known"}, nil},
		"a prepaid card stays":                 {func(i *fleet.Instance) { i.Charge.Type = fleet.ChargePeriod }, nil, []string{card}},
		"without a card there is none to lose": {func(i *fleet.Instance) { i.GPU = fleet.GPU{} }, nil, []string{card, "×"}},
		"the platform's own timer is told":     {func(i *fleet.Instance) { i.StopsAt = now.Add(time.Hour) }, []string{"timer stops it at 03:00"}, nil},
		"an unknown price is not nothing":      {func(i *fleet.Instance) { i.Price = fleet.Price{} }, []string{"Price unknown"}, []string{"about", "1.98"}},
		"an unknown start gives no sum":        {func(i *fleet.Instance) { i.StartedAt = time.Time{} }, []string{"1.98 CNY/h"}, []string{"about"}},
	} {
		t.Run(name, func(t *testing.T) {
			i := intent(fleet.Stop)
			c.change(&i.Subject)
			m := notify.Render(notify.Notice{Event: notify.EventPending, Intent: i}, renderer(t, text.English), now)
			for _, want := range c.want {
				if !strings.Contains(m.Plain, want) {
					t.Errorf("%q is missing from:\n%s", want, m.Plain)
				}
			}
			for _, not := range c.not {
				if strings.Contains(m.Plain, not) {
					t.Errorf("%q is in:\n%s", not, m.Plain)
				}
			}
		})
	}
}

func TestEveryStateHasItsWords(t *testing.T) {
	for _, lang := range []text.Language{text.English, text.Chinese} {
		seen := map[string]fleet.State{}
		for _, state := range []fleet.State{
			fleet.StateUnknown, fleet.StateCreating, fleet.StateStarting, fleet.StateRunning, fleet.StateStopping,
			fleet.StateStopped, fleet.StateReleasing, fleet.StateReleased, fleet.StateFailed,
		} {
			i := box()
			i.State, i.StartedAt = state, time.Time{}
			m := notify.Render(notify.Notice{Event: notify.EventFinding, Subject: i}, renderer(t, lang), now)
			words := strings.Split(m.Plain, "\n")[1]
			if other, twice := seen[words]; twice || words == "" {
				t.Errorf("%s: %q says both %s and %s", lang, words, state, other)
			}
			seen[words] = state
		}
	}
}

func TestRenderOfAnEventWithoutItsIntentStillSaysWhatItIsAbout(t *testing.T) {
	for _, e := range []notify.Event{
		notify.EventPending, notify.EventPutOff, notify.EventAbandoned, notify.EventDone, notify.EventAlarm, notify.EventWould,
	} {
		n := notify.Notice{Event: e, Severity: fleet.Warning, Subject: box(), Reason: said("news")}
		m := notify.Render(n, renderer(t, text.English), now)
		if m.Title != "Warning: exp-7 · x said=news" || !strings.Contains(m.Plain, "pro-0a1b2c") {
			t.Errorf("%s: %q\n%s", e, m.Title, m.Plain)
		}
	}
}

func TestRenderDisarmsMarkupFromOutside(t *testing.T) {
	i := intent(fleet.Stop)
	i.Subject.Name = "<@all> [free GPUs](https://evil.example) `x` <font color=\"info\">ok</font> **b**"
	i.Subject.Ref.ID = "it's`"
	n := notify.Notice{
		Event: notify.EventPending, Subject: i.Subject, Intent: i,
		Reason: said("line one\n<@all> line two"),
	}
	m := notify.Render(n, renderer(t, text.English), now)
	for _, live := range []string{"<@", "](", "<font", "</font", "**"} {
		if strings.Contains(m.Markdown, live) {
			t.Errorf("%q is live in:\n%s", live, m.Markdown)
		}
		if strings.Contains(notify.Escape(m.Title), live) {
			t.Errorf("%q is live in the title %q", live, m.Title)
		}
	}
	if !strings.Contains(m.Plain, `curfew hold 'it'\''s`+"`"+`' 2h`) {
		t.Errorf("the command cannot be pasted:\n%s", m.Plain)
	}
	if !strings.Contains(m.Markdown, "\n> <\u200b@all> line two\n") {
		t.Errorf("the second line left the quote:\n%s", m.Markdown)
	}
}
