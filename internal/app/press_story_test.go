package app

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/press"
	"curfew/providers/sim"
)

func TestAHoldThatIsPressedInTheWarningCallsTheActOffAndNamesThePerson(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		m := p.last(&p.phone("lab").chat)
		if len(m.Actions) != 4 || m.Actions[0].Label != "Wait 1 hour" || m.Actions[0].Risky || m.Actions[3].Label != "Do it now" || !m.Actions[3].Risky || m.Actions[0].URL != "" {
			t.Errorf("actions %+v", m.Actions)
		}
		if zh := p.last(&p.phone("boss").chat); zh.Actions[0].Label != "暂缓 1 小时" {
			t.Errorf("actions %+v", zh.Actions)
		}
		v := p.value(&p.phone("lab").chat, press.HoldHour)
		p.wantHeard(p.press("42", v), true, "Held by Wang Wei until ")
		p.wantOutcomes("a stop abandoned")
		if why := p.journal()[0].Why; why.Values["by"].Any() != "Wang Wei" {
			t.Errorf("the journal says %+v", why)
		}
		p.wantHeard(p.press("42", v), true, "Held by Wang Wei until ") // it came once more
		p.wantHeard(p.press("43", v), true, "Already done by Wang Wei at ")
		p.wantHeard(p.press("43", p.value(&p.phone("lab").chat, press.Now)), true, "This is over since ")
		holds, err := p.app.store.Holds(t.Context(), time.Now())
		if err != nil || len(holds) != 1 || holds[0].By != "Wang Wei" || time.Until(holds[0].Until).Round(time.Minute) != time.Hour {
			t.Errorf("holds %+v, %v", holds, err)
		}
		p.run(50 * time.Minute)
		if p.effects("stop", "a") != 0 {
			t.Error("it was stopped all the same")
		}
		p.run(40 * time.Minute)
		p.wantOutcomes("a stop abandoned", "a stop done")
	})
}

func TestNowSkipsTheWarningAndNothingElse(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		p.wantHeard(p.press("43", p.value(&p.phone("lab").chat, press.Now)), true, "Li wants it now: stop exp-a")
		p.run(2 * time.Minute)
		p.wantOutcomes("a stop done")
		p.wantTold("Wanted now by Li", 2)
		if by := p.journal()[0].Hurried; by != "Li" {
			t.Errorf("the journal says %q", by)
		}
		p.wantHeard(p.press("42", p.value(&p.phone("lab").chat, press.HoldHour)), true, "This is over since ")
		if holds, err := p.app.store.Holds(t.Context(), time.Now()); err != nil || len(holds) != 0 {
			t.Errorf("holds %+v, %v", holds, err)
		}
	})
	inLab(t, func(t *testing.T) {
		p := announced(t)
		if _, err := p.app.Hold(t.Context(), ctl.HoldRequest{Name: "a", Until: time.Now().Add(time.Hour), By: "li"}); err != nil {
			t.Fatal(err)
		}
		p.wantHeard(p.press("42", p.value(&p.phone("lab").chat, press.Now)), true, "was called off: held by li")
		p.run(30 * time.Minute)
		if p.effects("stop", "a") != 0 {
			t.Error("a hold was skipped")
		}
	})
}

func TestNeverHoldsUntilSomebodyEndsIt(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := announced(t)
		p.wantHeard(p.press("42", p.value(&p.phone("lab").chat, press.Never)), true, "until somebody ends that: curfew hold exp-a off")
		p.run(3 * time.Hour)
		p.wantOutcomes("a stop abandoned")
		e, err := p.app.Explain(t.Context(), "exp-a")
		if err != nil || len(e.Holds) != 1 || !e.Holds[0].Until.Equal(fleet.NoEnd()) || e.Reason.Values["until"].Any() != nil {
			t.Errorf("%v, %+v, held by %+v", err, e.Reason, e.Holds)
		}
		if _, err := p.app.Hold(t.Context(), ctl.HoldRequest{Name: "exp-a", By: "wang"}); err != nil {
			t.Fatal(err)
		}
		p.run(20 * time.Minute)
		p.wantOutcomes("a stop abandoned", "a stop done")
	})
}

func TestTillMorning(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t) // it is eight in the morning there
		p.wantHeard(p.press("42", p.value(&p.phone("lab").chat, press.HoldMorning)), true, "until 2 Jan 08:00")
	})
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop")
		p.yaml = strings.Replace(p.yaml, "policies:", "  quiet_hours: {from: \"23:00\", to: \"08:30\"}\npolicies:", 1)
		p.cloud.MustAdd(trained("a", -8*time.Minute, 0))
		p.restart()
		p.run(2 * time.Minute)
		p.wantHeard(p.press("42", p.value(&p.phone("lab").chat, press.HoldMorning)), true, "until 09:02") // an hour at least
	})
}

