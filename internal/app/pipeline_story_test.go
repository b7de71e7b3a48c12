package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

const (
	twoChats = `
  channels: [{name: wx, type: chat}, {name: mail, type: chat}]
`
	night = `
  channels: [{name: wx, type: chat}]
  quiet_hours: {from: "23:00", to: "08:00"}
`
	withFallback = `
  channels: [{name: wx, type: chat}, {name: loud, type: chat, min_severity: critical}, {name: sms, type: chat}, {name: mail, type: chat}]
  routes: [{to: wx, fallback: [loud, sms, mail]}]
`
)

// untilNight lets the day pass until half past eleven.
func (p *post) untilNight() { p.pass(15*time.Hour + 30*time.Minute) }

func TestWhatIsOverIsToldOnlyWhereItWasHeardOf(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, twoChats)
		p.chat("mail").answer = fails(notify.VerdictPermanent)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(5 * time.Minute)
		p.reload(twoChats) // which gives mail another chance
		p.chat("mail").answer = nil
		p.found = nil
		p.pass(10 * time.Minute)
		p.want("wx", "odd", "channel mail refuses", "well")
		for _, title := range p.chat("mail").titles() {
			if strings.Contains(title, "well") {
				t.Errorf("mail never heard of it, and is told %q", title)
			}
		}
	})
}

func TestWhatIsOverIsToldWhereverItWasHeardOf(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, `
  channels: [{name: wx, type: chat, min_severity: warning}, {name: mail, type: chat}]
  routes: [{category: health, to: wx, fallback: mail}, {to: wx}]
`)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(5 * time.Minute)
		p.found = nil
		p.pass(10 * time.Minute)
		p.want("wx", "odd", "well")
		p.chat("wx").answer = fails(notify.VerdictPermanent)
		p.found = []fleet.Finding{findingOn("b", fleet.Warning, fleet.CategoryHealth)}
		p.pass(5 * time.Minute)
		p.found = nil
		p.pass(10 * time.Minute)
		p.want("mail", "channel wx refuses", "b odd", "b well")
	})
}

func TestWhatOpenedAndIsOverInOneNightIsOneLineInTheMorning(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := newPost(t, night)
		p.untilNight()
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth), findingOn("b", fleet.Warning, fleet.CategoryHealth)}
		p.pass(time.Hour)
		p.found = p.found[1:]
		p.pass(time.Hour)
		p.again()
		p.pass(6*time.Hour + 29*time.Minute)
		p.want("wx")
		p.pass(2 * time.Minute)
		p.want("wx", "2 notices")
		got := p.chat("wx").took[0]
		if !strings.Contains(got.Plain, "a · odd (over since)") || strings.Contains(got.Plain, "well") || !strings.Contains(got.Plain, "b · odd") {
			t.Errorf("%s", got.Plain)
		}
		p.pass(24 * time.Hour)
		if n := slices.IndexFunc(p.chat("wx").titles()[1:], func(s string) bool { return !strings.Contains(s, "b") }); n >= 0 {
			t.Errorf("told again: %q", p.chat("wx").titles())
		}
	})
}

func TestWhatCannotWaitIsToldAtNight(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, night)
		p.untilNight()
		money := findingOn("m", fleet.Warning, fleet.CategoryMoney)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth), findingOn("c", fleet.Critical, fleet.CategoryHealth), money}
		stop := fleet.Intent{Action: fleet.Stop, State: fleet.IntentPending, Subject: fleet.Instance{Ref: p.found[0].Ref}}
		p.tell(notify.Notice{Key: "p", Event: notify.EventPending, Category: fleet.CategoryAct, Intent: &stop})
		p.turn()
		p.want("wx", "Will stop")
		p.pass(time.Minute)
		p.want("wx", "Will stop", "c odd", "m odd")
		for _, m := range p.chat("wx").took {
			if want := m.Severity != fleet.Critical; m.Silent != want {
				t.Errorf("%q is silent: %v", m.Title, m.Silent)
			}
		}
	})
}

func TestHeldNoticesOfAChannelThatIsGoneGoWhereTheyWouldGoNow(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, night)
		p.untilNight()
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(time.Hour)
		p.reload(strings.Replace(night, "wx", "mail", 1))
		p.pass(7 * time.Hour)
		p.want("mail")
		p.pass(31 * time.Minute)
		p.want("wx")
		p.want("mail", "a odd")
	})
}

