package fleet

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Offer is something that a platform says can be ordered now. Offers of one answer
// may overlap: the same free cards may be on offer by ones and by twos.
//
// Adapters fill what they are told and nothing they guess. The zero value is sold
// out.
type Offer struct {
	Account     string `json:"account"`                // the account's identity, as in [Ref]
	AccountName string `json:"account_name,omitempty"` // the entry's name in the configuration
	Provider    string `json:"provider,omitempty"`
	Region      string `json:"region,omitempty"`
	Zone        string `json:"zone,omitempty"`
	// SKU is what to order it by, in the platform's own word. Empty: this account can
	// see that it is there, and cannot order it.
	SKU      string `json:"sku,omitempty"`
	GPU      GPU    `json:"gpu,omitzero"` // Count is on one host; Model as the platform writes it
	CPUCores int    `json:"cpu_cores,omitempty"`
	MemoryGB int    `json:"memory_gb,omitempty"` // of the host, not of the cards
	// CUDA is the newest version that the host's driver is known to run at least,
	// major.minor; empty where nobody said.
	CUDA   string     `json:"cuda,omitempty"`
	Charge ChargeType `json:"charge,omitempty"`
	// Price is of the whole order, all cards of it together, without what is billed
	// apart, such as disks.
	Price Price `json:"price,omitzero"`
	// Available is how many such orders could be made now; -1 where the platform says
	// only that there are some.
	Available int `json:"available"`
	// Advisory says that it may be false when it is ordered, more than any offer may:
	// what was counted is not what is ordered.
	Advisory bool      `json:"advisory,omitempty"`
	SeenAt   time.Time `json:"seen_at"`
}

// SomeAvailable is an [Offer.Available] of a platform that tells no number.
const SomeAvailable = -1

// Orderable reports whether the account knows what to order it by.
func (o Offer) Orderable() bool { return o.SKU != "" }

// PerCard is the price of one card for an hour, rounded to the nearest millionth, by
// which offers of different sizes are compared; false where the price is not known or
// there is no card.
func (o Offer) PerCard() (Money, bool) {
	n := int64(o.GPU.Count)
	if !o.Price.Known() || n <= 0 {
		return Money{}, false
	}
	each := o.Price.PerHour
	half := n / 2
	if each.Micros < 0 {
		half = -half
	}
	each.Micros = (each.Micros + half) / n
	return each, true
}

// Want is what somebody would order. What it leaves out is not asked for, but for
// three: no model matches nothing, no count is one card, and no charge is on demand.
type Want struct {
	GPUs  []string `json:"gpus"`            // models, in any of their names; any of them will do
	Count int      `json:"count,omitempty"` // cards on one host, no more and no fewer
	// MinGPUMemoryGB is of each card, MinCPUCores and MinMemoryGB are of the host.
	MinGPUMemoryGB int `json:"min_gpu_memory_gb,omitempty"`
	MinCPUCores    int `json:"min_cpu_cores,omitempty"`
	MinMemoryGB    int `json:"min_memory_gb,omitempty"`
	// Regions are patterns of regions or zones, in which * stands for anything; any of
	// them will do.
	Regions []string `json:"regions,omitempty"`
	CUDA    string   `json:"cuda,omitempty"` // version that the driver must run, major.minor
	// MaxPrice is for an hour of the whole order; no currency is no limit. A price that
	// is unknown or of another currency is over every limit.
	MaxPrice Money        `json:"max_price,omitzero"`
	Charges  []ChargeType `json:"charges,omitempty"`
}

// Cards is how many cards are wanted on one host.
func (w Want) Cards() int { return max(w.Count, 1) }

// OfferQuery asks for all that an account has on offer, once for all wants.
type OfferQuery struct {
	// Regions are those to ask about, in the words that orders use; none is all that
	// the account may order in.
	Regions []string `json:"regions,omitempty"`
	// Wants are what the offers are for. A platform may be asked for less because of
	// them; the answer may hold more than they match, and never less. None is
	// everything.
	Wants []Want `json:"wants,omitempty"`
}

