package estimate

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Job is what is to be done.
type Job struct {
	Name string `json:"name,omitempty"`
	// Hours of work, or Epochs and how long one takes: by an offer's name, its
	// platform or its cards; "" is for every other.
	Hours     Number                   `json:"hours,omitzero"`
	Epochs    int                      `json:"epochs,omitempty"`
	EpochTime map[string]time.Duration `json:"epoch_time_ns,omitempty"`
	// Cards are the numbers of cards to compare. With several of them, or with an
	// efficiency, the work is measured on one card.
	Cards []int `json:"cards"`
	// Efficiency is which share of linear speed-up so many cards reach, by the same
	// names as EpochTime; "" is for what was not measured at an offer of its own.
	Efficiency map[string]map[int]Number `json:"efficiency,omitempty"`
	Setup      time.Duration             `json:"setup_ns,omitempty"`
	Upload     Transfer                  `json:"upload,omitzero"`
	Download   Transfer                  `json:"download,omitzero"`
	DiskGB     Number                    `json:"disk_gb,omitzero"`
	SnapshotGB Number                    `json:"snapshot_gb,omitzero"`
	ImageGB    Number                    `json:"image_gb,omitzero"`
	// Keep is for how long data is kept, from the beginning; at least while it runs.
	Keep time.Duration `json:"keep_ns,omitempty"`
	// Rework is which share of the work is done again on spot.
	Rework Number `json:"rework,omitzero"`
	// Times is how often the job runs; 0 is once.
	Times int `json:"times,omitempty"`
}

// Scaled reports whether the work is measured on one card.
func (j Job) Scaled() bool { return len(j.Cards) > 1 || len(j.Efficiency) > 0 }

// Units is how much work there is: epochs, or hours.
func (j Job) Units() Number {
	if j.Epochs > 0 {
		return Whole(int64(j.Epochs))
	}
	return j.Hours
}

func (j Job) times() Number { return Whole(int64(max(j.Times, 1))) }

// measured gives the figure that was measured at an offer, or the one for every
// other.
func measured[V any](figures map[string]V, o Offer) (V, bool) {
	for _, name := range o.called() {
		if v, ok := figures[name]; ok && name != "" {
			return v, true
		}
	}
	v, ok := figures[""]
	return v, ok
}

// work is how long all the work takes at an offer, as it was measured.
func (j Job) work(o Offer) (Number, bool) {
	if j.Epochs == 0 {
		return j.Hours, true
	}
	epoch, ok := measured(j.EpochTime, o)
	return Hours(epoch).times(Whole(int64(j.Epochs))), ok
}

// efficiency is the share of linear speed-up that so many cards reach. Where that
// was not measured it is that of the next smaller number that was, which is told;
// one card is the whole of itself.
func (j Job) efficiency(o Offer, cards int) (share Number, of int) {
	all := map[int]Number{}
	maps.Copy(all, j.Efficiency[""])
	own, _ := measured(j.Efficiency, o)
	maps.Copy(all, own)
	share, of = Whole(1), 1
	for _, n := range slices.Sorted(maps.Keys(all)) {
		if n <= cards && !all[n].IsZero() {
			share, of = all[n], n
		}
	}
	return share, of
}

// names lists every name that figures are given for.
func (j Job) names() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(j.EpochTime)), maps.Keys(j.Efficiency))
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// counts are the numbers of cards to compare, each once; one card where nothing is
// said.
func (j Job) counts() []int {
	var out []int
	for _, n := range j.Cards {
		out = append(out, max(n, 1))
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		return []int{1}
	}
	return out
}

// Unused lists the names that a job gives figures for and no offer bears, each
// once.
func Unused(jobs []Job, offers []Offer) []string {
	var out []string
	for _, j := range jobs {
		for _, name := range j.names() {
			if !slices.ContainsFunc(offers, func(o Offer) bool { return slices.Contains(o.called(), name) }) {
				out = append(out, name)
			}
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return slices.Compact(out)
}
