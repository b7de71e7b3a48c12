package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/notify"
	"curfew/policies"
)

func TestAFindingsRemindersComeOnceEachOverRestarts(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n  group: off\n")
		p.found = []fleet.Finding{findingOn("w", fleet.Warning, fleet.CategoryHealth)}
		began := time.Now()
		for n := 0; time.Since(began) < 50*time.Hour; n++ {
			p.turn()
			if n%2 == 1 {
				p.again()
			}
			time.Sleep(10 * time.Minute)
		}
		var got []time.Duration
		for _, m := range p.chat("wx").took {
			got = append(got, m.at.Sub(began).Round(30*time.Minute))
		}
		want := []time.Duration{0, time.Hour, 4 * time.Hour, 24 * time.Hour, 48 * time.Hour}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("told after %v, want %v", got, want)
		}
	})
}

func TestARemindersThatWereMissedAtNightAreOneInTheMorning(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		p := newPost(t, night)
		p.pass(12 * time.Hour) // 20:00
		p.found = []fleet.Finding{findingOn("w", fleet.Warning, fleet.CategoryHealth)}
		p.pass(11*time.Hour + 59*time.Minute)
		p.want("wx", "w odd", "w odd")
		p.pass(2 * time.Minute)
		p.want("wx", "w odd", "w odd", "w odd")
		if got := p.chat("wx").took[2]; got.Event != notify.EventReminder || !strings.Contains(got.Plain, "so since") {
			t.Errorf("%+v", got.Message)
		}
	})
}

func TestWhatOpensTwiceInADayIsToldTwiceAndRemindedOfAnew(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		for range 2 {
			p.found = []fleet.Finding{findingOn("w", fleet.Warning, fleet.CategoryHealth)}
			p.pass(70 * time.Minute)
			p.found = nil
			p.pass(10 * time.Minute)
		}
		p.want("wx", "w odd", "w odd", "w well", "w odd", "w odd", "w well")
		took := p.chat("wx").took
		if took[1].ReplyTo == "" || took[1].ReplyTo != took[2].ReplyTo || took[3].ReplyTo != "" || took[4].ReplyTo == took[1].ReplyTo {
			t.Errorf("the second opening answers the first: %q %q %q %q", took[1].ReplyTo, took[2].ReplyTo, took[3].ReplyTo, took[4].ReplyTo)
		}
	})
}

func TestManyAlikeAreOneNoticeOneReminderAndEachOver(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		for n := range 5 {
			p.found = append(p.found, findingOn(fmt.Sprint("w", n), fleet.Warning, fleet.CategoryHealth))
		}
		p.pass(65 * time.Minute)
		p.want("wx", "5 things alike", "5 things alike")
		p.found = p.found[3:]
		p.pass(10 * time.Minute)
		p.want("wx", "5 things alike", "5 things alike", "3 notices")
		p.pass(170 * time.Minute)
		if titles := p.chat("wx").titles(); len(titles) != 4 || !strings.Contains(titles[3], "2 things alike") {
			t.Errorf("the reminder of the others: %q", titles)
		}
	})
}

func TestAnAccountThatCannotBeReadMutesWhatIsNotKnownOfItsInstances(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		dark := findingOn("lab", fleet.Warning, fleet.CategoryHealth)
		dark.Ref.Kind, dark.Reason = fleet.KindAccount, fleet.Because(ReasonAccountDark, nil)
		p.found = []fleet.Finding{dark, findingOn("a", fleet.Warning, fleet.CategoryHealth), findingOn("m", fleet.Warning, fleet.CategoryMoney)}
		p.pass(5 * time.Minute)
		if all := strings.Join(p.chat("wx").titles(), "\n"); len(p.chat("wx").took) != 2 || strings.Contains(all, "a odd") {
			t.Errorf("told:\n%s", all)
		}
		p.found = p.found[1:]
		p.pass(5 * time.Minute)
		if all := strings.Join(p.chat("wx").titles(), " "); !strings.Contains(all, "a odd") {
			t.Error("what lasts after the account is back is not told")
		}
	})
}

