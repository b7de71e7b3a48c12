package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"curfew/fleet"
)

// Good is something that can be ordered, in windows of time. In a world file the keys
// are those of the tags. All times count from when it is added.
type Good struct {
	ID       string           `yaml:"id"`      // required, unique: what to order it by
	Account  string           `yaml:"account"` // who sees it; default lab
	Region   string           `yaml:"region"`
	Zone     string           `yaml:"zone"`
	GPU      GPU              `yaml:"gpu"`
	CPUCores int              `yaml:"cpu_cores"`
	MemoryGB int              `yaml:"memory_gb"`
	CUDA     string           `yaml:"cuda"`
	Charge   fleet.ChargeType `yaml:"charge"` // on-demand (the default) or spot

	Price      fleet.Money   `yaml:"price"`   // per hour of one order; none is free
	Billing    fleet.Billing `yaml:"billing"` // second (the default) or hour
	HidesPrice bool          `yaml:"hides_price"`
	Prices     []PriceChange `yaml:"prices"` // later prices, in the order of their times

	// Available is how many orders a window has room for; default 1.
	Available   int  `yaml:"available"`
	HidesNumber bool `yaml:"hides_number"` // the platform says only that there are some
	Advisory    bool `yaml:"advisory"`
	Lies        bool `yaml:"lies"` // it is shown, and sold out when it is ordered

	From  time.Duration `yaml:"from"`  // when the first window opens
	To    time.Duration `yaml:"to"`    // when that one closes; zero: never
	Every time.Duration `yaml:"every"` // from one window to the next; zero: there is one
	// Jitter opens and closes each window later by up to this much, by the cloud's seed.
	Jitter time.Duration `yaml:"jitter"`

	BootTime time.Duration `yaml:"boot_time"` // of what is ordered, instead of the cloud's
}

// PriceChange is a later price.
type PriceChange struct {
	At    time.Duration `yaml:"at"`
	Price fleet.Money   `yaml:"price"`
}

// good is a Good in the cloud.
type good struct {
	Good
	account *account
	added   time.Time
	orders  []time.Time
}

// complete fills in defaults and refuses what makes no sense.
func (g Good) complete() (Good, error) {
	refuse := func(format string, args ...any) (Good, error) {
		return Good{}, fmt.Errorf("sim: offer "+g.ID+": "+format, args...)
	}
	if g.ID == "" {
		return Good{}, fmt.Errorf("sim: an offer needs an id")
	}
	if g.Account == "" {
		g.Account = "lab"
	}
	if g.Charge == "" {
		g.Charge = fleet.ChargeOnDemand
	}
	if g.Billing == "" {
		g.Billing = fleet.BillingPerSecond
	}
	if g.Available == 0 {
		g.Available = 1
	}
	if g.GPU.Model != "" && g.GPU.Count == 0 {
		g.GPU.Count = 1
	}
	last := time.Duration(0)
	for _, c := range g.Prices {
		if c.At <= last {
			return refuse("its price changes at %s, which is not after what is before", c.At)
		}
		last = c.At
	}
	open := g.To - g.From
	switch {
	case g.Charge != fleet.ChargeOnDemand && g.Charge != fleet.ChargeSpot:
		return refuse("charge %q; it is on-demand or spot", g.Charge)
	case g.Billing != fleet.BillingPerSecond && g.Billing != fleet.BillingPerHour:
		return refuse("billing %q; it is second or hour", g.Billing)
	case g.Available < 0 || g.CPUCores < 0 || g.MemoryGB < 0 || g.GPU.Count < 0:
		return refuse("there cannot be fewer than none")
	case g.From < 0 || g.Every < 0 || g.Jitter < 0:
		return refuse("from, every and jitter are not negative")
	case g.To != 0 && open <= 0:
		return refuse("it ends at %s, not after its beginning", g.To)
	case g.Every > 0 && (g.To == 0 || open+g.Jitter > g.Every):
		return refuse("a window of %s, up to %s later, does not fit into every %s", open, g.Jitter, g.Every)
	}
	g.Prices = slices.Clone(g.Prices)
	return g, nil
}

