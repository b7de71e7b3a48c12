package config

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// MachineLogin says where the secrets of a login to a machine are kept.
type MachineLogin struct {
	Key, Password Secret // zero: there is none
}

// farMachine is a machine elsewhere, as it stands in the file.
type farMachine struct {
	at     *mapping
	logins map[string]MachineLogin // of its account
	name   string
}

// machines reads the machines that an entry of provider machines declares.
func (r *reader) machines(m *mapping, a *Account) {
	n := m.need("machines", "write machines: [{name: NAME, host: ADDRESS, key: {file: PATH}}]")
	names := map[string]string{}
	a.Logins = map[string]MachineLogin{}
	at := map[string]string{}
	for _, entry := range n.list() {
		one := entry.mapping()
		if !one.given() {
			continue
		}
		d, name := r.machine(one, a)
		unique(name, d.Name, names)
		a.Machines = append(a.Machines, d)
		if d.Host != "" {
			at[net.JoinHostPort(strings.ToLower(d.Host), strconv.Itoa(d.Port))] = one.path
		}
	}
	if n.isEmptyList() {
		n.bad("names no machine", "write [{name: NAME, host: ADDRESS, key: {file: PATH}}]")
	}
	check := m.take("route_check")
	a.RouteCheck = check.endpoint()
	switch path, itself := at[strings.ToLower(a.RouteCheck)]; {
	case a.RouteCheck == "":
	case len(at) == 0:
		check.bad("is asked about the way to machines elsewhere, and none is declared", "leave it out")
	case itself:
		check.bad("is "+path+" itself, which cannot tell why it does not answer", "write the address of something else on the same route")
	}
}

func (r *reader) machine(m *mapping, a *Account) (providers.Machine, node) {
	name := m.need("name", "write name: and what you call it; it is the machine's id and stays what it is")
	host := m.need("host", "write host: and its address; or host: local, and run curfew in it")
	d := providers.Machine{Name: name.name()}
	port, user, key, password := m.take("port"), m.take("user"), m.take("key"), m.take("password")
	d.Port, d.User = port.whole(22, 1, false), cmp.Or(user.name(), "root")
	login := MachineLogin{Key: key.secret(), Password: password.secret()}
	start := m.take("start")
	d.Start = start.text("")
	if d.Port > math.MaxUint16 {
		port.bad(fmt.Sprintf("%d is not a port", d.Port), "write one up to 65535")
	}
	if d.Here = r.isHere(host, m); d.Here {
		for _, n := range []node{port, user, key, password} {
			if n.given() {
				n.bad("is for a login, and nobody logs in to the machine curfew runs in", "leave it out")
			}
		}
		if start.given() {
			start.bad("is for a machine that is off, and curfew runs in this one", "leave it out")
		}
		d.Port, d.User, d.Start = 0, "", ""
	} else if d.Host = host.machineHost(); d.Host != "" {
		where := fmt.Sprintf("%s@%s:%d", d.User, strings.ToLower(d.Host), d.Port)
		if first, twice := r.logins[where]; twice {
			host.bad(fmt.Sprintf("%s is at %s already", first, where), "keep one of the two")
		}
		r.logins[where] = m.path
		a.Logins[d.Name] = login
		r.far = append(r.far, farMachine{m, a.Logins, d.Name})
	}
	if gpu := m.take("gpu").mapping(); gpu.given() {
		d.GPU.Model = gpu.need("model", "write model: RTX 4090").text("")
		d.GPU.Count = gpu.take("count").whole(1, 1, false)
		gpu.done()
	}
	d.Stop = m.take("stop").text("")
	d.Price = machinePrice(m)
	d.OnStop = onStop(m.take("on_stop"))
	d.OnStop.ReleasesAfter = m.take("auto_release").span(0)
	d.Charge.Type = fleet.ChargeOnDemand
	expires := m.take("expires")
	switch _, byUse := m.pairs["billing"]; {
	case !expires.given():
	case byUse:
		d.ReleasesAt = dayEnd(expires, r.cfg.Timezone)
	default: // paid for until then
		d.Charge = fleet.Charge{Type: fleet.ChargePeriod, End: dayEnd(expires, r.cfg.Timezone)}
		if d.Price.Known() {
			d.Price.Billing = fleet.BillingPrepaid
		}
	}
	if labels := m.take("labels").mapping(); labels.given() {
		d.Labels = map[string]string{}
		for key, v := range labels.all() {
			d.Labels[key] = v.text("")
		}
	}
	m.done()
	return d, name
}

