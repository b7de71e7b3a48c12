package app

import (
	"strings"
	"testing"
	"time"

	"curfew/providers/sim"
)

// newDigestLab is a lab in which a digest is told at nine. The bubble's clock begins at
// 08:00 in Shanghai.
func newDigestLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, "stop")
	l.digestAt(`"0 9 * * *"`)
	return l
}

const digestChannel = "    - {name: me, type: console}\n"

// digestAt changes the schedule; an empty one is none.
func (l *lab) digestAt(schedule string) {
	l.t.Helper()
	head, rest, ok := strings.Cut(l.yaml, digestChannel)
	if !ok {
		l.t.Fatal("the lab's file has another channel")
	}
	rest = rest[strings.Index(rest, "policies:"):]
	if schedule != "" {
		rest = "  digest: " + schedule + "\n" + rest
	}
	l.yaml = head + digestChannel + rest
}

// digests gives what was told under the title of a digest, each with its time.
func (l *lab) digests() []string {
	l.t.Helper()
	var all []string
	for notice := range strings.SplitSeq(l.out.String(), "\n\n2000-") {
		if title, _, _ := strings.Cut(notice, "\n"); strings.Contains(title, "  Digest: ") {
			all = append(all, strings.TrimPrefix(notice, "2000-"))
		}
	}
	return all
}

// untilTenToNine ends the daemon, lets the rest of the day and the night pass, and
// starts it again.
func (l *lab) untilTenToNine() {
	l.t.Helper()
	l.stop()
	at := time.Date(2000, 1, 1, 0, 50, 0, 0, time.UTC)
	for !at.After(time.Now()) {
		at = at.AddDate(0, 0, 1)
	}
	time.Sleep(time.Until(at))
	l.restart()
}

// wantDigests asks how many digests were told, and gives the last of them.
func (l *lab) wantDigests(n int) string {
	l.t.Helper()
	all := l.digests()
	if len(all) != n {
		l.t.Fatalf("%d digests were told, want %d:\n%s", len(all), n, l.out)
	}
	if n == 0 {
		return ""
	}
	return all[n-1]
}

func (l *lab) wantIn(digest string, want ...string) {
	l.t.Helper()
	for _, w := range want {
		if !strings.Contains(digest, w) {
			l.t.Errorf("the digest does not say %q:\n%s", w, digest)
		}
	}
}

func unmatched(id string) sim.Spec {
	s := working(id)
	s.Name = "prod-" + id
	return s
}

func TestADigestIsToldAtNineOnceADay(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.cloud.MustAdd(unmatched("x"))
		l.restart()
		l.run(59 * time.Minute)
		l.wantDigests(0)
		l.run(2 * time.Minute)
		l.wantIn(l.wantDigests(1), "01-01 09:00:0", "Digest: 1 running, 1.98 CNY/h, 1 unguarded", "Since 08:00, as of 09:00",
			"Unguarded, since no policy matches: 1", "prod-x: 3.96 CNY so far, 1.98 CNY/h, since 07:00", "1 stopped: exp-a")
		l.run(3 * time.Hour)
		l.wantDigests(1)
		l.untilTenToNine()
		l.run(9 * time.Minute)
		l.wantDigests(1)
		l.run(2 * time.Minute)
		last := l.wantDigests(2)
		l.wantIn(last, "01-02 09:00:0", "prod-x: 51.48 CNY so far")
		if strings.Contains(last, "exp-a") {
			t.Errorf("the stop of yesterday is told again:\n%s", last)
		}
		l.wantOutcomes("a stop done")
	})
}

func TestADigestIsToldWhereNothingRuns(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.restart()
		l.run(61 * time.Minute)
		l.wantIn(l.wantDigests(1), "Digest: all quiet\n  Since 08:00, as of 09:00")
	})
}

func TestARestartAtTheTimeOfTheDigestTellsItOnce(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.cloud.MustAdd(unmatched("x"))
		l.restart()
		l.run(time.Hour + 30*time.Second)
		l.wantDigests(1)
		l.stop()
		l.restart()
		l.run(5 * time.Hour)
		l.wantDigests(1)
	})
}

func TestADaemonThatDiesWhileItTellsTheDigestTellsItOnce(t *testing.T) {
	long(t)
	nine := func() bool { return time.Since(time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)) >= 0 }
	for point := range 6 {
		inLab(t, func(t *testing.T) {
			l := newDigestLab(t)
			l.cloud.MustAdd(unmatched("x"))
			l.restart()
			l.run(58 * time.Minute)
			seen, deaths := 0, 0
			l.mu.Lock()
			l.kill = func() bool {
				if nine() {
					seen++
				}
				if seen == point+1 && deaths == 0 {
					deaths++
					return true
				}
				return false
			}
			l.mu.Unlock()
			l.run(30 * time.Minute)
			told, err := l.app.store.ToldKeys(t.Context(), "digest|")
			if err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 {
				t.Errorf("killed at point %d: %d digests were queued: %v", point, len(told), told)
			}
			// A message that was sent and not yet written down is sent again; no other is.
			if n := len(l.digests()); n < 1 || n > 1+deaths {
				t.Errorf("killed at point %d: %d digests arrived:\n%s", point, n, l.out)
			}
			l.wantOutcomes()
		})
	}
}

