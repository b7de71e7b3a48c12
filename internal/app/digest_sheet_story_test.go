package app

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/internal/store"
	"curfew/notify"
	"curfew/providers/sim"
)

// The sheets of a month add up to what the ledger says of the month, owner by owner, to
// the millionth; so do the accounts of a digest, and each owner's items and instances.
func TestSheetsAddUpToTheLedger(t *testing.T) {
	long(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inLab(t, func(t *testing.T) {
				m := &month{lab: newLab(t, "stop"), rand: rand.New(rand.NewPCG(seed, 5))}
				m.cloud = sim.New(sim.Options{Now: time.Now, Seed: seed, Accounts: []sim.Account{{Name: "lab"}}})
				m.open()
				m.poll()
				for range 8 {
					m.add()
				}
				for range 40 * 24 { // hours, from the first of January
					for range 60 {
						m.happen()
					}
					time.Sleep(time.Hour)
					m.poll()
					m.act()
					if err := m.app.store.Update(t.Context(), func(tx *store.Tx) error { return m.work(tx) }); err != nil {
						t.Fatal(err)
					}
				}
				m.wantSheets()
				m.close()
			})
		})
	}
}

// work lets instances be at work for a while, or not.
func (m *month) work(tx *store.Tx) error {
	for _, id := range m.up {
		ref := fleet.Ref{Account: m.app.runtime().accounts[0].open.Identity, Kind: fleet.KindInstance, ID: id}
		if m.oneIn(8) {
			if err := tx.Segment(ref, "activity", []string{"busy", "idle", "unknown"}[m.rand.IntN(3)], tx.Now); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *month) wantSheets() {
	m.t.Helper()
	now, zone := time.Now(), m.app.runtime().cfg.Timezone
	from, to := lastMonth(now.In(zone))
	sheets, _, err := m.app.monthOf(m.t.Context(), m.app.runtime(), from, to, now)
	if err != nil {
		m.t.Fatal(err)
	}
	cost := func(by ledger.By) ledger.Costs {
		a, err := m.app.Cost(m.t.Context(), ctl.CostQuery{From: from, To: to, By: by})
		if err != nil {
			m.t.Fatal(err)
		}
		return a.Costs
	}
	owners, phases := cost(ledger.ByOwner), cost(ledger.ByPhase)
	if len(owners.Rows) != 3 || isNothing(owners.Total) || phases.Busy == 0 {
		m.t.Fatalf("the month is no test of anything: %+v", owners)
	}
	var busy time.Duration
	unknown := 0
	for _, s := range sheets {
		busy, unknown = busy+s.busy, unknown+s.unknown
		row, _ := find(owners.Rows, func(r ledger.Row) bool { return r.Key == s.owner })
		if diff := gocmp.Diff(row.Total, s.total); diff != "" {
			m.t.Errorf("%q (-ledger +sheet):\n%s", s.owner, diff)
		}
		if diff := gocmp.Diff(row.Items, s.items); diff != "" {
			m.t.Errorf("the items of %q (-ledger +sheet):\n%s", s.owner, diff)
		}
		m.wantDearest(s, cost(ledger.ByInstance))
	}
	if len(sheets) != len(owners.Rows) || busy != phases.Busy {
		m.t.Errorf("%d sheets of %s at work, want %d of %s", len(sheets), busy, len(owners.Rows), phases.Busy)
	}
	spent, err := m.app.spent(m.t.Context(), m.app.runtime(), from, to, now)
	if err != nil {
		m.t.Fatal(err)
	}
	if diff := gocmp.Diff(owners.Total, spent.past); diff != "" {
		m.t.Errorf("the time before (-ledger +digest):\n%s", diff)
	}
	a, err := m.app.Cost(m.t.Context(), ctl.CostQuery{From: to, To: now, By: ledger.ByAccount})
	if err != nil {
		m.t.Fatal(err)
	}
	if diff := gocmp.Diff(a.Total, spent.total); diff != "" {
		m.t.Errorf("since (-ledger +digest):\n%s", diff)
	}
	if diff := gocmp.Diff(a.Saved.Sums, spent.saved.sums); diff != "" || a.Saved.Stops != spent.saved.stops {
		m.t.Errorf("saved by %d stops, want %d (-ledger +digest):\n%s", spent.saved.stops, a.Saved.Stops, diff)
	}
}

// wantDearest asks whether the things of a sheet are the dearest that its owner has.
func (m *month) wantDearest(s *sheet, all ledger.Costs) {
	m.t.Helper()
	var want []int64
	for _, r := range all.Rows {
		ref, err := fleet.ParseRef(r.Key)
		if err != nil {
			m.t.Fatal(err)
		}
		owner := ""
		if t, ok := m.app.inv.Get(ref); ok {
			owner = t.Instance.Owner
		} else if ref.Kind == fleet.KindInstance {
			return // it is gone, and nobody in this test knows whose it was
		}
		if owner == s.owner && !isNothing(r.Total) {
			want = append(want, r.Total.In("CNY").Micros)
		}
	}
	slices.SortFunc(want, func(a, b int64) int { return cmp.Compare(b, a) })
	var got []int64
	for _, line := range s.dearest {
		got = append(got, line.total.In("CNY").Micros)
	}
	if diff := gocmp.Diff(want[:min(len(want), sheetNamed)], got); diff != "" || s.count != len(want) {
		m.t.Errorf("%q has %d things, want %d (-ledger +sheet):\n%s", s.owner, s.count, len(want), diff)
	}
}

// newReports is a lab with people whom the channel knows, at eight in the morning of
// the first of January.
func newReports(t *testing.T, digest, lang string) (*lab, *chat) {
	t.Helper()
	l, c := newLab(t, "stop"), &chat{}
	l.kinds = []notify.Kind{{Name: "chat", Open: func(notify.Options) (notify.Channel, error) { return c, nil }}}
	l.yaml = strings.Replace(l.yaml, digestChannel, "    - {name: wx, type: chat}\n  digest: "+digest+"\n", 1) + `
language: ` + lang + `
people:
  - {owner: wang, names: ["exp-w*"], chat: W1}
  - {owner: li, names: ["exp-l*"]}
  - {owner: boss, unowned: true, chat: B9}
`
	return l, c
}

// took gives what a chat took since it was last asked, each with whom it mentions.
func (c *chat) drain() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, m := range c.took {
		out = append(out, fmt.Sprintf("%s %v\n%s\n%s", m.at.In(time.FixedZone("", 8*3600)).Format("01-02 15:04"), m.Mentions, m.Title, m.Plain))
	}
	c.took = nil
	return out
}

func wantMessages(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func owned(id string) sim.Spec {
	s := working(id)
	s.Name, s.Price = "exp-"+id, fleet.CNY(1_000_000)
	return s
}

func TestEachPersonIsToldWhatTheirMonthCost(t *testing.T) {
	long(t)
	inLab(t, func(t *testing.T) {
		l, c := newReports(t, `{sheet: "0 9 1 * *"}`, "en")
		time.Sleep(30*24*time.Hour + 12*time.Hour) // until eight in the evening of the last of January
		for _, id := range []string{"w1", "w2", "l1", "x1"} {
			l.cloud.MustAdd(owned(id))
		}
		l.restart()
		l.run(12*time.Hour + 30*time.Minute)
		c.drain()
		l.stop()
		time.Sleep(5 * time.Hour) // over nine
		l.restart()
		l.run(30 * time.Minute)
		wantMessages(t, c.drain(),
			"02-01 13:30 [B9]\nDigest: 2000-01, without an owner: 4.00 CNY\nWhat is known begins at 31 Jan 20:00\n\nBy item\n· instances: 4.00 CNY\n\nOne by one, 1 in all\n· exp-x1: 4.00 CNY, ran for 4h\nAt work for 4h of the 4h that instances ran; 1.00 CNY for each hour at work",
			"02-01 13:30 []\nDigest: 2000-01, li: 4.00 CNY\nWhat is known begins at 31 Jan 20:00\n\nBy item\n· instances: 4.00 CNY\n\nOne by one, 1 in all\n· exp-l1: 4.00 CNY, ran for 4h\nAt work for 4h of the 4h that instances ran; 1.00 CNY for each hour at work",
			"02-01 13:30 [W1]\nDigest: 2000-01, wang: 8.00 CNY\nWhat is known begins at 31 Jan 20:00\n\nBy item\n· instances: 8.00 CNY\n\nOne by one, 2 in all\n· exp-w1: 4.00 CNY, ran for 4h\n· exp-w2: 4.00 CNY, ran for 4h\nAt work for 8h of the 8h that instances ran; 1.00 CNY for each hour at work",
		)
		l.stop()
		l.restart()
		l.run(3 * time.Hour)
		wantMessages(t, c.drain())
	})
}

func TestAWeekIsComparedWithTheOneBefore(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"Digest: the week, ", "Since 3 Jan 09:00, as of 09:00", "Spent in the week: 168.00 CNY; in the week before: 49.00 CNY; known since 1 Jan 08:00 only", "lab: 168.00 CNY, 1 ran for 7d together; the week before: 49.00 CNY"},
		"zh": {"摘要：本周花费 168.00 CNY", "本周花费：168.00 CNY；上周：49.00 CNY；记录始于 1月1日 08:00"},
	} {
		inLab(t, func(t *testing.T) {
			l, c := newReports(t, `{weekly: "0 9 * * 1"}`, lang)
			l.cloud.MustAdd(owned("w1"))
			l.restart()
			l.run(2 * time.Minute)
			untilMonday := func(monday time.Time) {
				l.stop()
				time.Sleep(time.Until(monday.Add(-10 * time.Minute)))
				l.restart()
				l.run(15 * time.Minute)
			}
			third := time.Date(2000, 1, 3, 1, 0, 0, 0, time.UTC)
			untilMonday(third)
			if first := c.drain(); len(first) != 1 || !strings.Contains(first[0], "49.00 CNY") {
				t.Fatalf("the first week: %q", first)
			}
			untilMonday(third.AddDate(0, 0, 7))
			all := c.drain()
			if len(all) != 1 || !strings.HasPrefix(all[0], "01-10 09:00 []") {
				t.Fatalf("%d messages: %q", len(all), all)
			}
			l.wantIn(all[0], want...)
		})
	}
}