func TestWhoIsNotNamedMayNotAndIsToldOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		v := p.value(&p.phone("lab").chat, press.Now)
		p.wantHeard(p.press("1", v), false, "You may not: 1 is not among the users of channel lab")
		if a := p.press("1", v); a.Words != "" || a.Settled {
			t.Errorf("told again: %+v", a)
		}
		// The value of one channel's button is good on no other.
		p.wantHeard(p.press("42", p.value(p.mail, press.Now)), false, "not made by this curfew")
		p.wantHeard(p.press("42", "made up"), false, "not made by this curfew")
		p.wantHeard(p.press("1", p.value(&p.phone("boss").chat, press.HoldHour)), true, "1 已将其暂缓至 ")
		p.wantOutcomes("a stop abandoned")
	})
}

func TestALateHoldSaysThatItWasRequested(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		p.cloud.Break(sim.Fault{Kind: sim.Ignored, Op: "stop"})
		v, now := p.value(&p.phone("lab").chat, press.HoldHour), p.value(&p.phone("lab").chat, press.Now)
		for range 90 {
			if i := p.journal()[0]; i.State != fleet.IntentPending {
				break
			}
			p.run(10 * time.Second)
		}
		if i := p.journal()[0]; i.State == fleet.IntentPending || !i.Open() {
			t.Fatalf("it is %s: there is no moment in between", i.State)
		}
		p.wantHeard(p.press("42", v), true, "requested from the platform at ")
		p.wantHeard(p.press("42", now), true, "Already requested")
	})
}

func TestAnotherBootIsNotWhatTheMessageIsAbout(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		v := p.value(&p.phone("lab").chat, press.Now)
		if err := errors.Join(p.cloud.UserStops("a")); err != nil {
			t.Fatal(err)
		}
		p.run(time.Minute)
		if err := p.cloud.UserStarts("a"); err != nil {
			t.Fatal(err)
		}
		p.run(90 * time.Second)
		a := p.press("42", v)
		if !a.Settled || !strings.Contains(a.Words, "started again") && !strings.Contains(a.Words, "This is over") {
			t.Errorf("heard %+v", a)
		}
		p.run(5 * time.Minute)
		if p.effects("stop", "a") != 0 {
			t.Error("another boot was stopped")
		}
	})
}

func TestAPressApproves(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop\n    approval: true")
		p.cloud.MustAdd(trained("a", -8*time.Minute, 0))
		p.restart()
		p.run(2 * time.Minute)
		if m := p.last(&p.phone("lab").chat); m.Actions[3].Label != "Approve" || !m.Actions[3].Risky {
			t.Errorf("actions %+v", m.Actions)
		}
		p.run(20 * time.Minute)
		if p.effects("stop", "a") != 0 {
			t.Fatal("it was stopped without a yes")
		}
		p.wantHeard(p.press("42", p.value(&p.phone("lab").chat, press.Approve)), true, "Approved by Wang Wei: stop exp-a")
		p.wantHeard(p.press("43", p.value(&p.phone("lab").chat, press.Approve)), true, "Already done by Wang Wei")
		p.run(3 * time.Minute)
		p.wantOutcomes("a stop done")
	})
}

func TestAMessageIsNotAnsweredForEver(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		key, err := p.app.pressKey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		good, err := press.Read(key, buttonPlace("lab"), p.value(&p.phone("lab").chat, press.Now), time.Now())
		if left := time.Until(good.Expires); err != nil || left > press.Lasts || left < press.Lasts-5*time.Minute {
			t.Errorf("it is good for %s, %v", left, err)
		}
		good.Expires = time.Now()
		p.wantHeard(p.press("42", press.Value(key, buttonPlace("lab"), good)), true, "too old to be answered")
		p.run(time.Minute)
		if p.effects("stop", "a") != 0 {
			t.Error("it was stopped")
		}
	})
}

func TestAReloadInBetweenChangesWhoListensAndWhoMay(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		v := p.value(&p.phone("lab").chat, press.HoldHour)
		p.yaml = strings.Replace(p.yaml, "users: [42, 43]", "users: [43]", 1)
		if err := p.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.wantHeard(p.press("42", v), false, "You may not")
		p.run(time.Second)
		p.wantHeard(p.press("43", v), true, "Held by Li until ")
		p.yaml = strings.Replace(strings.Replace(p.yaml, ", users: [43]", "", 1), ", users: [1]", "", 1)
		if err := p.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.run(time.Second)
		if n := p.phone("lab").listeners() + p.phone("boss").listeners(); n != 0 {
			t.Errorf("%d still listen", n)
		}
	})
}

