package execute

import (
	"context"
	"errors"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
	"curfew/providers"
)

// TestVerify says for every state a platform can show after a write what becomes
// of the intent: ended, repeated by a read later than the settle time, or read on.
func TestVerify(t *testing.T) {
	const (
		repeated = "repeated"
		readOn   = "read on"
	)
	done, vanished := string(fleet.OutcomeDone), string(fleet.OutcomeVanished)
	actions := []fleet.Action{fleet.Start, fleet.Stop, fleet.Release}
	for _, c := range []struct {
		state                fleet.State
		start, stop, release string
	}{
		{fleet.StateUnknown, readOn, readOn, readOn},
		{fleet.StateCreating, readOn, readOn, readOn},
		{fleet.StateStarting, readOn, readOn, readOn},
		{fleet.StateRunning, done, repeated, repeated},
		{fleet.StateStopping, readOn, readOn, readOn},
		{fleet.StateStopped, repeated, done, repeated},
		{fleet.StateReleasing, readOn, readOn, readOn},
		{fleet.StateReleased, vanished, vanished, done},
		{fleet.StateFailed, repeated, repeated, repeated},
	} {
		for n, want := range []string{c.start, c.stop, c.release} {
			action := actions[n]
			t.Run(action.String()+" shows "+c.state.String(), func(t *testing.T) {
				inLab(t, func(t *testing.T, l *lab) {
					l.thing.State = fleet.StateRunning
					if action == fleet.Start {
						l.thing.State = fleet.StateStopped
					}
					id := l.announced(action)
					l.write = func(context.Context) error {
						l.thing.State = c.state
						l.gone = c.state.Gone()
						return nil
					}
					i := l.live(id, settleTime-time.Second)
					if want == repeated || want == readOn {
						if i.State != fleet.IntentWritten {
							t.Fatalf("before the settle time was over it is %s %s", i.State, i.Outcome)
						}
						l.wantWrites(1)
						i = l.live(id, 10*time.Minute)
					}
					switch want {
					case repeated:
						if len(l.writes) < 2 {
							t.Errorf("sent %v; it is %s (%s)", l.writes, i.State, i.HeldBack.Code)
						}
					case readOn:
						l.wantWrites(1)
						if i.State != fleet.IntentWritten || i.HeldBack.Code != ReasonInBetween {
							t.Errorf("it is %s %s (%s)", i.State, i.Outcome, i.HeldBack.Code)
						}
						l.wantTold("alarm critical execute.unverified")
					default:
						if i.State != fleet.IntentClosed || string(i.Outcome) != want {
							t.Errorf("it is %s %s (%s), want %s", i.State, i.Outcome, i.HeldBack.Code, want)
						}
					}
				})
			})
		}
	}
}

func TestWhatIsNotFoundIsGoneOnlyWhenTheObserverSaysSo(t *testing.T) {
	for action, want := range map[fleet.Action]fleet.Outcome{
		fleet.Release: fleet.OutcomeDone, fleet.Stop: fleet.OutcomeVanished, fleet.Start: fleet.OutcomeVanished,
	} {
		t.Run(action.String(), func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				if action == fleet.Start {
					l.thing.State = fleet.StateStopped
				}
				id := l.announced(action)
				l.write = func(context.Context) error {
					l.readErr = fault(fleet.NotFound)
					return nil
				}
				i := l.live(id, time.Minute)
				if i.State != fleet.IntentWritten || i.HeldBack.Code != ReasonNotFoundOnce {
					t.Fatalf("after a not-found it is %s %s (%s)", i.State, i.Outcome, i.HeldBack.Code)
				}
				reads := l.reads
				if reads > 4 {
					t.Errorf("it was read %d times in a minute", reads)
				}
				l.gone = true
				i = l.live(id, time.Minute)
				if i.Outcome != want {
					t.Errorf("it is %s %s, want %s", i.State, i.Outcome, want)
				}
				l.wantWrites(1)
			})
		})
	}
}

func TestAnotherBootAfterTheWrite(t *testing.T) {
	for _, c := range []struct {
		action  fleet.Action
		outcome fleet.Outcome
		why     fleet.Code
		told    string
	}{
		{fleet.Stop, fleet.OutcomeDone, ReasonStartedAgain, "done info execute.started-again"},
		{fleet.Release, fleet.OutcomeAbandoned, ReasonOtherBoot, "abandoned info execute.other-boot"},
	} {
		t.Run(c.action.String(), func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(c.action)
				l.write = func(context.Context) error {
					l.thing.Boot = "n2"
					return nil
				}
				if i := l.live(id, settleTime-time.Second); !i.Open() {
					t.Fatalf("it is %s (%s) by a read that may show what was before the write", i.Outcome, i.Why.Code)
				}
				l.wantOutcome(l.live(id, time.Minute), c.outcome, c.why)
				l.wantWrites(1)
				l.wantTold(c.told)
			})
		})
	}
	t.Run("a stale read that looked like a start is not taken for one", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.write = func(context.Context) error {
				l.thing.Boot = "n2"
				return nil
			}
			l.live(id, 5*time.Second)
			l.thing.State = fleet.StateStopped
			l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeDone, ReasonVerified)
		})
	})
}

