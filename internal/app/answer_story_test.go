package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/ctl"
)

// answer says that wang knows of something, and gives of what.
func (p *post) answer(name string) []string {
	p.t.Helper()
	a, err := p.app.Answer(p.t.Context(), ctl.AnswerRequest{Name: name, By: "wang"})
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, k := range a.Known {
		out = append(out, k.Name+" "+string(k.Reason.Code))
	}
	return out
}

func TestWhoKnowsOfAThingIsNotRemindedUntilItIsOver(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, escalating)
		p.found = []fleet.Finding{findingOn("c", fleet.Critical, fleet.CategoryHealth), findingOn("d", fleet.Critical, fleet.CategoryHealth)}
		p.pass(10 * time.Minute)
		if got := p.answer("c"); !slices.Equal(got, []string{"c odd"}) {
			t.Errorf("known is %q", got)
		}
		p.again()
		p.pass(30 * time.Hour)
		for _, name := range []string{"wx", "boss"} {
			all := strings.Join(p.chat(name).titles()[1:], "\n")
			if name == "boss" {
				all = strings.Join(p.chat(name).titles(), "\n")
			}
			if strings.Contains(all, "c odd") || !strings.Contains(all, "d odd") {
				t.Errorf("%s was told:\n%s", name, all)
			}
		}
		p.found = nil
		p.pass(10 * time.Minute)
		told := len(p.chat("boss").took)
		p.found = []fleet.Finding{findingOn("c", fleet.Critical, fleet.CategoryHealth)}
		p.pass(30 * time.Minute)
		if titles := p.chat("boss").titles(); len(titles) != told+1 || !strings.Contains(titles[told], "c odd") {
			t.Errorf("what opened anew: boss was told %q", titles[told:])
		}
	})
}

func TestAllThatCanBeAnswered(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		on := func(ref fleet.Ref) fleet.Finding {
			f := findingOn(ref.ID, fleet.Warning, fleet.CategoryMoney)
			f.Ref, f.Condition = ref, string(ref.Kind)
			return f
		}
		p.found = []fleet.Finding{
			on(fleet.Ref{Account: "lab", Kind: fleet.KindAccount, ID: "lab/one"}), on(fleet.Ref{Account: "lab", Kind: fleet.KindAccount, ID: "lab/two"}),
			on(fleet.Ref{Kind: fleet.KindOwner, ID: "li"}), on(fleet.Ref{Kind: fleet.KindBudget, ID: "month"}), findingOn("i", fleet.Warning, fleet.CategoryHealth),
		}
		p.pass(time.Minute)
		if got := p.answer("lab"); len(got) != 2 {
			t.Errorf("an account is known by %q, want both of what was told of it", got)
		}
		for _, name := range []string{"li", "month", "i"} {
			if got := p.answer(name); len(got) != 1 {
				t.Errorf("%s: %q", name, got)
			}
		}
		_, err := p.app.Answer(t.Context(), ctl.AnswerRequest{Name: "nobody", By: "wang"})
		if err == nil || !strings.Contains(err.Error(), `"nobody"`) || !strings.Contains(err.Error(), "about i, lab, li, month") {
			t.Errorf("error %v", err)
		}
		told := len(p.chat("wx").took)
		p.pass(5 * time.Hour)
		if got := p.chat("wx").titles()[told:]; len(got) != 0 {
			t.Errorf("reminded of %q", got)
		}
	})
}

func TestWhatSomebodyElseSentCounts(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n")
		for want := 1; want < 3; want++ {
			a, err := p.app.Sends(t.Context(), ctl.SendsRequest{Channel: "wx", Sent: true})
			if err != nil || len(a.Sent) != want {
				t.Fatalf("%d are counted (%v), want %d", len(a.Sent), err, want)
			}
			p.again()
		}
		if a, err := p.app.Sends(t.Context(), ctl.SendsRequest{Channel: "wx"}); err != nil || len(a.Sent) != 2 {
			t.Errorf("to ask counts: %d (%v)", len(a.Sent), err)
		}
	})
}
