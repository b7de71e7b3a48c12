// Package sim is a cloud in memory: accounts, instances with something running
// inside them, money, slow state changes, stale reads and faults. It drives the
// demo, the tests and the backtest.
//
// It has no goroutine and no clock of its own. Everything is computed from the
// time given by [Options].Now at each call, so that it moves as that clock moves,
// in a testing/synctest bubble as well as at a hundred times the speed of day.
//
// A [Cloud] has three sides. [Kind] gives the adapter through which the daemon
// sees it. [Cloud.Source] looks inside the instances. Every other method is the
// hand of fate: a user at the console, the platform's own ways, faults, and the
// record of what took effect.
package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"curfew/fleet"
)

// Timing is how slow the platform is. A zero time means its default, a negative
// one means none.
type Timing struct {
	BootTime    time.Duration `yaml:"boot_time"`    // from the accepted start to running; default 20 s
	StopTime    time.Duration `yaml:"stop_time"`    // from the accepted stop to stopped; default 10 s
	ReleaseTime time.Duration `yaml:"release_time"` // from the accepted release to released; default 5 s
	DeleteTime  time.Duration `yaml:"delete_time"`  // from the accepted deletion of anything else to gone; default 5 s
	ImageTime   time.Duration `yaml:"image_time"`   // from the accepted saving of an image to ready; default 2 m
	SettleLag   time.Duration `yaml:"settle_lag"`   // how far lists and reads lag behind; default none
	BillLag     time.Duration `yaml:"bill_lag"`     // from when money is taken until the bill shows it; default none
	AutoRelease time.Duration `yaml:"auto_release"` // from stopped to released by the platform; default never
	// StockFloor bans an account for StockBan that asks for stock again sooner than this;
	// default never. StockBan is an hour by default.
	StockFloor time.Duration `yaml:"stock_floor"`
	StockBan   time.Duration `yaml:"stock_ban"`
}

// Ways are the habits in which platforms differ.
type Ways struct {
	// ForceStop stops everything of an account whose money has run out, at the
	// moment it does.
	ForceStop bool `yaml:"force_stop"`
	// Incarnations puts an incarnation on every reference, so that reused ids can be
	// told apart.
	Incarnations bool `yaml:"incarnations"`
	// ShowsReleased keeps released instances readable, as released; otherwise they
	// are NotFound and gone from lists.
	ShowsReleased bool `yaml:"shows_released"`
	// HidesStarts leaves StartedAt, StoppedAt and Boot out of every answer.
	HidesStarts bool `yaml:"hides_starts"`
	// HidesDetached leaves out since when a disk or an address belongs to nothing.
	HidesDetached bool `yaml:"hides_detached"`
	// IgnoresTokens makes two orders with one token two, unless the first's name can be
	// read by then.
	IgnoresTokens bool `yaml:"ignores_tokens"`
}

// Options are what a [Cloud] is made with.
type Options struct {
	Now  func() time.Time // required: the only clock
	Seed uint64           // of faults that come by chance, of the jitter of offers and of nothing else
	Timing
	Ways
	Accounts []Account
}

// Account is one customer of the cloud. Its name selects the instances it sees.
type Account struct {
	Name     string      `yaml:"name"`
	Identity string      `yaml:"identity"` // as the platform tells it; default u-NAME
	Regions  []string    `yaml:"regions"`  // the scopes; none is one scope without a region
	Cash     fleet.Money `yaml:"cash"`     // what its wallet holds at first; default 1000 CNY
	Vouchers fleet.Money `yaml:"vouchers"` // used up before cash
	Credit   fleet.Money `yaml:"credit"`
	// ImagePrice is what each image saved costs per hour; none is free.
	ImagePrice fleet.Money `yaml:"image_price"`
	// Quota is how many instances the account may hold to order one more; none is no
	// limit.
	Quota int `yaml:"quota"`
}

// Cloud is the simulated platform. All methods may be called from several
// goroutines.
type Cloud struct {
	now func() time.Time

	mu       sync.Mutex
	timing   Timing
	ways     Ways
	seed     uint64
	chance   *rand.Rand
	accounts map[string]*account
	machines []*machine // in the order they were added, gone ones included
	// resources are in the order they were added, gone ones included.
	resources []*resource
	market    []*good   // in the order they were added
	saved     int       // images saved so far, for their ids
	seen      time.Time // up to when the force-stop rule was applied

	faults  []*Fault
	onWrite func(op string, ref fleet.Ref, phase Phase) error
	calls   []Call
	effects []Effect
}

type account struct {
	Account
	topUps []topUp
	extras []fleet.BillItem  // what was put on the bill by hand
	placed map[string]placed // orders by their tokens
	// asked is when stock was last asked for.
	asked, bannedUntil time.Time
}

type topUp struct {
	at     time.Time
	amount fleet.Money
}

