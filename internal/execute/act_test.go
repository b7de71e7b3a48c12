package execute

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/store"
)

func TestAStopIsReadLookedAtAskedWrittenAndVerified(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.takesEffect(fleet.StateStopped)
		i := l.live(id, time.Minute)
		l.wantOutcome(i, fleet.OutcomeDone, ReasonVerified)
		l.wantWrites(1)
		l.wantTold("done info execute.verified")
		if l.reads != 2 || l.looks != 1 || l.asks != 1 {
			t.Errorf("%d reads, %d looks, %d times asked", l.reads, l.looks, l.asks)
		}
		if i.Cost != fleet.CNY(2_000_000) || l.told[0].Intent.Cost != i.Cost {
			t.Errorf("it has cost %s, told as %s, want 2.00 CNY", i.Cost, l.told[0].Intent.Cost)
		}
		steps, err := l.store.Journal(t.Context(), id)
		var words []string
		for _, s := range steps {
			words = append(words, s.Step)
		}
		if got := strings.Join(words, " "); err != nil || got != "opened started written closed" {
			t.Errorf("journal: %s (%v)", got, err)
		}
		if next := l.step(id); !next.IsZero() || l.reads != 2 {
			t.Error("what has ended is taken further")
		}
	})
}

func TestNothingIsDoneBeforeItsTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fleet.Intent)
	}{
		{"before the deadline", func(i *fleet.Intent) { i.Deadline = i.Deadline.Add(time.Hour) }},
		{"before it was to be tried again", func(i *fleet.Intent) { i.NextAt = i.NextAt.Add(time.Hour) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop, c.change)
				if next := l.step(id); time.Until(next) != time.Hour {
					t.Errorf("the next step is due in %s", time.Until(next))
				}
				if l.reads != 0 {
					t.Error("it was read")
				}
				l.takesEffect(fleet.StateStopped)
				l.wantOutcome(l.live(id, 2*time.Hour), fleet.OutcomeDone, ReasonVerified)
				if got := l.writes[0]; got != "stop 1h0m0s" {
					t.Errorf("sent: %s", got)
				}
			})
		})
	}
	t.Run("a deadline that was moved while it was read and looked at", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.onLook = func() {
				l.do(func(tx *store.Tx) error {
					row, err := tx.Intent(id)
					if err != nil {
						return err
					}
					row.Deadline = tx.Now.Add(time.Hour)
					return tx.SaveIntent(&row, fleet.IntentPending, "joined")
				})
				l.onLook = nil
			}
			l.step(id)
			l.wantWrites(0)
			if l.asks != 0 {
				t.Error("policies were asked before the deadline")
			}
		})
	})
}