func TestWhereNothingCanBeReadOneMessageSaysSo(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		p.found = nil
		for _, name := range []string{"x", "y"} {
			f := findingOn(name, fleet.Warning, fleet.CategoryHealth)
			f.Ref = fleet.Ref{Account: name, Kind: fleet.KindAccount, ID: name}
			f.Reason = fleet.Because(ReasonAccountDark, nil)
			p.found = append(p.found, f)
		}
		all := findingOn(ownAccount, fleet.Critical, fleet.CategoryHealth)
		all.Ref = fleet.Ref{Account: ownAccount, Kind: fleet.KindAccount, ID: ownAccount}
		all.Reason = fleet.Because(ReasonAllDark, fleet.Values{"count": fleet.Number(2), "since": fleet.Moment(time.Now())})
		p.found = append(p.found, all)
		p.pass(14 * time.Minute)
		p.want("wx", "none of the 2 accounts can be read")
		p.found = p.found[:1]
		p.pass(10 * time.Minute)
		if len(p.chat("wx").took) != 3 {
			t.Errorf("one is still dark: %q", p.chat("wx").titles())
		}
	})
}

// darkDesk is a desk in which accounts fail since so many minutes; 0 is not at all.
func darkDesk(now time.Time, told []string, minutes ...int) (*runtime, []policies.ScopeState, *desk) {
	rt, d := &runtime{}, &desk{now: now, standing: map[string]time.Time{}}
	for _, key := range told {
		d.standing[key] = now
	}
	var scopes []policies.ScopeState
	for n, m := range minutes {
		acc := &account{}
		acc.cfg.Name = fmt.Sprint("acc", n)
		rt.accounts = append(rt.accounts, acc)
		s := policies.ScopeState{Scope: fleet.Scope{Account: acc.cfg.Name}}
		if m > 0 {
			s.Since, s.Failing = now.Add(-time.Duration(m)*time.Minute), fleet.Because("x", fleet.Values{"kind": fleet.Text("unreachable")})
		}
		scopes = append(scopes, s)
	}
	return rt, scopes, d
}

func TestWhenAllAccountsAreDark(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		told    []string
		minutes []int
		want    bool
	}{
		{"one of two", nil, []int{9, 0}, false},
		{"both for long", nil, []int{9, 6}, true},
		{"both at once, told with the first", nil, []int{5, 4}, true},
		{"a passing failure beside one that lasts", nil, []int{600, 1}, false},
		{"both for a short time", nil, []int{4, 4}, false},
		{"the only one", nil, []int{9}, false},
	} {
		rt, scopes, d := darkDesk(now, c.told, c.minutes...)
		if got := len(allDark(rt, scopes, d)) == 1; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	rt, scopes, d := darkDesk(now, nil, 9, 9)
	f := allDark(rt, scopes, d)[0]
	rt, scopes, d = darkDesk(now, []string{f.Key()}, 600, 1)
	if len(allDark(rt, scopes, d)) != 1 {
		t.Error("told and still so, and it is said to be over")
	}
	scopes[0].Failing = fleet.Because("x", fleet.Values{"kind": fleet.Text(string(fleet.Unauthorized))})
	if len(allDark(rt, scopes, d)) != 0 {
		t.Error("one that has lost its rights is no sign of a network that is down")
	}
}

func TestNobodyIsToldThatAnAccountIsBackWhichIsNotAskedAnyMore(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		gone := findingOn("old", fleet.Warning, fleet.CategoryHealth)
		gone.Ref = fleet.Ref{Account: "sim:old", Kind: fleet.KindAccount, ID: "old"}
		p.found = []fleet.Finding{gone}
		p.pass(5 * time.Minute)
		p.found = nil
		p.pass(10 * time.Minute)
		p.want("wx", "odd")
	})
}

// An account of which it was not found out yet who it is is not back because a daemon
// just began.
func TestNobodyIsToldThatAnAccountIsBackBeforeItIsAsked(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		dark := findingOn("lab", fleet.Warning, fleet.CategoryHealth)
		dark.Ref = fleet.Ref{Account: "lab", Kind: fleet.KindAccount, ID: "lab"}
		p.found = []fleet.Finding{dark}
		p.pass(5 * time.Minute)
		p.again()
		p.app.runtime().accounts[0].open = nil
		p.found = nil
		p.pass(2 * time.Minute)
		p.want("wx", "odd")
		p.known()
		p.pass(10 * time.Minute)
		p.want("wx", "odd", "well")
	})
}
