package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// Account is one entry of accounts.
type Account struct {
	Pos
	Name       string
	Provider   string
	ID         string // the identity, where the file gives one
	Credential map[string]Secret
	BaseURL    string // empty: the kind's own
	Poll       time.Duration
	PerMinute  int // requests; 0: not said
	PerDay     int
	Regions    []string // nil: all
	Prices     map[string]fleet.Money
	Mode       fleet.Mode   // the file's where the entry says nothing
	AtMost     fleet.Action // Keep: no ceiling
	World      string       // the simulator's file
	// Of provider machines:
	Machines   []providers.Machine
	Logins     map[string]MachineLogin // by the name of a machine elsewhere
	RouteCheck string                  // answers whenever the way to them works; empty: not said
}

func (r *reader) accounts(n node) {
	names, owners := map[string]string{}, map[string]string{}
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		a, nameAt := r.account(m)
		unique(nameAt, a.Name, names)
		for what, key := range map[string]string{"credential": credentialKey(a), "id": idKey(a)} {
			if first, twice := owners[key]; twice && key != "" {
				m.bad(fmt.Sprintf("has the %s of %s, so it is the same account", what, first), "remove one of the two")
			} else if key != "" {
				owners[key] = m.path
			}
		}
		r.cfg.Accounts = append(r.cfg.Accounts, a)
	}
	if n.isEmptyList() {
		n.bad("names no account", "write [{name: NAME, provider: PROVIDER}]")
	}
}

func (r *reader) account(m *mapping) (Account, node) {
	a := Account{Pos: m.pos}
	name := m.need("name", "write name: and what you call it")
	a.Name = name.name()
	kind := r.provider(m.need("provider", "write provider: "+strings.Join(r.providerNames(), ", or provider: ")), m)
	a.Provider = kind.Name
	a.ID = m.take("id").text("")
	for _, key := range kind.Credentials {
		if s := m.need(key, "write "+key+": {env: NAME}").secret(); !s.IsZero() {
			if a.Credential == nil {
				a.Credential = map[string]Secret{}
			}
			a.Credential[key] = s
		}
	}
	a.BaseURL = m.take("base_url").webURL()
	poll := m.take("poll")
	a.Poll = poll.span(max(time.Minute, kind.Floor))
	if a.Poll < kind.Floor {
		poll.bad(fmt.Sprintf("%s is more often than %s allows", spanText(a.Poll), kind.Name), "write "+spanText(kind.Floor)+" or more")
	}
	requests := m.take("requests").mapping()
	a.PerMinute = requests.take("per_minute").whole(0, 1, false)
	a.PerDay = requests.take("per_day").whole(0, 1, false)
	requests.done()
	a.Regions = regions(m.take("regions"))
	if prices := m.take("prices").mapping(); prices.given() {
		a.Prices = map[string]fleet.Money{}
		for model, v := range prices.all() {
			a.Prices[model] = v.money()
		}
	}
	a.Mode = mode(m.take("mode"), r.cfg.Mode)
	a.AtMost = atMost(m.take("at_most"))
	if kind.Name == "sim" {
		a.World = r.beside(m.take("world").text(""))
	}
	if kind.Name == "machines" {
		r.machines(m, &a)
	}
	m.notYet("proxy")
	m.done()
	return a, name
}

// provider finds the kind that an entry names. Of an unknown one no key is
// known, so the entry's keys are not judged.
func (r *reader) provider(n node, m *mapping) providers.Kind {
	n = n.as(oneOf(kindChoice, "", r.providerNames()))
	name := n.text("")
	for _, k := range r.reg.Providers {
		if k.Name == name {
			return k
		}
	}
	m.free = true
	if name != "" {
		n.bad(fmt.Sprintf("%q is not a provider", name), suggest(name, r.providerNames()))
	}
	return providers.Kind{}
}

func (r *reader) providerNames() []string {
	var names []string
	for _, k := range r.reg.Providers {
		names = append(names, k.Name)
	}
	return names
}

// regions reads a list of regions; nil is all of them.
func regions(n node) []string {
	var names []string
	for _, v := range n.listed() {
		s := v.text("")
		switch {
		case s == "all" && v.path == n.path:
			return nil
		case s == "all":
			v.bad("all stands beside others", "write regions: all")
		case slices.Contains(names, s):
			v.bad(fmt.Sprintf("%q is named twice", s), "name it once")
		case s != "":
			names = append(names, s)
		}
	}
	return names
}

func credentialKey(a Account) string {
	if len(a.Credential) == 0 {
		return ""
	}
	var parts []string
	for key, s := range a.Credential {
		parts = append(parts, key+"="+s.Place())
	}
	slices.Sort(parts)
	return a.Provider + "\n" + a.BaseURL + "\n" + strings.Join(parts, "\n")
}

func idKey(a Account) string {
	if a.ID == "" || a.Provider == "" {
		return ""
	}
	return a.Provider + "/" + a.ID
}
