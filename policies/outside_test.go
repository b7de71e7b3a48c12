package policies_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"curfew/fleet"
	"curfew/policies"
)

// answer is what somebody else says of an instance, without a look inside.
func answer(source string, at time.Time, a fleet.Activity) fleet.Evidence {
	return fleet.Evidence{
		Source: source, SeenAt: at, Boot: "b1", Activity: a, FreshFor: 70 * time.Second, Outside: true,
		Reason: fleet.Because("probe.said", nil),
	}
}

// asked gives the instance a source that does not look inside and has said idle as
// often as others looked.
func (c *calm) asked(source string) {
	for at := base; at.After(base.Add(-50 * time.Minute)); at = at.Add(-30 * time.Second) {
		c.samples = append(c.samples, answer(source, at, fleet.Idle))
	}
}

func TestIdleByTheWordOfOthers(t *testing.T) {
	const queue = "probe:queue"
	alone := func(c *calm) {
		c.samples, c.required = nil, []string{queue}
		c.asked(queue)
	}
	says := func(a fleet.Activity) func(c *calm) {
		return func(c *calm) {
			for n := range c.samples {
				if e := &c.samples[n]; e.Source == queue && base.Sub(e.SeenAt) == time.Minute {
					*e = answer(queue, e.SeenAt, a)
				}
			}
		}
	}
	for _, c := range []struct {
		name    string
		changes []func(*calm)
		goal    fleet.Action
		gap     bool
		why     fleet.Code
	}{
		{"is enough where nobody sees inside and it is required", []func(*calm){alone}, fleet.Stop, false, policies.ReasonIdle},
		{"must have been said all the time", []func(*calm){alone, says(fleet.Unknown)}, fleet.Keep, true, policies.ReasonIdleUnclear},
		{"is void after another", []func(*calm){alone, says(fleet.Busy)}, fleet.Keep, false, policies.ReasonIdleWorked},
		{"beside looks that show rest", []func(*calm){func(c *calm) { c.required = append(c.required, queue); c.asked(queue) }}, fleet.Stop, false, policies.ReasonIdle},
		{"that failed beside looks that show rest", []func(*calm){func(c *calm) { c.required = append(c.required, queue); c.asked(queue) }, says(fleet.Unknown)}, fleet.Keep, true, policies.ReasonIdleUnclear},
		{"that failed and is not needed", []func(*calm){func(c *calm) { c.asked(queue) }, says(fleet.Unknown)}, fleet.Stop, false, policies.ReasonIdle},
		{"that said busy and is not needed", []func(*calm){func(c *calm) { c.asked(queue) }, says(fleet.Busy)}, fleet.Keep, false, policies.ReasonIdleWorked},
		{"is nothing where looks are missing", []func(*calm){func(c *calm) { c.samples = nil; c.asked(queue) }}, fleet.Keep, true, policies.ReasonIdleSince},
		{"says nothing of the memory that a look saw", []func(*calm){func(c *calm) {
			c.policy.MemoryIdleMax = 3 * time.Hour
			for n := range c.samples {
				c.samples[n].Facts.Cards[0].MemoryMB = ptr(9000.0)
			}
			c.asked(queue)
		}}, fleet.Keep, true, policies.ReasonIdleMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range 20 {
				world := rapid.Custom(newCalm).Example(seed)
				for _, change := range c.changes {
					change(world)
				}
				if v := world.decide(t); v.Goal != c.goal || v.Gap != c.gap || v.Reason.Code != c.why {
					t.Fatalf("%s, gap %v, because %s; want %s, gap %v, because %s", v.Goal, v.Gap, v.Reason.Code, c.goal, c.gap, c.why)
				}
			}
		})
	}
}
