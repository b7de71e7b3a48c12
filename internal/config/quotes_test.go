package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/estimate"
)

// badFiles reads every bad file of a folder and compares the problems with those its
// first lines name.
func badFiles(t *testing.T, folder string, read func(name string, data []byte) error) {
	t.Helper()
	for _, f := range every(t, folder+"/bad-*.yaml") {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(data)) {
				if w, ok := strings.CutPrefix(line, "# want: "); ok {
					want = append(want, strings.TrimRight(w, "\n"))
				}
			}
			problems, ok := errors.AsType[*Problems](read(filepath.Base(f), data))
			if !ok {
				t.Fatal("it is taken")
			}
			if diff := cmp.Diff(want, strings.Split(problems.Error(), "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadQuotesSayWhatIsWrong(t *testing.T) {
	badFiles(t, "testdata/quotes", func(name string, data []byte) error {
		_, err := Quotes(name, data)
		return err
	})
}

func TestBadJobsSayWhatIsWrong(t *testing.T) {
	badFiles(t, "testdata/jobs", func(name string, data []byte) error {
		_, err := Jobs(name, data)
		return err
	})
}

func TestAListOfQuotes(t *testing.T) {
	data, err := os.ReadFile("testdata/quotes/list.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Quotes("list.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	want := []estimate.Offer{
		{Name: "a", GPU: "RTX 4090", Price: fleet.CNY(1_980_000), Per: estimate.PerCardHour, Charge: estimate.OnDemand, Billing: fleet.BillingPerSecond,
			Kind: estimate.FromQuotes, Told: estimate.Told{AsOf: "2026-10-01", Source: "the price page"}},
		{Name: "b", Price: fleet.CNY(85_000_000_000), Per: estimate.PerMachineMonth, Charge: estimate.Month, Billing: fleet.BillingPerSecond, Cards: 8,
			Kind: estimate.FromQuotes, Told: estimate.Told{AsOf: "2026-10-01", Source: "an offer by mail"}},
	}
	if diff := cmp.Diff(want, got.Quotes); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	// The same list in the configuration, and the file's name there.
	inside := "accounts: [{name: lab, provider: sim}]\nrates:\n" + "  " + strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", "\n  ") + "\n"
	c, err := Parse("dir/c.yaml", []byte(inside), registry())
	if err != nil {
		t.Fatal(err)
	}
	for n := range want {
		want[n].Kind = estimate.FromRates
	}
	if diff := cmp.Diff(want, c.Rates.Quotes); diff != "" {
		t.Errorf("rates (-want +got):\n%s", diff)
	}
	c, err = Parse("dir/c.yaml", []byte("accounts: [{name: lab, provider: sim}]\nrates: quotes.yaml\n"), registry())
	if err != nil || c.Rates.File != "dir/quotes.yaml" || c.Rates.Quotes != nil {
		t.Errorf("rates %+v: %v", c.Rates, err)
	}
}

func TestEverythingAQuoteCanSay(t *testing.T) {
	r := load(t, "testdata/ok/everything.yaml").Rates
	if r.FX["USD"] != fleet.CNY(7_200_000) || len(r.Quotes) != 3 {
		t.Fatalf("rates %+v", r)
	}
	half, note := estimate.Whole(1500), estimate.Told{AsOf: "2026-09-01", Source: "a note"}
	want := estimate.Offer{
		Name: "by-card", Platform: "Other Cloud", GPU: "RTX 4090", Price: fleet.CNY(1_990_000), Per: estimate.PerCardHour, Charge: estimate.Spot,
		Billing: fleet.BillingPerHour, MinCards: 4, TimeOfDay: []estimate.Band{{From: 23 * 60, To: 7 * 60, Price: fleet.CNY(990_000)}},
		Disk:     estimate.Storage{Price: fleet.CNY(6_600), Per: estimate.PerGBDay, FreeGB: estimate.Whole(50), Told: note},
		Snapshot: estimate.Storage{Price: fleet.CNY(300_000), Per: estimate.PerGBMonth, FreeGB: half, NotStopped: true, Told: note},
		Image:    estimate.Storage{Price: fleet.CNY(10_000), Per: estimate.PerGBDay, FreeGB: estimate.Whole(30), Told: note},
		Traffic:  estimate.Traffic{Price: fleet.CNY(800_000), Per: estimate.PerGB, FreeGB: estimate.Whole(10), Told: note},
		PublicIP: estimate.Address{Price: fleet.CNY(20_000), Per: estimate.PerHour, NotStopped: true, Told: note},
		Kind:     estimate.FromRates, Told: estimate.Told{AsOf: "2026-10-02", Source: "a screenshot"},
	}
	if diff := cmp.Diff(want, r.Quotes[0]); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}
	month := r.Quotes[1]
	if month.Platform != "Example Cloud" || month.AsOf != "2026-10-01" || month.Charge != estimate.Month || month.HoursIncluded.String() != "700" ||
		!month.Disk.AllFree || month.Traffic.Mbps.String() != "100" {
		t.Errorf("the second: %+v", month)
	}
}

func TestAWeeksJobs(t *testing.T) {
	data, err := os.ReadFile("testdata/jobs/week.yaml")
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := Jobs("week.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) estimate.Number {
		n, err := estimate.ParseNumber(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	want := []estimate.Job{
		{Name: "llama-sft", Hours: number("30"), Cards: []int{8}, Setup: 2 * time.Hour, Upload: estimate.Transfer{GB: number("80"), MBPerHour: number("18000")},
			DiskGB: number("100"), Keep: 7 * 24 * time.Hour, Download: estimate.Transfer{GB: number("50")}, Rework: number("0.15"), Times: 1},
		{Name: "eval", Epochs: 50, EpochTime: map[string]time.Duration{"a": 48 * time.Second, "RTX 4090": 63 * time.Second}, Cards: []int{1, 4, 8},
			Efficiency: map[string]map[int]estimate.Number{"": {4: number("0.79")}, "slow": {4: number("0.44"), 8: number("0.31")}},
			SnapshotGB: number("20"), ImageGB: number("30"), Times: 3},
		{Name: "short", Epochs: 2, EpochTime: map[string]time.Duration{"": time.Minute}, Efficiency: map[string]map[int]estimate.Number{"": {2: number("1")}}, Times: 1},
	}
	if diff := cmp.Diff(want, jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func FuzzQuotes(f *testing.F) {
	for _, pattern := range []string{"testdata/quotes/*.yaml", "testdata/jobs/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rates, badRates := Quotes("q.yaml", data)
		jobs, badJobs := Jobs("j.yaml", data)
		if badJobs != nil {
			jobs = []estimate.Job{{Hours: estimate.Whole(1)}}
		}
		if badRates != nil {
			rates = Rates{Quotes: []estimate.Offer{{Name: "a", Price: fleet.CNY(1), Per: estimate.PerCardHour}}}
		} else if len(rates.Quotes) == 0 {
			t.Fatal("a file without quotes was accepted")
		}
		estimate.Rank(estimate.Question{Jobs: jobs, Offers: rates.Quotes, FX: rates.FX})
	})
}