// TestTheReadBeforeTheAct says what becomes of an intent that the world has
// changed under.
func TestTheReadBeforeTheAct(t *testing.T) {
	for _, c := range []struct {
		name    string
		action  fleet.Action
		change  func(*lab)
		outcome fleet.Outcome // none: it waits
		why     fleet.Code
	}{
		{"a stop of what is stopped", fleet.Stop, func(l *lab) { l.thing.State = fleet.StateStopped }, fleet.OutcomeAbandoned, ReasonAlready},
		{"a stop of what is released", fleet.Stop, func(l *lab) { l.thing.State = fleet.StateReleased }, fleet.OutcomeAbandoned, ReasonAlready},
		{"a release of what is released", fleet.Release, func(l *lab) { l.thing.State = fleet.StateReleased }, fleet.OutcomeAbandoned, ReasonAlready},
		{"a start of what runs", fleet.Start, func(l *lab) { l.thing.Boot = "n2" }, fleet.OutcomeAbandoned, ReasonAlready},
		{"a stop of another boot", fleet.Stop, func(l *lab) { l.thing.Boot = "n2" }, fleet.OutcomeAbandoned, ReasonOtherBoot},
		{"a release of another boot", fleet.Release, func(l *lab) { l.thing.Boot, l.thing.State = "n2", fleet.StateStopped }, fleet.OutcomeAbandoned, ReasonOtherBoot},
		{"a stop of a boot nobody can tell", fleet.Stop, func(l *lab) { l.thing.Boot = "" }, fleet.OutcomeAbandoned, ReasonOtherBoot},
		{"gone", fleet.Stop, func(l *lab) { l.gone, l.readErr = true, fault(fleet.NotFound) }, fleet.OutcomeVanished, ReasonGone},
		{"gone before its release", fleet.Release, func(l *lab) { l.gone, l.readErr = true, fault(fleet.NotFound) }, fleet.OutcomeVanished, ReasonGone},
		{"not found once", fleet.Release, func(l *lab) { l.readErr = fault(fleet.NotFound) }, "", ReasonNotFoundOnce},
		{"not readable", fleet.Stop, func(l *lab) { l.readErr = fault(fleet.Transient) }, "", ReasonReadFailed},
		{"no right to read it", fleet.Stop, func(l *lab) { l.readErr = fault(fleet.Unauthorized) }, "", ReasonReadFailed},
		{"an answer about another", fleet.Stop, func(l *lab) { l.thing.Ref = ref("b") }, "", ReasonReadFailed},
		{"on its way down", fleet.Stop, func(l *lab) { l.thing.State = fleet.StateStopping }, "", ReasonInBetween},
		{"in a state nobody knows", fleet.Stop, func(l *lab) { l.thing.State, l.thing.RawState = "", "hibernating" }, "", ReasonInBetween},
		{"being released by somebody", fleet.Release, func(l *lab) { l.thing.State = fleet.StateReleasing }, "", ReasonInBetween},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(c.action)
				c.change(l)
				i := l.live(id, time.Minute)
				if l.asks != 0 {
					t.Error("it got as far as asking")
				}
				l.wantWrites(0)
				if c.outcome != fleet.OutcomeNone {
					l.wantOutcome(i, c.outcome, c.why)
					return
				}
				if i.State != fleet.IntentPending || i.HeldBack.Code != c.why {
					t.Fatalf("it is %s (%s; waits for %s), want pending for %s", i.State, i.Why.Code, i.HeldBack.Code, c.why)
				}
				l.wantTold()
			})
		})
	}
}

func TestWhatCannotBeReadIsReadLessAndLessOften(t *testing.T) {
	for name, break_ := range map[string]func(*lab){
		"an error":           func(l *lab) { l.readErr = fault(fleet.Unauthorized) },
		"a state in between": func(l *lab) { l.thing.State = fleet.StateStopping },
		"nothing to be told": func(l *lab) {
			l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
				return Answer{Word: PutOff, Reason: fleet.Because("app.no-fresh-look", nil)}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop)
				break_(l)
				if i := l.live(id, 6*time.Hour); i.State != fleet.IntentPending {
					t.Errorf("it is %s", i.State)
				}
				if l.reads < 60 || l.reads > 100 {
					t.Errorf("it was read %d times in six hours", l.reads)
				}
				l.wantWrites(0)
				if len(l.told) != 1 || l.told[0].at < warn || l.told[0].at > warn+longPause {
					t.Errorf("told %d times, first at %+v", len(l.told), l.told)
				}
				if n := len(l.journal(id)); n > 3 {
					t.Errorf("the journal has %d lines of it", n)
				}
			})
		})
	}
}