// Offer puts something that can be ordered into the cloud. An account not known yet is
// made.
func (c *Cloud) Offer(g Good) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offer(g, c.tick())
}

func (c *Cloud) offer(g Good, now time.Time) error {
	g, err := g.complete()
	if err != nil {
		return err
	}
	prices := []fleet.Money{g.Price}
	for _, p := range g.Prices {
		prices = append(prices, p.Price)
	}
	a, err := c.owner("offer "+g.ID, g.Account, g.Region, prices...)
	if err != nil {
		return err
	}
	if c.good(g.ID) != nil {
		return fmt.Errorf("sim: there is an offer %s already", g.ID)
	}
	c.market = append(c.market, &good{Good: g, account: a, added: now})
	return nil
}

// SetStock makes room for this many orders of what is on offer, from now on and as long
// as its window is open.
func (c *Cloud) SetStock(id string, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	g := c.good(id)
	if g == nil {
		return fmt.Errorf("sim: there is no offer %s", id)
	}
	g.Available, g.orders = n, slices.DeleteFunc(g.orders, func(at time.Time) bool { return !at.After(now) })
	return nil
}

func (c *Cloud) good(id string) *good {
	for _, g := range c.market {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// window is when the window opened that is open at t.
func (c *Cloud) window(g *good, t time.Time) (opened time.Time, open bool) {
	since, n := t.Sub(g.added)-g.From, time.Duration(0)
	if g.Every > 0 && since > 0 {
		n = since / g.Every
	}
	begin := g.From + n*g.Every + c.late(g, uint64(n))
	opened = g.added.Add(begin)
	return opened, !t.Before(opened) && (g.To == 0 || t.Before(opened.Add(g.To-g.From)))
}

// late is by how much the nth window is late.
func (c *Cloud) late(g *good, n uint64) time.Duration {
	if g.Jitter == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(g.ID)) // never fails
	return time.Duration(rand.New(rand.NewPCG(c.seed^h.Sum64(), n)).Int64N(int64(g.Jitter) + 1))
}

// leftOf is how many orders there is room for at t, by the orders that were made until
// then.
func (c *Cloud) leftOf(g *good, t time.Time) int {
	opened, open := c.window(g, t)
	if !open {
		return 0
	}
	n := g.Available
	for _, at := range g.orders {
		if !at.Before(opened) && !at.After(t) {
			n--
		}
	}
	return max(n, 0)
}

// priceAt is what an order costs per hour at t.
func (g *good) priceAt(t time.Time) fleet.Money {
	price := g.Price
	for _, change := range g.Prices {
		if !t.Before(g.added.Add(change.At)) {
			price = change.Price
		}
	}
	if price.Currency == "" {
		price.Currency = g.account.Cash.Currency
	}
	return price
}

// offered is the good as the platform shows it.
func (c *Cloud) offered(g *good, now time.Time, configured map[string]fleet.Money) fleet.Offer {
	view := now.Add(-max(c.timing.SettleLag, 0))
	if view.Before(g.added) {
		view = g.added
	}
	o := fleet.Offer{
		Region: g.Region, Zone: g.Zone, SKU: g.ID, GPU: fleet.GPU(g.GPU), CPUCores: g.CPUCores, MemoryGB: g.MemoryGB,
		CUDA: g.CUDA, Charge: g.Charge, Available: c.leftOf(g, view), Advisory: g.Advisory, SeenAt: now,
		Price: fleet.Price{PerHour: g.priceAt(view), Billing: g.Billing, Source: fleet.PriceProvider, AsOf: view},
	}
	if g.HidesNumber && o.Available > 0 {
		o.Available = fleet.SomeAvailable
	}
	if g.HidesPrice {
		o.Price = fleet.Price{}
		if each, ok := configured[g.GPU.Model]; ok {
			each.Micros *= int64(g.GPU.Count)
			o.Price = fleet.Price{PerHour: each, Billing: g.Billing, Source: fleet.PriceConfig}
		}
	}
	return o
}
