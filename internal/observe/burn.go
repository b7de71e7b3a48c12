package observe

import (
	"curfew/fleet"
	"curfew/policies"
)

// Burn gives what everything costs by the hour now, by the account's identity. Prices
// and states are of shapes, of which there are few.
func (s Snapshot) Burn() map[string]policies.Burn {
	instances := map[*fleet.Instance]int{}
	for _, i := range s.instances {
		instances[i.shape]++
	}
	resources := map[*fleet.Resource]int{}
	for _, r := range s.resources {
		resources[r.shape]++
	}
	out := map[string]policies.Burn{}
	for shape, count := range instances {
		b := out[shape.Ref.Account]
		up := shape.State.Up()
		if up {
			b.Running += count
		}
		burn(&b, shape.CostNow(), shape.Charge, count, up)
		out[shape.Ref.Account] = b
	}
	for shape, count := range resources {
		b := out[shape.Ref.Account]
		burn(&b, shape.Price, shape.Charge, count, true)
		out[shape.Ref.Account] = b
	}
	return out
}

// burn adds so many things of one price. That nobody tells what something costs while
// it is stopped is what nearly all platforms do, and is not counted.
func burn(b *policies.Burn, p fleet.Price, c fleet.Charge, count int, up bool) {
	switch {
	case c.Type == fleet.ChargePeriod:
	case p.Known():
		b.PerHour.Add(fleet.Money{Micros: p.PerHour.Micros * int64(count), Currency: p.PerHour.Currency})
	case up:
		b.Unpriced += count
	}
}