func (l *lab) journal(id int64) []store.Entry {
	l.t.Helper()
	steps, err := l.store.Journal(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return steps
}

// TestAWriteIsAnswered says for every kind of answer what becomes of the intent
// where the platform shows no effect.
func TestAWriteIsAnswered(t *testing.T) {
	type want struct {
		state   fleet.IntentState
		outcome fleet.Outcome
	}
	wants := map[fleet.ErrorKind]want{"": {fleet.IntentWritten, ""}}
	for _, k := range []fleet.ErrorKind{fleet.Unauthorized, fleet.Unsupported, fleet.Invalid, fleet.ReadOnly, fleet.OutOfStock} {
		wants[k] = want{fleet.IntentClosed, fleet.OutcomeFailedWrite}
	}
	for _, k := range []fleet.ErrorKind{fleet.RateLimited, fleet.Banned} {
		wants[k] = want{fleet.IntentPending, ""}
	}
	for _, k := range []fleet.ErrorKind{fleet.NotFound, fleet.Transient, fleet.Conflict, fleet.OutcomeUnknown, fleet.Other} {
		wants[k] = want{fleet.IntentWritten, ""}
	}
	for _, kind := range append(fleet.ErrorKinds(), "") {
		t.Run("kind "+string(kind), func(t *testing.T) {
			w, ok := wants[kind]
			if !ok {
				t.Fatal("nobody says what becomes of it")
			}
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop)
				answer := fault(kind)
				if kind == "" {
					answer = nil
				}
				l.write = func(context.Context) error { return answer }
				l.step(id)
				i := l.read(id)
				if i.State != w.state || i.Outcome != w.outcome {
					t.Fatalf("it is %s %s, want %s %s", i.State, i.Outcome, w.state, w.outcome)
				}
				if a := i.Attempts; len(a) != 1 || a[0].Kind != string(kind) || (a[0].Error == "") != (kind == "") || a[0].EndedAt.IsZero() {
					t.Errorf("attempts: %+v", a)
				}
				switch w.state {
				case fleet.IntentClosed:
					l.wantTold("alarm critical execute.write-failed")
					return
				case fleet.IntentPending:
					l.wantTold()
					least := 2 * soon
					if kind == fleet.Banned {
						least = bannedPause
					}
					if wait := time.Until(i.NextAt); wait < least {
						t.Errorf("it is tried again after %s", wait)
					}
				case fleet.IntentWritten:
					// Nothing is repeated before a read later than the settle time.
					l.live(id, settleTime-time.Nanosecond)
					l.wantWrites(1)
				}
				l.takesEffect(fleet.StateStopped)
				l.wantOutcome(l.live(id, time.Hour), fleet.OutcomeDone, ReasonVerified)
				l.wantWrites(2)
				if l.asks != 2 || l.looks != 2 {
					t.Errorf("before the second write it was asked %d times and looked at %d times", l.asks, l.looks)
				}
				if i := l.read(id); i.Attempts[0].StartedAt.Equal(i.Attempts[1].StartedAt) || !strings.HasPrefix(i.Token, "curfew-1-2-") {
					t.Errorf("the second attempt is not told apart: %+v, token %s", i.Attempts, i.Token)
				}
			})
		})
	}
}

func TestTheRestAPlatformAsksForIsALowerBound(t *testing.T) {
	for _, c := range []struct{ asked, want time.Duration }{
		{0, 2 * soon}, {time.Second, 2 * soon}, {time.Hour, time.Hour}, {1000 * time.Hour, longestRest},
	} {
		t.Run(c.asked.String(), func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop)
				l.write = func(context.Context) error {
					return &fleet.Error{Op: "stop", Kind: fleet.RateLimited, RetryAfter: c.asked}
				}
				if next := l.step(id); time.Until(next) != c.want {
					t.Errorf("it is tried again after %s, want %s", time.Until(next), c.want)
				}
			})
		})
	}
}

func TestAPlatformThatKeepsRefusingForNowIsTold(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.write = func(context.Context) error { return fault(fleet.RateLimited) }
		l.live(id, 12*time.Hour)
		l.wantTold("put-off warning execute.refused-for-now")
		if at := l.told[0].at; at < warn || at > 2*warn {
			t.Errorf("told after %s", at)
		}
		if n := len(l.writes); n > 12*6+10 {
			t.Errorf("%d tries in half a day", n)
		}
	})
}

func TestAPlatformThatCannotIsToldSo(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Delete)
		l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeFailedWrite, ReasonWriteFailed)
		l.wantWrites(0)
		l.wantTold("alarm critical execute.write-failed")
	})
}