func TestOneOfSeveralOnOneWireListensAndComesBack(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop")
		p.phone("lab").drops = 3
		p.cloud.MustAdd(trained("a", -8*time.Minute, 0))
		p.restart()
		p.run(2 * time.Minute)
		if lab, boss := p.phone("lab").listeners(), p.phone("boss").listeners(); lab != 1 || boss != 0 {
			t.Errorf("%d and %d listen, want one for both", lab, boss)
		}
	})
}

// Killed before the press is committed nothing is done and it can be pressed again;
// killed after it, it was done once.
func TestKilledBetweenPressAndCommit(t *testing.T) {
	for _, moment := range []int{1, 2} {
		inLab(t, func(t *testing.T) {
			p := announced(t)
			v := p.value(&p.phone("lab").chat, press.HoldHour)
			p.mu.Lock()
			seen := 0
			p.kill = func() bool {
				seen++
				return seen == moment
			}
			p.mu.Unlock()
			if a := p.press("42", v); a.err == nil {
				t.Fatalf("killed, it says %+v", a)
			}
			p.run(40 * time.Second) // it is started again
			p.wantHeard(p.press("42", v), true, "Held by Wang Wei until ")
			p.wantOutcomes("a stop abandoned")
			if holds, err := p.app.store.Holds(t.Context(), time.Now()); err != nil || len(holds) != 1 {
				t.Errorf("holds %+v, %v", holds, err)
			}
		})
	}
}

func TestALinkShowsAndOnlyItsFormActs(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		m := p.last(p.mail)
		if m.Actions[0].Value != "" || !strings.HasPrefix(m.Actions[0].URL, "https://curfew.example/a/") {
			t.Fatalf("actions %+v", m.Actions)
		}
		path := "/a/" + p.value(p.mail, press.HoldHour)
		var page string
		for range 1000 {
			status, body := p.web("GET", path, nil)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			page = body
			time.Sleep(100 * time.Millisecond)
		}
		p.wantOutcomes("a stop (pending until " + p.journal()[0].NextAt.Format(time.TimeOnly) + ": )")
		for _, want := range []string{"Wait 1 hour", "Will stop exp-a at ", "RTX 4090", "1.98 CNY", "The GPU is not reserved"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page does not say %q: %s", want, page)
			}
		}
		if status, _ := p.web("HEAD", path, nil); status != http.StatusOK {
			t.Errorf("HEAD: %d", status)
		}
		form := p.formOf(page)
		if status, body := p.web("POST", path, form); status != http.StatusOK || !strings.Contains(body, "Held by inbox (link) until ") {
			t.Errorf("status %d: %s", status, body)
		}
		p.wantOutcomes("a stop abandoned")
		if status, _ := p.web("POST", path, form); status != http.StatusConflict {
			t.Errorf("a second time: %d", status)
		}
		if status, body := p.web("GET", path, nil); status != http.StatusGone || !strings.Contains(body, "Already done by inbox (link)") || strings.Contains(body, "<form") {
			t.Errorf("afterwards: %d %s", status, body)
		}
		if status, body := p.web("GET", "/a/"+p.value(p.mail, press.Now), nil); status != http.StatusGone || !strings.Contains(body, "This is over since") {
			t.Errorf("of what is over: %d %s", status, body)
		}
		// A button's value is no link, and no channel's link outlives the channel.
		if status, body := p.web("GET", "/a/"+p.value(&p.phone("lab").chat, press.Now), nil); status != http.StatusNotFound || !strings.Contains(body, "not made by this curfew") {
			t.Errorf("a button's value: %d %s", status, body)
		}
		p.yaml = strings.Replace(p.yaml, "    - {name: inbox, type: post}\n", "", 1)
		if err := p.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status, _ := p.web("GET", path, nil); status != http.StatusNotFound {
			t.Errorf("of a channel that is gone: %d", status)
		}
	})
}

func TestManyFormsAtOnceActOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := announced(t)
		path := "/a/" + p.value(p.mail, press.Now)
		_, page := p.web("GET", path, nil)
		form := p.formOf(page)
		codes := make(chan int, 30)
		for range 30 {
			go func() {
				status, _ := p.web("POST", path, form)
				codes <- status
			}()
		}
		done := 0
		for range 30 {
			switch code := <-codes; code {
			case http.StatusOK:
				done++
			case http.StatusConflict:
			default:
				t.Errorf("status %d", code)
			}
		}
		if done != 1 {
			t.Errorf("done %d times", done)
		}
		p.run(2 * time.Minute)
		p.wantOutcomes("a stop done")
		p.wantTold("Now, without waiting: stop exp-a", 1)
	})
}