// RegionsOf gives those of an account's regions that must be asked about, in their
// order. A region that is not among them, asked for or wanted, is an error, since
// many platforms answer of it that all is sold out.
func (q OfferQuery) RegionsOf(all []string) ([]string, error) {
	asked := all
	if len(q.Regions) > 0 {
		if err := knownRegions(q.Regions, all); err != nil {
			return nil, err
		}
		asked = q.Regions
	}
	var wanted []string
	everywhere := len(q.Wants) == 0
	for _, w := range q.Wants {
		everywhere = everywhere || len(w.Regions) == 0
		if err := knownRegions(w.Regions, all); err != nil {
			return nil, err
		}
		wanted = append(wanted, w.Regions...)
	}
	var out []string
	for _, r := range all {
		if slices.ContainsFunc(asked, func(a string) bool { return strings.EqualFold(a, r) }) && (everywhere || likeAny(wanted, r)) {
			out = append(out, r)
		}
	}
	return out, nil
}

func knownRegions(patterns, all []string) error {
	for _, p := range patterns {
		if !slices.ContainsFunc(all, func(r string) bool { return like(p, r) }) {
			return fmt.Errorf("there is no region %q to order in; known are %s", p, strings.Join(all, ", "))
		}
	}
	return nil
}

// CUDAs gives the versions that are wanted, each once, the oldest first; empty for
// wants that ask for none, or where nothing is wanted. A version that is none is an
// error.
func (q OfferQuery) CUDAs() ([]string, error) {
	var out []string
	for _, w := range q.Wants {
		if w.CUDA != "" {
			if _, _, ok := parseCUDA(w.CUDA); !ok {
				return nil, fmt.Errorf("%q is no CUDA version; write one such as 12.4", w.CUDA)
			}
		}
		if !slices.Contains(out, w.CUDA) {
			out = append(out, w.CUDA)
		}
	}
	slices.SortFunc(out, compareCUDA)
	if len(out) == 0 {
		out = []string{""}
	}
	return out, nil
}

// OrderSpec says what to order, and how to know it again.
type OrderSpec struct {
	Offer Offer `json:"offer"`
	// Name is the new instance's name, unique to this order: where the answer is lost,
	// the instance is found by it.
	Name string `json:"name"`
	// Token is the idempotency token of the order, for platforms that know one. It
	// belongs to this very spec: another spec has another token.
	Token   string            `json:"token"`
	Image   string            `json:"image,omitempty"` // the platform's own id of it
	Labels  map[string]string `json:"labels,omitempty"`
	DiskGB  int               `json:"disk_gb,omitempty"` // beyond what comes with it
	SSHKey  string            `json:"ssh_key,omitempty"` // a public key in authorized_keys form, or its name at the platform
	Command string            `json:"command,omitempty"` // to run at the start, where the platform can
}

// Check says what no order may lack; nil where nothing is missing.
func (s OrderSpec) Check() error {
	for _, c := range [...]struct {
		missing bool
		what    string
	}{
		{s.Offer.SKU == "", "the offer names nothing to order it by"},
		{s.Name == "", "the new instance has no name to find it by"},
		{s.Token == "", "the order has no idempotency token"},
		{s.DiskGB < 0, "the disk would be smaller than nothing"},
	} {
		if c.missing {
			return fmt.Errorf("%s; nothing was sent", c.what)
		}
	}
	return nil
}

// like reports whether a name fits a pattern, whatever the case. A pattern that is
// none fits nothing.
func like(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

func likeAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return like(p, name) })
}

// parseCUDA reads 12.4, or 12, which is 12.0; what is none is 0.0.
func parseCUDA(s string) (major, minor int, ok bool) {
	a, b, dotted := strings.Cut(s, ".")
	major, err := strconv.Atoi(a)
	if err == nil && dotted {
		minor, err = strconv.Atoi(b)
	}
	if err != nil || major <= 0 || minor < 0 {
		return 0, 0, false
	}
	return major, minor, true
}

// compareCUDA orders versions; what is none comes first.
func compareCUDA(a, b string) int {
	aMajor, aMinor, _ := parseCUDA(a)
	bMajor, bMinor, _ := parseCUDA(b)
	return cmp.Or(cmp.Compare(aMajor, bMajor), cmp.Compare(aMinor, bMinor))
}