func TestAnAnswerAboutAnotherThingProvesNothing(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.write = func(context.Context) error {
			l.thing.Ref, l.thing.State = ref("b"), fleet.StateStopped
			return nil
		}
		i := l.live(id, 10*time.Minute)
		if i.State != fleet.IntentWritten || i.HeldBack.Code != ReasonReadFailed {
			t.Errorf("it is %s %s (%s)", i.State, i.Outcome, i.HeldBack.Code)
		}
		l.wantWrites(1)
	})
}

// TestALateEffectIsNotRepeated lets a write whose answer was lost take effect at
// the last moment within the settle time.
func TestALateEffectIsNotRepeated(t *testing.T) {
	for _, kind := range []fleet.ErrorKind{"", fleet.OutcomeUnknown, fleet.Transient, fleet.Conflict, fleet.Other} {
		t.Run("kind "+string(kind), func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop)
				l.write = func(context.Context) error {
					if kind == "" {
						return nil
					}
					return fault(kind)
				}
				if i := l.live(id, settleTime-time.Second); i.State != fleet.IntentWritten {
					t.Errorf("it is %s", i.State)
				}
				l.thing.State = fleet.StateStopped
				l.wantOutcome(l.live(id, time.Hour), fleet.OutcomeDone, ReasonVerified)
				l.wantWrites(1)
			})
		})
	}
}

// TestARowOfADeadProcess takes up what an earlier process left behind, at any time
// after it died.
func TestARowOfADeadProcess(t *testing.T) {
	left := func(l *lab, state fleet.IntentState, ago time.Duration) int64 {
		at := time.Now().UTC().Add(-ago)
		id := l.announced(fleet.Stop)
		l.do(func(tx *store.Tx) error {
			row, err := tx.Intent(id)
			if err != nil {
				return err
			}
			row.State, row.StartedAt, row.Token = state, at, "curfew-1-1-x"
			row.Attempts = []fleet.Attempt{{StartedAt: at, Fence: l.store.Fence()}}
			if state == fleet.IntentWritten {
				row.WrittenAt = at
			}
			return tx.SaveIntent(&row, fleet.IntentPending, "started")
		})
		l.start()
		return id
	}
	for _, c := range []struct {
		name  string
		state fleet.IntentState
		ago   time.Duration
		quiet time.Duration // from now until it may be repeated
	}{
		{"started just now", fleet.IntentStarted, 0, writeTimeout + settleTime},
		{"started a while ago", fleet.IntentStarted, 40 * time.Second, 10 * time.Second},
		{"started long ago", fleet.IntentStarted, time.Hour, 0},
		{"written just now", fleet.IntentWritten, 0, settleTime},
		{"written long ago", fleet.IntentWritten, time.Hour, 0},
	} {
		t.Run(c.name+", and it never reached the platform: repeated once", func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := left(l, c.state, c.ago)
				l.takesEffect(fleet.StateStopped)
				if c.quiet > 0 {
					l.live(id, c.quiet-time.Millisecond)
					l.wantWrites(0)
				}
				l.wantOutcome(l.live(id, 2*time.Minute), fleet.OutcomeDone, ReasonVerified)
				l.wantWrites(1)
				if l.asks != 1 || l.looks != 1 {
					t.Errorf("asked %d times and looked %d times before it was repeated", l.asks, l.looks)
				}
			})
		})
		t.Run(c.name+", and it took effect: not repeated", func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := left(l, c.state, c.ago)
				l.thing.State = fleet.StateStopped
				l.step(id)
				l.wantOutcome(l.read(id), fleet.OutcomeDone, ReasonVerified)
				l.wantWrites(0)
			})
		})
		t.Run(c.name+", and a ground speaks against it now: abandoned", func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := left(l, c.state, c.ago)
				l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
					return Answer{Reason: fleet.Because("policy.busy-again", nil)}, nil
				}
				l.wantOutcome(l.live(id, 5*time.Minute), fleet.OutcomeAbandoned, "policy.busy-again")
				l.wantWrites(0)
			})
		})
	}
}

