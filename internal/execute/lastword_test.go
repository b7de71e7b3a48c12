package execute

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/notify"
)

// inside runs a story about the machine that curfew itself runs in.
func inside(t *testing.T, story func(t *testing.T, l *lab)) {
	t.Helper()
	inLab(t, func(t *testing.T, l *lab) {
		l.thing.Here = true
		l.thing.OnStop.ReleasesAfter = 15 * 24 * time.Hour
		story(t, l)
	})
}

// dies ends the daemon in the middle of something, and starts another.
func (l *lab) dies(id int64, boot fleet.Boot) {
	l.t.Helper()
	l.thing.Boot = boot
	l.start()
	if i := l.read(id); !i.Open() {
		l.t.Fatalf("the new life begins with %s %s", i.State, i.Outcome)
	}
}

func TestTheLastNoticeGoesOutBeforeTheCommand(t *testing.T) {
	inside(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.heard = func(string) {
			l.wantWrites(0)
			if i := l.read(id); i.State != fleet.IntentStarted {
				t.Errorf("while it waits to be heard it is %s", i.State)
			}
			time.Sleep(20 * time.Second)
		}
		l.write = func(context.Context) error {
			l.wantTold("asked info execute.asked")
			return nil
		}
		l.step(id)
		l.wantWrites(1)
		if got := l.writes[0]; got != "stop 20s" {
			t.Errorf("sent: %s", got)
		}
		if got := strings.Join(l.waits, " "); got != "intent|1|asked|1" {
			t.Errorf("it waited for %q to be heard", got)
		}
		n := l.told[0]
		if n.Intent.Cost != fleet.CNY(2_000_000) || !n.Subject.ReleasesAt.Equal(began.Add(15*24*time.Hour)) || n.Event != notify.EventAsked {
			t.Errorf("told with a cost of %s and a release at %s", n.Intent.Cost, n.Subject.ReleasesAt)
		}
	})
	t.Run("not where somebody outside can look", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			l.step(l.announced(fleet.Stop))
			if len(l.waits) != 0 || len(l.told) != 0 {
				t.Errorf("waited for %v, told %v", l.waits, l.told)
			}
		})
	})
	t.Run("not where nothing is sent", func(t *testing.T) {
		inside(t, func(t *testing.T, l *lab) {
			l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
				return Answer{Word: PutOff, Reason: fleet.Because("guard.cooldown", nil)}, nil
			}
			l.step(l.announced(fleet.Stop))
			if len(l.waits) != 0 || len(l.told) != 0 {
				t.Errorf("waited for %v, told %v", l.waits, l.told)
			}
		})
	})
}

// TestAnotherBootShowsThatTheMachineWentDown lets the machine power off at every
// moment after the start was journaled, and come back at another.
func TestAnotherBootShowsThatTheMachineWentDown(t *testing.T) {
	for _, c := range []struct {
		name string
		dies func(l *lab, id int64)
	}{
		{"while the notice waits to be heard", func(l *lab, id int64) {
			ctx, cancel := context.WithCancel(l.t.Context())
			l.heard = func(string) { cancel() }
			if _, err := l.x.Step(ctx, id); !errors.Is(err, context.Canceled) {
				l.t.Errorf("the step ends with %v", err)
			}
			l.wantWrites(0)
		}},
		{"during the command", func(l *lab, id int64) {
			ctx, cancel := context.WithCancel(l.t.Context())
			l.write = func(ctx context.Context) error {
				cancel()
				return ctx.Err()
			}
			if _, err := l.x.Step(ctx, id); !errors.Is(err, context.Canceled) {
				l.t.Errorf("the step ends with %v", err)
			}
		}},
		{"after the command", func(l *lab, id int64) { l.step(id) }},
	} {
		for _, away := range []time.Duration{3 * time.Second, 10 * time.Hour} {
			t.Run(c.name+", back after "+away.String(), func(t *testing.T) {
				inside(t, func(t *testing.T, l *lab) {
					id := l.announced(fleet.Stop)
					c.dies(l, id)
					sent := len(l.writes)
					time.Sleep(away)
					l.dies(id, "n2")
					l.step(id)
					i := l.read(id)
					l.wantOutcome(i, fleet.OutcomeDone, ReasonStartedAgain)
					l.wantWrites(sent)
					l.wantTold("asked info execute.asked", "done info execute.started-again")
					if i.Cost != fleet.CNY(2_000_000) {
						t.Errorf("the time it was down is counted: %s", i.Cost)
					}
				})
			})
		}
	}
}

func TestTheSameBootShowsThatThePowerOffFailed(t *testing.T) {
	t.Run("a command that fails is told at once, and tried again later, each time longer", func(t *testing.T) {
		inside(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.write = func(context.Context) error {
				return &fleet.Error{Op: "machines: stop a", Kind: fleet.Other, Err: errors.New("exit status 1: must be root")}
			}
			l.step(id)
			l.wantTold("asked info execute.asked", "alarm critical execute.command-failed")
			if n := l.told[1]; n.Intent.Outcome != fleet.OutcomeFailedWrite || !strings.Contains(n.Reason.Values["error"].Any().(string), "must be root") {
				t.Errorf("told as %s: %v", n.Intent.Outcome, n.Reason)
			}
			l.live(id, settleTime+2*soon-time.Second)
			l.wantWrites(1)
			l.live(id, 50*time.Minute)
			if n := len(l.writes); n < 4 || n > 10 {
				t.Errorf("it was sent %d times in 50 minutes", n)
			}
			alarms := 0
			for _, n := range l.told {
				if n.Event == notify.EventAlarm {
					alarms++
				}
			}
			if alarms != 1 {
				t.Errorf("told %d times in 50 minutes that it failed", alarms)
			}
		})
	})
	t.Run("a command that ends well and does nothing", func(t *testing.T) {
		inside(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.live(id, settleTime+5*time.Second)
			l.wantWrites(1)
			l.wantTold("asked info execute.asked", "alarm critical execute.runs-on")
			if i := l.read(id); i.State != fleet.IntentPending || time.Until(i.NextAt) < 20*time.Second {
				t.Errorf("it is %s, next in %s", i.State, time.Until(i.NextAt))
			}
			l.live(id, time.Minute)
			l.wantWrites(2)
			if l.looks != 2 || l.asks != 2 {
				t.Errorf("looked at %d times and asked %d times before the second", l.looks, l.asks)
			}
			if got := strings.Join(l.waits, " "); got != "intent|1|asked|1 intent|1|asked|2" {
				t.Errorf("it waited for %q to be heard", got)
			}
		})
	})
	t.Run("a daemon killed in the middle of it", func(t *testing.T) {
		inside(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			ctx, cancel := context.WithCancel(t.Context())
			l.write = func(ctx context.Context) error {
				cancel()
				return ctx.Err()
			}
			if _, err := l.x.Step(ctx, id); err == nil {
				t.Error("the step did not end with the daemon")
			}
			l.dies(id, "n1")
			l.write = func(context.Context) error { return nil }
			l.live(id, lastWordWait+writeTimeout+settleTime-time.Second)
			l.wantWrites(1)
			l.wantTold("asked info execute.asked")
			l.live(id, 10*time.Second)
			l.wantWrites(1)
			l.wantTold("asked info execute.asked", "alarm critical execute.runs-on")
			l.live(id, time.Minute)
			l.wantWrites(2)
		})
	})
}
