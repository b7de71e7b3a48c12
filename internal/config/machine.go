package config

import (
	"fmt"
	"time"

	"curfew/fleet"
	"curfew/providers"
)

// machines reads the machines that an entry of provider machines declares.
func (r *reader) machines(n node) []providers.Machine {
	var all []providers.Machine
	names := map[string]string{}
	for _, entry := range n.list() {
		m := entry.mapping()
		if !m.given() {
			continue
		}
		one, name := r.machine(m)
		unique(name, one.Name, names)
		all = append(all, one)
	}
	if n.isEmptyList() {
		n.bad("names no machine", "write [{name: NAME, host: local}]")
	}
	return all
}

func (r *reader) machine(m *mapping) (providers.Machine, node) {
	name := m.need("name", "write name: and what you call it; it is the machine's id and stays what it is")
	d := providers.Machine{Name: name.name(), Here: r.host(m)}
	m.notYet("port", "user", "key", "start")
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

// host says whether the machine is the one curfew runs in, of which there is one.
func (r *reader) host(m *mapping) bool {
	const right = "write host: local, and run curfew in it"
	host := m.need("host", right)
	switch s := host.text(""); {
	case s == "":
		return false
	case s != "local":
		host.bad(fmt.Sprintf("another machine than the one curfew runs in (%q) is not in this version", s), right)
		return false
	case r.here != "":
		host.bad(r.here+" is the machine curfew runs in already", "keep one of the two")
		return false
	}
	r.here = m.path
	return true
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