func TestADaySaysWhatItCostAndWhatTheStopsSaved(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, c := newReports(t, `"0 9 * * *"`, "en")
		a := trained("w1", 4*time.Minute, 0)
		a.Price = fleet.CNY(6_000_000)
		l.cloud.MustAdd(a)
		l.cloud.MustAdd(owned("x1"))
		l.restart()
		l.run(59 * time.Minute)
		c.drain()
		l.run(2 * time.Minute)
		all := c.drain()
		if len(all) != 1 {
			t.Fatalf("%d messages: %q", len(all), all)
		}
		// It ran from 08:00 to 08:19 at 6.00 an hour, and would have to 09:00.
		l.wantIn(all[0], "· lab: 2.92 CNY, 2 ran for 1h 19m together", "1 stopped: exp-w1", "Saved by stops, an estimate: 4.08 CNY")
	})
}

// Whenever the daemon dies while it tells the sheets, each is queued once.
func TestADaemonThatDiesWhileItTellsSheetsTellsEachOnce(t *testing.T) {
	nine := time.Date(2000, 2, 1, 1, 0, 0, 0, time.UTC)
	for point := range 5 {
		inLab(t, func(t *testing.T) {
			l, c := newReports(t, `{sheet: "0 9 1 * *"}`, "en")
			time.Sleep(30*24*time.Hour + 15*time.Hour + 30*time.Minute)
			l.cloud.MustAdd(owned("w1"))
			l.cloud.MustAdd(owned("x1"))
			l.restart()
			l.run(time.Minute)
			l.stop()
			time.Sleep(time.Until(nine.Add(-2 * time.Minute)))
			l.restart()
			seen, died := 0, false
			l.mu.Lock()
			l.kill = func() bool {
				if time.Now().Before(nine) || died {
					return false
				}
				seen++
				died = seen == point+1
				return died
			}
			l.mu.Unlock()
			l.run(10 * time.Minute)
			told, err := l.app.store.ToldKeys(t.Context(), "sheet|")
			if err != nil {
				t.Fatal(err)
			}
			sheets := 0
			for _, m := range c.drain() {
				if strings.Contains(m, "2000-01") {
					sheets++
				}
			}
			if !died {
				t.Errorf("there is no point %d", point)
			}
			// One that was sent and not yet written down is sent again.
			if len(told) != 2 || sheets < 2 || sheets > 4 {
				t.Errorf("killed at point %d: %d were queued and %d arrived: %v", point, len(told), sheets, told)
			}
		})
	}
}

