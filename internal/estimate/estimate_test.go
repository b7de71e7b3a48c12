package estimate

import (
	"strings"
	"testing"
	"time"

	"curfew/fleet"
)

func money(t *testing.T, s string) fleet.Money {
	t.Helper()
	m, err := fleet.ParseMoney(s + " CNY")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func number(t *testing.T, s string) Number {
	t.Helper()
	n, err := ParseNumber(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func transfer(t *testing.T, s string) Transfer {
	t.Helper()
	x, err := ParseTransfer(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func share(percent int64) Number { return Whole(percent).over(Whole(100)) }

// machine and card are offers by the hour and second.
func machine(t *testing.T, price string) Offer {
	return Offer{Name: "m" + price, Price: money(t, price), Per: PerMachineHour, Charge: OnDemand, Billing: fleet.BillingPerSecond}
}

func card(t *testing.T, price string) Offer {
	o := machine(t, price)
	o.Per = PerCardHour
	return o
}

func reckon(t *testing.T, j Job, o Offer, cards int) Cost {
	t.Helper()
	c, why := Reckon(j, o, cards, nil, share(20))
	if !why.IsZero() {
		t.Fatalf("left out: %v", why)
	}
	return c
}

func cents(m fleet.Money) string { return strings.TrimSuffix(m.Round().String(), " CNY") }

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

func TestAMachineOfEightForThirtyHours(t *testing.T) {
	spot := card(t, "15")
	spot.Charge = Spot
	for want, o := range map[string]Offer{
		"26400.00": machine(t, "880"), "3600.00": spot, "25200.00": machine(t, "840"), "840.00": card(t, "3.5"),
	} {
		c := reckon(t, Job{Hours: Whole(30), Cards: []int{8}}, o, 8)
		same(t, o.Name, cents(c.Total), want)
		if o.Price == money(t, "880") {
			same(t, "with the margin", cents(c.WithMargin), "31680.00")
			same(t, "an hour", cents(c.PerUnit), "880.00")
		}
	}
}

// What is cheapest by the second is not what is cheapest by the started hour.
func TestFiftyEpochsBySecondAndByStartedHour(t *testing.T) {
	names, prices := []string{"a", "b", "c", "d"}, []string{"1", "0.82", "0.68", "0.73"}
	j := Job{Epochs: 50, EpochTime: map[string]time.Duration{"a": 48 * time.Second, "b": 63 * time.Second, "c": 74 * time.Second, "d": 69 * time.Second}}
	ranked := func(b fleet.Billing) (order, sums []string) {
		var offers []Offer
		for n, name := range names {
			o := card(t, prices[n])
			o.Name, o.Billing = name, b
			offers = append(offers, o)
		}
		for _, c := range Rank(Question{Jobs: []Job{j}, Offers: offers}).Tables[0].Costs {
			order = append(order, c.Offer.Name)
			sums = append(sums, Whole(c.Total.Micros).over(Whole(1e6)).Decimal(4))
		}
		return order, sums
	}
	order, sums := ranked(fleet.BillingPerSecond)
	same(t, "order by the second", strings.Join(order, " "), "a c d b")
	same(t, "sums by the second", strings.Join(sums, " "), "0.6667 0.6989 0.6996 0.7175")
	order, sums = ranked(fleet.BillingPerHour)
	same(t, "order by started hours", strings.Join(order, " "), "d b a c")
	same(t, "sums by started hours", strings.Join(sums, " "), "0.7300 0.8200 1.0000 1.3600")
}

func TestAHundredSingleCardHours(t *testing.T) {
	for _, c := range []struct {
		price, share, hours, sum string
		cards                    int
	}{
		{"8.00", "0.79", "31.646", "1012.66", 4},
		{"8.00", "0.68", "18.382", "1176.47", 8},
		{"4.80", "0.44", "56.818", "1090.91", 4},
		{"4.80", "0.31", "40.323", "1548.39", 8},
	} {
		j := Job{Hours: Whole(100), Cards: []int{c.cards}, Efficiency: map[string]map[int]Number{"": {c.cards: number(t, c.share)}}}
		got := reckon(t, j, card(t, c.price), c.cards)
		same(t, "hours", got.Hours.Decimal(3), c.hours)
		same(t, "total", cents(got.Total), c.sum)
		if len(got.Warnings) > 0 {
			t.Errorf("warns of what was measured: %v", got.Warnings)
		}
	}
}

func TestAnEfficiencyOfItsOwnGoesBeforeTheOneForAll(t *testing.T) {
	j := Job{Hours: Whole(100), Cards: []int{4, 8}, Efficiency: map[string]map[int]Number{
		"": {4: number(t, "0.79"), 8: number(t, "0.68")}, "m1": {8: number(t, "0.31")},
	}}
	same(t, "four, as everywhere", reckon(t, j, card(t, "1"), 4).Hours.Decimal(3), "31.646")
	same(t, "eight, as measured there", reckon(t, j, card(t, "1"), 8).Hours.Decimal(3), "40.323")
	same(t, "eight elsewhere", reckon(t, j, card(t, "2"), 8).Hours.Decimal(3), "18.382")
}

func TestAnEfficiencyThatWasNotMeasuredIsTold(t *testing.T) {
	j := Job{Hours: Whole(100), Cards: []int{1, 4, 8}, Efficiency: map[string]map[int]Number{"": {4: number(t, "0.79")}}}
	one := reckon(t, j, card(t, "8"), 1)
	same(t, "on one card", one.Hours.Decimal(3), "100.000")
	eight := reckon(t, j, card(t, "8"), 8)
	same(t, "on eight", eight.Hours.Decimal(3), "15.823")
	if len(one.Warnings) != 0 || len(eight.Warnings) != 1 || eight.Warnings[0].Code != WarnEfficiency {
		t.Errorf("warnings %v and %v", one.Warnings, eight.Warnings)
	}
}

func TestCardsThatComeWithTheOneThatIsNeeded(t *testing.T) {
	o := card(t, "8.00")
	j := Job{Hours: Whole(10), Cards: []int{1}}
	same(t, "one alone", cents(reckon(t, j, o, 1).Total), "80.00")
	o.MinCards = 4
	c := reckon(t, j, o, 1)
	same(t, "four at least", cents(c.Total), "320.00")
	if c.Paid != 4 || len(c.Why) != 1 || c.Why[0].Code != WhyPaid {
		t.Errorf("%d are paid for: %v", c.Paid, c.Why)
	}
	whole := machine(t, "30.00")
	whole.Cards = 8
	same(t, "two machines of eight", cents(reckon(t, j, whole, 9).Total), "600.00")
}

func TestMoreThanHalfIsNotTheGPU(t *testing.T) {
	o := card(t, "4.00")
	j := Job{Hours: Whole(28), Cards: []int{4}}
	same(t, "cards", cents(reckon(t, j, o, 4).Total), "448.00")
	o.Disk = Storage{Price: money(t, "0.70"), Per: PerGBMonth}
	o.Traffic = Traffic{Price: money(t, "5.00"), Per: PerGB}
	j.DiskGB, j.Keep, j.Download = Whole(500), 30*24*time.Hour, Transfer{GB: Whole(50)}
	c := reckon(t, j, o, 4)
	same(t, "disk", cents(c.Items.Disk), "350.00")
	same(t, "traffic", cents(c.Items.Traffic), "250.00")
	same(t, "total", cents(c.Total), "1048.00")
	same(t, "beside the GPU", c.BesideGPU.Decimal(1), "57.3")
}

func TestBreakEven(t *testing.T) {
	for _, c := range []struct {
		month, hour, hours, whole string
		never                     bool
	}{
		{"80000", "880", "90.9", "633600.00", false},
		{"90000", "880", "102.3", "633600.00", false},
		{"85000", "120", "708.3", "86400.00", false},
		{"55000", "28", "1964.3", "20160.00", true},
		{"400", "0.50", "800.0", "360.00", true},
	} {
		prepaid := machine(t, c.month)
		prepaid.Per, prepaid.Charge = PerMachineMonth, Month
		table := Rank(Question{Jobs: []Job{{Hours: Whole(10), Cards: []int{8}}}, Offers: []Offer{prepaid, machine(t, c.hour)}}).Tables[0]
		if len(table.Even) != 1 {
			t.Fatalf("%s against %s: %d comparisons", c.month, c.hour, len(table.Even))
		}
		e := table.Even[0]
		same(t, c.month+" against "+c.hour, e.Hours.Decimal(1), c.hours)
		same(t, "the whole month by the hour", cents(e.Whole), c.whole)
		same(t, "the base", e.Base.String(), "720")
		if e.Never != c.never {
			t.Errorf("%s against %s: never is %v", c.month, c.hour, e.Never)
		}
	}
}

func TestWaitingIsPaidFor(t *testing.T) {
	for _, c := range []struct{ speed, price, hours, cost string }{
		{"5MB/s", "16", "4.444", "71.11"},
		{"5MB/s", "880", "4.444", "3911.11"},
		{"100MB/s", "16", "0.222", "3.56"},
		{"100MB/s", "880", "0.222", "195.56"},
		{"40Mbps", "16", "4.444", "71.11"},
	} {
		j := Job{Hours: Whole(1), Upload: transfer(t, "80GB@"+c.speed)}
		got := reckon(t, j, machine(t, c.price), 1)
		same(t, "waiting", got.Waiting.Decimal(3), c.hours)
		same(t, "its cost", cents(got.WaitingCost), c.cost)
		paid := got.Items.Instance.Micros - money(t, c.price).Micros
		same(t, "what is paid beside the hour of work", cents(fleet.CNY(paid)), c.cost)
	}
	got := reckon(t, Job{Hours: Whole(1), Setup: 2 * time.Hour, Cards: []int{4}, Efficiency: map[string]map[int]Number{"": {4: Whole(1)}}}, card(t, "1"), 4)
	same(t, "set-up is not quicker on four cards", got.Hours.Decimal(2), "2.25")
}

func TestWhatIsKept(t *testing.T) {
	o := card(t, "1")
	o.Disk = Storage{Price: money(t, "0.0066"), Per: PerGBDay}
	j := Job{Hours: Whole(1), DiskGB: Whole(100), Keep: 30 * 24 * time.Hour}
	same(t, "100 GB for 30 days", cents(reckon(t, j, o, 1).Items.Disk), "19.80")
	o.Disk.FreeGB = Whole(50)
	same(t, "of which 50 are free", cents(reckon(t, j, o, 1).Items.Disk), "9.90")
	o.Disk.NotStopped = true
	same(t, "only while it runs", Whole(reckon(t, j, o, 1).Items.Disk.Micros).String(), "13750")
	same(t, "booted without a GPU", cents(reckon(t, Job{Hours: Whole(720)}, card(t, "0.10"), 1).Total), "72.00")
	o.Image = Storage{Price: money(t, "0.01"), Per: PerGBDay, FreeGB: Whole(30)}
	o.Snapshot = Storage{AllFree: true}
	j.ImageGB, j.SnapshotGB = Whole(40), Whole(500)
	same(t, "an image, and a snapshot that is free", cents(reckon(t, j, o, 1).Items.Images), "3.00")
	o.PublicIP = Address{Price: money(t, "0.02"), Per: PerHour}
	same(t, "an address", cents(reckon(t, j, o, 1).Items.PublicIP), "14.40")
	o.PublicIP.NotStopped = true
	same(t, "an address while it runs", cents(reckon(t, j, o, 1).Items.PublicIP), "0.02")
	o.Traffic = Traffic{Price: money(t, "20"), Per: PerMbpsMonth, Mbps: Whole(100)}
	same(t, "bandwidth for an hour of 720", cents(reckon(t, j, o, 1).Items.Traffic), "2.78")
}

func TestUtilisation(t *testing.T) {
	same(t, "50 to 95 %", Utilisation(share(50), share(95)).Decimal(3), "1.900")
	same(t, "70 to 95 %", Utilisation(share(70), share(95)).Decimal(3), "1.357")
}

// What nobody told is not nothing: it is said, and what lacks it comes last.
func TestAPriceNobodyTold(t *testing.T) {
	told := card(t, "9")
	told.Disk = Storage{Price: money(t, "1"), Per: PerGBDay}
	a := Rank(Question{Jobs: []Job{{Hours: Whole(24), DiskGB: Whole(1)}}, Offers: []Offer{card(t, "1"), told}})
	costs := a.Tables[0].Costs
	if len(costs) != 2 || costs[0].Offer.Name != "m9" || len(costs[0].Missing) != 0 {
		t.Fatalf("first comes %+v", costs[0])
	}
	if c := costs[1]; len(c.Missing) != 1 || c.Missing[0] != ItemDisk || c.Warnings[0].Code != WarnMissing {
		t.Errorf("missing: %v, %v", c.Missing, c.Warnings)
	}
}

func TestSpotIsReckonedWithWhatIsDoneAgain(t *testing.T) {
	o := card(t, "2")
	o.Charge = Spot
	j := Job{Hours: Whole(10)}
	if c := reckon(t, j, o, 1); len(c.Warnings) != 1 || c.Warnings[0].Code != WarnNoRework {
		t.Errorf("warnings %v", c.Warnings)
	}
	j.Rework = share(15)
	same(t, "with rework", cents(reckon(t, j, o, 1).Total), "23.00")
	same(t, "not on-demand", cents(reckon(t, j, card(t, "2"), 1).Total), "20.00")
}

func TestAPriceByTheTimeOfDay(t *testing.T) {
	o := card(t, "3")
	o.TimeOfDay = []Band{{From: 23 * 60, To: 7 * 60, Price: money(t, "1.5")}}
	c := reckon(t, Job{Hours: Whole(6)}, o, 1)
	same(t, "the mean", cents(c.PerHour), "2.50")
	same(t, "its base", c.Base.String(), "24")
	same(t, "total", cents(c.Total), "15.00")
	d := dayOf(o, nil)
	low, high, lowAt, highAt := d.span(Whole(6))
	same(t, "at best", low.over(Whole(1e6)).String(), "9")
	same(t, "at worst", high.over(Whole(1e6)).String(), "18")
	if d.rates[0].Cmp(Whole(1.5e6)) != 0 || lowAt != 0 && lowAt != 23*60 && lowAt != 60 || highAt != 7*60 && highAt != 17*60 {
		t.Errorf("begun at %d and %d", lowAt, highAt)
	}
	low, high, _, _ = d.span(Whole(24 * 3))
	if low.Cmp(high) != 0 || low.over(Whole(1e6)).String() != "180" {
		t.Errorf("three whole days cost %s to %s", low, high)
	}
	low, _, lowAt, _ = d.span(Whole(12))
	if low.over(Whole(1e6)).String() != "24" {
		t.Errorf("twelve hours cost at least %s, begun at %d", low, lowAt)
	}
}

func TestPrepaidIsPaidForWhole(t *testing.T) {
	o := card(t, "1000")
	o.Per, o.Charge = PerCardMonth, Month
	c := reckon(t, Job{Hours: Whole(10), Cards: []int{2}}, o, 2)
	same(t, "a month of two cards", cents(c.Total), "2000.00")
	same(t, "spread", cents(c.PerHour), "2.78")
	same(t, "base", c.Base.String(), "720")
	same(t, "two months", cents(reckon(t, Job{Hours: Whole(721)}, o, 1).Total), "2000.00")
	o.HoursIncluded = Whole(100)
	same(t, "packages of 100 hours", cents(reckon(t, Job{Hours: Whole(250)}, o, 1).Total), "3000.00")
	hourly := card(t, "1")
	hourly.Charge = Month
	same(t, "the price of an hour, for all hours of a month", cents(reckon(t, Job{Hours: Whole(1)}, hourly, 1).Total), "720.00")
	yearly := card(t, "1000")
	yearly.Per, yearly.Charge = PerCardMonth, Year
	same(t, "the price of a month, for a year", cents(reckon(t, Job{Hours: Whole(1)}, yearly, 1).Total), "12000.00")
}

func TestCurrenciesAreRankedApartOrConverted(t *testing.T) {
	dollar := Offer{Name: "usd", Price: fleet.Money{Micros: 1_000_000, Currency: "USD"}, Per: PerCardHour}
	q := Question{Jobs: []Job{{Hours: Whole(3)}}, Offers: []Offer{dollar, card(t, "8")}}
	a := Rank(q)
	if len(a.Tables) != 2 || a.Tables[0].Currency != "CNY" || a.Tables[1].Currency != "USD" || a.FX != nil {
		t.Errorf("tables %+v", a.Tables)
	}
	q.FX = FX{"USD": fleet.CNY(7_200_000), "EUR": fleet.CNY(8_000_000)}
	a = Rank(q)
	if len(a.Tables) != 1 || a.Tables[0].Costs[0].Offer.Name != "usd" || len(a.FX) != 1 || a.FX["USD"] != fleet.CNY(7_200_000) {
		t.Fatalf("converted: %+v", a)
	}
	same(t, "in yuan", cents(a.Tables[0].Costs[0].Total), "21.60")
	mixed := dollar
	mixed.Disk = Storage{Price: money(t, "1"), Per: PerGBDay}
	if a := Rank(Question{Jobs: q.Jobs, Offers: []Offer{mixed}}); len(a.LeftOut) != 1 || a.LeftOut[0].Why.Code != LeftCurrencies {
		t.Errorf("two currencies in one offer: %+v", a)
	}
}

func TestAPriceFarFromTheTableIsTold(t *testing.T) {
	listed := func(name, price string, per Per, cards int) Offer {
		o := card(t, price)
		o.Name, o.GPU, o.Kind, o.Per, o.Cards = name, "RTX 4090", FromQuotes, per, cards
		return o
	}
	far := func(offers ...Offer) (names []string) {
		for _, c := range Rank(Question{Jobs: []Job{{Hours: Whole(1)}}, Offers: offers}).Tables[0].Costs {
			for _, w := range c.Warnings {
				if w.Code == WarnFar {
					names = append(names, c.Offer.Name)
				}
			}
		}
		return names
	}
	mine := listed("mine", "19.8", PerCardHour, 0)
	mine.Kind, mine.GPU = FromConfig, "rtx 4090"
	table := []Offer{listed("a", "1.98", PerCardHour, 0), listed("b", "2.2", PerCardHour, 0), listed("c", "16", PerMachineHour, 8)}
	same(t, "far", strings.Join(far(append(table, mine)...), " "), "mine")
	same(t, "far", strings.Join(far(append(table, listed("d", "16", PerCardHour, 0))...), " "), "d")
	month := listed("month", "1000", PerCardMonth, 0)
	month.Charge = Month
	same(t, "far", strings.Join(far(append(table, month)...), " "), "")
}

func TestNobodyMeasuredAnEpochThere(t *testing.T) {
	j := Job{Name: "j", Epochs: 2, EpochTime: map[string]time.Duration{"m1": time.Second, "typo": time.Second}}
	a := Rank(Question{Jobs: []Job{j}, Offers: []Offer{card(t, "1"), card(t, "2")}})
	if len(a.Tables[0].Costs) != 1 || len(a.LeftOut) != 1 || a.LeftOut[0].Offer.Name != "m2" || a.LeftOut[0].Why.Code != LeftNoEpoch {
		t.Errorf("%+v", a)
	}
	same(t, "unused names", strings.Join(Unused([]Job{j}, []Offer{card(t, "1")}), " "), "typo")
}

func TestAWeeksJobs(t *testing.T) {
	month := card(t, "1000")
	month.Name, month.Per, month.Charge = "month", PerCardMonth, Month
	jobs := []Job{
		{Name: "long", Hours: Whole(100), Cards: []int{1}, Times: 2},
		{Name: "wide", Hours: Whole(10), Cards: []int{4}},
	}
	table := Rank(Question{Jobs: jobs, Offers: []Offer{card(t, "8"), card(t, "4"), month}, Margin: share(20)}).Tables[0]
	var got []string
	for _, s := range table.Sums {
		got = append(got, s.Offer.Name+" "+cents(s.Total))
	}
	// The month is bought once, for the four cards that the widest job needs.
	same(t, "sums", strings.Join(got, ", "), "m4 960.00, m8 1920.00, month 4000.00")
	same(t, "with margin", cents(table.Sums[0].WithMargin), "1152.00")
	same(t, "each where it is cheapest", cents(table.Mix.Total), "960.00")
	if len(table.Mix.Parts) != 2 || table.Mix.Parts[0].Times != 2 || cents(table.Mix.Parts[0].Total) != "800.00" {
		t.Errorf("parts %+v", table.Mix.Parts)
	}
}

func TestWhatRunsIsAnOffer(t *testing.T) {
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	i := fleet.Instance{AccountName: "lab", Provider: "autodl", Name: "exp-1", State: fleet.StateRunning, GPU: fleet.GPU{Model: "RTX 4090", Count: 2},
		Price:  fleet.Price{PerHour: fleet.CNY(3_960_000), Billing: fleet.BillingPerSecond, Source: fleet.PriceProvider},
		Charge: fleet.Charge{Type: fleet.ChargeOnDemand}}
	again, odd, period, told, off := i, i, i, i, i
	again.Name = "exp-2"
	odd.GPU.Count = 7
	period.Charge.Type = fleet.ChargePeriod
	told.Price.Source = fleet.PriceConfig
	off.State = fleet.StateStopped
	for _, o := range []*fleet.Instance{&period, &told, &off} {
		o.Price.PerHour = fleet.CNY(99_000_000)
	}
	got := Seen([]fleet.Instance{i, again, odd, period, told, off}, at)
	if len(got) != 2 {
		t.Fatalf("%d offers: %+v", len(got), got)
	}
	if o := got[0]; o.Name != "lab" || o.Per != PerCardHour || o.Price != fleet.CNY(1_980_000) || o.AsOf != "2026-11-30" || o.Kind != FromSeen {
		t.Errorf("%+v", o)
	}
	if o := got[1]; o.Per != PerMachineHour || o.Cards != 7 || o.Price != fleet.CNY(3_960_000) {
		t.Errorf("what does not divide: %+v", o)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for text, want := range map[string]string{"80GB": "80", "1.5 TB": "1500", "500MB": "0.5"} {
		if n, err := ParseSize(text); err != nil || n.String() != want {
			t.Errorf("%s is %s GB: %v", text, n, err)
		}
	}
	for text, want := range map[string]string{"30": "30", "1h30m": "1.5", "0.5": "0.5"} {
		if n, err := ParseHours(text); err != nil || n.String() != want {
			t.Errorf("%s is %s hours: %v", text, n, err)
		}
	}
	for _, bad := range []string{"", "80", "GB", "-1GB", "0GB", "80GiB", "80 GB @", "1e3GB", strings.Repeat("9", 30) + "GB"} {
		if _, err := ParseTransfer(bad); err == nil {
			t.Errorf("%q is taken for data", bad)
		}
	}
	for _, bad := range []string{"80GB@5", "80GB@0MB/s", "80GB@fast"} {
		if _, err := ParseTransfer(bad); err == nil {
			t.Errorf("%q is taken for a transfer", bad)
		}
	}
	for _, bad := range []string{"0", "1.01", "79", "101%", "x"} {
		if _, err := ParseShare(bad); err == nil {
			t.Errorf("%q is taken for a share", bad)
		}
	}
	for _, bad := range []string{"20", "-5%", "x%"} {
		if _, err := ParsePercent(bad); err == nil {
			t.Errorf("%q is taken for a percentage", bad)
		}
	}
	for _, bad := range []string{"0", "-3", "", "3 days", "1e9"} {
		if _, err := ParseHours(bad); err == nil {
			t.Errorf("%q is taken for hours", bad)
		}
	}
	for _, bad := range []string{"7:00", "25:00", "24:01", "noon"} {
		if _, err := ParseClock(bad); err == nil {
			t.Errorf("%q is taken for a time of day", bad)
		}
	}
}