// New makes a cloud. It panics where Options.Now is nil or an account is given
// twice, which are mistakes in the program that makes it.
func New(o Options) *Cloud {
	if o.Now == nil {
		panic("sim: a cloud needs a clock: set Options.Now")
	}
	c := &Cloud{
		now:      o.Now,
		timing:   o.Timing,
		ways:     o.Ways,
		seed:     o.Seed,
		chance:   rand.New(rand.NewPCG(o.Seed, 1)),
		accounts: map[string]*account{},
		seen:     o.Now(),
	}
	for _, a := range o.Accounts {
		if err := c.AddAccount(a); err != nil {
			panic(err)
		}
	}
	return c
}

// AddAccount adds a customer.
func (c *Cloud) AddAccount(a Account) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addAccount(a)
}

func (c *Cloud) addAccount(a Account) error {
	if a.Name == "" {
		return fmt.Errorf("sim: an account needs a name")
	}
	if c.accounts[a.Name] != nil {
		return fmt.Errorf("sim: account %s is given twice", a.Name)
	}
	if a.Identity == "" {
		a.Identity = "u-" + a.Name
	}
	if a.Cash.Currency == "" {
		a.Cash = fleet.CNY(1_000_000_000)
	}
	for _, m := range []fleet.Money{a.Vouchers, a.Credit, a.ImagePrice} {
		if m.Currency != "" && m.Currency != a.Cash.Currency {
			return fmt.Errorf("sim: account %s holds %s and %s; one account has one currency", a.Name, a.Cash, m)
		}
	}
	c.accounts[a.Name] = &account{Account: a, placed: map[string]placed{}}
	return nil
}

// Add puts an instance into the cloud and gives its reference, without an
// account. It is visible at once. An account not known yet is made.
func (c *Cloud) Add(s Spec) (fleet.Ref, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.tick()
	m, err := c.add(s, now)
	if err != nil {
		return fleet.Ref{}, err
	}
	return c.ref(m), nil
}

// MustAdd is [Cloud.Add] for tests: it panics where the spec makes no sense.
func (c *Cloud) MustAdd(s Spec) fleet.Ref {
	ref, err := c.Add(s)
	if err != nil {
		panic(err)
	}
	return ref
}

func (c *Cloud) add(s Spec, now time.Time) (*machine, error) {
	s, err := s.complete(len(c.machines) + 1)
	if err != nil {
		return nil, err
	}
	a, err := c.owner("instance "+s.ID, s.Account, s.Region, s.Price, s.StillCosts, s.Refundable)
	if err != nil {
		return nil, err
	}
	if old := c.find(s.ID); old != nil && old.stateAt(now) != fleet.StateReleased {
		return nil, fmt.Errorf("sim: there is an instance %s already", s.ID)
	}
	m := newMachine(s, a, now)
	if c.ways.Incarnations {
		n := 1
		for _, old := range c.machines {
			if old.spec.ID == s.ID {
				n++
			}
		}
		m.incarnation = fmt.Sprintf("i%d", n)
	}
	c.schedule(m, now)
	c.machines = append(c.machines, m)
	return m, nil
}

// owner gives the account a thing is put into, made where it is not there, unless
// the thing does not fit.
func (c *Cloud) owner(thing, name, region string, prices ...fleet.Money) (*account, error) {
	if c.accounts[name] == nil {
		if err := c.addAccount(Account{Name: name}); err != nil {
			return nil, err
		}
	}
	a := c.accounts[name]
	if len(a.Regions) > 0 && !slices.Contains(a.Regions, region) {
		return nil, fmt.Errorf("sim: %s is in region %q; account %s has %v", thing, region, a.Name, a.Regions)
	}
	for _, m := range prices {
		if m.Currency != "" && m.Currency != a.Cash.Currency {
			return nil, fmt.Errorf("sim: %s is priced in %s; account %s pays in %s", thing, m.Currency, a.Name, a.Cash.Currency)
		}
	}
	return a, nil
}

// find gives the youngest instance of that id, gone or not, or nil.
func (c *Cloud) find(id string) *machine {
	for _, m := range slices.Backward(c.machines) {
		if m.spec.ID == id {
			return m
		}
	}
	return nil
}

func (c *Cloud) ref(m *machine) fleet.Ref {
	return fleet.Ref{Kind: fleet.KindInstance, ID: m.spec.ID, Incarnation: m.incarnation}
}

// tick gives the time and does what the platform would have done by itself until
// then.
func (c *Cloud) tick() time.Time {
	now := c.now()
	if c.ways.ForceStop {
		c.forceStops(now)
	}
	if now.After(c.seen) {
		c.seen = now
	}
	return now
}

func or(d, otherwise time.Duration) time.Duration {
	switch {
	case d < 0:
		return 0
	case d == 0:
		return otherwise
	}
	return d
}