// isHere says whether the machine is the one curfew runs in, of which there is one.
func (r *reader) isHere(host node, m *mapping) bool {
	if word, _ := host.source(); word != "local" {
		return false
	}
	if r.here != "" {
		host.bad(r.here+" is the machine curfew runs in already", "keep one of the two")
	} else {
		r.here = m.path
	}
	return true
}

// machineHost reads the address of a machine elsewhere.
func (n node) machineHost() string {
	s := n.text("")
	if s == "" {
		return ""
	}
	const right = "write a name or an IP address, such as 10.0.0.7"
	if _, err := netip.ParseAddr(s); err == nil {
		return s
	}
	host, port, err := net.SplitHostPort(s)
	if _, digits := strconv.Atoi(port); err == nil && digits == nil {
		n.bad(fmt.Sprintf("%q holds a port", s), fmt.Sprintf("write host: %s and port: %s", host, port))
		return ""
	}
	if strings.ContainsAny(s, ":/@[] \t\r\n\x00") || strings.HasPrefix(s, "-") {
		n.bad(fmt.Sprintf("%q is not the address of a machine", s), right)
		return ""
	}
	return s
}

// endpoint reads an address and a port.
func (n node) endpoint() string {
	s := n.text("")
	if s == "" {
		return ""
	}
	host, digits, err := net.SplitHostPort(s)
	port, portErr := strconv.ParseUint(digits, 10, 16)
	if err != nil || host == "" || portErr != nil || port == 0 || strings.ContainsAny(host, "/@ \t\r\n\x00") {
		n.bad(fmt.Sprintf("%q is not an address and a port", s), "write such as gateway.lab.example:22")
		return ""
	}
	return s
}

// machineLogins gives every machine elsewhere that declares neither key nor
// password the key that the ssh signal logs in with.
func (r *reader) machineLogins() {
	var key Secret
	for _, s := range r.cfg.Signals {
		if s.Type == "ssh" {
			key = s.Key
		}
	}
	for _, f := range r.far {
		switch login := f.logins[f.name]; {
		case !login.Key.IsZero() || !login.Password.IsZero():
		case !key.IsZero():
			f.logins[f.name] = MachineLogin{Key: key}
		case !f.at.tried("key", "password"): // else it is reported
			f.at.bad("has neither key nor password to log in with, nor has the ssh signal", "write key: {file: PATH}")
		}
	}
}

// tried reports whether one of the keys is there, whatever is wrong with it.
func (m *mapping) tried(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { _, ok := m.pairs[key]; return ok })
}

// machinePrice reads what a machine costs while it runs. What is not said is not
// known, but for the unit: an hour.
func machinePrice(m *mapping) fleet.Price {
	price, per, billing := m.take("price"), m.take("per"), m.take("billing")
	per.word("hour", "hour")
	rule := fleet.Billing(billing.word(string(fleet.BillingUnknown), string(fleet.BillingPerSecond), string(fleet.BillingPerHour)))
	if !price.given() {
		for _, n := range []node{per, billing} {
			if n.given() {
				n.bad("has no meaning without a price", "write price: 1.98 CNY beside it, or leave it out")
			}
		}
		return fleet.Price{}
	}
	sum := price.money()
	if sum.IsZero() {
		return fleet.Price{}
	}
	return fleet.Price{PerHour: sum, Billing: rule, Source: fleet.PriceConfig}
}

// onStop reads what a stop does to bill and data. What is not said is unknown,
// which counts as the worse.
func onStop(n node) fleet.OnStop {
	m := n.mapping()
	var s fleet.OnStop
	switch m.take("ends_billing").word("unknown", "yes", "no", "unknown") {
	case "yes":
		s.EndsBilling = fleet.Yes
	case "no":
		s.EndsBilling = fleet.No
	}
	switch word := m.take("keeps_data").word("unknown", "all", "part", "none", "unknown"); word {
	case "all", "part", "none":
		s.KeepsData = fleet.Keeps(word)
	}
	m.done()
	return s
}

// dayEnd is the end of a day: what is paid until a day is paid for that day too.
func dayEnd(n node, zone *time.Location) time.Time {
	day, err := time.ParseInLocation(time.DateOnly, n.date(), zone)
	if err != nil {
		return time.Time{} // reported
	}
	return day.AddDate(0, 0, 1)
}