func TestAPutOffIsToldOnceAndOnlyAfterAnotherWarningTime(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		n := 0
		l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
			n++ // the reason is another one each time
			return Answer{Word: PutOff, Reason: fleet.Because([]fleet.Code{"a.a", "b.b"}[n%2], nil)}, nil
		}
		l.live(id, warn-time.Second)
		l.wantTold()
		l.live(id, 8*time.Hour)
		if len(l.told) != 1 || !strings.HasPrefix(string(l.told[0].Event), "put-off") {
			t.Fatalf("told %d times", len(l.told))
		}
		if cost := l.told[0].Intent.Cost; cost.Micros < 2_100_000 {
			t.Errorf("it is told with a cost of %s", cost)
		}
	})
	t.Run("a silent one never", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
				return Answer{Word: PutOff, Reason: fleet.Because("app.deaf", nil), Silent: true}, nil
			}
			l.live(id, 10*time.Hour)
			l.wantTold()
		})
	})
	t.Run("a short one never", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.readErr = fault(fleet.Transient)
			l.live(id, 5*time.Minute)
			l.readErr = nil
			l.takesEffect(fleet.StateStopped)
			l.live(id, time.Hour)
			l.wantTold("done info execute.verified")
		})
	})
	t.Run("until the time it says", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			until := time.Now().Add(3 * time.Hour)
			l.ask = func(tx *store.Tx, _ fleet.Intent) (Answer, error) {
				if tx.Now.Before(until) {
					return Answer{Word: PutOff, Reason: fleet.Because("guard.cooldown", nil), Until: until}, nil
				}
				return Answer{Word: Go}, nil
			}
			l.takesEffect(fleet.StateStopped)
			l.wantOutcome(l.live(id, 4*time.Hour), fleet.OutcomeDone, ReasonVerified)
			if l.asks != 2 {
				t.Errorf("asked %d times", l.asks)
			}
		})
	})
}

func TestAGroundAgainstItEndsIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fleet.Intent)
		told   bool
	}{
		{"people who were told hear of it", func(*fleet.Intent) {}, true},
		{"people who were told of an earlier announcement too", func(i *fleet.Intent) { i.AcceptedAt, i.Announced = time.Time{}, 2 }, true},
		{"and whoever asked by hand", func(i *fleet.Intent) { i.AcceptedAt, i.Announced, i.By = time.Time{}, 0, "hand:wang" }, true},
		{"nobody hears of what nobody was told", func(i *fleet.Intent) { i.AcceptedAt = time.Time{} }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				id := l.announced(fleet.Stop, c.change)
				l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
					return Answer{Reason: fleet.Because("policy.busy-again", nil)}, nil
				}
				l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeAbandoned, "policy.busy-again")
				l.wantWrites(0)
				if c.told {
					l.wantTold("abandoned info policy.busy-again")
				} else {
					l.wantTold()
				}
			})
		})
	}
}

func TestWishesThatJoinedAreJournaledWithTheWrite(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.ask = func(*store.Tx, fleet.Intent) (Answer, error) {
			return Answer{Word: Go, Verdicts: []fleet.Verdict{{Policy: "done", Ground: &fleet.Ground{Run: "r"}}}}, nil
		}
		l.step(id)
		for _, s := range l.journal(id) {
			if s.Step == "started" && (len(s.Row.Verdicts) != 1 || s.Row.Verdicts[0].Ground.Run != "r" || s.Row.Fence != l.store.Fence()) {
				t.Errorf("started with %+v under %d", s.Row.Verdicts, s.Row.Fence)
			}
		}
	})
}

