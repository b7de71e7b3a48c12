package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"curfew/fleet"
)

// Resource describes a disk, a snapshot, an image or a public address as it is
// when it is added, billed per second for as long as it is there and ready. In a
// world file the keys are those of the tags; a key that its kind does not have is
// refused.
type Resource struct {
	ID      string            `yaml:"id"`      // required; unique among those of its kind
	Account string            `yaml:"account"` // default lab
	Name    string            `yaml:"name"`
	Region  string            `yaml:"region"`
	Labels  map[string]string `yaml:"labels"`
	Owner   string            `yaml:"owner"`
	SizeGB  int               `yaml:"size_gb"` // of all but addresses
	Address string            `yaml:"address"` // of addresses

	Age time.Duration `yaml:"age"` // how long it has existed; default 1 h
	// ReadyIn is how long a snapshot or image is still being made; a negative one is
	// for ever.
	ReadyIn time.Duration `yaml:"ready_in"`

	Price fleet.Money `yaml:"price"` // per hour; none is free
	// PriceAttached is the price while it belongs to an instance; without one it is
	// Price, and 0 CNY is free.
	PriceAttached fleet.Money      `yaml:"price_attached"`
	HidesPrice    bool             `yaml:"hides_price"`
	Charge        fleet.ChargeType `yaml:"charge"`  // default on-demand; a period is paid already
	EndsIn        time.Duration    `yaml:"ends_in"` // of a period, from now

	AttachedTo string `yaml:"attached_to"` // of disks and addresses: an instance's id
	// DetachedFor is how long a disk or an address has belonged to nothing; without
	// one the platform does not tell.
	DetachedFor time.Duration `yaml:"detached_for"`
	// WithInstance is whether a release of the instance destroys the disk even where
	// it does not ask for it, as the platform tells: no (the default, but of System
	// ones), yes or unknown, which is no in truth.
	WithInstance Answer `yaml:"with_instance"`
	System       bool   `yaml:"system"` // a disk that the instance boots from

	OfDisk     string `yaml:"of_disk"`     // what a snapshot was taken of
	OfInstance string `yaml:"of_instance"` // what a snapshot or an image was made of
	OfSnapshot string `yaml:"of_snapshot"` // what an image was made of

	Protected bool     `yaml:"protected"` // the platform refuses to delete it
	Shared    Answer   `yaml:"shared"`    // with other accounts; default no
	Unread    []string `yaml:"unread"`    // what lists leave out of it
}