func TestABrokenChannelWithoutAFallbackLosesNothing(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		p.chat("wx").answer = fails(notify.VerdictPermanent)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(time.Minute)
		p.chat("wx").answer = nil
		p.found = append(p.found, findingOn("b", fleet.Warning, fleet.CategoryHealth))
		p.pass(10 * time.Minute)
		p.want("wx")
		p.reload("\n  channels: [{name: wx, type: chat}]\n")
		p.pass(time.Minute)
		p.want("wx", "b odd")
	})
}

func TestFallbacksAreAskedOneAfterTheOther(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, withFallback)
		p.chat("wx").answer, p.chat("sms").answer = fails(notify.VerdictPermanent), fails(notify.VerdictPermanent)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(10 * time.Minute)
		p.want("loud", "channel wx refuses", "channel sms refuses") // nothing that is no more than a warning
		p.want("mail", "channel wx refuses", "channel sms refuses", "a odd")
		p.again()
		p.pass(45 * time.Minute)
		if n := strings.Count(strings.Join(p.chat("mail").titles(), "\n"), "a odd"); n != 1 {
			t.Errorf("after a restart it was told %d times:\n%q", n, p.chat("mail").titles())
		}
	})
}

func TestAChannelThatIsSilentForLongHasItsFallbackAsked(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, withFallback)
		p.chat("wx").answer = fails(notify.VerdictRetry)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(10 * time.Minute)
		p.want("sms", "a odd")
	})
}

func TestAFallbackKeepsTheQuietHours(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := newPost(t, strings.TrimRight(withFallback, "\n")+"\n  quiet_hours: {from: \"23:00\", to: \"08:00\"}\n")
		p.chat("wx").answer = fails(notify.VerdictPermanent)
		p.found = []fleet.Finding{findingOn("c", fleet.Critical, fleet.CategoryHealth)}
		p.untilNight() // by when wx is known to be broken
		told := len(p.chat("sms").titles())
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth), p.found[0]}
		p.pass(time.Hour)
		for _, title := range p.chat("sms").titles()[told:] {
			if strings.Contains(title, "a odd") {
				t.Errorf("told at night: %q", title)
			}
		}
		p.pass(7*time.Hour + 35*time.Minute)
		if all := strings.Join(p.chat("sms").titles(), "\n"); !strings.Contains(all, "a odd") {
			t.Errorf("it was lost:\n%s", all)
		}
	})
}

func TestWhatIsPrintedIsNotHeard(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, `
  channels: [{name: out, type: console}, {name: wx, type: chat}, {name: mail, type: chat}]
  routes: [{category: health, to: [out, wx], fallback: mail}, {to: out, fallback: mail}]
`)
		p.chat("wx").answer = fails(notify.VerdictPermanent)
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth), findingOn("m", fleet.Warning, fleet.CategoryMoney)}
		p.pass(10 * time.Minute)
		p.want("mail", "channel wx refuses", "a odd")
		p.wantTold("m · odd", 1)
	})
}

const escalating = `
  channels: [{name: wx, type: chat}, {name: boss, type: chat}]
  routes: [{to: wx, escalate: {after: 20m, to: boss}}]
`

func TestWhatNobodyAnswersIsToldMorePeopleOnce(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, escalating)
		p.found = []fleet.Finding{findingOn("c", fleet.Critical, fleet.CategoryHealth), findingOn("w", fleet.Warning, fleet.CategoryHealth)}
		p.pass(19 * time.Minute)
		p.want("boss")
		p.again()
		p.pass(2 * time.Minute)
		p.want("boss", "c odd")
		p.again()
		p.pass(2 * time.Hour)
		p.want("boss", "c odd")
		p.found = nil
		p.pass(10 * time.Minute)
		p.want("boss", "c odd", "c well")
	})
}

func TestAClockThatIsPutBackHoldsNoNoticeBack(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		clock := &jumping{}
		p.clock = clock
		clock.jump(365 * 24 * time.Hour)
		p.again()
		p.found = []fleet.Finding{findingOn("a", fleet.Warning, fleet.CategoryHealth)}
		p.pass(2 * time.Minute)
		clock.jump(-365 * 24 * time.Hour)
		p.found = append(p.found, findingOn("b", fleet.Warning, fleet.CategoryHealth))
		p.pass(10 * time.Minute)
		p.want("wx", "a odd", "b odd")
	})
}