// TestAHoldComesBeforeOrAfter lets a person say "hold" between the read and the
// write: the transaction that starts the write sees it.
func TestAHoldComesBeforeOrAfter(t *testing.T) {
	hold := func(l *lab) {
		l.do(func(tx *store.Tx) error {
			return tx.AddHold(&fleet.Hold{Ref: ref("a"), Until: tx.Now.Add(time.Hour), By: "wang"})
		})
	}
	ask := func(tx *store.Tx, _ fleet.Intent) (Answer, error) {
		hs, err := tx.Holds()
		if len(hs) > 0 {
			return Answer{Reason: fleet.Because("guard.held", nil)}, err
		}
		return Answer{Word: Go}, err
	}
	t.Run("before: nothing is sent", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.ask, l.onLook = ask, func() { hold(l) }
			l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeAbandoned, "guard.held")
			l.wantWrites(0)
		})
	})
	t.Run("after: it is sent, and the hold can see that", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.ask = ask
			l.write = func(context.Context) error {
				hold(l)
				if got := l.read(id).State; got != fleet.IntentStarted {
					t.Errorf("the hold sees it %s", got)
				}
				l.thing.State = fleet.StateStopped
				return nil
			}
			l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeDone, ReasonVerified)
			l.wantWrites(1)
		})
	})
}

func TestWithoutAJournalNothingIsSent(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.onLook = func() { l.full = true }
		for range 3 {
			if _, err := l.x.Step(t.Context(), id); !errors.Is(err, errFull) {
				t.Fatalf("got %v", err)
			}
		}
		l.wantWrites(0)
		l.full, l.onLook = false, nil
		l.takesEffect(fleet.StateStopped)
		l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeDone, ReasonVerified)
		l.wantWrites(1)
	})
}

func TestAnAnswerThatCannotBeJournaledIsSettledByReading(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.write = func(context.Context) error {
			l.full = true
			l.thing.State = fleet.StateStopped
			return fault(fleet.OutcomeUnknown)
		}
		if _, err := l.x.Step(t.Context(), id); !errors.Is(err, errFull) {
			t.Fatalf("got %v", err)
		}
		l.full = false
		l.wantOutcome(l.live(id, time.Hour), fleet.OutcomeDone, ReasonVerified)
		l.wantWrites(1)
	})
}

func TestAWriteEndsWithItsTimeAndTheDaemon(t *testing.T) {
	t.Run("one that hangs", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			l.write = func(ctx context.Context) error {
				<-ctx.Done()
				return &fleet.Error{Op: "stop", Kind: fleet.OutcomeUnknown, Err: ctx.Err()}
			}
			l.step(id)
			if took := time.Since(began); took != writeTimeout {
				t.Errorf("it hung for %s", took)
			}
			if got := l.read(id).State; got != fleet.IntentWritten {
				t.Errorf("it is %s", got)
			}
		})
	})
	t.Run("a daemon that is stopped meanwhile leaves it to the next", func(t *testing.T) {
		inLab(t, func(t *testing.T, l *lab) {
			id := l.announced(fleet.Stop)
			ctx, stop := context.WithCancel(t.Context())
			l.write = func(context.Context) error {
				l.thing.State = fleet.StateStopped
				stop()
				return fault(fleet.Invalid) // whatever it says
			}
			if _, err := l.x.Step(ctx, id); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if got := l.read(id).State; got != fleet.IntentStarted {
				t.Errorf("it is %s", got)
			}
			l.start()
			l.wantOutcome(l.live(id, time.Minute), fleet.OutcomeDone, ReasonVerified)
			l.wantWrites(1)
		})
	})
}

func TestAnAccountThatIsNotThereIsWaitedForAndTold(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := l.announced(fleet.Stop)
		l.account = false
		l.live(id, time.Hour)
		l.wantTold("put-off warning execute.no-account")
		l.account = true
		l.write = func(context.Context) error {
			l.account = false
			return nil
		}
		l.live(id, 30*time.Minute)
		if l.reads > 1 {
			t.Error("it was read without an account")
		}
		l.wantTold("put-off warning execute.no-account", "alarm critical execute.unverified")
		l.account = true
		l.thing.State = fleet.StateStopped
		l.wantOutcome(l.live(id, 30*time.Minute), fleet.OutcomeDone, ReasonVerified)
		l.wantWrites(1)
		if next, err := l.x.Step(t.Context(), id); err != nil || !next.IsZero() {
			t.Errorf("what has ended is taken further: %s (%v)", next, err)
		}
	})
}