// complete fills in defaults and refuses what makes no sense.
func (s Resource) complete(kind fleet.ThingKind) (Resource, error) {
	if !slices.Contains(fleet.ResourceKinds(), kind) {
		return s, fmt.Errorf("sim: %q is no kind of what is billed beside instances", kind)
	}
	if s.ID == "" {
		return s, fmt.Errorf("sim: %s needs an id", article(kind))
	}
	refuse := func(format string, args ...any) (Resource, error) {
		return s, fmt.Errorf("sim: %s %s: %s", kind, s.ID, fmt.Sprintf(format, args...))
	}
	const disk, snapshot, image, ip = fleet.KindDisk, fleet.KindSnapshot, fleet.KindImage, fleet.KindPublicIP
	for _, k := range []struct {
		key   string
		given bool
		of    []fleet.ThingKind
	}{
		{"size_gb", s.SizeGB != 0, []fleet.ThingKind{disk, snapshot, image}},
		{"address", s.Address != "", []fleet.ThingKind{ip}},
		{"ready_in", s.ReadyIn != 0, []fleet.ThingKind{snapshot, image}},
		{"price_attached", s.PriceAttached.Currency != "", []fleet.ThingKind{disk, ip}},
		{"attached_to", s.AttachedTo != "", []fleet.ThingKind{disk, ip}},
		{"detached_for", s.DetachedFor != 0, []fleet.ThingKind{disk, ip}},
		{"with_instance", s.WithInstance != "", []fleet.ThingKind{disk}},
		{"system", s.System, []fleet.ThingKind{disk}},
		{"of_disk", s.OfDisk != "", []fleet.ThingKind{snapshot}},
		{"of_instance", s.OfInstance != "", []fleet.ThingKind{snapshot, image}},
		{"of_snapshot", s.OfSnapshot != "", []fleet.ThingKind{image}},
	} {
		if k.given && !slices.Contains(k.of, kind) {
			return refuse("%s has no %s", article(kind), k.key)
		}
	}
	if s.Account == "" {
		s.Account = "lab"
	}
	if s.Age == 0 {
		s.Age = max(time.Hour, s.DetachedFor)
	}
	switch s.Charge {
	case "":
		s.Charge = fleet.ChargeOnDemand
	case fleet.ChargeOnDemand, fleet.ChargePeriod:
	default:
		return refuse("charge %q; it is on-demand or period", s.Charge)
	}
	switch {
	case s.Age < 0:
		return refuse("age is %s; it must be positive", s.Age)
	case s.DetachedFor < 0 || s.DetachedFor > s.Age:
		return refuse("detached_for is %s; it must be positive, and no more than its age of %s", s.DetachedFor, s.Age)
	case s.DetachedFor > 0 && s.AttachedTo != "":
		return refuse("it has detached_for and attached_to; it belongs to nothing or to something")
	case s.OfInstance != "" && s.OfDisk+s.OfSnapshot != "":
		return refuse("it is said to be made of two things")
	case !s.WithInstance.known():
		return refuse("with_instance %q; it is yes, no or unknown", s.WithInstance)
	case !s.Shared.known():
		return refuse("shared %q; it is yes, no or unknown", s.Shared)
	}
	s.Labels = maps.Clone(s.Labels)
	return s, nil
}

func article(kind fleet.ThingKind) string {
	if kind == fleet.KindImage || kind == fleet.KindPublicIP {
		return "an " + string(kind)
	}
	return "a " + string(kind)
}

// AddResource puts a disk, a snapshot, an image or a public address into the
// cloud and gives its reference, without an account. It is visible at once. An
// account not known yet is made; the instance it is attached to must be there.
func (c *Cloud) AddResource(kind fleet.ThingKind, s Resource) (fleet.Ref, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.addResource(kind, s, c.tick())
	if err != nil {
		return fleet.Ref{}, err
	}
	return r.ref(), nil
}

// MustAddResource is [Cloud.AddResource] for tests: it panics where the spec makes
// no sense.
func (c *Cloud) MustAddResource(kind fleet.ThingKind, s Resource) fleet.Ref {
	ref, err := c.AddResource(kind, s)
	if err != nil {
		panic(err)
	}
	return ref
}

func (c *Cloud) addResource(kind fleet.ThingKind, s Resource, now time.Time) (*resource, error) {
	s, err := s.complete(kind)
	if err != nil {
		return nil, err
	}
	thing := string(kind) + " " + s.ID
	a, err := c.owner(thing, s.Account, s.Region, s.Price, s.PriceAttached)
	if err != nil {
		return nil, err
	}
	if old := c.findResource(kind, s.ID); old != nil && old.there(now) {
		return nil, fmt.Errorf("sim: there is %s %s already", article(kind), s.ID)
	}
	r := &resource{kind: kind, spec: s, account: a, added: now, created: now.Add(-s.Age)}
	r.ready = r.created
	if s.ReadyIn > 0 {
		r.ready = now.Add(s.ReadyIn)
	} else if s.ReadyIn < 0 {
		r.ready = time.Time{}
	}
	first := hop{at: r.created}
	if s.DetachedFor > 0 {
		first.at, first.told = now.Add(-s.DetachedFor), true
	}
	if s.AttachedTo != "" {
		if first.to = c.find(s.AttachedTo); first.to == nil || first.to.account != a || first.to.stateAt(now) == fleet.StateReleased {
			return nil, fmt.Errorf("sim: %s is attached to %s; account %s has no such instance", thing, s.AttachedTo, a.Name)
		}
	}
	r.hops = []hop{first}
	c.resources = append(c.resources, r)
	return r, nil
}
