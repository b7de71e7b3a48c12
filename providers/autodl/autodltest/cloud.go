// Package autodltest is a strict local double of AutoDL's Pro API: a state
// machine with slow transitions behind the documented paths, on a clock it is
// given. It checks every request and reports each that breaks the protocol.
//
// What the platform does not document is chosen to be the harder case: an
// instance that starts keeps the started_at of the cycle before until it runs,
// prices of instances that do not run are nonsense, and port and password
// change at every boot.
package autodltest

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options is what a cloud is made with.
type Options struct {
	Token string
	Now   func() time.Time
	// Create, Start, Stop and Release are how long the transitions take; 20 s, 15 s,
	// 10 s and 10 s by default.
	Create, Start, Stop, Release time.Duration
	// PageMax is how many instances the list puts on a page at most; 100 by default.
	PageMax int
	// BodyGET makes status and snapshot want a JSON body in the GET, as the manual
	// shows it, and refuse the query that was seen to work.
	BodyGET bool
	// CreateObject makes create answer with an object; by default it is the bare uuid.
	CreateObject bool
	// StartedOnAccept sets started_at when a power-on is accepted; by default it is
	// set when the instance runs.
	StartedOnAccept bool
	// Boot gives the login of an instance at its nth boot; by default a new port and
	// password on 127.0.0.1 each time.
	Boot func(uuid string, n int) SSH
	// OnRequest is called for each request that reached the double, before it is
	// answered; it may change the cloud.
	OnRequest func(Request)
	// Problem is told of each request that breaks the protocol.
	Problem func(string)
}

// SSH is how to log in to an instance.
type SSH struct {
	Host     string
	Port     int
	Password string
}

// Machine is one instance to add. Empty fields get ordinary values: a running,
// pay-as-you-go RTX 4090D that was started an hour ago.
type Machine struct {
	UUID      string
	Name      string
	Status    string
	Spec      string
	GPUs      int
	Charge    string
	StartMode string
	Region    string
	Price     int64 // payg_price: thousandths of a yuan per hour
	DiskExtra int64 // expand_system_disk_size: bytes
	SSH       SSH   // of the present boot

	CreatedAt, StartedAt, StoppedAt, ExpiredAt, TimedShutdownAt time.Time
}

// Request is one request as the double saw it.
type Request struct {
	Method string
	Path   string
	UUID   string
}

// String gives method, path and uuid.
func (r Request) String() string {
	s := r.Method + " " + r.Path
	if r.UUID != "" {
		s += " " + r.UUID
	}
	return s
}

type machine struct {
	Machine
	raw      string // a status word set by the test
	next     string // what Status becomes at nextAt
	nextAt   time.Time
	statusAt time.Time
	boots    int
	pinned   *SSH
}

// Cloud is the double. It is an http.Handler.
type Cloud struct {
	o Options

	mu       sync.Mutex
	token    string
	machines []*machine
	faults   []*fault
	requests []Request
	problems []string
	made     int
	soldOut  bool
	stock    []Stock
	wallet   struct{ assets, accumulate, vouchers int64 }
}

// New makes an empty cloud with 100 yuan in the wallet.
func New(o Options) *Cloud {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&o.Create, 20*time.Second)
	def(&o.Start, 15*time.Second)
	def(&o.Stop, 10*time.Second)
	def(&o.Release, 10*time.Second)
	if o.PageMax == 0 {
		o.PageMax = 100
	}
	if o.Boot == nil {
		o.Boot = func(uuid string, n int) SSH {
			return SSH{Host: "127.0.0.1", Port: 20000 + n, Password: fmt.Sprintf("pw-%s-%d", uuid, n)}
		}
	}
	c := &Cloud{o: o, token: o.Token}
	c.wallet.assets = 100_000
	return c
}

// Add puts an instance into the cloud and gives its uuid.
func (c *Cloud) Add(m Machine) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(m)
}

func (c *Cloud) add(m Machine) string {
	c.made++
	now := c.o.Now()
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&m.UUID, fmt.Sprintf("pro-%012x", c.made))
	def(&m.Name, fmt.Sprintf("exp-%d", c.made))
	def(&m.Status, "running")
	def(&m.Spec, "4090D")
	def(&m.Charge, "payg")
	def(&m.StartMode, "gpu")
	def(&m.Region, "bj-B2")
	if m.GPUs == 0 {
		m.GPUs = 1
	}
	if m.Price == 0 {
		m.Price = 1980
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = now.Add(-2 * time.Hour)
	}
	if m.StartedAt.IsZero() && m.Status != "creating" {
		m.StartedAt = now.Add(-time.Hour)
	}
	if m.StoppedAt.IsZero() && m.Status == "shutdown" {
		m.StoppedAt = now
	}
	mm := &machine{Machine: m, statusAt: now, boots: 1}
	if m.SSH == (SSH{}) {
		mm.SSH = c.o.Boot(m.UUID, 1)
	} else {
		mm.pinned = &m.SSH
	}
	if m.Status == "creating" {
		mm.next, mm.nextAt = "running", now.Add(c.o.Create)
	}
	c.machines = append(c.machines, mm)
	return m.UUID
}

// SetSSH gives an instance this login, now and at every later boot.
func (c *Cloud) SetSSH(uuid string, s SSH) {
	c.change(uuid, func(m *machine) { m.SSH, m.pinned = s, &s })
}

// SetStatus makes the cloud say this status word of an instance; empty undoes
// it.
func (c *Cloud) SetStatus(uuid, word string) { c.change(uuid, func(m *machine) { m.raw = word }) }

// ShutdownInside powers an instance off as its own shutdown command does.
func (c *Cloud) ShutdownInside(uuid string) { c.change(uuid, c.powerOff) }

// Status gives the present status word; empty for an instance that is gone.
func (c *Cloud) Status(uuid string) string {
	word := ""
	c.change(uuid, func(m *machine) { word = m.word() })
	return word
}

// Login gives the present login of an instance.
func (c *Cloud) Login(uuid string) SSH {
	var s SSH
	c.change(uuid, func(m *machine) { s = m.SSH })
	return s
}

// Remove takes an instance away without a trace.
func (c *Cloud) Remove(uuid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machines = slices.DeleteFunc(c.machines, func(m *machine) bool { return m.UUID == uuid })
}

// SetWallet sets the wallet, in thousandths of a yuan.
func (c *Cloud) SetWallet(assets, accumulate, vouchers int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wallet.assets, c.wallet.accumulate, c.wallet.vouchers = assets, accumulate, vouchers
}

// SetSoldOut decides whether a power-on or a create finds no card, whatever the stock
// says.
func (c *Cloud) SetSoldOut(out bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.soldOut = out
}

// SetToken replaces the token that is let in.
func (c *Cloud) SetToken(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
}

// Requests gives every request so far, in order.
func (c *Cloud) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// Problems gives what was wrong with requests so far.
func (c *Cloud) Problems() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.problems)
}

// Secrets gives the token and every password of the moment.
func (c *Cloud) Secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.secrets()
}

func (c *Cloud) secrets() []string {
	s := []string{c.token}
	for _, m := range c.machines {
		s = append(s, m.SSH.Password)
	}
	return s
}

func (c *Cloud) change(uuid string, do func(*machine)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	if m := c.find(uuid); m != nil {
		do(m)
	}
}

func (c *Cloud) find(uuid string) *machine {
	for _, m := range c.machines {
		if m.UUID == uuid {
			return m
		}
	}
	return nil
}