// TestAStepThatComesLateChangesNothing holds one step up in its read while another
// takes the same intent through a whole second attempt. What the late one has read
// says nothing of that attempt.
func TestAStepThatComesLateChangesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		shows func(l *lab) // what the late read shows
	}{
		{"no effect", func(*lab) {}},
		{"the effect", func(l *lab) { l.thing.State = fleet.StateStopped }},
		{"not found", func(l *lab) { l.readErr = fault(fleet.NotFound) }},
		{"gone", func(l *lab) { l.gone, l.readErr = true, fault(fleet.NotFound) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop)
				l.step(id)
				time.Sleep(settleTime)
				before := l.thing
				c.shows(l)
				l.onRead = func() {
					l.onRead = nil
					l.thing, l.gone, l.readErr = before, false, nil
					l.step(id) // no effect: pending again
					l.step(id) // and sent once more
					l.wantWrites(2)
				}
				l.step(id)
				if i := l.read(id); i.State != fleet.IntentWritten || len(i.Attempts) != 2 {
					t.Errorf("after the late step it is %s %s after %d attempts", i.State, i.Outcome, len(i.Attempts))
				}
				l.wantTold()
				l.live(id, settleTime-time.Millisecond)
				l.wantWrites(2)
			})
		})
	}
	t.Run("a late read before the act", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.onRead = func() {
				l.onRead = nil
				l.step(id) // started and written meanwhile
				l.wantWrites(1)
			}
			l.step(id)
			l.wantWrites(1)
			if i := l.read(id); i.State != fleet.IntentWritten {
				t.Errorf("it is %s", i.State)
			}
		})
	})
	t.Run("a late failure to read before the act", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.readErr = fault(fleet.Transient)
			l.onRead = func() {
				l.onRead, l.readErr = nil, nil
				l.step(id)
			}
			l.step(id)
			if i := l.read(id); i.State != fleet.IntentWritten || !i.HeldBack.IsZero() {
				t.Errorf("it is %s (%s)", i.State, i.HeldBack.Code)
			}
			l.wantWrites(1)
		})
	})
}

func TestAnIntentThatIsLetGoWhileItIsWrittenStaysClosed(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.write = func(context.Context) error {
			l.do(func(tx *store.Tx) error {
				row, err := tx.Intent(id)
				if err != nil {
					return err
				}
				return l.x.LetGo(tx, &row, fleet.Because("app.forgotten", nil))
			})
			return nil
		}
		if _, err := l.x.Step(t.Context(), id); !errors.Is(err, store.ErrChanged) {
			t.Errorf("the step ends with %v", err)
		}
		l.wantOutcome(l.read(id), fleet.OutcomeUnverified, "app.forgotten")
		l.wantTold("alarm critical app.forgotten")
	})
	t.Run("a pending one is abandoned", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.do(func(tx *store.Tx) error {
				row, err := tx.Intent(id)
				if err != nil {
					return err
				}
				return l.x.LetGo(tx, &row, fleet.Because("app.forgotten", nil))
			})
			l.wantOutcome(l.read(id), fleet.OutcomeAbandoned, "app.forgotten")
			l.wantTold("abandoned info app.forgotten")
		})
	})
}

func TestWhatIsNotVerifiedIsToldAgainWithGrowingPausesAndWhatItCosts(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.write = func(context.Context) error {
			l.thing.State = fleet.StateStopping
			return nil
		}
		l.live(id, 3*24*time.Hour)
		if len(l.told) < 5 || len(l.told) > 12 {
			t.Fatalf("told %d times in three days", len(l.told))
		}
		if first := l.told[0].at; first < alarmAfter || first > 2*alarmAfter {
			t.Errorf("first told after %s", first)
		}
		var pause time.Duration
		for n, notice := range l.told {
			if notice.Reason.Code != ReasonUnverified || notice.Intent.Outcome != fleet.OutcomeUnverified {
				t.Errorf("told %s %s", notice.Reason.Code, notice.Intent.Outcome)
			}
			if n == 0 {
				continue
			}
			earlier := l.told[n-1]
			if notice.Intent.Cost.Micros <= earlier.Intent.Cost.Micros {
				t.Errorf("the cost went from %s to %s", earlier.Intent.Cost, notice.Intent.Cost)
			}
			if between := notice.at - earlier.at; between+longPause < pause || between > 25*time.Hour {
				t.Errorf("told after %s, and then after %s", pause, between)
			} else {
				pause = between
			}
		}
		if last := l.told[len(l.told)-1]; last.at < 36*time.Hour {
			t.Errorf("after %s it was told no more", last.at)
		}
		if l.reads > 3*24*12+100 {
			t.Errorf("it was read %d times", l.reads)
		}
		l.thing.State = fleet.StateStopped
		if i := l.live(id, 6*time.Minute); i.Outcome != fleet.OutcomeDone {
			t.Errorf("in the end it is %s %s", i.State, i.Outcome)
		}
		l.wantWrites(1)
	})
}

