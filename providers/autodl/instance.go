package autodl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
)

// item is one instance in a list.
type item struct {
	UUID       string `json:"uuid"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	RegionSign string `json:"region_sign"`
	RegionName string `json:"region_name"`
	ChargeType string `json:"charge_type"`
	StartMode  string `json:"start_mode"`
	GPUAmount  int    `json:"req_gpu_amount"`
	GPUSpec    string `json:"gpu_spec_uuid"`

	CreatedAt       moment `json:"created_at"`
	StartedAt       moment `json:"started_at"`
	StoppedAt       moment `json:"stopped_at"`
	ExpiredAt       moment `json:"expired_at"`
	TimedShutdownAt moment `json:"timed_shutdown_at"`
}

// moment is a time as AutoDL writes it: {"Time": …, "Valid": …}, or a plain
// string; zero where there is none.
type moment struct {
	time.Time
	unreadable bool
}

// UnmarshalJSON never fails: one strange time must not hide a whole list.
func (m *moment) UnmarshalJSON(data []byte) error {
	*m = moment{}
	var s string
	var null struct {
		Time  string
		Valid *bool
	}
	switch {
	case string(data) == "null":
		return nil
	case json.Unmarshal(data, &s) == nil:
	case json.Unmarshal(data, &null) == nil && null.Valid != nil:
		if !*null.Valid {
			return nil
		}
		s = null.Time
	default:
		m.unreadable = true
		return nil
	}
	if s == "" {
		return nil
	}
	beijing := time.FixedZone("+08:00", 8*3600) // for times that carry no zone
	for _, layout := range [...]string{time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, beijing); err == nil {
			if t.Year() > 1970 { // Go's and SQL's zero times mean none
				m.Time = t.UTC()
			}
			return nil
		}
	}
	m.unreadable = true
	return nil
}

func state(status string) fleet.State {
	switch status {
	case "creating":
		return fleet.StateCreating
	case "starting":
		return fleet.StateStarting
	case "running":
		return fleet.StateRunning
	case "shutting_down":
		return fleet.StateStopping
	case "shutdown":
		return fleet.StateStopped
	case "releasing":
		return fleet.StateReleasing
	case "released":
		return fleet.StateReleased
	case "failed":
		return fleet.StateFailed
	}
	return fleet.StateUnknown
}

// spec is a kind of machine that can be ordered.
type spec struct {
	id       string // as orders and lists name it
	model    string // as the market page and the stock call its cards
	memoryGB int    // of a card
}

// specs is the appendix of the manual that names them.
func specs() []spec {
	return []spec{
		{"h800", "H800", 80},
		{"v-48g", "vGPU-48GB", 48},
		{"v-48g-350w", "vGPU-48GB-350W", 48},
		{"v-32g-p", "vGPU-32GB", 32},
		{"pro6000-p", "RTX PRO 6000", 96},
		{"5090-p", "RTX 5090", 32},
		{"4090D", "RTX 4090D", 24},
	}
}

// gpus gives the cards of a spec; one that is not in the appendix is its own name.
func gpus(id string) (model string, memoryGB int) {
	for _, s := range specs() {
		if strings.EqualFold(s.id, id) {
			return s.model, s.memoryGB
		}
	}
	return id, 0
}

// specOf gives the spec of a model; zero where none has its cards.
func specOf(model string) spec {
	for _, s := range specs() {
		if strings.EqualFold(s.model, model) {
			return s
		}
	}
	return spec{}
}

// instance translates a list item.
func (a *account) instance(it item) fleet.Instance {
	model, memory := gpus(it.GPUSpec)
	i := fleet.Instance{
		Ref:       fleet.Ref{Kind: fleet.KindInstance, ID: it.UUID},
		Name:      it.Name,
		State:     state(it.Status),
		RawState:  it.Status,
		Region:    it.RegionSign,
		Charge:    charge(it),
		GPU:       fleet.GPU{Model: model, Count: it.GPUAmount, MemoryGB: memory},
		CreatedAt: it.CreatedAt.Time,
	}
	if i.Region == "" {
		i.Region = it.RegionName
	}
	setTimes(&i, it)
	setMoney(&i)
	if i.Charge.Type == fleet.ChargeOnDemand && withGPU(it) {
		i.Price = a.configured(i.GPU, it.GPUSpec)
	}
	for _, m := range [...]struct {
		name string
		m    moment
	}{
		{"created_at", it.CreatedAt}, {"started_at", it.StartedAt}, {"stopped_at", it.StoppedAt},
		{"expired_at", it.ExpiredAt}, {"timed_shutdown_at", it.TimedShutdownAt},
	} {
		if m.m.unreadable {
			i.Unread = append(i.Unread, m.name)
		}
	}
	return i
}

// setTimes fills the times that belong to the present power cycle. A time of an
// earlier one would give a fresh boot the old boot's name: while starting,
// started_at may still be of the cycle before, and while running, stopped_at.
func setTimes(i *fleet.Instance, it item) {
	started, stopped := it.StartedAt.Time, it.StoppedAt.Time
	ended := !stopped.IsZero() && !stopped.Before(started)
	if !i.State.Up() || !ended {
		i.StartedAt = started
		i.Boot = fleet.BootAt(started)
	}
	if i.State.Up() {
		if at := it.TimedShutdownAt.Time; at.After(i.StartedAt) {
			i.StopsAt = at
		}
		return
	}
	if ended && i.State != fleet.StateStopping {
		i.StoppedAt = stopped
	}
	if i.State == fleet.StateStopped && !i.StoppedAt.IsZero() && i.Charge.Type != fleet.ChargePeriod {
		i.ReleasesAt = i.StoppedAt.Add(keptFor)
	}
}

func charge(it item) fleet.Charge {
	switch it.ChargeType {
	case "payg":
		return fleet.Charge{Type: fleet.ChargeOnDemand}
	case "day", "daily", "week", "weekly", "month", "monthly", "year", "yearly":
		return fleet.Charge{Type: fleet.ChargePeriod, End: it.ExpiredAt.Time}
	}
	return fleet.Charge{}
}

// setMoney says what a stop does to the bill. Disks are kept for as long as the
// instance; whether an enlarged one goes on costing is not in the list.
func setMoney(i *fleet.Instance) {
	i.OnStop.KeepsData = fleet.KeepsAll
	switch i.Charge.Type {
	case fleet.ChargeOnDemand:
		i.OnStop.EndsBilling = fleet.Yes
	case fleet.ChargePeriod:
		i.OnStop.EndsBilling = fleet.No
	}
}

// withGPU reports whether the instance was booted with its cards; without, it
// costs far less than the card's price.
func withGPU(it item) bool { return it.StartMode == "" || it.StartMode == "gpu" }

// configured is the price by the configuration, which gives it for one card.
func (a *account) configured(g fleet.GPU, spec string) fleet.Price {
	if g.Count <= 0 {
		return fleet.Price{}
	}
	for _, name := range [...]string{g.Model, spec} {
		for _, model := range slices.Sorted(maps.Keys(a.prices)) {
			if name != "" && strings.EqualFold(model, name) {
				each := a.prices[model]
				each.Micros *= int64(g.Count)
				return fleet.Price{PerHour: each, Billing: fleet.BillingPerSecond, Source: fleet.PriceConfig}
			}
		}
	}
	return fleet.Price{}
}
