package accept

import (
	"testing"

	"curfew/fleet"
)

// fine is a report of a good machine with two cards.
func fine() Report {
	zero := 0.0
	load := func(n int) LoadCard {
		return LoadCard{Index: n, Rates: []float64{200, 250, 251, 249}, Clocks: []float64{900, 1410, 1400, 1395}, Told: 4}
	}
	return Report{
		Cores: known(32.0), Memory: known(int64(256e9)), Shm: known(int64(64e9)), Free: known(int64(500e9)), Disk: known(1.2e9), Network: known(50e6),
		Cards: known([]Card{{Index: 0, Name: "NVIDIA A100-SXM4-80GB", MemoryMB: 81920, Busy: &zero}, {Index: 1, Name: "NVIDIA A100-SXM4-80GB", MemoryMB: 81920, Busy: &zero}}),
		CUDA:  known(Version{12, 4}), Links: known(Links{Pairs: 1, NVLink: 1}),
		Framework: known(Framework{Version: "2.4", CUDA: "12.4", Seen: 2, Cards: []CardTried{{Index: 0, OK: true}, {Index: 1, OK: true}}}),
		AllReduce: known(Bandwidth{PerSecond: 200e9, By: "torch"}), Load: known([]LoadCard{load(0), load(1)}),
	}
}

func TestJudge(t *testing.T) {
	type codes []fleet.Code
	for name, c := range map[string]struct {
		change                   func(r *Report, o *fleet.GPU, t *Thresholds)
		fails, warnings, unknown codes
	}{
		"a good one": {},
		"exactly as much as is asked for": {change: func(r *Report, _ *fleet.GPU, t *Thresholds) {
			r.Disk, r.Network, r.Shm, r.AllReduce = known(500e6), known(20e6), known(int64(1e9)), known(Bandwidth{PerSecond: 5e9})
			t.CUDA, t.Cores, t.Memory, t.Free = Version{12, 4}, 32, 256e9, 500e9
		}},
		"a little less": {
			change: func(r *Report, _ *fleet.GPU, t *Thresholds) {
				r.Disk, r.Network, r.Shm, r.AllReduce = known(499e6), known(19e6), known(int64(999e6)), known(Bandwidth{PerSecond: 0.99e9})
				t.Cores, t.Memory, t.Free = 33, 257e9, 501e9
			},
			fails: codes{TooLittle, TooLittle, TooLittle, TooLittle, TooLittle, TooLittle, TooLittle},
		},
		"a slow sum":                      {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.AllReduce.Value.PerSecond = 1e9 }, warnings: codes{AllReduceSlow}},
		"a newer major version is good":   {change: func(_ *Report, _ *fleet.GPU, t *Thresholds) { t.CUDA = Version{11, 8} }},
		"an older minor one is a warning": {change: func(_ *Report, _ *fleet.GPU, t *Thresholds) { t.CUDA = Version{12, 8} }, warnings: codes{CUDAMinor}},
		"an older major one fails":        {change: func(_ *Report, _ *fleet.GPU, t *Thresholds) { t.CUDA = Version{13, 0} }, fails: codes{CUDAOld}},
		"less memory on a card fails":     {change: func(_ *Report, o *fleet.GPU, _ *Thresholds) { o.Model, o.MemoryGB = "A100", 96 }, fails: codes{CardsMemory}},
		"a name nobody knows is unknown":  {change: func(_ *Report, o *fleet.GPU, _ *Thresholds) { o.Model = "vGPU-48GB" }, unknown: codes{Unknown}},
		"nothing ordered is unknown":      {change: func(_ *Report, o *fleet.GPU, _ *Thresholds) { *o = fleet.GPU{} }, unknown: codes{Unknown}},
		"more cards than ordered":         {change: func(_ *Report, o *fleet.GPU, _ *Thresholds) { o.Count = 1 }, fails: codes{CardsCount}},
		"NVLink between some":             {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Links.Value = Links{Pairs: 3, NVLink: 1, Other: "SYS"} }, warnings: codes{LinksSome}},
		"PyTorch ended early":             {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Framework.Value.Cards = r.Framework.Value.Cards[:1] }, unknown: codes{Unknown}},
		"slowed down half of the time":    {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[1].Throttled = 2 }, fails: codes{SteadyThrottled}},
		"too few samples to fail":         {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[1].Throttled, r.Load.Value[1].Told = 1, 1 }, warnings: codes{SteadyOnce}},
		"slowed down once":                {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[1].Throttled = 1 }, warnings: codes{SteadyOnce}},
		"a clock that falls":              {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[0].Clocks[3] = 600 }, warnings: codes{SteadyClocks}},
		"a shared card":                   {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[0].Rates[2] = 100 }, warnings: codes{SteadyRates}},
		"a card slower than the others":   {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[1].Rates = []float64{90, 100, 100} }, warnings: codes{SteadyUneven}},
		"spread may be off": {change: func(r *Report, _ *fleet.GPU, t *Thresholds) {
			r.Load.Value[0].Clocks[3], r.Load.Value[1].Rates, t.Spread = 600, []float64{90, 100}, 0
		}},
		"a driver that does not tell":      {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { r.Load.Value[0].Told = 0 }, unknown: codes{Unknown}},
		"what is off is not judged":        {change: func(r *Report, _ *fleet.GPU, t *Thresholds) { *r, t.Off = Report{}, Checks() }},
		"nothing known passes nothing":     {change: func(r *Report, _ *fleet.GPU, _ *Thresholds) { *r = Report{} }, unknown: make(codes, 12)},
		"nothing known and all required":   {change: func(r *Report, _ *fleet.GPU, t *Thresholds) { *r, t.Require = Report{}, Checks() }, fails: make(codes, 12)},
		"without an address no download":   {change: func(r *Report, _ *fleet.GPU, t *Thresholds) { r.Network, t.URL = Reading[float64]{}, "" }},
		"one card has no links and no sum": {change: oneCard},
	} {
		t.Run(name, func(t *testing.T) {
			r, ordered, want := fine(), fleet.GPU{Model: "A100-80G", Count: 2, MemoryGB: 80}, Defaults()
			want.URL = "http://x/1g"
			if c.change != nil {
				c.change(&r, &ordered, &want)
			}
			got := Judge(r, ordered, want)
			for _, k := range []struct {
				kind string
				want codes
				got  []fleet.Reason
			}{{"fails", c.fails, got.Fails}, {"warnings", c.warnings, got.Warnings}, {"unknown", c.unknown, got.Unknown}} {
				good := len(k.want) == len(k.got)
				for n := range min(len(k.want), len(k.got)) {
					good = good && (k.want[n] == "" || k.want[n] == k.got[n].Code)
				}
				if !good {
					t.Errorf("%s %v, want %v", k.kind, k.got, k.want)
				}
			}
			if got.OK() != (len(c.fails) == 0) {
				t.Errorf("OK is %v", got.OK())
			}
			if name == "nothing known passes nothing" && len(got.Passed) > 0 {
				t.Errorf("passed %v", got.Passed)
			}
		})
	}
}

// oneCard makes a machine of a single card, whose /dev/shm may be small.
func oneCard(r *Report, o *fleet.GPU, _ *Thresholds) {
	o.Count = 1
	r.Cards.Value, r.Load.Value = r.Cards.Value[:1], r.Load.Value[:1]
	r.Framework.Value.Seen, r.Framework.Value.Cards = 1, r.Framework.Value.Cards[:1]
	r.Links, r.AllReduce, r.Shm = Reading[Links]{}, Reading[Bandwidth]{}, known(int64(64e6))
}
