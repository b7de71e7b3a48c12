package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"curfew/fleet"
	"curfew/internal/estimate"
	"curfew/internal/text"
)

// On a narrow terminal nothing runs over its edge, and nothing is left out.
func TestAnEstimateFitsANarrowTerminal(t *testing.T) {
	told := estimate.Told{AsOf: "2026-10-01", Source: "https://cloud.example/prices"}
	offers := []estimate.Offer{
		{Name: "market", GPU: "RTX 4090", Price: fleet.CNY(1_980_000), Per: estimate.PerCardHour, Charge: estimate.OnDemand, Billing: fleet.BillingPerSecond, Told: told},
		{Name: "contract", GPU: "RTX 4090", Price: fleet.CNY(900_000_000), Per: estimate.PerCardMonth, Charge: estimate.Month, Told: told},
	}
	for _, times := range []int{1, 2} {
		a := estimate.Rank(estimate.Question{Jobs: []estimate.Job{{Name: "train", Hours: estimate.Whole(30), Times: times}}, Offers: offers})
		for _, lang := range []text.Language{text.English, text.Chinese} {
			r, err := text.New(lang, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			show := func(width int) string {
				var out bytes.Buffer
				(&page{w: &out, r: r, width: width}).estimate(a, known{}, "50%")
				return out.String()
			}
			narrow := show(90)
			for line := range strings.Lines(narrow) {
				if n := columns(strings.TrimRight(line, "\n")); n > 90 {
					t.Errorf("%s: %d columns: %s", lang, n, line)
				}
			}
			whole := strings.ReplaceAll(narrow, "\n", " ")
			for _, want := range []string{"1.98 CNY", "900.00 CNY", told.Source, told.AsOf, "454.5"} {
				if !strings.Contains(whole, want) || !strings.Contains(show(0), want) {
					t.Errorf("%s: %q is left out of\n%s", lang, want, narrow)
				}
			}
		}
	}
}
