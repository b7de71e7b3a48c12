package sim

import (
	"fmt"
	"time"

	"curfew/fleet"
)

// Spec describes an instance as it is when it is added. In a world file the keys
// are those of the tags.
type Spec struct {
	ID      string            `yaml:"id"`      // default sim-0001 and so on; unique in the whole cloud
	Account string            `yaml:"account"` // default lab
	Name    string            `yaml:"name"`
	Region  string            `yaml:"region"`
	Labels  map[string]string `yaml:"labels"`
	Owner   string            `yaml:"owner"`
	Parent  string            `yaml:"parent"` // id of what owns it
	GPU     GPU               `yaml:"gpu"`
	Image   string            `yaml:"image"` // id of the image it was made of, which cannot be deleted while it is there

	// State is running (the default), stopped, creating (which never ends) or failed.
	State fleet.State   `yaml:"state"`
	Age   time.Duration `yaml:"age"` // how long it has been in that state; default 1 h

	Price      fleet.Money      `yaml:"price"`   // per hour while it is up; none is free
	Billing    fleet.Billing    `yaml:"billing"` // second (the default) or hour
	HidesPrice bool             `yaml:"hides_price"`
	Charge     fleet.ChargeType `yaml:"charge"`     // default on-demand; a period is paid already
	EndsIn     time.Duration    `yaml:"ends_in"`    // of a period, from now
	Refundable fleet.Money      `yaml:"refundable"` // of a period
	AutoRenew  Answer           `yaml:"auto_renew"` // of a period, as the platform tells: yes, no or unknown (the default)

	// StopEndsBilling is what the platform says: yes (the default), no (a stopped
	// instance costs as much as a running one) or unknown.
	StopEndsBilling Answer      `yaml:"stop_ends_billing"`
	StillCosts      fleet.Money `yaml:"stop_still_costs"` // per hour while stopped
	// HidesStillCosts: the platform tells what it still costs only once it is stopped.
	HidesStillCosts bool        `yaml:"hides_still_costs"`
	StopKeeps       fleet.Keeps `yaml:"stop_keeps"` // all (the default), part or none

	// ReleaseKeeps is how much of what is on the instance itself outlives a release, as
	// the platform tells: none (the default), part or all.
	ReleaseKeeps fleet.Keeps `yaml:"release_keeps"`

	ReleasesRunning bool          `yaml:"releases_running"` // otherwise a release before stopped is a Conflict
	Protected       bool          `yaml:"protected"`        // the platform refuses to release it
	Unread          []string      `yaml:"unread"`           // what reads of it leave out
	StopsIn         time.Duration `yaml:"stops_in"`         // a platform timer that stops it
	BootTime        time.Duration `yaml:"boot_time"`        // instead of the cloud's
	StopTime        time.Duration `yaml:"stop_time"`        // instead of the cloud's
	Odd             []Odd         `yaml:"odd"`

	Box Box `yaml:"box"`
}

// GPU describes the cards of an instance.
type GPU struct {
	Model    string `yaml:"model"`
	Count    int    `yaml:"count"`
	MemoryGB int    `yaml:"memory_gb"`
}

// Answer is yes, no or unknown, as in a world file; each use says what empty
// means.
type Answer string

func (a Answer) tri(empty fleet.Tri) fleet.Tri {
	switch a {
	case "yes":
		return fleet.Yes
	case "no":
		return fleet.No
	case "unknown":
		return fleet.Unsure
	}
	return empty
}

func (a Answer) known() bool { return a == "" || a == "yes" || a == "no" || a == "unknown" }

// Odd is a time in which the platform says a status word nobody knows, counted
// from when the instance was added.
type Odd struct {
	From time.Duration `yaml:"from"`
	To   time.Duration `yaml:"to"` // zero: for ever
	Raw  string        `yaml:"raw"`
}

// complete fills in defaults and refuses what makes no sense.
func (s Spec) complete(n int) (Spec, error) {
	if s.ID == "" {
		s.ID = fmt.Sprintf("sim-%04d", n)
	}
	refuse := func(format string, args ...any) (Spec, error) {
		return Spec{}, fmt.Errorf("sim: instance "+s.ID+": "+format, args...)
	}
	if s.Account == "" {
		s.Account = "lab"
	}
	switch s.State {
	case "":
		s.State = fleet.StateRunning
	case fleet.StateRunning, fleet.StateStopped, fleet.StateCreating, fleet.StateFailed:
	default:
		return refuse("state %q; it can begin as running, stopped, creating or failed", s.State)
	}
	if s.Age == 0 {
		s.Age = time.Hour
	}
	if s.Age < 0 {
		return refuse("age is %s; it must be positive", s.Age)
	}
	switch s.Billing {
	case "":
		s.Billing = fleet.BillingPerSecond
	case fleet.BillingPerSecond, fleet.BillingPerHour:
	default:
		return refuse("billing %q; it is second or hour", s.Billing)
	}
	switch s.Charge {
	case "":
		s.Charge = fleet.ChargeOnDemand
	case fleet.ChargeOnDemand, fleet.ChargeSpot:
	case fleet.ChargePeriod:
		s.Billing = fleet.BillingPrepaid
	default:
		return refuse("charge %q; it is on-demand, spot or period", s.Charge)
	}
	switch {
	case !s.AutoRenew.known():
		return refuse("auto_renew %q; it is yes, no or unknown", s.AutoRenew)
	case s.AutoRenew != "" && s.Charge != fleet.ChargePeriod:
		return refuse("auto_renew is of a period, and the charge is %s", s.Charge)
	}
	if !s.StopEndsBilling.known() {
		return refuse("stop_ends_billing %q; it is yes, no or unknown", s.StopEndsBilling)
	}
	switch s.StopKeeps {
	case "":
		s.StopKeeps = fleet.KeepsAll
	case fleet.KeepsAll, fleet.KeepsPart, fleet.KeepsNone:
	default:
		return refuse("stop_keeps %q; it is all, part or none", s.StopKeeps)
	}
	switch s.ReleaseKeeps {
	case "":
		s.ReleaseKeeps = fleet.KeepsNone
	case fleet.KeepsAll, fleet.KeepsPart, fleet.KeepsNone:
	default:
		return refuse("release_keeps %q; it is all, part or none", s.ReleaseKeeps)
	}
	if s.GPU.Model != "" && s.GPU.Count == 0 {
		s.GPU.Count = 1
	}
	if s.Price.Currency == "" {
		s.Price.Currency = s.StillCosts.Currency
	}
	if err := s.Box.check(s.Age); err != nil {
		return refuse("box: %w", err)
	}
	return s, nil
}