func TestThePageMovesWithTheConfigurationAndEndsWithTheDaemon(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop")
		p.restart()
		p.run(time.Second)
		if status, body := p.web("GET", "/healthz", nil); status != http.StatusOK || body != "ok\n" {
			t.Errorf("health: %d %q", status, body)
		}
		p.lab.wire.mu.Lock()
		p.lab.wire.taken = "127.0.0.1:9999"
		p.lab.wire.mu.Unlock()
		was := p.yaml
		p.yaml = strings.Replace(p.yaml, pageAt, "127.0.0.1:9999", 1) + "ping: {listen: \"" + pingsAt + "\"}\n"
		if err := p.app.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "listen 127.0.0.1:9999") {
			t.Errorf("an address that is taken: %v", err)
		}
		if status, _ := p.web("GET", "/healthz", nil); status != http.StatusOK {
			t.Errorf("the old door is shut: %d", status)
		}
		if status := p.get(pingsAt, "/ping/x", ""); status != 0 {
			t.Errorf("the door for pings is open: %d", status)
		}
		p.yaml = strings.Replace(was, "listen: \""+pageAt+"\"\n", "", 1)
		if err := p.app.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.run(time.Second)
		if status, _ := p.web("GET", "/healthz", nil); status != 0 {
			t.Errorf("it is served and nobody asked for it: %d", status)
		}
	})
}

func TestWithoutButtonsAndPageThereIsNothingToAnswerBy(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop")
		p.yaml = strings.NewReplacer(", users: [42, 43]", "", ", users: [1]", "", "public_url: https://curfew.example\n", "").Replace(p.yaml)
		p.cloud.MustAdd(trained("a", -8*time.Minute, 0))
		p.restart()
		p.run(2 * time.Minute)
		for _, c := range []*chat{&p.phone("lab").chat, p.mail} {
			c.mu.Lock()
			for _, m := range c.took {
				if len(m.Actions) > 0 {
					t.Errorf("actions %+v", m.Actions)
				}
			}
			c.mu.Unlock()
		}
	})
}

// A press holds no longer than a hold by hand, and says so.
func TestAPressHoldsNoLongerThanMayBe(t *testing.T) {
	for _, lang := range []struct{ phone, user, cut, asked string }{
		{
			"lab", "42",
			"Held by Wang Wei until %s. For more somebody else says curfew approve hold:1; a hold lasts 30m at most",
			"This holds nothing yet: Wang Wei asks to hold exp-a, for which somebody else says curfew approve hold:2; ",
		},
		{
			"boss", "1",
			"1 已将其暂缓至 %s。更长须由他人执行 curfew approve hold:1；单次暂缓最长 30分",
			"尚未暂缓：1 申请暂缓 exp-a，须由他人执行 curfew approve hold:2；",
		},
	} {
		inLab(t, func(t *testing.T) {
			p := announced(t, "hold: {max: 30m, total: 30m}\n")
			until := time.Now().Add(30 * time.Minute)
			p.wantHeard(p.press(lang.user, p.value(&p.phone(lang.phone).chat, press.HoldHour)), true, fmt.Sprintf(lang.cut, until.In(time.FixedZone("Shanghai", 8*60*60)).Format("15:04")))
			p.wantOutcomes("a stop abandoned")
			p.run(32 * time.Minute)
			p.wantHeard(p.press(lang.user, p.value(&p.phone(lang.phone).chat, press.HoldHour)), true, lang.asked)
			if holds, err := p.app.store.Holds(t.Context(), time.Now()); err != nil || len(holds) != 0 {
				t.Errorf("holds %+v, %v", holds, err)
			}
			p.run(20 * time.Minute)
			p.wantOutcomes("a stop abandoned", "a stop done")
		})
	}
}

func TestButtonsThatNobodyHearsAreToldOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop")
		p.phone("lab").drops = 7
		p.restart()
		p.run(time.Hour)
		p.wantTold("nobody hears what is pressed", 0)
		if p.phone("lab").listeners() != 1 {
			t.Error("nobody listens")
		}
	})
	inLab(t, func(t *testing.T) {
		p := newPressLab(t, "stop")
		p.phone("lab").drops = 1000
		p.restart()
		p.run(9 * time.Minute)
		p.wantTold("nobody hears what is pressed", 0)
		p.run(3 * time.Hour)
		p.wantTold("nobody hears what is pressed in lab, boss; it is tried again: the line is dead", 1)
		zh := p.phone("boss").drain()
		if !slices.ContainsFunc(zh, func(s string) bool {
			return strings.Contains(s, "起收不到渠道 lab, boss 中的按钮操作，正在重试：the line is dead")
		}) {
			t.Errorf("the boss was told %q", zh)
		}
		if err := p.app.Reload(t.Context()); err != nil { // they listen anew, in vain
			t.Fatal(err)
		}
		p.run(3 * time.Hour)
		p.wantTold("nobody hears what is pressed", 1)
	})
}