func TestNoticesMentionWhoseTheyAreAndDigestsNobody(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l, c := newReports(t, `"0 9 * * *"`, "en")
		l.cloud.MustAdd(trained("w1", 4*time.Minute, 0))
		l.cloud.MustAdd(trained("l1", 4*time.Minute, 0))
		l.cloud.MustAdd(trained("x1", 4*time.Minute, 0))
		l.restart()
		l.run(65 * time.Minute)
		all := c.drain()
		if len(all) < 4 {
			t.Errorf("only %d messages: %q", len(all), all)
		}
		for _, m := range all {
			head, body, _ := strings.Cut(m, "\n")
			title, _, _ := strings.Cut(body, "\n")
			switch {
			case strings.HasPrefix(title, "Digest:"):
				if !strings.HasSuffix(head, "[]") {
					t.Errorf("a digest mentions somebody:\n%s", m)
				}
			case strings.Contains(body, "exp-w1") != strings.Contains(head, "W1"), strings.Contains(body, "exp-x1") != strings.Contains(head, "B9"):
				t.Errorf("it does not mention whose it is:\n%s", m)
			case strings.Contains(body, "exp-l1") && !strings.Contains(body, "owner li"):
				t.Errorf("it does not name whose it is:\n%s", m)
			}
		}
	})
}
