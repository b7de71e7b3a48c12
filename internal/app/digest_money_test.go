package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/internal/ledger"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/policies"
)

func sums(all ...fleet.Money) fleet.Sums {
	var s fleet.Sums
	addAll(&s, all)
	return s
}

func pursed(name string, cash int64, burn ...fleet.Money) policies.Account {
	return policies.Account{
		Ref: fleet.Ref{Account: name, Kind: fleet.KindAccount, ID: name}, Name: name, Tells: true,
		Wallet: []policies.Reading{{At: nine.Add(-time.Hour), SeenAt: nine.Add(-time.Minute), Cash: fleet.CNY(cash)}},
		Burn:   policies.Burn{PerHour: burn},
	}
}

func spare(kind fleet.ThingKind, id string, price fleet.Price) fleet.Resource {
	return fleet.Resource{
		Ref: fleet.Ref{Account: "lab", Kind: kind, ID: id}, AccountName: "lab", Ready: true, Price: price,
		UnusedSince: nine.Add(-50 * time.Hour),
	}
}

func budgeted(name string, limit int64, by policies.By, g policies.Group) digestBudgetOf {
	return digestBudgetOf{
		policies.Budget{Common: policies.Common{Name: name}, Limit: fleet.CNY(limit), By: by}, g, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
	}
}