func TestADigestIsToldLateOfWhatIsThen(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.cloud.MustAdd(unmatched("x"))
		l.cloud.MustAdd(unmatched("y"))
		l.restart()
		l.run(30 * time.Minute)
		l.stop()
		time.Sleep(40 * time.Minute)
		if err := l.cloud.UserStops("y"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		l.restart()
		l.run(5 * time.Minute)
		l.wantIn(l.wantDigests(1), "01-01 09:20:", "Digest: 1 running", "Since 08:00, as of 09:20")
		l.untilTenToNine()
		l.run(15 * time.Minute)
		l.wantIn(l.wantDigests(2), "Since 1 Jan 09:20, as of 09:00")
	})
}

func TestADigestWaitsNotLongForAnAccountThatCannotBeRead(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.cloud.MustAdd(unmatched("x"))
		l.restart()
		l.run(30 * time.Minute)
		l.stop()
		time.Sleep(40 * time.Minute)
		l.cloud.Break(sim.Fault{Kind: sim.LostRights, Op: "instances"})
		l.restart()
		l.run(2 * time.Minute)
		l.wantDigests(0)
		l.run(3 * time.Minute)
		l.wantIn(l.wantDigests(1), "Digest: 1 running", "Could not be read", "account lab cannot be read since 09:10")
	})
}

func TestADigestThatIsHoursLateIsSkippedAndTheNextOneSaysSo(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.cloud.MustAdd(unmatched("x"))
		l.restart()
		l.run(30 * time.Minute)
		l.stop()
		time.Sleep(4*time.Hour + 30*time.Minute)
		l.restart() // at 13:00
		l.run(time.Hour)
		l.wantDigests(0)
		l.untilTenToNine()
		l.run(15 * time.Minute)
		l.wantIn(l.wantDigests(1), "01-02 09:00:0", "The digest of 1 Jan 09:00 was skipped: curfew was not running", "Since 1 Jan 08:00")
		l.untilTenToNine()
		l.run(15 * time.Minute)
		if last := l.wantDigests(2); strings.Contains(last, "skipped") {
			t.Errorf("it is told twice:\n%s", last)
		}
	})
}

func TestADigestThatNoChannelTakesStaysInTheOutbox(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.cloud.MustAdd(unmatched("x"))
		l.restart()
		l.run(30 * time.Minute)
		l.out.fail(true)
		l.run(4 * time.Hour)
		l.stop()
		l.restart()
		l.run(4 * time.Hour)
		l.wantDigests(0)
		l.out.fail(false)
		l.run(10 * time.Minute)
		l.wantIn(l.wantDigests(1), "01-01 16:", "as of 09:00", "prod-x: 3.96 CNY so far")
	})
}

func TestADigestThatIsNewlyAskedForBeginsWithTheNextTick(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		reload := func(schedule string) {
			t.Helper()
			l.digestAt(schedule)
			if err := l.app.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		l.digestAt("")
		l.restart()
		l.run(30 * time.Minute)
		reload(`"0 * * * *"`) // at 08:30
		l.run(20 * time.Minute)
		l.wantDigests(0)
		reload(`"40 * * * *"`) // at 08:50
		l.run(45 * time.Minute)
		l.wantDigests(0)
		reload("off")
		l.run(3 * time.Hour)
		l.wantDigests(0)
		reload(`"40 * * * *"`) // at 12:35
		l.run(10 * time.Minute)
		if last := strings.TrimSpace(l.wantDigests(1)); !strings.HasPrefix(last, "01-01 12:40:0") || !strings.HasSuffix(last, "Digest: all quiet\n  Since 12:35, as of 12:40") {
			t.Errorf("the first says\n%s", last)
		}
	})
}

func TestADigestNamesWhatWaitsForApproval(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.yaml = strings.Replace(l.yaml, "    data: discard\n", "    data: discard\n    approval: true\n", 1)
		l.cloud.MustAdd(trained("a", 4*time.Minute, 0))
		l.restart()
		l.run(62 * time.Minute)
		l.wantIn(l.wantDigests(1), "Digest: 1 running, 1.98 CNY/h", "exp-a: stop waits for approval: curfew approve 1")
	})
}

func TestADigestIsNotMadeWhileTheStateCannotBeWritten(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.restart()
		l.run(30 * time.Minute)
		l.full(true)
		l.run(time.Hour)
		l.wantDigests(0)
		l.full(false)
		l.run(5 * time.Minute)
		l.wantIn(l.wantDigests(1), "Digest: all quiet", "01-01 09:3")
	})
}

func TestAClockThatJumpsAheadAndBackCostsNoDigest(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.clock = &jumping{}
		l.restart()
		l.run(30 * time.Minute)
		l.clock.jump(48 * time.Hour)
		l.run(5 * time.Minute)
		l.clock.jump(-48 * time.Hour)
		l.run(20 * time.Minute)
		l.wantDigests(0)
		l.run(10 * time.Minute)
		if last := strings.TrimSpace(l.wantDigests(1)); !strings.HasPrefix(last, "01-01 09:00:0") || !strings.HasSuffix(last, "Digest: all quiet\n  Since 08:00, as of 09:00") {
			t.Errorf("it says\n%s", last)
		}
	})
}
