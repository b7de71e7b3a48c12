package execute

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/providers"
)

// secures lets the lab do something with the data before an act, each time it is
// asked.
func (l *lab) secures(do func(times int) (Answer, error)) {
	times := 0
	l.x.World.Secure = func(_ context.Context, _ providers.Account, _ fleet.Intent, seen fleet.Instance) (Answer, error) {
		times++
		if len(l.writes) > 0 || seen.Ref != ref("a") {
			l.t.Errorf("data of %s is secured after %v", seen.Ref, l.writes)
		}
		return do(times)
	}
}

func TestAfterDataWasSecuredEverythingIsReadAnew(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.secures(func(times int) (Answer, error) {
			if times > 1 {
				return Answer{Word: Go}, nil
			}
			time.Sleep(20 * time.Minute)
			return Answer{Word: Go, Worked: true}, nil
		})
		l.takesEffect(fleet.StateStopped)
		saved := []fleet.Secured{{Policy: "p", By: fleet.SecuredByExport, OK: true, StartedAt: began, EndedAt: began.Add(20 * time.Minute)}}
		l.ask = func(_ *store.Tx, in fleet.Intent) (Answer, error) { return Answer{Word: Go, Secured: saved}, nil }
		i := l.live(id, time.Hour)
		l.wantOutcome(i, fleet.OutcomeDone, ReasonVerified)
		if l.reads != 3 || l.looks != 1 || l.asks != 1 {
			t.Errorf("%d reads, %d looks, %d times asked", l.reads, l.looks, l.asks)
		}
		said := func(r fleet.Reason) bool { return r.Code == ReasonExported }
		if len(l.told) != 1 || !slices.ContainsFunc(l.told[0].Because, said) {
			t.Errorf("the notice does not say that data was exported: %+v", l.told)
		}
	})
}

func TestWhatIsCalledOffWhileDataIsSecuredIsNotWritten(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.secures(func(int) (Answer, error) {
			l.do(func(tx *store.Tx) error {
				row, err := tx.Intent(id)
				if err != nil {
					return err
				}
				return l.x.Abandon(tx, &row, fleet.Because("guard.held", nil))
			})
			return Answer{Word: Go, Worked: true}, nil
		})
		l.wantOutcome(l.live(id, time.Hour), fleet.OutcomeAbandoned, "guard.held")
		l.wantWrites(0)
	})
}

func TestDataThatIsStillBeingSecuredIsWaitedFor(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.secures(func(times int) (Answer, error) {
			switch times {
			case 1:
				return Answer{Word: PutOff, Reason: fleet.Because("app.securing", nil), Silent: true}, nil
			case 2:
				return Answer{}, errors.New("the state cannot be written")
			}
			return Answer{Word: Go}, nil
		})
		l.step(id)
		if i := l.read(id); i.State != fleet.IntentPending || i.HeldBack.Code != "app.securing" {
			t.Errorf("it is %s: %s", i.State, i.HeldBack.Code)
		}
		time.Sleep(time.Minute)
		if _, err := l.x.Step(t.Context(), id); err == nil {
			t.Error("an error is lost")
		}
		l.takesEffect(fleet.StateStopped)
		l.wantOutcome(l.live(id, time.Hour), fleet.OutcomeDone, ReasonVerified)
		l.wantWrites(1)
	})
}

func TestAGoalThatWasLoweredIsJournaled(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop, func(i *fleet.Intent) { i.Goal = fleet.Release })
		l.takesEffect(fleet.StateStopped)
		l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
			return Answer{Word: Go, Verdicts: []fleet.Verdict{{Policy: "p", Goal: fleet.Stop}}}, nil
		}
		if i := l.live(id, time.Hour); i.Goal != fleet.Stop {
			t.Errorf("its goal is still %s", i.Goal)
		}
	})
}
