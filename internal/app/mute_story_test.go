package app

import (
	"testing"
	"time"

	"curfew/fleet"
)

// muting mutes all of the lab until the first night of the story is over.
const muting = `
  channels: [{name: wx, type: chat}]
  group: off
  mute: [{match: {account: lab}, until: 2000-01-01}]
`

func TestWhatIsMutedIsNotedAndNotTold(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, muting)
		muted := findingOn("w", fleet.Warning, fleet.CategoryHealth)
		p.found = []fleet.Finding{muted, findingOn("m", fleet.Warning, fleet.CategoryMoney), findingOn("c", fleet.Critical, fleet.CategoryHealth)}
		p.pass(5 * time.Minute)
		p.want("wx", "c odd", "m odd")
		told, err := p.app.store.ToldKeys(t.Context(), standingPrefix)
		if err != nil || told[keyOf(muted)].IsZero() {
			t.Errorf("what policies go by is not noted: %v, %v", told, err)
		}
		p.again()
		p.found = p.found[:1]
		p.pass(30 * time.Hour)
		p.want("wx", "c odd", "m odd", "m well", "c well")
		p.found = []fleet.Finding{findingOn("late", fleet.Warning, fleet.CategoryHealth)}
		p.pass(10 * time.Minute)
		p.want("wx", "c odd", "m odd", "m well", "c well", "late odd")
		if told, err := p.app.store.ToldKeys(t.Context(), standingPrefix); err != nil || !told[keyOf(muted)].IsZero() {
			t.Errorf("what is over is still noted: %v, %v", told, err)
		}
	})
}

func TestWhatWasToldBeforeItWasMutedIsNotRemindedOfAndIsToldToBeOver(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n  group: off\n")
		p.found = []fleet.Finding{findingOn("w", fleet.Warning, fleet.CategoryHealth)}
		p.pass(5 * time.Minute)
		p.reload(muting)
		p.pass(10 * time.Hour)
		p.want("wx", "w odd")
		p.found = nil
		p.pass(5 * time.Minute)
		p.want("wx", "w odd", "w well")
	})
}

func TestWhatWasMutedAndBecomesCriticalIsTold(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, muting)
		p.found = []fleet.Finding{findingOn("w", fleet.Warning, fleet.CategoryHealth)}
		p.pass(5 * time.Minute)
		p.want("wx")
		p.found[0].Severity = fleet.Critical
		p.pass(5 * time.Minute)
		p.want("wx", "w odd")
		p.pass(11 * time.Minute)
		p.want("wx", "w odd", "w odd")
	})
}

func TestWhatIsQuietIsToldOnceAndToBeOver(t *testing.T) {
	inLab(t, func(t *testing.T) {
		p := newPost(t, "\n  channels: [{name: wx, type: chat}]\n  group: off\n")
		deep, shallow := findingOn("deep", fleet.Warning, fleet.CategoryMoney), findingOn("shallow", fleet.Warning, fleet.CategoryMoney)
		p.found = []fleet.Finding{shallow}
		p.pass(10 * time.Minute)
		shallow.Quiet = true
		p.found = []fleet.Finding{shallow, deep}
		p.pass(65 * time.Minute)
		p.want("wx", "shallow odd", "deep odd", "deep odd")
		p.found = nil
		p.pass(5 * time.Minute)
		p.want("wx", "shallow odd", "deep odd", "deep odd", "{deep well, shallow well}")
	})
}