func TestAStopThatNeverTakesEffectIsToldWithWhatThePlatformSays(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.write = func(context.Context) error {
			return &fleet.Error{Op: "stop", Kind: fleet.Conflict, Err: errors.New("its termination protection is on")}
		}
		i := l.live(id, 12*time.Hour)
		if !i.Open() {
			t.Fatalf("it ended as %s", i.Outcome)
		}
		if n := len(l.writes); n < 3 || n > 80 {
			t.Errorf("it was sent %d times in half a day", n)
		}
		if len(l.told) == 0 || len(l.told) > 10 {
			t.Fatalf("told %d times", len(l.told))
		}
		for _, n := range l.told {
			if text, _ := n.Reason.Values["error"].Any().(string); n.Reason.Code != ReasonRefusedForNow || text != "stop: conflict: its termination protection is on" {
				t.Errorf("told %s %q", n.Reason.Code, text)
			}
		}
	})
}

func TestWhatAStopLeavesBehind(t *testing.T) {
	price := func(micros int64) fleet.Price {
		return fleet.Price{PerHour: fleet.CNY(micros), Source: fleet.PriceProvider}
	}
	for _, c := range []struct {
		name    string
		change  func(*lab)
		outcome fleet.Outcome
		told    string
	}{
		{"nothing", func(*lab) {}, fleet.OutcomeDone, "done info execute.verified"},
		{"nothing, the platform says", func(l *lab) { l.thing.OnStop.StillCosts = price(0) }, fleet.OutcomeDone, "done info execute.verified"},
		{"a disk", func(l *lab) { l.thing.OnStop.StillCosts = price(10_000) }, fleet.OutcomeDoneStillBilling, "done warning execute.still-billing"},
		{"all of it", func(l *lab) { l.thing.OnStop.EndsBilling = fleet.No }, fleet.OutcomeDoneStillBilling, "done warning execute.still-billing"},
		{"all of it, at a price nobody knows", func(l *lab) { l.thing.OnStop.EndsBilling, l.thing.Price = fleet.No, fleet.Price{} }, fleet.OutcomeDoneStillBilling, "done warning execute.still-billing-unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop)
				c.change(l)
				l.takesEffect(fleet.StateStopped)
				if i := l.live(id, time.Minute); i.Outcome != c.outcome {
					t.Errorf("it is %s", i.Outcome)
				}
				l.wantTold(c.told)
			})
		})
	}
	t.Run("nothing, where it is released at once", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.thing.OnStop = fleet.OnStop{EndsBilling: fleet.No, StillCosts: price(10_000)}
			l.takesEffect(fleet.StateReleased)
			l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeDone, ReasonVerified)
		})
	})
}

func TestAPlatformWithoutProofSaysSo(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.takesEffect(fleet.StateStopped)
		account := l.x.World.Account
		l.x.World.Account = func(identity string) (providers.Account, bool) {
			a, ok := account(identity)
			a.Kind.BillingProof = providers.ProofNone
			return a, ok
		}
		l.live(id, time.Minute)
		if len(l.told) != 1 || len(l.told[0].Because) != 1 || l.told[0].Because[0].Code != ReasonNoProof {
			t.Errorf("told %+v", l.told)
		}
	})
}

func TestBootCost(t *testing.T) {
	price := fleet.Price{PerHour: fleet.CNY(1_000_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider}
	at := func(h int) time.Time { return began.Add(time.Duration(h) * time.Hour) }
	subject := fleet.Instance{Boot: "n1", State: fleet.StateRunning, StartedAt: at(0), Price: price}
	stopped := subject
	stopped.State, stopped.StoppedAt = fleet.StateStopped, at(3)
	for _, c := range []struct {
		name          string
		subject, seen fleet.Instance
		want          fleet.Money
	}{
		{"it runs", subject, subject, fleet.CNY(10_000_000)},
		{"it has stopped", subject, stopped, fleet.CNY(3_000_000)},
		{"stopped, nobody knows when", subject, fleet.Instance{Boot: "n1", State: fleet.StateStopped}, fleet.CNY(10_000_000)},
		{"released after it was stopped", stopped, fleet.Instance{Boot: "n1", State: fleet.StateReleased}, fleet.CNY(3_000_000)},
		{"started again", subject, fleet.Instance{Boot: "n2", State: fleet.StateStopped, StoppedAt: at(9)}, fleet.CNY(10_000_000)},
		{"nobody knows since when", fleet.Instance{Price: price}, subject, fleet.Money{}},
		{"nobody knows the price", fleet.Instance{StartedAt: at(0)}, subject, fleet.Money{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := bootCost(c.subject, c.seen, at(10)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