func TestADigestSaysWhatItCost(t *testing.T) {
	const period = "Since 29 Nov 09:00, as of 09:00\n"
	week := nine.Add(-24 * time.Hour)
	for _, c := range []struct {
		name   string
		view   digestView
		en, zh string
	}{
		{
			"what was spent, by account, each currency by itself, and what is not known",
			digestView{money: &spending{
				total: sums(fleet.CNY(47_520_000), dollars(1_500_000)), unknown: 2,
				accounts: []accountSpending{
					{name: "ali", total: sums(dollars(1_500_000)), unknown: 2},
					{name: "lab", total: sums(fleet.CNY(47_520_000)), ran: 2, hours: 24 * time.Hour},
				},
			}},
			"Digest: nothing runs\n" + period + `
Spent: 47.52 CNY + 1.50 USD; without 2 whose cost is not known
· ali: 1.50 USD; without 2 whose cost is not known
· lab: 47.52 CNY, 2 ran for 1d together
`,
			`摘要：没有实例在运行
自 11月29日 09:00 以来，截至 09:00

花费：47.52 CNY + 1.50 USD；另有 2 项费用未知
· ali：1.50 USD；另有 2 项费用未知
· lab：47.52 CNY，2 台共运行 1天
`,
		},
		{
			"where nothing cost anything, nothing of it",
			digestView{money: &spending{total: sums(fleet.CNY(0))}},
			"Digest: all quiet\n" + period,
			"摘要：平安无事\n自 11月29日 09:00 以来，截至 09:00\n",
		},
		{
			"what stops saved is an estimate",
			digestView{
				ended: []fleet.Intent{act(1, "a", fleet.Stop, fleet.OutcomeDone)},
				money: &spending{saved: saved{sums: sums(fleet.CNY(9_900_000)), stops: 1}},
			},
			"Digest: nothing runs\n" + period + `
Done by curfew
· 1 stopped: a
Saved by stops, an estimate: 9.90 CNY (1 stopped), had they run on at the same price
`,
			`摘要：没有实例在运行
自 11月29日 09:00 以来，截至 09:00

curfew 做了什么
· 关机 1 台：a
关机节省（估算）：9.90 CNY（1 次关机，按原价继续运行计）
`,
		},
		{
			"stops of before go on saving",
			digestView{money: &spending{saved: saved{sums: sums(fleet.CNY(9_900_000)), stops: 1}}},
			"Digest: nothing runs\n" + period + "Saved by stops, an estimate: 9.90 CNY (1 stopped), had they run on at the same price\n",
			"摘要：没有实例在运行\n自 11月29日 09:00 以来，截至 09:00\n关机节省（估算）：9.90 CNY（1 次关机，按原价继续运行计）\n",
		},
		{
			"a week is compared with the one before",
			digestView{weekly: true, money: &spending{
				before: week, total: sums(fleet.CNY(127_000_000)), past: sums(fleet.CNY(100_000_000)),
				accounts: []accountSpending{
					{name: "lab", total: sums(fleet.CNY(127_000_000)), past: sums(fleet.CNY(40_000_000)), ran: 3, hours: 64 * time.Hour},
					{name: "old", past: sums(fleet.CNY(60_000_000))},
				},
			}},
			"Digest: the week, 127.00 CNY spent; nothing runs\n" + period + `
Spent in the week: 127.00 CNY; in the week before: 100.00 CNY (+27%)
· lab: 127.00 CNY, 3 ran for 2d 16h together; the week before: 40.00 CNY
· old: nothing; the week before: 60.00 CNY
`,
			`摘要：本周花费 127.00 CNY；没有实例在运行
自 11月29日 09:00 以来，截至 09:00

本周花费：127.00 CNY；上周：100.00 CNY（+27%）
· lab：127.00 CNY，3 台共运行 2天16小时；上周：40.00 CNY
· old：无；上周：60.00 CNY
`,
		},
		{
			"a week that was not known from its begin is not compared in percent",
			digestView{weekly: true, money: &spending{
				before: week, since: week.Add(3 * time.Hour), total: sums(fleet.CNY(127_000_000)), past: sums(fleet.CNY(1_000_000)),
				accounts: []accountSpending{{name: "lab", total: sums(fleet.CNY(127_000_000)), past: sums(fleet.CNY(1_000_000))}},
			}},
			"Digest: the week, 127.00 CNY spent; nothing runs\n" + period + `
Spent in the week: 127.00 CNY; in the week before: 1.00 CNY; known since 29 Nov 12:00 only
· lab: 127.00 CNY; the week before: 1.00 CNY
`,
			"",
		},
		{
			"what nothing uses, the dearest first, and what it is a day",
			digestView{several: true, left: []fleet.Resource{
				spare(fleet.KindPublicIP, "ip-1", priced(fleet.CNY(20_000))), spare(fleet.KindDisk, "d-2", fleet.Price{}), spare(fleet.KindDisk, "d-1", priced(fleet.CNY(100_000))),
			}},
			"Digest: nothing runs\n" + period + `
Left over, used by nothing: 3, 2.88 CNY a day, 1 of unknown price
· d-1 (disk, lab): 2.40 CNY a day, for 2d 2h
· ip-1 (public address, lab): 0.48 CNY a day, for 2d 2h
· d-2 (disk, lab): price unknown, for 2d 2h
`,
			"",
		},
		{
			"what is paid by the period and ends soon, the next first",
			digestView{
				things: []digestThing{
					up("later", priced(fleet.CNY(1))).with(func(d *digestThing) { d.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: nine.Add(80 * time.Hour)} }),
					up("soon", priced(fleet.CNY(1))).with(func(d *digestThing) { d.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: nine.Add(9 * time.Hour)} }),
				},
				beside: []digestThing{up("disk", fleet.Price{}).with(func(d *digestThing) { d.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: nine.Add(-2 * time.Hour)} })},
			},
			"Digest: 2 running, 0.000002 CNY/h\n" + period + `
Paid by the period
· disk: over since 07:00
· soon: until 18:00
`,
			"",
		},
		{
			"wallets with how long they last, where anything costs anything",
			digestView{accounts: map[string]policies.Account{
				"2": pursed("lab", 99_000_000, fleet.CNY(1_980_000)), "1": pursed("ali", 5_000_000),
				"3": func() policies.Account {
					a := pursed("old", 1_000_000)
					a.Wallet[0].SeenAt = nine.Add(-30 * time.Hour)
					return a
				}(),
				"4": {Name: "silent"},
			}},
			"Digest: nothing runs\n" + period + `
Wallets
· ali: 5.00 CNY left, nothing there costs anything now
· lab: 99.00 CNY left, 1.98 CNY an hour, enough for 2d 2h
· old, as of 29 Nov 03:00: 1.00 CNY left, nothing there costs anything now
`,
			`摘要：没有实例在运行
自 11月29日 09:00 以来，截至 09:00

余额
· ali：余额 5.00 CNY，目前没有产生费用的资源
· lab：余额 99.00 CNY，每小时 1.98 CNY，约可用 2天2小时
· old（截至 11月29日 03:00）：余额 1.00 CNY，目前没有产生费用的资源
`,
		},
		{
			"wallets are no news where nothing costs anything",
			digestView{accounts: map[string]policies.Account{"1": pursed("ali", 5_000_000)}},
			"Digest: all quiet\n" + period, "",
		},
		{
			"unless it is the week",
			digestView{weekly: true, accounts: map[string]policies.Account{"1": pursed("ali", 5_000_000)}},
			"Digest: the week; nothing runs\n" + period + "\nWallets\n· ali: 5.00 CNY left, nothing there costs anything now\n", "",
		},
		{
			"budgets at how much",
			digestView{budgets: []digestBudgetOf{
				budgeted("month", 1000_000_000, policies.ByOwner, policies.Group{Key: "wang", Name: "wang", Sum: sums(fleet.CNY(812_340_000)), Unknown: 1}),
				budgeted("month", 1000_000_000, policies.ByOwner, policies.Group{Sum: sums(fleet.CNY(100_000_000))}),
				budgeted("all", 5000_000_000, "", policies.Group{Sum: sums(fleet.CNY(99_000_000))}),
				budgeted("none", 5000_000_000, "", policies.Group{}),
			}},
			"Digest: nothing runs\n" + period + `
Budgets
· month (wang): 81%, 812.34 CNY of 1000.00 CNY until 1 Dec 00:00; without 1 whose cost is not known
· month (without an owner): 10%, 100.00 CNY of 1000.00 CNY until 1 Dec 00:00
· all: 1%, 99.00 CNY of 5000.00 CNY until 1 Dec 00:00
`,
			`摘要：没有实例在运行
自 11月29日 09:00 以来，截至 09:00

预算
· month（wang）：81%，812.34 CNY/1000.00 CNY，至 12月1日 00:00；另有 1 项费用未知
· month（未标注使用者）：10%，100.00 CNY/1000.00 CNY，至 12月1日 00:00
· all：1%，99.00 CNY/5000.00 CNY，至 12月1日 00:00
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.view.at, c.view.since = nine.Add(3*time.Second), nine.Add(-24*time.Hour)
			for lang, want := range map[text.Language]string{text.English: c.en, text.Chinese: c.zh} {
				if want == "" {
					continue
				}
				if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(rendered(t, digestOf(c.view), lang)+"\n", "\n")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", lang, diff)
				}
			}
		})
	}
}

// rendered gives a notice as a terminal shows it.
func rendered(t testing.TB, n notify.Notice, lang text.Language) string {
	t.Helper()
	r, err := text.New(lang, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	m := notify.Render(n, r, nine)
	return m.Title + "\n" + m.Plain
}

func TestASheetSaysWhatAMonthCost(t *testing.T) {
	october := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	full := sheet{
		owner: "wang", total: sums(fleet.CNY(812_300_000)), instances: sums(fleet.CNY(800_000_000)),
		items: map[ledger.Item]fleet.Sums{ledger.ItemInstance: sums(fleet.CNY(800_000_000)), ledger.ItemDisk: sums(fleet.CNY(12_300_000)), ledger.ItemIP: sums(fleet.CNY(0))},
		dearest: []sheetLine{
			{"exp-7", "lab", sums(fleet.CNY(500_000_000)), 250 * time.Hour}, {"exp-8", "lab", sums(fleet.CNY(300_000_000)), 150 * time.Hour},
			{"data-1", "lab", sums(fleet.CNY(12_300_000)), 0},
		},
		count: 11, up: 400 * time.Hour, busy: 320 * time.Hour, unknown: 1, saved: saved{sums: sums(fleet.CNY(99_000_000)), stops: 12},
	}
	for _, c := range []struct {
		name    string
		sheet   sheet
		since   time.Time
		several bool
		lang    text.Language
		want    string
	}{
		{"in English", full, time.Time{}, false, text.English, `Digest: 2026-10, wang: 812.30 CNY
By item
· instances: 800.00 CNY
· disks: 12.30 CNY

One by one, 11 in all
· exp-7: 500.00 CNY, ran for 10d 10h
· exp-8: 300.00 CNY, ran for 6d 6h
· data-1: 12.30 CNY
· and 8 more
At work for 13d 8h of the 16d 16h that instances ran; 2.50 CNY for each hour at work
Saved by stops, an estimate: 99.00 CNY (12 stopped), had they run on at the same price
Without 1 whose cost is not known, or only in part
`},
		{"in Chinese", full, time.Time{}, true, text.Chinese, `摘要：2026-10 wang 的账单：812.30 CNY
按项目
· 实例：800.00 CNY
· 磁盘：12.30 CNY

逐项，共 11 项
· exp-7（lab）：500.00 CNY，运行 10天10小时
· exp-8（lab）：300.00 CNY，运行 6天6小时
· data-1（lab）：12.30 CNY
· 另有 8 项
实例运行 16天16小时，其中工作 13天8小时；每工作小时 2.50 CNY
关机节省（估算）：99.00 CNY（12 次关机，按原价继续运行计）
另有 1 项费用全部或部分未知
`},
		{"of what is nobody's, known in part", sheet{
			total: sums(fleet.CNY(1_000_000)), items: map[ledger.Item]fleet.Sums{ledger.ItemInstance: sums(fleet.CNY(1_000_000))},
			dearest: []sheetLine{{"x", "lab", sums(fleet.CNY(1_000_000)), time.Hour}}, count: 1, up: time.Hour,
		}, october.Add(9*24*time.Hour + 3*time.Hour), false, text.English, `Digest: 2026-10, without an owner: 1.00 CNY
What is known begins at 10 Oct 03:00

By item
· instances: 1.00 CNY

One by one, 1 in all
· x: 1.00 CNY, ran for 1h
Instances ran for 1h; nobody saw them at work
`},
		{"of what nobody told the price of", sheet{owner: "li", unknown: 3, up: time.Hour, busy: time.Hour}, time.Time{}, false, text.English, `Digest: 2026-10, li: no known cost
At work for 1h of the 1h that instances ran
Without 3 whose cost is not known, or only in part
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.sheet.notice(october, c.since, c.several)
			if n.Subject.Ref.Kind != fleet.KindOwner || notify.OwnerOf(n.Subject) != c.sheet.owner || n.Category != fleet.CategoryDigest {
				t.Errorf("it is for somebody else: %+v", n.Subject)
			}
			if diff := cmp.Diff(strings.Split(c.want, "\n"), strings.Split(rendered(t, n, c.lang)+"\n", "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASheetIsOfTheCalendarMonthBefore(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tick, from, to string }{
		{"2026-11-01 09:00", "2026-10-01 00:00", "2026-11-01 00:00"},
		{"2027-01-01 00:00", "2026-12-01 00:00", "2027-01-01 00:00"},
		{"2026-03-31 09:00", "2026-02-01 00:00", "2026-03-01 00:00"},
		{"2026-04-15 09:00", "2026-03-01 00:00", "2026-04-01 00:00"},
	} {
		at := func(s string) time.Time {
			m, err := time.ParseInLocation("2006-01-02 15:04", s, berlin)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		if from, to := lastMonth(at(c.tick)); !from.Equal(at(c.from)) || !to.Equal(at(c.to)) {
			t.Errorf("at %s it is of %s to %s", c.tick, from, to)
		}
	}
}

// However much there is to tell, the smallest channel has room for it, and the title and
// what every part comes to are there.
func TestDigestsAndSheetsFitTheSmallestChannel(t *testing.T) {
	long(t)
	rapid.Check(t, func(t *rapid.T) {
		many := func(what string) int { return rapid.IntRange(0, 12).Draw(t, what) }
		name := func(what string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"x", "实验", "*_"}).Draw(t, what), rapid.IntRange(1, 30).Draw(t, what+" for"))
		}
		money := func(what string) fleet.Sums {
			return sums(fleet.CNY(rapid.Int64Range(0, 9_999_999_990_000).Draw(t, what)), dollars(rapid.Int64Range(0, 9_999_990_000).Draw(t, what+" in dollars")))
		}
		v := digestView{
			at: nine, since: nine.Add(-24 * time.Hour), several: true, weekly: rapid.Bool().Draw(t, "weekly"), skipped: many("skipped"), lastSkipped: nine.Add(-25 * time.Hour),
			money:    &spending{before: nine.Add(-48 * time.Hour), since: nine.Add(-20 * time.Hour), total: money("sum"), past: money("past"), unknown: many("unknown"), saved: saved{money("saved"), 3}},
			accounts: map[string]policies.Account{},
		}
		for n := range many("accounts") {
			v.money.accounts = append(v.money.accounts, accountSpending{name("account"), money("of it"), money("of it before"), 3, 99 * time.Hour, 2})
			v.accounts[fmt.Sprint(n)] = pursed(name("purse"), 5_000_000, fleet.CNY(1_980_000))
		}
		for n := range many("things") {
			i := up(fmt.Sprint(n), priced(fleet.CNY(rapid.Int64Range(0, 99_000_000).Draw(t, "price"))))
			i.Name, i.unguarded = name("thing"), rapid.Bool().Draw(t, "unguarded")
			i.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: nine.Add(time.Hour)}
			i.ReleasesAt = nine.Add(time.Hour)
			v.things = append(v.things, i)
		}
		for n := range many("left") {
			r := spare(fleet.KindDisk, fmt.Sprint(n), priced(fleet.CNY(100_000)))
			r.Name = name("disk")
			v.left = append(v.left, r)
		}
		for range many("budgets") {
			v.budgets = append(v.budgets, budgeted(name("budget"), 1_000_000, policies.ByOwner, policies.Group{Key: "k", Name: name("owner"), Sum: money("spent"), Unknown: 2}))
		}
		for n := range many("acts") {
			v.ended = append(v.ended, act(int64(n), name("act"), fleet.Stop, rapid.SampledFrom([]fleet.Outcome{fleet.OutcomeDone, fleet.OutcomeFailedWrite}).Draw(t, "outcome")))
		}
		s := sheet{owner: name("owner"), total: money("total"), instances: money("instances"), items: map[ledger.Item]fleet.Sums{}, up: 99 * time.Hour, busy: 7 * time.Hour, unknown: 7, saved: v.money.saved}
		for _, item := range ledger.Items() {
			s.items[item] = money(string(item))
		}
		for n := range many("lines") {
			if s.count = n + 1; n < sheetNamed {
				s.dearest = append(s.dearest, sheetLine{name("line"), name("of"), money("line"), time.Hour})
			}
		}
		for _, lang := range []text.Language{text.English, text.Chinese} {
			r, err := text.New(lang, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []notify.Notice{digestOf(v), s.notice(nine.AddDate(0, -1, 0), nine.Add(-time.Hour), true)} {
				m := notify.Render(n, r, nine)
				if plain, markup := len(m.Title)+1+len(m.Plain), len(notify.Escape(m.Title))+1+len(m.Markdown); plain > 2000 || markup > 4000 {
					t.Fatalf("%s: %d bytes plain and %d with markup:\n%s\n%s", lang, plain, markup, m.Title, m.Plain)
				}
			}
		}
	})
}
